/* Memory of a mesh by the driver's virtual memory calls: a range of addresses, of which each part
 * has as many bytes of its own device behind those of the part before. */
#include "runner/mesh.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static WsCuMemProp memory_of(const WsRunMesh *mesh, const WsSession *part)
{
    return (WsCuMemProp){ .type = WS_CU_MEM_PINNED,
                          .handle_types = mesh->link.n ? WS_CU_HANDLE_FD : 0,
                          .location = { WS_CU_LOCATION_DEVICE, part->device } };
}

static bool granularity(WsRunMesh *mesh, size_t *most)
{
    WsSession *s = mesh->judge;
    *most = 1;
    for (int d = 0; d < mesh->n; d++) {
        const WsCuMemProp prop = memory_of(mesh, &mesh->part[d]);
        size_t one = 0;
        if (!ws_mesh_here(mesh, d))
            continue;
        if (!ws_cu(s, s->cu.mem_granularity(&one, &prop, 0), "cuMemGetAllocationGranularity"))
            return false;
        if (one == 0 || (one & (one - 1)))
            return ws_session_fail(s, "the driver's granularity of memory is %zu bytes", one);
        *most = one > *most ? one : *most;
    }
    return true;
}

/* The largest of all processes. */
static bool agree(WsRunMesh *mesh, size_t *grain)
{
    WsLinkGift gift[WS_LINK_PROCESSES] = { 0 };
    const bool ok = granularity(mesh, grain);
    gift[mesh->link.own].number = (int64_t)*grain;
    if (!ws_link_meet(mesh->judge, &mesh->link, ok, gift, NULL))
        return false;
    for (int d = 0; d < mesh->link.n; d++)
        *grain = gift[d].number > (int64_t)*grain ? (size_t)gift[d].number : *grain;
    return true;
}

/* Memory of the parts of this process; with others, a file descriptor of it. */
static bool create(WsRunMesh *mesh, WsMeshBlock *b, int d, int *fd)
{
    WsSession *s = mesh->judge;
    const WsCuMemProp prop = memory_of(mesh, &mesh->part[d]);
    if (!ws_cu(s, s->cu.mem_create(&b->handle[d], b->pitch, &prop, 0), "cuMemCreate")) {
        b->handle[d] = 0;
        return false;
    }
    return !mesh->link.n || ws_cu(s, s->cu.mem_export(fd, b->handle[d], WS_CU_HANDLE_FD, 0),
                                  "cuMemExportToShareableHandle");
}

/* All of the parts' memory has a handle in this process. */
static bool create_all(WsRunMesh *mesh, WsMeshBlock *b)
{
    WsSession *s = mesh->judge;
    int fd[WS_LINK_PROCESSES];
    bool ok = true;
    for (int d = 0; d < WS_LINK_PROCESSES; d++)
        fd[d] = -1;
    for (int d = 0; ok && d < mesh->n; d++)
        ok = !ws_mesh_here(mesh, d) || create(mesh, b, d, &fd[d]);
    if (!mesh->link.n)
        return ok;
    ok = ws_link_meet(s, &mesh->link, ok, NULL, fd);
    for (int d = 0; d < mesh->n; d++) {
        if (ok && !ws_mesh_here(mesh, d)) {
            ok = ws_cu(s, s->cu.mem_import(&b->handle[d], (void *)(intptr_t)fd[d], WS_CU_HANDLE_FD),
                       "cuMemImportFromShareableHandle");
            b->handle[d] = ok ? b->handle[d] : 0;
        }
        if (fd[d] >= 0)
            close(fd[d]);
    }
    return ok;
}

static bool map_part(WsRunMesh *mesh, WsMeshBlock *b, int d)
{
    WsSession *s = mesh->judge;
    const uint64_t at = b->base + (uint64_t)d * b->pitch;
    WsCuMemAccess access[WS_MESH_PARTS];
    size_t n = 0;
    for (int i = 0; i < mesh->n; i++) {
        bool seen = !ws_mesh_here(mesh, i);
        for (size_t k = 0; k < n; k++)
            seen = seen || access[k].location.id == mesh->part[i].device;
        if (!seen)
            access[n++] = (WsCuMemAccess){ { WS_CU_LOCATION_DEVICE, mesh->part[i].device },
                                           WS_CU_ACCESS_READ_WRITE };
    }
    if (!ws_cu(s, s->cu.mem_map(at, b->pitch, 0, b->handle[d], 0), "cuMemMap"))
        return false;
    b->n = d + 1;
    return ws_cu(s, s->cu.mem_set_access(at, b->pitch, access, n), "cuMemSetAccess");
}

static bool map_all(WsRunMesh *mesh, WsMeshBlock *b, size_t grain)
{
    WsSession *s = mesh->judge;
    if (!ws_cu(s, s->cu.mem_reserve(&b->base, b->pitch * (uint64_t)mesh->n, grain, 0, 0),
               "cuMemAddressReserve")) {
        b->base = 0;
        return false;
    }
    for (int d = 0; d < mesh->n; d++)
        if (!map_part(mesh, b, d))
            return false;
    return true;
}

bool ws_mesh_block_open(WsRunMesh *mesh, WsMeshBlock *b, uint64_t bytes, const char *what)
{
    WsSession *s = mesh->judge;
    size_t grain;
    memset(b, 0, sizeof *b);
    ws_session_phase(s, 60, "taking %" PRIu64 " bytes for %s on each of %d devices", bytes, what,
                     mesh->n);
    if (!agree(mesh, &grain))
        return false;
    if (bytes > UINT64_MAX / 2 / WS_MESH_PARTS - grain) /* the same in all processes */
        return ws_session_fail(s, "%s does not fit in 64 bits", what);
    b->pitch = ((bytes ? bytes : 1) + grain - 1) / grain * grain;
    const bool ok = create_all(mesh, b) && map_all(mesh, b, grain);
    return !mesh->link.n || !mesh->link.broken ? ws_link_meet(s, &mesh->link, ok, NULL, NULL)
                                               : false;
}

void ws_mesh_block_close(WsRunMesh *mesh, WsMeshBlock *b)
{
    WsSession *s = mesh->judge;
    for (int d = 0; d < WS_MESH_PARTS; d++) {
        if (d < b->n)
            s->cu.mem_unmap(b->base + (uint64_t)d * b->pitch, b->pitch);
        if (b->handle[d])
            s->cu.mem_release(b->handle[d]);
    }
    if (b->base)
        s->cu.mem_address_free(b->base, b->pitch * (uint64_t)mesh->n);
    memset(b, 0, sizeof *b);
}
