"""Scalars and tiles as a compiled kernel has them: integers of a width that wrap, quotients that are cut
towards zero, tiles of which only the shape is known (and the value where all elements are one number).
Numbers that are known while a kernel is compiled (`constexpr`) are Python's own."""


class Said(Exception):
    """A kernel ends here; `kind` says why."""
    kind = "?"


class NotCompiled(Said):
    kind = "does not compile"


class NotModelled(Said):
    kind = "not modelled"


class Wrong(Said):
    kind = "wrong"


class Dtype:
    def __init__(self, name, bits, kind, signed=False):
        self.name, self.primitive_bitwidth, self.kind, self.signed = name, bits, kind, signed
        self.scalar, self.element_ty, self.itemsize = self, self, max(bits // 8, 1)

    def __repr__(self):
        return self.name

    def is_fp8(self):
        return self.kind == 2 and self.primitive_bitwidth == 8

    def is_floating(self):
        return self.kind == 2

    def fit(self, v):
        if self.primitive_bitwidth == 1:
            return v & 1
        v &= (1 << self.primitive_bitwidth) - 1
        return v - (1 << self.primitive_bitwidth) if self.signed and v >> (self.primitive_bitwidth - 1) else v

    def takes(self, v):
        return self.fit(v) == v


int1 = Dtype("int1", 1, 0)
ints = {f"int{b}": Dtype(f"int{b}", b, 1, True) for b in (8, 16, 32, 64)}
ints.update({f"uint{b}": Dtype(f"uint{b}", b, 1) for b in (8, 16, 32, 64)})
floats = {n: Dtype(n, b, 2) for n, b in (("float64", 64), ("float32", 32), ("float16", 16), ("bfloat16", 16),
                                         ("float8e5", 8), ("float8e4nv", 8))}
DTYPES = dict(ints, int1=int1, **floats)
int32, int64, float32 = ints["int32"], ints["int64"], floats["float32"]


def promoted(a, b):
    if a.signed == b.signed:
        return a if a.primitive_bitwidth > b.primitive_bitwidth else b
    if not a.signed:
        return a if a.primitive_bitwidth >= b.primitive_bitwidth else b
    return b if b.primitive_bitwidth >= a.primitive_bitwidth else a


def cut(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


OPS = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "and": lambda a, b: a & b,
       "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "floordiv": cut, "mod": lambda a, b: a - cut(a, b) * b}
COMPARE = {"lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
           "eq": lambda a, b: a == b, "ne": lambda a, b: a != b}


class Int:
    """An integer in a register, the same in all threads of its group."""
    __slots__ = ("v", "dtype")
    shape = ()

    def __init__(self, v, dtype=int32):
        self.v, self.dtype = dtype.fit(int(v)), dtype

    def __repr__(self):
        return f"{self.v}"

    def __bool__(self):
        return self.v != 0

    def __index__(self):
        return self.v

    def __hash__(self):
        return hash(self.v)

    @property
    def type(self):
        return self.dtype

    def to(self, dtype, **kw):
        if dtype.kind == 2:
            return Tile((), dtype)
        if dtype is int1:
            return Int(self.v != 0, int1)
        return Int(self.v, dtype)

    cast = to

    def __neg__(self):
        return Int(-self.v, self.dtype)

    def __pos__(self):
        return self

    def __invert__(self):
        return Int(~self.v, self.dtype)

    def item(self):
        return self


def typed(v, other):
    """A number of the compiler's beside a value of `other`'s type."""
    if isinstance(v, Int):
        return v, v.dtype
    own = int1 if isinstance(v, bool) else int32 if -2**31 <= v < 2**31 else int64
    kind = other.kind
    if own.kind <= kind:
        if not other.takes(int(v)):
            raise NotCompiled(f"{v} is no {other}")
        return Int(v, other), other
    return Int(v, own), own


def is_number(v):
    return isinstance(v, (int, bool)) and not isinstance(v, Int)


def binary(name, a, b):
    if isinstance(a, float) or isinstance(b, float):
        if isinstance(a, Int) or isinstance(b, Int):
            return Tile((), float32)
    if not all(isinstance(x, Int) or is_number(x) for x in (a, b)):
        return NotImplemented
    if isinstance(a, Int):
        b, _ = typed(b, a.dtype)
    else:
        a, _ = typed(a, b.dtype)
    if name in COMPARE:
        return Int(COMPARE[name](a.v, b.v), int1)
    if name in ("shl", "shr"):
        if not 0 <= b.v < a.dtype.primitive_bitwidth:
            raise NotModelled("a shift by more than the width")
        return Int(a.v << b.v if name == "shl" else a.v >> b.v, promoted(a.dtype, b.dtype))
    if name in ("floordiv", "mod"):
        if a.dtype.signed != b.dtype.signed:
            raise NotCompiled("a quotient of numbers with and without a sign")
        if b.v == 0:
            raise Wrong("a division by zero")
    if name == "truediv":
        return Tile((), float32)
    if name == "pow":
        raise NotCompiled("**")
    return Int(OPS[name](a.v, b.v), promoted(a.dtype, b.dtype))


for word, python in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("and", "and"), ("or", "or"), ("xor", "xor"),
                     ("floordiv", "floordiv"), ("mod", "mod"), ("shl", "lshift"), ("shr", "rshift"),
                     ("truediv", "truediv"), ("pow", "pow")):
    setattr(Int, f"__{python}__", lambda self, other, w=word: binary(w, self, other))
    setattr(Int, f"__r{python}__", lambda self, other, w=word: binary(w, other, self))
for word in COMPARE:
    setattr(Int, f"__{word}__", lambda self, other, w=word: binary(w, self, other))


def shape_of(x):
    return tuple(x.shape) if isinstance(x, (Tile, Pointer)) else ()


def broadcast(a, b):
    if a is None or b is None:
        return None
    a, b = tuple(int(n) for n in a), tuple(int(n) for n in b)
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
    for x, y in zip(a, b):
        if x != y and 1 not in (x, y):
            raise NotCompiled(f"shapes {list(a)} and {list(b)}")
    return tuple(max(x, y) for x, y in zip(a, b))


class Tile:
    """A tile in registers: its shape; the one number that all its elements are, or None; the products
    that still write it (`flying`, transfers of the machine); whether it is an accumulator's token."""
    machine = None  # who is asked whether products are over

    def __init__(self, shape, dtype=float32, value=None, flying=(), token=False):
        self.shape = None if shape is None else tuple(int(n) for n in shape)
        self.dtype, self.value, self.flying, self.token = dtype, value, tuple(flying), token

    @property
    def type(self):
        return self

    @property
    def scalar(self):
        return self.dtype

    @property
    def numel(self):
        n = 1
        for x in self.shape:
            n *= x
        return n

    def __bool__(self):
        raise NotModelled("a decision by a tile, or by data")

    __index__ = __bool__

    def read(self):
        """The value is looked at: what writes it has to be over."""
        if self.token:
            raise NotCompiled("an accumulator as a value")
        if self.flying:
            Tile.machine.value_read(self)
        return self

    def to(self, dtype, **kw):
        self.read()
        return Tile(self.shape, dtype, self.value if dtype.kind < 2 else None)

    def item(self):
        return self

    def reshape(self, *shape, **kw):
        self.read()
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else shape
        return Tile(shape, self.dtype, self.value)

    def permute(self, *order, **kw):
        self.read()
        order = order[0] if len(order) == 1 and isinstance(order[0], (list, tuple)) else order
        return Tile(tuple(self.shape[int(i)] for i in order), self.dtype, self.value)

    def trans(self, *order):
        return self.permute(*(order or range(len(self.shape))[::-1]))

    @property
    def T(self):
        return self.trans()

    def split(self, **kw):
        self.read()
        return Tile(self.shape[:-1], self.dtype), Tile(self.shape[:-1], self.dtype)

    def __getitem__(self, key):
        self.read()
        out, rest = [], list(self.shape)
        for k in key if isinstance(key, tuple) else (key,):
            if k is None:
                out.append(1)
            elif isinstance(k, slice) and k == slice(None):
                out.append(rest.pop(0))
            else:
                raise NotCompiled("an element of a tile")
        return Tile(out + rest, self.dtype, self.value)

    def __neg__(self):
        return Tile(self.read().shape, self.dtype)

    def __invert__(self):
        return Tile(self.read().shape, self.dtype)

    def __getattr__(self, name):
        if name in ("max", "min", "sum", "exp2", "exp", "log", "abs", "sqrt"):
            return lambda *a, **k: reduced(self, *a, **k) if name in ("max", "min", "sum") else self + 0.0
        raise AttributeError(name)


class Pointer:
    """A place in a tensor: `at` is the element (None: of a tile of places)."""

    def __init__(self, tensor, at=0, shape=()):
        self.tensor, self.at, self.shape = tensor, at, shape

    @property
    def dtype(self):
        return self.tensor.triton_dtype

    @property
    def type(self):
        return self

    @property
    def element_ty(self):
        return self.dtype

    @property
    def scalar(self):
        return self

    def to(self, *a, **k):
        return self

    def __bool__(self):
        raise NotModelled("a decision by a pointer")

    def __getitem__(self, key):
        return Pointer(self.tensor, None, Tile(self.shape)[key].shape)


def reduced(tile, axis=None, keep_dims=False, **kw):
    if isinstance(tile, Int):
        return tile
    tile.read()
    left = () if axis is None else tuple(n for i, n in enumerate(tile.shape) if i != int(axis) % len(tile.shape))
    if not left:
        return Tile((), tile.dtype) if tile.value is None else Int(tile.value, tile.dtype)
    return Tile(left, tile.dtype, tile.value)


def of_tiles(name, a, b):
    for x in (a, b):
        if isinstance(x, Tile):
            x.read()
    if isinstance(a, Pointer) or isinstance(b, Pointer):
        if name not in ("add", "sub") or (isinstance(a, Pointer) and isinstance(b, Pointer)):
            return Tile(broadcast(shape_of(a), shape_of(b)), int1 if name in COMPARE else int64)
        p, off = (a, b) if isinstance(a, Pointer) else (b, a)
        if isinstance(off, Tile):
            return Pointer(p.tensor, None, broadcast(p.shape, off.shape))
        at = None if p.at is None else p.at + (int(off) if name == "add" else -int(off))
        return Pointer(p.tensor, at, p.shape)
    shape = broadcast(shape_of(a), shape_of(b))
    if name in COMPARE:
        return Tile(shape, int1)
    kinds = [x.dtype for x in (a, b) if isinstance(x, (Tile, Int))]
    dtype = max(kinds, key=lambda d: (d.kind, d.primitive_bitwidth))
    if isinstance(a, float) or isinstance(b, float):
        dtype = dtype if dtype.kind == 2 else float32
    return Tile(shape, dtype)


def _tile_op(self, other, name, swapped):
    if not isinstance(other, (Tile, Pointer, Int, int, float, bool)):
        return NotImplemented
    return of_tiles(name, other, self) if swapped else of_tiles(name, self, other)


for word, python in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("and", "and"), ("or", "or"), ("xor", "xor"),
                     ("floordiv", "floordiv"), ("mod", "mod"), ("shl", "lshift"), ("shr", "rshift"),
                     ("truediv", "truediv")):
    for cls in (Tile, Pointer):
        setattr(cls, f"__{python}__", lambda self, o, w=word: _tile_op(self, o, w, False))
        setattr(cls, f"__r{python}__", lambda self, o, w=word: _tile_op(self, o, w, True))
for word in COMPARE:
    for cls in (Tile, Pointer):
        setattr(cls, f"__{word}__", lambda self, o, w=word: _tile_op(self, o, w, False))
        setattr(cls, "__hash__", object.__hash__)


def assigned(v):
    """What `name = v` holds: numbers go into registers."""
    if isinstance(v, bool):
        return Int(v, int1)
    if isinstance(v, int):
        if -2**31 <= v < 2**31:
            return Int(v, int32)
        if v < 2**32:
            return Int(v, ints["uint32"])
        return Int(v, int64)
    if isinstance(v, float):
        return Tile((), float32)
    if type(v) is tuple:
        return tuple(assigned(x) for x in v)
    return v
