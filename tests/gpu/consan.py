#!/usr/bin/env python3
"""Runs Gluon exports under Triton's concurrency sanitizer, and plain, beside our verdict.

    consan.py EXPORT.py=VERDICT [EXPORT.py=VERDICT ...] [--seconds 60] [--json OUT]

VERDICT is what `warpstave check` said: proved, or the rule that refuted the design. Every export runs its
own check() in a process of its own, once with TRITON_INSTRUMENTATION_MODE=consan and once without; what a
device assertion says, a hang (--seconds) and a wrong result are told apart. Agreement: the sanitizer is
silent and the result right where the design is proved, and reports or hangs where it is refuted. Exit
status: 0 they agree everywhere, 1 they do not, 4 no GPU or Triton.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time

CHILD = """
import importlib.util, sys, torch, triton
triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
spec = importlib.util.spec_from_file_location("export", sys.argv[1])
export = importlib.util.module_from_spec(spec)
spec.loader.exec_module(export)
right = export.check()
torch.cuda.synchronize()
sys.exit(0 if right else 3)
"""


def start(path, mode):
    env = dict(os.environ, CUDA_LAUNCH_BLOCKING="1", PYTHONUNBUFFERED="1")
    env.pop("TRITON_INSTRUMENTATION_MODE", None)
    if mode == "consan":
        env["TRITON_INSTRUMENTATION_MODE"] = "consan"
        env["TRITON_CACHE_DIR"] = os.path.join(env.get("TRITON_CACHE_DIR", "/tmp/triton-consan"), mode)
    return subprocess.Popen([sys.executable, "-c", CHILD, path], env=env, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def outcome(process, deadline):
    """("clean" | "reports" | "hangs" | "wrong" | "fails", text)"""
    try:
        text, _ = process.communicate(timeout=max(deadline - time.monotonic(), 1))
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "hangs", ""
    asserts = sorted(set(re.findall(r"Assertion `?(.*?)`? failed", text)))
    if asserts:
        return "reports", "; ".join(asserts)[:400]
    if process.returncode == 0:
        return "clean", ""
    return ("wrong", "") if process.returncode == 3 else ("fails", text.strip()[-300:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("exports", nargs="+", metavar="EXPORT.py=VERDICT")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--json")
    options = parser.parse_args()
    try:
        import torch
        import triton
    except ImportError:
        print("consan: skipped, needs torch and Triton", file=sys.stderr)
        return 4
    if not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] != 9:
        print("consan: skipped, needs an sm_90 GPU", file=sys.stderr)
        return 4
    rows = []
    deadline = time.monotonic() + options.seconds
    pairs = [e.split("=", 1) for e in options.exports]
    started = {(p, m): start(p, m) for p, _ in pairs for m in ("consan", "plain")}
    for path, verdict in pairs:
        row = {"export": os.path.basename(path), "verdict": verdict}
        row["consan"], row["says"] = outcome(started[path, "consan"], deadline)
        row["plain"], row["plain_says"] = outcome(started[path, "plain"], deadline)
        row["agree"] = (row["consan"] == "clean") == (verdict == "proved") and row["consan"] != "fails"
        rows.append(row)
        print("%-24s ours %-10s ConSan %-8s plain run %-6s %-9s %s" % (
            row["export"], verdict, row["consan"], row["plain"], "agree" if row["agree"] else "DISAGREE",
            row["says"] or row["plain_says"]), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump({"warpstave_consan": 1, "device": torch.cuda.get_device_name(0), "triton": triton.__version__,
                       "rows": rows}, f, indent=1)
    return 0 if all(r["agree"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
