# Adds two matrices row block by row block: a warp that loads, four that add, a warp that stores.
# What tutorials do: tuples of arguments, sizes from descriptors, a predicated arrival.
import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma


@gluon.jit
def fetch(descs, bars, bufs, row, width, YB: gl.constexpr):
    x_desc, y_desc, z_desc = descs
    free, full, z_free, z_full = bars
    x_bufs, y_bufs, z_bufs = bufs
    depth: gl.constexpr = x_bufs.type.shape[0]
    for i in range(gl.cdiv(width, YB)):
        slot = i % depth
        parity = i // depth & 1
        bar = full.index(slot)
        mbarrier.wait(free.index(slot), parity ^ 1)
        mbarrier.expect(bar, x_desc.block_type.nbytes + y_desc.block_type.nbytes)
        tma.async_copy_global_to_shared(x_desc, [row, i * YB], bar, x_bufs.index(slot))
        tma.async_copy_global_to_shared(y_desc, [row, i * YB], bar, y_bufs.index(slot))


@gluon.jit
def put(descs, bars, bufs, row, width, YB: gl.constexpr):
    x_desc, y_desc, z_desc = descs
    free, full, z_free, z_full = bars
    x_bufs, y_bufs, z_bufs = bufs
    depth: gl.constexpr = z_bufs.type.shape[0]
    left: gl.constexpr = depth - 1
    for i in range(gl.cdiv(width, YB)):
        slot = i % depth
        mbarrier.wait(z_full.index(slot), i // depth & 1)
        tma.async_copy_shared_to_global(z_desc, [row, i * YB], z_bufs.index(slot))
        tma.store_wait(left)
        mbarrier.arrive(z_free.index((i - left) % depth), count=1, pred=i >= left)
    tma.store_wait(0)


@gluon.jit
def add(bars, bufs, width, YB: gl.constexpr, layout: gl.constexpr):
    free, full, z_free, z_full = bars
    x_bufs, y_bufs, z_bufs = bufs
    depth: gl.constexpr = x_bufs.type.shape[0]
    z_depth: gl.constexpr = z_bufs.type.shape[0]
    for i in range(gl.cdiv(width, YB)):
        slot = i % depth
        mbarrier.wait(full.index(slot), i // depth & 1)
        x = x_bufs.index(slot).load(layout)
        y = y_bufs.index(slot).load(layout)
        fence_async_shared()
        mbarrier.arrive(free.index(slot), count=1)
        z = x + y
        z_slot = i % z_depth
        mbarrier.wait(z_free.index(z_slot), i // z_depth & 1 ^ 1)
        z_bufs.index(z_slot).store(z)
        fence_async_shared()
        mbarrier.arrive(z_full.index(z_slot), count=1)


@gluon.jit
def kernel(x_desc, y_desc, z_desc, height, width, XB: gl.constexpr, YB: gl.constexpr,
           depth: gl.constexpr, z_depth: gl.constexpr, num_warps: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [1, num_warps], [1, 0])
    x_bufs = gl.allocate_shared_memory(x_desc.dtype, [depth] + x_desc.block_type.shape,
                                       x_desc.layout)
    y_bufs = gl.allocate_shared_memory(y_desc.dtype, [depth] + y_desc.block_type.shape,
                                       y_desc.layout)
    z_bufs = gl.allocate_shared_memory(z_desc.dtype, [z_depth] + z_desc.block_type.shape,
                                       z_desc.layout)
    free = gl.allocate_shared_memory(gl.int64, [depth, 1], mbarrier.MBarrierLayout())
    full = gl.allocate_shared_memory(gl.int64, [depth, 1], mbarrier.MBarrierLayout())
    z_free = gl.allocate_shared_memory(gl.int64, [z_depth, 1], mbarrier.MBarrierLayout())
    z_full = gl.allocate_shared_memory(gl.int64, [z_depth, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(depth):
        mbarrier.init(free.index(i), count=1)
        mbarrier.init(full.index(i), count=1)
    for i in gl.static_range(z_depth):
        mbarrier.init(z_free.index(i), count=1)
        mbarrier.init(z_full.index(i), count=1)
    descs = (x_desc, y_desc, z_desc)
    bars = (free, full, z_free, z_full)
    bufs = (x_bufs, y_bufs, z_bufs)
    row = gl.program_id(0) * XB
    gl.warp_specialize([
        (add, (bars, bufs, width, YB, layout)),
        (fetch, (descs, bars, bufs, row, width, YB)),
        (put, (descs, bars, bufs, row, width, YB)),
    ], [1, 1], [24, 24])


def run(x, y, z, XB=32, YB=64, depth=2, z_depth=2, num_warps=4):
    height, width = x.shape
    grid = (triton.cdiv(height, XB), )
    layout = gl.NVMMASharedLayout.get_default_for([XB, YB], gl.float32)
    x_desc = TensorDescriptor.from_tensor(x, [XB, YB], layout)
    y_desc = TensorDescriptor.from_tensor(y, [XB, YB], layout)
    z_desc = TensorDescriptor.from_tensor(z, [XB, YB], layout)
    kernel[grid](x_desc, y_desc, z_desc, height, width, XB, YB, depth, z_depth,
                 num_warps=num_warps, maxnreg=128)
