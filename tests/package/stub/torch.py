"""Enough of torch to import a package's module and to call its extension: tensors that are an address, a shape and strides.

current_stream, device_count and the like are plain attributes of `state`, which tests set.
"""
import ctypes
import contextlib
import types

state = types.SimpleNamespace(stream=0, capturing=False, grad=True, modes=0, transforms=None, made=0, compiling=False, operators={},
                              bumped=[], device=0, looked=0, gradients={})
_BITS = {"bfloat16": (4, 16, 2), "float16": (2, 16, 2), "float32": (2, 32, 4), "float8_e4m3fn": (10, 8, 1), "int32": (0, 32, 4)}


class dtype(str):
    itemsize = property(lambda self: _BITS[self][2])


def __getattr__(name):
    return dtype(name)


def packed(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= max(extent, 1)
    return tuple(strides)


class Tensor:
    def __init__(self, *shape, strides=None, dtype="bfloat16", address=4096, device="cuda", index=0, requires_grad=False):
        self.shape, self._strides, self.dtype = tuple(shape), tuple(strides or packed(shape)), globals()["dtype"](dtype)
        self.address, self.requires_grad, self.negative, self.zeroed = address, requires_grad, False, False
        self.device = Device(device, index)

    tangent = None

    def stride(self):
        return self._strides

    def dim(self):
        return len(self.shape)

    def data_ptr(self):
        return self.address

    def is_neg(self):
        return self.negative

    def _is_zerotensor(self):
        return False

    def copy_(self, other):
        self.copied = other
        return self

    def is_inference(self):
        return False

    def zero_(self):
        self.zeroed = True
        return self

    def new_empty_strided(self, shape, strides, dtype=None):
        return empty_strided(shape, strides, dtype=dtype or self.dtype, device=self.device)


class Parameter(Tensor):
    pass


class Device(types.SimpleNamespace):
    def __init__(self, type, index):
        super().__init__(type=type, index=index)

    def __str__(self):
        return self.type if self.type == "cpu" else f"{self.type}:{self.index}"


def empty_strided(shape, strides, *, dtype, device):
    state.made += 1
    return Tensor(*shape, strides=strides, dtype=dtype, address=1 << 20 | state.made << 8, device=device.type, index=device.index)


def is_grad_enabled():
    return state.grad


# --- the exchange of DLPack --------------------------------------------------------------------------
class _Seen(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int), ("index", ctypes.c_int), ("rank", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("extent", ctypes.c_void_p),
                ("stride", ctypes.c_void_p), ("offset", ctypes.c_uint64)]


def _look(pointer, out):
    t = ctypes.cast(pointer, ctypes.py_object).value
    state.looked += 1
    if not hasattr(t, "kept"):  # they live as long as the tensor
        t.kept = (ctypes.c_int64 * 8)(*t.shape), (ctypes.c_int64 * 8)(*t._strides)
    code, bits, _ = _BITS[t.dtype]
    out[0] = _Seen(t.address, 2 if t.device.type == "cuda" else 1, t.device.index, len(t.shape), code, bits, 1,
                   ctypes.addressof(t.kept[0]), ctypes.addressof(t.kept[1]), 0)
    return 0


def _stream(kind, index, out):
    out[0] = state.stream
    return 0


_look_type = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Seen))
_stream_type = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class _Exchange(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p),
                ("allocate", ctypes.c_void_p), ("take", ctypes.c_void_p), ("give", ctypes.c_void_p),
                ("look", _look_type), ("current_stream", _stream_type)]


_exchange = _Exchange(1, 3, None, None, None, None, _look_type(_look), _stream_type(_stream))
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_name = b"dlpack_exchange_api"  # the capsule does not copy it
Tensor.__dlpack_c_exchange_api__ = _capsule(ctypes.addressof(_exchange), _name, None)


# --- the rest ------------------------------------------------------------------------------------------
class _Library:
    def __init__(self, *_):
        self.schemas = []

    def define(self, schema, tags=()):
        self.schemas.append(schema)

    def impl(self, name, function, key):
        state.operators[name] = function
        setattr(ops.warpstave, name, function)


@contextlib.contextmanager
def _on(device):
    state.device, was = device.index, state.device
    yield
    state.device = was


_none = lambda *_, **__: None


def _differentiated(name, backward, *, setup_context=None, lib=None):
    state.gradients[name] = backward, setup_context


ops = types.SimpleNamespace(warpstave=types.SimpleNamespace())
nn = types.SimpleNamespace(Parameter=Parameter)
compiler = types.SimpleNamespace(is_compiling=lambda: state.compiling)
library = types.SimpleNamespace(Library=_Library, register_fake=_none, register_autograd=_differentiated)
Tag = types.SimpleNamespace(needs_fixed_stride_order=1)
autograd = types.SimpleNamespace(graph=types.SimpleNamespace(increment_version=state.bumped.append),
                                 forward_ad=types.SimpleNamespace(_current_level=-1, unpack_dual=lambda t: t))
_C = types.SimpleNamespace(_increment_version=state.bumped.extend, _cuda_getCurrentRawStream=lambda device: state.stream,
                           _len_torch_dispatch_stack=lambda: state.modes,
                           _functorch=types.SimpleNamespace(peek_interpreter_stack=lambda: state.transforms))
cuda = types.SimpleNamespace(device=_on, is_current_stream_capturing=lambda: state.capturing, mem_get_info=_none)
