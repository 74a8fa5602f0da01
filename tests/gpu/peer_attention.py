#!/usr/bin/env python3
"""Measures bundles of attention forward against cuDNN SDPA of torch, interleaved in one process.

    peer_attention.py BUNDLE [BUNDLE ...] [--causal] [--rounds 9] [--reps 3] [--json OUT]

The bundles' tensors are Q, K, V [batch, heads, length, d], O, and one f32 vector per row. Correctness
first: O over poisoned memory against float64 on sampled rows, for every contestant. Then cold rounds as
in peer.py (256 MB memset before every launch, contestants in turn, ratios round by round). FLOPs: 4 B H
Sq Sk d, halved when causal. Exit status: 0 all right, 1 a wrong result, 2 usage or bad bundle, 4 no GPU.
"""

import argparse
import json
import math
import statistics
import sys

import peer
from peer import torch

KINDS = {"bf16": "bfloat16", "f16": "float16"}


def reference_rows(q, k, v, rows, causal, scale):
    """float64 outputs of the (batch, head, row) triples."""
    out = []
    group = q.shape[1] // k.shape[1]
    for b, h, i in rows:
        s = (k[b, h // group].double() @ q[b, h, i].double()) * scale
        if causal:
            s[i + 1 + k.shape[2] - q.shape[2]:] = -math.inf
        out.append(torch.softmax(s, 0) @ v[b, h // group].double())
    return torch.stack(out)


def measure(case, bundles, kernels, options, flush, nvml):
    first = bundles[0]
    torch.manual_seed(1)
    tensors = {}
    for t, spec in enumerate(first.tensors):  # with the strides that the design declares
        own = getattr(torch, KINDS.get(spec["dtype"], "float32"))
        tensors[spec["name"]] = torch.empty_strided(case["extent"][t], case["stride"][t], device="cuda", dtype=own)
        if spec["access"] == "read":
            tensors[spec["name"]].copy_(torch.randn(case["extent"][t], device="cuda"))
    q, k, v, o = (tensors[n] for n in "QKVO")
    scale = options.scale
    runs = {}
    for bundle, kernel in zip(bundles, kernels):
        own = bundle.case(dict(zip(first.sizes, case["values"])))
        if own is not None:
            runs[bundle.label] = kernel.prepare(own, [tensors[t["name"]] for t in bundle.tensors])
    backend = torch.nn.attention.SDPBackend.CUDNN_ATTENTION

    def cudnn():
        with torch.nn.attention.sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=options.causal, scale=scale, enable_gqa=q.shape[1] != k.shape[1])

    runs["cudnn"] = cudnn
    g = torch.Generator().manual_seed(5)
    rows = [tuple(int(torch.randint(0, n, (1,), generator=g)) for n in q.shape[:3]) for _ in range(64)]
    rows += [(0, 0, 0), tuple(n - 1 for n in q.shape[:3])]
    want = reference_rows(q, k, v, rows, options.causal, scale)
    spec = first.tensors[first.index("O")]
    result = {"label": case["label"], "contestants": {}}
    for name, run in runs.items():
        o.fill_(float("nan"))
        got = run() if name == "cudnn" else (run(), o)[1]
        torch.cuda.synchronize()
        picked = torch.stack([got[r] for r in rows]).double()
        error = (picked - want).abs()
        result["contestants"][name] = {
            "right": bool((error <= spec["abs"] + spec["rel"] * want.abs()).all()),
            "rms": float(error.square().mean().sqrt())}
    medians, device = peer.cold_rounds(runs, flush, options.rounds, options.reps, nvml)
    flops = 4.0 * q.shape[0] * q.shape[1] * q.shape[2] * k.shape[2] * q.shape[3]
    flops /= 2 if options.causal else 1
    for name in runs:
        entry = result["contestants"][name]
        entry["cold_us"] = peer.spread(medians[name])
        entry["tflops"] = flops / entry["cold_us"]["median"] * 1e-6
        entry["ratio"] = peer.spread([c / m for c, m in zip(medians["cudnn"], medians[name])])
        print("%-36s %-22s %-6s rms %.2e %9.2f us %7.1f TF/s  %.3f [%.3f..%.3f]" % (
            case["label"][:36], name, "right" if entry["right"] else "WRONG", entry["rms"],
            entry["cold_us"]["median"], entry["tflops"], entry["ratio"]["median"],
            entry["ratio"]["min"], entry["ratio"]["max"]), flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("bundles", nargs="+", metavar="BUNDLE")
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--scale", type=float, required=True, help="softmax scale of the designs")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--json")
    options = parser.parse_args()
    if torch is None or not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] != 9:
        print("peer: skipped, needs torch and an sm_90 GPU", file=sys.stderr)
        return 4
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    flush = torch.empty(peer.FLUSH_BYTES, dtype=torch.uint8, device="cuda")  # makes the context
    driver, nvml = peer.Driver(), peer.Nvml()
    bundles = [peer.Bundle(b) for b in options.bundles]
    kernels = [peer.Kernel(driver, b, sms) for b in bundles]
    print("%s, torch %s; cold medians of %d rounds x %d, L2 flushed; ratio > 1: faster than cuDNN" % (
        torch.cuda.get_device_name(0), torch.__version__, options.rounds, options.reps))
    results = [measure(c, bundles, kernels, options, flush, nvml) for c in bundles[0].cases]
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump({"warpstave_peer_attention": 1, "device": torch.cuda.get_device_name(0),
                       "torch": torch.__version__, "causal": options.causal, "cases": results}, f)
    own = [c["contestants"] for c in results]
    return 0 if all(e["right"] for c in own for n, e in c.items() if n != "cudnn") else 1


if __name__ == "__main__":
    sys.exit(main())
