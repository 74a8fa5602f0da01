/* Launches of all devices of a mesh. */
#include "runner/mesh.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool use(WsSession *judge, const WsSession *part)
{
    return ws_cu(judge, judge->cu.context_set(part->context), "cuCtxSetCurrent");
}

/* What a part says of its failure is the case's. */
static bool of_part(WsSession *judge, const WsSession *part, bool ok)
{
    if (!ok)
        judge->last = part->last;
    return ok;
}

/* --- sessions ----------------------------------------------------------------------------------*/
static int wanted(const WsManifest *m)
{
    int64_t most = 0;
    for (int i = 0; i < m->n_cases; i++)
        most = m->case_[i].devices > most ? m->case_[i].devices : most;
    return most > WS_MESH_PARTS ? -1 : (int)most;
}

/* Processes: as many as devices in every case, each with a GPU of its own. */
static bool choose_own_device(WsSession *judge, WsRunMesh *mesh, const WsManifest *m)
{
    const WsRunOptions *o = judge->options;
    int found = 0;
    judge->results->status = WS_EXIT_INPUT;
    for (int i = 0; i < m->n_cases; i++)
        if (m->case_[i].devices != o->ranks)
            return ws_session_fail(judge,
                                   "case %s runs on %" PRId64 " devices, and %s started %d "
                                   "processes: one for each device is needed",
                                   m->case_[i].label, m->case_[i].devices, o->launcher, o->ranks);
    if (m->module[WS_MODULE_TRACED][0])
        return ws_session_fail(judge, "a traced build of several devices is recorded by one "
                                      "process: warpstave-runner BUNDLE --devices 0,1");
    judge->results->status = 0;
    mesh->n = o->ranks;
    if (!ws_cu(judge, judge->cu.init(0), "cuInit") ||
        !ws_cu(judge, judge->cu.device_count(&found), "cuDeviceGetCount"))
        return false;
    judge->results->n_devices = mesh->n;
    /* a launcher may show each process its own GPU alone */
    judge->results->ordinal[o->rank] = found == 1 ? 0 : o->local_rank;
    return true;
}

/* All tell on which GPU they are: two on one would keep each other out. */
static bool compare_devices(WsSession *judge, WsRunMesh *mesh, bool ok)
{
    WsLinkGift gift[WS_LINK_PROCESSES] = { 0 };
    const int own = mesh->link.own;
    const WsSession *part = &mesh->part[own];
    if (!mesh->link.n)
        return ok;
    gift[own].number = judge->results->ordinal[own];
    if (ok && part->cu.device_pci(gift[own].name, sizeof gift[own].name, part->device) != 0)
        snprintf(gift[own].name, sizeof gift[own].name, "%d", judge->results->ordinal[own]);
    if (!ws_link_meet(judge, &mesh->link, ok, gift, NULL)) {
        if (!judge->results->status)
            judge->results->status = WS_EXIT_ABSENT;
        return false;
    }
    for (int d = 0; d < mesh->n; d++) {
        judge->results->ordinal[d] = (int)gift[d].number;
        for (int i = 0; i < d; i++)
            if (strcmp(gift[i].name, gift[d].name) == 0) {
                judge->results->status = WS_EXIT_ABSENT;
                return ws_session_fail(judge,
                                       "processes %d and %d are on the same GPU (%s), where they "
                                       "take turns and would wait for each other: give each one of "
                                       "its own; one process with --devices 0,0 shares one",
                                       i, d, gift[d].name);
            }
    }
    return true;
}

/* The same list for all cases: the first devices of it are those of a case of fewer. */
static bool choose_devices(WsSession *judge, WsRunMesh *mesh, const WsManifest *m)
{
    const WsRunOptions *o = judge->options;
    int found = 0;
    mesh->n = wanted(m);
    judge->results->status = WS_EXIT_INPUT;
    if (mesh->n < 1)
        return ws_session_fail(judge, "a case has more than %d devices", WS_MESH_PARTS);
    if (o->n_devices && o->n_devices < mesh->n)
        return ws_session_fail(judge, "the bundle runs on %d devices, and --devices names %d",
                               mesh->n, o->n_devices);
    judge->results->status = 0;
    if (!ws_cu(judge, judge->cu.init(0), "cuInit") ||
        !ws_cu(judge, judge->cu.device_count(&found), "cuDeviceGetCount"))
        return false;
    if (!o->n_devices && found < mesh->n) {
        judge->results->status = WS_EXIT_ABSENT;
        return ws_session_fail(judge,
                               "the bundle runs on %d devices, and this machine has %d; --devices "
                               "0,0 lets two share one",
                               mesh->n, found);
    }
    judge->results->n_devices = mesh->n;
    for (int d = 0; d < mesh->n; d++)
        judge->results->ordinal[d] = o->n_devices ? o->devices[d] : d;
    return true;
}

