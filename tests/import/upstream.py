#!/usr/bin/env python3
"""What becomes of other people's kernels: upstream.py WARPSTAVE FOLDER [SET …] [-v]

FOLDER holds checkouts whose text is not part of this project. Printed is, for each set, how many
kernels were tried, became a design, were judged (proved or refuted), were judged right, and the
two worst mistakes: broken ones that were proved, right ones that were refuted; then the one reason
of every outside. Exit status 1 if one of the two happened.

The truth of ConSan's tests is what they assert: who expects a device-side assert is broken. All
other kernels are taken for right but for those in BROKEN."""
import ast, itertools, json, os, re, subprocess, sys

BROKEN = {("07-persistence.py", "persistent_matmul_pipelined_kernel"): "P-EXIT"}
SETS = {
    "gluon 3.6": ("gluon", ["flagtree36/python/tutorials/gluon", "flagtree36/python/examples/gluon"]),
    "gluon 2026-08": ("gluon", ["fbtriton/python/tutorials/gluon", "fbtriton/python/examples/gluon"]),
    "consan 3.6": ("consan", ["flagtree36/python/test/gluon/test_consan.py"]),
    "consan 2026-08": ("consan", ["fbtriton/python/test/gluon/test_consan.py"]),
    "tle 3.6": ("tle", ["flagtree36/python/tutorials/tle", "flagtree36/python/test/tle"]),
    "tle 707": ("tle", ["flagtree707/third_party/tle/tutorials", "flagtree707/python/tutorials/tle",
                        "flagtree707/python/test/tle", "mega"]),
}


def files_of(root, paths):
    for path in paths:
        path = os.path.join(root, path)
        if os.path.isfile(path):
            yield path
        for folder, _, names in sorted(os.walk(path)):
            yield from (os.path.join(folder, n) for n in sorted(names) if n.endswith(".py"))


def run(*command):
    p = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return p.returncode, p.stdout, p.stderr


def judge(warpstave, language, path, kernel, define):
    """(verdict word or 'unread', reason)"""
    command = [warpstave, "check", "--from", language, "--kernel", kernel, path]
    for name, value in define.items():
        command += ["--define", f"{name}={value!r}"]
    try:
        code, out, err = run(*command)
    except subprocess.TimeoutExpired:
        return "unread", "takes longer than two minutes"
    last = out.strip().splitlines()[-1] if out.strip() else ""
    text = last.split(": ", 1)[-1]
    for word in ("proved", "refuted", "outside"):
        if text.startswith(word):
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
    language = "tle" if kind == "tle" else "gluon"
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


def main():
    arguments = [a for a in sys.argv[1:] if a != "-v"]
    verbose = "-v" in sys.argv
    warpstave, root, wanted = arguments[0], arguments[1], arguments[2:]
    worst = 0
    table, reasons = [], {}
    for name, (kind, paths) in SETS.items():
        if wanted and name not in wanted:
            continue
        n = dict.fromkeys(("tried", "design", "judged", "right", "broken proved", "right refuted"), 0)
        for path in files_of(root, paths):
            language = "tle" if kind == "tle" else "gluon"
            for kernel, case, broken in cases_of(warpstave, kind, path):
                verdict, why = judge(warpstave, language, path, kernel, case)
                n["tried"] += 1
                n["design"] += verdict != "unread"
                n["judged"] += verdict in ("proved", "refuted")
                n["right"] += (verdict == "refuted") if broken else (verdict == "proved")
                n["broken proved"] += broken and verdict == "proved"
                n["right refuted"] += not broken and verdict == "refuted"
                bad = (broken and verdict == "proved") or (not broken and verdict == "refuted")
                short = re.sub(r"outside the fragment: |; nothing found.*|\[.*\]", "", why)
                if verdict in ("outside", "unread"):
                    plain = re.sub(r"line \d+: |\d+", "", short)
                    reasons.setdefault(plain[:110], []).append(f"{os.path.basename(path)}:{kernel}")
                if verbose or bad:
                    print(f"{'WRONG ' if bad else ''}{verdict:8} {'broken' if broken else 'right '} "
                          f"{os.path.basename(path)} {kernel} {case or ''} {short[:160]}")
        worst |= n["broken proved"] + n["right refuted"] > 0
        table.append((name, n))
    print(f"{'set':16}{'tried':>7}{'design':>8}{'judged':>8}{'right':>7}{'broken proved':>15}{'right refuted':>15}")
    for name, n in table:
        print(f"{name:16}{n['tried']:7}{n['design']:8}{n['judged']:8}{n['right']:7}"
              f"{n['broken proved']:15}{n['right refuted']:15}")
    for reason, who in sorted(reasons.items(), key=lambda r: -len(r[1])):
        print(f"{len(who):4}  {reason}   e.g. {who[0]}")
    return worst


if __name__ == "__main__":
    sys.exit(main())
