# What test-stale.c puts its lines into.
import torch
import triton
import triton.experimental.tle.language as tle
import triton.language as tl


@triton.jit
def twice(a):
    t = a * 2.0
    return t


@triton.jit
def get(p, at, m):
    t = tl.load(p + at, mask=m, other=0.0)
    return t


@triton.jit
def both(p, q):
    s = p + q
    d = p - q
    return s, d


@triton.jit
def diff(p, q):
    return p - q


@triton.jit
def kernel(x, z, y, n):
    at = tl.program_id(0) * 256 + tl.arange(0, 256)
    m = at < n
    BODY


def launch(x, z, y):
    n = x.shape[0]
    assert x.dtype == torch.float32 and z.dtype == torch.float32 and y.dtype == torch.float32
    assert z.shape[0] == n and y.shape[0] == n
    kernel[(triton.cdiv(n, 256),)](x, z, y, n, num_warps=4)
