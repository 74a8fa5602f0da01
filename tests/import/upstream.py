#!/usr/bin/env python3
"""What becomes of other people's kernels: upstream.py WARPSTAVE FOLDER [SET …] [-v]

FOLDER holds checkouts whose text is not part of this project. Printed is, for each set, how many
kernels were tried, became a design, were judged (proved or refuted), were judged right, and the
two worst mistakes: broken ones that were proved, right ones that were refuted; the same for those
that are asynchronous on Hopper at all (kinds.py says what that is); then the one reason of every
outside. Exit status 1 if one of the two happened.

Constants come from the file itself (its launch, its tests), else from upstream.def: rows of
FILE KERNEL NAME=VALUE … | CONDITION, …; several rows of a kernel are several configurations, and it
is judged when all of them are.

The truth of ConSan's tests is what they assert: who expects a device-side assert is broken. All
other kernels are taken for right but for those in BROKEN. DISPUTED ones are counted apart: there
the two sides mean different things, and both are right."""
import ast, glob, itertools, os, re, subprocess, sys

import kinds

# Two loads in flight into the same bytes: unordered writes to PTX, of which the sanitizer keeps the
# later one (both bring the same bytes).
DISPUTED = {("test_consan.py", "test_tma_wait_does_not_publish_overwritten_row.kernel")}
BROKEN = {("07-persistence.py", "persistent_matmul_pipelined_kernel"): "P-EXIT",
          # fewer rounds than stages: loads issued ahead are still in flight when the CTA ends
          ("hopper_gemm_ws.py", "_skinny_tma_kernel"): "P-EXIT"}
SETS = {
    "gluon 3.6": ("gluon", ["flagtree36/python/tutorials/gluon", "flagtree36/python/examples/gluon"]),
    "gluon 2026-08": ("gluon", ["fbtriton/python/tutorials/gluon", "fbtriton/python/examples/gluon"]),
    "consan 3.6": ("consan", ["flagtree36/python/test/gluon/test_consan.py"]),
    "consan 2026-08": ("consan", ["fbtriton/python/test/gluon/test_consan.py"]),
    "tle 3.6": ("tle", ["flagtree36/python/tutorials/tle", "flagtree36/python/test/tle"]),
    "tle 707": ("tle", ["flagtree707/third_party/tle/tutorials", "flagtree707/python/tutorials/tle",
                        "flagtree707/python/test/tle", "mega"]),
    "tlx": ("tlx", ["fbtriton/third_party/tlx/tutorials/hopper*.py"]),
}


class Text(str):
    """A value as upstream.def writes it: an expression."""


def table_of_constants():
    rows = {}
    for line in open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "upstream.def")):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        values, _, conditions = line.partition("|")
        file, kernel, *pairs = values.split()
        define = {n: Text(v) for n, v in (p.split("=", 1) for p in pairs)}
        assume = [c.strip() for c in conditions.split(",") if c.strip()]
        rows.setdefault((file, kernel), []).append((define, assume))
    return rows


def files_of(root, paths):
    for path in paths:
        path = os.path.join(root, path)
        yield from (f for f in sorted(glob.glob(path)) if os.path.isfile(f))
        for folder, _, names in sorted(os.walk(path)):
            yield from (os.path.join(folder, n) for n in sorted(names) if n.endswith(".py"))


def run(*command):
    p = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return p.returncode, p.stdout, p.stderr


def judge(warpstave, language, path, kernel, define, assume=()):
    """(verdict word or 'unread', reason)"""
    command = [warpstave, "check", "--from", language, "--kernel", kernel, path]
    for name, value in define.items():
        command += ["--define", f"{name}={value if isinstance(value, Text) else repr(value)}"]
    for condition in assume:
        command += ["--assume", condition]
    try:
        code, out, err = run(*command)
    except subprocess.TimeoutExpired:
        return "unread", "takes longer than two minutes"
    last = out.strip().splitlines()[-1] if out.strip() else ""
    text = last.split(": ", 1)[-1]
    for said, word in (("proved", "proved"), ("refuted", "refuted"), ("undecided", "outside")):
        if text.startswith(said):
            errors = re.findall(r"error (P-[A-Z]+)", out)
            return word, " ".join(sorted(set(errors))) if word == "refuted" else text
    return "unread", (err.strip().splitlines() or ["?"])[0].split(": ", 1)[-1]


def decorated(function):
    """The cases of pytest.mark.parametrize as dictionaries."""
    axes = []
    for d in function.decorator_list:
        if isinstance(d, ast.Call) and ast.unparse(d.func).endswith("parametrize"):
            names = re.split(r"[ ,]+", ast.literal_eval(d.args[0]))
            try:
                values = ast.literal_eval(d.args[1])
            except ValueError:
                return []
            axes.append([dict(zip(names, v if len(names) > 1 else [v])) for v in values])
    return [{k: v for part in case for k, v in part.items()} for case in itertools.product(*axes)]


