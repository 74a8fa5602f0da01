#!/usr/bin/env python3
"""Measures bundles of a GEMM (C = A * B^T) against torch, all in one process.

    peer.py BUNDLE [BUNDLE ...] [--rounds 9] [--reps 5] [--sustained 3] [--json OUT]

For every case of the first bundle: correctness first (outputs poisoned with 0xff, then sampled
elements against float64, corners included, nothing non-finite left, a second run bit-identical), then
interleaved cold rounds (256 MB memset before every launch, contestants take turns and the order
rotates; the figure is the median over rounds of the median within a round, ratios are taken round by
round), then sustained segments in turn over two buffer sets, with SM clock and power by NVML. The first
segment of every contestant is warm-up and not counted.

16-bit operands: torch.matmul in the layouts of --layouts. 8-bit: torch._scaled_mm with fast and with
exact accumulation, and the error is judged beside theirs (judge_by_peer). Ratios are to the fastest.

Needs an sm_90 GPU, torch and ctypes; nothing is installed or downloaded. bundle.txt is described in
src/runner/README.md. Exit status: 0 all right, 1 a wrong result, 2 usage or bad bundle, 4 no GPU.
"""

import argparse
import ctypes
import json
import os
import statistics
import sys
import time

try:
    import torch
except ImportError:
    torch = None
else:
    import contestants

DTYPES = {"f32": 4, "f16": 2, "bf16": 2, "tf32": 4, "e4m3": 1, "e5m2": 1, "i8": 1, "u8": 1, "i32": 4}
MAP_TYPE = {"f32": 7, "f16": 6, "bf16": 9, "tf32": 11, "e4m3": 0, "e5m2": 0, "i8": 0, "u8": 0, "i32": 3}
FLUSH_BYTES = 256 << 20


class BundleError(Exception):
    pass


class Bundle:
    """The parts of a bundle folder that a launcher needs."""

    def __init__(self, folder):
        self.folder = folder
        self.label = os.path.basename(os.path.normpath(folder))
        self.modules, self.sizes, self.scalars, self.tensors = {}, [], [], []
        self.maps, self.cases, self.counter = [], [], False
        try:
            with open(os.path.join(folder, "bundle.txt"), encoding="utf-8") as f:
                lines = f.read().splitlines()
        except OSError as e:
            raise BundleError(str(e)) from e
        if not lines or lines[0] != "warpstave-bundle 1":
            raise BundleError(folder + ": not a bundle of version 1")
        for number, line in enumerate(lines[1:], 2):
            try:
                self.take(line.split(), line)
            except (ValueError, IndexError, KeyError) as e:
                raise BundleError("%s line %d: %s" % (folder, number, e)) from e

    def take(self, w, line):
        if not w or w[0].startswith("#"):
            return
        key = w[0]
        if key == "name":
            self.name = line[5:]
        elif key == "entry":
            self.entry = w[1]
        elif key == "block":
            self.threads, self.cluster, self.shared = int(w[1]), int(w[2]), int(w[3])
        elif key == "module":
            self.modules[w[1]] = w[2]
        elif key == "sizes":
            self.sizes = w[1:]
        elif key == "scalar":
            self.scalars.append(float(w[2]))
        elif key == "tensor":
            self.tensors.append({"name": w[1], "dtype": w[2], "rank": int(w[3]), "access": w[4],
                                 "abs": float(w[5]), "rel": float(w[6])})
        elif key == "counter":
            self.counter = True
        elif key == "map":
            self.maps.append({"tensor": int(w[1]), "swizzle": int(w[2]), "box": [int(x) for x in w[3:]]})
        elif key == "case":
            self.cases.append({"label": w[1], "sms": w[2] == "sms", "grid": int(w[3]),
                               "tiles": int(w[4]), "flops": float(w[5]), "extent": {}, "stride": {}})
        elif key == "values":
            self.cases[-1]["values"] = [int(x) for x in w[1:]]
        elif key == "extent":
            t, n = int(w[1]), self.tensors[int(w[1])]["rank"]
            self.cases[-1]["extent"][t] = [int(x) for x in w[2:2 + n]]
            self.cases[-1]["stride"][t] = [int(x) for x in w[2 + n:2 + 2 * n]]

    def index(self, name):
        for i, t in enumerate(self.tensors):
            if t["name"] == name:
                return i
        raise BundleError("%s has no tensor %s" % (self.folder, name))

    def case(self, sizes):
        for c in self.cases:
            if dict(zip(self.sizes, c["values"])) == sizes:
                return c
        return None


