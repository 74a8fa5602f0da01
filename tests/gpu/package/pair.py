"""Packages of a forward design and its gradient from PyTorch: gradients beside those that torch makes in float64, refusals, compile.

Usage: pair.py FOLDER: of packages named dD_0 (full) and dD_1 (causal), D the head dimension; exit 0 right, 1 wrong, 4 no torch or no GPU.
"""
import importlib
import os
import statistics
import sys

try:
    import torch
except ImportError:
    sys.exit(4)
if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
    sys.exit(4)
sys.path.insert(0, sys.argv[1])
wrong = 0


def must(holds, what):
    global wrong
    wrong += not holds
    print(f"{'right' if holds else 'WRONG'}: {what}")


def refuses(what, call, word):
    try:
        call()
    except (NotImplementedError, RuntimeError, ValueError) as e:
        must(word in str(e), f"{what}: {str(e).splitlines()[0]}")
    else:
        must(False, f"{what} was not refused")


def normal(b, s, h, d):
    return torch.randn(b, s, h, d, device="cuda").bfloat16().transpose(1, 2).requires_grad_()


def exact(q, k, v, do, causal):
    """Attention and its gradients in float64."""
    q, k, v = (x.detach().double().requires_grad_() for x in (q, k, v))
    more = q.shape[1] // k.shape[1]
    s = q @ k.repeat_interleave(more, 1).transpose(2, 3) * q.shape[3]**-0.5
    hidden = torch.zeros_like(s, dtype=torch.bool)
    if causal:
        hidden = torch.ones_like(s, dtype=torch.bool).triu(1 + k.shape[2] - q.shape[2])
    p = s.masked_fill(hidden, float("-inf")).softmax(-1).masked_fill(hidden, 0)
    o = torch.nan_to_num(p) @ v.repeat_interleave(more, 1)
    return o.detach(), torch.autograd.grad(o, (q, k, v), do.double())


def compare(what, got, expected):
    words, holds = [], True
    for name, g, e in zip(("dQ", "dK", "dV"), got, expected):
        rms = float((g.double() - e).square().mean().sqrt() / e.square().mean().sqrt().clamp_min(1e-3))  # one key: dQ and dK are 0
        holds = holds and rms < 0.01 and g.dtype == torch.bfloat16
        words.append(f"{name} {rms:.4f}")
    must(holds, f"{what}: rms of the error over that of the gradient: {', '.join(words)}")


torch.manual_seed(1)
for name in sorted(os.listdir(sys.argv[1])):
    d, causal = int(name[1:].split("_")[0]), name.endswith("_1")
    call = getattr(importlib.import_module(name), name)
    for b, h, hk, sq, sk in ((2, 4, 2, 200, 300), (1, 2, 2, 1, 1), (1, 8, 1, 513, 512 if not causal else 600), (2, 4, 4, 1024, 1024)):
        q, k, v, do = normal(b, sq, h, d), normal(b, sk, hk, d), normal(b, sk, hk, d), normal(b, sq, h, d).detach()
        o, _ = call(q, k, v, scale=d**-0.5)
        compare(f"{name} {b} {h}/{hk} {sq} {sk}", torch.autograd.grad(o, (q, k, v), do), exact(q, k, v, do, causal)[1])
    q, k, v = normal(1, 300, 2, d), normal(1, 300, 2, d), normal(1, 300, 2, d)
    o, lse = call(q, k, v, scale=d**-0.5)
    o.sum().backward()  # a gradient with strides of 0
    compare(f"{name} the gradient of a sum", (q.grad, k.grad, v.grad), exact(q, k, v, torch.ones_like(o), causal)[1])
    o, lse = call(q, k, v, scale=d**-0.5)
    refuses(f"{name} a gradient of LSE", lambda: (o.float().sum() + lse.sum()).backward(), "LSE")
    o, lse = call(q, k, v, scale=d**-0.5)
    first = torch.autograd.grad(o.float().square().sum(), q, create_graph=True)[0]
    refuses(f"{name} a gradient of a gradient", lambda: first.float().sum().backward(), "")
    with torch.no_grad():
        must(not call(q, k, v, scale=d**-0.5)[0].requires_grad, f"{name} without gradients")
    o = call(q.detach(), k, v.detach(), scale=d**-0.5)[0]
    do = normal(1, 300, 2, d).detach()
    compare(f"{name} K alone", torch.autograd.grad(o, k, do), (exact(q, k, v, do, causal)[1][1],))
    first, second = (torch.autograd.grad(call(q, k, v, scale=d**-0.5)[0], (q, k, v), do) for _ in range(2))
    must(all(map(torch.equal, first, second)), f"{name} the same bits twice")
    compiled = torch.compile(lambda q, k, v: call(q * 1, k, v, scale=d**-0.5)[0].float().square().sum(), fullgraph=True)
    given = torch.autograd.grad(call(q, k, v, scale=d**-0.5)[0].float().square().sum(), (q, k, v))
    made = torch.autograd.grad(compiled(q, k, v), (q, k, v))
    must(all(torch.allclose(x.float(), y.float(), rtol=0.02, atol=0.02 * float(x.float().abs().max())) for x, y in zip(given, made)),
         f"{name} under torch.compile")
    # both directions beside torch's, by turns
    q, k, v, do = normal(4, 4096, 2048 // d, d), normal(4, 4096, 2048 // d, d), normal(4, 4096, 2048 // d, d), normal(4, 4096, 2048 // d, d).detach()

    def ours():
        torch.autograd.grad(call(q, k, v, scale=d**-0.5)[0], (q, k, v), do)

    def torchs():
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
            o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=d**-0.5)
            torch.autograd.grad(o, (q, k, v), do)

    times = {ours: [], torchs: []}
    for i in range(12):
        for f, out in times.items():
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            f()
            end.record()
            torch.cuda.synchronize()
            if i > 1:
                out.append(begin.elapsed_time(end) * 1e3)
    mine, other = statistics.median(times[ours]), statistics.median(times[torchs])
    print(f"{name} forward and backward, B 4 S 4096: {mine:.0f} us, cuDNN by torch {other:.0f} us, ratio {other / mine:.3f}")
print("pairs from PyTorch:", "right" if not wrong else f"{wrong} WRONG")
sys.exit(wrong > 0)
