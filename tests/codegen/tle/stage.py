"""Runs an exported TLE kernel on a stage of dummies and writes down what each partition does.

Nothing of Triton is here: modules of these names are made whose functions record. Integers are
real, tensors are Tile, which swallows every operation. Partitions run one after another, waits do
not wait: what is compared is the sequence of barrier operations with index and phase evaluated.
"""
import ast
import sys
import types


class Tile:
    def _same(self, *_args, **_kw):
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _same
    __rtruediv__ = __floordiv__ = __mod__ = __neg__ = __invert__ = __and__ = __or__ = _same
    __rand__ = __ror__ = __lt__ = __le__ = __gt__ = __ge__ = __getitem__ = to = _same
    __radd__ = __rmod__ = _same

    def __eq__(self, _other):
        return self

    def __ne__(self, _other):
        return self

    __hash__ = None


class Tensor(Tile):
    """A tensor on the host, a pointer in the kernel. `scalar`: what loads of one element give."""

    def __init__(self, name, shape, scalar=None):
        self.name, self.shape, self.scalar, self.device = name, shape, scalar, "cuda"

    def _same(self, *_args, **_kw):
        return self

    __add__ = __radd__ = _same

    class AnyType:
        """Types of tensors are not judged here."""

        def __ne__(self, other):
            return False

    dtype = AnyType()

    def stride(self):
        steps = [1]
        for n in self.shape[:0:-1]:
            steps.insert(0, steps[0] * n)
        return tuple(steps)

    def element_size(self):
        return 16


class Desc:
    def __init__(self, base, shape, strides, block):
        assert len(shape) == len(strides) == len(block)
        self.name, self.rank, self.block = base.name, len(shape), block


class Cell:
    def __init__(self, name):
        self.name = name


class View:
    def __init__(self, name):
        self.name = name

    def slot(self, i):
        assert isinstance(i, int), "stage must be an integer"
        return View(f"{self.name}[{i}]")

    def subslice(self, start, length, dim=-1):
        assert isinstance(start, int) and isinstance(length, int)
        return View(f"{self.name}.{'rows' if dim == 0 else 'cols'}({start},{length})")


class Barriers:
    def __init__(self, name, n, arrive_count=1, init="PENDING", expect_bytes=None):
        self.name, self.n, self.count, self.init, self.bytes = (
            name, n, arrive_count, init, expect_bytes)

    def __getitem__(self, i):
        assert isinstance(i, int) and 0 <= i < self.n, f"{self.name}[{i}] of {self.n}"
        return (self, i)


class Pipe:
    def __init__(self, stage, name, capacity, readers, fields):
        self.stage, self.name, self.capacity, self.readers = stage, name, capacity, readers
        self.fields = fields

    def writer(self):
        return End(self, None)

    def reader(self, name=None, fields=None):
        assert (name is None) == (not self.readers) and (not name or name in self.readers)
        return End(self, fields)