static bool reaches(WsSession *judge, const WsRunMesh *mesh)
{
    for (int a = 0; a < mesh->n && !mesh->link.n; a++)
        for (int b = 0; b < mesh->n; b++) {
            int can = 1;
            const int from = mesh->part[a].device, to = mesh->part[b].device;
            if (from != to &&
                !ws_cu(judge, judge->cu.can_access_peer(&can, from, to), "cuDeviceCanAccessPeer"))
                return false;
            if (!can) {
                judge->results->status = WS_EXIT_ABSENT;
                return ws_session_fail(judge, "GPU %d does not reach the memory of GPU %d",
                                       judge->results->ordinal[a], judge->results->ordinal[b]);
            }
        }
    return true;
}

/* Tensors of all parts as one of a dimension more. */
static bool stack(WsSession *judge, WsRunMesh *mesh, const WsManifest *m)
{
    WsManifest *all = &mesh->stacked;
    *all = *m;
    for (int t = 0; t < m->n_tensors; t++) {
        if (m->tensor[t].access == WS_RUN_EXCHANGE)
            continue;
        if (m->tensor[t].rank == WS_MANIFEST_RANK) {
            judge->results->status = WS_EXIT_INPUT;
            return ws_session_fail(judge, "tensor %s has %d dimensions on each device",
                                   m->tensor[t].name, WS_MANIFEST_RANK);
        }
        all->tensor[t].rank++;
    }
    judge->m = all;
    return true;
}

bool ws_mesh_open(WsSession *judge, WsRunMesh *mesh, const WsManifest *m)
{
    mesh->judge = judge;
    judge->m = m;
    ws_session_phase(judge, 60, "starting the driver");
    /* a kernel that is loaded by its first launch would wait for those that wait for it */
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    const WsRunOptions *options = judge->options;
    const bool linked = options->ranks > 1;
    if (linked && options->ranks > WS_MESH_PARTS)
        return ws_session_fail(judge, "%d processes; %d at most", options->ranks, WS_MESH_PARTS);
    if (linked && !ws_link_open(judge, &mesh->link))
        return false;
    bool ok = ws_session_library(judge) &&
              (linked ? choose_own_device(judge, mesh, m) : choose_devices(judge, mesh, m));
    for (int d = 0; ok && d < mesh->n; d++) {
        WsSession *part = &mesh->part[d];
        mesh->options[d] = *options;
        mesh->options[d].device = judge->results->ordinal[d];
        *part = (WsSession){ .m = m,
                             .options = &mesh->options[d],
                             .results = judge->results,
                             .error = judge->error,
                             .cu = judge->cu };
        if (ws_mesh_here(mesh, d))
            ok = of_part(judge, part, ws_session_open(part) && ws_session_load(part, false));
    }
    if (!compare_devices(judge, mesh, ok) || !reaches(judge, mesh))
        return false;
    *judge = mesh->part[linked ? mesh->link.own : 0];
    judge->options = options;
    judge->mesh = mesh;
    return stack(judge, mesh, m) && use(judge, judge);
}

