"""A norm before a product, cross-entropy behind one and linear attention, beside torch. Each yields what the problems of peers.py yield."""

import peer
from peers_serving import Chain, kept, of, point_judge, points, sizes, static

torch = peer.torch


def rmsnorm(options, driver, sms):
    """RMSNorm of rows and a product. Peers: F.rms_norm and torch.mm, the same compiled."""
    bundles = [peer.Bundle(b) for b in options.rmsnorm]
    kernels = [peer.Kernel(driver, b, sms) for b in bundles]
    eps = bundles[0].scalars[0]
    for size in sizes(bundles):
        m, n, k = size["M"], size["N"], size["K"]
        torch.manual_seed(1)
        t = {"A": torch.randn(m, k, device="cuda").bfloat16(), "B": torch.randn(n, k, device="cuda").bfloat16(),
             "C": torch.empty(m, n, dtype=torch.bfloat16, device="cuda")}
        makes = {x.label: of(x, y, size, t) for x, y in zip(bundles, kernels) if x.case(size)}

        def both():
            return [torch.nn.functional.rms_norm(t["A"], (k,), eps=eps) @ t["B"].t()]

        makes["torch"] = kept(both)
        try:
            compiled = static(lambda a, b: torch.nn.functional.rms_norm(a, (k,), eps=eps) @ b.t())
            makes["torch-compiled"] = kept(lambda: [compiled(t["A"], t["B"])])
            makes["torch-compiled"]()()
        except Exception as e:  # whatever a compiler raises: the peer is left out by name
            makes.pop("torch-compiled", None)
            print("torch-compiled: %s" % (str(e).splitlines()[0] if str(e) else type(e).__name__))
        makes["torch"]()()
        want = []
        for j, i in points(n, m):
            a = t["A"][i].double()
            want.append(((j, i), float(a @ t["B"][j].double() / (a.square().mean() + eps).sqrt())))
        yield ("rmsnorm %dx%dx%d" % (m, n, k), makes, [t["C"]], point_judge(want, 0.02 * k ** 0.5), 2.0 * m * n * k,
               ("torch", "torch-compiled"))
        torch.cuda.empty_cache()


