# Right up to the default N = 3 alone: from four rounds on the loader waits for a slot that nobody gives
# back. A default is one value of many: the kernel is refuted.
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma


@gluon.jit
def load(A_desc, N, a, full, empty, DEPTH: gl.constexpr):
    for i in range(N):
        mbarrier.wait(empty.index(i % DEPTH), i // DEPTH % 2 ^ 1)
        mbarrier.expect(full.index(i % DEPTH), 8192)
        tma.async_copy_global_to_shared(A_desc, [0, i * 64], full.index(i % DEPTH), a.index(i % DEPTH))


@gluon.jit
def use(N, a, full, empty, DEPTH: gl.constexpr):
    for i in range(N):
        mbarrier.wait(full.index(i % DEPTH), i // DEPTH % 2)
        if i > 3:
            mbarrier.arrive(empty.index(i % DEPTH), count=1)


@gluon.jit
def kernel(A_desc, N, DEPTH: gl.constexpr):
    a = gl.allocate_shared_memory(gl.bfloat16, [DEPTH, 64, 64], A_desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [DEPTH, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [DEPTH, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(DEPTH):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    gl.warp_specialize([(use, (N, a, full, empty, DEPTH)), (load, (A_desc, N, a, full, empty, DEPTH))],
                       [4], [40])


def launch(A, N=3, DEPTH=3, wide=False):
    layout = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    A_desc = TensorDescriptor(A, [64, 64 * N], [64 * N, 1], [64, 64], layout)
    kernel[(1,)](A_desc, N, DEPTH, num_warps=4)
