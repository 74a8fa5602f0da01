"""TLE: its words as operations of the machine. The compiler puts fences between the proxies itself, and a
copy to a tensor is over, as far as shared memory goes, when the next statement runs."""
from values import DTYPES, Int, NotCompiled, NotModelled, Pointer, Tile, assigned, int64, is_number
from machine import Broken
from shared import View, allocate, over, panel_of
from transform import Jit
from host import Anything, Descriptor, TensorDescriptor, module, torch_module
import words as w
from words import Layout, now, op, scalar, whole

PENDING, READY, SMEM = "pending", "ready", "smem"


def alloc(shape, dtype=None, layout=None, scope=SMEM, init_value=None, nv_mma_shared_layout=True, alias=None,
          alias_offset_bytes=0, capacity=None):
    if layout is not None:
        raise NotModelled("a buffer with a layout")
    made = Layout()
    made.engine = bool(nv_mma_shared_layout)
    shape = [whole(n) for n in ([capacity] if capacity is not None else []) + list(shape)]
    m = now.machine
    view = allocate(m, None, dtype, shape, made)
    if alias is not None:
        view = over(view, alias, whole(alias_offset_bytes))
    if init_value is not None:
        view.store(Tile(shape, dtype))
    return view


class Barriers:
    def __init__(self, view, count, init, size):
        self.view, self.count, self.start, self.size = view, count, init, size

    def __getitem__(self, i):
        return Slot(self, i)


class Slot:
    def __init__(self, array, index):
        self.array, self.index = array, index
        self.view = array.view.index(index)
        self.name = self.view.name

    def mbarrier(self):
        return now.machine.barrier(self.view.place(), self.name)

    def number(self):
        if self.array.size is not None or self.array.start == READY or not is_number(self.index):
            raise NotCompiled("a named barrier of this kind")
        return self.view.place()


def slot_of(bar):
    if isinstance(bar, Barriers) and bar.view.shape[0] == 1:
        return bar[0]
    if not isinstance(bar, Slot):
        raise NotCompiled("no barrier")
    return bar


def alloc_barriers(num_barriers, arrive_count=1, init=PENDING, expect_bytes=None):
    m = now.machine
    n, count = whole(num_barriers), whole(arrive_count)
    if n < 1 or count < 1 or (expect_bytes is not None and whole(expect_bytes) < 1):
        raise NotCompiled("a barrier's numbers")
    made = Barriers(allocate(m, None, int64, [n, 1], None, True), count, init,
                    None if expect_bytes is None else whole(expect_bytes))
    for i in range(n):
        v = made.view.index(i)
        m.initialise(v.place(), v.name, count)
    return made


def alloc_barrier(arrive_count=1, init=PENDING, expect_bytes=None):
    return alloc_barriers(1, arrive_count, init, expect_bytes)


@op
def barrier_wait(bar, phaseIdx=None):
    m, s = now.machine, slot_of(bar)
    if phaseIdx is None:
        return m.sync(s.number(), s.array.count, True)
    return m.wait(s.mbarrier(), scalar(phaseIdx, "a phase") & 1 ^ (s.array.start == READY))


@op
def barrier_arrive(bar, arrive_count=1, phaseIdx=None):
    m, s = now.machine, slot_of(bar)
    if whole(arrive_count) < 1 or (phaseIdx is None and whole(arrive_count) != 1):
        raise NotCompiled("a count of arrivals")
    if phaseIdx is None:
        return m.sync(s.number(), s.array.count, False)
    s.mbarrier().arrive(whole(arrive_count), m.agent.released())


