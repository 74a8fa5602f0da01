# A product takes its operand from registers; tests/import/test-copies.c puts lines between it and the wait for it.
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor


@gluon.jit
def kernel(a_desc, b_desc, x):
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    a = gl.allocate_shared_memory(gl.bfloat16, [64, 64], a_desc.layout)
    b = gl.allocate_shared_memory(gl.bfloat16, [64, 64], b_desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(full, count=1)
    mbarrier.expect(full, a_desc.block_type.nbytes + b_desc.block_type.nbytes)
    tma.async_copy_global_to_shared(a_desc, [0, 0], full, a)
    tma.async_copy_global_to_shared(b_desc, [0, 0], full, b)
    mbarrier.wait(full, 0)
    acc = gl.full([64, 64], 0.0, gl.float32, layout)
    other = gl.full([64, 64], 0.0, gl.float32, layout)
    p = a.load(layout)
    q = (p.to(gl.float32) * 2.0).to(gl.bfloat16)
    for j in range(3):
        acc = warpgroup_mma(
            gl.convert_layout(p, gl.DotOperandLayout(0, layout, 2)),
            b.permute((1, 0)),
            acc,
            is_async=True,
        )
        ROUND
        acc = warpgroup_mma_wait(0, deps=[acc])
    rows = gl.arange(0, 64, layout=gl.SliceLayout(1, layout))
    cols = gl.arange(0, 64, layout=gl.SliceLayout(0, layout))
    gl.store(x + rows[:, None] * 64 + cols[None, :], acc + other)


def launch(a, b, x):
    layout = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    a_desc = TensorDescriptor.from_tensor(a, [64, 64], layout)
    b_desc = TensorDescriptor.from_tensor(b, [64, 64], layout)
    kernel[(1,)](a_desc, b_desc, x, num_warps=4)
    return x