def fails(function, case):
    """Whether the test wants a device-side assert for this case."""
    def holds(test):
        try:
            return bool(eval(compile(ast.Expression(test), "", "eval"), {}, dict(case)))
        except Exception:
            return False

    def walk(body):
        found = False
        for s in body:
            if isinstance(s, ast.Assert):
                text = ast.unparse(s.test)
                found |= "device-side assert" in text and " in str" in text
                found |= "result.exc is not None" in text
            elif isinstance(s, ast.Expr) and "assert_expected_cuda_failure" in ast.unparse(s):
                found = True
            elif isinstance(s, ast.If):
                wrapped = ast.unparse(s.test) == "run_wrapper"
                found |= walk(s.body if wrapped or holds(s.test) else s.orelse)
        return found
    return walk(function.body)


def consan_cases(path):
    tree = ast.parse(open(path).read())
    for f in tree.body:
        if not isinstance(f, ast.FunctionDef) or not f.name.startswith("test_"):
            continue
        marks = " ".join(ast.unparse(d) for d in f.decorator_list)
        if "blackwell" in marks.lower() and "or newer" not in marks or "hip" in marks.lower():
            continue
        if re.search(r"capability\(\)\[0\] < 10|capability\(\)\[0\] != 10", marks):
            continue
        clusters = [{"num_ctas": 1}] if "num_ctas" in {a.arg for a in f.args.args} else [{}]
        for case in decorated(f):
            for more in clusters:
                yield f, {**more, **case}, fails(f, {**more, **case})


def cases_of(warpstave, kind, path):
    language = "gluon" if kind == "consan" else kind
    code, out, err = run(warpstave, "check", "--from", language, "--list", path)
    kernels = out.split()
    if kind != "consan":
        for k in kernels:
            yield k, {}, (os.path.basename(path), k) in BROKEN
        return
    for f, case, broken in consan_cases(path):
        for k in kernels:
            if k.startswith(f.name + "."):
                yield k, case, broken


COLUMNS = ("tried", "design", "judged", "right", "broken proved", "right refuted", "disputed")


def judge_all(warpstave, language, path, kernel, case, rows):
    """The worst verdict of all configurations: unread, outside, then whatever is not proved."""
    worst = None
    order = {"unread": 0, "outside": 1, "refuted": 2, "proved": 3}
    for define, assume in rows or [({}, [])]:
        verdict = judge(warpstave, language, path, kernel, {**case, **define}, assume)
        if worst is None or order[verdict[0]] < order[worst[0]]:
            worst = verdict
    return worst


def count(n, verdict, broken, disputed):
    wrong = broken and verdict == "proved", not broken and verdict == "refuted" and not disputed
    n["tried"] += 1
    n["design"] += verdict != "unread"
    n["judged"] += verdict in ("proved", "refuted")
    n["right"] += (verdict == "refuted") if broken else (verdict == "proved")
    n["broken proved"] += wrong[0]
    n["right refuted"] += wrong[1]
    n["disputed"] += disputed and not broken and verdict == "refuted"
    return any(wrong)


def main():
    arguments = [a for a in sys.argv[1:] if a != "-v"]
    verbose = "-v" in sys.argv
    warpstave, root, wanted = arguments[0], arguments[1], arguments[2:]
    worst, table, reasons, constants = 0, [], {}, table_of_constants()
    for name, (kind, paths) in SETS.items():
        if wanted and name not in wanted:
            continue
        n, own = dict.fromkeys(COLUMNS, 0), dict.fromkeys(COLUMNS, 0)
        language = "gluon" if kind == "consan" else kind
        for path in files_of(root, paths):
            made_of, base = kinds.File(path), os.path.basename(path)
            for kernel, case, broken in cases_of(warpstave, kind, path):
                what = "asynchronous" if kind == "consan" else made_of.kind(kernel)
                verdict, why = judge_all(warpstave, language, path, kernel, case,
                                         constants.get((base, kernel)))
                disputed = (base, kernel) in DISPUTED
                bad = count(n, verdict, broken, disputed)
                if what == "asynchronous":
                    count(own, verdict, broken, disputed)
                short = re.sub(r"undecided: |; no error found.*|\[.*\]", "", why)
                if verdict in ("outside", "unread"):
                    plain = re.sub(r"line \d+: |\d+", "", short.replace(path, "").lstrip(":"))
                    reasons.setdefault((what, plain[:110]), []).append(f"{base}:{kernel}")
                if verbose or bad:
                    print(f"{'WRONG ' if bad else ''}{verdict:8} {'broken' if broken else 'right '} "
                          f"{what} {base} {kernel} {case or ''} {short[:160]}", flush=True)
        worst |= n["broken proved"] + n["right refuted"] > 0
        table.append((name, n, own))
    print(f"{'set':16}" + "".join(f"{c:>15}" for c in COLUMNS))
    print(f"{'':16}" + "".join(f"{'all  async':>15}" for _ in COLUMNS))
    for name, n, own in table:
        print(f"{name:16}" + "".join(f"{n[c]:9} {own[c]:5}" for c in COLUMNS))
    for what in ("asynchronous", "blackwell", "plain"):
        print(f"\n{what}: why not judged")
        for (kind, reason), who in sorted(reasons.items(), key=lambda r: -len(r[1])):
            if kind == what:
                print(f"{len(who):4}  {reason}   e.g. {who[0]}")
    return worst


if __name__ == "__main__":
    sys.exit(main())
