# C = A B, a tile of 64 x 64 per program.
import torch
import triton
import triton.experimental.tle as tle
import triton.language as tl


@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, m, n, k):
    row = tl.program_id(0) * 64
    col = tl.program_id(1) * 64
    a1 = tle.dsa.alloc([64, 32], tl.float16, tle.dsa.ascend.L1)
    b1 = tle.dsa.alloc([32, 64], tl.float16, tle.dsa.ascend.L1)
    a0 = tle.dsa.alloc([64, 32], tl.float16, tle.dsa.ascend.L0A)
    b0 = tle.dsa.alloc([32, 64], tl.float16, tle.dsa.ascend.L0B)
    c = tl.zeros([64, 64], tl.float32)
    rows = row + tl.arange(0, 64)
    cols = col + tl.arange(0, 64)
    for i in range(k // 32):
        along = i * 32 + tl.arange(0, 32)
        tle.dsa.copy(a_ptr + rows[:, None] * k + along[None, :], a1, [64, tl.minimum(k - i * 32, 32)])
        tle.dsa.copy(b_ptr + along[:, None] * n + cols[None, :], b1, [tl.minimum(k - i * 32, 32), 64])
        tle.dsa.copy(a1, a0, [64, 32])
        tle.dsa.copy(b1, b0, [32, 64])
        c = tl.dot(tle.dsa.to_tensor(a0), tle.dsa.to_tensor(b0), c)
    tle.dsa.copy(tle.dsa.to_buffer(c.to(tl.float16), tle.dsa.ascend.L0C), c_ptr + rows[:, None] * n + cols[None, :], [tl.minimum(m - row, 64), tl.minimum(n - col, 64)])


def gemm(a, b):
    m, k = a.shape
    n = b.shape[1]
    assert m % 64 == 0 and n % 64 == 0 and k % 32 == 0 and k >= 32
    c = torch.empty(m, n, dtype=torch.float16)
    kernel[(m // 64, n // 64)](a, b, c, m, n, k)
    return c
