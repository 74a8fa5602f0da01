#!/usr/bin/env python3
"""What becomes of other people's PTX: upstream_ptx.py WARPSTAVE FOLDER [SET …] [-v]

FOLDER holds .ptx files that are not part of this project; a set is the name of a file up to the
first dot. Every kernel that holds an mbarrier, a wgmma or a cp.async is tried. Printed is, for each
set, how many were tried, became a design, were judged, were judged right, the two worst mistakes and
the longest time; then the one reason of every outside. Exit status 1 if one of the two happened.

All are taken for right but those in BROKEN."""
import glob, os, re, subprocess, sys, time

# (set, part of the kernel's name): rule. The last load of the tutorial's pipeline is awaited by nobody.
# DeepGEMM ends with a bulk store that nobody waits for (disputed: with the wait it is proved).
# fast.cu 8 and 9 arrive in a CTA of the cluster that may have ended; 10 to 12 do that, and store what was
# written by plain stores without a fence of the async proxy.
BROKEN = {("triton-persistent-pipelined", ""): "P-EXIT", ("dg_bf16", ""): "P-EXIT",
          ("fastcu", "matmulKernel8"): "P-CLU", ("fastcu", "matmulKernel9"): "P-CLU",
          ("fastcu", "matmulKernel10"): "P-PROXY", ("fastcu", "matmulKernel11"): "P-PROXY",
          ("fastcu", "matmulKernel12"): "P-PROXY"}
# Sizes of clusters that the launch gives and the text does not: (set, part of the kernel's name).
THREADS = {"tk_level05": 128, "tk_level06": 128, "tk_level07": 256, "tk_level08": 384}
ASSUME = {"tk_level06": ["_Z6kernel14matmul_globals_param_0_1152 >= 1"],
          "tk_level08": ["_Z6kernel14matmul_globals_param_0_1152 >= 1"]}
CLUSTER = {("cutlass48", ""): 2, ("dg_bf16", "ELj256ELj2ELb1"): 2, ("dg_fp8", ""): 2, ("cutlass49", ""): 2, ("fa3_hdim128", ""): 1, ("tk_gemm", ""): 1, ("tk_mha", ""): 1}
PIPELINE = re.compile(r"mbarrier\.|wgmma\.|cp\.async")


def kernels_of(path):
    text = open(path).read()
    parts = re.split(r"(?m)^.*\.entry\s+", text)[1:]
    for part in parts:
        if PIPELINE.search(part):
            yield re.match(r"[\w$]+", part).group(0)


def defines(name, kernel):
    given = [f"cluster={c}" for (s, part), c in CLUSTER.items() if s == name and part in kernel]
    return given + [f"NTID={n}" for s, n in THREADS.items() if s == name]


def judge(warpstave, path, kernel, define, assume):
    command = [warpstave, "check", "--from", "ptx", "--kernel", kernel, path]
    for d in define:
        command += ["--define", d]
    for a in assume:
        command += ["--assume", a]
    start = time.time()
    try:
        p = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "unread", "takes longer than two minutes", 120.0
    took = time.time() - start
    if p.returncode < 0:
        return "unread", f"ends by signal {-p.returncode}", took
    last = (p.stdout.strip().splitlines() or [""])[-1].split(": ", 1)[-1]
    for said, word in (("proved", "proved"), ("refuted", "refuted"), ("undecided", "outside")):
        if last.startswith(said):
            errors = sorted(set(re.findall(r"error (P-[A-Z]+)", p.stdout + p.stderr)))
            return word, " ".join(errors) if word == "refuted" else last, took
    return "unread", (p.stderr.strip().splitlines() or ["?"])[0], took


def main():
    arguments = [a for a in sys.argv[1:] if a != "-v"]
    verbose = "-v" in sys.argv
    warpstave, root, wanted = arguments[0], arguments[1], arguments[2:]
    table, reasons, worst = [], {}, 0
    for path in sorted(glob.glob(os.path.join(root, "*.ptx"))):
        name = os.path.basename(path).split(".")[0]
        if wanted and name not in wanted:
            continue
        n = dict.fromkeys(("tried", "design", "judged", "right", "broken proved", "right refuted"), 0)
        longest = 0.0
        for kernel in kernels_of(path):
            rules = [rule for (s, part), rule in BROKEN.items() if s == name and part in kernel]
            broken = bool(rules)
            verdict, why, took = judge(warpstave, path, kernel, defines(name, kernel), ASSUME.get(name, []))
            longest = max(longest, took)
            n["tried"] += 1
            n["design"] += verdict != "unread"
            n["judged"] += verdict in ("proved", "refuted")
            # refuted, and for the mistake that it has
            n["right"] += verdict == "refuted" and rules[0] in why if broken else verdict == "proved"
            n["broken proved"] += broken and verdict == "proved"
            n["right refuted"] += not broken and verdict == "refuted"
            bad = verdict == ("proved" if broken else "refuted")
            short = re.sub(r"undecided: |; no error found.*|\[.*\]", "", why)
            if verdict in ("outside", "unread"):
                plain = re.sub(r"line \d+: |, from [\w.]+:\d+,|\d+", "", short)
                reasons.setdefault(plain[:110], []).append(f"{name}:{kernel[:40]}")
            if verbose or bad:
                print(f"{'WRONG ' if bad else ''}{verdict:8} {took:5.1f}s {name} {kernel[:60]} {short[:170]}",
                      flush=True)
        worst |= n["broken proved"] + n["right refuted"] > 0
        table.append((name, n, longest))
    print(f"{'set':24}{'tried':>6}{'design':>7}{'judged':>7}{'right':>6}{'broken proved':>14}"
          f"{'right refuted':>14}{'longest':>9}")
    for name, n, longest in table:
        print(f"{name:24}{n['tried']:6}{n['design']:7}{n['judged']:7}{n['right']:6}"
              f"{n['broken proved']:14}{n['right refuted']:14}{longest:8.1f}s")
    for reason, who in sorted(reasons.items(), key=lambda r: -len(r[1])):
        print(f"{len(who):4}  {reason}   e.g. {who[0]}")
    return worst


if __name__ == "__main__":
    sys.exit(main())
