#!/usr/bin/env python3
"""Times the products of several GPUs of one host as torch has them, for projects/{gemm-rs,ag-gemm,gemm-ar}.

    peers_mesh.py --devices 2 --rs M,N,K ... --ag M,N,K ... --ar M,N,K ... [--rounds 20]

M, N and K are the whole: reduce-scatter and all-reduce split K over the devices, all-gather splits N, and the rows of A.
For each: the product alone, NCCL before or behind it, torch's fused operator (symmetric memory) where there is one. Cold:
256 MB are set on every device before a launch, and an all-reduce of one number stands between that and the first event;
the figure is the median over rounds of the slowest device. Each contestant is compared with the plain form.
Exit status: 0 all right, 1 a wrong result, 4 too few GPUs.
"""

import argparse
import os
import statistics
import sys

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory  # noqa: F401: registers torch.ops.symm_mem
import torch.multiprocessing as spawn


def timed(run, rounds, flush, one):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    figures = []
    for i in range(rounds + 3):
        flush.zero_()
        dist.all_reduce(one)
        begin.record()
        run()
        end.record()
        torch.cuda.synchronize()
        t = torch.tensor([begin.elapsed_time(end) * 1e3], device="cuda")
        dist.all_reduce(t, dist.ReduceOp.MAX)
        if i >= 3:
            figures.append(float(t))
    return statistics.median(figures), min(figures), max(figures)


def contestants(kind, m, n, k, world, group):
    """(name, launch that returns its result) of a problem; the second is the plain form."""
    def bf16(*shape):
        return torch.randn(*shape, device="cuda").bfloat16()

    fused = torch.ops.symm_mem
    if kind == "ag":
        a, b, every = bf16(m // world, k), bf16(n // world, k), bf16(m, k)

        def plain():
            dist.all_gather_into_tensor(every, a)
            return every @ b.t()
        return [("product alone", lambda: every @ b.t()), ("NCCL and product", plain),
                ("torch fused", lambda: fused.fused_all_gather_matmul(a, [b.t()], 0, group)[1][0])]
    a, b = bf16(m, k // world), bf16(n, k // world)
    if kind == "rs":
        part = torch.empty(m // world, n, device="cuda", dtype=torch.bfloat16)

        def plain():
            dist.reduce_scatter_tensor(part, a @ b.t())
            return part
        return [("product alone", lambda: a @ b.t()), ("product and NCCL", plain),
                ("torch fused", lambda: fused.fused_matmul_reduce_scatter(a, b.t(), "sum", 0, group))]

    def plain():
        c = a @ b.t()
        dist.all_reduce(c)
        return c
    return [("product alone", lambda: a @ b.t()), ("product and NCCL", plain)]


def device(rank, options):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29511", rank=rank, world_size=options.devices)
    group = dist.group.WORLD.group_name
    flush, one = torch.empty(256 << 20, dtype=torch.uint8, device="cuda"), torch.zeros(1, device="cuda")
    wrong = False
    for kind in ("rs", "ag", "ar"):
        for shape in getattr(options, kind):
            m, n, k = map(int, shape.split(","))
            torch.manual_seed(1 + rank)
            rows = contestants(kind, m, n, k, options.devices, group)
            want = rows[1][1]().float().clone()
            for name, run in rows:
                try:
                    off = float((run().float() - want).abs().max() / want.abs().max()) if name != "product alone" else 0
                    median, least, most = timed(run, options.rounds, flush, one)
                except Exception as e:  # whatever torch raises: the contestant is left out by name
                    if rank == 0:
                        print("%s %s: %s: %s" % (kind, shape, name, str(e).splitlines()[0]), flush=True)
                    continue
                wrong |= off > 0.02
                if rank == 0:
                    print("%s %-18s %-18s %8.1f us [%.1f, %.1f]  %6.1f TF/s of each  off by %.4f" % (
                        kind, shape, name, median, least, most, 2e-6 * m * n * k / options.devices / median, off), flush=True)
    dist.destroy_process_group()
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--devices", type=int, default=2)
    p.add_argument("--rounds", type=int, default=20)
    for kind in ("rs", "ag", "ar"):
        p.add_argument("--" + kind, nargs="+", default=[])
    options = p.parse_args()
    if torch.cuda.device_count() < options.devices:
        print("%d GPUs are here, %d are needed" % (torch.cuda.device_count(), options.devices))
        sys.exit(4)
    os.environ.setdefault("TORCH_SYMM_MEM_DISABLE_MULTICAST", "1")
    spawn.spawn(device, (options,), nprocs=options.devices)
