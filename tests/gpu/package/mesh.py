#!/usr/bin/env python3
"""Packages of several devices over a process group, a rank for each GPU.

    torchrun --nproc-per-node 2 mesh.py PACKAGES [--shapes M,N,K ...] [--rounds 20]

PACKAGES holds the folders of packages of projects/ag-gemm (ag_push, ag_gather, ag_pull) and projects/gemm-rs (gemm_rs); those that are
there are tried. Values: launches one after the other with other inputs each, ranks that sleep at random and no other meeting of ranks,
each result against float64. Errors by name. Times as peers_mesh.py takes them (cold, the slower rank), M, N and K the whole.
Exit status: 0 all right, 1 something is wrong.
"""
import argparse
import importlib
import os
import statistics
import sys

import torch
import torch.distributed as dist

os.environ.setdefault("TORCH_SYMM_MEM_DISABLE_MULTICAST", "1")
wrong = []


def say(text):
    if dist.get_rank() == 0:
        print(text, flush=True)


def normal(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator("cuda").manual_seed(seed), device="cuda").bfloat16()


def ag_sizes(m, n, k, world):
    return {"TM": m // world // 128, "N": n // world, "K": k, "SMS": 132}


def ag_inputs(seed, m, n, k, world, rank):
    return normal(seed * 16 + rank, m // world, k), normal(seed * 16 + 8 + rank, n // world, k)


def ag_want(seed, m, n, k, world, rank):
    x = torch.cat([ag_inputs(seed, m, n, k, world, r)[0] for r in range(world)])
    return x.double() @ ag_inputs(seed, m, n, k, world, rank)[1].double().t()


def rs_sizes(m, n, k, world):
    return {"MS": m // world, "N": n, "K": k // world, "SMS": 132}


def rs_inputs(seed, m, n, k, world, rank):
    return normal(seed * 16 + rank, m, k // world), normal(seed * 16 + 8 + rank, n, k // world)


def rs_want(seed, m, n, k, world, rank):
    rows = slice(rank * (m // world), (rank + 1) * (m // world))
    parts = (rs_inputs(seed, m, n, k, world, r) for r in range(world))
    return sum(a[rows].double() @ b.double().t() for a, b in parts)


KINDS = {"ag": (ag_sizes, ag_inputs, ag_want), "gemm": (rs_sizes, rs_inputs, rs_want)}


def values(name, module, kind, world, rank):
    """Launches of two sets of sizes, begun without waiting for each other."""
    sizes, inputs, want = kind
    for m, n, k in ((world * 256, world * 520, world * 264), (world * 128, world * 256, world * 512)):
        run = module.Mesh(**sizes(m, n, k, world))
        got, delay = [], torch.Generator().manual_seed(rank)
        for i in range(40):
            a = inputs(i, m, n, k, world, rank)
            if i % 4 == 1:
                torch.cuda._sleep(int(torch.randint(0, 2000000, (1,), generator=delay)))
            got.append(run(*a).clone())  # what the next launch may overwrite
        off = 0.0
        for i, c in enumerate(got):
            w = want(i, m, n, k, world, rank)
            off = max(off, float((c.double() - w).abs().max() / w.abs().max()))
        worst = torch.tensor([off], device="cuda")
        dist.all_reduce(worst, dist.ReduceOp.MAX)
        say(f"{name} {m}x{n}x{k}: 40 launches, worst off by {float(worst):.5f}")
        if not float(worst) < 0.02:
            wrong.append(f"{name}: values")
        torch.cuda.synchronize()
        dist.barrier()
        del run


def refused(name, what, call):
    try:
        call()
    except (TypeError, ValueError, RuntimeError, NotImplementedError) as e:
        say(f"{name}: {what}: {type(e).__name__}: {e}")
        return
    wrong.append(f"{name}: {what} is not refused")


def errors(name, module, kind, world, rank):
    sizes, inputs, _ = kind
    good = sizes(world * 128, world * 256, world * 512, world)
    first = next(iter(good))
    refused(name, "other sizes on a rank", lambda: module.Mesh(**{**good, first: good[first] * (1 + rank)}))
    refused(name, "a bad size on one rank", lambda: module.Mesh(**{**good, "K": good["K"] if rank else -8}))
    refused(name, "another number of devices", lambda: module.Mesh(W=world + 1, **good))
    refused(name, "a size that there is not", lambda: module.Mesh(Q=1, **good))
    refused(name, "more CTAs than fit", lambda: module.Mesh(**{**good, "SMS": 100000}))
    run = module.Mesh(**good)
    a, b = inputs(0, world * 128, world * 256, world * 512, world, rank)
    refused(name, "another type", lambda: run(a.half(), b))
    refused(name, "another shape", lambda: run(a, b[:-8]))
    refused(name, "a missing input", lambda: run(a))
    torch.cuda.synchronize()
    dist.barrier()


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


def times(modules, shapes, rounds, world, rank):
    import torch.distributed._symmetric_memory  # noqa: F401: registers torch.ops.symm_mem
    flush, one = torch.empty(256 << 20, dtype=torch.uint8, device="cuda"), torch.zeros(1, device="cuda")
    group = dist.group.WORLD.group_name
    for shape in shapes:
        m, n, k = map(int, shape.split(","))
        a, b = ag_inputs(1, m, n, k, world, rank)
        every = torch.empty(m, k, device="cuda", dtype=torch.bfloat16)

        def plain():
            dist.all_gather_into_tensor(every, a)
            return every @ b.t()
        want = plain().float()
        rows = [("product alone", lambda: every @ b.t()), ("NCCL and product", plain),
                ("torch fused", lambda: torch.ops.symm_mem.fused_all_gather_matmul(a, [b.t()], 0, group)[1][0])]
        for name, module in modules:
            if not name.startswith("ag"):
                continue
            run = module.Mesh(**ag_sizes(m, n, k, world))
            if name != "ag_push":
                run.tensor("X").copy_(a)
                rows.append((name, lambda run=run: run(run.tensor("X"), b)))
                rows.append((name + ", X copied", lambda run=run: run(a, b)))
            else:
                rows.append((name, lambda run=run: run(a, b)))
        for name, run in rows:
            try:
                off = float((run().float() - want).abs().max() / want.abs().max())
                median, least, most = timed(run, rounds, flush, one)
            except Exception as e:  # whatever torch raises: the contestant is left out by name
                say(f"ag {shape}: {name}: {str(e).splitlines()[0]}")
                continue
            if not off < 0.02:
                wrong.append(f"{name} {shape}: off by {off}")
            say(f"ag {shape:18} {name:18} {median:8.1f} us [{least:.1f}, {most:.1f}] off by {off:.4f}")
        torch.cuda.synchronize()
        dist.barrier()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("packages")
    p.add_argument("--shapes", nargs="+", default=["1024,28672,8192", "8192,28672,8192", "8192,512,8192"])
    p.add_argument("--rounds", type=int, default=20)
    options = p.parse_args()
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    world, modules = dist.get_world_size(), []
    for folder in sorted(os.listdir(options.packages)):
        at = os.path.join(options.packages, folder)
        mark = os.path.join(at, "package.txt")
        if os.path.exists(mark):
            name = open(mark).read().split("name ")[1].split()[0]
            sys.path.insert(0, at)
            modules.append((name, importlib.import_module(name)))
    for name, module in modules:
        kind = KINDS[name.split("_")[0]]
        values(name, module, kind, world, rank)
        errors(name, module, kind, world, rank)
    times(modules, options.shapes, options.rounds, world, rank)
    bad = torch.tensor([len(wrong)], device="cuda")
    dist.all_reduce(bad)
    if wrong:
        print(f"rank {rank} WRONG: {wrong}", flush=True)
    dist.destroy_process_group()
    sys.exit(1 if int(bad) else 0)


if __name__ == "__main__":
    main()