# --- the driver ----------------------------------------------------------------------------------


CLUSTER, PROGRAMMATIC = 4, 6  # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, …_PROGRAMMATIC_STREAM_SERIALIZATION


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("x", ctypes.c_uint),
                ("y", ctypes.c_uint), ("z", ctypes.c_uint), ("rest", ctypes.c_char * 52)]


class Launch(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(Attribute)),
                ("n_attributes", ctypes.c_uint)]


class Driver:
    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        self.lib.cuTensorMapEncodeTiled.argtypes = [
            ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p,
            ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int,
            ctypes.c_int, ctypes.c_int]
        self.lib.cuLaunchKernelEx.argtypes = [ctypes.POINTER(Launch), ctypes.c_void_p,
                                              ctypes.c_void_p, ctypes.c_void_p]

    def call(self, name, *args):
        code = getattr(self.lib, name)(*args)
        if code:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorName(code, ctypes.byref(text))
            raise RuntimeError("%s: %s" % (name, (text.value or b"?").decode()))

    def load(self, folder, file, entry, shared):
        with open(os.path.join(folder, file), "rb") as f:
            image = f.read() + b"\0"
        log = ctypes.create_string_buffer(1 << 16)
        options = (ctypes.c_int * 3)(5, 6, 12)
        values = (ctypes.c_void_p * 3)(ctypes.cast(log, ctypes.c_void_p), len(log), 1)
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), image, 3, options, values)
        except RuntimeError as e:
            raise RuntimeError("%s; %s" % (e, log.value.decode(errors="replace"))) from e
        self.call("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
        self.call("cuFuncSetAttribute", function, 8, shared)
        return function


class Kernel:
    """One bundle's timed build, ready to be launched on given tensors."""

    def __init__(self, driver, bundle, sms):
        self.driver, self.bundle, self.sms = driver, bundle, sms
        self.function = driver.load(bundle.folder, bundle.modules["timed"], bundle.entry, bundle.shared)
        with open(os.path.join(bundle.folder, "kernel.ptx"), encoding="utf-8") as f:
            self.waits = "griddepcontrol.wait" in f.read()  # may begin before the launch in front of it has ended

    def encode(self, case, pointers):
        b, maps = self.bundle, []
        for m in b.maps:
            t, rank = m["tensor"], b.tensors[m["tensor"]]["rank"]
            size = DTYPES[b.tensors[t]["dtype"]]
            extent = case["extent"][t][::-1]
            stride = [s * size for s in case["stride"][t][::-1]][1:]
            raw = ctypes.create_string_buffer(128 + 128)
            address = (ctypes.addressof(raw) + 127) // 128 * 128
            self.driver.call(
                "cuTensorMapEncodeTiled", address, MAP_TYPE[b.tensors[t]["dtype"]], rank, pointers[t],
                (ctypes.c_uint64 * rank)(*extent), (ctypes.c_uint64 * max(rank - 1, 1))(*stride),
                (ctypes.c_uint32 * rank)(*m["box"]), (ctypes.c_uint32 * rank)(*([1] * rank)), 0,
                {0: 0, 32: 1, 64: 2, 128: 3}[m["swizzle"]], 3, 0)
            maps.append((raw, address))
        return maps

    def prepare(self, case, tensors):
        """A function without arguments that launches the kernel once on the current stream."""
        b = self.bundle
        pointers = [t.data_ptr() for t in tensors]
        maps = self.encode(case, pointers)
        held = [ctypes.c_uint64(p) for p in pointers]
        held += [ctypes.c_int64(v) for v in case["values"]]
        held += [ctypes.c_float(v) for v in b.scalars]
        counter = torch.zeros(1, dtype=torch.int32, device="cuda") if b.counter else None
        if b.counter:  # the kernel leaves it as it found it
            held.append(ctypes.c_uint64(counter.data_ptr()))
        params = (ctypes.c_void_p * (len(maps) + len(held)))(
            *[a for _, a in maps], *[ctypes.addressof(h) for h in held])
        grid = case["grid"]
        if case["sms"]:
            grid = min(self.sms // b.cluster * b.cluster, grid)
        wanted = ([Attribute(id=CLUSTER, x=b.cluster, y=1, z=1)] if b.cluster > 1 else []) + (
            [Attribute(id=PROGRAMMATIC, x=1)] if self.waits else [])
        attribute = (Attribute * 2)(*wanted)
        config = Launch((ctypes.c_uint * 3)(grid, 1, 1), (ctypes.c_uint * 3)(b.threads, 1, 1), b.shared,
                        torch.cuda.current_stream().cuda_stream, attribute, len(wanted))
        launch, function, reference = self.driver.lib.cuLaunchKernelEx, self.function, ctypes.byref(config)

        def run(keep=(maps, held, params, attribute, config, counter)):
            code = launch(reference, function, params, None)
            if code:
                self.driver.call("cuLaunchKernelEx", ctypes.byref(config), function, params, None)

        run.grid = grid
        return run


class Nvml:
    def __init__(self):
        self.device = None
        try:
            import pynvml
            pynvml.nvmlInit()
            pci = torch.cuda.get_device_properties(0)
            try:
                bus = "%08x:%02x:%02x.0" % (pci.pci_domain_id, pci.pci_bus_id, pci.pci_device_id)
                self.device = pynvml.nvmlDeviceGetHandleByPciBusId(bus.encode())
            except Exception:
                self.device = pynvml.nvmlDeviceGetHandleByIndex(0)
            self.nvml = pynvml
        except Exception as e:  # absent or refused: figures stay without clock and power
            print("peer: no NVML (%s): clock and power unknown" % e, file=sys.stderr)

    def sample(self, into):
        if self.device is None:
            return
        try:
            into["mhz"].append(self.nvml.nvmlDeviceGetClockInfo(self.device, self.nvml.NVML_CLOCK_SM))
            into["watt"].append(self.nvml.nvmlDeviceGetPowerUsage(self.device) / 1000.0)
        except Exception:
            pass


# --- correctness ---------------------------------------------------------------------------------


def poison(tensor):
    tensor.view(torch.uint8).fill_(0xFF)


def sample_points(m, n, count):
    g = torch.Generator().manual_seed(7)
    i = torch.randint(0, m, (count,), generator=g)
    j = torch.randint(0, n, (count,), generator=g)
    quarter = count // 4
    i[:quarter] = m - 1 - i[:quarter] % min(m, 8)
    j[quarter:2 * quarter] = n - 1 - j[quarter:2 * quarter] % min(n, 8)
    for k, (a, b) in enumerate([(0, 0), (0, n - 1), (m - 1, 0), (m - 1, n - 1)]):
        i[k], j[k] = a, b
    return i.cuda(), j.cuda()


def bits(x):
    return x.view(torch.int16 if x.element_size() == 2 else torch.int32)


def judge(run, c, tolerance, points, want, name):
    """Runs twice on poisoned output; returns a dictionary with "right"."""
    i, j = points
    poison(c)
    run()
    torch.cuda.synchronize()
    first = c.clone()
    poison(c)
    run()
    torch.cuda.synchronize()
    finite = bool(torch.isfinite(first).all())
    same = bool(torch.equal(bits(first), bits(c)))
    error = (first[i, j].double() - want).abs()
    allowed = tolerance[0] + tolerance[1] * want.abs()
    wrong = int((~(error <= allowed)).sum())
    worst = float((error / allowed).nan_to_num(nan=float("inf")).max())
    return {"name": name, "right": finite and same and wrong == 0, "finite": finite,
            "bit_identical_repeat": same, "samples": len(i), "wrong": wrong,
            "worst_error": float(error.nan_to_num(nan=float("inf")).max()),
            "rms_error": float((error * error).mean().sqrt()),
            "worst_share_of_tolerance": worst}


def judge_by_peer(checks, k, alpha, want):
    """8-bit operands: the tensor core itself adds in fewer bits, so the yardstick is the error of
    torch's own kernel on the same samples, and the bound of accumulation_bound. Right: no worse than
    torch's fast accumulation (rms within 5 %, worst within 50 %: one sample in 4096) and within the bound
    plus the rounding of the result. Says, too, whether it is as good as torch's exact accumulation."""
    partial = float(want.abs().max()) / max(abs(alpha), 1e-30)
    bound = contestants.accumulation_bound(k, alpha, partial) + float(want.abs().max()) * 2.0 ** -8
    fast, exact = checks.get("torch-fast"), checks.get("torch-exact")
    loosest = max([p for p in (fast, exact) if p], key=lambda p: p["rms_error"], default=None)
    for name, v in checks.items():
        v["bound"] = bound
        v["right"] = v["finite"] and v["bit_identical_repeat"] and v["worst_error"] <= bound
        if loosest and not name.startswith("torch"):
            v["right"] = (v["right"] and v["rms_error"] <= 1.05 * loosest["rms_error"] and
                          v["worst_error"] <= 1.5 * loosest["worst_error"])
        if exact:
            v["as_exact"] = v["rms_error"] <= 1.05 * exact["rms_error"]


# --- timing --------------------------------------------------------------------------------------


def cold_rounds(runs, flush, rounds, reps, nvml):
    """runs: name -> function. Returns name -> list over rounds of the median microseconds."""
    names = list(runs)
    medians = {n: [] for n in names}
    device = {n: {"mhz": [], "watt": []} for n in names}
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for r in range(-1, rounds):
        times = {n: [] for n in names}
        for rep in range(reps):
            turn = (r + rep) % len(names)
            for n in names[turn:] + names[:turn]:
                flush.zero_()
                start.record()
                runs[n]()
                end.record()
                if rep == 0 and r >= 0:
                    nvml.sample(device[n])
                end.synchronize()
                times[n].append(start.elapsed_time(end) * 1e3)
        if r >= 0:
            for n in names:
                medians[n].append(statistics.median(times[n]))
    return medians, device


def sustained(runs, guess, seconds, nvml):
    """runs: name -> list of functions (buffer sets). Segments in turn, one second each."""
    names = list(runs)
    total = {n: [0.0, 0] for n in names}
    device = {n: {"mhz": [], "watt": []} for n in names}
    segment = min(1.0, seconds)
    segments = max(1, round(seconds / segment))
    for s in range(segments + 1):
        turn = s % len(names)
        for n in names[turn:] + names[:turn]:
            batch = max(1, min(2000, int(20000 / guess[n])))
            spent, events = 0.0, []
            begin = time.monotonic()
            k = 0
            while time.monotonic() - begin < segment:
                e0, e1 = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                e0.record()
                for _ in range(batch):
                    runs[n][k % len(runs[n])]()
                    k += 1
                e1.record()
                events.append((e0, e1))
                if s > 0:
                    nvml.sample(device[n])
                if len(events) >= 3:
                    events[-3][1].synchronize()
            torch.cuda.synchronize()
            if s > 0:
                spent = events[0][0].elapsed_time(events[-1][1]) * 1e-3
                total[n][0] += spent
                total[n][1] += batch * len(events)
    return {n: (total[n][0] / total[n][1] * 1e6, total[n][0]) for n in names}, device


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def mean(values):
    return sum(values) / len(values) if values else None


def prepare(case, bundles, kernels, options):
    """Operand sets and, per contestant, one launch function per set."""
    first = bundles[0]
    sizes = dict(zip(first.sizes, case["values"]))
    sets = [contestants.make_set(first, case, options) for _ in range(2)]
    runs = {}
    for bundle, kernel in zip(bundles, kernels):
        own = bundle.case(sizes)
        if own is None:
            continue
        runs[bundle.label] = [kernel.prepare(own, [t[n["name"]] for n in bundle.tensors]) for t in sets]
    runs.update(contestants.peers(first, sets, options))
    return sizes, sets, runs


def check_case(first, sets, runs, options, result):
    """Judges every contestant; returns the names of those that are right."""
    names = contestants.operand_names(first, options)
    a, c = sets[0][names[0]], sets[0][names[2]]
    tc = first.tensors[first.index(names[2])]
    points = sample_points(c.shape[0], c.shape[1], options.samples)
    alpha = contestants.alpha_of(first)
    want, _ = contestants.sampled(sets[0], names, alpha, *points)
    checks = {}
    for name, made in runs.items():
        checks[name] = judge(made[0], c, (tc["abs"], tc["rel"]), points, want, name)
    if a.element_size() == 1:
        judge_by_peer(checks, a.shape[1], alpha, want)
    peer_c = None
    for name in sorted(runs, key=lambda n: not n.startswith("torch")):
        poison(c)
        runs[name][0]()
        torch.cuda.synchronize()
        if peer_c is None:
            peer_c = c.clone()
        checks[name]["max_difference_from_torch"] = float((c.float() - peer_c.float()).abs().max())
        checks[name]["elements_equal_to_torch"] = float((c == peer_c).float().mean())
        result["contestants"][name] = {"check": checks[name]}
    return [n for n in runs if checks[n]["right"]]


def measure_case(case, bundles, kernels, options, nvml, flush, sms):
    first = bundles[0]
    ia, ib, ic = (first.index(n) for n in (options.a, options.b, options.c))
    (m, k), (n, k2) = case["extent"][ia], case["extent"][ib]
    result = {"label": case["label"], "contestants": {}}
    if k != k2 or case["extent"][ic] != [m, n]:
        raise BundleError("%s: not C[M,N] = A[M,K] * B[N,K]^T" % first.folder)
    if case["grid"] == 0 or m == 0 or n == 0:
        result["state"] = "nothing to launch"
        return result
    torch.manual_seed(1)
    result["sizes"], sets, runs = prepare(case, bundles, kernels, options)
    right = check_case(first, sets, runs, options, result)
    result["state"] = "right" if len(right) == len(runs) else "wrong"
    runs = {x: r for x, r in runs.items() if x in right}
    if not any(x.startswith("torch") for x in runs):
        return result

    flops = 2.0 * m * n * k
    rate = 8192 if first.tensors[ia]["dtype"] in contestants.EIGHT_BIT else 4096
    medians, device = cold_rounds({x: r[0] for x, r in runs.items()}, flush, options.rounds,
                                  options.reps, nvml)
    best = min((x for x in runs if x.startswith("torch")), key=lambda x: statistics.median(medians[x]))
    result["best_peer_cold"] = best
    steady, steady_device = ({}, {})
    if options.sustained > 0:
        steady, steady_device = sustained(runs, {x: statistics.median(v) for x, v in medians.items()},
                                          options.sustained, nvml)
        best_us = min(us for x, (us, _) in steady.items() if x.startswith("torch"))
    for name in runs:
        entry = result["contestants"][name]
        entry["cold_us"] = spread(medians[name])
        entry["cold_tflops"] = flops / entry["cold_us"]["median"] * 1e-6
        entry["cold_rounds_us"] = medians[name]
        entry["cold_sm_mhz"], entry["cold_watt"] = mean(device[name]["mhz"]), mean(device[name]["watt"])
        # > 1: faster than the fastest of torch's
        entry["cold_ratio"] = spread([t / o for t, o in zip(medians[best], medians[name])])
        if steady:
            us, seconds = steady[name]
            entry["sustained_us"], entry["sustained_seconds"] = us, seconds
            entry["sustained_tflops"] = flops / us * 1e-6
            entry["sustained_ratio"] = best_us / us
            mhz = mean(steady_device[name]["mhz"])
            entry["sustained_sm_mhz"] = mhz
            entry["sustained_watt"] = mean(steady_device[name]["watt"])
            if mhz:
                entry["sustained_cycles"] = us * mhz
                entry["tensor_floor_cycles"] = flops / rate / sms
    return result


def number(value, form="%.1f"):
    return form % value if value is not None else "-"


def print_case(r):
    if r["state"] == "nothing to launch":
        print("%-28s nothing to launch" % r["label"])
        return
    for name, e in r["contestants"].items():
        v = e["check"]
        verdict = "right" if v["right"] else "WRONG"
        accuracy = "  rms error %.4g, worst %.4g of %.4g%s" % (
            v["rms_error"], v["worst_error"], v["bound"],
            ", as exact" if v.get("as_exact") else "") if "bound" in v else ""
        if "cold_us" not in e:
            print("%-28s %-20s %s: %d of %d samples wrong, finite %s, repeat identical %s, worst error %.3g" % (
                r["label"], name, verdict, v["wrong"], v["samples"], v["finite"],
                v["bit_identical_repeat"], v["worst_error"]) + accuracy)
            continue
        ratio = e["cold_ratio"]
        print("%-28s %-20s %s  %9.2f %7.1f  %.3f [%.3f..%.3f]  %9s %7s %6s %6s %6s  %s" % (
            r["label"], name, verdict, e["cold_us"]["median"], e["cold_tflops"], ratio["median"],
            ratio["min"], ratio["max"], number(e.get("sustained_us"), "%.2f"),
            number(e.get("sustained_tflops")), number(e.get("sustained_ratio"), "%.3f"),
            number(e.get("sustained_sm_mhz"), "%.0f"), number(e.get("sustained_watt"), "%.0f"),
            "%.1f %% of tensor floor" % (100 * e["tensor_floor_cycles"] / e["sustained_cycles"])
            if e.get("sustained_cycles") else "") + accuracy)
    sys.stdout.flush()


def geometric_mean(values):
    product = 1.0
    for v in values:
        product *= v
    return product ** (1.0 / len(values)) if values else None


def summarise(report):
    names = {n for r in report["cases"] for n in r["contestants"] if not n.startswith("torch")}
    for n in sorted(names):
        cold = [r["contestants"][n]["cold_ratio"]["median"] for r in report["cases"]
                if "cold_ratio" in r["contestants"].get(n, {})]
        steady = [r["contestants"][n]["sustained_ratio"] for r in report["cases"]
                  if "sustained_ratio" in r["contestants"].get(n, {})]
        report["summary"][n] = {"cold_ratio_geomean": geometric_mean(cold),
                                "sustained_ratio_geomean": geometric_mean(steady)}
        print("%s: geometric mean over %d cases: cold %s, sustained %s (time of torch's fastest / own time)" % (
            n, len(cold), number(geometric_mean(cold), "%.3f"), number(geometric_mean(steady), "%.3f")))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("bundles", nargs="+", metavar="BUNDLE")
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--reps", type=int, default=5, help="cold launches per round and contestant")
    p.add_argument("--sustained", type=float, default=3.0, help="seconds per contestant, 0: none")
    p.add_argument("--samples", type=int, default=4096)
    p.add_argument("--case", action="append", help="label of a case to run (default: all)")
    p.add_argument("--a", default="A")
    p.add_argument("--b", default="B")
    p.add_argument("--c", default="C")
    p.add_argument("--layouts", default="tn,nn",
                   help="torch.matmul's operand layouts, of tn,nn,nt,tt; the ratio is to the fastest")
    p.add_argument("--json", metavar="OUT")
    options = p.parse_args()
    if options.rounds < 1 or options.reps < 1 or options.samples < 8:
        p.error("--rounds and --reps are at least 1, --samples at least 8")
    try:
        bundles = [Bundle(b) for b in options.bundles]
    except BundleError as e:
        print("peer:", e, file=sys.stderr)
        return 2
    if torch is None or not torch.cuda.is_available():
        print("peer: skipped: no torch with a GPU here", file=sys.stderr)
        return 4
    if torch.cuda.get_device_capability()[0] != 9:
        print("peer: skipped: %s is no sm_90 GPU" % torch.cuda.get_device_name(), file=sys.stderr)
        return 4
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    driver, nvml = Driver(), Nvml()
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    kernels = [Kernel(driver, b, sms) for b in bundles]
    report = {"warpstave_peer": 1, "device": torch.cuda.get_device_name(), "sms": sms,
              "torch": torch.__version__, "cuda": torch.version.cuda, "rounds": options.rounds,
              "reps": options.reps, "flush_bytes": FLUSH_BYTES, "data": "normal(0, 1)",
              "bundles": {b.label: b.name for b in bundles}, "cases": [], "summary": {}}
    print("%s, %d SMs, torch %s; cold: medians of %d rounds x %d launches, L2 flushed; ratio > 1: faster than torch's fastest" % (
        report["device"], sms, torch.__version__, options.rounds, options.reps))
    print("%-28s %-20s %-5s  %9s %7s  %-23s  %9s %7s %6s %6s %6s" % (
        "case", "contestant", "check", "cold us", "TF/s", "ratio [min..max]", "sust. us", "TF/s", "ratio",
        "MHz", "W"))
    status = 0
    for case in bundles[0].cases:
        if options.case and case["label"] not in options.case:
            continue
        try:
            r = measure_case(case, bundles, kernels, options, nvml, flush, sms)
        except BundleError as e:
            print("peer:", e, file=sys.stderr)
            return 2
        report["cases"].append(r)
        print_case(r)
        if r["state"] == "wrong":
            status = 1
        torch.cuda.empty_cache()
    summarise(report)
    if options.json:
        part = options.json + ".part"
        with open(part, "w", encoding="utf-8") as f:
            json.dump(report, f, indent=1)
        os.replace(part, options.json)
    return status


if __name__ == "__main__":
    sys.exit(main())
