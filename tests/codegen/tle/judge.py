"""judge.py EXPORT…: every file parses; those of the three kernels of the reference do the same
barrier operations, group by group, round by round. Prints TAP."""
import ast
import os
import sys

import reference
from stage import Stage, Tensor

failed = 0
count = 0


def report(good, title, detail=""):
    global failed, count
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {title}")
    if detail:
        print("# " + detail.replace("\n", "\n# "))


def spoken(what, renamed):
    """What an operation of the stage is called in reference.py."""
    if what[0] in ("load", "store"):
        return ("load", what[4][0], what[4][1]) if what[4] else (what[0],)
    if what[0] in ("acquire", "commit", "release", "wait") and what[1] in renamed:
        return (what[0], renamed[what[1]], *what[2:])
    return what


def compare(title, log, expected, renamed={}):
    for group, want in expected.items():
        have = [spoken(w, renamed) for w in log.get(group, [])]
        at = next((i for i, (a, b) in enumerate(zip(have, want)) if a != b),
                  min(len(have), len(want)))
        good = have == want
        report(good, f"{title}: {group}, {len(want)} operations", "" if good else
               f"operation {at}: {have[at:at + 3]}, reference {want[at:at + 3]}")


def allocations(title, stage, expected):
    for name, want in expected.items():
        b = stage.barriers[name]
        have = (b.n, b.count, b.init, b.bytes)
        report(have == want, f"{title}: {name} {want}", "" if have == want else f"has {have}")


def gemm(text):
    stage = Stage(text, programs=3)
    stage.pid = 1
    log = stage.run(Tensor("A", (300, 450)), Tensor("B", (450, 500)), Tensor("C", (300, 500)))
    compare("gemm", log, reference.gemm(tiles=4, blocks=8))
    allocations("gemm", stage, {
        "empty_a": (8, 1, "READY", None), "empty_b": (4, 2, "READY", None),
        "full_a": (8, 1, "PENDING", 8192), "full_b": (4, 1, "PENDING", 16384)})
    report(stage.launch["regs"] == [168, 168], "gemm: registers of the workers")


def attention(text):
    stage = Stage(text, programs=5)
    stage.pid = 2
    tensors = [Tensor(n, (1, 3, 640, 128)) for n in "QKVO"]
    log = stage.run(*tensors, Tensor("M", (1, 3, 640)))
    compare("attention", log, reference.attention(tiles=3, blocks=5))
    allocations("attention", stage, {
        "q_empties": (2, 1, "READY", None), "q_fulls": (2, 1, "PENDING", 16384),
        "k_empties": (2, 2, "READY", None), "k_fulls": (2, 1, "PENDING", 32768),
        "v_empties": (2, 2, "READY", None), "v_fulls": (2, 1, "PENDING", 32768),
        "pingpong": (2, 256, "PENDING", None)})
    report(stage.launch["regs"] == [232, 232], "attention: registers of the workers")


def mla(text):
    stage = Stage(text, programs=1)
    log = stage.run(Tensor("Q", (1, 3, 64, 576)), Tensor("KV", (1, 500, 576)),
                    Tensor("I", (1, 3, 256)), Tensor("LEN", (1, 3), scalar=200),
                    Tensor("O", (1, 3, 64, 512)), Tensor("LSE", (1, 3, 64)))
    compare("sparse MLA", log, reference.mla(pairs=2), {
        "sparse_mla_q": "q", "sparse_mla_kv": "kv", "sparse_mla_score": "score"})
    report(stage.launch["regs"] == [240, 168], "sparse MLA: registers of the workers")


def dynamic(text):
    """Claimed tiles: who claims stores the id, who takes loads it; all see the same number."""
    stage = Stage(text, programs=2)
    stage.claims = [3]
    log = stage.run(Tensor("A", (400, 128)), Tensor("B", (512, 128)), Tensor("C", (400, 512)))
    tiles = sum(w[0] == "arrive" and w[1].startswith("next_full") for w in log["load"])
    taken = sum(w[0] == "wait" and w[1].startswith("next_full") for w in log["mma"])
    report(tiles == taken == 2, "claimed tiles", f"{tiles} claimed, {taken} taken")


def closed(text):
    """Three rows of three blocks each: nine rounds and three closes, which readers meet there."""
    stage = Stage(text, programs=2)
    stage.closed = {3, 7, 11}
    log = stage.run(Tensor("R", (5,), scalar=3), Tensor("X", (5, 2048)), Tensor("Y", (5, 256)))
    said = [(w[0], 3 * w[3] + w[2]) for w in log["load"] if w[0] != "load"]
    want = [(what, use) for use in range(12)
            for what in (("close",) if use in stage.closed else ("acquire", "commit"))]
    report(said == want, "closed pipe: its writer", "" if said == want else f"{said}")
    said = [(w[0], 3 * w[3] + w[2]) for w in log["add"]]
    want = []
    for tile in range(3):
        want.append(("wait", 4 * tile))
        for use in range(4 * tile, 4 * tile + 3):
            want += [("release", use), ("wait", use + 1)]
        want.append(("release", 4 * tile + 3))
    report(said == want, "closed pipe: its reader", "" if said == want else f"{said}")


KERNELS = {"pipe-close": closed, "gemm-dynamic": dynamic, "gemm-tle": gemm, "attention-tle-pingpong": attention, "sparse-mla-pipes": mla}

for path in sys.argv[1:]:
    name = os.path.basename(path)[:-3]
    with open(path) as file:
        text = file.read()
    try:
        ast.parse(text)
        report(True, f"{name} parses")
    except SyntaxError as error:
        report(False, f"{name} parses", str(error))
        continue
    if name in KERNELS:
        KERNELS[name](text)
print(f"1..{count}")
sys.exit(failed > 0)
