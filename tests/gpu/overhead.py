"""Table of tests/gpu/overhead.sh: overhead.py BUNDLE… Needs results.json, and N.csv and N.txt of each case's trace."""
import csv, json, math, os, re, statistics, sys


def rounds_and_period(path, every=1):
    """Rounds of the innermost loops of the group that loads, tiles it went through, and the mean distance of two rounds
    of one loop that are next to each other in one tile, for a group with products; of one round in `every` recorded, per round.
    Of launches that take turns only rounds of one launch are compared."""
    loads, tiles, products = set(), set(), {}
    with open(path) as f:
        for r in csv.DictReader(f):
            tile, turn = int(r["tile"]), int(r["round"])
            if r["kind"] == "tma_load" and "/" in r["loop"]:
                loads.add((r["loop"], tile, turn))
                tiles.add(tile)
            if r["kind"] == "mma" and "/" in r["loop"]:
                products.setdefault((r["agent"], r["loop"], r["step"]), {})[(r.get("launch"), tile, turn)] = int(r["start"])
    if not products:
        return 0, 0, None
    longest = max(products.values(), key=len)
    near = [(start - longest[(launch, tile, turn - every)]) / every for (launch, tile, turn), start in longest.items()
            if (launch, tile, turn - every) in longest]
    return len(loads), len(tiles), statistics.mean(near) if near else None


def every_of(bundle):
    """One round of inner loops in so many is recorded; None: no round is."""
    with open(f"{bundle}/bundle.txt") as f:
        words = next(line for line in f if line.startswith("records ")).split()
    return None if words[3] == "0" else int(words[6]) if len(words) > 6 else 1


def rounds_of(bundle, which):
    """Rounds of the CTA that decides the time: of one with most tiles, or of an average one where tiles are claimed."""
    rounds, tiles, _ = rounds_and_period(f"{bundle}/{which}.csv")
    text = open(f"{bundle}/bundle.txt").read()
    if not tiles:
        return rounds
    all_tiles = int([line for line in text.splitlines() if line.startswith("case ")][which].split()[-2])
    claimed = re.search(r"^counter", text, re.M)
    cluster = re.search(r"^block \d+ (\d+)", text, re.M)
    each = all_tiles / (132 // int(cluster.group(1)) if cluster else 132)
    return rounds / tiles * (each if claimed else math.ceil(each))


def known(x, form, width, unit=""):
    return f"{x:{width}{form}}{unit}" if x is not None else "-".rjust(width + len(unit))


def facts(path):
    text = open(path).read()
    line = re.search(r"covered by steps and waits:(.*)", text)
    covered = [float(x) for x in re.findall(r" ([0-9.]+) %", line.group(1))] if line else [None]
    lost = re.search(r"(\d+) records were never written", text)
    return min(covered), int(lost.group(1)) if lost else 0


def own_pace(cases, bundle):
    """Cycles of one round of the timed build: what the longer problem takes more, over its additional rounds."""
    if len(cases) < 2 or not os.path.exists(f"{bundle}/1.csv"):
        return None
    short, long = rounds_of(bundle, 0), rounds_of(bundle, 1)
    cycles = [c["cold"].get("cycles") for c in cases[:2]]
    if long <= short or None in cycles:
        return None
    return (cycles[1] - cycles[0]) / (long - short)


def devices(bundles):
    """Names of the GPUs that ran them."""
    names = set()
    for bundle in bundles:
        with open(f"{bundle.rstrip('/')}/results.json") as f:
            names.add(json.load(f)["device"]["name"])
    return ", ".join(sorted(names))


print(f"Recorder on {devices(sys.argv[1:])}: traced build beside the timed one, by turns in one process,\n100 cold rounds, one CTA recorded, every round of it (-turns: 16 launches that take turns with the rounds; -64: one round of inner loops in 64; -waves: no round, the tiles of all CTAs):")
print("the last one where tiles are dealt out, which has a tile less if they do not divide (-first: the first, which the launch waits for); else the first.")
print("time: median over the rounds of traced/timed - 1, [10th, 90th percentile]; cycles: of the medians, each at the clock of the")
print("traced kernel in the same rounds. least cover: share of its time that steps and waits of a group account for, the least group.")
print("period: mean distance of two k rounds of a tile in the trace; timed: what a problem twice as deep takes more in the timed")
print("build, per round more (of CTA 0; of an average CTA where tiles are claimed). -: not measured.\n")
print(f"{'design':30} {'right':>5} {'timed us':>9} {'traced us':>9} {'time':>7} {'[p10':>7} {'p90]':>7} {'cycles':>7} {'spills':>6} {'C75xx':>5} {'lost':>5} {'least cover':>11} {'period':>7} {'timed':>7} {'apart':>6}")
for bundle in sys.argv[1:]:
    bundle = bundle.rstrip("/")
    try:
        result = json.load(open(f"{bundle}/results.json"))
        case = result["cases"][0]
        module = result["modules"]["traced"]
        timed, traced = case["cold"], case["cold_traced"]
        cover, lost = facts(f"{bundle}/0.txt")
        every = every_of(bundle)
        period = rounds_and_period(f"{bundle}/0.csv", every)[2] if every else None
        pace = own_pace(result["cases"], bundle) if every else None
    except (OSError, KeyError, AttributeError, IndexError) as e:
        print(f"{os.path.basename(bundle):30} not measured: {e!r}")
        continue
    cycles = traced["cycles"] / timed["cycles"] - 1 if "cycles" in traced and "cycles" in timed else float("nan")
    states = {c.get("state") for c in result["cases"]}
    right = "yes" if states == {"right"} else "-" if states <= {"right", "not judged"} else "NO"
    print(f"{os.path.basename(bundle):30} {right:>5} {timed['median_us']:9.2f} {traced['median_us']:9.2f} {100*case['overhead']:6.2f}% "
          f"{100*case['overhead_p10']:6.2f}% {100*case['overhead_p90']:6.2f}% {100*cycles:6.2f}% {module.get('local_bytes', 0):6} "
          f"{module.get('diagnostics', 0):5} {lost:5} {known(cover, '.1f', 10, '%')} {known(period, '.0f', 7)} "
          + (f"{pace:7.0f} {100*(period/pace-1):5.1f}%" if pace and period else f"{'-':>7} {'-':>6}"))
