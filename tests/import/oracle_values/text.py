"""What Triton's text computes with tiles: types as semantic.py of Triton gives them, element by element.

Nothing here knows the importer. What Triton refuses, or what is not modelled, raises NoKernel.
"""
import math

import numbers_ as n


class NoKernel(Exception):
    pass


FLOATS = {"f32": n.f32, "f16": n.f16, "bf16": n.bf16}
WHOLE = {"i32": (32, True), "i8": (8, True), "u8": (8, False)}


def held(x, dtype):
    if dtype in FLOATS:
        return FLOATS[dtype](x)
    if dtype == "b":
        return int(bool(x))
    return n.wrap(int(x), *WHOLE[dtype])


def type_of(x):
    return "b" if isinstance(x, bool) else "i32" if isinstance(x, int) else "f32"


def kind(dtype):
    return 2 if dtype in FLOATS else 0 if dtype == "b" else 1


def of_tensors(a, b, divides):
    if "f32" in (a, b):
        return "f32"
    if "f16" in (a, b):
        return "f32" if divides else "f16"
    if a == b == "bf16":
        return "f32" if divides else "bf16"
    if "bf16" in (a, b):
        return "f32"
    if a == b:
        return a
    if "i32" in (a, b) and {a, b} <= {"i32", "b", "i8", "u8"}:
        return "i32"
    raise NoKernel("integers of two widths")


def promoted(x, y, divides=False):
    tx, ty = isinstance(x, Tile), isinstance(y, Tile)
    if tx and ty:
        return of_tensors(x.dtype, y.dtype, divides)
    tensor, number = (x, y) if tx else (y, x)
    if isinstance(number, int) and not -(1 << 31) <= number < 1 << 31:
        raise NoKernel("a number of more than 32 bits")
    if kind(type_of(number)) > kind(tensor.dtype):
        return type_of(number)
    return "f32" if divides and tensor.dtype in ("f16", "bf16") else tensor.dtype


def both_shapes(a, b):
    size = max(len(a), len(b))
    a, b = (1,) * (size - len(a)) + a, (1,) * (size - len(b)) + b
    for p, q in zip(a, b):
        if p != q and 1 not in (p, q):
            raise NoKernel("shapes")
    return tuple(max(p, q) for p, q in zip(a, b))


class Tile:
    def __init__(self, shape, dtype, at):
        self.shape, self.dtype = shape, dtype
        if len(shape) > 2:
            raise NoKernel("three dimensions")
        rows, cols = self.grid()
        self.v = [[held(at(r, c), dtype) for c in range(cols)] for r in range(rows)]

    def grid(self):
        return ((1, 1) + self.shape)[-2:] if len(self.shape) < 2 else self.shape

    def at(self, r, c):
        rows, cols = self.grid()
        return self.v[r if rows > 1 else 0][c if cols > 1 else 0]

    def all(self):
        return sum(self.v, [])

    def map(self, dtype, f):
        return Tile(self.shape, dtype, lambda r, c: f(self.at(r, c)))

    def to(self, dtype, fp_downcast_rounding=None, bitcast=False):
        if not isinstance(dtype, Type):
            raise NoKernel("no type")
        dtype = dtype.name
        if fp_downcast_rounding not in (None, "rtne"):
            raise NoKernel("another rounding")
        if bitcast:
            if dtype == self.dtype:
                return self
            if (self.dtype, dtype) == ("f32", "i32"):
                return self.map(dtype, n.bits_of)
            if (self.dtype, dtype) == ("i32", "f32"):
                return self.map(dtype, n.from_bits)
            raise NoKernel("a bitcast")
        if dtype == "b":
            return self.map("b", lambda x: x != 0)
        if self.dtype in FLOATS and dtype in WHOLE:
            bits, signed = WHOLE[dtype]
            least = -(1 << bits - 1) if signed else 0
            most = (1 << bits - signed) - 1
            if any(not math.isfinite(x) or not least <= math.trunc(x) <= most for x in self.all()):
                raise NoKernel("out of range")
            return self.map(dtype, math.trunc)
        return self.map(dtype, float if dtype in FLOATS else int)

    def __getitem__(self, item):
        item = item if isinstance(item, tuple) else (item,)
        if all(i == slice(None) for i in item) and len(item) <= len(self.shape):
            return self
        if len(self.shape) != 1 or len(item) != 2 or None not in item or slice(None) not in item:
            raise NoKernel("an item")
        size = self.shape[0]
        if item[0] is None:
            return Tile((1, size), self.dtype, lambda r, c: self.at(0, c))
        return Tile((size, 1), self.dtype, lambda r, c: self.at(0, r))