@op
def copy(src, dst, shape, offsets=None, barrier=None, mask=None):
    m = now.machine
    if mask is not None or isinstance(src, Pointer) or isinstance(dst, Pointer):
        raise NotModelled("a copy by pointers")
    shape = [whole(n) for n in shape]
    if isinstance(src, View) and isinstance(dst, Descriptor):
        if barrier is not None:
            raise NotCompiled("a store with a barrier")
        w.same_box(dst, src)
        m.fence()
        bit = m.transfer("a copy out")
        m.touch(src.region(), False, f"a copy from {src.name}", True, bit)
        m.agent.know.bits |= 1 << bit
        return
    if not isinstance(src, Descriptor) or not isinstance(dst, View) or shape != [int(n) for n in src.block_shape]:
        raise NotCompiled("a copy")
    w.same_box(src, dst)
    if offsets is None or len(offsets) != len(src.block_shape):
        raise NotCompiled("offsets")
    what, size = f"a copy to {dst.name}", src.block_type.nbytes
    if barrier is None:
        writer = getattr(dst, "writer", None)
        if not writer or writer.open is None:
            raise NotModelled("a copy that nobody awaits")
        target = m.barrier(*writer.open)
        target.tx += size
    else:
        s = slot_of(barrier)
        if s.array.size is None:
            raise NotCompiled("a copy to a barrier that expects nothing")
        target = s.mbarrier()
        target.expect(s.array.size, m.agent.released())

    def ends(bit):
        target.tx -= size
        target.now.bits |= 1 << bit
        target.settle()
    bit = m.transfer(what, ends)
    m.touch(dst.region(), True, what, True, bit)


@op
def wgmma(a, b, acc=None, input_precision=None, max_num_imprecise_acc=None, out_dtype=None, trans_a=False,
          trans_b=False):
    if not isinstance(b, View) or not isinstance(a, (View, Tile)) or not (acc is None or isinstance(acc, Tile)):
        raise NotCompiled("operands of a product")
    (rows, k), (k2, cols) = (a.shape[::-1] if trans_a else a.shape), (b.shape[::-1] if trans_b else b.shape)
    if k != k2 or (acc is not None and list(acc.shape) != [rows, cols]):
        raise NotCompiled("shapes of a product")
    now.machine.fence()
    return w.product(a, b, acc, acc is not None, False, True, shape=(rows, cols))


@op
def wgmma_wait(pendings, acc=None):
    if isinstance(pendings, Tile):
        pendings, acc = 0, pendings
    w.ended_products(whole(pendings))
    return acc if acc is None else Tile(acc.shape, acc.dtype, None, acc.flying)


class Local:
    """A place in shared memory."""

    def __init__(self, view, exact=True):
        self.view, self.exact = view, exact
        self.shape, self.dtype = tuple(view.shape), view.dtype


def local_ptr(buffer, indices=None):
    if indices is None:
        return Local(buffer)
    view, exact = buffer, True
    for i in indices:
        if isinstance(i, Tile):
            raise NotModelled("scattered places in shared memory")
        view = view.index(i)
    return Local(view)


@op
def load(p, mask=None, other=None, **k):
    if not isinstance(p, Local):
        return w.loaded(p, mask, other, **k)
    if mask is not None:
        raise NotModelled("a masked load")
    tile = p.view.load()
    return tile if tile.shape or tile.value is None else Int(tile.value, tile.dtype)


@op
def store(p, value, mask=None, **k):
    if not isinstance(p, Local):
        return w.stored(p, value, mask, **k)
    if mask is not None:
        raise NotModelled("a masked store")
    p.view.store(value)


def extract_tile(x, index, shape, *a, **k):
    x.read()
    return Tile([whole(n) for n in shape], x.dtype)


class Fields:
    def __init__(self, pipe, stage, writer=None):
        for n, f in pipe.fields.items():
            view = f.index(stage)
            view.writer = writer
            setattr(self, n, view)


class Pipe:
    def __init__(self, capacity, readers, one_shot, fields):
        self.capacity, self.named, self.one_shot, self.fields = whole(capacity), readers, one_shot, fields
        if any(f.shape[0] != self.capacity for f in fields.values()):
            raise NotCompiled("a field of another capacity")
        m = now.machine
        self.full, self.empty = (allocate(m, None, int64, [self.capacity, 1], None, True) for _ in range(2))
        self.count = 0

    def writer(self):
        return Writer(self)

    def reader(self, name=None, fields=None):
        self.count += 1
        return Reader(self)

    def at(self, array, it):
        """The barrier of a use: made once the readers are known."""
        it = scalar(it, "a pipe's count")
        v = array.index(it % self.capacity)
        if v.place() not in now.machine.barriers:
            now.machine.initialise(v.place(), v.name, 1 if array is self.full else max(self.count, 1))
        return v, it % self.capacity, it // self.capacity % 2


