"""Packages from PyTorch: values, refusals, streams, CUDA graphs, cost of a call.

Usage: use.py FOLDER_OF_PACKAGES; exit 0 right, 1 wrong, 4 no torch or no GPU.
"""
import sys
import time

try:
    import torch
except ImportError:
    sys.exit(4)
if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
    sys.exit(4)
sys.path[:0] = [sys.argv[1] + "/" + d for d in ("gemm-bf16", "attention-d128", "gemm-bf16-splitk", "gemm-fp8",
                                               "gemm-fp8-block")]
import attention_d128 as attention_module
from attention_d128 import attention_d128
from gemm_bf16 import gemm_bf16
from gemm_bf16_splitk import gemm_bf16_splitk
from gemm_fp8 import gemm_fp8
from gemm_fp8_block import gemm_fp8_block

torch.manual_seed(1)
wrong = 0


def judge(what, got, expected, absolute=0.02, relative=0.004):
    global wrong
    worst = ((got.double() - expected).abs() / (absolute + relative * expected.abs())).max().item()
    wrong += not worst <= 1
    print(f"{what}: worst error {worst:.2f} of what is allowed")


def refuses(what, call):
    global wrong
    try:
        call()
    except (ValueError, TypeError, RuntimeError) as e:
        print(f"{what}: {e}")
    else:
        wrong += 1
        print(f"{what}: was not refused")


def normal(*shape, dtype=torch.bfloat16):
    return torch.randn(*shape, device="cuda").to(dtype)


for m, n, k in ((4096, 4096, 4096), (1000, 776, 520), (1, 8, 8)):
    a, b = normal(m, k), normal(n, k)
    judge(f"gemm {m} {n} {k}", gemm_bf16(a, b), a.double() @ b.double().T)
given = torch.empty(1000, 776, dtype=torch.bfloat16, device="cuda")
a, b = normal(1000, 520), normal(776, 520)
if gemm_bf16(a, b, given) is not given:
    wrong += 1
judge("gemm into a given tensor", given, a.double() @ b.double().T)
print("no rows:", tuple(gemm_bf16(normal(0, 64), normal(64, 64)).shape))
refuses("float32", lambda: gemm_bf16(a.float(), b))
refuses("K differs", lambda: gemm_bf16(a, normal(776, 512)))
refuses("transposed", lambda: gemm_bf16(normal(520, 1000).T, b))
rows = normal(2000, 520)[::2]
judge("every second row", gemm_bf16(rows, b), rows.double() @ b.double().T)
refuses("rows of 1050 bytes", lambda: gemm_bf16(normal(1000, 525)[:, :520], b))
refuses("three dimensions", lambda: gemm_bf16(a[None], b))
refuses("an output of another shape", lambda: gemm_bf16(a, b, given[:, :768]))
refuses("rows of 126 bytes", lambda: gemm_bf16(normal(64, 63), normal(64, 63)))
refuses("an odd address", lambda: gemm_bf16(normal(64 * 64 + 1)[1:].view(64, 64), normal(64, 64)))
refuses("on the CPU", lambda: gemm_bf16(a.cpu(), b.cpu()))

for m in (128, 300):
    a, b = normal(m, 8192), normal(2048, 8192)
    judge(f"split-K {m} 2048 8192", gemm_bf16_splitk(a, b), a.double() @ b.double().T)
fp8 = torch.float8_e4m3fn
a, b = normal(1000, 2048, dtype=fp8), normal(768, 2048, dtype=fp8)
judge("fp8 1000 768 2048", gemm_fp8(a, b, alpha=1.0), a.double() @ b.double().T, 0.9, 0.043)  # the hardware sums in few bits
sa, sb = torch.rand(16, 1000, device="cuda") + 0.5, torch.rand(6, 16, device="cuda") + 0.5
exact = sum((a[:, s].double() @ b[:, s].double().T) * sa[i].double()[:, None] *
            sb[:, i].double().repeat_interleave(128)[None, :]
            for i, s in ((i, slice(128 * i, 128 * i + 128)) for i in range(16)))
judge("fp8 with block scales", gemm_fp8_block(a, b, sa, sb), exact, 0.7, 0.004)
refuses("block scales of other rows", lambda: gemm_fp8_block(a, b, sa[:, :999].contiguous(), sb))

