#!/usr/bin/env python3
"""Measures the launches of projects/cycles.txt again.

cycles.py bundles DIR   one bundle per design and setting, with the sizes of its rows as cases; run each with
                        warpstave-runner BUNDLE --no-check --runs 12 --sustained 0
cycles.py read DIR      the table with the clocks and times of those runs, on standard output
"""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(ROOT, "projects", "cycles.txt")
WARPSTAVE = os.environ.get("WARPSTAVE", os.path.join(ROOT, "build", "bin", "warpstave"))


def rows():
    """Lines of the table: a list of cells, or the text of a remark."""
    with open(TABLE, encoding="utf-8") as table:
        for line in table.read().splitlines():
            yield line if line.startswith("#") or not line.strip() else [c.strip() for c in line.split("|")]


def folder(directory, design, settings):
    words = settings.replace("=", "").replace(" ", "_")
    return os.path.join(directory, design + ("-" + words if words else ""))


def bundles(directory):
    os.makedirs(directory, exist_ok=True)
    cases = {}
    for row in rows():
        if isinstance(row, list):
            cases.setdefault((row[0], row[1]), []).append(row[2])
    for (design, settings), sizes in cases.items():
        command = [WARPSTAVE, "bundle", os.path.join(ROOT, "projects", design, "design.wstave"), "--traced",
                   "--rounds", "1", "--ctas", "0", "-o", folder(directory, design, settings)]
        for word in settings.split():
            command += ["--set", word]
        for size in sizes:
            command += ["--case", size]
        if subprocess.run(command, check=False).returncode:
            print("no bundle of %s %s: its rows stay as they were" % (design, settings), file=sys.stderr)


def measured(directory, row):
    """Clock in GHz and microseconds of a row's case, or None if it was not run."""
    try:
        with open(os.path.join(folder(directory, row[0], row[1]), "results.json"), encoding="utf-8") as f:
            cases = json.load(f)["cases"]
    except FileNotFoundError:
        return None
    want = dict(word.split("=") for word in row[2].split())
    for case in cases:
        if {name: str(value) for name, value in case["sizes"].items()} == want and "cold" in case:
            return case["cold"]["sm_mhz"] / 1e3, case["cold"]["median_us"]
    return None


def read(directory):
    missing = 0
    for row in rows():
        if isinstance(row, list):
            found = measured(directory, row)
            missing += found is None
            if found:
                row[3], row[4] = "%.4f" % found[0], "%.3f" % found[1]
            row = " | ".join(row)
        print(row)
    if missing:
        print("%d launches have no result in %s: left as they were" % (missing, directory), file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("bundles", "read"):
        sys.exit(__doc__)
    sys.exit(bundles(sys.argv[2]) if sys.argv[1] == "bundles" else read(sys.argv[2]))
