"""Draws kernels of TLE in which names of lines and of matrices meet: aliases, zeros, tuples, helpers, branches, loops and
x[:, None]. Each text is run in Python (text.py), and the design that `warpstave import` makes of it (design.py), on the
same numbers: what is read whole must be what the text computes, and none of these kernels can be refuted.

usage: ways.py WARPSTAVE KERNEL --count N --seed S [--out FOLDER]
"""
import json
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import design
import runs
import text
from text import Language, NoKernel, Tile

HELPERS = """@triton.jit
def twice(x):
    y = x * 2
    return y


@triton.jit
def both(x, z):
    s = x + z
    d = x - z
    return s, d


@triton.jit
def pick(x, z, row):
    if row > 1:
        return x
    return z * 1.0


"""
CONDITIONS = ["row > 1", "row > 100000", "steps > 0", "row < 8"]
LINE = [((i * 7) % 11 - 5) / 4 for i in range(8)]


class Words(Language):
    @staticmethod
    def zeros(shape, dtype):
        return Tile(tuple(shape), dtype.name, lambda r, c: 0)

    @staticmethod
    def full(shape, value, dtype):
        return Tile(tuple(shape), dtype.name, lambda r, c: value)


class Drawn:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.names = {"line": ["a"], "matrix": ["tile"]}
        self.lines, self.made = [], 0

    def pick(self, *what):
        return self.r.choice(what)

    def name(self):
        self.made += 1
        return f"v{self.made}"

    def number(self):
        return self.pick("2.0", "0.5", "-1.0", "1.5", "3.0")

    def value(self, kind, depth):
        r, d = self.r.random(), depth - 1
        own = lambda: self.value(kind, d)
        if depth <= 0 or r < 0.3:
            return self.r.choice(self.names[kind])
        if r < 0.55:
            return f"({own()} {self.pick('+', '-', '*')} {self.pick(own(), self.number())})"
        if r < 0.63:
            return f"tl.where({own()} {self.pick('<', '>')} {self.number()}, {own()}, {self.pick(own(), self.number())})"
        if r < 0.7:
            shape = "[8]" if kind == "line" else "[8, 8]"
            return self.pick(f"tl.zeros({shape}, tl.float32)", f"tl.full({shape}, {self.number()}, tl.float32)")
        if r < 0.75:
            return self.pick(f"twice({own()})", f"pick({own()}, {own()}, row)")
        if kind == "line":
            return f"tl.maximum({own()}, {own()})" if r < 0.95 else f"tl.{self.pick('sum', 'max')}({self.value('matrix', d)}, 1)"
        turned = self.pick("[:, None]", "[:, None]", "[None, :]", "")
        return f"({own()} {self.pick('+', '-', '*')} {self.value('line', d)}{turned})"

    def assign(self, indent):
        kind = self.pick("line", "matrix")
        names = self.names[kind]
        if indent == "    " and self.r.random() < 0.6:
            name = self.name()
            self.lines.append(f"{indent}{name} = {self.value(kind, 1)}")
            names.append(name)
            return
        to, value = self.r.choice(names), self.value(kind, 1)
        self.lines.append(f"{indent}{to} = {self.pick(value, value, self.r.choice(names), f'({to} * {value})')}")

    def several(self, indent):
        kind = self.pick("line", "matrix")
        names = self.names[kind]
        a, b = self.r.choice(names), self.r.choice(names)
        if a != b:
            self.lines.append(f"{indent}{a}, {b} = {b}, {self.pick(a, f'{a} * 2.0')}")
        elif indent == "    ":
            c, d = self.name(), self.name()
            self.lines.append(f"{indent}{c}, {d} = {self.pick(f'both({a}, {b})', f'{self.value(kind, 1)}, {a}')}")
            names += [c, d]

    def statement(self, indent, depth):
        r = self.r.random()
        if r < 0.5 or depth <= 0:
            self.assign(indent)
        elif r < 0.62:
            self.several(indent)
        elif r < 0.8:
            self.lines.append(f"{indent}for k in range({self.pick('2', '3', 'steps', '0')}):")
            self.block(indent, depth)
        else:
            self.lines.append(f"{indent}if {self.r.choice(CONDITIONS)}:")
            self.block(indent, depth)
            if self.r.random() < 0.5:
                self.lines.append(f"{indent}else:")
                self.block(indent, depth)

    def block(self, indent, depth):
        before = len(self.lines)
        for _ in range(self.r.randint(1, 2)):
            self.statement(indent + "    ", depth - 1)
        if len(self.lines) == before:
            self.assign(indent + "    ")

    def draw(self):
        if self.r.random() < 0.4:  # zeros of two names
            a, b = self.name(), self.name()
            self.lines += [f"    {a} = tl.zeros([8, 8], tl.float32)", f"    {b} = {a}"]
            self.names["matrix"] += [a, b, a, b]
        for _ in range(self.r.randint(2, 6)):
            self.statement("    ", 2)
        return "\n".join(self.lines + [f"    out = {self.value('matrix', 2)}"]) + "\n"


