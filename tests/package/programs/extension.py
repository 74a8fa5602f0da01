"""The extension of a package (k of gemm-bf16, q of attention-d128) on the stand-ins of torch and of the driver: which calls it takes,
which it leaves to the module, what is refused. Usage: extension.py FOLDER STUB; prints "right".
"""
import ctypes
import sys
import threading

sys.dont_write_bytecode = True
sys.path[:0] = sys.argv[1:]
driver = ctypes.CDLL("libcuda.so.1")
import k
import q
import torch
from torch import Tensor, state

launches = ctypes.c_long.in_dll(driver, "stub_launches")
maps = ctypes.c_long.in_dll(driver, "stub_maps")
last_device = ctypes.c_long.in_dll(driver, "stub_last_device")


def must(holds, what):
    if not holds:
        sys.exit(f"WRONG: {what}")


def refuses(call, *words):
    before = launches.value
    try:
        call()
    except (TypeError, ValueError, RuntimeError) as e:
        must(all(w in str(e) for w in words), f"says {e}; not {words}")
    else:
        sys.exit(f"WRONG: was not refused: {words}")
    must(launches.value == before, f"was launched: {words}")


def fast(*arguments):
    return k._fast(*arguments) is not NotImplemented


must(k._extension is not None and k._fast is not None, "the extension was not found")
must(k.__version__ and len(k.design_hash) == 64 and k._extension.design_hash() == k.design_hash, "design hash")
A, B, C = Tensor(64, 128), Tensor(72, 128), Tensor(64, 72)

# the first call on a device loads; what comes then is the extension's alone
must(not fast(A, B, None, None, None, None), "it is loaded already")
made = k.k(A, B)
must(made.shape == (64, 72) and made.stride() == (72, 1) and launches.value == 1, "first launch")
k._run = lambda *_: sys.exit("WRONG: the module was asked")
must(k.k(A, B).shape == (64, 72) and k.k(A, B, C) is C and k.k(A, B, C, M=64, K=128) is C and launches.value == 4, "launches")
must(state.bumped == [C, C], "versions of what was written")
before = maps.value
for _ in range(10):
    k.k(A, B, C)
must(maps.value == before, "tensor maps are kept")
state.stream = 77
k.k(A, torch.Parameter(72, 128), C)
state.stream = 0

# what it leaves to the module
wide = Tensor(64, 128, strides=(256, 1))
must(fast(wide, B, C, None, None, None), "rows of a wider tensor")


class Sub(Tensor):
    pass


for what, arguments in {
        "a subclass": (Sub(64, 128), B, C, None, None, None),
        "a gradient": (Tensor(64, 128, requires_grad=True), B, C, None, None, None),
        "another type": (Tensor(64, 128, dtype="float16"), B, C, None, None, None),
        "another rank": (Tensor(1, 64, 128), B, C, None, None, None),
        "another device": (A, Tensor(72, 128, index=1), C, None, None, None),
        "the processor": (Tensor(64, 128, device="cpu", index=0), B, C, None, None, None),
        "an input that is missing": (A, None, C, None, None, None),
        "memory that is not there": (Tensor(64, 128, address=0), B, C, None, None, None),
        "an extent that differs": (A, Tensor(72, 120), C, None, None, None),
        "an output of another shape": (A, B, Tensor(64, 80), None, None, None),
        "a size that is no integer": (A, B, C, 64.5, None, None),
        "a size that is huge": (A, B, C, 1 << 70, None, None),
        "a size that differs": (A, B, C, 65, None, None),
        "no rows, an output that nobody writes": (Tensor(0, 128), Tensor(0, 128), None, None, None, None),
        "too few arguments": (A, B, C),
        "no tensor": ("A", B, C, None, None, None)}.items():
    before = launches.value
    must(not fast(*arguments) and launches.value == before, what)
state.modes = 1
must(not fast(A, B, C, None, None, None), "a mode that traces")
state.modes, state.grad = 0, False
must(fast(Tensor(64, 128, requires_grad=True), B, C, None, None, None), "no gradients are asked for")
state.grad = True

