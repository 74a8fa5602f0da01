#!/usr/bin/env python3
"""Measures bundles beside the fastest public kernels for the same problem, all in one process.

    peers.py --gemm BUNDLE [...]                          bf16 GEMM, beside cuBLASLt
    peers.py --fp8-block BUNDLE [...] --deepgemm CUBIN    block-scaled fp8 GEMM
    peers.py --sparse-mla BUNDLE [...] --flashmla LIB     sparse MLA prefill (peers_sparse.py)
    peers.py --sparse-decode BUNDLE+BUNDLE [...] --flashmla LIB  sparse MLA decode over an fp8 cache, in one launch or two
    peers.py --indexer BUNDLE [...] --deepgemm-mqa LIB    index scores of sparse attention
    peers.py --attention BUNDLE [...] [--causal] --fa3 LIB  attention forward, also beside cuDNN
    peers.py --small BUNDLE [...]                         GEMM of few rows, beside torch (peers_serving.py)
    peers.py --grouped BUNDLE [...]                       grouped GEMM, beside torch._grouped_mm
    peers.py --experts BUNDLE [...] --deepgemm-grouped CUBIN [...]  grouped GEMM in fp8 (peers_experts.py)
    peers.py --decode BUNDLE [...] [--length N ...]       attention over a paged cache, beside torch and cuDNN; BUNDLE+BUNDLE
                                                          are launches that follow each other; --in-order: its pages do
    peers.py --varlen BUNDLE [...] [--causal]             packed sequences, beside torch and cuDNN (peers_attention.py)
    peers.py --forms BUNDLE [...] [--causal] [--cap C] [--sinks]  two head dimensions, soft cap, sinks, beside torch
    peers.py --rmsnorm BUNDLE [...]                       RMSNorm and a product, beside torch (peers_norm.py)
    peers.py --cross-entropy BUNDLE [...]                 cross-entropy of a product, beside torch
    peers.py --linear BUNDLE [...]                        causal linear attention, beside torch
    peers.py --backward BUNDLE+BUNDLE [...] [--causal]    dQ, dK, dV by launches that follow each other, beside torch,
                                                          cuDNN and FlashAttention-3 (peers_backward.py)
    options: --rounds 9 --reps 3 --sustained 0 --case LABEL --json OUT --profile

Every contestant is captured as a graph on the same tensors. Outputs come first: poisoned with 0xff, then
compared with float64 at sampled elements and with the peer's. Then cold rounds (256 MB set before every
launch, contestants in turn, the order rotates): the figure is the median over rounds of the median of a
round, ratios (peer's time / own time, above 1: we are faster) are taken round by round, in brackets the
least and the largest. --profile launches each once and times nothing: for ncu.

Of cuBLASLt every algorithm that its heuristic names, 32 at most, is timed cold (15 times, long ones thrice); the three
fastest, and what torch.matmul takes, run beside the bundles, and ratios are to the fastest of these.

CUBIN holds DeepGEMM's sm90_fp8_gemm_1d2d_impl, instantiated with N, K as constants (its default) and the
tile its heuristic takes for large problems: 256x128x128, 3 stages, cluster of 2, A multicast. Those of --deepgemm-grouped
hold its instances for grouped problems (GemmType 1 and 2), each for its experts, N and K. LIB exports
    int flashmla_prefill(q, kv, indices, out, max_logits, lse, s_q, s_kv, h_q, topk, float scale, stream)
around FlashMLA's sparse prefill for sm90 (576/512, no sink, no lengths); and for decode over its fp8 cache
    int flashmla_decode_parts(h_q, s_q)
    int flashmla_decode(q, kv, indices, lengths, out, lse, metadata, num_splits, lse_accum, o_accum, b, s_q, h_q, topk,
                        num_blocks, page_block_size, float scale, what, stream)
`lengths` may be NULL; metadata is 8 ints for each part, the accumulators have b + parts splits; what: 1 the metadata + 2 the
attention + 4 what combines its splits. FlashMLA makes the metadata once for all layers of a step: `flashmla` is the other
two, `flashmla-meta` all three. That of --deepgemm-mqa, around DeepGEMM's fp8_mqa_logits with 128 columns, f32 logits,
    int deepgemm_mqa_logits(q, k, k_scales, weights, start, end, logits, s_q, s_kv, heads, stride, what, stream)
what: 1 the logits + 2 -inf where no key is wanted. That of --fa3
    int fa3_forward(q, k, v, o, lse, counter, b, h, h_k, s_q, s_k, d, strides, float scale, int causal, stream)
around FlashAttention-3 forward in bf16; strides are 12 int64 in elements: batch, head, row of q, k, v, o. For backward it exports
    int fa3_backward(do, q, k, v, o, lse, dq, dk, dv, work, b, h, h_k, s_q, s_k, d, strides, float scale, int causal, stream)
strides of do, q, k, v, o, dq, dk, dv; work is zeroed once and holds d + 136 floats for each row of a head, rows filled up to 128.
Ratios of attention are to the better of FlashAttention-3 and cuDNN (torch), which is named. Nothing of
these is here.
Exit status: 0 all right, 1 a wrong result, 2 usage or bad bundle, 4 no GPU.
"""

