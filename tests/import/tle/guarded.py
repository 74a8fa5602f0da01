# A persistent GEMM whose programs all make the same number of rounds and leave out tiles past the
# end; the token of the pipe is worked out from the rounds.
import torch
import triton
import triton.experimental.tle.language as tle
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def produce(writer, a_desc, b_desc, pid, tiles, wide, programs, rounds, steps: tl.constexpr):
    for turn in range(rounds):
        tile = pid + turn * programs
        if tile < tiles:
            row = (tile // wide * 128).to(tl.int32)
            col = (tile % wide * 128).to(tl.int32)
            for k in range(steps):
                token = turn * steps + k
                slot = writer.acquire(token)
                tle.gpu.copy(a_desc, slot.a, [128, 64], [row, k * 64])
                tle.gpu.copy(b_desc, slot.b, [64, 128], [k * 64, col])
                writer.commit(token)


@triton.jit
def consume(reader, out, pid, M, N, s_row, s_col, tiles, wide, programs, rounds,
            steps: tl.constexpr):
    for turn in range(rounds):
        tile = pid + turn * programs
        if tile < tiles:
            row = (tile // wide * 128).to(tl.int32)
            col = (tile % wide * 128).to(tl.int32)
            acc = tl.zeros((128, 128), dtype=tl.float32)
            for k in range(steps):
                token = turn * steps + k
                ready = reader.wait(token)
                acc = tle.gpu.wgmma(ready.slot.a, ready.slot.b, acc)
                acc = tle.gpu.wgmma_wait(0, acc)
                reader.release(token)
            rows = row + tl.arange(0, 128)
            cols = col + tl.arange(0, 128)
            tl.store(out + rows[:, None] * s_row + cols[None, :] * s_col,
                     acc.to(out.dtype.element_ty), mask=(rows < M)[:, None] & (cols < N)[None, :])


@triton.jit
def kernel(a_desc, b_desc, out, M, N, s_row, s_col, TILES: tl.constexpr, WIDE: tl.constexpr,
           PROGRAMS: tl.constexpr, ROUNDS: tl.constexpr, STEPS: tl.constexpr,
           SLOTS: tl.constexpr):
    pid = tl.program_id(0)
    a_smem = tle.gpu.alloc([SLOTS, 128, 64], dtype=a_desc.dtype, layout=None,
                           scope=tle.gpu.smem, nv_mma_shared_layout=True)
    b_smem = tle.gpu.alloc([SLOTS, 64, 128], dtype=b_desc.dtype, layout=None,
                           scope=tle.gpu.smem, nv_mma_shared_layout=True)
    pipe = tle.pipe(capacity=SLOTS, scope="cta", name="ab", a=a_smem, b=b_smem)
    tle.gpu.warp_specialize(
        [
            (consume, (pipe.reader(), out, pid, M, N, s_row, s_col, TILES, WIDE, PROGRAMS, ROUNDS,
                       STEPS)),
            (produce, (pipe.writer(), a_desc, b_desc, pid, TILES, WIDE, PROGRAMS, ROUNDS, STEPS)),
        ],
        worker_num_warps=[4], worker_num_regs=[24],
    )


def matmul(a, b, out, programs=132):
    assert a.dtype == torch.bfloat16 and b.dtype == torch.bfloat16 and out.dtype == torch.bfloat16
    M, K = a.shape
    N = b.shape[1]
    wide = triton.cdiv(N, 128)
    tiles = triton.cdiv(M, 128) * wide
    a_desc = TensorDescriptor.from_tensor(a, [128, 64])
    b_desc = TensorDescriptor.from_tensor(b, [64, 128])
    kernel[(programs,)](a_desc, b_desc, out, M, N, out.stride(0), out.stride(1), tiles, wide,
                        programs, triton.cdiv(tiles, programs), K // 64, 3, num_warps=4)
    return out
