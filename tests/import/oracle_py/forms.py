"""Slots and parities of a ring, written in many ways: forms.py WARPSTAVE [--count N] [--seed S]
[--seconds T] [--out FOLDER] RING, where RING is tests/import/gluon/ring.py.

Each text is the ring with a slot and a parity put together from a few forms, most of them right, some
wrong for some sizes; verdicts are judged as by drive.py."""
import argparse
import collections
import random
import sys
import time
import drive

SLOT = ["C % N", "(C + N) % N", "C - C // N * N", "C % (2 * N) % N", "(C + 2 * N) % N", "(C - N) % N", "(N + C) % N",
        "(C + kt * N) % N", "(C - kt * N) % N", "C & (N - 1)", "C % N % N", "(C + tile * N) % N", "(C - tile * N) % N",
        "(C + 3) % N", "min(C % N, N - 1)", "max(C % N, 0)", "gl.where(C % N == N, 0, C % N)", "(C % N + N) % N",
        "(C * 1) % N", "(C % (N * kt)) % N", "(5 * C) % N", "(N - 1 - C % N)", "(-C) % N", "abs(C % N)", "C % 4",
        "C % 3", "(C % N).to(gl.int8)", "C.to(gl.int8) % N", "(C + N * 2) % (2 * N) % N", "C % (N + 0)"]
PARITY = ["C // N % 2", "C // N & 1", "C % (2 * N) // N", "(C // N + 2) % 2", "(C + 2 * N) // N % 2",
          "(C - 2 * N) // N % 2", "C // N - C // N // 2 * 2", "(C // N + 2 * kt) % 2", "(C // N - 2 * kt) % 2",
          "(C // N + 2 * tile) % 2", "(C // N - 2 * tile) % 2", "1 - (C // N + 1) % 2", "C // N % 4 % 2",
          "C // N % 3 % 2", "C % (3 * N) // N % 2", "C % (4 * N) // N % 2", "min(C // N % 2, 1)", "max(C // N % 2, 0)",
          "gl.where(C // N % 2 == 0, 0, 1)", "C // N % 2 ^ 0", "(C // N ^ 1) % 2 ^ 1", "(C // N + 1) % 2 ^ 1",
          "C // N * 3 % 2", "C // N * C // N % 2", "(C // N) * (C // N) % 2", "C // N % 2 * 1", "C // N % (2 * 1)",
          "(C // N + 4) % 2", "(C // N - 4) % 2", "(C // N).to(gl.int8) % 2", "(C // N % 2).to(gl.int1)",
          "C // (N * 1) % 2", "C // N // 1 % 2", "(C + N * 2) % (2 * N) // N", "(C * 2 // N) // 2 % 2",
          "C // 4 % 2", "C >> 2 & 1", "abs(C // N) % 2", "-(C // N) % 2", "(kt * 2 + C // N) % 2",
          "(C // N + kt * kt - kt) % 2", "(C // N + kt * (kt + 1)) % 2", "(C // N + tile * tile - tile) % 2",
          "(C // N % 2 + 2) % 2", "C // N % 2 + 0", "1 ^ 1 ^ C // N % 2", "(C // N | 2) & 1", "C // N % -2"]
COUNT = [("c = 0", "c += 1", "c"), ("c = 0", "c = c + 1", "c"), ("c = N", "c += 1", "(c - N)"), ("c = 0", "c += 1", "c"),
         ("c = 0", "c = (c + 1) % (2 * N)", "c"), ("c = 0", "c = (c + 1) % (4 * N)", "c"), ("c = 1", "c += 1", "(c - 1)"),
         ("c = -1", "c += 1", "(c + 1)"), ("c = 0", "c = (c + 1) % (3 * N)", "c"), ("c = 0", "c += 2", "(c // 2)"),
         ("c = 0", "c -= 1", "(-c)"), ("c = 0", "c = (c + 1) % (2 * N * kt)", "c"), ("c = 2 * N", "c += 1", "c"),
         ("c = -N", "c += 1", "(c + N)"), ("c = -2 * N", "c += 1", "c"), ("c = 0", "c = c + 1 if kt > 0 else c", "c")]
BRING = """            mbarrier.wait(empty.index(i), ph)
            mbarrier.expect(full.index(i), x_desc.block_type.nbytes)
            tma.async_copy_global_to_shared(x_desc, [tile * 64, k * 64], full.index(i), ring.index(i))
            i += 1
            if i == N:
                i = 0
                ph ^= 1
"""
TAKE = """            mbarrier.wait(full.index(c % N), c // N % 2)
            value = ring.index(c % N).load(L)
            mbarrier.arrive(empty.index(c % N), count=1)
            c += 1
"""


def text(ring, rng):
    """A ring; and what was chosen."""
    slot, parity = ("C % N", rng.choice(PARITY)) if rng.random() < 0.5 else (rng.choice(SLOT), rng.choice(PARITY[:8]))
    first, more, count = rng.choice(COUNT) if rng.random() < 0.4 else COUNT[0]
    slot, parity = slot.replace("C", count), parity.replace("C", count)
    if rng.random() < 0.5:
        new = TAKE.replace("c // N % 2", parity).replace("c += 1", more)
        for old in ("full.index(c % N)", "ring.index(c % N)", "empty.index(c % N)"):
            if rng.random() < 0.8:
                new = new.replace(old, old.replace("c % N", slot))
        return ring.replace(TAKE, new).replace("    c = 0\n", f"    {first}\n"), f"take {slot}; {parity}; {more}"
    parity = f"({parity}) ^ 1" if rng.random() < 0.8 else f"({parity} + 1) % 2"
    new = BRING.split("            i += 1")[0].replace("ph)", f"{parity})").replace("index(i)", f"index({slot})")
    return ring.replace(BRING, new + f"            {more}\n").replace("    i = 0\n    ph = 1\n", f"    {first}\n"), \
        f"bring {slot}; {parity}; {more}"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("ring")
    for n, d in (("count", 100), ("seed", 1), ("seconds", 0)):
        p.add_argument(f"--{n}", type=int, default=d)
    p.add_argument("--out", default="/tmp")
    o = p.parse_intermixed_args()
    with open(o.ring) as f:
        ring = f.read()
    assert BRING in ring and TAKE in ring
    counts, false, began = collections.Counter(), 0, time.time()
    for i in range(o.count):
        if o.seconds and time.time() - began > o.seconds:
            break
        made, what = text(ring, random.Random(f"forms {o.seed} {i}"))
        verdict, said = drive.asked(o.program, "gluon", made, o.out)
        if verdict not in ("proved", "refuted"):
            counts[verdict, ""] += 1
            continue
        result, v = drive.judged(verdict, "gluon", made, said, i, False)
        counts[verdict, result] += 1
        if result in ("FALSE", "alarm"):
            false += result == "FALSE"
            print(f"{o.seed}/{i} {what}: {verdict}, {result} {drive.rules(said)} {v.say()}", flush=True)
            drive.kept(o.out, f"form-{result}-{o.seed}-{i}", "gluon", f"{result} ({verdict}): {what}\n{v.say()}", made)
    print(f"forms, seed {o.seed}: " + ", ".join(f"{a} {b}: {n}" for (a, b), n in sorted(counts.items())), flush=True)
    sys.exit(1 if false else 0)


if __name__ == "__main__":
    main()
