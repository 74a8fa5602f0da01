#!/usr/bin/env python3
"""Mistakes planted in other people's kernels: plants.py WARPSTAVE FOLDER [KERNEL …] [-v]

Of every kernel of upstream.py that is proved, copies are made with one line changed: a wait, an
arrival, a release or an initialisation left out, made twice, or with the other phase or slot. None
may be proved but those of HARMLESS, each with the reason why it is no mistake. Exit status 1 if one
is. The copies are written where temporary files go and deleted."""
import ast, os, re, sys, tempfile

import kinds, upstream

ACTS = re.compile(
    r"^\s+(?:\w+(?:, *\w+)* *= *)?(?:\w+\.)*(?:barrier_wait|barrier_arrive|wait|arrive|commit|release|acquire|"
    r"expect|init|store_wait|wait_group|commit_group|wgmma_wait|warpgroup_mma_wait|fence_async_shared)\(.*\)"
    r"(?:\.slot)?\s*(?:#.*)?$")
PHASE = re.compile(r"(phase(?:Idx)?\s*=\s*)([^,()]+(?:\([^()]*\))?[^,()]*)\)")
# (kernel or "*", text of the line, change): why it is no mistake
HARMLESS = {
    ("*", "fence_async_shared()", "left out"): "the compiler puts it within one partition",
    ("_attn_fwd_tle_ws_pipelined_pingpong_persistent", "acc = tle.gpu.wgmma_wait(1, acc)", "left out"):
        "one product is in flight, and it does not read what is released behind",
    ("_tle_ws_persistent_gemm_kernel",
     "tle.gpu.barrier_wait(empty_a[a1_idx], phaseIdx=phase)", "left out"):
        "both consumers have released their half before empty_b completes",
    ("_tle_ws_nonpersistent_gemm_kernel",
     "tle.gpu.barrier_wait(empty_a[a1_idx], phaseIdx=phase)", "left out"):
        "both consumers have released their half before empty_b completes",
    ("_tle_ws_nonpersistent_gemm_kernel",
     "tle.gpu.barrier_arrive(empty_a[last_a_idx], phaseIdx=last_phase)", "left out"):
        "the last one of the kernel: nobody waits for it",
    ("_tle_ws_nonpersistent_gemm_kernel",
     "tle.gpu.barrier_arrive(empty_a[last_a_idx], phaseIdx=last_phase)", "twice"):
        "the last one of the kernel: nobody waits for it",
    ("_tle_ws_nonpersistent_gemm_kernel",
     "tle.gpu.barrier_arrive(empty_b[last_buf], phaseIdx=last_phase)", "left out"):
        "the last one of the kernel: nobody waits for it",
    ("ws_tma_multi_slot_gemm_kernel",
     "tle.gpu.barrier_wait(a_empty[slot], phaseIdx=release_phase)", "left out"):
        "at the end of the kernel, before nothing",
    ("ws_tma_multi_slot_gemm_kernel",
     "tle.gpu.barrier_wait(b_empty[slot], phaseIdx=release_phase)", "left out"):
        "at the end of the kernel, before nothing",
    ("_warp_specialize_barrier_inline_kernel", "tle.gpu.barrier_wait(bar, phaseIdx=0)", "left out"):
        "nothing is handed over behind it",
    ("_attn_fwd_ws_pipelined", "tlx.barrier_arrive(v_empty, 1)", "left out"):
        "the last one of the kernel, behind the loop: nobody waits for it",
    ("_attn_fwd_ws_pipelined_pingpong", "tlx.barrier_arrive(v_empties[v_buf_id], 1)", "left out"):
        "the last one of the kernel, behind the loop: nobody waits for it",
    ("tle_flashmla_prefill_fwd", "sL_wg1_reader.release(1)", "left out"):
        "the slot is used once",
    ("tle_flashmla_prefill_fwd", "sL_wg0_reader.release(0)", "left out"):
        "the slot is used once",
    ("tle_flashmla_prefill_fwd", "sL_wg0_reader.release(0)", "next turn"):
        "the slot is used once",
}