def binary(x, y, f, divides=False, dtype=None):
    t = promoted(x, y, divides)
    x, y = as_tile(x, t), as_tile(y, t)
    shape = both_shapes(x.shape, y.shape)
    return Tile(shape, dtype or t, lambda r, c: f(x.at(r, c), y.at(r, c)))


def as_tile(x, dtype):
    return x.to(Type(dtype)) if isinstance(x, Tile) else Tile((), dtype, lambda r, c: x)


def arithmetic(f):
    def g(x, y):
        if promoted(x, y) in ("b", "i8", "u8"):
            raise NoKernel("arithmetic of 8 bits or less")
        return binary(x, y, f)

    return g


def whole(f, conditions=False):
    def g(x, y):
        if not (isinstance(x, Tile) and isinstance(y, Tile) and x.dtype == y.dtype == "b" and conditions):
            if promoted(x, y) != "i32":
                raise NoKernel("no integers")
        return binary(x, y, f)

    return g


def quotient(x, y):
    if not y:
        raise NoKernel("by 0")
    return x / y


def cut(x, y):
    if not y:
        raise NoKernel("by 0")
    q = abs(x) // abs(y)
    return q if (x < 0) == (y < 0) else -q


def shifted(x, y, down):
    if not 0 <= y <= 31:
        raise NoKernel("a shift that far")
    return x >> y if down else x << y


def true_division(x, y):
    t = promoted(x, y, True)
    if t not in FLOATS:
        x, y = as_tile(x, "f32"), as_tile(y, "f32")
    return binary(x, y, quotient, True)


def product(x, y):
    if math.isinf(x) or math.isinf(y):
        raise NoKernel("infinite")
    return x * y


OPERATORS = {
    "add": arithmetic(lambda x, y: x + y), "sub": arithmetic(lambda x, y: x - y), "mul": arithmetic(product),
    "truediv": true_division, "floordiv": whole(cut), "mod": whole(lambda x, y: x - y * cut(x, y)),
    "and": whole(lambda x, y: x & y, True), "or": whole(lambda x, y: x | y, True),
    "lshift": whole(lambda x, y: shifted(x, y, False)), "rshift": whole(lambda x, y: shifted(x, y, True)),
}
COMPARISONS = {"lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "gt": lambda x, y: x > y,
               "ge": lambda x, y: x >= y, "eq": lambda x, y: x == y, "ne": lambda x, y: x != y}
for word, f in OPERATORS.items():
    setattr(Tile, f"__{word}__", lambda x, y, f=f: f(x, y))
    setattr(Tile, f"__r{word}__", lambda x, y, f=f: f(y, x))
for word, f in COMPARISONS.items():
    setattr(Tile, f"__{word}__", lambda x, y, f=f: binary(x, y, f, dtype="b"))
Tile.__neg__ = lambda x: OPERATORS["sub"](0, x)
Tile.__hash__ = None


class Type:
    def __init__(self, name):
        self.name = name


def reduced(f, start=None):
    def g(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False):
        return along(input, axis, keep_dims, f, extreme_type(input.dtype))

    return g


def extreme_type(dtype):
    return "f32" if dtype in FLOATS else "i32"


def along(x, axis, keep, f, dtype):
    x = x.to(Type(dtype))
    if axis is None:
        return Tile((), dtype, lambda r, c: f(x.all()))
    dims = len(x.shape)
    if not -dims <= axis < dims:
        raise NoKernel("an axis")
    axis %= dims
    if dims == 1:
        return Tile((1,) if keep else (), dtype, lambda r, c: f(x.v[0]))
    rows, cols = x.shape
    line = [f(x.v[r]) for r in range(rows)] if axis else [f([x.v[r][c] for r in range(rows)]) for c in range(cols)]
    shape = ((rows, 1) if axis else (1, cols)) if keep else (len(line),)
    return Tile(shape, dtype, lambda r, c: line[r if keep and axis else c])


