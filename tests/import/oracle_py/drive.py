"""Python kernels against `warpstave check --from`: drive.py WARPSTAVE [--count N] [--seed S] [--seconds T]
[--out FOLDER] [--brief]
FILE.gluon.py|FILE.tle.py|FILE.tlx.py|LANGUAGE:FILE...

Every file is asked about as it stands, then as often as wanted with one or two changes. What is proved
is played; what goes wrong is a false proof. What is refuted and never goes wrong may be a false alarm.
Exit status 1 where a proof was false."""
import argparse
import collections
import difflib
import os
import random
import re
import subprocess
import sys
import time
import mutate
import play

VERDICTS = {0: "proved", 1: "refuted", 2: "not read", 3: "outside", 4: "not read"}
PRIVATE = ("divided", "wrong")  # a division by zero: proofs say that they assume none


def asked(program, which, text, folder):
    path = os.path.join(folder, f"mutant-{os.getpid()}.{which}.py")
    with open(path, "w") as f:
        f.write(text)
    try:
        r = subprocess.run([program, "check", "--from", which, path], capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "slow", ""
    finally:
        os.remove(path)
    return VERDICTS.get(r.returncode, f"exit {r.returncode}"), r.stdout + r.stderr


def fixed_by(said):
    """Names whose values the verdict is about."""
    found = re.search(r": read with (.*?)(; other values|$)", said, re.M)
    return {w.split(" = ")[0].strip() for w in found[1].split(",")} if found else set()


def rules(said):
    return sorted(set(re.findall(r": error ([A-Z]+-[A-Z0-9-]+)", said)))


def difference(old, new):
    return "".join(line + "\n" for line in difflib.unified_diff(old.split("\n"), new.split("\n"), "", "", lineterm="", n=0)
                   if not line.startswith(("---", "+++")))


def judged(verdict, which, text, said, seed, brief):
    fixed = fixed_by(said) | {"num_warps", "scale"}
    if verdict == "proved":
        v = play.judge(text, which, seed, rounds=4 if brief else 10, plays=3, fixed=fixed)
        bad = {k: s for k, s in v.wrong.items() if k not in PRIVATE}
        return ("FALSE" if bad else "right" if v.played and not v.unknown else "unknown"), v
    v = play.judge(text, which, seed, rounds=4 if brief else 16, plays=5, fixed=fixed)
    if v.wrong:
        return "wrong", v
    return ("alarm" if v.played and not v.unknown else "unknown"), v


def kept(folder, name, which, note, text):
    path = os.path.join(folder, f"{name}.{which}.py")
    with open(path, "w") as f:
        f.write("".join(f"# {line}\n" for line in note.split("\n") if line.strip()) + text)
    return path


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("files", nargs="*")
    for n, d in (("count", 100), ("seed", 1), ("seconds", 0)):
        p.add_argument(f"--{n}", type=int, default=d)
    p.add_argument("--out", default="/tmp")
    p.add_argument("--refuted", type=float, default=0.5, help="how many of the refuted are played")
    p.add_argument("--brief", action="store_true", help="few sizes; what stands has to be played")
    p.add_argument("-v", action="store_true")
    o = p.parse_intermixed_args()
    bases, counts, kinds, why = [], collections.Counter(), collections.Counter(), collections.Counter()
    for path in o.files:
        which, _, rest = path.partition(":")
        if not rest:
            which, rest = path.split(".")[-2], path
        with open(rest) as f:
            bases.append((which, rest.split("/")[-1], f.read()))
    began, false = time.time(), 0
    order = [(b, 0) for b in bases] if o.count >= 0 else []
    for i in range(len(order) + abs(o.count)):
        if o.seconds and time.time() - began > o.seconds:
            break
        rng = random.Random(f"{o.seed} {i}")
        if i < len(order):
            (which, name, base), text, how = order[i][0], order[i][0][2], "as it stands"
        else:
            which, name, base = rng.choice(bases)
            made = mutate.mutant(base, rng, rng.choice((1, 1, 2)))
            if not made:
                continue
            text, how = made
        if i % 50 == 49:
            print(f"# {i + 1}: {dict(kinds)} {dict(counts)} {dict(why.most_common(12))}", flush=True)
        verdict, said = asked(o.program, which, text, o.out)
        kinds[verdict] += 1
        if verdict not in ("proved", "refuted") or (verdict == "refuted" and rng.random() > o.refuted):
            if verdict.startswith("exit"):
                print(f"{o.seed}/{i} {name} {how}: {verdict}: {said[:200]}", flush=True)
                kept(o.out, f"exit-{o.seed}-{i}", which, f"{name}: {how}\n{verdict}", text)
            continue
        result, v = judged(verdict, which, text, said, i, o.brief)
        counts[verdict, result] += 1
        if result == "unknown":
            why.update(re.sub(r"[0-9]+", "0", k)[:50] for k in v.unknown)
        tell = {"FALSE": "FALSE PROOF", "alarm": "possible false alarm"}.get(result)
        if tell or o.v or (how == "as it stands" and result not in ("right", "wrong")):
            print(f"{o.seed}/{i} {name} {how}: {verdict}, {result} {rules(said)} {v.say()}\n"
                  f"{difference(base, text)}", flush=True)
        if tell:
            note = f"{tell} of {name}: {how}\n{v.say()}\n{difference(base, text)}\ncheck: {said.strip()[-300:]}"
            kept(o.out, f"{'false' if result == 'FALSE' else 'alarm'}-{o.seed}-{i}", which, note, text)
        false += result == "FALSE" or (o.brief and i < len(order) and verdict == "proved" and result != "right")
    print(f"seed {o.seed}, {sum(kinds.values())} texts: {dict(kinds)}; " +
          ", ".join(f"{a} and {b}: {n}" for (a, b), n in sorted(counts.items())), flush=True)
    sys.exit(1 if false else 0)


if __name__ == "__main__":
    main()
