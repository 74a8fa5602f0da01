# A persistent GEMM as a person writes it in Gluon: one loader warp, two consumer warp groups.
import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait)


@gluon.jit
def load(a_desc, b_desc, a_ring, b_ring, full, empty, n_tiles, n_n, K, BM: gl.constexpr,
         BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr):
    slot = 0
    phase = 1
    for tile in range(gl.program_id(0), n_tiles, gl.num_programs(0)):
        off_m = tile // n_n * 2 * BM
        off_n = tile % n_n * BN
        for k in range(0, K, BK):
            bar = full.index(slot)
            mbarrier.wait(empty.index(slot), phase)
            mbarrier.expect(bar, (2 * BM * BK + BN * BK) * 2)
            tma.async_copy_global_to_shared(a_desc, [off_m, k], bar, a_ring.index(slot))
            tma.async_copy_global_to_shared(b_desc, [off_n, k], bar, b_ring.index(slot))
            slot += 1
            if slot == STAGES:
                slot = 0
                phase ^= 1


@gluon.jit
def consume(c_desc, a_ring, b_ring, c_tile, full, empty, n_tiles, n_n, K, BM: gl.constexpr,
            BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr, replica: gl.constexpr):
    layout: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1],
                                                     instr_shape=[16, BN, 16])
    done = 0
    for tile in range(gl.program_id(0), n_tiles, gl.num_programs(0)):
        off_m = tile // n_n * 2 * BM + replica * BM
        off_n = tile % n_n * BN
        acc = gl.zeros((BM, BN), gl.float32, layout)
        for k in range(0, K, BK):
            slot = done % STAGES
            mbarrier.wait(full.index(slot), done // STAGES & 1)
            acc = warpgroup_mma(a_ring.index(slot).slice(replica * BM, BM, 0),
                                b_ring.index(slot).permute((1, 0)), acc, is_async=True)
            acc = warpgroup_mma_wait(0, deps=[acc])
            mbarrier.arrive(empty.index(slot), count=1)
            done += 1
        tma.store_wait(0)
        c_tile.index(replica).store(acc.to(gl.bfloat16))
        fence_async_shared()
        tma.async_copy_shared_to_global(c_desc, [off_m, off_n], c_tile.index(replica))
    tma.store_wait(0)


@gluon.jit
def gemm(a_desc, b_desc, c_desc, n_tiles, n_n, K, BM: gl.constexpr, BN: gl.constexpr,
         BK: gl.constexpr, STAGES: gl.constexpr):
    a_ring = gl.allocate_shared_memory(gl.bfloat16, [STAGES, 2 * BM, BK], a_desc.layout)
    b_ring = gl.allocate_shared_memory(gl.bfloat16, [STAGES, BN, BK], b_desc.layout)
    c_tile = gl.allocate_shared_memory(gl.bfloat16, [2, BM, BN], c_desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(STAGES):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=2)
    gl.warp_specialize([
        (consume, (c_desc, a_ring, b_ring, c_tile, full, empty, n_tiles, n_n, K, BM, BN, BK,
                   STAGES, 0)),
        (consume, (c_desc, a_ring, b_ring, c_tile, full, empty, n_tiles, n_n, K, BM, BN, BK,
                   STAGES, 1)),
        (load, (a_desc, b_desc, a_ring, b_ring, full, empty, n_tiles, n_n, K, BM, BN, BK, STAGES)),
    ], [4, 1], [232, 40])


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[0]
    BM, BN, BK, STAGES = 64, 128, 64, 4
    ab = gl.NVMMASharedLayout.get_default_for([2 * BM, BK], gl.bfloat16)
    a_desc = TensorDescriptor.from_tensor(A, [2 * BM, BK], ab)
    b_desc = TensorDescriptor.from_tensor(B, [BN, BK], ab)
    c_desc = TensorDescriptor.from_tensor(C, [BM, BN], ab)
    n_n = triton.cdiv(N, BN)
    n_tiles = triton.cdiv(M, 2 * BM) * n_n
    sms = torch.cuda.get_device_properties(A.device).multi_processor_count
    gemm[(min(sms, n_tiles), )](a_desc, b_desc, c_desc, n_tiles, n_n, K, BM, BN, BK, STAGES,
                                num_warps=4)
