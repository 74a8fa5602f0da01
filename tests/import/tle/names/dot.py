# 128 x 128 elements per program: tl.dot in a loop whose stages the compiler makes.
import torch
import triton
import triton.experimental.tle.language as tle
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def kernel(a_desc, b_desc, c_desc, a_ptr, M, K, a_stride, wide, steps):
    pid = tl.program_id(0)
    row = pid // wide * 128
    col = pid % wide * 128
    rows = row + tl.arange(0, 128)
    acc = tl.zeros([128, 128], tl.float32)
    for k in tl.range(steps, num_stages=3):
        a = a_desc.load([row, k * 64])
        b = b_desc.load([k * 64, col])
        acc = tl.dot(a, b, acc)
    c_desc.store([row, col], acc.to(tl.bfloat16))


def matmul(a, b, c):
    assert a.dtype == torch.bfloat16 and b.dtype == torch.bfloat16
    M, K = a.shape
    N = b.shape[1]
    a_desc = TensorDescriptor.from_tensor(a, [128, 64])
    b_desc = TensorDescriptor.from_tensor(b, [64, 128])
    c_desc = TensorDescriptor.from_tensor(c, [128, 128])
    wide = triton.cdiv(N, 128)
    kernel[(triton.cdiv(M, 128) * wide,)](a_desc, b_desc, c_desc, a, M, K, a.stride(0), wide,
                                          triton.cdiv(K, 64), num_warps=4)
    return c
