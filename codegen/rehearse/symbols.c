/* Which C function stands for which primitive of prim.def. A primitive that is not here makes the
 * rehearsal fail by name. */
#include "codegen/rehearse/symbols.h"

#include "codegen/rehearse/host.h"

#define ROW(name)                                                                                  \
    {                                                                                              \
        "wsh_" #name, wsh_##name                                                                   \
    }
static const WsJitSymbol table[] = {
    ROW(tid),
    ROW(lane),
    ROW(ctaid),
    ROW(nctaid),
    ROW(cluster_rank),
    ROW(elect),
    ROW(shfl_idx),
    ROW(shfl_bfly),
    ROW(vote_all),
    ROW(mov64),
    ROW(mov32),
    ROW(mbar_init),
    ROW(mbar_wait),
    { "wsh_mbar_wait_cluster", wsh_mbar_wait },
    ROW(mbar_arrive),
    ROW(mbar_arrive_n),
    ROW(mbar_arrive_remote),
    ROW(mbar_expect),
    ROW(mbar_expect_only),
    ROW(tma_load),
    ROW(tma_store),
    ROW(bulk_commit),
    ROW(bulk_wait),
    ROW(bulk_wait_read),
    { "wsh_prefetch_map", wsh_nothing64 },
    { "wsh_wgmma_fence", wsh_nothing },
    ROW(wgmma_commit),
    ROW(wgmma_wait),
    ROW(wgmma),
    ROW(stmatrix_x4),
    ROW(stmatrix_x4_t),
    ROW(stmatrix_x2),
    ROW(st_shared),
    ROW(st_shared_v2),
    ROW(st_shared_v4),
    ROW(st_shared_f32),
    ROW(ld_shared),
    ROW(ld_shared_f32),
    ROW(cvt_bf16x2),
    ROW(cvt_f16x2),
    { "wsh_fence_mbar_init", wsh_nothing },
    { "wsh_fence_async", wsh_nothing },
    { "wsh_fence_cluster", wsh_nothing },
    { "wsh_fence_gpu", wsh_nothing },
    ROW(bar_sync),
    ROW(bar_arrive),
    ROW(warp_sync),
    ROW(cluster_arrive),
    ROW(cluster_wait),
    { "wsh_setmaxnreg_inc", wsh_nothing32 },
    { "wsh_setmaxnreg_dec", wsh_nothing32 },
    { "wsh_dep_wait", wsh_nothing },
    { "wsh_dep_launch", wsh_nothing },
    ROW(clock),
    ROW(clock64),
    { "wsh_globaltimer", wsh_clock64 },
    ROW(smid),
    ROW(op),
    ROW(agent),
    ROW(shared_base),
};

const WsJitSymbol *ws_host_symbols(guint *n)
{
    *n = G_N_ELEMENTS(table);
    return table;
}
