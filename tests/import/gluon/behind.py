# An index one less than what counts from 1 on, and a parity that flips before it is used.
import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma


@gluon.jit
def bring(x_desc, kt, n_tiles, ring, full, empty, N: gl.constexpr):
    i = 0
    ph = 1
    for tile in gl.static_range(1):
        for k in range(kt):
            mbarrier.wait(empty.index(i), ph)
            mbarrier.expect(full.index(i), x_desc.block_type.nbytes)
            tma.async_copy_global_to_shared(x_desc, [tile * 64, k * 64], full.index(i), ring.index(i))
            i += 1
            if i == N:
                i = 0
                ph ^= 1


@gluon.jit
def take(kt, n_tiles, ring, full, empty, N: gl.constexpr, L: gl.constexpr):
    c = 1
    vp = 1
    for tile in gl.static_range(1):
        for k in range(kt):
            s = (c - 1) % N
            vp = vp ^ (s == 0)
            mbarrier.wait(full.index(s), vp)
            value = ring.index(s).load(L)
            mbarrier.arrive(empty.index(s), count=1)
            c += 1


@gluon.jit
def kernel(x_desc, kt, n_tiles, N: gl.constexpr, L: gl.constexpr):
    ring = gl.allocate_shared_memory(gl.float16, [N, 64, 64], x_desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [N, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [N, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(N):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    gl.warp_specialize([
        (take, (kt, n_tiles, ring, full, empty, N, L)),
        (bring, (x_desc, kt, n_tiles, ring, full, empty, N)),
    ], [1], [24])


def run(x, kt, n_tiles, N=4):
    assert kt >= 1
    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    x_desc = TensorDescriptor.from_tensor(x, [64, 64], layout)
    kernel[(8,)](x_desc, kt, n_tiles, N, gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]), num_warps=4)
