"""The table of tests/gpu/names.sh: names.py DIR. Misses first."""
import json, os, sys, time

HEAD = """What the names of TLE did on a GPU (tests/gpu/names.sh): the kernels of tests/import/tle/names with which docs/tle.md
answers, designs that say a name, templates, and text of an author as CUDA C++. `right`: every output against a float64 reference,
with the largest error and what is allowed, three launches and 20 more with the same values. `same bits`: nothing says what is
right, all launches gave the same; `not written`: elements that a mask leaves out. Sizes are no multiples of tiles where the
kernel takes such. `no GPU`: its target is a core; `not generated`: there is no code.
The first column is the text that ran: ./dev test import/tle-runs compares it with today's.
kernel  result  largest error of allowed  sizes  GPU  date  name"""


def outcome(folder):
    """Result, error, device of a bundle."""
    if not os.path.exists(f"{folder}/bundle.txt"):
        return "not generated", "-", "-"
    if not os.path.exists(f"{folder}/results.json"):
        return "not run", "-", "-"
    try:
        with open(f"{folder}/results.json") as f:
            run = json.load(f)
    except (OSError, ValueError):
        return "failed", "-", "-"
    cases, device = run.get("cases", []), run["device"]["name"] or "-"
    states = {c["state"] for c in cases}
    outputs = [o for c in cases for o in c.get("outputs", [])]
    differ = sum(c.get("differ", 0) for c in cases)
    state = "right" if states == {"right"} else "same bits" if states == {"not judged"} else " ".join(sorted(states)) or "failed"
    if differ or any(o.get("repeats") is False for o in outputs):
        state = "runs differ"
    left = sum(o["nonfinite"] for o in outputs)
    if state == "wrong" and left and not any(o["judged"] for o in outputs): # a mask leaves them out
        return "same bits", f"{left} not written", device
    judged = [o for o in outputs if o["judged"] and o["worst_allowed"] is not None]
    worst = max(judged, key=lambda o: o["worst_error"] / (o["worst_allowed"] or 1), default=None)
    error = f"{worst['worst_error']:.2g} of {worst['worst_allowed']:.2g}" if worst else "-"
    if state == "right" and any(o.get("zeros_agree") for o in judged):
        error += " (zeros would do)"
    return state, error, device


def main(top):
    rows = []
    with open(f"{top}/designs/names.tsv") as f:
        for line in f:
            key, where, how, sizes, name = line.rstrip("\n").split("\t")
            if where == "core":
                rows.append((key, "no GPU", "-", "-", "-", "-", name))
                continue
            folder = f"{top}/{key}{how}"
            when = os.path.getmtime(f"{folder}/results.json") if os.path.exists(f"{folder}/results.json") else time.time()
            state, error, device = outcome(folder)
            rows.append((key, state, error, "its own" if sizes == "-" else sizes, device.replace("NVIDIA ", ""),
                         time.strftime("%Y-%m-%d", time.gmtime(when)), name))
    good = ("right", "same bits", "no GPU")
    rows.sort(key=lambda r: (r[1] in good, good.index(r[1]) if r[1] in good else 0))
    wide = [max(len(r[i]) for r in rows) for i in range(6)]
    print("\n".join("# " + line for line in HEAD.split("\n")))
    for r in rows:
        print("  ".join(x.ljust(w) for x, w in zip(r, wide)) + "  " + r[6])


main(sys.argv[1])
