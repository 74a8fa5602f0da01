# Rows through pointers, 64 columns a round, doubled: the columns of the next round are copied in a group of
# their own while those of this one are used.
import torch
import triton
import triton.experimental.tle.language as tle
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, x_stride, y_stride, steps):
    rows = tl.program_id(0) * 64 + tl.arange(0, 64)
    a = tle.gpu.alloc([2, 64, 64], dtype=tl.bfloat16, layout=None, scope=tle.gpu.smem)
    first = tl.arange(0, 64)
    tle.gpu.copy(x + rows[:, None] * x_stride + first[None, :], a.slot(0), [64, 64],
                 mask=(rows < M)[:, None] & (first < N)[None, :], is_async=True)
    tle.gpu.async_commit_group()
    for k in tl.range(steps):
        cols = k * 64 + tl.arange(0, 64)
        after = (k + 1) * 64 + tl.arange(0, 64)
        tle.gpu.copy(x + rows[:, None] * x_stride + after[None, :], a.slot((k + 1) % 2), [64, 64],
                     mask=(rows < M)[:, None] & (after < N)[None, :], is_async=True)
        tle.gpu.async_commit_group()
        tle.gpu.async_wait_group(1)
        tile = tl.load(tle.gpu.local_ptr(a.slot(k % 2)))
        tl.store(y + rows[:, None] * y_stride + cols[None, :], (tile * 2.0).to(tl.bfloat16),
                 mask=(rows < M)[:, None] & (cols < N)[None, :])
    tle.gpu.async_wait_group(0)


def scale(x, y):
    assert x.dtype == torch.bfloat16 and y.dtype == torch.bfloat16
    M, N = x.shape
    kernel[(triton.cdiv(M, 64),)](x, y, M, N, x.stride(0), y.stride(0), triton.cdiv(N, 64),
                                  num_warps=4)
    return y