def cross_entropy(options, driver, sms):
    """Cross-entropy of H*W^T, per row. Peers: torch.mm and F.cross_entropy on bf16 logits, and the same compiled (its
    reductions are of float32)."""
    chains = [Chain(x, driver, sms) for x in options.cross_entropy]
    for size in sizes([c.bundles[0] for c in chains]):
        rows, vocabulary, k = size["T"], size["V"], size["K"]
        torch.manual_seed(1)
        t = {"H": torch.randn(rows, k, device="cuda").bfloat16(),
             "W": (torch.randn(vocabulary, k, device="cuda") * (2.0 / k ** 0.5)).bfloat16(),
             "LABEL": torch.randint(0, vocabulary, (rows,), device="cuda").int(),
             "LOSS": torch.empty(rows, device="cuda"), "LSE": torch.empty(rows, device="cuda")}
        for name in ("TOP", "SUM", "HIT"):  # what the first launch leaves of each tile of 256 columns
            t[name] = torch.empty((vocabulary + 255) // 256, rows, device="cuda")
        label = t["LABEL"].long()
        makes = {c.label: c.maker(size, lambda spec, t=t: t[spec["name"]]) for c in chains if c.has(size)}

        def both(h, w):
            return torch.nn.functional.cross_entropy((h @ w.t()).float(), label, reduction="none")

        makes["torch"] = kept(lambda: [torch.nn.functional.cross_entropy(t["H"] @ t["W"].t(), label, reduction="none")])
        makes["torch"]()()
        try:
            compiled = static(both)
            makes["torch-compiled"] = kept(lambda: [compiled(t["H"], t["W"])])
            makes["torch-compiled"]()()
        except Exception as e:  # whatever a compiler raises: the peer is left out by name
            makes.pop("torch-compiled", None)
            print("torch-compiled: %s" % (str(e).splitlines()[0] if str(e) else type(e).__name__))
        seen = [0, rows - 1] + torch.randint(0, rows, (30,)).tolist()
        want = []
        for i in seen:
            z = t["W"].double() @ t["H"][i].double()
            lse = float(torch.logsumexp(z, 0))
            want.append((lse - float(z[label[i]]), lse))

        def judge(out):
            worst = [max(abs(float(o[i]) - w[x]) for i, w in zip(seen, want)) for x, o in enumerate(out)]
            # bf16 logits, as torch has them, are off by 2^-9 of themselves
            return worst[0] < 0.05 and (len(out) == 1 or worst[1] < 0.005), "loss and lse off by " + ", ".join(
                "%.5f" % w for w in worst)

        yield ("cross-entropy rows %d vocabulary %d K %d" % (rows, vocabulary, k), makes, [t["LOSS"], t["LSE"]], judge,
               2.0 * rows * vocabulary * k, ("torch", "torch-compiled"))
        torch.cuda.empty_cache()


def linear(options, driver, sms):
    """Causal linear attention. Peers: the same chunks by torch's batched products and a cumulative sum, plain and
    compiled."""
    bundles = [peer.Bundle(b) for b in options.linear]
    kernels = [peer.Kernel(driver, b, sms) for b in bundles]
    scale = bundles[0].scalars[0]
    for size in sizes(bundles):
        b, h, rows = size["B"], size["H"], size["T"]
        torch.manual_seed(1)
        t = {n: torch.randn(b, rows, h, 128, device="cuda").bfloat16().transpose(1, 2) for n in "QKV"}
        t["O"] = torch.empty(b, rows, h, 128, device="cuda", dtype=torch.bfloat16).transpose(1, 2)
        t["STATE"] = torch.empty(b, h, 128, 128, device="cuda")
        makes = {x.label: of(x, y, size, t) for x, y in zip(bundles, kernels) if x.case(size)}
        for name in makes:
            makes[name].outputs = [t["O"], t["STATE"]]

        def chunks(q, k, v):
            q, k, v = (x.reshape(b, h, rows // 64, 64, 128) for x in (q, k, v))
            state = (k.transpose(3, 4) @ v).float().cumsum(2)
            before = torch.nn.functional.pad(state, (0, 0, 0, 0, 1, 0))[:, :, :-1].bfloat16()
            own = (q @ k.transpose(3, 4)).tril() @ v
            return (((own + q @ before) * scale).reshape(b, h, rows, 128), state[:, :, -1].contiguous())

        makes["torch"] = kept(lambda: list(chunks(t["Q"], t["K"], t["V"])))
        makes["torch"]()()
        try:
            compiled = static(chunks)
            makes["torch-compiled"] = kept(lambda: list(compiled(t["Q"], t["K"], t["V"])))
            makes["torch-compiled"]()()
        except Exception as e:  # whatever a compiler raises: the peer is left out by name
            makes.pop("torch-compiled", None)
            print("torch-compiled: %s" % (str(e).splitlines()[0] if str(e) else type(e).__name__))
        at = [tuple(int(torch.randint(0, n, (1,))) for n in (b, h, rows)) for _ in range(48)] + [(b - 1, h - 1, rows - 1)]
        want = []
        for i, j, r in at:
            q, k, v = (t[n][i, j].double() for n in "QKV")
            want.append((scale * ((k[:r + 1] @ q[r]) @ v[:r + 1]), k.t() @ v))

        def judge(out):
            first = max(float((out[0][x].double() - w[0]).abs().max()) for x, w in zip(at, want))
            state = max(float((out[1][x[:2]].double() - w[1]).abs().max()) for x, w in zip(at, want))
            # torch rounds each chunk's K^T V to bf16
            return first < 0.02 * rows ** 0.5 and state < 0.02 * rows ** 0.5, "O %.3f state %.3f" % (first, state)

        yield ("linear B %d H %d rows %d (%.0f MB)" % (b, h, rows, 8.0 * b * h * rows * 128 / 1e6), makes,
               [t["O"], t["STATE"]], judge, 2.0 * b * h * rows * (64 + 64 + 128 + 128) * 128, ("torch", "torch-compiled"))
        torch.cuda.empty_cache()
