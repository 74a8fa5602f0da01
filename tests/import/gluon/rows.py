# Rows by cp.async, in groups and on a barrier.
import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import mbarrier


@gluon.jit
def kernel(x, y, n, layout: gl.constexpr):
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, order=[1, 0])
    groups = gl.allocate_shared_memory(gl.float32, [4, 128], shared)
    others = gl.allocate_shared_memory(gl.float32, [2, 128], shared)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=128)
    offs = gl.arange(0, 128, layout)
    for i in range(4):
        async_copy.async_copy_global_to_shared(groups.index(i), x + i * 128 + offs)
        async_copy.commit_group()
    async_copy.wait_group(3)
    gl.store(y + offs, groups.index(0).load(layout))
    for i in gl.static_range(2):
        async_copy.async_copy_global_to_shared(others.index(i), x + i * 128 + offs)
    async_copy.mbarrier_arrive(bar, increment_count=False)
    mbarrier.wait(bar, 0)
    gl.store(y + offs, others.index(1).load(layout))
    async_copy.wait_group(0)


def launch(x, y):
    kernel[(1,)](x, y, x.numel(), gl.BlockedLayout([1], [32], [4], [0]), num_warps=4)