class Run(text.Run):
    def branch(self, condition, body, other):
        taken, before = self.value(condition), dict(self.names)
        for lines in (other, body):  # both are compiled
            self.names = dict(before)
            self.block(lines)
            self.kept_types(before)
        self.names = dict(before)
        self.block(body if taken else other)


def run_text(lines, numbers, row):
    names = {"tl": Words, "steps": 1, "row": row, "twice": lambda x: x * 2, "both": lambda x, z: (x + z, x - z),
             "pick": lambda x, z, row: x if row > 1 else z * 1.0, "__builtins__": {},
             "tile": Tile((8, 8), "f32", lambda r, c: numbers[r][c]), "a": Tile((8,), "f32", lambda r, c: LINE[c] + row)}
    r = Run(names)
    r.block(lines.rstrip("\n").split("\n"))
    x = r.names["out"]
    if not isinstance(x, Tile) or (x.shape, x.dtype) != ((8, 8), "f32"):
        raise NoKernel("no matrix")
    return x


class Design(design.Design):
    """With the shapes that its values are declared with."""

    def steps(self, steps):
        for s in steps:
            if "read" in s:
                rows, cols = self.shapes[s["read"]]
                at = (lambda r, c: self.numbers[r][c]) if s["from"] == "x" else lambda r, c: LINE[max(r, c)] + 8 * self.pid
                self.values[s["read"]] = design.Matrix("f", rows, cols, at)
                continue
            if "for" in s:
                for k in range(self.integer(s["count"])):
                    self.values[s["for"]] = design.number(k, "i")
                    self.steps(s["do"])
                continue
            super().steps([s])
            if "compute" in s:
                name = s["compute"].split(" = ", 1)[0]
                v, (rows, cols) = self.values[name], self.shapes[name]
                if v.rows not in (1, rows) or v.cols not in (1, cols):
                    raise ValueError(f"{name} of {rows} x {cols} is set to {v.rows} x {v.cols}")
                self.values[name] = design.Matrix(v.kind, rows, cols, v.at)


def run_design(read, numbers, pid):
    group = read["groups"][0]
    d = Design({"pid": design.number(pid, "i"), "steps": design.number(1, "i")}, 8)
    d.pid, d.numbers = pid, numbers
    d.shapes = {v["name"]: v["tile"] for v in group["values"]}
    d.steps(group["body"])
    return d.written


def kernel_of(base, lines):
    t = base.replace("    BODY\n", lines).replace("@triton.jit\n", HELPERS + "@triton.jit\n", 1).replace("64", "8")
    return t.replace("y, M, N", "y, M, N, steps").replace("def scale(x, w, y)", "def scale(x, w, y, steps)")


def judged(warpstave, kernel, lines):
    """None: it is not read whole; else what is wrong with it, or ''."""
    code, out, said = runs.imported(warpstave, kernel)
    if code not in (0, 3):
        return f"import ends with {code}: {said[-300:]}"
    read, numbers = json.loads(out), text.tile_of_numbers(8, 8)
    if read.get("unread"):
        return None
    for pid in range(2):
        try:
            want = run_text(lines, numbers, pid * 8)
            got = run_design(read, numbers, pid)
        except (NoKernel, design.NotModelled):
            return None
        except (KeyError, ValueError, AttributeError) as why:
            return f"the design fails: {why!r}"
        for r, c in ((r, c) for r in range(8) for c in range(8)):
            a, b = want.at(r, c), got.at(r, c)
            if not (a == b or abs(a - b) <= 1e-5 * abs(a) + 1e-6 or (a != a and b != b)):
                return f"element ({r}, {c}) is {a} in the text and {b} in the design"
    return ""


runs.main(Drawn, kernel_of, judged)
