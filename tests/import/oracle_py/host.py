"""What the host's part of a file meets: tensors without elements, descriptors, launches that are noted."""
import types
from values import DTYPES, Int, NotCompiled, Tile, Pointer, int32, int64, is_number
from transform import Jit, static_range

TORCH = {"bfloat16": "bfloat16", "float16": "float16", "float32": "float32", "float64": "float64", "int32": "int32",
         "int64": "int64", "int8": "int8", "uint8": "uint8", "int16": "int16", "bool": "int1",
         "float8_e4m3fn": "float8e4nv", "float8_e5m2": "float8e5", "half": "float16", "float": "float32",
         "int": "int32"}


class TorchDtype:
    def __init__(self, name):
        self.name, self.triton = name, DTYPES[TORCH[name]]
        self.itemsize = self.triton.itemsize

    def __repr__(self):
        return f"torch.{self.name}"


DTYPE = {n: TorchDtype(n) for n in TORCH}


def strides_of(shape):
    out, n = [], 1
    for x in reversed(shape):
        out.insert(0, n)
        n *= x
    return out


class Tensor:
    """Whatever is asked of its elements gives the tensor again."""
    count = 0

    def __init__(self, shape, dtype=DTYPE["float32"], strides=None, bounds=None):
        Tensor.count += 1
        self.shape, self.dtype, self.bounds = tuple(int(n) for n in shape), dtype, bounds
        self.strides = tuple(strides or strides_of(self.shape))
        self.name = f"t{Tensor.count}"
        self.device, self.is_cuda, self.ndim = "cuda", True, len(self.shape)

    @property
    def triton_dtype(self):
        return self.dtype.triton

    def stride(self, i=None):
        return self.strides if i is None else self.strides[i]

    def size(self, i=None):
        return self.shape if i is None else self.shape[i]

    def dim(self):
        return len(self.shape)

    def numel(self):
        n = 1
        for x in self.shape:
            n *= x
        return n

    def element_size(self):
        return self.dtype.itemsize

    def is_contiguous(self, *a):
        return list(self.strides) == strides_of(self.shape)

    def data_ptr(self):
        return 1 << 20

    def as_strided(self, shape, strides):
        return Tensor(shape, self.dtype, strides, self.bounds)

    def copy_(self, other):
        self.bounds = getattr(other, "bounds", None)
        return self

    def to(self, dtype=None, *a, **k):
        return Tensor(self.shape, dtype if isinstance(dtype, TorchDtype) else self.dtype)

    def t(self):
        return Tensor(self.shape[::-1], self.dtype, self.strides[::-1])

    T = property(t)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *a, **k: self

    def __len__(self):
        return self.shape[0]


for word in "add sub mul truediv lt gt le ge eq ne radd rmul and or invert neg getitem setitem".split():
    setattr(Tensor, f"__{word}__", lambda self, *a: self)
Tensor.__hash__ = object.__hash__


class Block:
    def __init__(self, shape, dtype):
        self.shape, self.dtype, self.element_ty = [int(n) for n in shape], dtype, dtype
        n = dtype.itemsize
        for x in self.shape:
            n *= x
        self.nbytes = n


class TensorDescriptor:
    """On the host."""

    def __init__(self, base, shape, strides, block_shape, layout=None, *a, **k):
        self.base, self.shape, self.strides = base, list(shape), list(strides)
        self.block_shape, self.layout = [int(n) for n in block_shape], layout
        assert len(self.shape) == len(self.strides) == len(self.block_shape)
        assert all(0 < n <= 256 for n in self.block_shape), "a box of more than 256"
        self.block_type = Block(self.block_shape, base.triton_dtype)

    @staticmethod
    def from_tensor(tensor, block_shape, layout=None, *a, **k):
        return TensorDescriptor(tensor, tensor.shape, tensor.stride(), block_shape, layout)