import argparse
import ctypes
import json
import re
import statistics
import sys

import peer

torch = peer.torch
if torch is not None:
    import cublaslt
    import peers_attention
    import peers_backward
    import peers_experts
    import peers_norm
    import peers_serving
    import peers_sparse


def capture(make):
    """A graph of one launch; make() prepares the launch on the current stream and returns it."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        run = make()
        run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        run()
    graph.run = run  # what it points to lives as long as the graph
    return graph.replay


# --- cuBLASLt ------------------------------------------------------------------------------------


def cold(run, flush, times=3):
    """Median microseconds of a few cold launches, the first of which is not counted."""
    seen = []
    for i in range(times + 1):
        flush.zero_()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        end.synchronize()
        seen.append(start.elapsed_time(end) * 1e3)
    return statistics.median(seen[1:])


def kernel_names(run):
    """What a launch runs on the GPU, by torch's profiler; empty where that sees nothing."""
    try:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
            run()
            torch.cuda.synchronize()
        return [e.key for e in seen.key_averages() if "memset" not in e.key.lower()]
    except RuntimeError:
        return []


def best_algorithms(lt, t, m, n, k, flush, keep=3):
    """Launchers of the fastest of what cuBLASLt's heuristic names: place in its list -> prepare()."""
    plan, found = lt.algorithms(m, n, k)
    timed = []
    for i, heuristic in enumerate(found):
        run = lt.prepare(plan, heuristic, t["A"], t["B"], t["C"])
        try:
            us = cold(run, flush)
            timed.append((cold(run, flush, 15) if us < 200 else us, i, run))
        except RuntimeError:  # named, and not launched
            continue
    timed.sort(key=lambda x: x[0])
    for us, i, run in timed[:keep]:
        print("  cuBLASLt %d of %d: %.2f us alone, %s" % (i, len(found), us, ", ".join(kernel_names(run))))
    return {"lt-%d" % i: (lambda run=run: run) for _, i, run in timed[:keep]}


def gemm(options, driver, sms):
    bundles = [peer.Bundle(b) for b in options.gemm]
    kernels = [peer.Kernel(driver, b, sms) for b in bundles]
    lt = cublaslt.CublasLt()
    for first, case in peers_serving.cases_of(bundles):
        size = dict(zip(first.sizes, case["values"]))
        m, n, k = size["M"], size["N"], size["K"]
        label = "%dx%dx%d" % (m, n, k)
        if options.case and label not in options.case:
            continue
        torch.manual_seed(1)
        t = peer.contestants.make_set(first, case, options)

        def of(bundle, kernel):
            return lambda: kernel.prepare(bundle.case(size), [t[x["name"]] for x in bundle.tensors])

        makes = {b.label: of(b, x) for b, x in zip(bundles, kernels) if b.case(size)}
        makes["torch"] = lambda: lambda: torch.matmul(t["A"], t["B"].t(), out=t["C"])
        theirs = best_algorithms(lt, t, m, n, k, options.flush)
        makes.update(theirs)
        points = peer.sample_points(m, n, 2048)
        want, _ = peer.contestants.sampled(t, ["A", "B", "C"], 1.0, *points)
        spec = first.tensors[first.index("C")]

        def judge(out):
            i, j = points
            error = (out[0][i, j].double() - want).abs()
            return bool((error <= spec["abs"] + spec["rel"] * want.abs()).all()), "rms %.4f worst %.3f" % (
                float((error * error).mean().sqrt()), float(error.max()))

        yield label, makes, [t["C"]], judge, 2.0 * m * n * k, tuple(theirs) + ("torch",)
        torch.cuda.empty_cache()


# --- DeepGEMM ------------------------------------------------------------------------------------


