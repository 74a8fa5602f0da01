"""Gluon on Hopper: its words as operations of the machine."""
import re
import types
from values import Int, NotCompiled, NotModelled, Tile, assigned, int32, is_number
from machine import Broken
from shared import View, allocate
from transform import Jit
from host import Anything, Descriptor, TensorDescriptor, module, torch_module
import words as w
from words import Kind, Layout, now, op, scalar, whole


class MBarrierLayout(Layout):
    pass


def allocate_shared_memory(dtype, shape, layout=None, value=None):
    barrier = isinstance(layout, MBarrierLayout)
    view = allocate(now.machine, None, dtype, [whole(n) for n in shape], layout, barrier)
    if value is not None:
        view.store(value)
    return view


def allocate_mbarrier(batch=None):
    from values import int64
    return allocate(now.machine, None, int64, [1] if batch is None else [whole(batch), 1], None, True)


def pred_of(pred):
    return bool(scalar(pred, "pred"))


@op
def init(mbarrier, count=1):
    now.machine.initialise(mbarrier.place(), mbarrier.name, whole(count, "a count"))


@op
def invalidate(mbarrier):
    now.machine.barrier(mbarrier.place(), mbarrier.name)
    del now.machine.barriers[mbarrier.place()]


@op
def expect(mbarrier, bytes=None, pred=True, **k):
    bytes = k.get("bytes_per_cta", bytes)
    if pred_of(pred):
        m = now.machine
        m.barrier(mbarrier.place(), mbarrier.name).expect(whole(bytes, "bytes"), m.agent.released())


@op
def arrive(mbarrier, *, count=1, pred=True):
    if pred_of(pred):
        m = now.machine
        m.barrier(mbarrier.place(), mbarrier.name).arrive(whole(count, "a count"), m.agent.released())


@op
def wait(mbarrier, phase, pred=True, deps=()):
    if pred_of(pred):
        m = now.machine
        return m.wait(m.barrier(mbarrier.place(), mbarrier.name), scalar(phase, "a phase"))


@op
def load(tensor_desc, coord, barrier, result, pred=True, **k):
    for c in coord:
        if not (isinstance(c, (Int, Tile)) or is_number(c)):
            raise NotCompiled("a coordinate")
    w.same_box(tensor_desc, result)
    if pred_of(pred):
        w.tma_load(tensor_desc, tensor_desc.block_type.nbytes, result, barrier, f"a copy to {result.name}")


@op
def store(tensor_desc, coord, src):
    w.same_box(tensor_desc, src)
    m = now.machine
    what = f"a copy from {src.name}"
    bit = m.transfer(what)
    m.touch(src.region(), False, what, True, bit)
    m.agent.stores.append((bit, what))


@op
def store_wait(pendings=0, read_only=True):
    now.machine.retire("stores", whole(pendings))


@op
def fence_async_shared(cluster=False):
    now.machine.fence()


@op
def cp_rows(smem, pointer, mask=None, **k):
    if list(pointer.shape) != smem.shape:
        raise NotCompiled("rows of another shape")
    m = now.machine
    what = f"rows to {smem.name}"
    bit = m.transfer(what)
    m.touch(smem.region(), True, what, False, bit)
    m.agent.open.append((bit, what))


@op
def cp_commit():
    a = now.machine.agent
    a.copies.append(([b for b, _ in a.open], "rows"))
    a.open = []


@op
def cp_wait(num_outstanding=0):
    now.machine.retire("copies", whole(num_outstanding))


@op
def cp_arrive(mbarrier, increment_count=True):
    """Arrives once the copies of each thread so far are over; counted arrivals are one per thread."""
    m = now.machine
    a, bar = m.agent, m.barrier(mbarrier.place(), mbarrier.name)
    bits = [b for b, _ in a.open] + [b for group, _ in a.copies for b in group]
    know = a.released()
    for b in bits:
        know.bits |= 1 << b
    count = a.warps * 32
    if increment_count:
        bar.pending += count
    m.transfer("rows", lambda _: bar.arrive(count, know))


@op
def warpgroup_mma(a, b, acc, *, use_acc=True, precision=None, max_num_imprecise_acc=None, is_async=False):
    if not isinstance(b, View) or not isinstance(a, (View, Tile)) or not isinstance(acc, Tile):
        raise NotCompiled("operands of a product")
    if [a.shape[0], b.shape[1]] != list(acc.shape) or a.shape[1] != b.shape[0]:
        raise NotCompiled(f"a product of {list(a.shape)} and {list(b.shape)} for {list(acc.shape)}")
    return w.product(a, b, acc, assigned(use_acc), not is_async, bool(is_async), shape=acc.shape)


