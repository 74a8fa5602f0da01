"""What Gluon, TLE and TLX share with Triton: scalars, tiles, pointers, and what they do to the machine."""
import random
from values import (DTYPES, Int, NotCompiled, NotModelled, Pointer, Tile, assigned, binary, broadcast, float32, int1,
                    int32, is_number, promoted, reduced)
from machine import Broken
from transform import Jit, dynamic_range, extreme, static_range
from host import Descriptor
import builtins


class now:
    machine = None


def op(f):
    """The schedule may turn to another agent before it."""
    f.op = True
    return f


class constexpr:
    """What the compiler knows is Python's own."""

    def __new__(cls, value=None, *a, **k):
        return value


def whole(v, what="a number"):
    """A number that has to be known while compiling."""
    if not is_number(v):
        raise NotCompiled(f"{what} is no constant")
    return int(v)


def scalar(v, what="a scalar"):
    if isinstance(v, Tile) and v.shape == ():
        raise NotModelled(f"{what} by data")
    if not (isinstance(v, Int) or is_number(v)):
        raise NotCompiled(f"{what} is no integer")
    return int(v)


def cdiv(a, b):
    return (a + (b - 1)) // b


def where(c, a, b):
    if isinstance(c, Int) or is_number(c):
        a, b = assigned(a), assigned(b)
        if isinstance(a, Int) and isinstance(b, Int):
            return Int(a if c else b, promoted(a.dtype, b.dtype))
        c = Tile((), int1)
    for x in (c, a, b):
        if isinstance(x, Tile):
            x.read()
    shape = ()
    for x in (c, a, b):
        shape = broadcast(shape, tuple(x.shape) if isinstance(x, Tile) else ())
    kinds = [x.dtype for x in (a, b) if isinstance(x, (Tile, Int))] or [float32]
    return Tile(shape, max(kinds, key=lambda d: (d.kind, d.primitive_bitwidth)))


def full(shape, value, dtype, *a, **k):
    known = value.v if isinstance(value, Int) else value if is_number(value) else None
    return Tile([whole(n) for n in shape], dtype, known if dtype.kind < 2 else None)


def elementwise(x, *rest, **k):
    out = x if isinstance(x, Tile) else Tile((), float32)
    out.read()
    for r in rest:
        out = out + r if isinstance(r, (Tile, Int)) else out
    return Tile(out.shape, out.dtype)


def arange(start, end, layout=None, **k):
    return Tile((whole(end) - whole(start),), int32)


def loaded(p, mask=None, other=None, **k):
    """From global memory."""
    if isinstance(p, Descriptor):
        raise NotModelled("a load by descriptor")
    if not isinstance(p, Pointer):
        raise NotCompiled("a load from no pointer")
    if p.at is None or p.shape != ():
        return Tile(p.shape, p.dtype)
    if p.dtype.kind == 2:
        return Tile((), p.dtype)
    if isinstance(mask, Tile):
        raise NotModelled("a scalar under a mask of a tile")
    if mask is not None and not mask:
        return assigned(other if other is not None else 0)
    lo, hi = p.tensor.bounds or (0, 1 << 20)
    rng = random.Random(f"{now.machine.data} {p.tensor.name} {p.at}")
    v = rng.choice([0, 1, 2, 3, 5, 63, 64, 65, 128, 150, 192, 260, 320])
    return Int(min(max(v, lo), hi - 1), p.dtype)


@op
def stored(p, value, mask=None, **k):
    if isinstance(value, Tile):
        value.read()
    if isinstance(p, Descriptor):
        raise NotModelled("a store by descriptor")


@op
def atomic_add(p, value, mask=None, **k):
    if isinstance(value, Tile) or p.at is None:
        return Tile(p.shape, p.dtype)
    m = now.machine
    before = m.counters.get(p.tensor.name, 0)
    m.counters[p.tensor.name] = before + 1
    return Int(before, p.dtype)


def static_assert(c, *a):
    if not c:
        raise NotCompiled("a static assertion")


@op
def thread_barrier():
    pass


def converted(x, *a, **k):
    if isinstance(x, Tile):
        return Tile(x.read().shape, x.dtype, x.value)
    return x


def broadcast_to(x, shape, *a, **k):
    return Tile([whole(n) for n in shape], x.dtype, getattr(x, "value", None))


