#!/usr/bin/env python3
"""PTX of Triton's own tutorials, without a GPU and without torch: triton_ptx.py TUTORIALS OUT

TUTORIALS is the folder of Triton's tutorials (python/tutorials of its repository, not part of this
project); OUT gets one .ptx for each kernel and way of calling it. Run it with a Python that has
Triton 3.6. What upstream_ptx.py judges."""
import os
import sys
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "codegen", "compile"))
import launched  # noqa: E402

launched.stand_in()
import torch  # noqa: E402
for name in ("pytest", "matplotlib", "matplotlib.pyplot", "pandas"):
    sys.modules.setdefault(name, mock.MagicMock())
torch.__getattr__ = lambda name: mock.MagicMock()
torch.cuda.is_available = lambda: False
torch.cuda.get_device_capability = lambda *a: (9, 0)
torch.cuda.current_device = lambda: 0
import triton  # noqa: E402
from triton._utils import canonicalize_dtype  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402
from triton.experimental.gluon._runtime import GluonASTSource, GluonJITFunction  # noqa: E402
from triton.runtime.jit import JITFunction  # noqa: E402


class Tensor(launched.Tensor):
    def numel(self):
        n = 1
        for extent in self.shape:
            n *= extent
        return n


def matrix(rows, cols, dtype="bfloat16"):
    return Tensor((rows, cols), (cols, 1), getattr(torch, dtype))


def vector():
    return Tensor((1 << 20,), (1,), torch.float32)


def square(m):
    return [matrix(4096, 4096) for _ in range(3)]


# (title, file, how the function of the module is called)
CALLS = [
    ("memcpy-cpasync", "gluon/03-async-copy.py", lambda m: m.memcpy_1d_cpasync(vector(), vector())),
    ("add-pipelined", "gluon/03-async-copy.py", lambda m: m.elementwise_add_pipelined(*[matrix(1024, 4096, "float32") for _ in range(3)])),
    ("memcpy-tma", "gluon/04-tma.py", lambda m: m.memcpy_1d_tma(vector(), vector())),
    ("add-tma", "gluon/04-tma.py", lambda m: m.elementwise_add_tma(*[matrix(1024, 4096, "float32") for _ in range(3)])),
    ("small-mma", "gluon/05-wgmma.py", lambda m: m.small_mma(*[matrix(64, 128, "float16"), matrix(128, 128, "float16"), matrix(64, 128, "float32"), matrix(64, 128, "float32")], 128, False)),
    ("blocked", "gluon/05-wgmma.py", lambda m: m.blocked_matmul(*square(m), 128, 256, 64, False, 8)),
    ("blocked-4", "gluon/05-wgmma.py", lambda m: m.blocked_matmul(*square(m), 128, 128, 64, False, 4)),
    ("blocked-pipelined", "gluon/05-wgmma.py", lambda m: m.blocked_matmul_pipelined(*square(m), 128, 256, 64, 8)),
    ("matmul-pipelined", "gluon/07-persistence.py", lambda m: m.matmul_pipelined(*square(m), 128, 256, 64, 3, 8)),
    ("persistent", "gluon/07-persistence.py", lambda m: m.persistent_matmul(*square(m), 128, 256, 64, 3, 8, m.PersistentTileScheduler)),
    ("persistent-grouped", "gluon/07-persistence.py", lambda m: m.persistent_matmul(*square(m), 128, 256, 64, 3, 8, m.GroupedPersistentTileScheduler(8))),
    ("persistent-pipelined", "gluon/07-persistence.py", lambda m: m.persistent_matmul_pipelined(*square(m), 128, 256, 64, 3, 8, m.PersistentTileScheduler)),
    ("add-specialized", "gluon/08-warp-specialization.py", lambda m: m.elementwise_add_warp_specialized(*[matrix(1024, 4096, "float32") for _ in range(3)])),
]
# Plain Triton: the compiler makes rings and barriers.
PLAIN = [
    ("matmul-tma", "09-persistent-matmul.py", "matmul_kernel_tma", dict(a_desc="tensordesc<fp16[128, 64]>", b_desc="tensordesc<fp16[256, 64]>", c_desc="tensordesc<fp16[128, 256]>", M="i32", N="i32", K="i32"),
     dict(BLOCK_SIZE_M=128, BLOCK_SIZE_N=256, BLOCK_SIZE_K=64, GROUP_SIZE_M=8, FP8_OUTPUT=False, WARP_SPECIALIZE=False), dict(num_warps=8, num_stages=3)),
    ("matmul-persistent", "09-persistent-matmul.py", "matmul_kernel_persistent", dict(a_ptr="*fp16", b_ptr="*fp16", c_ptr="*fp16", M="i32", N="i32", K="i32", stride_am="i32", stride_bn="i32", stride_cm="i32"),
     dict(stride_ak=1, stride_bk=1, stride_cn=1, BLOCK_SIZE_M=128, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, GROUP_SIZE_M=8, NUM_SMS=132), dict(num_warps=8, num_stages=3)),
    ("matmul-tma-persistent", "09-persistent-matmul.py", "matmul_kernel_tma_persistent", dict(a_desc="tensordesc<fp16[128, 64]>", b_desc="tensordesc<fp16[256, 64]>", c_desc="tensordesc<fp16[128, 256]>", M="i32", N="i32", K="i32"),
     dict(BLOCK_SIZE_M=128, BLOCK_SIZE_N=256, BLOCK_SIZE_K=64, GROUP_SIZE_M=8, FP8_OUTPUT=False, EPILOGUE_SUBTILE=False, NUM_SMS=132, WARP_SPECIALIZE=False), dict(num_warps=8, num_stages=3)),
]
TARGET = GPUTarget("cuda", 90, 32)


