#!/usr/bin/env python3
"""Measures bundles of attention forward in e4m3 beside bundles in bf16 and what else is here, in one process.

    peer_attention_fp8.py BUNDLE [BUNDLE ...] [--causal] --scale S [--flash3 LIBRARY] [--rounds 9] [--reps 3] [--json OUT]

Q, K and V are normal, quantised with one scale for each batch and key head (largest magnitude / 448). A
bundle with tensors DQ, DK, DV takes them in e4m3, any other the dequantised ones in bf16. Correctness first:
O over poisoned memory against float64 of the dequantised inputs on sampled rows; the root mean square of the
error is shown as a share of that of O. Then cold rounds as in peer.py (256 MB memset before every launch,
contestants in turn, each a captured graph). Peers: cuDNN in bf16 by torch, and FlashAttention-3 in e4m3 from
LIBRARY, whose entries are fa3_fp8_128_0 and fa3_fp8_128_1 (causal): q, k, v, o, lse, three scales, 4 bytes of
work, b, h, h_k, s_q, s_k, strides of q, k, v, o (batch, head, row), scale, stream; without it that peer is left
out by name. Ratios are to the first bundle. Exit status: 0 all right, 1 a wrong result, 4 no GPU.
"""

import argparse
import ctypes
import json
import math
import sys

import peer
from peer import torch

LARGEST = 448.0


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


def strided(case, bundle, name, dtype):
    t = bundle.index(name)
    return torch.empty_strided(case["extent"][t], case["stride"][t], device="cuda", dtype=dtype)


def inputs(case, first):
    """The tensors by name and width: e4m3, the dequantised in bf16 and in f32, the scales."""
    made = {}
    for name, scales in (("Q", "DQ"), ("K", "DK"), ("V", "DV")):
        t, heads = first.index(name), case["extent"][first.index("K")][1]
        x = torch.randn(case["extent"][t], device="cuda")
        group = x.shape[1] // heads
        by = x.abs().reshape(x.shape[0], heads, -1).amax(2) / LARGEST
        wide = by.repeat_interleave(group, 1)[:, :, None, None]
        e = strided(case, first, name, torch.float8_e4m3fn)
        e.copy_((x / wide).to(torch.float8_e4m3fn))
        real = e.float() * wide
        b = strided(case, first, name, torch.bfloat16)
        b.copy_(real)
        made[name], made[scales] = {"e4m3": e, "bf16": b, "real": real}, by.contiguous()
    return made


def flash3(library, made, o, lse, causal, scale):
    """A launch of FlashAttention-3 into o and lse on the current stream."""
    q, k, v = (made[n]["e4m3"] for n in "QKV")
    if q.shape[3] != 128:
        return None
    entry = getattr(ctypes.CDLL(library), "fa3_fp8_128_%d" % causal)
    work = torch.zeros(1, dtype=torch.int32, device="cuda")
    strides = (ctypes.c_longlong * 12)(*[s for t in (q, k, v, o) for s in t.stride()[:3]])
    pointers = [ctypes.c_void_p(t.data_ptr()) for t in (
        q, k, v, o, lse, made["DQ"], made["DK"], made["DV"], work)]
    numbers = [ctypes.c_int(n) for n in (q.shape[0], q.shape[1], k.shape[1], q.shape[2], k.shape[2])]

    def run(keep=(work, strides)):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        code = entry(*pointers, *numbers, strides, ctypes.c_float(scale), stream)
        if code:
            raise RuntimeError("flash3: error %d" % code)
    return run