/* --- a case ------------------------------------------------------------------------------------*/
/* All CTAs of all parts are on their GPUs at once; else those that wait keep the others out. */
static bool fits(WsSession *judge, WsRunMesh *mesh, WsModuleKind kind)
{
    for (int d = 0; d < mesh->n; d++) {
        WsSession *part = &mesh->part[d];
        int each = 0, sharing = 0, sms = 0;
        int64_t ctas = 0;
        for (int i = 0; i < mesh->n; i++)
            if (i == d || (!mesh->link.n && mesh->part[i].device == part->device)) {
                ctas += mesh->part[i].grid;
                sharing++;
            }
        part->cooperative = sharing == 1;
        if (!ws_mesh_here(mesh, d))
            continue;
        if (!use(judge, part) ||
            !ws_cu(judge,
                   judge->cu.occupancy(&each, part->build[kind].function, (int)part->m->threads,
                                       part->m->shared),
                   "cuOccupancyMaxActiveBlocksPerMultiprocessor") ||
            !ws_cu(judge, judge->cu.device_attribute(&sms, WS_CU_ATTRIBUTE_SMS, part->device),
                   "cuDeviceGetAttribute"))
            return false;
        if (ctas > (int64_t)each * sms)
            return ws_session_fail(judge,
                                   "%" PRId64 " CTAs of %d devices of the mesh are to run at once "
                                   "on GPU %d, which holds %" PRId64 ": CTAs that wait would keep "
                                   "out those that they wait for; give a smaller grid",
                                   ctas, sharing, judge->results->ordinal[d], (int64_t)each * sms);
    }
    return true;
}

static bool take_memory(WsSession *judge, WsRunMesh *mesh, const WsRunCase *c)
{
    const WsManifest *m = mesh->part[0].m;
    int64_t flags = 0;
    for (int f = 0; f < m->n_flags; f++)
        flags += c->elements[f];
    if (!ws_mesh_block_open(mesh, &mesh->flag, (uint64_t)flags * 8, "flags"))
        return false;
    for (int t = 0; t < m->n_tensors; t++) {
        const uint64_t bytes = (uint64_t)ws_run_span(&m->tensor[t], &c->tensor[t]) *
                               ws_input_bytes(m->tensor[t].dtype);
        WsMeshBlock *b = &mesh->block[t];
        if (!ws_mesh_block_open(mesh, b, bytes, m->tensor[t].name))
            return false;
        for (int d = 0; d < mesh->n; d++) {
            mesh->part[d].tensor[t] = b->base + (uint64_t)d * b->pitch;
            mesh->part[d].bytes[t] = bytes;
        }
        judge->tensor[t] = b->base;
        judge->bytes[t] = b->pitch * (uint64_t)mesh->n;
        mesh->pitch[t] = (int64_t)b->pitch;
        if (m->tensor[t].access == WS_RUN_EXCHANGE)
            continue;
        WsRunTensorCase *all = &mesh->stacked_case.tensor[t];
        memmove(&all->extent[1], &all->extent[0], sizeof all->extent[0] * (WS_MANIFEST_RANK - 1));
        memmove(&all->stride[1], &all->stride[0], sizeof all->stride[0] * (WS_MANIFEST_RANK - 1));
        all->extent[0] = mesh->n;
        all->stride[0] = (int64_t)(b->pitch / ws_input_bytes(m->tensor[t].dtype));
    }
    mesh->pitch[m->n_tensors] = mesh->n;
    return true;
}

/* Inputs and tensor maps of a part; its inputs are others than those of the parts before. */
static bool prepare(WsSession *judge, WsRunMesh *mesh, int d)
{
    WsSession *part = &mesh->part[d];
    WsRunCase *c = &mesh->case_[d];
    for (int t = 0; t < part->m->n_tensors; t++)
        c->tensor[t].fill.key = ws_run_device_key(part->m, d, t);
    if (!ws_mesh_here(mesh, d)) /* its maps as this process sees its memory */
        return ws_maps_encode(part);
    return use(judge, part) && ws_case_fill(part) && ws_maps_encode(part) &&
           ws_session_synchronize(part);
}

