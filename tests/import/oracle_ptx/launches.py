"""Which kernels are judged, and the launches that the machine makes of each: parameters, boxes of tensor
maps, number of the CTA and of all CTAs. A launch counts where the kernel as it stands goes right."""
import os, random, re, subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
# file: (integer parameters: range or choices, boxes of the tensor maps, most CTAs of the grid)
HAND = {
    "gemm": ({3: (1, 9), 4: (1, 3), 5: [0, 1, 1, 2, 3, 4, 5, 6, 8, 9, 12], 6: (256, 256)}, {0: 16384, 1: 16384}, 3),
    "gemm-cluster": ({3: (1, 3), 4: (0, 12), 5: (256, 256)}, {0: 16384, 1: 8192}, 4),
    "attention": ({4: (0, 12)}, {0: 8192, 1: 8192, 2: 8192}, 1),
    "gemm-ampere": ({3: (64, 64), 4: (64, 64), 5: (0, 12)}, {}, 1),
    "triton-gluon": ({15: (1, 6), 16: (1, 3), 17: (0, 700)}, {0: 16384, 5: 16384, 10: 8192}, 3),
    "triton-tma": ({15: (1, 600), 16: (1, 600), 17: (0, 700)}, {0: 16384, 5: 16384, 10: 16384}, 1),
    "late": ({2: (0, 12)}, {0: 1024}, 1),
    "triton-cpasync": ({n: (512, 512) for n in (3, 4, 6, 7, 8)} | {5: (0, 700)}, {}, 1),
}
BOUND_TO_GRID = {"gemm-cluster", "attention", "gemm-ampere", "triton-tma", "triton-cpasync", "late"}
# Launches of many rounds, for what goes wrong beyond 8 bits.
FAR = {"gemm": {3: 1, 4: 1, 5: 270, 6: 256}, "attention": {4: 270}}
# Designs whose PTX comes back as proved.
DESIGNS = ["tests/designs/" + n for n in
           ("gemm-aliased gemm-cluster gemm-cooperative gemm-one-consumer gemm-pingpong gemm-pipe "
            "attention-ahead attention-straight attention-tle-pingpong").split()] + \
          [f"projects/{n}/design" for n in
           "gemm-bf16-cluster2 gemm-bf16-deferred gemm-bf16-splitk gemm-fp8-block gemm-fp8-block-pair own-kernel attention-d128 "
           "attention-d128-full".split()]


class Kernel:
    def __init__(self, name, text, integers, boxes, grid, holds=lambda values: True):
        self.name, self.text, self.integers, self.boxes, self.grid, self.holds = name, text, integers, boxes, grid, holds
        self.launches = []

    def far(self):
        values = FAR.get(self.name)
        return values and [a for n, v in values.items() for a in ("-p", f"{n}={v}")] + [
            a for n, v in self.boxes.items() for a in ("-b", f"{n}={v}")]

    def some(self, rng):
        """A launch, as arguments of the machine."""
        for _ in range(1000):
            values = {n: rng.choice(c) if isinstance(c, list) else rng.randint(*c) for n, c in self.integers.items()}
            if self.holds(values):
                break
        ctas = rng.randint(1, self.grid)
        out = ["-c", str(rng.randrange(ctas)), "-g", str(ctas)]
        for n, v in values.items():
            out += ["-p", f"{n}={v}"]
        for n, v in self.boxes.items():
            out += ["-b", f"{n}={v}"]
        return out


def hand():
    for name, (integers, boxes, grid) in HAND.items():
        with open(os.path.join(HERE, "..", "ptx", name + ".ptx")) as file:
            yield Kernel(name, file.read(), integers, boxes, 1 if name in BOUND_TO_GRID - {"gemm-cluster"} else grid)


