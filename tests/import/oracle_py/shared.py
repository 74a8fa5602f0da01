"""Shared memory: buffers, views of them, and which bytes a view may reach."""
import functools
import itertools
from values import Int, NotCompiled, NotModelled, Tile, is_number
from machine import Broken


@functools.lru_cache(maxsize=None)
def bytes_of(space, box):
    """What a box takes, a bit for every 4 bytes. Columns beyond a panel's width lie behind all rows of
    the panel, as in the layouts that the engines read."""
    base, shape, size, panel = space
    if not shape:
        return 1 << base // 4
    cols, (left, right) = shape[-1], box[-1]
    rows, (top, bottom) = (shape[-2], box[-2]) if len(shape) > 1 else (1, (0, 1))
    wide = min(panel // size or cols, cols)
    block, mask = rows * cols * size, 0
    for p in range(left // wide, (right + wide - 1) // wide):
        l, r = max(left - p * wide, 0), min(right - p * wide, wide)
        at = base + p * rows * wide * size
        if r - l == wide:
            runs = [(at + top * wide * size, at + bottom * wide * size)]
        else:
            runs = [(at + (y * wide + l) * size, at + (y * wide + r) * size) for y in range(top, bottom)]
        for a, b in runs:
            mask |= ((1 << ((b + 3) // 4 - a // 4)) - 1) << a // 4
    out = 0
    for index in itertools.product(*[range(a, b) for a, b in box[:-2]]):
        flat = 0
        for n, i in zip(shape, index):
            flat = flat * n + i
        out |= mask << flat * block // 4
    return out


class Region:
    """Bytes of an allocation."""
    __slots__ = ("alloc", "bytes")

    def __init__(self, alloc, space, box):
        self.alloc, self.bytes = alloc, bytes_of(space, tuple(box))

    def meets(self, other):
        return self.bytes & other.bytes != 0

    def covers(self, other):
        return other.bytes & ~self.bytes == 0

    def gaps(self):
        low = self.bytes & -self.bytes
        return (self.bytes + low) & self.bytes != 0

    def first(self):
        return 4 * ((self.bytes & -self.bytes).bit_length() - 1)


def panel_of(layout, shape, dtype):
    k = getattr(layout, "k", {})
    if "swizzle_byte_width" in k:
        return int(k["swizzle_byte_width"])
    if getattr(layout, "engine", False):
        wide = shape[-1] * dtype.itemsize
        return next((n for n in (128, 64, 32) if wide % n == 0), 0)
    return 0


class View:
    """`dims`: which dimension of the space each of the view's is; None: one of extent 1 beside it."""

    def __init__(self, machine, name, alloc, space, box, dims, dtype, layout=None, barrier=False):
        self.machine, self.name, self.alloc, self.space = machine, name, alloc, space
        self.box, self.dims, self.dtype, self.layout, self.barrier = list(box), list(dims), dtype, layout, barrier
        self.beyond = None  # an index that is out of range does harm once it is used

    def __getitem__(self, i):
        if not getattr(self.machine, "subscripts", False):
            raise TypeError("'View' object is not subscriptable")
        return self.index(i)

    @property
    def shape(self):
        return [1 if d is None else self.box[d][1] - self.box[d][0] for d in self.dims]

    @property
    def type(self):
        return self

    @property
    def element_ty(self):
        return self.dtype

    @property
    def rank(self):
        return len(self.dims)

    @property
    def numel(self):
        n = 1
        for x in self.shape:
            n *= x
        return n

    @property
    def nbytes(self):
        return self.numel * self.dtype.itemsize

    def region(self):
        if self.beyond:
            raise Broken("range", self.beyond)
        return Region(self.alloc, self.space, self.box)

    def _with(self, box, dims, name):
        made = View(self.machine, name, self.alloc, self.space, box, dims, self.dtype, self.layout, self.barrier)
        made.beyond = self.beyond
        return made

    def index(self, index):
        if not self.dims or not (isinstance(index, Int) or is_number(index)):
            raise NotCompiled(f"an index of {self.name}")
        i, n = int(index), self.shape[0]
        box, d = list(self.box), self.dims[0]
        if d is not None:
            at = box[d][0] + (i if 0 <= i < n else 0)
            box[d] = (at, at + 1)
        made = self._with(box, self.dims[1:], f"{self.name}[{i}]")
        if not 0 <= i < n:
            made.beyond = f"{made.name} of {n}"
        return made

    def slice(self, start, length, dim=0):
        if not all(is_number(x) for x in (start, length, dim)):
            raise NotCompiled("a slice that is not known while compiling")
        d, n = self.dims[dim], self.shape[dim]
        if start < 0 or length < 1 or start + length > n:
            raise NotCompiled(f"slice {start}..{start + length} of {n}")
        box = list(self.box)
        if d is not None:
            box[d] = (box[d][0] + start, box[d][0] + start + length)
        return self._with(box, self.dims, f"{self.name}[{start}:{start + length}]")

    def subslice(self, start, length, dim=-1):
        return self.slice(start, length, dim % len(self.dims))

    def slot(self, stage):
        return self.index(stage)

    def permute(self, *order, **kw):
        order = kw.get("order", order)
        order = order[0] if len(order) == 1 and isinstance(order[0], (tuple, list)) else order
        if sorted(int(i) for i in order) != list(range(len(self.dims))):
            raise NotCompiled("an order that is none")
        return self._with(self.box, [self.dims[int(i)] for i in order], self.name)

    def reshape(self, *shape, **kw):
        shape = kw.get("shape", shape)
        shape = [int(n) for n in (shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape)]
        real = [(d, n) for d, n in zip(self.dims, self.shape) if n != 1]
        if [n for n in shape if n != 1] == [n for _, n in real]:
            real = [d for d, _ in real]
            return self._with(self.box, [None if n == 1 else real.pop(0) for n in shape], self.name)
        return self._reinterpret(self.dtype, shape, self.layout, exactly=True)

    def _reinterpret(self, dtype, shape, layout=None, exactly=False):
        region = self.region()
        if region.gaps() or self.dims != sorted(d for d in self.dims if d is not None):
            raise NotModelled("another shape of a view with gaps")
        shape = [int(n) for n in shape]
        size = dtype.itemsize
        for n in shape:
            size *= n
        if size > self.nbytes or (exactly and size != self.nbytes):
            raise NotCompiled("another shape that is larger")
        return View(self.machine, self.name, self.alloc, (region.first(), tuple(shape), dtype.itemsize, panel_of(layout or self.layout, shape, dtype)),
                    [(0, n) for n in shape], range(len(shape)), dtype, layout or self.layout, self.barrier)

    def _keep_alive(self):
        pass

    # --- what the agents do with it ----------------------------------------------------------

    def place(self):
        if not self.barrier or self.numel != 1:
            raise NotCompiled(f"{self.name} is no barrier")
        return self.alloc, self.region().first()

    def store(self, value):
        if isinstance(value, Tile):
            value.read()
            if list(value.shape) != self.shape:
                raise NotCompiled(f"a store of {list(value.shape)} to {self.shape}")
        self.machine.touch(self.region(), True, f"store to {self.name}", False)
        known = value.value if isinstance(value, Tile) else value.v if isinstance(value, Int) else None
        region = self.region()
        self.machine.values[region.alloc, region.bytes] = known

    def load(self, layout=None):
        self.machine.touch(self.region(), False, f"load of {self.name}", False)
        region = self.region()
        return Tile(self.shape, self.dtype, self.machine.values.get((region.alloc, region.bytes)))

    load.op = store.op = True


def allocate(machine, name, dtype, shape, layout=None, barrier=False):
    shape = [int(n) for n in shape]
    machine.allocated += 1
    return View(machine, name or f"#{machine.allocated}", machine.allocated,
                (0, tuple(shape), dtype.itemsize, panel_of(layout, shape, dtype)), [(0, n) for n in shape], range(len(shape)), dtype, layout, barrier)


def over(view, base, offset):
    """The view in the bytes of another one, from `offset` on."""
    first = base.region().first() + offset
    if first + view.nbytes > base.region().bytes.bit_length() * 4:
        raise NotCompiled("an alias beyond its buffer")
    return View(view.machine, view.name, base.alloc, (first,) + view.space[1:], view.box, view.dims, view.dtype,
                view.layout)
