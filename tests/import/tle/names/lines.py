# Rows of a matrix, one per program, times a line of weights: through pointers, under the bound of a row.
import torch
import triton
import triton.experimental.tle.language as tle
import triton.language as tl


@triton.jit
def kernel(x, w, y, x_stride, y_stride, n):
    row = tl.program_id(0)
    cols = tl.arange(0, 1024)
    mask = cols < n
    a = tl.load(x + row * x_stride + cols, mask=mask, other=0.0)
    b = tl.load(w + cols, mask=mask, other=0.0)
    tl.store(y + row * y_stride + cols, a * b, mask=mask)


def scale(x, w, y):
    assert x.dtype == torch.float32 and w.dtype == torch.float32 and y.dtype == torch.float32
    M, N = y.shape
    assert x.shape[0] == M and x.shape[1] == N
    kernel[(M,)](x, w, y, x.stride(0), y.stride(0), N, num_warps=4)
    return y
