# A GEMM of one tile per program: the default partition loads, two workers multiply, each from
# buffers of its own that lie one behind another; rounds are counted by the host.
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait)


def up(a, b):
    return (a + b - 1) // b


@gluon.jit
def load(a_desc, b_desc, a_bufs, b_bufs, free, full, BM: gl.constexpr, BN: gl.constexpr,
         BK: gl.constexpr, depth: gl.constexpr, workers: gl.constexpr):
    K = a_desc.shape[1]
    col = gl.program_id(1) * BN
    index = 0
    phase = 1
    for k in range(0, K, BK):
        for w in gl.static_range(workers):
            row = (gl.program_id(0) * workers + w) * BM
            slot = w * depth + index
            mbarrier.wait(free.index(slot), phase)
            bar = full.index(slot)
            mbarrier.expect(bar, a_desc.block_type.nbytes + b_desc.block_type.nbytes)
            tma.async_copy_global_to_shared(a_desc, [row, k], bar, a_bufs.index(slot))
            tma.async_copy_global_to_shared(b_desc, [k, col], bar, b_bufs.index(slot))
        index += 1
        if index == depth:
            index = 0
            phase ^= 1


@gluon.jit
def multiply(c_desc, a_bufs, b_bufs, free, full, BM: gl.constexpr, BN: gl.constexpr,
             depth: gl.constexpr, num_warps: gl.constexpr, workers: gl.constexpr,
             me: gl.constexpr, rounds):
    dtype: gl.constexpr = c_desc.dtype
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [num_warps, 1], [16, BN, 16])
    row = (gl.program_id(0) * workers + me) * BM
    first: gl.constexpr = me * depth
    acc = gl.zeros((BM, BN), dtype=gl.float32, layout=layout)
    index = 0
    phase = 0
    use_acc = False
    for _ in range(0, rounds):
        slot = first + index
        mbarrier.wait(full.index(slot), phase)
        acc = warpgroup_mma(a_bufs.index(slot), b_bufs.index(slot), acc, is_async=True,
                            use_acc=use_acc)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
        mbarrier.arrive(free.index(slot), count=1)
        use_acc = True
        index += 1
        if index == depth:
            index = 0
            phase ^= 1
    c_smem = gl.allocate_shared_memory(dtype, c_desc.block_type.shape, c_desc.layout)
    c_smem.store(acc.to(dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(c_desc, [row, gl.program_id(1) * BN], c_smem)
    tma.store_wait(pendings=0)


@gluon.jit
def kernel(a_desc, b_desc, c_desc, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr,
           depth: gl.constexpr, num_warps: gl.constexpr, workers: gl.constexpr, rounds):
    dtype: gl.constexpr = a_desc.dtype
    all: gl.constexpr = workers * depth
    a_bufs = gl.allocate_shared_memory(dtype, [all] + a_desc.block_type.shape, a_desc.layout)
    b_bufs = gl.allocate_shared_memory(dtype, [all] + b_desc.block_type.shape, b_desc.layout)
    free = gl.allocate_shared_memory(gl.int64, [all, 1], mbarrier.MBarrierLayout())
    full = gl.allocate_shared_memory(gl.int64, [all, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(all):
        mbarrier.init(free.index(i), count=1)
        mbarrier.init(full.index(i), count=1)
    gl.warp_specialize(
        [
            (load, (a_desc, b_desc, a_bufs, b_bufs, free, full, BM, BN, BK, depth, workers)),
            (multiply, (c_desc, a_bufs, b_bufs, free, full, BM, BN, depth, num_warps, workers, 0,
                        rounds)),
            (multiply, (c_desc, a_bufs, b_bufs, free, full, BM, BN, depth, num_warps, workers, 1,
                        rounds)),
        ],
        [num_warps, num_warps],
        [232, 232],
    )


def matmul(A, B, C, BM=64, BN=128, BK=64, depth=3, num_warps=4, workers=2):
    M, K = A.shape
    Kb, N = B.shape
    assert K == Kb
    a_desc = TensorDescriptor.from_tensor(
        A, [BM, BK], gl.NVMMASharedLayout.get_default_for([BM, BK], gl.float16))
    b_desc = TensorDescriptor.from_tensor(
        B, [BK, BN], gl.NVMMASharedLayout.get_default_for([BK, BN], gl.float16))
    c_desc = TensorDescriptor.from_tensor(
        C, [BM, BN], gl.NVMMASharedLayout.get_default_for([BM, BN], gl.float16))
    kernel[(up(M, BM * workers), up(N, BN))](
        a_desc, b_desc, c_desc, BM, BN, BK, depth, num_warps=num_warps, workers=workers,
        rounds=up(K, BK))
