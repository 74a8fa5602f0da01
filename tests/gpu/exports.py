#!/usr/bin/env python3
"""Runs Gluon exports beside the bundles of the same designs: right results, then time.

    exports.py EXPORT.py:BUNDLE [EXPORT.py:BUNDLE ...] [--rounds 9] [--reps 5] [--json OUT]

For every pair and every case of its bundle: both kernels write the same poisoned output from the same
inputs and are compared element by element; then interleaved cold rounds as in peer.py (256 MB memset
before every launch, contestants take turns), each contestant as a captured graph, so that the time the
host takes to launch counts for nobody. With --check every export first runs its own check() against
float64, at its preset sizes. Exit status: 0 all right, 1 a wrong result, 2 usage, 4 no GPU or Triton.
"""

import argparse
import importlib.util
import inspect
import json
import os
import sys

import peer
from peer import torch

KINDS = {"bf16": "bfloat16", "f16": "float16", "f32": "float32", "i32": "int32", "e4m3": "float8_e4m3fn",
         "e5m2": "float8_e5m2"}


def load_export(path):
    spec = importlib.util.spec_from_file_location("export_" + os.path.basename(path)[:-3].replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_tensors(bundle, case):
    torch.manual_seed(1)
    tensors = {}
    for i, spec in enumerate(bundle.tensors):
        x = torch.empty_strided(case["extent"][i], case["stride"][i], device="cuda",
                                dtype=getattr(torch, KINDS[spec["dtype"]]))
        if spec["access"] == "read":
            x.copy_(torch.randn(case["extent"][i], device="cuda"))
        tensors[spec["name"]] = x
    return tensors


def captured(make):
    """A function that replays a graph of what make() returns a launcher of; warmed up first."""
    torch.cuda.synchronize()  # inputs may still be made in memory that an output shares with a temporary
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        run = make()
        for _ in range(2):
            run()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            run()
    torch.cuda.synchronize()

    def replay(keep=run):  # with it what the launcher holds on the device: counters
        graph.replay()

    return replay


def compare(bundle, tensors, runs, result):
    """Outputs of both over poison (over 0 where the kernels add); says how far apart they are."""
    outputs = {}
    for name, run in runs.items():
        for spec in bundle.tensors:
            if spec["access"] == "reduce":
                tensors[spec["name"]].zero_()
            elif spec["access"] != "read":
                peer.poison(tensors[spec["name"]])
        run()
        torch.cuda.synchronize()
        outputs[name] = {s["name"]: tensors[s["name"]].clone() for s in bundle.tensors if s["access"] != "read"}
    right = True
    for spec in bundle.tensors:
        if spec["access"] == "read":
            continue
        a, b = (outputs[n][spec["name"]].double() for n in ("ours", "gluon"))
        error = torch.where(a == b, 0.0, (a - b).abs())
        good = bool((error <= 2 * (spec["abs"] + spec["rel"] * a.abs())).all())
        right = right and good
        result["outputs"][spec["name"]] = {"right": good, "max_difference": float(error.nan_to_num(nan=float("inf")).max()),
                                           "equal": float((a == b).double().mean()),
                                           "not_finite": [int((~x.isfinite()).sum()) for x in (a, b)]}
    return right


def measure(path, bundle, kernel, case, options, flush, nvml):
    export = load_export(path)
    tensors = make_tensors(bundle, case)
    own = [tensors[t["name"]] for t in bundle.tensors]
    names = list(inspect.signature(export.launch).parameters)
    sizes = dict(zip(bundle.sizes, case["values"]))
    given = {n: tensors.get(n, sizes.get(n)) for n in names if n in tensors or n in sizes}
    runs = {"ours": captured(lambda: kernel.prepare(case, own)),
            "gluon": captured(lambda: lambda: export.launch(**given))}
    result = {"export": os.path.basename(path), "case": case["label"], "sizes": sizes, "outputs": {}}
    result["right"] = compare(bundle, tensors, runs, result)
    medians, _ = peer.cold_rounds(runs, flush, options.rounds, options.reps, nvml)
    for n in runs:
        result[n] = peer.spread(medians[n])
        if case["flops"]:
            result[n]["tflops"] = case["flops"] / result[n]["median"] * 1e-6
    result["ratio"] = peer.spread([o / g for o, g in zip(medians["ours"], medians["gluon"])])
    print("%-26s %-28s %-5s ours %9.2f us  gluon %9.2f us %7.1f TF/s  gluon/ours speed %.3f [%.3f..%.3f]  %s" % (
        result["export"][:26], case["label"][:28], "right" if result["right"] else "WRONG", result["ours"]["median"],
        result["gluon"]["median"], result["gluon"].get("tflops", 0.0), result["ratio"]["median"],
        result["ratio"]["min"], result["ratio"]["max"],
        " ".join("%s max %.2e equal %.4f%s" % (n, o["max_difference"], o["equal"], "" if o["right"] else " not finite %s" % o["not_finite"])
                 for n, o in result["outputs"].items())),
        flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("pairs", nargs="+", metavar="EXPORT.py:BUNDLE")
    parser.add_argument("--check", action="store_true", help="run the exports' own checks too")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--json")
    options = parser.parse_args()
    if torch is None or not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] != 9:
        print("exports: skipped, needs torch and an sm_90 GPU", file=sys.stderr)
        return 4
    try:
        import triton
    except ImportError:
        print("exports: skipped, needs Triton", file=sys.stderr)
        return 4
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    flush = torch.empty(peer.FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    driver, nvml = peer.Driver(), peer.Nvml()
    print("%s, torch %s, triton %s" % (torch.cuda.get_device_name(0), torch.__version__, triton.__version__))
    results = []
    for pair in options.pairs:
        path, folder = pair.rsplit(":", 1)
        if options.check:
            results.append({"export": os.path.basename(path), "right": load_export(path).check()})
        bundle = peer.Bundle(folder)
        kernel = peer.Kernel(driver, bundle, sms)
        for case in bundle.cases:
            try:
                results.append(measure(path, bundle, kernel, case, options, flush, nvml))
            except Exception as e:  # Triton raises many kinds; the other pairs are still measured
                print("%-26s %-28s cannot be measured: %s" % (os.path.basename(path), case["label"], e), flush=True)
                results.append({"export": os.path.basename(path), "case": case["label"], "right": False, "error": str(e)})
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump({"warpstave_exports": 1, "device": torch.cuda.get_device_name(0), "torch": torch.__version__,
                       "triton": triton.__version__, "results": results}, f, indent=1)
    return 0 if all(r["right"] for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
