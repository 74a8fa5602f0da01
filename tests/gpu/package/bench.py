"""What a call of a package costs, beside torch.mm and a Triton kernel, in one process; torch.compile, two devices, DLPack.

Usage: bench.py FOLDER_OF_PACKAGES [PICK_PACKAGE]; exit 0 right and within the bounds, 1 not, 4 no torch or no GPU.
"""
import statistics
import sys
import time

try:
    import torch
except ImportError:
    sys.exit(4)
if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
    sys.exit(4)
sys.path[:0] = [f"{sys.argv[1]}/{d}" for d in ("gemm-bf16", "attention-d128", "gemm-fp16", "gemm-bf16-balanced",
                                               "gemm-bf16-single")]
import gemm_bf16 as gemm_module
from attention_d128 import attention_d128
from gemm_bf16 import gemm_bf16

torch.manual_seed(1)
wrong = 0


def bound(what, holds):
    global wrong
    wrong += not holds
    print(f"{what}: {'yes' if holds else 'NO'}")


def judge(what, got, expected, absolute=0.02, relative=0.004):
    worst = ((got.double() - expected).abs() / (absolute + relative * expected.abs())).max().item()
    bound(f"{what}: worst error {worst:.2f} of what is allowed", worst <= 1)


def normal(*shape, dtype=torch.bfloat16, device="cuda"):
    return torch.randn(*shape, device=device).to(dtype)


def median_us(call, n=10000):
    """Median of single calls; the queue is emptied now and then, outside of what is timed."""
    for _ in range(100):
        call()
    torch.cuda.synchronize()
    times = []
    for i in range(n):
        start = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - start)
        if i % 100 == 99:
            torch.cuda.synchronize()
    return statistics.median(times) / 1e3


def loop_ms(call, n=200):
    for _ in range(20):
        call()
    torch.cuda.synchronize()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(n):
        call()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / n


