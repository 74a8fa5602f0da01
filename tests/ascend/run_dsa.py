"""Runs TLE-DSA text on lists of numbers, in its own order, and compares what it writes with what the design
says: python3 run_dsa.py TEXT add|gemm SIZE... Exit 0: right. Nothing of Triton is needed."""
import random
import sys
import types


class Grid:
    """Integers, or places in memory, of one or two dimensions."""

    def __init__(self, rows, mem=None):
        self.rows, self.mem = rows, mem

    def __getitem__(self, key):
        flat = self.rows[0]
        return Grid([[x] for x in flat]) if key[1] is None else Grid([list(flat)])

    def map(self, f):
        return Grid([[f(x) for x in r] for r in self.rows], self.mem)

    def to(self, dtype):
        return self

    def __mul__(self, n):
        return self.map(lambda x: x * n)

    def __add__(self, other):
        if not isinstance(other, Grid):
            return self.map(lambda x: x + other)
        h, w = max(len(self.rows), len(other.rows)), max(len(self.rows[0]), len(other.rows[0]))
        at = lambda g, i, j: g.rows[i if len(g.rows) > 1 else 0][j if len(g.rows[0]) > 1 else 0]
        return Grid([[at(self, i, j) + at(other, i, j) for j in range(w)] for i in range(h)], self.mem or other.mem)

    __radd__ = __add__


class Tile:
    def __init__(self, shape, space=None):
        self.h, self.w = (1, shape[0]) if len(shape) == 1 else shape
        self.space = space
        self.v = [[float("nan")] * self.w for _ in range(self.h)]

    def to(self, dtype):
        return self


MOVES = {("L1", "L0A"), ("L1", "L0B")}


def copy(src, dst, shape):
    h, w = (1, shape[0]) if len(shape) == 1 else shape
    if isinstance(src, Grid):
        assert dst.space in ("UB", "L1", "L0A", "L0B"), dst.space
        for i in range(h):
            for j in range(w):
                dst.v[i][j] = src.mem[src.rows[i][j]]
    elif isinstance(dst, Grid):
        assert src.space in ("UB", "L0C"), src.space
        for i in range(h):
            for j in range(w):
                assert dst.mem[dst.rows[i][j]] is None, "written twice"
                dst.mem[dst.rows[i][j]] = src.v[i][j]
    else:
        assert (src.space, dst.space) in MOVES, (src.space, dst.space)
        dst.v = [list(r) for r in src.v]


def elementwise(f):
    def run(a, b, into):
        assert a.space == b.space == into.space == "UB"
        into.v = [[f(x, y) for x, y in zip(r, s)] for r, s in zip(a.v, b.v)]
    return run


def zeros(shape, dtype):
    t = Tile(shape)
    t.v = [[0.0] * t.w for _ in range(t.h)]
    return t


def trans(t):
    r = Tile([t.w, t.h], t.space)
    r.v = [list(c) for c in zip(*t.v)]
    return r


def dot(a, b, acc):
    assert a.space == "L0A" and b.space == "L0B", (a.space, b.space)
    r = Tile([a.h, b.w])
    r.v = [[acc.v[i][j] + sum(a.v[i][k] * b.v[k][j] for k in range(a.w)) for j in range(b.w)] for i in range(a.h)]
    return r


def to_buffer(t, space):
    t.space = space
    return t


def modules(pid, programs):
    tl = types.ModuleType("triton.language")
    tl.arange = lambda a, b: Grid([list(range(a, b))])
    tl.cdiv = lambda a, b: -(-a // b)
    tl.minimum, tl.maximum = min, max
    tl.program_id = lambda axis: pid
    tl.num_programs = lambda axis: programs
    tl.zeros, tl.trans, tl.dot = zeros, trans, dot
    tl.float32 = tl.float16 = tl.bfloat16 = tl.int64 = None
    dsa = types.SimpleNamespace(
        ascend=types.SimpleNamespace(**{s: s for s in ("UB", "L1", "L0A", "L0B", "L0C")}),
        alloc=lambda shape, dtype, mem_addr_space: Tile(shape, mem_addr_space),
        copy=copy, to_tensor=lambda t: t, to_buffer=to_buffer,
        add=elementwise(lambda x, y: x + y), sub=elementwise(lambda x, y: x - y),
        mul=elementwise(lambda x, y: x * y), div=elementwise(lambda x, y: x / y),
        max=elementwise(max), min=elementwise(min))
    tle = types.ModuleType("triton.experimental.tle")
    tle.dsa = dsa
    triton = types.ModuleType("triton")
    triton.jit = lambda f: f
    experimental = types.ModuleType("triton.experimental")
    triton.language, triton.experimental, experimental.tle = tl, experimental, tle
    return {"triton": triton, "triton.language": tl, "triton.experimental": experimental, "triton.experimental.tle": tle}


def run(text, programs, tensors, sizes):
    for pid in range(programs):
        sys.modules.update(modules(pid, programs))
        scope = {}
        exec(text, scope)
        scope["kernel"](*[Grid([[0]], t) for t in tensors], *sizes)


def main():
    text, what, sizes = open(sys.argv[1]).read(), sys.argv[2], [int(x) for x in sys.argv[4:]]
    tile = int(sys.argv[3])
    random.seed(7)
    some = lambda n: [float(random.randint(-4, 4)) for _ in range(n)]
    if what == "add":
        n = sizes[0]
        x, y, z = some(n), some(n), [None] * n
        run(text, 2, [x, y, z], sizes)
        want = [a + b for a, b in zip(x, y)]
    else:
        m, n, k = sizes
        x, y, z = some(m * k), some(n * k), [None] * (m * n)
        run(text, m // tile * (n // tile), [x, y, z], sizes)
        want = [sum(x[i * k + c] * y[j * k + c] for c in range(k)) for i in range(m) for j in range(n)]
    sys.exit(0 if z == want else 1)


main()