/* The maps of all parts, and where each has its flags, in the memory of each part's device. */
static bool hand_out(WsSession *judge, WsRunMesh *mesh)
{
    const int maps = mesh->part[0].m->n_maps, n = mesh->n;
    const size_t bytes = (size_t)(maps * n + 1) * sizeof(WsCuTensorMap);
    uint64_t table[WS_MESH_PARTS];
    WsCuTensorMap *all = aligned_alloc(_Alignof(WsCuTensorMap), bytes);
    if (!all)
        return ws_session_fail(judge, "no memory for the tensor maps of all devices");
    memset(all, 0, bytes);
    for (int d = 0; d < n; d++) {
        table[d] = mesh->flag.base + (uint64_t)d * mesh->flag.pitch;
        for (int m = 0; m < maps; m++)
            all[m * n + d] = mesh->part[d].map[m];
    }
    bool ok = true;
    for (int d = 0; ok && d < n; d++) {
        WsSession *part = &mesh->part[d];
        if (!ws_mesh_here(mesh, d))
            continue;
        ok = use(judge, part) &&
             ws_cu(judge, judge->cu.mem_alloc(&part->peer_maps, bytes), "cuMemAlloc") &&
             ws_cu(judge, judge->cu.mem_alloc(&part->flags, sizeof table), "cuMemAlloc") &&
             ws_cu(judge, judge->cu.copy_to_device(part->peer_maps, all, bytes), "cuMemcpyHtoD") &&
             ws_cu(judge, judge->cu.copy_to_device(part->flags, table, sizeof table),
                   "cuMemcpyHtoD") &&
             ws_cu(judge, judge->cu.memset8(table[d], 0, mesh->flag.pitch, part->stream),
                   "cuMemsetD8Async") &&
             of_part(judge, part, ws_session_synchronize(part));
    }
    free(all);
    return ok;
}

bool ws_mesh_case_open(WsSession *judge, const WsRunCase *c)
{
    WsRunMesh *mesh = judge->mesh;
    const WsManifest *m = mesh->part[0].m;
    const bool told = ws_link_tell(judge, &mesh->link, WS_TELL_CASE_OPEN, c - m->case_);
    mesh->launches = 0;
    mesh->n = (int)c->devices;
    mesh->stacked_case = *c;
    judge->c = &mesh->stacked_case;
    judge->pitch = mesh->pitch;
    for (int d = 0; d < mesh->n; d++) {
        WsSession *part = &mesh->part[d];
        mesh->case_[d] = *c;
        mesh->case_[d].size[m->rank] = d;
        part->c = &mesh->case_[d];
        part->r = judge->r;
        part->error = judge->error;
        part->grid = judge->grid;
    }
    bool ok = fits(judge, mesh, WS_MODULE_TIMED) &&
              (!m->module[WS_MODULE_TRACED][0] || fits(judge, mesh, WS_MODULE_TRACED));
    ok = told && ws_link_meet(judge, &mesh->link, ok, NULL, NULL) && take_memory(judge, mesh, c);
    for (int d = 0; ok && d < mesh->n; d++)
        ok = of_part(judge, &mesh->part[d], prepare(judge, mesh, d));
    ok = ok && hand_out(judge, mesh) && use(judge, judge);
    return ws_link_meet(judge, &mesh->link, ok, NULL, NULL);
}

void ws_mesh_case_close(WsSession *judge)
{
    WsRunMesh *mesh = judge->mesh;
    ws_link_tell(judge, &mesh->link, WS_TELL_CASE_CLOSE, 0);
    for (int d = 0; d < mesh->n; d++) {
        WsSession *part = &mesh->part[d];
        if (!ws_mesh_here(mesh, d))
            continue;
        judge->cu.context_set(part->context);
        if (part->peer_maps)
            judge->cu.mem_free(part->peer_maps);
        if (part->flags)
            judge->cu.mem_free(part->flags);
        part->peer_maps = part->flags = 0;
    }
    for (int t = 0; t < judge->m->n_tensors; t++)
        ws_mesh_block_close(mesh, &mesh->block[t]);
    ws_mesh_block_close(mesh, &mesh->flag);
    judge->cu.context_set(judge->context);
}

/* --- launches ----------------------------------------------------------------------------------*/
static bool meet(WsSession *judge, bool ok)
{
    return ws_link_meet(judge, &judge->mesh->link, ok, NULL, NULL);
}

bool ws_mesh_poison(WsSession *judge)
{
    WsRunMesh *mesh = judge->mesh;
    bool ok = ws_link_tell(judge, &mesh->link, WS_TELL_POISON, 0);
    for (int d = 0; ok && d < mesh->n; d++) {
        WsSession *part = &mesh->part[d];
        if (ws_mesh_here(mesh, d))
            ok = use(judge, part) && of_part(judge, part, ws_case_poison(part));
    }
    /* what others put may come as soon as they are launched */
    return meet(judge, ok && use(judge, judge) &&
                           (!mesh->link.n || ws_session_synchronize(&mesh->part[mesh->link.own])));
}