@op
def warpgroup_mma_wait(num_outstanding=0, deps=None):
    if deps is None:
        raise NotCompiled("a wait without deps")
    if isinstance(deps, Tile):
        deps = (deps,)
    w.ended_products(whole(num_outstanding))
    out = tuple(Tile(d.shape, d.dtype, None, d.flying) if isinstance(d, Tile) else d for d in deps)
    return out[0] if len(out) == 1 else out


def warpgroup_mma_init(value):
    return Tile(value.read().shape, value.dtype, None, (), True)


@op
def inline_asm(text, constraints, args, dtype=None, is_pure=False, pack=1, **k):
    found = re.match(r"bar\.(sync|arrive) \$1, \$2;", text)
    if not found:
        raise NotModelled("assembly")
    number, threads = (scalar(a) for a in args)
    return now.machine.sync(number, threads, found[1] == "sync")


def warp_specialize(functions_and_args=None, worker_num_warps=None, worker_num_regs=None, *, default_args=None,
                    default_partition=None, worker_args=None, worker_partitions=None):
    if functions_and_args is None:
        functions_and_args = [(default_partition, default_args)] + [(f, worker_args) for f in worker_partitions]
    if len(worker_num_warps) != len(functions_and_args) - 1 or \
            (worker_num_regs is not None and len(worker_num_regs) != len(worker_num_warps)):
        raise NotCompiled("warps of partitions")
    return w.specialize(functions_and_args, [now.warps] + [whole(n) for n in worker_num_warps])


warp_specialize.op = True


def modules(sms=2):
    mbarrier = module("mbarrier", init=init, wait=wait, expect=expect, arrive=arrive, invalidate=invalidate,
                      MBarrierLayout=MBarrierLayout, allocate_mbarrier=allocate_mbarrier)
    tma = module("tma", async_copy_global_to_shared=load, async_load=load, async_copy_shared_to_global=store,
                 async_store=store, store_wait=store_wait, tensor_descriptor=Kind)
    cp = module("async_copy", async_copy_global_to_shared=cp_rows, async_load=cp_rows, commit_group=cp_commit,
                wait_group=cp_wait, mbarrier_arrive=cp_arrive)
    hopper = module("hopper", mbarrier=mbarrier, tma=tma, async_copy=cp, fence_async_shared=fence_async_shared,
                    warpgroup_mma=warpgroup_mma, warpgroup_mma_wait=warpgroup_mma_wait,
                    warpgroup_mma_init=warpgroup_mma_init)
    ampere = module("ampere", async_copy=cp)
    gl = module("gl", **dict(w.triton_words(), allocate_shared_memory=allocate_shared_memory,
                             warp_specialize=warp_specialize, thread_barrier=w.thread_barrier, barrier=w.thread_barrier,
                             inline_asm_elementwise=inline_asm, shared_memory_descriptor=Kind))
    for n in "BlockedLayout SliceLayout NVMMADistributedLayout NVMMASharedLayout DistributedLinearLayout " \
             "DotOperandLayout AutoLayout SwizzledSharedLayout SharedLinearLayout PaddedSharedLayout".split():
        setattr(gl, n, Layout)
    same = lambda f: f
    nvidia = module("nvidia", hopper=hopper, ampere=ampere)
    gl.nvidia = nvidia
    gluon = module("gluon", jit=jit, constexpr_function=same, must_use_result=same, language=gl, aggregate=same)
    gluon.nvidia = module("nvidia", hopper=module("hopper", TensorDescriptor=TensorDescriptor))
    core = module("core", _aggregate=same)
    triton = module("triton", cdiv=lambda a, b: -(-a // b), jit=jit, next_power_of_2=lambda n: 1 << (n - 1).bit_length(),
                    experimental=module("experimental", gluon=gluon), language=module("language", core=core))
    torch, cuda = torch_module(sms)
    base = "triton.experimental.gluon"
    return {"torch": torch, "torch.cuda": cuda, "triton": triton, "triton.experimental": triton.experimental, base: gluon,
            "triton.language.core": core, "triton.language": triton.language,
            f"{base}.language": gl, f"{base}.language.nvidia": nvidia, f"{base}.language.nvidia.hopper": hopper,
            f"{base}.language.nvidia.hopper.mbarrier": mbarrier, f"{base}.language.nvidia.hopper.tma": tma,
            f"{base}.language.nvidia.ampere": ampere, f"{base}.language.nvidia.ampere.async_copy": cp,
            f"{base}.nvidia": gluon.nvidia, f"{base}.nvidia.hopper": gluon.nvidia.hopper}


def jit(*a, **k):
    return Jit(a[0]) if a and callable(a[0]) else Jit