# strides that no tensor map takes
del k._run
import importlib
importlib.reload(k)
refuses(lambda: k.k(Tensor(64, 128, strides=(1, 64)), B), "A", "dimension 1, the last", "64")
refuses(lambda: k.k(Tensor(64, 128, strides=(129, 1)), B), "A", "dimension 0", "258 bytes")
refuses(lambda: k.k(Tensor(64, 128, strides=(0, 1)), B), "A", "dimension 0", "stride of 0")
refuses(lambda: k.k(A, B, Tensor(64, 72, strides=(8, 1))), "C", "dimension 0", "overlap")
refuses(lambda: k.k(Tensor(64, 128, address=4104), B), "A", "multiple of 16")
refuses(lambda: k.k(Tensor(64, 128, address=0), B), "A has no memory")
must(k.k(Tensor(0, 128, address=0), B).shape == (0, 72), "no rows, no memory")
refuses(lambda: k.k(A.__class__(64, 128, dtype="float16"), B), "float16")

# two devices, each with its own kernel; the current one does not matter
other = [Tensor(*t.shape, index=1) for t in (A, B, C)]
driver.stub_set_context(ctypes.c_void_p(2))
k.k(*other)
must(last_device.value == 1, "the second device")
k.k(A, B, C)
must(last_device.value == 0, "the first again")
driver.stub_set_context(ctypes.c_void_p(1))
k.k(*other)
must(last_device.value == 1, "the second from the first")

# captured before it was loaded
state.capturing = True
refuses(lambda: k.k(*[Tensor(*t.shape, index=2) for t in (A, B, C)]), "captured")
state.capturing = False

# two outputs, one of another type; a scalar
Q = Tensor(2, 8, 333, 128, strides=(333 * 8 * 128, 128, 8 * 128, 1))
for _ in range(2):
    o, lse = q.q(Q, Q, Q, scale=0.5)
    must(o.shape == Q.shape and o.stride() == Q.stride() and lse.shape == (2, 8, 333) and lse.dtype == "float32", "attention")
must(q._fast(Q, Q, Q, None, None, None, None, None, None, None, 0.5) is not NotImplemented, "attention is taken")
o = Tensor(2, 8, 333, 128, strides=(333 * 8 * 128, 333 * 128, 128, 1))
must(q.q(Q, Q, Q, o)[0] is o, "heads before rows, one output given")
lse = Tensor(2, 8, 333, dtype="float32")
lse.negative = True
refuses(lambda: q.q(Q, Q, Q, o, lse), "resolve_neg")

# torch traces: the operator is called
state.compiling = True
calls = []
torch.ops.warpstave.k = lambda *a: calls.append(a)
torch.ops.warpstave.k_out = lambda *a: calls.append(a)
k.k(A, B, M=64)
k.k(A, B, C)
must(calls == [(A, B, 64, None, None), (A, B, C, None, None, None)], f"operators: {calls}")
state.compiling = False
k.k(Sub(64, 128), B)
k.k(Tensor(64, 128, requires_grad=True), B)
must(len(calls) == 4, "subclasses and gradients go to the operator")
refuses(lambda: k.k(Tensor(64, 128, requires_grad=True), B, C), "outputs are given", "gradient")
refuses(lambda: k.k("A", B), "A is a str")

# forward differentiation: a tangent is not dropped
torch.autograd.forward_ad._current_level = 0
must(not fast(A, B, C, None, None, None) and k.k(A, B, C) is C, "no tangent")
dual = Tensor(64, 128)
dual.tangent = A
refuses(lambda: k.k(dual, B), "no forward derivative")
torch.autograd.forward_ad._current_level = -1

# threads
wrong = []


def many(n):
    for i in range(200):
        a = Tensor(64 + 8 * n, 128, address=4096 * (n + 1))
        if k.k(a, B).shape != (64 + 8 * n, 72):
            wrong.append(n)


before = launches.value
threads = [threading.Thread(target=many, args=(n,)) for n in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
must(not wrong and launches.value == before + 800, "threads")
print("right")
