#!/usr/bin/env python3
"""Mistakes planted into PTX that is proved: ptx_plants.py WARPSTAVE FOLDER [SET …] [-v]

For every kernel of FOLDER (see upstream_ptx.py) that is proved as it stands, every mistake of
PLANTS is made at every place it can be made, one at a time, in a copy. None may be proved, but
those that break nothing: SAFE says which and why. Exit status 1 if another one is."""
import os, re, subprocess, sys, tempfile, glob

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import upstream_ptx  # noqa: E402

WAIT = r"(?m)^\s*mbarrier\.try_wait[^\n]*\n(\s*@!?\w+ +bra[^\n]*\n)(\s*bra[^\n]*\n)?"
# name: (pattern, what it becomes; a function of the match)
PLANTS = {
    "no wait": (WAIT, lambda m: ""),
    "other parity": (r"(mbarrier\.try_wait\.parity[^\n]*\], )(%\w+);", lambda m: m[0].replace(m[2] + ";", "%planted;")),
    "no initialisation": (r"(?m)^[^\n]*mbarrier\.init[^\n]*\n", lambda m: ""),
    "one more to come": (r"(mbarrier\.init[^\n]*\], )(\d+);", lambda m: f"{m[1]}{int(m[2]) + 1};"),
    "no arrival": (r"(?m)^[^\n]*mbarrier\.arrive\.(?!expect)[^\n]*\n", lambda m: ""),
    "two arrivals": (r"(?m)^[^\n]*mbarrier\.arrive\.[^\n]*\n", lambda m: m[0] + m[0]),
    "half of the bytes": (r"(arrive\.expect_tx[^\n]*, )(\d+);", lambda m: f"{m[1]}{int(m[2]) // 2};"),
    "no expect": (r"(?m)^[^\n]*arrive\.expect_tx[^\n]*\n", lambda m: ""),
    "no proxy fence": (r"(?m)^[^\n]*fence\.proxy\.async[^\n]*\n", lambda m: ""),
    "products run on": (r"(wgmma\.wait_group\.sync\.aligned\s+)(\d+);", lambda m: f"{m[1]}{int(m[2]) + 1};"),
    "copies run on": (r"(cp\.async\.wait_group\s+)(\d+);", lambda m: f"{m[1]}{int(m[2]) + 1};"),
    "stores run on": (r"(cp\.async\.bulk\.wait_group\.read\s+)(\d+);", lambda m: f"{m[1]}{int(m[2]) + 1};"),
    # barriers that Triton emits where none is needed are no mistakes: only those before a bulk store
    "no barrier": (r"(fence\.proxy\.async[^\n]*\n(?:[^\n]*\n){0,3}?)\s*bar\.sync[^\n]*\n(?=(?:[^\n]*\n){0,14}?[^\n]*global\.shared::cta)", lambda m: m[1]),
    # waits for the phase of an arrival, in a loop of C++ around the test
    "phase of a number": (r"(mbarrier\.try_wait\.shared\.b64 p, \[%r\d+\], )%rd\d+;", lambda m: m[1] + "0;"),
    "waits elsewhere": (r"(mbarrier\.try_wait\.shared\.b64 p, \[%r\d+)\]", lambda m: m[1] + "+8]"),
    "goes on at once": (r"selp\.b32 (%r\d+), 1, 0, p;", lambda m: f"selp.b32 {m[1]}, 1, 1, p;"),
    "goes on too early": (r"selp\.b32 (%r\d+), 1, 0, p;", lambda m: f"selp.b32 {m[1]}, 0, 1, p;"),
    "wraps too late": (r"setp\.eq\.s32 \t(%p\d+), (%r\d+), ([35]);(?=\n\tselp\.b32 \t%r\d+, 0)",
                       lambda m: f"setp.eq.s32 \t{m[1]}, {m[2]}, {int(m[3]) + 1};"),
    "copied elsewhere": (r"(cp\.async\.bulk\.tensor[^\n]*mbarrier[^\n]* \[%r\d+)\](?=, \[%rd)", lambda m: m[1] + "+1024]"),
    "no commit": (r"(?m)^[^\n]*(wgmma|cp\.async|cp\.async\.bulk)\.commit_group[^\n]*\n", lambda m: ""),
}
# (set, or part of the kernel's name; plant): the places, counted from 0, that break nothing. Products of one warp group end in
# their order, and another wait for 0 stands before the sum is read; the bytes that the second fence
# of a round is for were fenced before their store; whether plain reads need a fence before the async
# proxy writes is an assumption of the verdict (P-WAR).
SAFE = {
    ("triton-matmul-pipelined", "products run on"): {1},
    ("triton-persistent", "products run on"): {0},
    ("triton-persistent-grouped", "products run on"): {0},
    ("triton-persistent", "no proxy fence"): {1},
    ("triton-persistent-grouped", "no proxy fence"): {1},
    ("triton-add-specialized", "no proxy fence"): {0},
    # behind mbarrier.init of the own CTA; before products of what copies brought; before the second
    # and later stores of bytes that the first fence covers; all stores are in one group then
    ("fastcu", "no proxy fence"): {0},
    ("tk_level06", "no proxy fence"): {0},
    # the wait behind the last store is for all of them
    ("tk_level08", "no proxy fence"): {0, 2, 3, 4}, ("tk_level08", "stores run on"): {0, 1, 2},
    ("bwd_attend_prep", "no proxy fence"): {1, 2, 3},
    ("bwd_attend_prep", "no commit"): {0, 1, 2},
    ("fwd_attend", "no proxy fence"): {0, 1},
    ("fwd_attend", "no commit"): {2},
}


