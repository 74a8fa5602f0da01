# A GEMM of one tile per program through a pipe of three fields: two consumers of unequal height,
# results stored through pointers; the k loop is unrolled by the compiler.
import torch
import triton
import triton.experimental.tle.language as tle
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BK = tl.constexpr(64)
HIGH = tl.constexpr(128)
LOW = tl.constexpr(64)
BN = tl.constexpr(128)


@triton.jit
def produce(writer, top_desc, bottom_desc, b_desc, top, bottom, col, STEPS: tl.constexpr):
    for k in tl.static_range(STEPS):
        slot = writer.acquire(k)
        tle.gpu.copy(top_desc, slot.top, [HIGH, BK], [top, k * BK])
        tle.gpu.copy(bottom_desc, slot.bottom, [LOW, BK], [bottom, k * BK])
        tle.gpu.copy(b_desc, slot.b, [BK, BN], [k * BK, col])
        writer.commit(k)


@triton.jit
def consume_top(reader, out, row, col, s_row, s_col, M, N, STEPS: tl.constexpr):
    acc = tl.zeros((HIGH, BN), dtype=tl.float32)
    for k in tl.static_range(STEPS):
        ready = reader.wait(k)
        acc = tle.gpu.wgmma(ready.slot.top, ready.slot.b, acc)
        acc = tle.gpu.wgmma_wait(0, acc)
        reader.release(k)
    rows = row + tl.arange(0, HIGH)
    cols = col + tl.arange(0, BN)
    tl.store(out + rows[:, None] * s_row + cols[None, :] * s_col,
             acc.to(out.dtype.element_ty), mask=(rows < M)[:, None] & (cols < N)[None, :])


@triton.jit
def consume_bottom(reader, out, row, col, s_row, s_col, M, N, STEPS: tl.constexpr):
    acc = tl.zeros((LOW, BN), dtype=tl.float32)
    for k in tl.static_range(STEPS):
        ready = reader.wait(k)
        acc = tle.gpu.wgmma(ready.slot.bottom, ready.slot.b, acc)
        acc = tle.gpu.wgmma_wait(0, acc)
        reader.release(k)
    rows = row + tl.arange(0, LOW)
    cols = col + tl.arange(0, BN)
    tl.store(out + rows[:, None] * s_row + cols[None, :] * s_col,
             acc.to(out.dtype.element_ty), mask=(rows < M)[:, None] & (cols < N)[None, :])


@triton.jit
def kernel(top_desc, bottom_desc, b_desc, out, M, N, s_row, s_col, WIDE: tl.constexpr,
           STEPS: tl.constexpr):
    pid = tl.program_id(0)
    row = (pid // WIDE * (HIGH + LOW)).to(tl.int32)
    col = (pid % WIDE * BN).to(tl.int32)
    top_smem = tle.gpu.alloc([3, HIGH, BK], dtype=top_desc.dtype, layout=None,
                             scope=tle.gpu.smem, nv_mma_shared_layout=True)
    bottom_smem = tle.gpu.alloc([3, LOW, BK], dtype=bottom_desc.dtype, layout=None,
                                scope=tle.gpu.smem, nv_mma_shared_layout=True)
    b_smem = tle.gpu.alloc([3, BK, BN], dtype=b_desc.dtype, layout=None, scope=tle.gpu.smem,
                           nv_mma_shared_layout=True)
    pipe = tle.pipe(capacity=3, scope="cta", name="abc", top=top_smem, bottom=bottom_smem,
                    b=b_smem)
    tle.gpu.warp_specialize(
        [
            (consume_top, (pipe.reader(), out, row, col, s_row, s_col, M, N, STEPS)),
            (consume_bottom, (pipe.reader(), out, row + HIGH, col, s_row, s_col, M, N, STEPS)),
            (produce, (pipe.writer(), top_desc, bottom_desc, b_desc, row, row + HIGH, col, STEPS)),
        ],
        worker_num_warps=[4, 4],
        worker_num_regs=[168, 24],
    )


def matmul(a, b, out):
    assert a.dtype == torch.bfloat16 and b.dtype == torch.bfloat16 and out.dtype == torch.bfloat16
    M, K = a.shape
    N = b.shape[1]
    top_desc = TensorDescriptor.from_tensor(a, [128, 64])
    bottom_desc = TensorDescriptor.from_tensor(a, [64, 64])
    b_desc = TensorDescriptor.from_tensor(b, [64, 128])
    wide = triton.cdiv(N, 128)
    kernel[(triton.cdiv(M, 192) * wide,)](
        top_desc, bottom_desc, b_desc, out, M, N, out.stride(0), out.stride(1), WIDE=wide,
        STEPS=triton.cdiv(K, 64), num_warps=4)
    return out
