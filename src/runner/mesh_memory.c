/* Memory of a mesh by the driver's virtual memory calls: a range of addresses, of which each part
 * has as many bytes of its own device behind those of the part before. */
#include "runner/mesh.h"

#include <inttypes.h>
#include <string.h>

static WsCuMemProp memory_of(const WsSession *part)
{
    return (WsCuMemProp){ .type = WS_CU_MEM_PINNED,
                          .location = { WS_CU_LOCATION_DEVICE, part->device } };
}

static bool granularity(WsRunMesh *mesh, size_t *most)
{
    WsSession *s = mesh->judge;
    *most = 1;
    for (int d = 0; d < mesh->n; d++) {
        const WsCuMemProp prop = memory_of(&mesh->part[d]);
        size_t one = 0;
        if (!ws_cu(s, s->cu.mem_granularity(&one, &prop, 0), "cuMemGetAllocationGranularity"))
            return false;
        if (one == 0 || (one & (one - 1)))
            return ws_session_fail(s, "the driver's granularity of memory is %zu bytes", one);
        *most = one > *most ? one : *most;
    }
    return true;
}

static bool map_part(WsRunMesh *mesh, WsMeshBlock *b, int d)
{
    WsSession *s = mesh->judge;
    const WsCuMemProp prop = memory_of(&mesh->part[d]);
    const uint64_t at = b->base + (uint64_t)d * b->pitch;
    WsCuMemAccess access[WS_MESH_PARTS];
    size_t n = 0;
    for (int i = 0; i < mesh->n; i++) {
        bool seen = false;
        for (size_t k = 0; k < n; k++)
            seen = seen || access[k].location.id == mesh->part[i].device;
        if (!seen)
            access[n++] = (WsCuMemAccess){ { WS_CU_LOCATION_DEVICE, mesh->part[i].device },
                                           WS_CU_ACCESS_READ_WRITE };
    }
    if (!ws_cu(s, s->cu.mem_create(&b->handle[d], b->pitch, &prop, 0), "cuMemCreate"))
        return false;
    if (!ws_cu(s, s->cu.mem_map(at, b->pitch, 0, b->handle[d], 0), "cuMemMap")) {
        s->cu.mem_release(b->handle[d]);
        return false;
    }
    b->n = d + 1;
    return ws_cu(s, s->cu.mem_set_access(at, b->pitch, access, n), "cuMemSetAccess");
}

bool ws_mesh_block_open(WsRunMesh *mesh, WsMeshBlock *b, uint64_t bytes, const char *what)
{
    WsSession *s = mesh->judge;
    size_t grain;
    memset(b, 0, sizeof *b);
    ws_session_phase(s, 60, "taking %" PRIu64 " bytes for %s on each of %d devices", bytes, what,
                     mesh->n);
    if (!granularity(mesh, &grain))
        return false;
    if (bytes > UINT64_MAX / 2 / WS_MESH_PARTS - grain)
        return ws_session_fail(s, "%s does not fit in 64 bits", what);
    b->pitch = ((bytes ? bytes : 1) + grain - 1) / grain * grain;
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

void ws_mesh_block_close(WsRunMesh *mesh, WsMeshBlock *b)
{
    WsSession *s = mesh->judge;
    for (int d = 0; d < b->n; d++) {
        s->cu.mem_unmap(b->base + (uint64_t)d * b->pitch, b->pitch);
        s->cu.mem_release(b->handle[d]);
    }
    if (b->base)
        s->cu.mem_address_free(b->base, b->pitch * (uint64_t)mesh->n);
    memset(b, 0, sizeof *b);
}