static bool launch_part(WsSession *judge, WsModuleKind kind, int d)
{
    WsSession *part = &judge->mesh->part[d];
    part->launches = judge->mesh->launches;
    return use(judge, part) && of_part(judge, part, ws_session_launch(part, kind));
}

bool ws_mesh_launch(WsSession *judge, WsModuleKind kind)
{
    WsRunMesh *mesh = judge->mesh;
    bool ok = ws_link_tell(judge, &mesh->link, WS_TELL_LAUNCH, kind);
    for (int d = 0; ok && d < mesh->n; d++)
        ok = !ws_mesh_here(mesh, d) || launch_part(judge, kind, d);
    mesh->launches++;
    return meet(judge, ok && use(judge, judge));
}

/* Until what was given to the part is over; not longer than all other processes are there, since
 * a kernel waits for those of the others. */
static bool wait_for(WsSession *judge, WsSession *part)
{
    WsLink *link = &judge->mesh->link;
    while (link->n) {
        const int code = judge->cu.stream_query(part->stream);
        if (code == WS_CU_SUCCESS)
            break;
        if (code != WS_CU_NOT_READY)
            return ws_cu(judge, code, "cuStreamQuery");
        if (ws_link_broken(judge, link))
            return false;
        usleep(50);
    }
    return of_part(judge, part, ws_session_synchronize(part));
}

bool ws_mesh_synchronize(WsSession *judge)
{
    WsRunMesh *mesh = judge->mesh;
    bool ok = ws_link_tell(judge, &mesh->link, WS_TELL_SYNCHRONIZE, 0);
    for (int d = 0; ok && d < mesh->n; d++) {
        WsSession *part = &mesh->part[d];
        if (ws_mesh_here(mesh, d))
            ok = use(judge, part) && wait_for(judge, part);
    }
    return meet(judge, ok && use(judge, judge));
}

static bool flush(WsSession *judge)
{
    WsRunMesh *mesh = judge->mesh;
    for (int d = 0; d < mesh->n; d++) {
        WsSession *part = &mesh->part[d];
        if (ws_mesh_here(mesh, d) &&
            (!use(judge, part) || !of_part(judge, part, ws_case_zero_reductions(part)) ||
             !ws_cu(judge, judge->cu.memset32(part->flush, 0, WS_FLUSH_BYTES / 4, part->stream),
                    "cuMemsetD32Async")))
            return false;
    }
    for (int d = 0; d < mesh->n; d++) {
        WsSession *part = &mesh->part[d];
        if (ws_mesh_here(mesh, d) && (!use(judge, part) || !wait_for(judge, part)))
            return false;
    }
    return true;
}

static bool launch_timed(WsSession *judge, WsModuleKind kind, double *us)
{
    WsRunMesh *mesh = judge->mesh;
    for (int d = 0; d < mesh->n; d++) {
        WsSession *part = &mesh->part[d];
        if (ws_mesh_here(mesh, d) &&
            (!use(judge, part) ||
             !ws_cu(judge, judge->cu.event_record(part->event[0], part->stream), "cuEventRecord") ||
             !launch_part(judge, kind, d) ||
             !ws_cu(judge, judge->cu.event_record(part->event[1], part->stream), "cuEventRecord")))
            return false;
    }
    for (int d = 0; d < mesh->n; d++) {
        WsSession *part = &mesh->part[d];
        float ms = 0;
        if (!ws_mesh_here(mesh, d))
            continue;
        if (!use(judge, part) || (mesh->link.n && !wait_for(judge, part)) ||
            !ws_cu(judge, judge->cu.event_synchronize(part->event[1]), "cuEventSynchronize") ||
            !ws_cu(judge, judge->cu.event_elapsed(&ms, part->event[0], part->event[1]),
                   "cuEventElapsedTime"))
            return false;
        *us = ms * 1e3 > *us ? ms * 1e3 : *us;
    }
    return use(judge, judge);
}