class DeepGemm:
    """sm90_fp8_gemm_1d2d_impl of a cubin, its parameters as its own host code passes them."""

    BLOCK_M, BLOCK_N, STAGES = 256, 128, 3

    def __init__(self, driver, path):
        self.driver, self.entry = driver, {}
        with open(path, "rb") as f:
            self.image = f.read()
        for name in set(re.findall(rb"_ZN9deep_gemm[0-9]+sm90_fp8_gemm_1d2d_impl[A-Za-z0-9_]+", self.image)):
            n, k = re.search(rb"ELj0ELj(\d+)ELj(\d+)ELj1E", name).groups()
            self.entry[int(n), int(k)] = name
        self.module = ctypes.c_void_p()
        driver.call("cuModuleLoadData", ctypes.byref(self.module), self.image)

    def map(self, tensor, kind, inner, outer, box, stride, swizzle):
        raw = ctypes.create_string_buffer(256)
        address = (ctypes.addressof(raw) + 127) // 128 * 128
        self.driver.call("cuTensorMapEncodeTiled", address, kind, 2, tensor.data_ptr(),
                         (ctypes.c_uint64 * 2)(inner, outer), (ctypes.c_uint64 * 1)(stride),
                         (ctypes.c_uint32 * 2)(*box), (ctypes.c_uint32 * 2)(1, 1), 0,
                         3 if swizzle else 0, 3, 0)
        return raw, address

    def prepare(self, t, m, n, k):
        shared = (self.BLOCK_M * self.BLOCK_N * 2 + 256 + (k // 128 * 4 + 7) // 8 * 8 +
                  self.STAGES * ((self.BLOCK_M + self.BLOCK_N) * 128 + self.BLOCK_M * 4))
        function = ctypes.c_void_p()
        self.driver.call("cuModuleGetFunction", ctypes.byref(function), self.module, self.entry[n, k])
        self.driver.call("cuFuncSetAttribute", function, 8, shared)
        maps = [self.map(t["A"], 0, k, m, (128, self.BLOCK_M), k, True),
                self.map(t["B"], 0, k, n, (128, self.BLOCK_N), k, True),
                self.map(t["C"], 9, n, m, (64, self.BLOCK_M), 2 * n, True),
                self.map(t["SA"], 7, m, k // 128, (self.BLOCK_M, 1), 4 * m, False)]
        held = [ctypes.c_uint64(t["SB"].data_ptr()), ctypes.c_uint64(0)]
        held += [ctypes.c_uint32(v) for v in (m, n, k)]
        params = (ctypes.c_void_p * 9)(*[ctypes.addressof(h) for h in held], *[a for _, a in maps])
        attribute = peer.Attribute(id=4, x=2, y=1, z=1)
        config = peer.Launch((ctypes.c_uint * 3)(132, 1, 1), (ctypes.c_uint * 3)(384, 1, 1), shared,
                             torch.cuda.current_stream().cuda_stream, ctypes.pointer(attribute), 1)
        stream = torch.cuda.current_stream

        def run(keep=(maps, held, params, attribute, config)):
            config.stream = stream().cuda_stream
            self.driver.call("cuLaunchKernelEx", ctypes.byref(config), function, params, None)

        return run


def fp8_block(options, driver, sms):
    bundles = [peer.Bundle(b) for b in options.fp8_block]
    kernels = [peer.Kernel(driver, b, sms) for b in bundles]
    deepgemm = DeepGemm(driver, options.deepgemm) if options.deepgemm else None
    for first, case in peers_serving.cases_of(bundles):
        size = dict(zip(first.sizes, case["values"]))
        m, n, k = size["M"], size["N"], size["K"]
        torch.manual_seed(1)
        t = peer.contestants.make_set(first, case, options)

        def of(bundle, kernel):
            return lambda: kernel.prepare(bundle.case(size), [t[x["name"]] for x in bundle.tensors])

        makes = {b.label: of(b, x) for b, x in zip(bundles, kernels) if b.case(size)}
        if deepgemm and (n, k) in deepgemm.entry:
            makes["deepgemm"] = lambda: deepgemm.prepare(t, m, n, k)
        points = peer.sample_points(m, n, 4096)
        want, _ = peer.contestants.sampled(t, ["A", "B", "C"], 1.0, *points)

        def judge(out):
            i, j = points
            error = (out[0][i, j].double() - want).abs()
            bound = 0.7 + 0.004 * want.abs()  # the shipped design's tolerance
            return bool((error <= bound).all()), "rms %.4f worst %.3f" % (
                float((error * error).mean().sqrt()), float(error.max()))

        yield "%dx%dx%d" % (m, n, k), makes, [t["C"]], judge, 2.0 * m * n * k, "deepgemm"


# --- attention -----------------------------------------------------------------------------------


def attention(options, driver, sms):
    bundles = [peer.Bundle(b) for b in options.attention]
    kernels = [peer.Kernel(driver, b, sms) for b in bundles]
    lib = peers_serving.library(options.fa3, "--fa3")
    scale = bundles[0].scalars[0]
    for first, case in peers_serving.cases_of(bundles):
        size = dict(zip(first.sizes, case["values"]))
        torch.manual_seed(1)
        t = peers_serving.strided(first, case)
        q, k, v, o = (t[n] for n in "QKVO")
        b, h, sq, d = q.shape
        hk, sk = k.shape[1], k.shape[2]

        def of(bundle, kernel):
            return lambda: kernel.prepare(bundle.case(size), [t[x["name"]] for x in bundle.tensors])

        def fa3():
            counter = torch.zeros(1, dtype=torch.int32, device="cuda")
            strides = (ctypes.c_longlong * 12)(*[x.stride(i) for x in (q, k, v, o) for i in (0, 1, 2)])
            p = [ctypes.c_void_p(x.data_ptr()) for x in (q, k, v, o, t["LSE"], counter)]
            p += [ctypes.c_int(x) for x in (b, h, hk, sq, sk, d)] + [strides, ctypes.c_float(scale),
                                                                     ctypes.c_int(options.causal)]

            def run(keep=counter):
                code = lib.fa3_forward(*p, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
                if code:
                    raise RuntimeError("fa3_forward: %d" % code)
            return run

        held = []

        def cudnn():
            def run():
                with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
                    held[:] = [torch.nn.functional.scaled_dot_product_attention(
                        q, k, v, is_causal=options.causal, scale=scale, enable_gqa=h != hk)]
            return run

        cudnn.outputs = held
        makes = {x.label: of(x, y) for x, y in zip(bundles, kernels) if x.case(size)}
        makes["cudnn"] = cudnn
        if lib:
            makes["fa3"] = fa3
        rows = [tuple(int(torch.randint(0, n, (1,))) for n in (b, h, sq)) for _ in range(64)]
        rows += [(0, 0, 0), (b - 1, h - 1, sq - 1)]
        want = []
        for i, j, r in rows:
            s = (k[i, j // (h // hk)].double() @ q[i, j, r].double()) * scale
            if options.causal:
                s[r + 1 + sk - sq:] = float("-inf")
            want.append((torch.softmax(s, 0) @ v[i, j // (h // hk)].double(), torch.logsumexp(s, 0)))

        def judge(out):
            worst, square = [0.0, 0.0], 0.0
            for r, w in zip(rows, want):
                for i in range(len(out)):
                    error = (out[i][r].double() - w[i]).abs()
                    worst[i] = max(worst[i], float(error.max()))
                    square += float(error.square().mean()) if i == 0 else 0.0
            return worst[0] < 0.02 and worst[1] < 0.01, "rms %.2e O %.4f lse %.5f" % (
                (square / len(rows)) ** 0.5, *worst)

        flops = 4.0 * b * h * sq * sk * d / (2 if options.causal else 1)
        yield ("d %d %s S %d" % (d, "causal" if options.causal else "full", sq), makes, [o, t["LSE"]], judge,
               flops, ("fa3", "cudnn"))


# --- one problem ---------------------------------------------------------------------------------


def finite(o):
    return bool(torch.isfinite(o).all())


def check(run, outputs, judge, varies=False, sound=finite):
    """Runs twice over poison: (right, words, the outputs). What `varies` adds in any order: its second run is judged, too.
    `sound` says of an output whether it holds only what it may: finite values, if nothing else is said."""
    seen = []
    for _ in range(2):
        for o in outputs:
            peer.poison(o)
        run()
        torch.cuda.synchronize()
        seen.append([o.clone() for o in outputs])
    same = all(torch.equal(peer.bits(a), peer.bits(b)) for a, b in zip(*seen))
    whole = all(sound(o) for o in seen[0])
    right, words = judge(seen[0])
    if varies:
        right, whole = right and judge(seen[1])[0], whole and all(sound(o) for o in seen[1])
        words += ", repeat %s" % ("identical" if same else "not identical")
    return right and (same or varies) and whole, words + ("" if same or varies else ", A SECOND RUN DIFFERS") + (
        "" if whole else ", NOT FINITE"), seen[0]


def measure(problem, options, flush, nvml):
    label, makes, outputs, judge, flops, bases = problem
    bases = [b for b in ([bases] if isinstance(bases, str) else bases) if b in makes]
    base = bases[0] if bases else None
    print("%s: %s" % (label, ", ".join(makes)))
    result, runs, kept = {"label": label, "flops": flops, "contestants": {}}, {}, {}
    for name in sorted(makes, key=lambda x: x not in bases):
        try:
            run = makes[name]() if options.profile else capture(makes[name])
        except (RuntimeError, peer.BundleError) as e:
            print("  %-28s cannot be launched: %s" % (name, e))
            result["contestants"][name] = {"right": False, "error": str(e)}
            continue
        if options.profile:
            run()
            torch.cuda.synchronize()
            continue
        right, words, kept[name] = check(run, getattr(makes[name], "outputs", outputs), judge,
                                         getattr(makes[name], "varies", False), getattr(makes[name], "sound", finite))
        equal = None
        if base in kept and kept[name][0].shape == kept[base][0].shape:
            equal = float((kept[name][0] == kept[base][0]).float().mean())
        result["contestants"][name] = {"right": right, "check": words, "equal_to_peer": equal}
        if right:
            runs[name] = run
        else:
            print("  %-28s WRONG: %s" % (name, words))
    if options.profile:
        return result
    kept = None
    medians, _ = peer.cold_rounds(runs, flush, options.rounds, options.reps, nvml)
    steady, device = {}, {}
    if options.sustained > 0:
        steady, device = peer.sustained({n: [r] for n, r in runs.items()},
                                        {n: statistics.median(v) for n, v in medians.items()},
                                        options.sustained, nvml)
    bases = [b for b in bases if b in runs]
    base = min(bases, key=lambda b: statistics.median(medians[b]), default=None)  # the better of the peers
    result["peer"] = base
    for name in runs:
        e = result["contestants"][name]
        e["cold_us"] = peer.spread(medians[name])
        e["tflops"] = flops / e["cold_us"]["median"] * 1e-6
        text = "  %-28s %9.2f us %7.1f TF/s" % (name, e["cold_us"]["median"], e["tflops"])
        if base in runs:
            e["ratio"] = peer.spread([b / o for b, o in zip(medians[base], medians[name])])
            text += "  %.3f [%.3f, %.3f]" % (e["ratio"]["median"], e["ratio"]["min"], e["ratio"]["max"])
        if name in steady:
            e["sustained_us"] = steady[name][0]
            e["sustained_mhz"], e["sustained_watt"] = (peer.mean(device[name][x]) for x in ("mhz", "watt"))
            text += "  sustained %7.1f TF/s" % (flops / e["sustained_us"] * 1e-6)
            peers = [steady[b][0] for b in bases if b in steady]
            if peers:
                e["sustained_ratio"] = min(peers) / steady[name][0]
                text += " %.3f" % e["sustained_ratio"]
            text += " %s MHz %s W" % (peer.number(e["sustained_mhz"], "%.0f"), peer.number(e["sustained_watt"], "%.0f"))
        print(text + "  " + e["check"] + ("" if e["equal_to_peer"] is None else
                                          ", %.4f equal to the peer's" % e["equal_to_peer"]))
    sys.stdout.flush()
    return result


def summary(results):
    """Per contestant: least and geometric mean of its ratios, where it ran beside the peer."""
    for name in sorted({n for r in results for n in r["contestants"]}):
        seen = [r["contestants"][name] for r in results if "ratio" in r["contestants"].get(name, {})]
        for kind, ratios in (("cold", [e["ratio"]["median"] for e in seen]),
                             ("sustained", [e["sustained_ratio"] for e in seen if "sustained_ratio" in e])):
            if ratios:
                print("%-28s over %d problems, %s: least %.3f, geometric mean %.3f" % (
                    name, len(ratios), kind, min(ratios), peer.geometric_mean(ratios)))


PEERS = re.compile("lt-|torch|deepgemm(-uncleaned|-[0-9].*)?$|flashmla(-meta)?$|fa3$|cudnn|flex$|efficient$|flash-filled$")


def picked(results):
    """Where every problem has one bundle, what a rule picks: all of them together."""
    own = [[e for n, e in r["contestants"].items() if not PEERS.match(n)] for r in results]
    if len(results) > 1 and all(len(x) == 1 and "ratio" in x[0] for x in own):
        for kind, value in (("cold", lambda e: e["ratio"]["median"]), ("sustained", lambda e: e.get("sustained_ratio"))):
            ratios = [value(x[0]) for x in own]
            if all(ratios):
                print("picked: %d problems, %s: least %.3f, geometric mean %.3f" % (
                    len(ratios), kind, min(ratios), peer.geometric_mean(ratios)))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--gemm", nargs="+", default=[], metavar="BUNDLE")
    p.add_argument("--fp8-block", nargs="+", default=[], metavar="BUNDLE")
    p.add_argument("--deepgemm", metavar="CUBIN")
    p.add_argument("--sparse-mla", nargs="+", default=[], metavar="BUNDLE")
    p.add_argument("--sparse-decode", nargs="+", default=[], metavar="BUNDLE+BUNDLE")
    p.add_argument("--flashmla", metavar="LIB")
    p.add_argument("--indexer", nargs="+", default=[], metavar="BUNDLE")
    p.add_argument("--deepgemm-mqa", metavar="LIB")
    p.add_argument("--attention", nargs="+", default=[], metavar="BUNDLE")
    p.add_argument("--causal", action="store_true")
    p.add_argument("--fa3", metavar="LIB")
    p.add_argument("--small", nargs="+", default=[], metavar="BUNDLE")
    p.add_argument("--grouped", nargs="+", default=[], metavar="BUNDLE")
    p.add_argument("--experts", nargs="+", default=[], metavar="BUNDLE")
    p.add_argument("--deepgemm-grouped", nargs="+", default=[], metavar="CUBIN")
    p.add_argument("--decode", nargs="+", default=[], metavar="BUNDLE")
    p.add_argument("--varlen", nargs="+", default=[], metavar="BUNDLE")
    p.add_argument("--forms", nargs="+", default=[], metavar="BUNDLE")
    p.add_argument("--rmsnorm", nargs="+", default=[], metavar="BUNDLE")
    p.add_argument("--cross-entropy", nargs="+", default=[], metavar="BUNDLE")
    p.add_argument("--linear", nargs="+", default=[], metavar="BUNDLE")
    p.add_argument("--backward", nargs="+", default=[], metavar="BUNDLE+BUNDLE")
    p.add_argument("--cap", type=float, default=0)
    p.add_argument("--sinks", action="store_true")
    p.add_argument("--in-order", action="store_true")
    p.add_argument("--length", nargs="+", type=int, default=[0, 8192])
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--reps", type=int, default=3)
    p.add_argument("--sustained", type=float, default=0)
    p.add_argument("--case", action="append")
    p.add_argument("--profile", action="store_true")
    p.add_argument("--json", metavar="OUT")
    options = p.parse_args()
    options.a, options.b, options.c = "A", "B", "C"
    if torch is None or not torch.cuda.is_available():
        print("peers: skipped: no torch with a GPU here", file=sys.stderr)
        return 4
    torch.zeros(1, device="cuda")
    driver, nvml = peer.Driver(), peer.Nvml()
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    flush = torch.empty(peer.FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    options.flush = flush
    results = []
    print("%s, %d SMs, torch %s; cold: medians of %d rounds x %d launches" % (
        torch.cuda.get_device_name(), sms, torch.__version__, options.rounds, options.reps))
    try:
        for problems in (gemm, fp8_block, peers_sparse.sparse_mla, peers_sparse.sparse_decode,
                         peers_sparse.indexer, attention, peers_serving.small, peers_serving.grouped, peers_experts.experts,
                         peers_serving.decode, peers_attention.varlen, peers_attention.forms,
                         peers_norm.rmsnorm, peers_norm.cross_entropy, peers_norm.linear,
                         peers_backward.backward):
            if not getattr(options, problems.__name__):
                continue
            mine = [measure(x, options, flush, nvml) for x in problems(options, driver, sms)
                    if not options.case or x[0] in options.case]
            summary(mine)
            picked(mine)
            results += mine
    except peer.BundleError as e:
        print("peers:", e, file=sys.stderr)
        return 2
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump({"warpstave_peers": 1, "device": torch.cuda.get_device_name(), "rounds": options.rounds,
                       "reps": options.reps, "problems": results}, f, indent=1)
    return 0 if all(c["right"] for r in results for c in r["contestants"].values()) or options.profile else 1


if __name__ == "__main__":
    sys.exit(main())