def lines_of(path, kernel):
    """Numbers of the lines of the kernel and of the functions of the file that it names."""
    made_of = kinds.File(path)
    name = kernel.rpartition(".")[2]
    todo, seen, lines = list(made_of.known.get(name, [])), set(), set()
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        lines.update(range(node.lineno, node.end_lineno + 1))
        for n in ast.walk(node):
            if isinstance(n, ast.Name):
                todo += [f for f in made_of.known.get(n.id, [])
                         if isinstance(f, ast.ClassDef) or kinds.jit(f)]
    return sorted(lines)


def changes(line):
    """Names of changes and the lines that they make of one."""
    pad = line[:len(line) - len(line.lstrip())]
    value = re.match(r"\s+(\w+) *= *", line)
    if value and re.search(r"mma_wait\(", line):
        yield "left out", pad + "pass\n"
    elif not value:
        yield "left out", pad + "pass\n"
        if re.search(r"arrive\(|release\(|commit\(|commit_group\(|expect\(", line):
            yield "twice", line + line
    phase = PHASE.search(line)
    if phase and "arrive" not in line:
        yield "other phase", line[:phase.start(2)] + f"({phase[2]}) + 1" + line[phase.end(2):]
    number = re.search(r"mma_wait\((?:num_outstanding=)?0|wait_group\(0|pendings=0", line)
    if number:
        yield "one too few", line[:number.end() - 1] + "1" + line[number.end():]
    index = re.search(r"(?:acquire|wait|release|commit)\((\w+)\)", line)
    if index and "mbarrier" not in line:
        yield "next turn", line[:index.start(1)] + f"{index[1]} + 1" + line[index.end(1):]


def copies(path, kernel):
    text = open(path).read().splitlines(keepends=True)
    for at in lines_of(path, kernel):
        line = text[at - 1]
        if not ACTS.match(line):
            continue
        for change, wrong in changes(line):
            yield at, change, "".join(text[:at - 1] + [wrong] + text[at:])


def main():
    arguments = [a for a in sys.argv[1:] if a != "-v"]
    warpstave, root, wanted = arguments[0], arguments[1], arguments[2:]
    constants, worst, tried, kernels = upstream.table_of_constants(), 0, 0, 0
    done = set()
    for name, (kind, paths) in upstream.SETS.items():
        language = "gluon" if kind == "consan" else kind
        for path in upstream.files_of(root, paths) if kind != "consan" else ():
            base = os.path.basename(path)
            for kernel, case, broken in upstream.cases_of(warpstave, kind, path):
                if (base, kernel) in done or broken or (wanted and kernel not in wanted) or \
                        kinds.File(path).kind(kernel) != "asynchronous":
                    continue
                rows = constants.get((base, kernel)) or [({}, [])]
                proved = [r for r in rows
                          if upstream.judge(warpstave, language, path, kernel, *r)[0] == "proved"]
                if not proved:
                    continue
                done.add((base, kernel))
                n = dict.fromkeys(("refuted", "outside", "unread", "proved", "harmless"), 0)
                for at, change, text in copies(path, kernel):
                    with tempfile.NamedTemporaryFile("w", suffix="-" + base) as copy:
                        copy.write(text)
                        copy.flush()
                        verdicts = [upstream.judge(warpstave, language, copy.name, kernel, *r)
                                    for r in proved]
                    line = open(path).read().splitlines()[at - 1].strip()
                    kept = all(v[0] == "proved" for v in verdicts)
                    known = HARMLESS.get((kernel, line, change)) or HARMLESS.get(("*", line, change))
                    word = "harmless" if kept and known else min(
                        (v[0] for v in verdicts), key=("refuted", "outside", "unread", "proved").index)
                    n[word] += 1
                    worst += word == "proved"
                    if word == "proved" or "-v" in sys.argv:
                        print(f"{word:8} {base}:{at} {kernel} {change}: {line}", flush=True)
                kernels += 1
                tried += sum(n.values())
                print(f"{kernel}: " + ", ".join(f"{v} {k}" for k, v in n.items() if v), flush=True)
    print(f"{tried} plants in {kernels} kernels, {worst} proved")
    return worst > 0


if __name__ == "__main__":
    sys.exit(main())