def same(x, *a, **k):
    return x


def nothing(*a, **k):
    return None


class Layout:
    def __init__(self, *a, **k):
        self.a, self.k = a, k
        self.parent = a[1] if len(a) > 1 else k.get("parent")

    @classmethod
    def get_default_for(cls, *a, **k):
        made = cls(*a, **k)
        made.engine = True
        return made

    def __getattr__(self, name):
        if name in self.__dict__.get("k", {}):
            return self.k[name]
        raise AttributeError(name)


class Kind:
    """A name that stands in annotations."""


def triton_words():
    words = dict(DTYPES, constexpr=constexpr, static_range=static_range, range=dynamic_range, cdiv=cdiv, where=where,
                 full=full, arange=arange, load=loaded, store=stored, atomic_add=atomic_add,
                 static_assert=static_assert, minimum=extreme("min"), maximum=extreme("max"), max=reduced,
                 min=reduced, sum=reduced, convert_layout=converted, multiple_of=same, max_contiguous=same,
                 max_constancy=same, assume=nothing, static_print=nothing, device_print=nothing, tensor=Kind,
                 device_assert=nothing, broadcast_to=broadcast_to, debug_barrier=thread_barrier,
                 to_tensor=assigned, cast=lambda x, d, **k: x.to(d), num_warps=lambda: now.warps)
    for n in "exp exp2 log log2 sqrt rsqrt abs fma cos sin erf sigmoid floor ceil sqrt_rn fdiv div_rn clamp".split():
        words[n] = elementwise
    words["zeros"] = lambda shape, dtype=float32, *a, **k: full(shape, 0, dtype)
    words["expand_dims"] = lambda x, axis: x[tuple(None if i == axis else slice(None)
                                                   for i in builtins.range(len(x.shape) + 1))]
    words["program_id"] = lambda axis=0: Int(now.machine.program[whole(axis)])
    words["num_programs"] = lambda axis=0: Int(now.machine.programs[whole(axis)])
    words["reshape"] = lambda x, *s, **k: x.reshape(*s)
    words["permute"] = words["trans"] = lambda x, *o, **k: x.permute(*o) if o else x.trans()
    words["split"] = lambda x: x.split()
    words["reduce"] = lambda x, axis, *a, **k: reduced(x, axis)
    words["join"] = lambda a, b: Tile(tuple(a.read().shape) + (2,), a.dtype)
    return words


def ended_products(left):
    now.machine.retire("products", left)


def product(a, b, acc, use_acc, sync, token, what="a product", shape=None):
    """One product as a group of its own; the accumulator that it gives."""
    m = now.machine
    bit = m.transfer(what)
    for x in (a, b):
        if isinstance(x, Tile):
            x.read()
        else:
            m.touch(x.region(), False, f"{what} of {x.name}", True, bit)
    if isinstance(use_acc, Tile):
        raise NotModelled("use_acc by data")
    keep = tuple(acc.flying) if use_acc and acc is not None else ()
    m.agent.products.append((bit, what))
    if sync:
        ended_products(0)
        return Tile(shape, float32)
    return Tile(shape, float32, None, keep + (bit,), token)


def specialize(parts, warps):
    """parts: (function, arguments)."""
    m = now.machine
    tasks = []
    for i, (f, args) in enumerate(parts):
        if not isinstance(f, Jit):
            raise NotCompiled("a partition that is no kernel function")
        tasks.append((f"{f.__name__}#{i}", warps[i], f.go(tuple(args), {})))
    return m.specialize(tasks)


def tma_load(desc, size, place_view, barrier, what):
    """A transfer that writes a view and signals its bytes."""
    m = now.machine
    where_, name = barrier.place(), barrier.name
    target = m.barrier(where_, name)

    def ends(bit):
        target.tx -= size
        target.now.bits |= 1 << bit
        target.settle()
    bit = m.transfer(what, ends)
    m.touch(place_view.region(), True, what, True, bit)


def squeezed(shape):
    return [int(n) for n in shape if int(n) != 1]


def same_box(desc, view):
    if squeezed(desc.block_shape) != squeezed(view.shape):
        raise NotCompiled(f"a copy of {desc.block_shape} for {view.shape}")
    if desc.dtype is not view.dtype:
        raise NotCompiled(f"a copy of {desc.dtype} for {view.dtype}")