class Descriptor:
    """In a kernel."""

    def __init__(self, host):
        self.host, self.block_type, self.layout = host, host.block_type, host.layout
        self.shape = tuple(Int(n, int32) for n in host.shape)
        self.strides = tuple(Int(n, int64) for n in host.strides)
        self.block_shape, self.dtype, self.type = host.block_type.shape, host.block_type.dtype, host.block_type
        self.name = host.base.name

    def store(self, coord, value, **k):
        value.read()
        if [int(n) for n in value.shape if n != 1] != [n for n in self.block_shape if n != 1]:
            raise NotCompiled("a store of another shape")

    def load(self, coord, **k):
        return Tile(self.block_shape, self.dtype)

    store.op = load.op = True


class Launch:
    def __init__(self, kernel, grid, args, kw):
        self.kernel = kernel
        names = kernel.names.parameters
        self.options = {k: v for k, v in kw.items() if k not in names or k in ("num_warps", "num_ctas")}
        self.args, self.kw = args, {k: v for k, v in kw.items() if k in names}
        bound = kernel.names.bind_partial(*args, **self.kw)
        bound.apply_defaults()
        grid = grid(dict(bound.arguments)) if callable(grid) else grid
        grid = tuple(int(n) for n in (grid if isinstance(grid, (tuple, list)) else (grid,)))
        self.grid = grid + (1,) * (3 - len(grid))

    def argument(self, name, v):
        """What the kernel gets for what the host passes."""
        if isinstance(v, TensorDescriptor):
            return Descriptor(v)
        if isinstance(v, Tensor):
            return Pointer(v)
        if name in self.kernel.constants:
            return v
        if isinstance(v, bool):
            return Int(v, DTYPES["int1"])
        if isinstance(v, int):
            return v if v == 1 else Int(v, int32 if -2**31 <= v < 2**31 else int64)
        if isinstance(v, float):
            return Tile((), DTYPES["float32"])
        return v

    def bound(self):
        b = self.kernel.bound(self.args, self.kw)
        for n, v in b.arguments.items():
            b.arguments[n] = self.argument(n, v)
        return b


class Host:
    """Launches in the order in which the file makes them."""

    def __init__(self):
        self.launches = []
        Jit.host = self

    def launch(self, kernel, grid, args, kw):
        self.launches.append(Launch(kernel, grid, args, kw))


def module(path, **names):
    m = types.ModuleType(path)
    m.__dict__.update(names)
    return m


class Anything:
    """A module's name that only the host uses."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()

    def __call__(self, *a, **k):
        return a[0] if a and callable(a[0]) else Anything()


def torch_module(sms):
    def made(*shape, **kw):
        shape = shape[0] if shape and isinstance(shape[0], (tuple, list)) else shape
        return Tensor(shape if not isinstance(shape, int) else (shape,), kw.get("dtype") or DTYPE["float32"])

    def randint(*a, **kw):
        shape, bounds = next(x for x in a if isinstance(x, (tuple, list))), [x for x in a if isinstance(x, int)]
        return Tensor(shape, kw.get("dtype") or DTYPE["int64"], bounds=([0] + bounds)[-2:])

    class Properties:
        multi_processor_count = sms
        name = "NVIDIA H200"

    like = lambda x, *a, **k: Tensor(x.shape, k.get("dtype") or x.dtype)
    cuda = module("torch.cuda", get_device_properties=lambda *a: Properties, synchronize=lambda *a: None,
                  get_device_capability=lambda *a: (9, 0), is_available=lambda: True, current_device=lambda: 0)
    names = dict(empty=made, zeros=made, ones=made, randn=made, rand=made, randint=randint, empty_like=like,
                 full=lambda shape, v, **kw: made(shape, **kw), zeros_like=like, ones_like=like, Tensor=Tensor,
                 tensor=lambda v, **kw: Tensor((1,), kw.get("dtype") or DTYPE["int32"]), manual_seed=lambda *a: None,
                 arange=lambda *a, **kw: made(1, **kw), cuda=cuda, dtype=TorchDtype, device=lambda *a: "cuda")
    return module("torch", **names, **{n: d for n, d in DTYPE.items()}), cuda
