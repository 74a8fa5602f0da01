"""TLX: its words as operations of the machine; its tasks are blocks of a kernel (`with`), made functions."""
import ast
from values import Int, NotCompiled, NotModelled, Tile, int64, is_number
from shared import View, allocate, over
from host import Descriptor, module
import tle
import transform
import words as w
from words import Layout, now, op, scalar, whole


class Compiled(transform.Compiled):
    def visit_With(self, node):
        head = node.items[0].context_expr
        if len(node.items) != 1 or node.items[0].optional_vars or not isinstance(head, ast.Call) or \
                not ast.unparse(head.func).endswith("async_tasks"):
            return self.stop("with")
        out, made = [], []
        for task in node.body:
            call = task.items[0].context_expr if isinstance(task, ast.With) else None
            if not isinstance(call, ast.Call) or not ast.unparse(call.func).endswith("async_task"):
                return self.stop("tasks")
            k, names = self.fresh(), transform.stored(task.body)
            f = ast.parse(f"def o_task{k}({', '.join(names)}):\n    yield None").body[0]
            f.body += self.block(task.body)
            out.append(f)
            made.append(ast.Tuple([transform.name(f"o_task{k}"), ast.Constant(tuple(names)),
                                   ast.Call(transform.name("dict"), [], call.keywords),
                                   ast.List(call.args, ast.Load())], ast.Load()))
        run = ast.parse("yield from o_tasks(0, locals())").body[0]
        run.value.value.args[0] = ast.List(made, ast.Load())
        return out + [run]


def tasks(made, there):
    if sum("default" in args for _, _, _, args in made) != 1:
        raise NotCompiled("one task is the default")
    m, parts = now.machine, []
    for f, names, options, args in sorted(made, key=lambda t: "default" not in t[3]):
        default = "default" in args
        for replica in range(whole(options.get("replicate", 1))):
            given = {n: there.get(n, transform.undefined) for n in names}
            parts.append((f"task{len(parts)}", now.warps if default else whole(options["num_warps"]), f(**given),
                          replica))
    first = len(m.agents)
    body = m.specialize([p[:3] for p in parts])
    until = next(body)
    for agent, part in zip(m.agents[first:], parts):
        agent.replica = part[3]
    yield until
    yield from body


transform.HELPERS["o_tasks"] = tasks


def local_alloc(shape, dtype, num, storage=None, reuse=None, layout=None):
    if storage is not None or layout is not None:
        raise NotModelled("storage of a buffer")
    made = Layout()
    made.engine = now.machine.subscripts = True  # buffer[i] is local_view(buffer, i)
    view = allocate(now.machine, None, dtype, [whole(num)] + [whole(n) for n in shape], made)
    return view if reuse is None else over(view, reuse, 0)


def alloc_barriers(num_barriers, arrive_count=1):
    m, n = now.machine, whole(num_barriers)
    m.subscripts = True
    view = allocate(m, None, int64, [n, 1], None, True)
    for i in range(n):
        v = view.index(i)
        m.initialise(v.place(), v.name, whole(arrive_count))
    return view


def yes(pred):
    return pred is None or bool(scalar(pred, "pred"))


def local_view(buffers, index):
    return buffers.index(index)


@op
def barrier_wait(bar, phase, pred=None):
    if yes(pred):
        m = now.machine
        return m.wait(m.barrier(bar.place(), bar.name), scalar(phase, "a phase"))


@op
def barrier_arrive(bar, arrive_count=1):
    m = now.machine
    m.barrier(bar.place(), bar.name).arrive(whole(arrive_count), m.agent.released())


@op
def barrier_expect_bytes(bar, size, pred=None):
    if yes(pred):
        m = now.machine
        m.barrier(bar.place(), bar.name).expect(whole(size), m.agent.released())


@op
def async_descriptor_load(desc, result, offsets, barrier, pred=None):
    w.same_box(desc, result)
    if yes(pred):
        w.tma_load(desc, desc.block_type.nbytes, result, barrier, f"a copy to {result.name}")


@op
def async_descriptor_store(desc, source, offsets):
    w.same_box(desc, source)
    m = now.machine
    m.fence()
    what = f"a copy from {source.name}"
    bit = m.transfer(what)
    m.touch(source.region(), False, what, True, bit)
    m.agent.stores.append((bit, what))


@op
def async_descriptor_store_wait(pendings):
    now.machine.retire("stores", whole(pendings))


@op
def async_dot(A, B, acc=None, use_acc=None, **k):
    rows, cols = A.shape[0], B.shape[1]
    if A.shape[1] != B.shape[0] or (acc is not None and list(acc.shape) != [rows, cols]):
        raise NotCompiled("shapes of a product")
    now.machine.fence()
    return w.product(A, B, acc, acc is not None and (use_acc is None or use_acc), False, False, shape=(rows, cols))


@op
def async_dot_wait(pendings, inp):
    w.ended_products(whole(pendings))
    return inp


@op
def local_load(src, token=None):
    return src.load()


@op
def local_store(dst, src):
    dst.store(src)


@op
def fence_async_shared():
    now.machine.fence()


@op
def fence(scope):
    if scope != "async_shared":
        raise NotModelled("another fence")
    now.machine.fence()


def local_slice(buffer, offset, shape):
    for dim, (start, n) in enumerate(zip(offset, shape, strict=True)):
        buffer = buffer.slice(start, n, dim)
    return buffer


@op
def named_wait(bar, arrive_count):
    return now.machine.sync(whole(bar), whole(arrive_count), True)


@op
def named_arrive(bar, arrive_count):
    return now.machine.sync(whole(bar), whole(arrive_count), False)


def replica_id():
    return now.machine.agent.replica


def modules(sms=2):
    tlx = module("tlx", local_alloc=local_alloc, alloc_barriers=alloc_barriers, local_view=local_view,
                 barrier_wait=barrier_wait, barrier_arrive=barrier_arrive, barrier_expect_bytes=barrier_expect_bytes,
                 async_descriptor_load=async_descriptor_load, async_descriptor_store=async_descriptor_store,
                 async_descriptor_store_wait=async_descriptor_store_wait, async_dot=async_dot,
                 async_dot_wait=async_dot_wait, local_load=local_load, local_store=local_store,
                 fence_async_shared=fence_async_shared, fence=fence, local_slice=local_slice,
                 local_reshape=lambda x, shape: x.reshape(shape), named_barrier_wait=named_wait,
                 named_barrier_arrive=named_arrive, async_task_replica_id=replica_id,
                 local_trans=lambda x, dims=(1, 0): x.permute(*dims), dtype_of=lambda x: x.dtype)
    found = tle.triton_modules(sms)
    extra = module("extra", tlx=tlx)
    found["triton.language"].extra = extra
    found.update({"triton.language.extra": extra, "triton.language.extra.tlx": tlx})
    return found
