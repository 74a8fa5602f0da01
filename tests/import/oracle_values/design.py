"""The statements of a design, as LANGUAGE.md section 10 has them, on matrices of numbers."""
import math
import re

import numbers_ as n


class NotModelled(Exception):
    pass


TOKEN = re.compile(r"\s*(\d+\.\d*(?:e[-+]?\d+)?|\d+(?:e[-+]?\d+)?|\w+|&&|\|\||<=|>=|==|!=|[-+*/%<>!(),=])")
LEVELS = [["||"], ["&&"], ["==", "!="], ["<", "<=", ">", ">="], ["+", "-"], ["*", "/", "%"]]


class Parser:
    def __init__(self, text):
        self.tokens = TOKEN.findall(text)
        if "".join(self.tokens) != text.replace(" ", ""):
            raise NotModelled(text)
        self.i = 0

    def next(self):
        return self.tokens[self.i] if self.i < len(self.tokens) else None

    def take(self, what=None):
        t = self.next()
        if t is None or (what and t != what):
            raise NotModelled(f"{what} in {self.tokens}")
        self.i += 1
        return t

    def level(self, k=0):
        if k == len(LEVELS):
            return self.unary()
        x = self.level(k + 1)
        while self.next() in LEVELS[k]:
            op = self.take()
            x = (op, x, self.level(k + 1))
        return x

    def unary(self):
        if self.next() in ("-", "!"):
            return ("neg" if self.take() == "-" else "not", self.unary())
        t = self.take()
        if t == "(":
            x = self.level()
            self.take(")")
            return x
        if self.next() == "(":
            self.take()
            args = [self.level()]
            while self.next() == ",":
                self.take()
                args.append(self.level())
            self.take(")")
            return ("call", t, args)
        return ("leaf", t)


class Matrix:
    def __init__(self, kind, rows, cols, at):
        self.kind, self.rows, self.cols = kind, rows, cols
        f = {"f": n.f32, "i": n.wrap, "b": bool}[kind]
        self.v = [[f(at(r, c)) for c in range(cols)] for r in range(rows)]

    def at(self, r, c):
        return self.v[r if self.rows > 1 else 0][c if self.cols > 1 else 0]


def each(f, kind, *args):
    rows, cols = max(a.rows for a in args), max(a.cols for a in args)
    if any(a.rows not in (1, rows) or a.cols not in (1, cols) for a in args):
        raise NotModelled("shapes")
    return Matrix(kind, rows, cols, lambda r, c: f(*[a.at(r, c) for a in args]))


def number(x, kind="f"):
    return Matrix(kind, 1, 1, lambda r, c: x)


def common(*args):
    return "f" if any(a.kind == "f" for a in args) else "i"


NARROW = {"f32": n.f32, "bf16": n.bf16, "f16": n.f16}


class Design:
    def __init__(self, values, size):
        self.values, self.size = values, size

    def leaf(self, t):
        if t in self.values:
            return self.values[t]
        if t in ("row", "col"):
            size = self.size
            return Matrix("i", size if t == "row" else 1, size if t == "col" else 1,
                          lambda r, c: r if t == "row" else c)
        if t == "inf":
            return number(math.inf)
        if t.isdigit():
            return number(int(t), "i")
        try:
            return number(float(t))
        except ValueError as why:
            raise NotModelled(t) from why

    def value(self, e):
        if e[0] == "leaf":
            return self.leaf(e[1])
        if e[0] == "call":
            return self.call(e[1], [self.value(a) for a in e[2]])
        args = [self.value(a) for a in e[1:]]
        if e[0] == "neg":
            return each(lambda x: -x, args[0].kind, args[0])
        if e[0] == "not":
            return each(lambda x: not x, "b", args[0])
        x, y = args
        if e[0] in ("&&", "||"):
            return each((lambda a, b: a and b) if e[0] == "&&" else (lambda a, b: a or b), "b", x, y)
        compare = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
                   ">=": lambda a, b: a >= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b}
        if e[0] in compare:
            return each(compare[e[0]], "b", x, y)
        kind = common(x, y)
        if e[0] in "/%":
            if any(not v for v in sum(y.v, [])):
                raise NotModelled("by 0")
            if kind == "f" and e[0] == "%":
                raise NotModelled("% of reals")
            f = (lambda a, b: a / b) if kind == "f" else (lambda a, b: a // b) if e[0] == "/" else (lambda a, b: a % b)
            return each(f, kind, x, y)
        return each({"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}[e[0]], kind, x, y)

    def call(self, name, a):
        if name == "select":
            return each(lambda c, x, y: x if c else y, common(a[1], a[2]), *a)
        if name in ("min", "max"):
            return each(min if name == "min" else max, common(*a), *a)
        if name == "abs":
            return each(abs, a[0].kind, a[0])
        if name in ("floor", "ceil"):
            return each(lambda x: float(getattr(math, name)(x)), "f", a[0])
        if name in NARROW:
            return each(NARROW[name], "f", a[0])
        if name == "i32":
            return each(lambda x: max(-(1 << 31), min((1 << 31) - 1, round(x))), "i", a[0])
        if name in ("u8", "i8"):
            low, high = (0, 255) if name == "u8" else (-128, 127)
            return each(lambda x: max(low, min(high, round(x))), "i", a[0])
        bits = {"bitand": lambda x, y: x & y, "bitor": lambda x, y: x | y, "bitxor": lambda x, y: x ^ y,
                "shl": lambda x, y: x << y % 32, "sar": lambda x, y: x >> y % 32}
        if name in bits:
            return each(bits[name], "i", *a)
        if name in ("bits", "from_bits"):
            return each(n.bits_of if name == "bits" else n.from_bits, "i" if name == "bits" else "f", a[0])
        if name in ("rowmax", "rowsum"):
            f = max if name == "rowmax" else sum
            return Matrix(a[0].kind, a[0].rows, 1, lambda r, c: f(a[0].v[r]))
        raise NotModelled(name)

    def integer(self, text):
        return self.value(Parser(str(text)).level()).at(0, 0)

    def steps(self, steps):
        for s in steps:
            if "compute" in s:
                for text in s["compute"] if isinstance(s["compute"], list) else [s["compute"]]:
                    name, right = text.split(" = ", 1)
                    self.values[name] = self.value(Parser(right).level())
            elif "for" in s:
                for k in range(self.integer(s["count"])):
                    self.values[s["for"]] = number(k, "i")
                    self.steps(s["do"])
            elif "if" in s:
                self.steps(s["then"] if self.integer(s["if"]) else s.get("else", []))
            elif "write" in s and "to" in s:
                self.written = self.values[s["write"]]


def run(read, numbers, pid=0):
    group = read["groups"][0]
    tile = Matrix("f", 8, 8, lambda r, c: n.bf16(numbers[r][c]))
    d = Design({"tile": tile, "pid": number(pid, "i")}, 8)
    d.steps(group["body"])
    return [[float(d.written.at(r, c)) for c in range(8)] for r in range(8)]
