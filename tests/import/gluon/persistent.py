# A persistent GEMM of one group, factored the way tutorials do: a class around the accumulator, which
# the device picks; tiles in groups from a class that a function makes; loads issued ahead, with pred.
import torch
from triton.language.core import _aggregate as aggregate
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait)


@gluon.jit
def issue(n, a_desc, b_desc, row, col, k, bars, a_bufs, b_bufs, depth: gl.constexpr, pred=True):
    slot = n % depth
    bar = bars.index(slot)
    mbarrier.expect(bar, a_desc.block_type.nbytes + b_desc.block_type.nbytes, pred=pred)
    tma.async_copy_global_to_shared(a_desc, [row, k], bar, a_bufs.index(slot), pred)
    tma.async_copy_global_to_shared(b_desc, [k, col], bar, b_bufs.index(slot), pred)
    return n + 1



@aggregate
class Acc:
    acc: gl.tensor
    use: gl.tensor

    @gluon.constexpr_function
    def __init__(self, acc, use):
        self.acc = acc
        self.use = use

    @gluon.jit
    def create(BM: gl.constexpr, BN: gl.constexpr, num_warps: gl.constexpr):
        layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [num_warps, 1], [16, BN, 16])
        acc = gl.zeros((BM, BN), dtype=gl.float32, layout=layout)
        return Acc(acc, gl.to_tensor(False))

    @gluon.jit
    def issue(self, a, b):
        acc = warpgroup_mma(a, b, self.acc, is_async=True, use_acc=self.use)
        return Acc(acc, gl.to_tensor(True))

    @gluon.jit
    def wait(self, n: gl.constexpr):
        return Acc(warpgroup_mma_wait(n, (self.acc, )), self.use)

    @gluon.jit
    def take(self):
        return self.acc, Acc(self.acc, gl.to_tensor(False))


def Grouped(GROUP):
    GROUP = gl.constexpr(GROUP)

    @aggregate
    class GroupedImpl:
        first: gl.tensor
        high: gl.tensor
        per_group: gl.tensor
        total: gl.tensor

        @gluon.constexpr_function
        def __init__(self, first, high, per_group, total):
            self.first = first
            self.high = high
            self.per_group = per_group
            self.total = total

        @gluon.jit
        def initialize(M, N, BM: gl.constexpr, BN: gl.constexpr):
            high = gl.cdiv(M, BM)
            wide = gl.cdiv(N, BN)
            return GroupedImpl(gl.program_id(axis=0), high, GROUP * wide, high * wide)

        @gluon.jit
        def count(self):
            return gl.cdiv(self.total - self.first, gl.num_programs(axis=0))

        @gluon.jit
        def tile(self, i):
            t = self.first + i * gl.num_programs(axis=0)
            m0 = t // self.per_group * GROUP
            h = min(self.high - m0, GROUP)
            return m0 + t % h, t % self.per_group // h

    return GroupedImpl


@gluon.jit
def product(n, mma, bars, a_bufs, b_bufs, depth: gl.constexpr):
    slot = n % depth
    n += 1
    mbarrier.wait(bars.index(slot), (n - 1) // depth & 1)
    mma = mma.wait(0)
    mma = mma.issue(a_bufs.index(slot), b_bufs.index(slot))
    return n, mma


@gluon.jit
def kernel(a_desc, b_desc, c_desc, Impl: gl.constexpr, Tiling: gl.constexpr, depth: gl.constexpr,
           num_warps: gl.constexpr):
    BM: gl.constexpr = c_desc.block_type.shape[0]
    BN: gl.constexpr = c_desc.block_type.shape[1]
    BK: gl.constexpr = a_desc.block_type.shape[1]
    dtype: gl.constexpr = a_desc.dtype
    K = a_desc.shape[1]
    bars = gl.allocate_shared_memory(gl.int64, [depth, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(depth):
        mbarrier.init(bars.index(i), count=1)
    loaded = 0
    done = 0
    mma = Impl.create(BM, BN, num_warps)
    tiles = Tiling.initialize(c_desc.shape[0], c_desc.shape[1], BM, BN)
    for idx in range(tiles.count()):
        m, n = tiles.tile(idx)
        row = m * BM
        col = n * BN
        a_bufs = gl.allocate_shared_memory(dtype, [depth] + a_desc.block_type.shape, a_desc.layout)
        b_bufs = gl.allocate_shared_memory(dtype, [depth] + b_desc.block_type.shape, b_desc.layout)
        for k in gl.static_range(0, BK * (depth - 2), BK):
            loaded = issue(loaded, a_desc, b_desc, row, col, k, bars, a_bufs, b_bufs, depth)
        for k in range(BK * (depth - 2), K, BK):
            loaded = issue(loaded, a_desc, b_desc, row, col, k, bars, a_bufs, b_bufs, depth)
            done, mma = product(done, mma, bars, a_bufs, b_bufs, depth)
        for _ in gl.static_range(depth - 2):
            done, mma = product(done, mma, bars, a_bufs, b_bufs, depth)
        mma = mma.wait(0)
        c_smem = gl.allocate_shared_memory(dtype, c_desc.block_type.shape, c_desc.layout)
        c, mma = mma.take()
        c_smem.store(c.to(dtype))
        fence_async_shared()
        tma.async_copy_shared_to_global(c_desc, [row, col], c_smem)
        tma.store_wait(pendings=0)


def select():
    if torch.cuda.get_device_capability()[0] == 9:
        return Acc
    elif torch.cuda.get_device_capability()[0] == 10:
        return None


def matmul(A, B, C, BM=64, BN=128, BK=64, depth=4, num_warps=4):
    Impl = select()
    M, N = C.shape
    K = A.shape[1]
    assert K >= 128
    ab = gl.NVMMASharedLayout.get_default_for([BM, BK], gl.float16)
    a_desc = TensorDescriptor.from_tensor(A, [BM, BK], ab)
    b_desc = TensorDescriptor.from_tensor(B, [BK, BN], ab)
    c_desc = TensorDescriptor.from_tensor(C, [BM, BN], ab)
    sms = torch.cuda.get_device_properties("cuda").multi_processor_count
    grid = (min(sms, triton.cdiv(M, BM) * triton.cdiv(N, BN)), )
    kernel[grid](a_desc, b_desc, c_desc, Impl, Grouped(8), depth, num_warps=num_warps)