class Language:
    float32, bfloat16, float16 = Type("f32"), Type("bf16"), Type("f16")
    int32, int8, uint8, int1 = Type("i32"), Type("i8"), Type("u8"), Type("b")
    max, min = staticmethod(reduced(max)), staticmethod(reduced(min))

    @staticmethod
    def sum(input, axis=None, keep_dims=False, dtype=None):
        t = dtype.name if dtype else {"i8": "i32"}.get(input.dtype, input.dtype)
        if t in ("b", "u8"):
            raise NoKernel("a sum without a sign")
        if t in ("bf16", "f16"):  # in f32, as the reading says that it takes for granted
            return along(input, axis, keep_dims, sum, "f32").to(Type(t))
        return along(input, axis, keep_dims, sum, t)

    @staticmethod
    def where(condition, x, y):
        if not isinstance(x, Tile) and not isinstance(y, Tile):
            x = as_tile(x, type_of(x))
        t = promoted(x, y)
        x, y, condition = as_tile(x, t), as_tile(y, t), condition.to(Type("b"))
        shape = both_shapes(both_shapes(x.shape, y.shape), condition.shape)
        return Tile(shape, t, lambda r, c: x.at(r, c) if condition.at(r, c) else y.at(r, c))

    @staticmethod
    def abs(x):
        if x.dtype not in FLOATS and x.dtype != "i32":
            raise NoKernel("abs of 8 bits")
        return x.map(x.dtype, abs)

    @staticmethod
    def floor(x):
        if x.dtype != "f32":
            raise NoKernel("floor of another type")
        return x.map("f32", lambda v: float(math.floor(v)) if math.isfinite(v) else v)

    @staticmethod
    def arange(start, end):
        return Tile((end - start,), "i32", lambda r, c: start + c)


def larger(f):
    def g(x, y):
        x, y = (v if isinstance(v, Tile) else as_tile(v, type_of(v)) for v in (x, y))
        x, y = (v.to(Type("f32")) if v.dtype == "bf16" else v for v in (x, y))
        if promoted(x, y) in ("b", "i8", "u8"):
            raise NoKernel("conditions")
        return binary(x, y, f)

    return g


Language.maximum, Language.minimum = staticmethod(larger(max)), staticmethod(larger(min))


def tile_of_numbers(rows, cols):
    return [[((r * 5 + c * 3 + r * c) % 17 - 8) / 4 for c in range(cols)] for r in range(rows)]


def same(a, b):
    return isinstance(a, Tile) == isinstance(b, Tile) and (
        not isinstance(a, Tile) or (a.dtype, a.shape) == (b.dtype, b.shape))


class Run:
    """Statements by their indentation: assignments, `for` of a range, `if` with an `else`."""

    def __init__(self, names):
        self.names = names

    def value(self, source):
        try:
            return eval(source, dict(self.names))
        except (NoKernel, RecursionError):
            raise
        except (NameError, TypeError, AttributeError, ValueError, OverflowError, ZeroDivisionError) as why:
            raise NoKernel(str(why)) from why

    def assign(self, line):
        left, right = line.split(" = ", 1)
        value = self.value(right)
        names = [x.strip() for x in left.split(",")]
        for name, v in zip(names, value if len(names) > 1 else [value]):
            self.names[name] = v

    def kept_types(self, before):
        for name, v in before.items():
            if not same(v, self.names[name]):
                raise NoKernel("a variable of two types")

    def block(self, lines):
        i = 0
        while i < len(lines):
            line = lines[i]
            body, i = self.body(lines, i + 1)
            head = line.strip()
            if head.startswith("for "):
                for k in range(self.value(head[len("for k in range("):-2])):
                    before = dict(self.names)
                    self.names["k"] = k
                    self.block(body)
                    self.kept_types(before)
            elif head.startswith("if "):
                other = []
                if i < len(lines) and lines[i].strip() == "else:":
                    other, i = self.body(lines, i + 1)
                self.branch(head[3:-1], body, other)
            else:
                self.assign(head)

    def body(self, lines, i):
        depth = len(lines[i - 1]) - len(lines[i - 1].lstrip())
        first = i
        while i < len(lines) and len(lines[i]) - len(lines[i].lstrip()) > depth:
            i += 1
        return lines[first:i], i

    def branch(self, condition, body, other):
        taken = self.value(condition)
        before = dict(self.names)
        for lines in ([] if "steps" in condition else [other, body]):  # both are compiled
            self.names = dict(before)
            self.block(lines)
            self.kept_types({k: v for k, v in before.items()})
        self.names = dict(before)
        self.block(body if taken else other)


def run(lines, numbers, row=0):
    tile = Tile((8, 8), "bf16", lambda r, c: numbers[r][c])
    r = Run({"tl": Language, "tile": tile, "steps": 1, "row": row, "spare": None,
             "twice": lambda x: x * 2, "float": float, "__builtins__": {}})
    r.block([x for x in lines.split("\n") if x])
    x = r.names["doubled"]
    if not isinstance(x, Tile) or x.shape != (8, 8):
        raise NoKernel("no matrix")
    return [[float(x.at(i, k)) for k in range(8)] for i in range(8)]
