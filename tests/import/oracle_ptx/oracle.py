#!/usr/bin/env python3
"""Looks for PTX that `check --from ptx` judges wrongly: oracle.py WARPSTAVE [options]; see README.md."""
import argparse, os, random, re, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launches, mutate  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = ("alone", "run", "head", "text", "values", "shadow", "memory", "sync", "copies", "products")


def built(folder):
    out = os.path.join(folder, "machine")
    command = [os.environ.get("CC", "cc"), "-O3", "-std=gnu11", "-o", out] + [os.path.join(HERE, s + ".c") for s in SOURCES]
    subprocess.run(command, check=True)
    return out


def judged(warpstave, path):
    try:
        p = subprocess.run([warpstave, "check", "--from", "ptx", path], capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "slow", "takes longer than two minutes"
    if p.returncode < 0:
        return "crash", f"ends by signal {-p.returncode}"
    last = (p.stdout.strip().splitlines() or [p.stderr.strip()[-300:]])[-1].split(": ", 1)[-1]
    for said, word in (("proved", "proved"), ("refuted", "refuted"), ("undecided", "outside")):
        if last.startswith(said):
            return word, " ".join(sorted(set(re.findall(r"error (P-[A-Z]+)", p.stdout + p.stderr)))) if word == "refuted" else last + assumed(p.stdout + p.stderr)
    return "unread", last


def assumed(said):
    """What the proof takes for granted of the launch, one on a line behind the verdict."""
    return "".join("\n" + e for e in re.findall(r"\(assumed: (.*)\)\s*$", said, re.M))


def holds(launch, why):
    """Whether a launch keeps to what a proof takes for granted; None where that is not worked out."""
    numbers = dict(launch[i + 1].split("=") for i in range(0, len(launch), 2) if launch[i] == "-p")
    lines = why.split("\n")
    if "no more CTAs are launched than there are tiles" in lines[0] and launch[launch.index("-g") + 1] != "1":
        return None
    for e in lines[1:] + [x + " != 0" for x in re.findall(r"(?:given that|,) ((?:[^,()]|\([^()]*\))*?) is not 0 in ", lines[0])]:
        e = re.sub(r"^.*given that ", "", e)
        e = re.sub(r"\w+_param_(\d+)\b", lambda m: numbers.get(m[1], "unknown"), e)
        try:
            if not eval(e.replace("/", "//").replace("&&", " and ").replace("||", " or "), {"__builtins__": {}},
                        dict(cdiv=lambda a, b: -(-a // b), max=max, min=min)):
                return False
        except Exception:
            return None
    return True


def played(machine, path, launch, seed, runs, limit):
    try:
        p = subprocess.run([*machine, path, "-s", str(seed), "-n", str(runs), "-l", str(limit), *launch], capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return "long", "a minute"
    last = (p.stdout.strip().splitlines() or ["crash"])[-1]
    return last.split()[0], last


def prepared(kernel, machine, rng, wanted):
    """Launches at which the kernel as it stands goes right; the ones at which it does not are shown."""
    bad = []
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(kernel.text)
        file.flush()
        for _ in range(wanted * 4):
            launch = kernel.some(rng)
            kind, said = played(machine, file.name, launch, rng.randrange(1000), 4, 400000)
            if kind == "right":
                steps = int(re.search(r"(\d+) instructions", said)[1])
                if launch not in [l for l, _ in kernel.launches]:
                    kernel.launches.append((launch, steps))
            elif kind != "long":
                bad.append((said, launch))
            if len(kernel.launches) >= wanted:
                break
        kernel.launches.sort(key=lambda l: l[1])
        far = kernel.far()
        if far:
            kind, said = played(machine, file.name, far, 1, 1, 1000000)
            if kind == "right":
                kernel.launches.append((far, int(re.search(r"(\d+) instructions", said)[1])))
    return bad


def goes_wrong(kernel, machine, path, rng, runs, why=""):
    """The first launch and schedule that go wrong, or nothing; True where nothing is known."""
    odd = None
    for launch, steps in kernel.launches:
        kept = holds(launch, why)
        if not kept:
            odd = odd if kept is False else f"unknown {why.splitlines()[1:]}"
            continue
        few = 1 if steps > 50000 else runs
        kind, said = played(machine, path, launch, rng.randrange(100000) * 4 + (few == 1) * rng.randrange(4), few, steps * 10 + 100000)
        if kind == "wrong" or kind == "long":
            return said, launch
        if kind != "right":
            odd = said
    return (odd, None) if odd else None


def valid(path):
    """What ptxas says of it, where there is one."""
    for ptxas in (os.environ.get("PTXAS", ""), "/usr/local/cuda/bin/ptxas"):
        if ptxas and os.path.exists(ptxas):
            p = subprocess.run([ptxas, "-arch=sm_90a", "-O0", path, "-o", "/dev/null"], capture_output=True, text=True)
            return "" if p.returncode == 0 else (p.stderr.strip().splitlines() or ["?"])[0]
    return ""


def key_of(names, said):
    what = re.sub(r"\d+", "N", said.split(": ", 1)[-1])[:40]
    return re.sub(r"[^a-z0-9]+", "-", (names[0].lower() + "-" + what.lower()))[:70].strip("-")


class Counts(dict):
    def add(self, what):
        self[what] = self.get(what, 0) + 1


def one(kernel, text, a, machine, rng, counts, folder, found, given=None):
    changes = [given] if given else [c for c in (mutate.mutation(text, rng) for _ in range(rng.choice([1, 1, 1, 2]))) if c]
    if not changes:
        return
    all_of = changes[0][1]
    if len(changes) > 1:
        all_of = mutate.joined(changes[0][1], changes[1][1])
    if all_of is None:
        return
    path = os.path.join(folder, "mutant.ptx")

    def write(c):
        with open(path, "w") as file:
            file.write(mutate.with_changes(text, c))

    write(all_of)
    verdict, why = judged(a.warpstave, path)
    counts.add(verdict)
    names = [c[0] for c in changes]
    if verdict in ("crash", "slow"):
        print(f"{verdict.upper()} {kernel.name} {names}", flush=True)
        keep(a, found, f"{verdict}-{kernel.name}", path, why)
    if verdict == "refuted" and a.refuted:
        wrong = goes_wrong(kernel, machine, path, rng, 6)
        counts.add("refuted, goes right" if not wrong else "refuted, goes wrong" if wrong[1] else "refuted, not known")
        if not wrong:
            shown(text, all_of, f"REFUTED {why} {kernel.name} {names}", a.verbose)
    if verdict != "proved":
        return
    wrong = goes_wrong(kernel, machine, path, rng, a.runs, why)
    if not wrong:
        counts.add("proved, goes right")
        return
    said, launch = wrong
    if launch is None:
        counts.add("proved, not known: " + re.sub(r"\d+", "N", said)[:60])
        return
    if len(changes) > 1: # one of the two alone
        for c in changes:
            write(c[1])
            verdict, why = judged(a.warpstave, path)
            if verdict == "proved":
                alone = goes_wrong(kernel, machine, path, rng, a.runs, why)
                if alone and alone[1]:
                    all_of, names, (said, launch) = c[1], [c[0]], alone
                    break
    write(all_of)
    refused = valid(path)
    if refused:
        counts.add("proved, goes wrong, ptxas refuses it")
        return
    counts.add("FALSE PROOF")
    what = key_of(names, said)
    title = f"FALSE PROOF {kernel.name} {names}: {said} at {' '.join(launch)}"
    shown(text, all_of, title, True)
    note = f"{kernel.name}, changed: {'; '.join(names)}. Check says proved. The machine: {said}; launch {' '.join(launch)}."
    note += "".join(f"\n// line {at + 1}: `{text.lines[at].strip()}` became `{' '.join(l.strip() for l in new)}`" for at, new in all_of.items() if at != text.open)
    keep(a, found, f"{kernel.name}-{what}", path, note)


def shown(text, changes, title, yes):
    if yes:
        print(title)
        for at, new in sorted(changes.items()):
            if at != text.open:
                print(f"    {at + 1}: {text.lines[at].strip()[:110]}  ->  {' '.join(l.strip() for l in new)[:160]}")
        sys.stdout.flush()


def keep(a, found, name, path, note):
    if not a.out or name in found:
        return
    found.add(name)
    with open(path) as file:
        text = file.read()
    with open(os.path.join(a.out, f"ptxo-{name}.ptx"), "w") as file:
        file.write(f"// {note}\n{text}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("warpstave")
    p.add_argument("--machine", help="a test-import-oracle-ptx that is built; else one is compiled here")
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--mutants", type=int, default=0, help="stop after so many, instead of after seconds")
    p.add_argument("--seed", type=int, default=0, help="0: by the clock")
    p.add_argument("--kernels", default="hand,own", help="hand, own, or names")
    p.add_argument("--folder", help="other texts")
    p.add_argument("--runs", type=int, default=4, help="schedules of each launch")
    p.add_argument("--launches", type=int, default=10)
    p.add_argument("--refuted", action="store_true", help="play what is refuted, too")
    p.add_argument("--each", action="store_true", help="every change of every line that synchronises, once, instead of random ones")
    p.add_argument("--out", help="where to write texts that are judged wrongly")
    p.add_argument("-v", "--verbose", action="store_true")
    a = p.parse_args()
    a.seed = a.seed or int(time.time())
    rng = random.Random(a.seed)
    counts, found, failed = Counts(), set(), 0
    with tempfile.TemporaryDirectory() as folder:
        machine = [a.machine, "machine"] if a.machine else [built(folder)]
        wanted = set(a.kernels.split(","))
        kernels = [k for k in launches.hand() if "hand" in wanted or k.name in wanted]
        kernels += launches.own(a.warpstave, folder, wanted)
        if a.folder:
            kernels += list(launches.others(a.folder, machine))
        ready = []
        for k in kernels:
            path = os.path.join(folder, "base.ptx")
            with open(path, "w") as file:
                file.write(k.text)
            start = time.time()
            verdict, why = judged(a.warpstave, path)
            k.weight = 1 / (time.time() - start)
            bad = prepared(k, machine, random.Random(a.seed + 1), a.launches)
            print(f"{k.name}: {verdict}; {len(k.launches)} launches, {len(bad)} go wrong" + (f": {bad[0][0]} {' '.join(bad[0][1])}" if bad else ""), flush=True)
            failed |= verdict == "proved" and bool(bad) and not a.folder
            if verdict == "proved" and k.launches:
                ready.append((k, mutate.Text(k.text)))
        end, made = time.time() + a.seconds, 0
        for kernel, text in ready if a.each else []:
            for given in mutate.each(text):
                one(kernel, text, a, machine, rng, counts, folder, found, given)
                made += 1
                if made % 50 == 0:
                    print(f"{made}: {dict(counts)}", flush=True)
            print(f"{kernel.name}: {made}: {dict(counts)}", flush=True)
        while ready and not a.each and (made < a.mutants if a.mutants else time.time() < end):
            kernel, text = rng.choices(ready, [k.weight for k, _ in ready])[0]
            before = sum(counts.values())
            one(kernel, text, a, machine, rng, counts, folder, found)
            made += sum(counts.values()) > before
            if made % 50 == 0 and sum(counts.values()) > before:
                print(f"{made}: {dict(counts)}", flush=True)
    print(f"seed {a.seed}, {made} mutants: " + ", ".join(f"{n} {v}" for v, n in sorted(counts.items())))
    return bool(failed or counts.get("FALSE PROOF") or counts.get("crash"))


if __name__ == "__main__":
    sys.exit(main())