def planted(text, name):
    """(line, copy) for every place."""
    pattern, becomes = PLANTS[name]
    for m in re.finditer(pattern, text):
        with_it = becomes(m)
        before, behind = text[: m.start()], text[m.end():]
        if name == "other parity":
            start = before.rfind("\n\t// begin inline asm")
            if start < 0:
                continue
            before = (before[:start] + f"\n\txor.b32 \t%planted, {m[2]}, 1;" + before[start:])
            before = re.sub(r"(\.reg \.pred[^\n]*\n)", r"\1\t.reg .b32 %planted;\n", before, count=1)
        yield text.count("\n", 0, m.start()) + 1, before + with_it + behind


def main():
    arguments = [a for a in sys.argv[1:] if a != "-v"]
    warpstave, root, wanted = arguments[0], arguments[1], arguments[2:]
    made = wrong = kernels = 0
    verdicts = {}
    for path in sorted(glob.glob(os.path.join(root, "*.ptx"))):
        name = os.path.basename(path).split(".")[0]
        if wanted and name not in wanted:
            continue
        text = open(path).read()
        for kernel in upstream_ptx.kernels_of(path):
            define, assume = upstream_ptx.defines(name, kernel), upstream_ptx.ASSUME.get(name, [])
            if upstream_ptx.judge(warpstave, path, kernel, define, assume)[0] != "proved":
                continue
            kernels += 1
            start = text.index(".entry " + kernel)
            end = text.find(".entry ", start + 1)
            head, own, tail = text[:start], text[start:end if end > 0 else None], text[end:] if end > 0 else ""
            for plant in PLANTS:
                for nth, (line, copy) in enumerate(planted(own, plant)):
                    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
                        file.write(head + copy + tail)
                        file.flush()
                        verdict = upstream_ptx.judge(warpstave, file.name, kernel, define, assume)[0]
                    made += 1
                    verdicts[verdict] = verdicts.get(verdict, 0) + 1
                    safe = any(nth in places for (of, what), places in SAFE.items()
                               if what == plant and (of == name or of in kernel))
                    if verdict == "proved" and not safe:
                        wrong += 1
                        print(f"PROVED {name} {plant} ({nth}), line {head.count(chr(10)) + line}", flush=True)
                    elif "-v" in sys.argv:
                        print(f"{verdict} {name} {plant} ({nth})", flush=True)
    print(f"{made} mistakes in {kernels} kernels: " + ", ".join(f"{n} {v}" for v, n in sorted(verdicts.items())))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
