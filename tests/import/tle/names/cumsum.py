# Where what is above 0 in 512 integers would go, if nothing else stood between: sums of what stands before.
import torch
import triton
import triton.experimental.tle.language as tle
import triton.language as tl


@triton.jit
def kernel(x, y, n):
    at = tl.program_id(0) * 512 + tl.arange(0, 512)
    value = tl.load(x + at, mask=at < n, other=0)
    before, total = tle.cumsum(value, axis=0)
    tl.store(y + at, before * 3 + total, mask=at < n)


def places(x, y):
    n = x.shape[0]
    assert x.dtype == torch.int32 and y.dtype == torch.int32 and y.shape[0] == n
    kernel[(triton.cdiv(n, 512),)](x, y, n, num_warps=4)
