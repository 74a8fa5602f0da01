"""The packages of gemm-bf16 and attention-d128 from PyTorch: values, refusals, streams, cost of a call.

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
sys.path[:0] = [sys.argv[1] + "/gemm-bf16", sys.argv[1] + "/attention-d128"]
from attention_d128 import attention_d128
from gemm_bf16 import gemm_bf16

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
    except (ValueError, TypeError) as e:
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
refuses("on the CPU", lambda: gemm_bf16(a.cpu(), b.cpu()))

for batch, hq, hkv, sq, sk in ((4, 16, 16, 1024, 1024), (2, 8, 2, 333, 451), (1, 1, 1, 1, 1)):
    q = normal(batch, sq, hq, 128).transpose(1, 2)
    k, v = normal(batch, sk, hkv, 128).transpose(1, 2), normal(batch, sk, hkv, 128).transpose(1, 2)
    o, lse = attention_d128(q, k, v, scale=128**-0.5)
    kk, vv = (x.double().repeat_interleave(hq // hkv, 1) for x in (k, v))
    score = q.double() @ kk.transpose(2, 3) * 128**-0.5
    judge(f"attention {batch} {hq}/{hkv} {sq} {sk}", o, score.softmax(-1) @ vv)
    judge("  logarithm of the sums", lse, score.logsumexp(-1), 0.001, 0.001)
refuses("heads 4 over 3", lambda: attention_d128(normal(1, 8, 4, 128).transpose(1, 2), *[normal(1, 8, 3, 128).transpose(1, 2)] * 2))
refuses("heads before rows in memory", lambda: attention_d128(normal(1, 4, 8, 128), *[normal(1, 4, 8, 128)] * 2))

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
