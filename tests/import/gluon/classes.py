# A persistent GEMM the way tutorials factor it: classes for the arguments of partitions, for an
# index with its phase, for the tiles of a program; partitions under the older keywords.
import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.language.core import _aggregate as aggregate
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait)


@aggregate
class Args:
    a_desc: tma.tensor_descriptor
    b_desc: tma.tensor_descriptor
    c_desc: tma.tensor_descriptor
    a_bufs: gl.shared_memory_descriptor
    b_bufs: gl.shared_memory_descriptor
    free: gl.shared_memory_descriptor
    full: gl.shared_memory_descriptor
    warps: gl.constexpr

    @gluon.constexpr_function
    def __init__(self, a_desc, b_desc, c_desc, a_bufs, b_bufs, free, full, warps):
        self.a_desc = a_desc
        self.b_desc = b_desc
        self.c_desc = c_desc
        self.a_bufs = a_bufs
        self.b_bufs = b_bufs
        self.free = free
        self.full = full
        self.warps = gl.constexpr(warps)


@aggregate
class Turn:
    index: gl.tensor
    phase: gl.tensor
    length: gl.constexpr

    @gluon.constexpr_function
    def __init__(self, index, phase, length):
        self.index = index
        self.phase = phase
        self.length = gl.constexpr(length)

    @gluon.jit
    def start(phase, length: gl.constexpr):
        return Turn(gl.to_tensor(0), gl.to_tensor(phase), length)

    @gluon.must_use_result
    @gluon.jit
    def next(self):
        more = self.index + 1
        over = more == self.length
        return Turn(gl.where(over, 0, more), gl.where(over, self.phase ^ 1, self.phase),
                    self.length)


@aggregate
class Tiles:
    first: gl.tensor
    high: gl.tensor
    count: gl.tensor

    @gluon.constexpr_function
    def __init__(self, first, high, count):
        self.first = first
        self.high = high
        self.count = count

    @gluon.jit
    def of(M, N, BM: gl.constexpr, BN: gl.constexpr):
        high = gl.cdiv(M, BM)
        return Tiles(gl.program_id(axis=0), high, high * gl.cdiv(N, BN))

    @gluon.jit
    def mine(self):
        return gl.cdiv(self.count - self.first, gl.num_programs(axis=0))

    @gluon.jit
    def at(self, i):
        tile = self.first + i * gl.num_programs(axis=0)
        return tile % self.high, tile // self.high


@gluon.jit
def load(p, Tiling: gl.constexpr):
    BM: gl.constexpr = p.c_desc.block_type.shape[0]
    BN: gl.constexpr = p.c_desc.block_type.shape[1]
    BK: gl.constexpr = p.a_desc.block_type.shape[1]
    K = p.a_desc.shape[1]
    turn = Turn.start(1, p.free.shape[0])
    tiles = Tiling.of(p.c_desc.shape[0], p.c_desc.shape[1], BM, BN)
    for i in range(tiles.mine()):
        m, n = tiles.at(i)
        for k in range(0, K, BK):
            bar = p.full.index(turn.index)
            mbarrier.wait(p.free.index(turn.index), turn.phase)
            mbarrier.expect(bar, p.a_desc.block_type.nbytes + p.b_desc.block_type.nbytes)
            tma.async_copy_global_to_shared(p.a_desc, [m * BM, k], bar,
                                            p.a_bufs.index(turn.index))
            tma.async_copy_global_to_shared(p.b_desc, [k, n * BN], bar,
                                            p.b_bufs.index(turn.index))
            turn = turn.next()


@gluon.jit
def multiply(p, Tiling: gl.constexpr):
    BM: gl.constexpr = p.c_desc.block_type.shape[0]
    BN: gl.constexpr = p.c_desc.block_type.shape[1]
    BK: gl.constexpr = p.a_desc.block_type.shape[1]
    dtype: gl.constexpr = p.c_desc.dtype
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [p.warps, 1], [16, BN, 16])
    K = p.a_desc.shape[1]
    turn = Turn.start(0, p.full.shape[0])
    c_smem = gl.allocate_shared_memory(dtype, p.c_desc.block_type.shape, p.c_desc.layout)
    tiles = Tiling.of(p.c_desc.shape[0], p.c_desc.shape[1], BM, BN)
    for i in range(tiles.mine()):
        m, n = tiles.at(i)
        acc = gl.zeros((BM, BN), dtype=gl.float32, layout=layout)
        for k in range(0, K, BK):
            mbarrier.wait(p.full.index(turn.index), turn.phase)
            acc = warpgroup_mma(p.a_bufs.index(turn.index), p.b_bufs.index(turn.index), acc,
                                is_async=True)
            acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
            mbarrier.arrive(p.free.index(turn.index), count=1)
            turn = turn.next()
        tma.store_wait(pendings=0)
        c_smem.store(acc.to(dtype))
        fence_async_shared()
        tma.async_copy_shared_to_global(p.c_desc, [m * BM, n * BN], c_smem)
    tma.store_wait(pendings=0)


@gluon.jit
def kernel(a_desc, b_desc, c_desc, Tiling: gl.constexpr, depth: gl.constexpr,
           num_warps: gl.constexpr):
    dtype: gl.constexpr = a_desc.dtype
    a_bufs = gl.allocate_shared_memory(dtype, [depth] + a_desc.block_type.shape, a_desc.layout)
    b_bufs = gl.allocate_shared_memory(dtype, [depth] + b_desc.block_type.shape, b_desc.layout)
    free = gl.allocate_shared_memory(gl.int64, [depth, 1], mbarrier.MBarrierLayout())
    full = gl.allocate_shared_memory(gl.int64, [depth, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(depth):
        mbarrier.init(free.index(i), count=1)
        mbarrier.init(full.index(i), count=1)
    p = Args(a_desc, b_desc, c_desc, a_bufs, b_bufs, free, full, num_warps)
    gl.warp_specialize(
        default_args=(p, Tiling),
        default_partition=multiply,
        worker_args=(p, Tiling),
        worker_partitions=[load],
        worker_num_warps=[1],
        worker_num_regs=[24],
    )


def matmul(A, B, C, BM=64, BN=128, BK=64, depth=4, num_warps=4):
    M, N = C.shape
    ab = gl.NVMMASharedLayout.get_default_for([BM, BK], gl.float16)
    a_desc = TensorDescriptor.from_tensor(A, [BM, BK], ab)
    b_desc = TensorDescriptor.from_tensor(B, [BK, BN], ab)
    c_desc = TensorDescriptor.from_tensor(C, [BM, BN], ab)
    sms = torch.cuda.get_device_properties("cuda").multi_processor_count
    tiles = triton.cdiv(M, BM) * triton.cdiv(N, BN)
    kernel[(min(sms, tiles), )](a_desc, b_desc, c_desc, Tiles, depth, num_warps=num_warps)
