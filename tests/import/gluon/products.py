# Two products of the same tiles: the first is waited for where it is used, the second at the end.
import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from triton.experimental.gluon.language.nvidia.hopper import (
    mbarrier, tma, warpgroup_mma, warpgroup_mma_wait)


@gluon.jit
def pick(n, x, y):
    if n > 3:
        return x
    return y


@gluon.jit
def kernel(x_desc, y, n, acc_layout: gl.constexpr):
    a = gl.allocate_shared_memory(x_desc.dtype, [64, 64], x_desc.layout)
    b = gl.allocate_shared_memory(x_desc.dtype, [64, 64], x_desc.layout)
    bars = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    mbarrier.init(bars.index(0), count=1)
    mbarrier.init(bars.index(1), count=1)
    mbarrier.expect(bars.index(0), x_desc.block_type.nbytes)
    tma.async_copy_global_to_shared(x_desc, [0, 0], bars.index(0), a)
    mbarrier.expect(bars.index(1), x_desc.block_type.nbytes)
    tma.async_copy_global_to_shared(x_desc, [64, 0], bars.index(1), b)
    mbarrier.wait(bars.index(0), 0)
    mbarrier.wait(bars.index(1), 0)
    first = gl.zeros([64, 64], gl.float32, acc_layout)
    second = gl.zeros([64, 64], gl.float32, acc_layout)
    first = warpgroup_mma(a, b, first, is_async=True)
    first = warpgroup_mma_wait(0, deps=[first])
    second = warpgroup_mma(a, b, second, is_async=True)
    gl.store(y, first)
    second = warpgroup_mma_wait(0, deps=[second])
    gl.store(y, second)


def launch(x, y):
    layout = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    shared = gl.NVMMASharedLayout.get_default_for([64, 64], gl.bfloat16)
    x_desc = TensorDescriptor.from_tensor(x, [64, 64], shared)
    kernel[(1,)](x_desc, y, y.numel(), layout, num_warps=4)
