"""What launch() of an export hands to its kernel, found out without torch and without a GPU: torch is
a stand-in whose tensors have shapes and strides only, and the kernel is stopped where it would run."""
import importlib.util
import os
import sys
import types


class Dtype:
    def __init__(self, text, itemsize, real):
        self.text, self.itemsize, self.is_floating_point = text, itemsize, real

    def __repr__(self):
        return "torch." + self.text


class Tensor:
    def __init__(self, shape, strides, dtype):
        self.shape, self.strides, self.dtype, self.device = tuple(shape), tuple(strides), dtype, 0

    def data_ptr(self):
        return 0

    def stride(self, dim=None):
        return tuple(self.strides) if dim is None else self.strides[dim]

    def element_size(self):
        return self.dtype.itemsize

    def as_strided(self, shape, strides):
        return Tensor(shape, strides, self.dtype)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *a, **k: self


def stand_in():
    """Puts a torch in place of the real one."""
    torch = types.ModuleType("torch")
    for text, size in (("float32", 4), ("float16", 2), ("bfloat16", 2), ("float8_e4m3fn", 1), ("float8_e5m2", 1),
                       ("int32", 4), ("int8", 1), ("uint8", 1)):
        setattr(torch, text, Dtype(text, size, text.startswith(("float", "bfloat"))))
    torch.Tensor = Tensor
    torch.rand = torch.randn = torch.randint = lambda *a, **k: 1
    torch.manual_seed = lambda seed: None
    torch.zeros = torch.empty = lambda n, dtype, device: Tensor([n], [1], dtype)
    torch.cuda = types.SimpleNamespace(
        synchronize=lambda: None, get_device_properties=lambda d: types.SimpleNamespace(multi_processor_count=132))
    sys.modules["torch"] = torch


class Launched(Exception):
    pass


def load(path):
    spec = importlib.util.spec_from_file_location("export_" + os.path.basename(path)[:-3].replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def launch_of(path, jit_function, **constants):
    """(kernel, what it is called with by position and by name); `constants` go to launch()."""
    module, seen = load(path), {}

    def run(self, *arguments, grid, warmup, **named):
        seen.update(kernel=self, arguments=arguments, named=named)
        raise Launched

    if constants:
        launch = module.launch
        module.launch = lambda *a, **k: launch(*a, **{**k, **constants})
    kept, jit_function.run = jit_function.run, run
    try:
        module.check()
    except Launched:
        pass
    finally:
        jit_function.run = kept
    return seen["kernel"], seen["arguments"], seen["named"]


def signature(kernel, arguments, named, canonical):
    """Types, constants, attributes and options as the compiler wants them. `canonical`: name of a dtype."""
    options = {k: v for k, v in named.items() if k not in kernel.arg_names}
    values = dict(zip(kernel.arg_names, arguments))
    values.update({k: v for k, v in named.items() if k in kernel.arg_names})
    types_, constants, attributes = {}, {}, {}
    for i, p in enumerate(kernel.params):
        a = values.get(p.name, p.default)
        if p.is_constexpr or a == 1 and not isinstance(a, float):
            types_[p.name], constants[(i,)] = "constexpr", a
        elif type(a).__name__ == "TensorDescriptor":
            layout = f",{a.layout!r}" if hasattr(a, "layout") else ""
            types_[p.name] = f"tensordesc<{canonical(a.base.dtype)}{list(a.block_shape)}{layout}>"
        elif isinstance(a, Tensor):
            types_[p.name] = "*" + canonical(a.dtype)
        elif isinstance(a, float):
            types_[p.name] = "fp32"
        else:
            types_[p.name] = "i32"
        if isinstance(a, Tensor) or types_[p.name] == "i32" and a % 16 == 0:
            attributes[(i,)] = [["tt.divisibility", 16]]
    return types_, constants, attributes, options