for batch, hq, hkv, sq, sk in ((4, 16, 16, 1024, 1024), (2, 8, 2, 333, 451), (1, 1, 1, 1, 1)):
    q = normal(batch, sq, hq, 128).transpose(1, 2)
    k, v = normal(batch, sk, hkv, 128).transpose(1, 2), normal(batch, sk, hkv, 128).transpose(1, 2)
    o, lse = attention_d128(q, k, v, scale=128**-0.5)
    kk, vv = (x.double().repeat_interleave(hq // hkv, 1) for x in (k, v))
    score = q.double() @ kk.transpose(2, 3) * 128**-0.5
    judge(f"attention {batch} {hq}/{hkv} {sq} {sk}", o, score.softmax(-1) @ vv)
    judge("  logarithm of the sums", lse, score.logsumexp(-1), 0.001, 0.001)
refuses("heads 4 over 3", lambda: attention_d128(normal(1, 8, 4, 128).transpose(1, 2), *[normal(1, 8, 3, 128).transpose(1, 2)] * 2))
q, k = normal(2, 4, 256, 128), normal(2, 4, 256, 128)
score = q.double() @ k.double().transpose(2, 3) * 128**-0.5
judge("heads before rows in memory", attention_d128(q, k, k, scale=128**-0.5)[0], score.softmax(-1) @ k.double())

# two streams at once: each has its own counter of tiles
q = normal(4, 2048, 16, 128).transpose(1, 2)
first = attention_d128(q, q, q)[0]
streams = [torch.cuda.Stream() for _ in range(2)]
torch.cuda.synchronize()
outs = []
for _ in range(20):
    for s in streams:
        with torch.cuda.stream(s):
            outs.append(attention_d128(q, q, q)[0])
torch.cuda.synchronize()
same = all(torch.equal(first, x) for x in outs)
wrong += not same
print("40 launches in two streams:", "the same bits" if same else "DIFFER")

# CUDA graphs: replays see new inputs; two graphs at once, and the capturing stream itself, count tiles on their own
def captured(q, stream):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        o = attention_d128(q, q, q)[0]
        o = attention_d128(o, q, q)[0]
    return graph, o


def twice(q):
    o = attention_d128(q, q, q)[0]
    return attention_d128(o, q, q)[0]


inputs = [normal(2, n, 16, 128).transpose(1, 2) for n in (2048, 1500)]
graphs = [captured(q, s) for q, s in zip(inputs, streams)]
same = True
for _ in range(5):
    for q in inputs:
        q.copy_(torch.randn(q.shape, device="cuda"))
    torch.cuda.synchronize()
    for _ in range(4):
        for (graph, _), s in zip(graphs, streams):
            with torch.cuda.stream(s):
                graph.replay()
    torch.cuda.synchronize()
    same = same and all(torch.equal(o, twice(q)) for (_, o), q in zip(graphs, inputs))
with torch.cuda.stream(streams[0]):  # a launch of the stream that captured, not captured itself
    here = twice(inputs[0])
torch.cuda.synchronize()
same = same and torch.equal(here, graphs[0][1])
wrong += not same
print("20 replays of two graphs in two streams:", "the same bits as launches" if same else "DIFFER")
kernels, fast = dict(attention_module._kernels), attention_module._fast
attention_module._kernels.clear()
attention_module._fast = None


def capture_unloaded():
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        attention_d128(inputs[0], inputs[0], inputs[0])


refuses("captured before it was loaded", capture_unloaded)
attention_module._kernels.update(kernels)
attention_module._fast = fast
torch.cuda.synchronize()

a, b = normal(512, 512), normal(512, 512)
c = gemm_bf16(a, b)
torch.cuda.synchronize()
t = time.perf_counter()
for _ in range(1000):
    gemm_bf16(a, b, c)
t = time.perf_counter() - t
torch.cuda.synchronize()
print(f"a call costs the CPU {t * 1e3:.1f} us (1000 calls, 512^3)")
print("packages from PyTorch:", "right" if not wrong else f"{wrong} WRONG")
sys.exit(wrong > 0)
