"""Makes and calls the Mesh of a package with a torch, a process group and a driver that only note what they are told.

mesh.py FOLDER RANK: of two ranks; the other one says what this one says, but for its GPU, or what `said` holds.
"""
import contextlib
import ctypes
import sys
import types

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
own, said = int(sys.argv[2]), {}
torch, dist = types.ModuleType("torch"), types.ModuleType("torch.distributed")



class Kind(str):
    @property
    def itemsize(self):
        return {"bfloat16": 2, "int64": 8, "uint8": 1, "float16": 2}[str(self)]


class Tensor:
    made = 0

    def __init__(self, shape, dtype, stride=None):
        Tensor.made += 1
        self.at, self.shape, self.dtype, self.device = Tensor.made << 20, tuple(shape), dtype, DEVICE
        self.steps, self.requires_grad, self.copied = stride, False, None
        if stride is None:
            self.steps = tuple(int(__import__("math").prod(self.shape[d + 1:])) for d in range(len(self.shape)))

    data_ptr = lambda self: self.at
    stride = lambda self: self.steps
    zero_ = lambda self: self
    record_stream = lambda self, stream: print(f"{stream} uses {'maps' if hasattr(self, 'bytes') else 'table'}")
    to = lambda self, device: self

    def copy_(self, other):
        self.copied = other


DEVICE = types.SimpleNamespace(type="cuda", index=own)
for name in ("bfloat16", "float16", "int64", "uint8"):
    setattr(torch, name, Kind(name))
torch.Tensor, torch.device, torch.is_grad_enabled = Tensor, lambda *a: DEVICE, lambda: True
torch.tensor = lambda values, dtype, device: Tensor((len(values),), dtype)
torch.frombuffer = lambda data, dtype: frombuffer(data, dtype)
torch.empty_strided = lambda shape, stride, dtype, device: Tensor(shape, dtype, tuple(stride))
torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda index: 7)
torch.distributed = dist
captured = [False]
stream = ["one"]


class Stream(str):
    def wait_event(self, event):
        print(f"{self} waits for {event.at}")


class Event:
    at = None

    def record(self, stream):
        self.at = stream


torch.cuda = types.SimpleNamespace(
    Event=Event, current_stream=lambda device: Stream(stream[0]),
    is_available=lambda: True, current_device=lambda: own, get_device_capability=lambda d: (9, 0), mem_get_info=lambda d: None,
    synchronize=lambda d: None, device=lambda d: contextlib.nullcontext(), is_current_stream_capturing=lambda: captured[0],
    get_device_properties=lambda d: types.SimpleNamespace(multi_processor_count=132, uuid=f"gpu{own}"))


def frombuffer(data, dtype):
    t = Tensor((len(data),), dtype)
    t.bytes = bytes(data)
    return t


def as_strided(t, shape, stride):
    view = Tensor(shape, t.dtype, tuple(stride))
    view.at = t.at
    return view


def all_gather_object(into, mine, group):
    other = said.pop("other", None) or (lambda x: (x[0], f"gpu{1 - own}") if isinstance(x, tuple) else x)
    into[own], into[1 - own] = mine, other(mine)


torch.as_strided = as_strided
dist.group, dist.barrier, dist.all_gather_object = types.SimpleNamespace(WORLD="all"), lambda group: None, all_gather_object
begun = [False]
dist.is_initialized, dist.get_rank, dist.get_world_size = lambda: begun[0], lambda group: own, lambda group: 2
sys.modules.update({"torch": torch, "torch.distributed": dist})

import k  # noqa: E402


class Driver:
    """As much of the driver as it calls; a tensor map is the number of its address, over and over."""

    def __getattr__(self, name):
        return lambda *a: 0

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, each, *rest):
        ctypes.cast(each, ctypes.POINTER(ctypes.c_int))[0] = 1
        return 0

    def cuTensorMapEncodeTiled(self, at, dtype, rank, address, *rest):
        ctypes.memset(at.value, address.value >> 20 & 255, 128)
        return 0

    def cuLaunchKernelEx(self, config, function, parameters, extra):
        c = ctypes.cast(config, ctypes.POINTER(k._Config))[0]
        launch = ctypes.cast(parameters[len(parameters) - 1], ctypes.POINTER(ctypes.c_int64))[0]
        print("launch", c.grid[0], c.block[0], c.shared, c.attributes[0].id, c.attributes[0].x, len(parameters), "number", launch)
        return 0


k._driver = Driver()
symmetric = {}


def _symmetric(self, elements, dtype):
    ranks = [Tensor((elements,), dtype) for _ in range(2)]
    symmetric[elements] = [t.at for t in ranks]
    return ranks[own], [t.at for t in ranks], None


k.Mesh._symmetric = _symmetric


def refused(call):
    try:
        call()
    except (TypeError, ValueError, RuntimeError, NotImplementedError, KeyError) as e:
        print(type(e).__name__, str(e).strip("'"))
        return
    print("not refused")


SIZES = dict(TM=2, N=520, K=264, SMS=4)
refused(lambda: k.Mesh(**SIZES))
begun[0] = True
refused(lambda: k.Mesh(Q=1, **SIZES))
refused(lambda: k.Mesh(TM=2))
refused(lambda: k.Mesh(W=3, **SIZES))
refused(lambda: k.Mesh(**{**SIZES, "K": 8}))
refused(lambda: k.Mesh(**{**SIZES, "SMS": 133}))
refused(lambda: k.Mesh(**{**SIZES, "SMS": 0}))
said["other"] = lambda x: "ValueError: no"
refused(lambda: k.Mesh(**SIZES))


def second(answer):
    said["other"] = lambda x: said.update(other=answer) or x  # all is well at first
    refused(lambda: k.Mesh(**SIZES))


second(lambda x: (("another",) + x[0][1:], "gpu9"))
second(lambda x: (x[0][:1] + ([],) + x[0][2:], "gpu9"))
second(lambda x: (x[0][:2] + ("elsewhere",) + x[0][3:], "gpu9"))
second(lambda x: x)
run = k.Mesh(**SIZES)
x, b = Tensor((256, 264), torch.bfloat16), Tensor((520, 264), torch.bfloat16)
out = run(x, b)
print(out.shape, run.tensor("X").copied is x, run._shape)
at = [a >> 20 & 255 for a in symmetric[256 * 264]]
print([run._maps.bytes[i * 128] for i in range(2)] == at, set(run._maps.bytes[256:]) == {0})
run(run.tensor("X"), b, C=out)
stream[0] = "two"
run(run.tensor("X"), b)
run(run.tensor("X"), b)
stream[0] = "one"
refused(lambda: run(x))
run(run.tensor("X"), b)
other = as_strided(run.tensor("X"), (256, 264), (1, 256))
refused(lambda: run(other, b))
for call in (lambda: run(x), lambda: run(x, b, b), lambda: run(x, b, Z=x), lambda: run(x, b, C=x), lambda: run(x, Tensor((8, 264), torch.bfloat16)),
             lambda: run(Tensor((256, 264), torch.float16), b), lambda: run(x, Tensor((520, 264), torch.bfloat16, (272, 1))), lambda: run.tensor("B")):
    refused(call)
x.requires_grad = True
refused(lambda: run(x, b))
captured[0] = True
refused(lambda: run(run.tensor("X"), b))
