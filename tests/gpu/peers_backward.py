"""Attention backward beside torch (cuDNN and flash attention) and FlashAttention-3. Yields what the problems of peers.py
yield."""

import ctypes

import peer
from peers_serving import Chain, kept, library, sizes

torch = peer.torch
ROWS = 512  # query rows that the reference takes at a time
WORK = 136  # floats for each row of a head that FlashAttention-3 may use


def forward(backend, q, k, v, causal, scale):
    if backend == "torch-flash":
        return torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal, False, scale=scale)
    return torch.ops.aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, causal, False, scale=scale)


def torch_backward(backend, q, k, v, do, causal, scale):
    """A function that makes dQ, dK, dV by torch's own backward of one forward, which is not timed."""
    o, lse, cq, ck, mq, mk, seed, offset = forward(backend, q, k, v, causal, scale)[:8]
    if backend == "torch-flash":
        def run():
            return list(torch.ops.aten._scaled_dot_product_flash_attention_backward(
                do, q, k, v, o, lse, cq, ck, mq, mk, 0.0, causal, seed, offset, scale=scale))
    else:
        def run():
            return list(torch.ops.aten._scaled_dot_product_cudnn_attention_backward(
                do, q, k, v, o, lse, seed, offset, None, cq, ck, mq, mk, 0.0, causal, scale=scale))
    return run


def by_autograd(backend, q, k, v, do, causal, scale):
    """The same where the operators of this torch take other arguments."""
    wanted = [x.detach().requires_grad_() for x in (q, k, v)]
    kind = {"torch-flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION"}[backend]

    def make():
        with torch.nn.attention.sdpa_kernel(getattr(torch.nn.attention.SDPBackend, kind)):
            o = torch.nn.functional.scaled_dot_product_attention(*wanted, is_causal=causal, scale=scale)
        held = make.outputs

        def run():
            held[:] = torch.autograd.grad(o, wanted, do, retain_graph=True)
        return run

    make.outputs = []
    return make