bool ws_mesh_cold(WsSession *judge, WsModuleKind kind, double *us)
{
    WsRunMesh *mesh = judge->mesh;
    WsLinkGift gift[WS_LINK_PROCESSES] = { 0 };
    *us = 0;
    /* all of them begin at the same time, or nearly so */
    if (!meet(judge, ws_link_tell(judge, &mesh->link, WS_TELL_COLD, kind) && flush(judge)))
        return false;
    const bool ok = launch_timed(judge, kind, us);
    mesh->launches++;
    gift[mesh->link.own].us = *us;
    if (!ws_link_meet(judge, &mesh->link, ok, gift, NULL))
        return false;
    for (int d = 0; d < mesh->link.n; d++)
        *us = gift[d].us > *us ? gift[d].us : *us;
    return *us > 0 || ws_session_fail(judge, "the driver's events show no time around a launch");
}

/* --- processes ---------------------------------------------------------------------------------*/
void ws_mesh_end(WsSession *judge, WsRunMesh *mesh)
{
    if (!mesh->link.n || mesh->link.own)
        return;
    ws_link_tell(judge, &mesh->link, WS_TELL_END, ws_exit_status(judge->results));
    ws_link_close(&mesh->link);
}

/* What process 0 makes of a step that failed it says itself. */
static void follow(WsSession *judge, WsTell tell, int64_t a)
{
    const double patience =
        2 * judge->options->timeout + 10; /* process 0 says first that it hangs */
    double us;
    switch (tell) {
    case WS_TELL_CASE_OPEN:
        judge->c = &judge->mesh->part[0].m->case_[a];
        judge->r = &judge->results->case_[a];
        judge->grid = ws_case_grid(judge, judge->c);
        ws_mesh_case_open(judge, judge->c);
        break;
    case WS_TELL_CASE_CLOSE:
        ws_mesh_case_close(judge);
        break;
    case WS_TELL_POISON:
        ws_mesh_poison(judge);
        break;
    case WS_TELL_LAUNCH:
        ws_session_phase(judge, patience, "launch of device %d", judge->mesh->link.own);
        ws_mesh_launch(judge, (WsModuleKind)a);
        break;
    case WS_TELL_SYNCHRONIZE:
        ws_session_phase(judge, patience, "kernel of device %d", judge->mesh->link.own);
        ws_mesh_synchronize(judge);
        break;
    case WS_TELL_COLD:
        ws_session_phase(judge, patience, "timed launch of device %d", judge->mesh->link.own);
        ws_mesh_cold(judge, (WsModuleKind)a, &us);
        break;
    case WS_TELL_MEET:
    case WS_TELL_END:
        break;
    }
}

void ws_mesh_serve(WsSession *judge, WsRunMesh *mesh, const WsManifest *m)
{
    WsTell tell = WS_TELL_END;
    int64_t a = 0;
    while (ws_link_hear(judge, &mesh->link, &tell, &a) && tell != WS_TELL_END) {
        if ((tell == WS_TELL_CASE_OPEN && (a < 0 || a >= m->n_cases)) ||
            ((tell == WS_TELL_LAUNCH || tell == WS_TELL_COLD) && (a < 0 || a >= WS_MODULE_COUNT)))
            break;
        follow(judge, tell, a);
        if (mesh->link.broken)
            break;
        judge->error[0] = 0;
    }
    if (tell != WS_TELL_END || mesh->link.broken)
        judge->results->status = WS_EXIT_NO;
    else
        judge->results->status = (int)a;
}

bool ws_mesh_flags_right(WsSession *judge)
{
    const WsRunMesh *mesh = judge->mesh;
    const WsManifest *m = mesh->part[0].m;
    const WsRunCase *c = mesh->part[0].c;
    for (int d = 0; d < mesh->n; d++) {
        uint64_t at = mesh->flag.base + (uint64_t)d * mesh->flag.pitch;
        for (int f = 0; f < m->n_flags; f++)
            for (int64_t i = 0; i < c->elements[f]; i++, at += 8) {
                int64_t now = 0;
                if (!ws_cu(judge, judge->cu.copy_to_host(&now, at, 8), "cuMemcpyDtoH"))
                    return false;
                if (now != mesh->launches * c->adds[f])
                    return ws_session_fail(judge,
                                           "element %" PRId64 " of flag %s of device %d is %" PRId64
                                           " after %" PRId64
                                           " launches, each of which adds %" PRId64,
                                           i, m->flag[f], d, now, mesh->launches, c->adds[f]);
            }
    }
    return true;
}