class Writer:
    def __init__(self, pipe):
        self.pipe, self.open = pipe, None

    @op
    def acquire(self, it):
        m = now.machine
        v, stage, phase = self.pipe.at(self.pipe.empty, it)
        if not self.pipe.one_shot:
            yield from m.wait(m.barrier(v.place(), v.name), phase ^ 1)
        full, _, _ = self.pipe.at(self.pipe.full, it)
        self.open = full.place(), full.name
        return Fields(self.pipe, stage, self)

    @op
    def commit(self, it):
        m = now.machine
        v, _, _ = self.pipe.at(self.pipe.full, it)
        m.barrier(v.place(), v.name).arrive(1, m.agent.released())
        self.open = None

    def close(self, it):
        raise NotModelled("a pipe that is closed")


class Ready:
    is_closed = False


class Reader:
    def __init__(self, pipe):
        self.pipe = pipe

    @op
    def wait(self, it):
        m = now.machine
        v, stage, phase = self.pipe.at(self.pipe.full, it)
        yield from m.wait(m.barrier(v.place(), v.name), phase)
        ready = Ready()
        ready.slot = Fields(self.pipe, stage)
        return ready

    @op
    def release(self, it):
        m = now.machine
        v, _, _ = self.pipe.at(self.pipe.empty, it)
        if not self.pipe.one_shot:
            m.barrier(v.place(), v.name).arrive(1, m.agent.released())


def pipe(*, capacity, scope="cta", name=None, readers=None, one_shot=False, **fields):
    return Pipe(capacity, readers, one_shot, fields)


@op
def warp_specialize(functions_and_args, worker_num_warps=None, worker_num_regs=None):
    if len(worker_num_warps) != len(functions_and_args) - 1 or \
            (worker_num_regs is not None and len(worker_num_regs) != len(worker_num_warps)):
        raise NotCompiled("warps of partitions")
    return w.specialize(functions_and_args, [now.warps] + [whole(n) for n in worker_num_warps])


def triton_modules(sms, **more):
    """torch and triton as a file imports them; `more` are words of `triton.language`."""
    words_ = dict(w.triton_words(), load=load, store=store, **more)
    tl = module("tl", **words_)
    jit = lambda *a, **k: Jit(a[0]) if a and callable(a[0]) else Jit
    tools = module("tensor_descriptor", TensorDescriptor=TensorDescriptor)
    triton = module("triton", cdiv=lambda a, b: -(-a // b), jit=jit, language=tl,
                    next_power_of_2=lambda n: 1 << (n - 1).bit_length(), tools=module("tools", tensor_descriptor=tools),
                    experimental=module("experimental"))
    torch, cuda = torch_module(sms)
    return {"torch": torch, "torch.cuda": cuda, "triton": triton, "triton.language": tl, "triton.tools": triton.tools,
            "triton.tools.tensor_descriptor": tools, "triton.experimental": triton.experimental}


def modules(sms=2):
    gpu = module("gpu", alloc=alloc, copy=copy, local_ptr=local_ptr, alloc_barriers=alloc_barriers,
                 alloc_barrier=alloc_barrier, barrier_wait=barrier_wait, barrier_arrive=barrier_arrive, wgmma=wgmma,
                 wgmma_wait=wgmma_wait, warp_specialize=warp_specialize, PENDING=PENDING, READY=READY, smem=SMEM)
    language = module("language", gpu=gpu, pipe=pipe, extract_tile=extract_tile)
    tle = module("tle", language=language)
    found = triton_modules(sms)
    base = "triton.experimental.tle"
    found["triton.experimental"].tle = tle
    found.update({base: tle, f"{base}.language": language, f"{base}.language.gpu": gpu})
    return found
