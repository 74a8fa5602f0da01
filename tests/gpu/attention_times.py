#!/usr/bin/env python3
"""Measures what projects/attention.pick chooses among: projects/attention-times.txt, for `pick --regret`.

attention_times.py bundles DIR   every design of the rule with the shapes below, in a folder for each head dimension and mask
attention_times.py run DIR       peers.py over each folder, beside cuDNN: outputs first, cold rounds by turns
attention_times.py read DIR      the table, on standard output

16,384 tokens with heads times dimension 2048, and other shapes, which tell what a tile costs beside its rounds.
"""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WARPSTAVE = os.environ.get("WARPSTAVE", os.path.join(ROOT, "build", "bin", "warpstave"))
PEERS = os.path.join(ROOT, "tests", "gpu", "peers.py")
# Head dimension and mask -> design and settings: those of the rule.
CHOICES = {
    (64, 0): [("attention-d64", ""), ("attention-d64", "ROWS=1")],
    (64, 1): [("attention-d64", "CAUSAL=1"), ("attention-d64", "CAUSAL=1 BM=128 LOCK=1")],
    (128, 0): [("attention-d128", "TURN=0"), ("attention-d128", "")],
    (128, 1): [("attention-d128", "CAUSAL=1"), ("attention-d128", "CAUSAL=1 TURN=0")],
}
LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
# Batch, heads of dimension 64 (half as many of 128), queries, keys.
OTHER = [(1, 16, 4096, 4096), (2, 8, 1000, 1000), (4, 32, 1536, 1536), (1, 40, 8192, 8192), (4, 32, 512, 8192),
        (2, 32, 1024, 3072), (32, 12, 384, 384), (3, 24, 2500, 2500), (1, 32, 2048, 2048)]


def cases(d):
    for s in LENGTHS:
        yield 16384 // s, 2048 // d, s, s
    for b, h, sq, sk in OTHER:
        yield b, h * 64 // d, sq, sk


def folder(directory, d, causal):
    return os.path.join(directory, "%d-%s" % (d, "causal" if causal else "full"))


def name(design, settings):
    return "-".join([design] + settings.replace("=", "").split())


def bundles(directory):
    failed = 0
    for (d, causal), designs in CHOICES.items():
        os.makedirs(folder(directory, d, causal), exist_ok=True)
        for design, settings in designs:
            command = [WARPSTAVE, "bundle", os.path.join(ROOT, "projects", design, "design.wstave"), "--cubin",
                       "-o", os.path.join(folder(directory, d, causal), name(design, settings))]
            for word in settings.split():
                command += ["--set", word]
            for b, h, sq, sk in cases(d):
                command += ["--case", "B=%d HQ=%d HKV=%d SQ=%d SK=%d" % (b, h, h, sq, sk)]
            failed |= subprocess.run(command, check=False).returncode != 0
    return failed


def run(directory):
    failed = 0
    for (d, causal), designs in CHOICES.items():
        at = folder(directory, d, causal)
        command = [sys.executable, PEERS, "--attention"] + [os.path.join(at, name(*x)) for x in designs]
        command += ["--rounds", "9", "--reps", "3", "--json", at + ".json"] + (["--causal"] if causal else [])
        failed |= subprocess.run(command, check=False).returncode != 0
    return failed


def read(directory):
    print("# design | set | sizes | GHz | microseconds | use")
    missing = 0
    for (d, causal), designs in CHOICES.items():
        try:
            with open(folder(directory, d, causal) + ".json", encoding="utf-8") as f:
                problems = json.load(f)["problems"]
        except FileNotFoundError:
            problems = []
        missing += len(problems) != len(list(cases(d)))
        for (b, h, sq, sk), problem in zip(cases(d), problems):
            for design, settings in designs:
                found = problem["contestants"].get(name(design, settings), {})
                if found.get("right") and "cold_us" in found:
                    print("%s | %s | D=%d CAUSAL=%d B=%d HQ=%d SQ=%d SK=%d | - | %.3f | fit" % (
                        design, settings, d, causal, b, h, sq, sk, found["cold_us"]["median"]))
                else:
                    missing += 1
    if missing:
        print("%d shapes or designs have no result in %s" % (missing, directory), file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("bundles", "run", "read"):
        sys.exit(__doc__)
    sys.exit({"bundles": bundles, "run": run, "read": read}[sys.argv[1]](sys.argv[2]))
