# A product of bf16 matrices, one tile of 128 x 128 per program: a ring of two slots.
import torch
import triton
import triton.experimental.tle.language as tle
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def produce(a_desc, b_desc, a, b, full_a, full_b, empty, row, col, steps):
    for k in tl.range(steps):
        tle.gpu.barrier_wait(empty[k % 2], phaseIdx=k // 2)
        tle.gpu.copy(a_desc, a.slot(k % 2), [128, 64], [row, k * 64], barrier=full_a[k % 2])
        tle.gpu.copy(b_desc, b.slot(k % 2), [64, 128], [k * 64, col], barrier=full_b[k % 2])


@triton.jit
def consume(c_desc, a, b, c, full_a, full_b, empty, row, col, steps):
    acc = tl.zeros([128, 128], tl.float32)
    for k in tl.range(steps):
        tle.gpu.barrier_wait(full_a[k % 2], phaseIdx=k // 2)
        tle.gpu.barrier_wait(full_b[k % 2], phaseIdx=k // 2)
        acc = tle.gpu.wgmma(a.slot(k % 2), b.slot(k % 2), acc)
        acc = tle.gpu.wgmma_wait(0, acc)
        tle.gpu.barrier_arrive(empty[k % 2], phaseIdx=k // 2)
    tl.store(tle.gpu.local_ptr(c), acc.to(tl.bfloat16))
    tl.debug_barrier()
    tle.gpu.copy(c, c_desc, [128, 128], [row, col])


@triton.jit
def kernel(a_desc, b_desc, c_desc, wide, steps):
    pid = tl.program_id(0)
    row = pid // wide * 128
    col = pid % wide * 128
    a = tle.gpu.alloc([2, 128, 64], dtype=tl.bfloat16, layout=None, scope=tle.gpu.smem)
    b = tle.gpu.alloc([2, 64, 128], dtype=tl.bfloat16, layout=None, scope=tle.gpu.smem)
    c = tle.gpu.alloc([128, 128], dtype=tl.bfloat16, layout=None, scope=tle.gpu.smem)
    full_a = tle.gpu.alloc_barriers(2, arrive_count=1, init=tle.gpu.PENDING, expect_bytes=16384)
    full_b = tle.gpu.alloc_barriers(2, arrive_count=1, init=tle.gpu.PENDING, expect_bytes=16384)
    empty = tle.gpu.alloc_barriers(2, arrive_count=1, init=tle.gpu.READY)
    tle.gpu.warp_specialize(
        [
            (consume, (c_desc, a, b, c, full_a, full_b, empty, row, col, steps)),
            (produce, (a_desc, b_desc, a, b, full_a, full_b, empty, row, col, steps)),
        ],
        worker_num_warps=[4],
        worker_num_regs=[40],
    )


def matmul(a, b, c):
    M, K = a.shape
    N = b.shape[1]
    a_desc = TensorDescriptor.from_tensor(a, [128, 64])
    b_desc = TensorDescriptor.from_tensor(b, [64, 128])
    c_desc = TensorDescriptor.from_tensor(c, [128, 128])
    wide = triton.cdiv(N, 128)
    kernel[(triton.cdiv(M, 128) * wide,)](a_desc, b_desc, c_desc, wide, triton.cdiv(K, 64),
                                          num_warps=4)
    return c