BITS = {"f32": 32, "f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8, "i32": 32, "f64": 64, "i64": 64}


def own(warpstave, folder, wanted):
    """Exports of designs: boxes, sizes and what is assumed stand in the program."""
    for design in DESIGNS:
        path = os.path.join(ROOT, design + ".wstave")
        name = "design-" + design.split("/")[-1] if "tests" in design else design.split("/")[1]
        if "own" not in wanted and name not in wanted:
            continue
        out = os.path.join(folder, name + ".ptx")
        made = subprocess.run([warpstave, "generate", path, "--as", "ptx", "-o", out], capture_output=True)
        said = subprocess.run([warpstave, "generate", path, "--as", "program"], capture_output=True, text=True).stdout
        if made.returncode or not said:
            print(f"skipped: {name} is not generated")
            continue
        bits = dict(re.findall(r"(?m)^tensor (\w+) (\w+)", said))
        boxes = {}
        for n, tensor, box in re.findall(r"(?m)^map (\d+) of (\w+) box ([\dx]+)", said):
            size = BITS[bits[tensor]] // 8
            for extent in box.split("x"):
                size *= int(extent)
            boxes[int(n)] = size
        first = len(boxes) + len(bits)
        sizes = re.findall(r"(?m)^size (\w+)", said)
        constants = {k: int(v) for k, v in re.findall(r"(\w+) = (\d+)(?=,|$)", (re.findall(r"(?m)^constants (.*)", said) or [""])[0])}
        names = re.findall(r"(?m)^run name (\w+) = (.*)", said)
        assumes = re.findall(r"(?m)^assume (.*)", said)

        def holds(values, sizes=sizes, constants=constants, names=names, assumes=assumes, first=first):
            known = dict(constants, cdiv=lambda a, b: -(-a // b), max=max, min=min, log2e=1.0, scale=1.0)
            known.update({s: values[first + i] for i, s in enumerate(sizes)})
            try:
                for n, e in names:
                    known[n] = eval(e.replace("/", "//"), {"__builtins__": {}}, known)
                return all(eval(e.replace("/", "//").replace("&&", " and ").replace("||", " or "), {"__builtins__": {}}, known) for e in assumes)
            except Exception:
                return True
        picks = {"M": [1, 128, 200, 300], "N": [64, 128, 256, 300, 576], "Z": [1], "H": [1, 2], "N_CTX": [128, 256, 384, 512],
                 "K": [1, 40, 64, 128, 192, 200, 256, 320, 448, 512, 700, 1024]}
        with open(out) as file:
            yield Kernel(name, file.read(), {first + i: picks.get(s, [1, 2, 64, 128]) for i, s in enumerate(sizes)}, boxes, 3, holds)


def others(folder, machine):
    """Texts of a folder: integer parameters are tried, boxes are worked out from a trace."""
    for file in sorted(os.listdir(folder)):
        if not file.endswith(".ptx"):
            continue
        with open(os.path.join(folder, file)) as f:
            text = f.read()
        entry = re.search(r"\.entry\s+\w+\s*\((.*?)\)", text, re.S)
        if not entry or text.count(".entry") != 1:
            print(f"skipped: {file} is not one kernel")
            continue
        integers = {}
        for n, p in enumerate(entry[1].split(",")):
            p = p.strip()
            if re.match(r"\.param \.u(32|64) ", p) and ".ptr" not in p:
                integers[n] = [1, 2, 3, 64, 128, 256, 300, 512, 700]
        k = Kernel(file[:-4], text, integers, {}, 1)
        k.boxes = boxes(os.path.join(folder, file), k, machine)
        if k.boxes is None:
            print(f"skipped: the boxes of {file} are not worked out")
            continue
        yield k


def boxes(path, kernel, machine):
    rng = random.Random(1)
    loads, stores, sums, touched = {}, {}, [], set()
    for trial in range(12):
        said = subprocess.run([*machine, path, "-t", "-s", str(4 * trial + 3), "-l", "300000", *kernel.some(rng)], capture_output=True, text=True).stdout
        at = {}
        for line in said.splitlines():
            w = line.split()
            if w[0] == "expect":
                at.setdefault((int(w[2]), int(w[3])), []).append(("e", int(w[4])))
                touched.add(int(w[3]))
            elif w[0] == "load":
                ctas = [c for c in range(2) if int(w[6]) >> c & 1] or [int(w[3])]
                for c in ctas:
                    at.setdefault((c, int(w[5])), []).append(("l", int(w[2])))
                loads.setdefault(int(w[2]), set()).add(int(w[4]))
                touched.add(int(w[4]))
            elif w[0] == "store":
                stores.setdefault(int(w[2]), set()).add(int(w[4]))
                touched.add(int(w[4]))
        if not said.strip().splitlines() or not said.strip().splitlines()[-1].startswith("right"):
            continue
        for events in at.values():
            total, count = sum(v for k, v in events if k == "e"), {}
            for k, v in events:
                if k == "l":
                    count[v] = count.get(v, 0) + 1
            if count:
                sums.append((total, count))
    order = sorted(touched)
    found = {}
    for n, places in list(loads.items()) + list(stores.items()):
        gaps = [min((t for t in order if t > p), default=p + 1 << 20) - p for p in places]
        found[n] = min(gaps)
    for _ in range(4): # what alone is not known follows from the sum
        for total, count in sums:
            if total != sum(found[n] * c for n, c in count.items()):
                n = max(count, key=lambda x: found[x])
                rest = total - sum(found[o] * c for o, c in count.items() if o != n)
                if rest > 0 and rest % count[n] == 0:
                    found[n] = rest // count[n]
    if any(total != sum(found[n] * c for n, c in count.items()) for total, count in sums):
        return None
    return {n: min(v, 65536) for n, v in found.items()}