class End:
    def __init__(self, pipe, fields):
        self.pipe = pipe
        self.names = fields or list(pipe.fields)

    def _say(self, what, use):
        assert isinstance(use, int)
        self.pipe.stage.say((what, self.pipe.name, use % self.pipe.capacity,
                             use // self.pipe.capacity))
        slot = types.SimpleNamespace(
            **{n: View(f"{n}[{use % self.pipe.capacity}]") for n in self.names})
        slot.slot = slot
        slot.is_closed = use in self.pipe.stage.closed
        return slot

    def acquire(self, use):
        return self._say("acquire", use)

    def commit(self, use):
        return self._say("commit", use)

    def wait(self, use):
        return self._say("wait", use)

    def release(self, use):
        return self._say("release", use)

    def close(self, use):
        return self._say("close", use)


class Stage:
    def __init__(self, text, programs):
        self.text, self.programs, self.pid = text, programs, 0
        self.log, self.who = {}, None
        self.barriers, self.pipes, self.buffers, self.launch = {}, {}, {}, {}
        self.claims, self.cells, self.taken = [], {}, {}
        self.closed = set()  # uses at which readers find the pipe closed
        self.names = {"alloc_barriers": [], "alloc": [], "pipe": []}
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                call = ast.unparse(node.value.func).split(".")[-1]
                if call in self.names:
                    self.names[call].append(node.targets[0].id)

    def say(self, what):
        self.log.setdefault(self.who, []).append(what)

    def fresh(self, call):
        return self.names[call].pop(0)

    # --- tle.gpu
    def alloc(self, shape, dtype=None, **kw):
        name = self.fresh("alloc")
        slots = kw.get("capacity")  # the shape is that of one slot, then
        self.buffers[name] = (([slots] if slots else []) + list(shape), kw)
        return View(name)

    def alloc_barriers(self, n, **kw):
        b = Barriers(self.fresh("alloc_barriers"), n, **kw)
        self.barriers[b.name] = b
        return b

    def barrier_wait(self, bar, phaseIdx=None):
        assert isinstance(phaseIdx, (int, type(None)))
        self.say(("wait", bar[0].name, bar[1], phaseIdx))

    def barrier_arrive(self, bar, arrive_count=1, phaseIdx=None):
        self.say(("arrive", bar[0].name, bar[1], phaseIdx, arrive_count))

    def copy(self, src, dst, shape, offsets, barrier=None):
        load = isinstance(src, Desc)
        desc = src if load else dst
        assert len(shape) == len(offsets) == desc.rank and list(shape) == list(desc.block)
        self.say(("load" if load else "store", desc.name, (dst if load else src).name,
                  tuple(offsets), barrier and (barrier[0].name, barrier[1])))

    def wgmma(self, a, b, acc=None, **kw):
        self.say(("mma",))
        return Tile()

    def wgmma_wait(self, n, acc=None):
        if not (self.log[self.who] and self.log[self.who][-1] == ("mma_wait", n)):
            self.say(("mma_wait", n))
        return acc

    def warp_specialize(self, entries, warps, regs):
        assert len(entries) - 1 == len(warps) == len(regs)
        self.launch = {"warps": warps, "regs": regs, "order": []}
        for fn, args in entries:
            assert isinstance(args, tuple)
            self.who = fn.__name__
            if self.who in self.launch["order"]:
                self.who += f".{self.launch['order'].count(fn.__name__)}"
            self.launch["order"].append(fn.__name__)
            self.log.setdefault(self.who, [])
            fn(*args)

    def pipe(self, capacity, scope="cta", name=None, readers=None, one_shot=False, **fields):
        assert fields and all(self.buffers[v.name][0][0] == capacity for v in fields.values())
        self.pipes[self.fresh("pipe")] = p = Pipe(self, name, capacity, readers, fields)
        return p

    def local_ptr(self, view, indices=None):
        return Cell(view.name) if indices == (0,) else Tile()

    def store(self, pointer, value, mask=None):
        if isinstance(pointer, Cell):  # of claimed tiles: each partition meets all of them
            self.cells.setdefault(pointer.name, []).append(value)

    def claim(self, _counter, _one, **_kw):
        return self.claims.pop(0) if self.claims else 10 ** 6

    def load(self, pointer, mask=None, other=None):
        if isinstance(pointer, Cell):
            at = self.taken.setdefault((self.who, pointer.name), 0)
            self.taken[self.who, pointer.name] += 1
            return self.cells[pointer.name][at]
        return pointer.scalar if isinstance(pointer, Tensor) and pointer.scalar is not None else Tile()

    # --- modules
    def modules(self):
        stage = self

        def either(f):
            return lambda a, b: f(a, b) if isinstance(a, int) and isinstance(b, int) else Tile()

        def tile(*_args, **_kw):
            return Tile()

        class Jit:
            def __init__(self, fn):
                self.fn, self.__name__ = fn, fn.__name__

            def __call__(self, *args):
                return self.fn(*args)

            def __getitem__(self, grid):
                def run(*args, num_warps=4, **_kw):
                    stage.launch_warps, stage.grid = num_warps, grid
                    stage.who = "kernel"
                    self.fn(*args)
                return run

        tl = types.ModuleType("triton.language")
        for name in ("float32 float16 bfloat16 float8e4nv float8e5 int8 uint8 int32 int64").split():
            setattr(tl, name, name)
        for name in ("zeros full arange exp exp2 log log2 sqrt max sum").split():
            setattr(tl, name, tile)
        tl.constexpr = int
        tl.range = tl.static_range = range
        tl.program_id = lambda _axis: stage.pid
        tl.num_programs = lambda _axis: stage.programs
        tl.cdiv = lambda a, b: -(-a // b)
        tl.minimum, tl.maximum = either(min), either(max)
        tl.abs = lambda x: abs(x) if isinstance(x, int) else Tile()
        tl.cast = lambda x, _type: x
        tl.where = lambda c, a, b: (a if c else b) if isinstance(c, (int, bool)) else Tile()
        tl.load, tl.store, tl.atomic_add = self.load, self.store, self.claim
        tl.debug_barrier = lambda: None

        def static_assert(good, _why=None):
            assert good

        tl.static_assert = static_assert
        tle = types.ModuleType("triton.experimental.tle.language")
        tle.gpu = types.SimpleNamespace(
            alloc=self.alloc, alloc_barriers=self.alloc_barriers, barrier_wait=self.barrier_wait,
            barrier_arrive=self.barrier_arrive, copy=self.copy, wgmma=self.wgmma,
            wgmma_wait=self.wgmma_wait, warp_specialize=self.warp_specialize,
            local_ptr=self.local_ptr, smem="smem", PENDING="PENDING", READY="READY")
        tle.pipe, tle.extract_tile = self.pipe, tile
        triton = types.ModuleType("triton")
        triton.jit, triton.cdiv, triton.language = Jit, tl.cdiv, tl
        tools = types.ModuleType("triton.tools.tensor_descriptor")
        tools.TensorDescriptor = Desc
        torch = types.ModuleType("torch")
        torch.__getattr__ = lambda name: name  # types
        torch.zeros = lambda *_a, **_k: Tensor("counter", (1,))
        torch.cuda = types.SimpleNamespace(get_device_properties=lambda _d: types.SimpleNamespace(
            multi_processor_count=self.programs))
        experimental = types.ModuleType("triton.experimental")
        inner = types.ModuleType("triton.experimental.tle")
        inner.language, experimental.tle, triton.experimental = tle, inner, experimental
        return {"triton": triton, "triton.language": tl, "torch": torch,
                "triton.experimental": experimental, "triton.experimental.tle": inner,
                "triton.experimental.tle.language": tle, "triton.tools": types.ModuleType("tools"),
                "triton.tools.tensor_descriptor": tools}

    def run(self, *args, **kw):
        before = dict(sys.modules)
        sys.modules.update(self.modules())
        try:
            scope = {"__name__": "exported"}
            exec(compile(self.text, "exported.py", "exec"), scope)
            scope["launch"](*args, **kw)
        finally:
            for name in self.modules():
                sys.modules.pop(name, None)
            sys.modules.update({k: v for k, v in before.items() if k in self.modules()})
        return self.log
