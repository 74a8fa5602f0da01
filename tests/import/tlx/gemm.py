# A persistent GEMM with a task that loads and two that multiply, each half of the rows.
import torch
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def gemm(a_desc, b_desc, c_desc, kt, n_tiles, tiles_n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
         STAGES: tl.constexpr):
    a = tlx.local_alloc((BM, BK), tl.float16, 2 * STAGES)
    b = tlx.local_alloc((BK, BN), tl.float16, STAGES)
    full = tlx.alloc_barriers(num_barriers=STAGES, arrive_count=1)
    empty = tlx.alloc_barriers(num_barriers=STAGES, arrive_count=2)
    with tlx.async_tasks():
        with tlx.async_task("default"):
            buf = 0
            p = 1
            for tile in range(tl.program_id(0), n_tiles, tl.num_programs(0)):
                for k in range(0, kt):
                    bar = tlx.local_view(full, buf)
                    tlx.barrier_wait(tlx.local_view(empty, buf), p)
                    tlx.barrier_expect_bytes(bar, 2 * (2 * BM * BK + BK * BN))
                    row = tile // tiles_n * 2 * BM
                    tlx.async_descriptor_load(a_desc, tlx.local_view(a, buf), [row, k * BK], bar)
                    tlx.async_descriptor_load(a_desc, tlx.local_view(a, buf + STAGES), [row + BM, k * BK], bar)
                    tlx.async_descriptor_load(b_desc, tlx.local_view(b, buf), [k * BK, tile % tiles_n * BN], bar)
                    p = p ^ (buf == STAGES - 1)
                    buf = (buf + 1) % STAGES
        with tlx.async_task(num_warps=4, replicate=2, registers=232):
            half: tl.constexpr = tlx.async_task_replica_id()
            count = 0
            for tile in range(tl.program_id(0), n_tiles, tl.num_programs(0)):
                acc = tl.zeros((BM, BN), dtype=tl.float32)
                for k in range(0, kt):
                    slot = count % STAGES
                    tlx.barrier_wait(tlx.local_view(full, slot), count // STAGES & 1)
                    acc = tlx.async_dot(tlx.local_view(a, slot + half * STAGES), tlx.local_view(b, slot), acc)
                    acc = tlx.async_dot_wait(0, acc)
                    tlx.barrier_arrive(tlx.local_view(empty, slot))
                    count += 1
                c_desc.store([(tile // tiles_n * 2 + half) * BM, tile % tiles_n * BN], acc.to(tl.float16))


def run(x, y, z, kt, n_tiles, tiles_n):
    assert kt >= 1
    assert tiles_n >= 1
    a_desc = TensorDescriptor.from_tensor(x, [64, 64])
    b_desc = TensorDescriptor.from_tensor(y, [64, 128])
    c_desc = TensorDescriptor.from_tensor(z, [64, 128])
    gemm[(132,)](a_desc, b_desc, c_desc, kt, n_tiles, tiles_n, BM=64, BN=128, BK=64, STAGES=4, num_warps=4)
