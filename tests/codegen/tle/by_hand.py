# A persistent GEMM as a person writes it in TLE: rings rounded up to powers of two, the first round
# of k apart from the others, no remarks.
import torch
import triton
import triton.experimental.tle.language as tle
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

STAGES: tl.constexpr = 3
A_BYTES: tl.constexpr = 64 * 64 * 2
B_BYTES: tl.constexpr = 64 * 128 * 2


@triton.jit
def produce(a_desc, b_desc, a_smem, b_smem, empty_a, empty_b, full_a, full_b, K, tiles_n, tiles):
    it = 0
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        row = tile // tiles_n * 128
        col = tile % tiles_n * 128
        for k in range(0, tl.cdiv(K, 64)):
            slot = it % STAGES
            use = it // STAGES
            tle.gpu.barrier_wait(empty_a[slot], phaseIdx=use)
            tle.gpu.copy(a_desc, a_smem.slot(slot), [64, 64], [row, k * 64], barrier=full_a[slot])
            tle.gpu.barrier_wait(empty_b[slot], phaseIdx=use)
            tle.gpu.copy(b_desc, b_smem.slot(slot), [64, 128], [k * 64, col], barrier=full_b[slot])
            tle.gpu.barrier_wait(empty_a[slot + STAGES], phaseIdx=use)
            tle.gpu.copy(a_desc, a_smem.slot(slot + STAGES), [64, 64], [row + 64, k * 64],
                         barrier=full_a[slot + STAGES])
            it += 1


@triton.jit
def consume(c_desc, a_smem, b_smem, c_smem, empty_a, empty_b, full_a, full_b, K, tiles_n, tiles,
            cid: tl.constexpr):
    it = 0
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        row = tile // tiles_n * 128 + cid * 64
        col = tile % tiles_n * 128
        slot = it % STAGES
        tle.gpu.barrier_wait(full_a[slot + cid * STAGES], phaseIdx=it // STAGES)
        tle.gpu.barrier_wait(full_b[slot], phaseIdx=it // STAGES)
        acc = tle.gpu.wgmma(a_smem.slot(slot + cid * STAGES), b_smem.slot(slot))
        it += 1
        for k in range(1, tl.cdiv(K, 64)):
            slot = it % STAGES
            last = (it - 1) % STAGES
            tle.gpu.barrier_wait(full_a[slot + cid * STAGES], phaseIdx=it // STAGES)
            tle.gpu.barrier_wait(full_b[slot], phaseIdx=it // STAGES)
            acc = tle.gpu.wgmma(a_smem.slot(slot + cid * STAGES), b_smem.slot(slot), acc)
            acc = tle.gpu.wgmma_wait(1, acc)
            tle.gpu.barrier_arrive(empty_a[last + cid * STAGES], phaseIdx=(it - 1) // STAGES)
            tle.gpu.barrier_arrive(empty_b[last], phaseIdx=(it - 1) // STAGES)
            it += 1
        acc = tle.gpu.wgmma_wait(acc)
        last = (it - 1) % STAGES
        tle.gpu.barrier_arrive(empty_a[last + cid * STAGES], phaseIdx=(it - 1) // STAGES)
        tle.gpu.barrier_arrive(empty_b[last], phaseIdx=(it - 1) // STAGES)
        tl.store(tle.gpu.local_ptr(c_smem.slot(cid)), acc.to(tl.float16))
        tle.gpu.copy(c_smem.slot(cid), c_desc, [64, 128], [row, col])


@triton.jit
def gemm(a_desc, b_desc, c_desc, K, tiles_n, tiles):
    a_smem = tle.gpu.alloc([8, 64, 64], dtype=tl.float16, layout=None, scope=tle.gpu.smem)
    b_smem = tle.gpu.alloc([4, 64, 128], dtype=tl.float16, layout=None, scope=tle.gpu.smem)
    c_smem = tle.gpu.alloc([2, 64, 128], dtype=tl.float16, layout=None, scope=tle.gpu.smem)
    empty_a = tle.gpu.alloc_barriers(num_barriers=8, init=tle.gpu.READY)
    empty_b = tle.gpu.alloc_barriers(num_barriers=4, arrive_count=2, init=tle.gpu.READY)
    full_a = tle.gpu.alloc_barriers(num_barriers=8, expect_bytes=A_BYTES)
    full_b = tle.gpu.alloc_barriers(num_barriers=4, expect_bytes=B_BYTES)
    tle.gpu.warp_specialize(
        [
            (produce, (a_desc, b_desc, a_smem, b_smem, empty_a, empty_b, full_a, full_b, K,
                       tiles_n, tiles)),
            (consume, (c_desc, a_smem, b_smem, c_smem, empty_a, empty_b, full_a, full_b, K,
                       tiles_n, tiles, 0)),
            (consume, (c_desc, a_smem, b_smem, c_smem, empty_a, empty_b, full_a, full_b, K,
                       tiles_n, tiles, 1)),
        ],
        [4, 4],
        [168, 168],
    )


def launch(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    assert K >= 1
    a_desc = TensorDescriptor(A, [M, K], [K, 1], [64, 64])
    b_desc = TensorDescriptor(B, [K, N], [N, 1], [64, 128])
    c_desc = TensorDescriptor(C, [M, N], [N, 1], [64, 128])
    tiles_n = triton.cdiv(N, 128)
    tiles = triton.cdiv(M, 128) * tiles_n
    gemm[(min(132, tiles),)](a_desc, b_desc, c_desc, K, tiles_n, tiles, num_warps=4)
