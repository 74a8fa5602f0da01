# A ring whose first parity, depth and helpers come to the kernel by names, lists and functions.
import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

START = [1]
DEPTHS = {"full": 4}
# top


def begin():
    return START[0]


@gluon.constexpr_function
def flip(phase):
    return phase


@gluon.jit
def free(bars, slot, phase):
    mbarrier.wait(bars.index(slot), phase)


@gluon.jit
def bring(x_desc, kt, ring, full, empty, N: gl.constexpr, S: gl.constexpr):
    for k in range(kt):
        slot = k % N
        free(empty, slot, (k // N & 1) ^ S)
        mbarrier.expect(full.index(slot), x_desc.block_type.nbytes)
        tma.async_copy_global_to_shared(x_desc, [0, k * 64], full.index(slot), ring.index(slot))


@gluon.jit
def take(y_desc, kt, ring, full, empty, N: gl.constexpr, L: gl.constexpr):
    for k in range(kt):
        slot = k % N
        mbarrier.wait(full.index(slot), k // N & 1)
        value = ring.index(slot).load(L)
        mbarrier.arrive(empty.index(slot), count=1)


@gluon.jit
def kernel(x_desc, kt, N: gl.constexpr, S: gl.constexpr, L: gl.constexpr):
    ring = gl.allocate_shared_memory(gl.float16, [N, 64, 64], x_desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [N, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [N, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(N):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    gl.warp_specialize([
        (take, (x_desc, kt, ring, full, empty, N, L)),
        (bring, (x_desc, kt, ring, full, empty, N, S)),
    ], [1], [24])


# defined


def launch(X, kt):
    # host
    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    x_desc = TensorDescriptor.from_tensor(X, [64, 64], layout)
    registers = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])
    depth = DEPTHS["full"] if False else 4
    start = begin()
    # launch
    kernel[(1, )](x_desc, kt, depth, start, registers, num_warps=4)
# end
