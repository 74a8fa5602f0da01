# 128 x 64 elements per program, doubled on the way, by descriptors alone.
import torch
import triton
import triton.experimental.tle.language as tle
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def kernel(x_desc, y_desc, x, y, M, N, x_stride, y_stride):
    row = tl.program_id(0) * 128
    col = tl.program_id(1) * 64
    rows = row + tl.arange(0, 128)
    cols = col + tl.arange(0, 64)
    tile = x_desc.load([row, col])
    doubled = tile * 2.0
    y_desc.store([row, col], doubled.to(tl.bfloat16))


def scale(x, y):
    assert x.dtype == torch.bfloat16 and y.dtype == torch.bfloat16
    M, N = x.shape
    x_desc = TensorDescriptor.from_tensor(x, [128, 64])
    y_desc = TensorDescriptor.from_tensor(y, [128, 64])
    kernel[(triton.cdiv(M, 128), triton.cdiv(N, 64))](x_desc, y_desc, x, y, M, N, x.stride(0),
                                                     y.stride(0), num_warps=4)
    return y
