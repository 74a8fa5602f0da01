# A GEMM without partitions: all warps load ahead by TMA and multiply.
import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_init, warpgroup_mma_wait)


@gluon.jit
def issue(n, a_desc, b_desc, row, col, k, bars, a_bufs, b_bufs, depth: gl.constexpr, pred=True):
    slot = n % depth
    bar = bars.index(slot)
    mbarrier.expect(bar, a_desc.block_type.nbytes + b_desc.block_type.nbytes, pred=pred)
    tma.async_copy_global_to_shared(a_desc, [row, k], bar, a_bufs.index(slot), pred)
    tma.async_copy_global_to_shared(b_desc, [k, col], bar, b_bufs.index(slot), pred)
    return n + 1


@gluon.jit
def product(n, acc, bars, a_bufs, b_bufs, depth: gl.constexpr):
    slot = n % depth
    mbarrier.wait(bars.index(slot), n // depth & 1)
    acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    acc = warpgroup_mma(a_bufs.index(slot), b_bufs.index(slot), acc, is_async=True)
    return n + 1, acc


@gluon.jit
def kernel(a_desc, b_desc, c_desc, depth: gl.constexpr, num_warps: gl.constexpr):
    BM: gl.constexpr = c_desc.block_type.shape[0]
    BN: gl.constexpr = c_desc.block_type.shape[1]
    BK: gl.constexpr = a_desc.block_type.shape[1]
    dtype: gl.constexpr = a_desc.dtype
    K = a_desc.shape[1]
    a_bufs = gl.allocate_shared_memory(dtype, [depth] + a_desc.block_type.shape, a_desc.layout)
    b_bufs = gl.allocate_shared_memory(dtype, [depth] + b_desc.block_type.shape, b_desc.layout)
    bars = gl.allocate_shared_memory(gl.int64, [depth, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(depth):
        mbarrier.init(bars.index(i), count=1)
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [num_warps, 1], [16, BN, 16])
    acc = warpgroup_mma_init(gl.zeros((BM, BN), dtype=gl.float32, layout=layout))
    loaded = 0
    done = 0
    row = gl.program_id(axis=0) * BM
    col = gl.program_id(axis=1) * BN
    for k in gl.static_range(0, BK * (depth - 2), BK):
        loaded = issue(loaded, a_desc, b_desc, row, col, k, bars, a_bufs, b_bufs, depth)
    for k in range(BK * (depth - 2), K, BK):
        loaded = issue(loaded, a_desc, b_desc, row, col, k, bars, a_bufs, b_bufs, depth)
        done, acc = product(done, acc, bars, a_bufs, b_bufs, depth)
    for _ in gl.static_range(depth - 2):
        done, acc = product(done, acc, bars, a_bufs, b_bufs, depth)
    acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    c_smem = gl.allocate_shared_memory(dtype, c_desc.block_type.shape, c_desc.layout)
    c_smem.store(acc.to(dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(c_desc, [row, col], c_smem)
    tma.store_wait(pendings=0)


def matmul(A, B, C, BM=64, BN=128, BK=64, depth=4, num_warps=4):
    M, N = C.shape
    K = A.shape[1]
    assert K >= 128
    ab = gl.NVMMASharedLayout.get_default_for([BM, BK], gl.float16)
    a_desc = TensorDescriptor.from_tensor(A, [BM, BK], ab)
    b_desc = TensorDescriptor.from_tensor(B, [BK, BN], ab)
    c_desc = TensorDescriptor.from_tensor(C, [BM, BN], ab)
    grid = (triton.cdiv(M, BM), triton.cdiv(N, BN))
    kernel[grid](a_desc, b_desc, c_desc, depth, num_warps=num_warps)