def captured(make):
    """A graph of what make() prepares on the current stream."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        run = make()
        run()
    torch.cuda.synchronize()
    graph, held = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph, stream=stream):
        held.append(run())

    def launch(keep=(run, graph)):
        graph.replay()
        return held[0]
    return launch


def measure(case, bundles, kernels, options, flush, nvml):
    first = next(b for b in bundles if any(t["name"] == "DQ" for t in b.tensors))
    torch.manual_seed(1)
    made = inputs(case, first)
    q, k, v = (made[n]["real"] for n in "QKV")
    o = strided(case, first, "O", torch.bfloat16)
    lse = torch.empty(q.shape[:3], device="cuda")
    runs = {}
    for bundle, kernel in zip(bundles, kernels):
        own = bundle.case(dict(zip(first.sizes, case["values"])))
        if own is None:
            continue
        given = [made[t["name"]] if t["name"] in ("DQ", "DK", "DV") else
                 {"O": o, "LSE": lse}.get(t["name"]) if t["access"] != "read" else
                 made[t["name"]][t["dtype"]] for t in bundle.tensors]
        runs[bundle.label] = captured(lambda: kernel.prepare(own, given))
    backend = torch.nn.attention.SDPBackend.CUDNN_ATTENTION

    def cudnn():
        with torch.nn.attention.sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(
                *(made[n]["bf16"] for n in "QKV"), is_causal=options.causal, scale=options.scale,
                enable_gqa=q.shape[1] != k.shape[1])

    runs["cudnn-bf16"] = captured(lambda: cudnn)
    other = options.flash3 and flash3(options.flash3, made, o, lse, options.causal, options.scale)
    if other:
        runs["flash3-e4m3"] = captured(lambda: other)
    else:
        print("flash3-e4m3: left out, no library for it")
    g = torch.Generator().manual_seed(5)
    rows = [tuple(int(torch.randint(0, n, (1,), generator=g)) for n in q.shape[:3]) for _ in range(96)]
    rows += [(0, 0, 0), (0, 0, 1), (0, 0, 2), tuple(n - 1 for n in q.shape[:3])]
    want = reference_rows(q, k, v, rows, options.causal, options.scale)
    most = float(v.abs().max())
    result = {"label": case["label"], "contestants": {}}
    for name, run in runs.items():
        o.fill_(float("nan"))
        got = run()
        got = o if got is None else got
        torch.cuda.synchronize()
        picked = torch.stack([got[r] for r in rows]).double()
        error = (picked - want).abs()
        # P keeps 4 bits: no element of O may be off by more than a sixteenth of the largest of V
        bound = most / 16 + 2.0 ** -8 * want.abs()
        share = float((error.square().mean() / want.square().mean()).sqrt())
        result["contestants"][name] = {"right": bool((error <= bound).all()) and share < 0.06,
                                       "rms": share, "worst": float(error.max())}
    medians, device = peer.cold_rounds(runs, flush, options.rounds, options.reps, nvml)
    flops = 4.0 * q.shape[0] * q.shape[1] * q.shape[2] * k.shape[2] * q.shape[3]
    flops /= 2 if options.causal else 1
    for name in runs:
        entry = result["contestants"][name]
        entry["cold_us"] = peer.spread(medians[name])
        entry["tflops"] = flops / entry["cold_us"]["median"] * 1e-6
        entry["ratio"] = peer.spread([c / m for c, m in zip(medians[next(iter(runs))], medians[name])])
        entry["mhz"] = peer.mean(device[name]["mhz"])
        print("%-30s %-24s %-6s rms %.4f worst %.3f %9.2f us %7.1f TF/s  %.3f [%.3f..%.3f] %s MHz" % (
            case["label"][:30], name, "right" if entry["right"] else "WRONG", entry["rms"], entry["worst"],
            entry["cold_us"]["median"], entry["tflops"], entry["ratio"]["median"], entry["ratio"]["min"],
            entry["ratio"]["max"], int(entry["mhz"]) if entry["mhz"] else "?"), flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("bundles", nargs="+", metavar="BUNDLE")
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--scale", type=float, required=True, help="softmax scale of the designs")
    parser.add_argument("--flash3", metavar="LIBRARY", help="FlashAttention-3 in e4m3, head dimension 128")
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
    print("%s, torch %s; cold medians of %d rounds x %d, L2 flushed; ratio: time of %s / own" % (
        torch.cuda.get_device_name(0), torch.__version__, options.rounds, options.reps, bundles[0].label))
    results = [measure(c, bundles, kernels, options, flush, nvml) for c in bundles[0].cases]
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump({"warpstave_peer_attention_fp8": 1, "device": torch.cuda.get_device_name(0),
                       "torch": torch.__version__, "causal": options.causal, "cases": results}, f)
    own = [c["contestants"] for c in results]
    return 0 if all(e["right"] for c in own for n, e in c.items() if n != "cudnn-bf16") else 1


if __name__ == "__main__":
    sys.exit(main())