def triton_kernel():
    try:
        import triton
        import triton.language as tl
    except ImportError:
        return None
    import importlib.util
    import os
    import tempfile
    source = """import triton
import triton.language as tl


@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + at, tl.load(a + at, mask=at < n) + tl.load(b + at, mask=at < n), mask=at < n)
"""
    path = os.path.join(tempfile.mkdtemp(), "add_kernel.py")
    with open(path, "w") as f:
        f.write(source)
    spec = importlib.util.spec_from_file_location("add_kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.add


def aot_inductor():
    """What torch makes of a program with the operator that is compiled ahead of time; a crash is said, not shared."""
    import subprocess
    script = """
import sys, torch
which, sys.path[:0] = sys.argv[1], sys.argv[2:]
if which == "package":
    from gemm_bf16 import gemm_bf16 as f
else:  # an operator in Python that has nothing of a package: what torch itself does with one
    library = torch.library.Library("trivial", "FRAGMENT")
    library.define("f(Tensor a, Tensor b) -> Tensor")
    library.impl("f", lambda a, b: a @ b.T, "CUDA")
    torch.library.register_fake("trivial::f", lambda a, b: a.new_empty((a.shape[0], b.shape[0])), lib=library)
    f = torch.ops.trivial.f

class Model(torch.nn.Module):
    def forward(self, a, b):
        return f(a, b) * 2

a, b = (torch.randn(512, 512, device="cuda").bfloat16() for _ in range(2))
with torch.no_grad():
    path = torch._inductor.aoti_compile_and_package(torch.export.export(Model(), (a, b)))
    got = torch._inductor.aoti_load_package(path)(a, b)
print("right" if torch.equal(got, f(a, b) * 2) else "WRONG")
"""

    def run(which):
        done = subprocess.run([sys.executable, "-c", script, which, *sys.path[:4]], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else f"exit {done.returncode}"

    package = run("package")
    if package == "right":
        return package
    trivial = run("trivial")
    return f"skipped: torch's own operator in Python ends with {trivial} too" if trivial != "right" else f"{package}, NOT RIGHT"


print(torch.cuda.get_device_name(), "torch", torch.__version__, "extension:", gemm_module._fast is not None)
a, b = normal(256, 256), normal(256, 256)
bt, c = b.T, torch.empty(256, 256, dtype=torch.bfloat16, device="cuda")
row = {"package, output made": median_us(lambda: gemm_bf16(a, b)),
       "package, output given": median_us(lambda: gemm_bf16(a, b, c)),
       "torch.mm, output made": median_us(lambda: torch.mm(a, bt)),
       "torch.mm, output given": median_us(lambda: torch.mm(a, bt, out=c))}
add = triton_kernel()
if add is None:
    print("Triton: skipped, it is not installed")
else:
    row["Triton kernel of three tensors"] = median_us(lambda: add[(64,)](a, b, c, 256 * 256, BLOCK=1024))
if gemm_module._fast is not None:
    fast, gemm_module._fast, extension, gemm_module._extension = gemm_module._fast, None, gemm_module._extension, None
    loaded = dict(gemm_module._kernels)
    gemm_module._kernels.clear()
    row["package without the extension"] = median_us(lambda: gemm_bf16(a, b), 2000)
    gemm_module._fast, gemm_module._extension = fast, extension
    gemm_module._kernels.clear()
    gemm_module._kernels.update(loaded)
print("\n| one call, CPU | median of 10,000, us |\n|---|---|")
for name, us in row.items():
    print(f"| {name} | {us:.2f} |")
bound("\na call costs at most 6 us", row["package, output made"] <= 6)

print("\n| 2048^3 in a loop | us | of torch.mm |\n|---|---|---|")
a, b = normal(2048, 2048), normal(2048, 2048)
bt, best = b.T, 0
import importlib
calls = {"torch.mm": lambda: torch.mm(a, bt), "gemm_bf16": lambda: gemm_bf16(a, b)}
for name in ("gemm_bf16_balanced", "gemm_bf16_single"):
    try:
        one = getattr(importlib.import_module(name), name)
        calls[name] = lambda one=one: one(a, b)
    except ImportError:
        print(f"| {name} | skipped, no package | |")
picked = None
if len(sys.argv) > 2:
    import os
    sys.path[:0] = [sys.argv[2]]
    picked_module = importlib.import_module(os.path.basename(os.path.abspath(sys.argv[2])).replace("-", "_"))
    picked = getattr(picked_module, picked_module.__name__)
    calls["the package with the rule"] = lambda: picked(a, b)
rounds = [{name: loop_ms(call) for name, call in calls.items()} for _ in range(5)]
ms = {name: statistics.median(r[name] for r in rounds) for name in calls}
for name, t in ms.items():
    best = max(best, ms["torch.mm"] / t) if name != "torch.mm" else best
    print(f"| {name} | {t * 1e3:.2f} | {ms['torch.mm'] / t:.3f} |")
bound("at least 0.97 of torch.mm", best >= 0.97)

# --- torch.compile ---------------------------------------------------------------------------------------
class Block(torch.nn.Module):
    """Attention and two projections, with what a compiler fuses between them."""

    def __init__(self, heads=16):
        super().__init__()
        width = heads * 128
        self.heads = heads
        self.qkv = torch.nn.Parameter(normal(3 * width, width) * width**-0.5)
        self.out = torch.nn.Parameter(normal(width, width) * width**-0.5)
        self.scale = torch.nn.Parameter(normal(width))

    def forward(self, x):
        batch, rows, width = x.shape
        h = (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * self.scale
        q, k, v = gemm_bf16(h.view(-1, width), self.qkv).view(batch, rows, 3, self.heads, 128).unbind(2)
        o, _ = attention_d128(*(t.contiguous().transpose(1, 2) for t in (q, k, v)), scale=128**-0.5)
        o = torch.nn.functional.gelu(o.transpose(1, 2).reshape(-1, width))
        return x + torch.nn.functional.silu(gemm_bf16(o, self.out)).view(batch, rows, width) * 2


block, x = Block(), normal(4, 1024, 2048)
with torch.no_grad():
    eager = block(x)
    compiled = torch.compile(block, fullgraph=True)
    judge("\ntorch.compile(fullgraph=True) as eager", compiled(x), eager.double(), 0.06, 0.02)
    warm = time.perf_counter()
    while time.perf_counter() - warm < 3:  # clocks, and what is compiled when it is first met
        block(x), compiled(x)
        torch.cuda.synchronize()
    pairs = [(loop_ms(lambda: block(x), 100), loop_ms(lambda: compiled(x), 100)) for _ in range(9)]
    slow, quick = (statistics.median(p[i] for p in pairs) for i in (0, 1))
    print("one block of attention between two products of packages, 4096 rows of 2048, no CUDA graphs, medians of 9 rounds in turn: "
          f"eager {slow * 1e3:.1f} us, compiled {quick * 1e3:.1f} us")
    bound("compiled is faster than eager", quick < slow)
    dynamic = torch.compile(block, fullgraph=True, dynamic=True)
    for rows in (512, 640):
        x2 = normal(2, rows, 2048)
        judge(f"with {rows} rows, shapes that vary", dynamic(x2), block(x2).double(), 0.06, 0.02)
    into = torch.compile(lambda a, b, c: gemm_bf16(a, b, c) * 2, fullgraph=True)
    c = torch.empty(2048, 2048, dtype=torch.bfloat16, device="cuda")
    judge("an output that is given, compiled", into(a, b, c), 2 * (a.double() @ b.double().T), 0.08, 0.008)
    program = torch.export.export(block, (x,))
    judge("torch.export", program.module()(x), eager.double(), 0.06, 0.02)
    bound("the operator is found by name", "warpstave.gemm_bf16" in str(program.graph))
    # the compiled program on its own: torch's C++ runtime asks for the operator by name
    said = aot_inductor()
    bound(f"AOTInductor, in a process of its own: {said}", "NOT RIGHT" not in said and "WRONG" not in said)

# --- gradients -----------------------------------------------------------------------------------------
w = normal(2048, 2048).requires_grad_()
try:
    gemm_bf16(a, w).sum().backward()
    bound("a gradient without a formula is refused", False)
except NotImplementedError as e:
    bound(f"a gradient without a formula is refused ({e})", True)
gemm_module.set_backward(lambda inputs, outputs, scalars, g: (gemm_bf16(g[0].contiguous(), inputs[1].detach().T.contiguous()),
                                                               gemm_bf16(g[0].T.contiguous(), inputs[0].detach().T.contiguous())))
(gemm_bf16(a, w).float() ** 2).sum().backward()
y = w.detach().clone().requires_grad_()
((a @ y.T).float() ** 2).sum().backward()
judge("a gradient with one", w.grad, y.grad.double(), 4.0, 0.05)

# --- devices ---------------------------------------------------------------------------------------------
if torch.cuda.device_count() > 1:
    for device in ("cuda:1", "cuda:0"):
        p, q = normal(512, 512, device=device), normal(512, 512, device=device)
        judge(f"{device} while cuda:0 is current", gemm_bf16(p, q), p.double() @ q.double().T)
    try:
        gemm_bf16(normal(512, 512), normal(512, 512, device="cuda:1"))
        bound("tensors of two devices are refused", False)
    except ValueError as e:
        bound(f"tensors of two devices are refused ({e})", True)
else:
    print("two devices: skipped, there is one")

# --- strides ---------------------------------------------------------------------------------------------
wide = normal(1024, 1024)
judge("every second row", gemm_bf16(wide[::2], wide[:512]), wide[::2].double() @ wide[:512].double().T)
judge("columns of a wider input", gemm_bf16(wide[:, :512], wide[:, 512:]), wide[:, :512].double() @ wide[:, 512:].double().T)
out = torch.zeros(1024, 2048, dtype=torch.bfloat16, device="cuda")
gemm_bf16(wide, wide, out[:, 512:1536])
judge("columns of a wider output", out[:, 512:1536], wide.double() @ wide.double().T)
bound("and nothing beside them", not out[:, :512].any() and not out[:, 1536:].any())

# --- others, through DLPack --------------------------------------------------------------------------------
try:
    import jax
    import jax.numpy as jnp
    if jax.default_backend() != "gpu":
        raise ImportError("JAX sees no GPU")
    ja = jax.random.normal(jax.random.PRNGKey(0), (512, 512), dtype=jnp.bfloat16)
    jc = gemm_bf16(ja * 2, ja)
    bound(f"JAX gets {type(jc).__name__} of JAX", isinstance(jc, jax.Array))
    exact = torch.from_dlpack(ja * 2).double() @ torch.from_dlpack(ja).double().T
    judge("JAX through DLPack", torch.from_dlpack(jc), exact)
except ImportError as e:
    print(f"JAX: skipped, {e}")
try:
    import cupy
    from gemm_fp16 import gemm_fp16
    ca, cb = cupy.random.standard_normal((512, 512)).astype(cupy.float16), cupy.random.standard_normal((512, 512)).astype(cupy.float16)
    with cupy.cuda.Stream(non_blocking=True):
        cc = gemm_fp16(ca * 2, cb)
        given = cupy.zeros((512, 512), dtype=cupy.float16)
        gemm_fp16(ca * 2, cb, given)
        exact = (ca * 2).astype(cupy.float64) @ cb.astype(cupy.float64).T
        for what, got in (("CuPy through DLPack", cc), ("a given array of CuPy", given)):
            bound(f"{what}: {type(got).__module__}", float(abs(got - exact).max()) < 0.2)
except ImportError as e:
    print(f"CuPy: skipped, {e}")

# --- the rule ---------------------------------------------------------------------------------------------
if picked is not None:
    for m, n, k in ((128, 8192, 8192), (4096, 4096, 4096), (1000, 776, 520), (1, 8, 64), (8192, 512, 64)):
        a, b = normal(m, k), normal(n, k)
        judge(f"the package with the rule, {m} {n} {k}: {picked_module.choice(M=m, N=n, K=k)}", picked(a, b),
              a.double() @ b.double().T)
print("bench of packages:", "right" if not wrong else f"{wrong} NOT RIGHT or not within bounds")
sys.exit(wrong > 0)
