#!/usr/bin/env python3
"""Measures what `warpstave search --measure=N --keep=DIR` kept, on another machine than the one that searched.

candidates.py run DIR gemm|attention [BUNDLE ...]   every design of DIR/designs.txt and the bundles beside them, in two
                                                    passes of opposite order: DIR/pass-1.json, DIR/pass-2.json
candidates.py read DIR NAME                         rows of projects/candidates.txt, of the search from NAME; on standard
                                                    error rank correlation, error, and the designs beside the bundles
"""
import json
import os
import statistics
import subprocess
import sys

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers.py")


def designs(directory):
    """number, edits, predicted cycles, what was done: as text."""
    with open(os.path.join(directory, "designs.txt"), encoding="utf-8") as f:
        return [[c.strip() for c in line.split("|", 3)] for line in f if not line.startswith("#")]


def run(directory, kind, beside):
    own = [os.path.join(directory, d[0]) for d in designs(directory)]
    own = [b for b in own if os.path.exists(os.path.join(b, "bundle.txt"))]
    failed = 0
    for number, order in ((1, own + beside), (2, own[::-1] + beside[::-1])):  # the first one's case is the launch
        command = [sys.executable, PEERS, "--" + kind] + order
        command += ["--rounds", "9", "--reps", "3", "--json", os.path.join(directory, "pass-%d.json" % number)]
        failed |= subprocess.run(command, check=False).returncode != 0
    return failed


def times(directory, number):
    """Contestant -> microseconds, of those that were right."""
    with open(os.path.join(directory, "pass-%d.json" % number), encoding="utf-8") as f:
        found = json.load(f)["problems"][0]["contestants"]
    for name, c in found.items():
        if not c["right"]:
            print("%s: %s" % (name, c.get("check", c.get("error"))), file=sys.stderr)
    return {name: c["cold_us"]["median"] for name, c in found.items() if c["right"] and "cold_us" in c}


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    rank = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            rank[order[k]] = (i + j) / 2
        i = j + 1
    return rank


def correlation(a, b):
    """Spearman."""
    return statistics.correlation(ranks(a), ranks(b)) if len(a) > 2 and len(set(a)) > 1 and len(set(b)) > 1 else float("nan")


def read(directory, name):
    first, second = times(directory, 1), times(directory, 2)
    rows = [d for d in designs(directory) if d[0] in first and d[0] in second]
    for d in rows:
        print("%s | %s | %s | %s | %.2f | %.2f" % (name, d[0], d[1], d[2], first[d[0]], second[d[0]]))
    us = [(first[d[0]] + second[d[0]]) / 2 for d in rows]
    cycles = [float(d[2]) for d in rows]
    if len(rows) > 2:
        ratio = statistics.median(u / c for u, c in zip(us, cycles))
        error = [abs(u / c / ratio - 1) for u, c in zip(us, cycles)]
        print("%d designs, rank correlation %.2f, of one pass with the other %.2f; error beside the median ratio %.1f %%, "
              "largest %.1f %%" % (len(rows), correlation(cycles, us), correlation([first[d[0]] for d in rows],
                                                                                  [second[d[0]] for d in rows]),
                                   100 * statistics.mean(error), 100 * max(error)), file=sys.stderr)
        best = min(range(len(us)), key=lambda i: us[i])
        print("fastest: %s, %.2f us; %s" % (rows[best][0], us[best], rows[best][3]), file=sys.stderr)
    for other in sorted(set(first) & set(second) - {d[0] for d in rows}, key=lambda o: first[o]):
        print("%s: %.2f, %.2f us" % (other, first[other], second[other]), file=sys.stderr)
    return 0 if rows else 1


if __name__ == "__main__":
    a = sys.argv[1:]
    if len(a) >= 3 and a[0] == "run" and a[2] in ("gemm", "attention"):
        sys.exit(run(a[1], a[2], a[3:]))
    if len(a) == 3 and a[0] == "read":
        sys.exit(read(a[1], a[2]))
    sys.exit(__doc__)
