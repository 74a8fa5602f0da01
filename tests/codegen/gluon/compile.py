"""compile.py EXPORT…: compiles Gluon exports ahead of time for sm_90a with the Triton at hand, without a
GPU and without torch: launch() is called on stand-ins for tensors, and what it hands to the kernel says
how to compile it. Prints TAP; skipped where Triton 3.6 is absent."""
import importlib.util
import os
import re
import sys
import types

try:
    import triton
    from triton._utils import canonicalize_dtype
    from triton.backends.compiler import GPUTarget
    from triton.experimental.gluon._runtime import GluonASTSource
except ImportError:
    print("1..0 # SKIP no Triton")
    sys.exit(0)


class Dtype:
    def __init__(self, text, real):
        self.text, self.is_floating_point = text, real

    def __repr__(self):
        return "torch." + self.text


class Tensor:
    def __init__(self, shape, strides, dtype):
        self.shape, self.strides, self.dtype, self.device = tuple(shape), tuple(strides), dtype, 0

    def data_ptr(self):
        return 0

    def stride(self):
        return tuple(self.strides)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *a, **k: self


torch = types.ModuleType("torch")
for text in ("float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int32", "int8", "uint8"):
    setattr(torch, text, Dtype(text, text.startswith(("float", "bfloat"))))
torch.Tensor = Tensor
torch.rand = torch.randn = torch.randint = lambda *a, **k: 1
torch.manual_seed = lambda seed: None
torch.zeros = lambda n, dtype, device: Tensor([n], [1], dtype)
torch.cuda = types.SimpleNamespace(
    synchronize=lambda: None, get_device_properties=lambda d: types.SimpleNamespace(multi_processor_count=132))
sys.modules["torch"] = torch


class Launched(Exception):
    pass


class Kernel:
    """Stands for kernel[grid](…): keeps what it is called with."""

    def __getitem__(self, grid):
        def call(*arguments, **options):
            self.arguments, self.options = arguments, options
            raise Launched
        return call


def launch_of(path):
    spec = importlib.util.spec_from_file_location("export", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel, stand_in = module.kernel, Kernel()
    module.strided = Tensor
    module.kernel = stand_in
    try:
        module.check()
    except Launched:
        pass
    return kernel, stand_in


def signature(kernel, arguments):
    types_, constants, attributes = {}, {}, {}
    for i, (name, a) in enumerate(zip(kernel.arg_names, arguments)):
        if type(a).__name__ == "TensorDescriptor":
            types_[name] = f"tensordesc<{canonicalize_dtype(a.base.dtype)}{list(a.block_shape)},{a.layout!r}>"
        elif isinstance(a, Tensor):
            types_[name] = "*" + canonicalize_dtype(a.dtype)
        elif isinstance(a, float):
            types_[name] = "fp32"
        elif a == 1:
            types_[name], constants[(i,)] = "constexpr", 1
        else:
            types_[name] = "i32"
        if isinstance(a, Tensor) or (types_[name] == "i32" and a % 16 == 0):
            attributes[(i,)] = [["tt.divisibility", 16]]
    return types_, constants, attributes


def main():
    if not triton.__version__.startswith("3.6"):
        print(f"1..0 # SKIP Triton {triton.__version__}, and the exports are for 3.6")
        return 0
    failed = 0
    for i, path in enumerate(sys.argv[1:], 1):
        title = os.path.basename(path)[:-3]
        try:
            kernel, launch = launch_of(path)
            source = GluonASTSource(kernel, *signature(kernel, launch.arguments))
            made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=launch.options)
            products = len(re.findall("wgmma.mma_async", made.asm["ptx"]))
            print(f"ok {i} - {title}: {made.metadata.shared} bytes of shared memory, {products} wgmma")
        except Exception as e:
            failed += 1
            print(f"not ok {i} - {title}")
            for line in str(e).splitlines()[-12:]:
                print("# " + line)
    print(f"1..{len(sys.argv) - 1}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
