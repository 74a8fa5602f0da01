# 128 x 64 elements per program, doubled on the way: copied to shared memory, read, written, copied back.
import torch
import triton
import triton.experimental.tle.language as tle
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def kernel(x_desc, y_desc, steps):
    row = tl.program_id(0) * 128
    x = tle.gpu.alloc([128, 64], dtype=tl.bfloat16, layout=None, scope=tle.gpu.smem)
    y = tle.gpu.alloc([128, 64], dtype=tl.bfloat16, layout=None, scope=tle.gpu.smem)
    full = tle.gpu.alloc_barriers(1, arrive_count=1, init=tle.gpu.PENDING, expect_bytes=16384)
    tle.gpu.copy(x_desc, x, [128, 64], [row, 0], barrier=full[0])
    tle.gpu.barrier_wait(full[0], phaseIdx=0)
    tile = tl.load(tle.gpu.local_ptr(x))
    doubled = tile * 2.0
    tl.store(tle.gpu.local_ptr(y), doubled.to(tl.bfloat16))
    tl.debug_barrier()
    tle.gpu.copy(y, y_desc, [128, 64], [row, 0])


def scale(x, y):
    N = x.shape[0]
    x_desc = TensorDescriptor.from_tensor(x, [128, 64])
    y_desc = TensorDescriptor.from_tensor(y, [128, 64])
    kernel[(triton.cdiv(N, 128),)](x_desc, y_desc, 1, num_warps=4)
    return y
