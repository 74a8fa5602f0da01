"""Draws kernels of TLE whose lines compute with a tile, runs each text in Python (text.py), and the design that
`warpstave import` makes of it (design.py), on the same numbers: what is read whole must be what the text computes.

usage: draw.py WARPSTAVE KERNEL --count N --seed S [--out FOLDER]
"""
import json
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import design
import runs
import text

LINE = "    doubled = tile * 2.0\n"
NUMBERS = ["2", "-3", "0.5", ".25", "1.5", "-1", "0", "0x2", "1_0", "True", "1e1", "float('2')"]
TYPES = ["tl.float32", "tl.bfloat16", "tl.float16", "tl.int32", "tl.int8", "tl.uint8", "tl.int1"]


class Drawn:
    """Lines of a kernel; every name is a tile of the shape of the matrix."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.names = ["tile"]
        self.lines = []
        self.made = 0

    def pick(self, *what):
        return self.r.choice(what)

    def name(self):
        self.made += 1
        return f"v{self.made}"

    def value(self, depth):
        r = self.r.random()
        if depth <= 0 or r < 0.2:
            return self.r.choice(self.names)
        x = self.value(depth - 1)
        if r < 0.4:
            y = self.pick(self.r.choice(NUMBERS), self.value(depth - 1))
            op = self.pick("+", "-", "*", "*", "+", "/", "//", "%", "&", "|", "<<", ">>")
            return f"({x} {op} {y})" if self.r.random() < 0.7 else f"({y} {op} {x})"
        if r < 0.52:
            how = self.pick("", "", "", ", bitcast=False", ", bitcast=True", ", fp_downcast_rounding='rtz'",
                            ", fp_downcast_rounding='rtne'")
            return f"{x}.to({self.r.choice(TYPES)}{how})"
        if r < 0.62:
            return f"tl.where({self.condition(depth - 1)}, {x}, {self.pick(self.value(depth - 1), self.r.choice(NUMBERS))})"
        if r < 0.72:
            return f"tl.{self.pick('maximum', 'minimum')}({x}, {self.pick(self.value(depth - 1), self.r.choice(NUMBERS))})"
        if r < 0.9:
            word = self.pick("max", "min", "sum")
            axis = self.pick("1", "1", "axis=1", "-1", "0", "axis=0", "axis=None", "1, keep_dims=True")
            keep = self.pick("[:, None]", "[:, None]", "[None, :]", "") if "keep" not in axis else ""
            dtype = self.pick("", "", ", dtype=tl.float32", ", dtype=tl.int32") if word == "sum" else ""
            return f"({self.value(0)} {self.pick('+', '*')} tl.{word}({x}, {axis}{dtype}){keep})"
        return self.pick(f"tl.abs({x})", f"(-{x})", f"tl.floor({x}.to(tl.float32))", f"twice({x})",
                         f"({x} + tl.arange(0, 8)[None, :])", f"({x} + tl.arange(0, 8)[:, None])",
                         f"({x} + tl.arange(0, 8))", f"{x}[:, :]")

    def condition(self, depth):
        c = f"({self.value(depth)} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.pick(self.r.choice(NUMBERS), self.value(depth))})"
        if depth > 0 and self.r.random() < 0.3:
            c = f"({c} {self.pick('&', '|')} {self.condition(depth - 1)})"
        return c

    def statement(self, indent, depth):
        r = self.r.random()
        if r < 0.5 or depth <= 0:
            name = self.name() if self.r.random() < 0.7 or len(self.names) == 1 else self.r.choice(self.names[1:])
            self.lines.append(f"{indent}{name} = {self.value(2)}")
            if name not in self.names and indent == "    ":
                self.names.append(name)
        elif r < 0.62:
            a, b = self.name(), self.name()
            self.lines.append(f"{indent}{a}, {b} = {self.value(1)}, {self.value(1)}")
            self.names += [a, b] if indent == "    " else []
        elif r < 0.74:
            self.lines.append(f"{indent}{self.r.choice(self.names[1:] or ['spare'])} = {self.r.choice(self.names)}")
        elif r < 0.87 and len(self.names) > 1:
            self.lines.append(f"{indent}for k in range({self.pick('2', '3', 'steps')}):")
            self.lines.append(f"{indent}    {self.r.choice(self.names[1:])} = {self.value(1)}")
        elif len(self.names) > 1:
            self.lines.append(f"{indent}if {self.pick('row > 1', 'row > 100000', 'steps > 0')}:")
            self.lines.append(f"{indent}    {self.r.choice(self.names[1:])} = {self.value(1)}")
            if self.r.random() < 0.5:
                self.lines.append(f"{indent}else:")
                self.lines.append(f"{indent}    {self.r.choice(self.names[1:])} = {self.value(1)}")

    def draw(self):
        for _ in range(self.r.randint(1, 4)):
            self.statement("    ", 1)
        self.lines.append(f"    doubled = {self.value(1)}.to(tl.float32)")
        return "\n".join(self.lines) + "\n"


HELPER = "@triton.jit\ndef twice(x):\n    y = x * 2\n    return y\n\n\n"


def kernel_of(base, lines):
    t = base.replace(LINE, lines)
    assert t != base
    t = t.replace("@triton.jit\n", HELPER + "@triton.jit\n", 1)
    t = t.replace("doubled.to(tl.bfloat16)", "doubled").replace("y = tle.gpu.alloc([128, 64], dtype=tl.bfloat16",
                                                              "y = tle.gpu.alloc([128, 64], dtype=tl.float32")
    return t.replace("[128, 64]", "[8, 8]").replace("expect_bytes=16384", "expect_bytes=128").replace("* 128", "* 8")


def judged(warpstave, kernel, lines):
    """None: it is not read whole; else what is wrong with it, or ''."""
    code, out, said = runs.imported(warpstave, kernel)
    if code not in (0, 1, 3):
        return f"the import fails: {said[:300]}"
    read = json.loads(out)
    tile = text.tile_of_numbers(8, 8)
    for pid in range(2):
        try:
            want = text.run(lines, tile, pid * 8)
        except text.NoKernel:
            return None  # Triton refuses it, or it is not modelled: nothing is known of it
        if read.get("unread"):
            return None
        try:
            got = design.run(read, tile, pid)
        except design.NotModelled:
            return None
        for i, (a, b) in enumerate(zip(sum(want, []), sum(got, []))):
            if not (a == b or abs(a - b) <= 1e-5 * abs(a)):
                return f"element {divmod(i, 8)} is {a} in the text and {b} in the design"
    return ""


runs.main(Drawn, kernel_of, judged)