def fa3(lib, q, k, v, do, causal, scale, d):
    o, lse = forward("torch-flash", q, k, v, causal, scale)[:2]
    lse = lse.contiguous()
    out = [torch.empty_like(x) for x in (q, k, v)]
    b, h, sq = q.shape[:3]
    work = torch.zeros(b * h * ((sq + 127) // 128 * 128) * (d + WORK), device="cuda")
    strides = (ctypes.c_longlong * 24)(*[x.stride(i) for x in [do, q, k, v, o] + out for i in (0, 1, 2)])
    p = [ctypes.c_void_p(x.data_ptr()) for x in [do, q, k, v, o, lse] + out + [work]]
    p += [ctypes.c_int(x) for x in (b, h, k.shape[1], sq, k.shape[2], d)]
    p += [strides, ctypes.c_float(scale), ctypes.c_int(causal)]

    def make():
        def run(keep=(o, lse, out, work, strides)):
            code = lib.fa3_backward(*p, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
            if code:
                raise RuntimeError("fa3_backward: %d" % code)
        return run

    make.outputs = out
    return make


def reference(q, k, v, do, causal, scale):
    """dQ, dK, dV of one head, [rows, d], in float64."""
    q, k, v, do = (x.double() for x in (q, k, v, do))
    dq, dk, dv = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
    shift = k.shape[0] - q.shape[0]
    for i in range(0, q.shape[0], ROWS):
        s = (q[i:i + ROWS] @ k.t()) * scale
        if causal:
            row = torch.arange(i, i + s.shape[0], device="cuda")[:, None]
            s.masked_fill_(torch.arange(k.shape[0], device="cuda")[None] > row + shift, float("-inf"))
        p = torch.softmax(s, 1)
        dp = do[i:i + ROWS] @ v.t()
        ds = p * (dp - (p * dp).sum(1, keepdim=True)) * scale
        dq[i:i + ROWS] = ds @ k
        dk += ds.t() @ q[i:i + ROWS]
        dv += p.t() @ do[i:i + ROWS]
    return dq, dk, dv


def problem(size, d, causal, scale):
    """Inputs of every contestant, and what ours write."""
    b, h, hk, sq, sk = (size[x] for x in ("B", "HQ", "HKV", "SQ", "SK"))
    torch.manual_seed(1)

    def normal(n, heads):
        return torch.randn(b, n, heads, d, device="cuda").bfloat16().transpose(1, 2)

    t = {"Q": normal(sq, h), "K": normal(sk, hk), "V": normal(sk, hk), "DO": normal(sq, h)}
    o, lse = forward("torch-flash", t["Q"], t["K"], t["V"], causal, scale)[:2]
    padded = (sq + 63) // 64 * 64
    t.update(O=o.transpose(1, 2).contiguous().transpose(1, 2), LSE=lse.contiguous(),
             L=torch.empty(b, h, padded, device="cuda"), DELTA=torch.empty(b, h, padded, device="cuda"),
             SUMS=torch.empty(b, sq, h, d, device="cuda").transpose(1, 2))
    t["DQ"], t["DK"], t["DV"] = (torch.empty_like(t[x]) for x in "QKV")
    t["DQB"] = t["DQ"]
    return t


def backward(options, driver, sms):
    """dQ, dK, dV from dO. A contestant of ours is a chain of launches, all timed. Peers: the backward of torch's cuDNN and
    flash attention, and FlashAttention-3."""
    chains = [Chain(x, driver, sms) for x in options.backward]
    lib = library(options.fa3, "--fa3")
    causal = bool(options.causal)
    whole = [x for c in chains for x in c.bundles if {"HKV", "SK"} <= set(x.sizes) and x.scalars]
    if not whole:
        raise peer.BundleError("--backward: no bundle that has keys")
    scale = whole[0].scalars[0]
    for size in sizes(whole[:1]):
        b, h, hk, sq, sk = (size[x] for x in ("B", "HQ", "HKV", "SQ", "SK"))
        d = whole[0].case(size)["extent"][whole[0].index("K")][3]
        label = "backward d %d %s B %d heads %d/%d S %d" % (d, "causal" if causal else "full", b, h, hk, sq)
        if options.case and label not in options.case:
            continue
        if h != hk or sq != sk:
            print("%s: left out: torch's operators take as many heads and rows of K as of Q" % label)
            continue
        t = problem(size, d, causal, scale)

        def tensor(spec, t=t):  # dQ in float32, where launches pass it on, and in bf16 are two
            return t["SUMS" if spec["name"] == "DQ" and spec["dtype"] == "f32" else spec["name"]]

        q, k, v, do = (t[x] for x in ("Q", "K", "V", "DO"))
        mine = [c for c in chains if c.has(size)]
        makes = {c.label: c.maker(size, tensor) for c in mine}
        for name in makes:
            makes[name].varies = True
        for name in ("cudnn", "torch-flash"):
            try:
                run = torch_backward(name, q, k, v, do, causal, scale)
                run()
                torch.cuda.synchronize()
                makes[name] = kept(run)
                makes[name]()()
            except (RuntimeError, TypeError, ValueError) as e:
                print("%s: %s; by autograd" % (name, str(e).splitlines()[0]))
                makes[name] = by_autograd(name, q, k, v, do, causal, scale)
            makes[name].varies = True
        if lib:
            makes["fa3"] = fa3(lib, q, k, v, do, causal, scale, d)
            makes["fa3"].varies = True
        heads = sorted({(0, 0), (b - 1, h - 1)})
        want = {x: reference(*(y[x] for y in (q, k, v, do)), causal, scale) for x in heads}

        def judge(out):
            right, words = True, []
            for i, name in enumerate(("dQ", "dK", "dV")):
                rms = worst = 0.0
                for at in heads:
                    w = want[at][i]
                    typical = float(w.square().mean().sqrt())
                    error = (out[i][at].double() - w).abs()
                    rms = max(rms, float(error.square().mean().sqrt()) / typical)
                    row = w.square().mean(1, keepdim=True).sqrt()  # causal rows differ by an order of magnitude
                    worst = max(worst, float((error / (0.1 * (typical + row) + 0.02 * w.abs())).max()))
                right = right and rms < 0.01 and worst <= 1
                words.append("%s rms %.4f worst %.2f" % (name, rms, worst))
            return right, ", ".join(words)

        if not options.profile:
            runs = {n: m() for c in mine for n, m in c.parts(size, tensor).items()}
            alone, _ = peer.cold_rounds(runs, options.flush, 3, 3, peer.Nvml())
            print("  cold, each launch alone: %s" % ", ".join("%s %.1f us" % (n, sorted(x)[1]) for n, x in alone.items()))
        yield (label, makes, [t["DQ"], t["DK"], t["DV"]], judge,
               10.0 * b * h * sq * sk * d / (2 if causal else 1), tuple(x for x in ("fa3", "cudnn", "torch-flash") if x in makes))
        torch.cuda.empty_cache()
