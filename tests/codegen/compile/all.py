#!/usr/bin/env python3
"""all.py WARPSTAVE [NAME…]: every export of every design compiles.

Takes all shipped designs (projects, tests/designs; NAME picks some), writes them as Gluon, TLE, TLX and CUDA
C++ (constants pinned; gluon.py --parameters tries others) and compiles what was written: Gluon with
Triton 3.6 for sm_90a (WARPSTAVE_TRITON: a Python that has it), TLE with FlagTree's front end
(WARPSTAVE_FLAGTREE: `python` of its source; the same Python), TLX with its own language package
(WARPSTAVE_TLX; the same Python), CUDA C++ with nvcc (WARPSTAVE_NVCC, else
the one in the path). Prints TAP, misses also last; a language whose tool is absent is skipped by name, a design that a language cannot say is skipped with the reason."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../../.."))
FOLDERS = ("tests/designs", "tests/designs/moves", "tests/designs/global", "tests/designs/memory", "tests/designs/attack",
           "tests/designs/consan")
LANGUAGES = {"gluon": "py", "tle": "py", "tlx": "py", "cuda": "cu"}


def designs(names):
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "projects/*/design.wstave"))):
        found["project-" + os.path.basename(os.path.dirname(path))] = path
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(ROOT, folder, "*.wstave"))):
            if "gfx950" not in path and "refuted" not in path:
                found[os.path.relpath(path, os.path.join(ROOT, "tests/designs"))[:-7].replace("/", "-")] = path
    return {n: p for n, p in found.items() if not names or n in names}


def tap_of(argv, files):
    """Verdicts of a compile script, in the order of `files`: (good, what it says)."""
    out = subprocess.run(argv + files, capture_output=True, text=True).stdout
    verdicts = [[m[1] == "ok", m[2]] for m in re.finditer(r"^(ok|not ok) \d+ - (.*)$", out, re.M)]
    if len(verdicts) != len(files):
        return [(False, out[-500:])] * len(files)
    for v, block in zip(verdicts, re.split(r"^(?:ok|not ok) \d+ - .*$", out, flags=re.M)[1:]):
        v[1] += "" if v[0] else " " + " ".join(line[2:] for line in block.splitlines() if line.startswith("# "))
    return verdicts


def nvcc_of(nvcc, files):
    for path in files:
        made = subprocess.run([nvcc, "-std=c++17", "-gencode", "arch=compute_90a,code=sm_90a", "-cubin", "-o",
                               os.devnull, path], capture_output=True, text=True)
        yield made.returncode == 0 and "warning" not in made.stderr, (made.stderr or "compiled").splitlines()[0]


def tools():
    """Per language a function from files to verdicts, or the name of what is missing."""
    triton, flagtree = os.environ.get("WARPSTAVE_TRITON"), os.environ.get("WARPSTAVE_FLAGTREE")
    nvcc = os.environ.get("WARPSTAVE_NVCC") or shutil.which("nvcc")
    script = [triton, "-B"] if triton else None
    return {
        "gluon": (lambda f: tap_of(script + [HERE + "/gluon.py"], f)) if script else "WARPSTAVE_TRITON",
        "tle": (lambda f: tap_of(script + [HERE + "/tle.py"], f)) if script and flagtree
               else "WARPSTAVE_TRITON and WARPSTAVE_FLAGTREE",
        "tlx": (lambda f: tap_of(script + [HERE + "/tlx.py"], f)) if script and os.environ.get("WARPSTAVE_TLX")
               else "WARPSTAVE_TRITON and WARPSTAVE_TLX",
        "cuda": (lambda f: list(nvcc_of(nvcc, f))) if nvcc else "WARPSTAVE_NVCC",
    }


def main():
    warpstave, names = sys.argv[1], sys.argv[2:]
    number, missed, table = 0, [], {}
    with tempfile.TemporaryDirectory() as folder:
        for language, tool in tools().items():
            written, refused = {}, {}
            for name, path in designs(names).items():
                file = os.path.join(folder, f"{name}.{LANGUAGES[language]}")
                made = subprocess.run([warpstave, "generate", "--force", "--pinned", "--as", language, path, "-o", file],
                                      capture_output=True, text=True)
                if made.returncode == 0:
                    written[name] = file
                else:
                    refused[name] = made.stderr.strip().splitlines()[-1]
            skip = isinstance(tool, str)
            verdicts = [(True, f"# SKIP no {tool}")] * len(written) if skip else tool(list(written.values()))
            for name, (good, text) in zip(written, verdicts):
                number += 1
                text = f"{'ok' if good else 'not ok'} {number} - {language} {name} {text}"
                missed += [] if good else [text]
                print(text, flush=True)
            for name, why in refused.items():
                number += 1
                named = "not supported by" in why
                text = f"{'ok' if named else 'not ok'} {number} - {language} {name} # SKIP {why}"
                missed += [] if named else [text]
                print(text, flush=True)
            table[language] = (len(written), "not compiled" if skip else sum(g for g, _ in verdicts), len(refused))
    print(f"1..{number}")
    for language, (written, compiled, refused) in table.items():
        print(f"# {language}: {written} written, {compiled} compiled, {refused} refused with the reason")
    for text in missed:
        print("# missed: " + text)
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