class Driver:
    def is_active(self):
        return True

    def get_current_target(self):
        return TARGET

    def get_current_device(self):
        return 0

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *a, **k: self


def write(out, title, made):
    text = made.asm["ptx"]
    with open(os.path.join(out, title + ".ptx"), "w") as file:
        file.write(text)
    print(f"{title}: {len(text.splitlines())} lines")


def called(path, call):
    module, seen = launched.load(path), {}

    def run(self, *arguments, grid, warmup, **named):
        seen.update(kernel=self, arguments=arguments, named=named)
        raise launched.Launched

    kept, JITFunction.run = JITFunction.run, run
    try:
        call(module)
    except launched.Launched:
        pass
    finally:
        JITFunction.run = kept
    kernel = seen["kernel"]
    *source, options = launched.signature(kernel, seen["arguments"], seen["named"], canonicalize_dtype)
    if "num_warps" in seen["named"]:
        options["num_warps"] = seen["named"]["num_warps"]
    make = GluonASTSource if isinstance(kernel, GluonJITFunction) else ASTSource
    return triton.compile(make(kernel, *source), target=TARGET, options=options)


def plain(path, name, signature, constants, options):
    kernel = getattr(launched.load(path), name)
    while not isinstance(kernel, JITFunction):
        kernel = kernel.fn
    names = kernel.arg_names
    types = {n: signature.get(n, "constexpr") for n in names}
    fixed = {(names.index(k),): v for k, v in constants.items()}
    even = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(names) if types[n][0] in "*i"}
    return triton.compile(ASTSource(kernel, types, fixed, even), target=TARGET, options=options)


def main():
    root, out = sys.argv[1:3]
    os.makedirs(out, exist_ok=True)
    sys.path[:0] = [root, os.path.join(root, "gluon")]
    triton.runtime.driver.set_active(Driver())
    failed = 0
    for title, file, *way in CALLS + PLAIN:
        path = os.path.join(root, file)
        try:
            made = called(path, *way) if len(way) == 1 else plain(path, *way)
            write(out, "triton-" + title, made)
        except Exception as e:
            failed += 1
            print(f"{title}: {type(e).__name__}: {str(e)[-300:]}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
