"""Forms of attention beside torch: packed sequences, two head dimensions, soft cap and sinks. Each yields what the
problems of peers.py yield."""

import peer
from peers_serving import kept, of, sizes, static, strided

torch = peer.torch
LENGTHS = 2  # ways to draw the lengths of sequences


def drawn(count, total, most, way):
    """Lengths of `count` sequences, none above `most`, together `total`: all alike (way 0), or drawn, one of them 1."""
    if way == 0:
        lens = [total // count] * count
        lens[-1] += total - sum(lens)
    else:
        share = torch.rand(count) + 0.05
        lens = (share / share.sum() * total).int().clamp(1, most).tolist()
        lens[1 % count] = 1
        left = total - sum(lens)
        for i in sorted(range(count), key=lambda i: lens[i]):
            more = max(min(left, most - lens[i]), 1 - lens[i]) if i != 1 % count else 0
            lens[i] += more
            left -= more
    if max(lens) > most or min(lens) < 1 or sum(lens) != total:
        raise peer.BundleError("no %d lengths up to %d make %d" % (count, most, total))
    return lens


def offsets(lens):
    return torch.tensor([0] + lens).cumsum(0).int().cuda()


def rows_judge(rows, want):
    """Whether O and the sums of rows are what they should be: `want` has both for each of the places `rows`."""
    def judge(out):
        worst = [0.0, 0.0]
        for r, w in zip(rows, want):
            for i in range(len(out)):
                worst[i] = max(worst[i], float((out[i][r].double() - w[i]).abs().max()))
        return worst[0] < 0.02 and worst[1] < 0.01, "O %.4f lse %.5f" % tuple(worst)
    return judge


def varlen(options, driver, sms):
    """Packed sequences, as many keys as queries. Peers: flash attention and cuDNN of torch on the same tensors."""
    bundles = [peer.Bundle(b) for b in options.varlen]
    kernels = [peer.Kernel(driver, b, sms) for b in bundles]
    scale = bundles[0].scalars[0]
    for size in sizes(bundles):
        count, h, hk, total, most = (size[x] for x in ("B", "HQ", "HKV", "TQ", "MQ"))
        for way in range(LENGTHS):
            torch.manual_seed(1 + way)
            lens = drawn(count, total, most, way)
            starts = offsets(lens)
            longest = max(lens)
            q, k, v = (torch.randn(total, n, 128, device="cuda").bfloat16() for n in (h, hk, hk))
            t = {"Q": q.transpose(0, 1), "K": k.transpose(0, 1), "V": v.transpose(0, 1), "QS": starts, "KS": starts}
            t["O"] = torch.empty(total, h, 128, device="cuda", dtype=torch.bfloat16).transpose(0, 1)
            t["LSE"] = torch.empty(h, total, device="cuda")
            makes = {x.label: of(x, y, size, t) for x, y in zip(bundles, kernels) if x.case(size)}

            def flash():
                out = torch.ops.aten._flash_attention_forward(q, k, v, starts, starts, longest, longest, 0.0,
                                                              bool(options.causal), False, scale=scale)
                return [out[0].transpose(0, 1), out[1]]

            def cudnn():
                out = torch.ops.aten._cudnn_attention_forward(q, k, v, None, starts, starts, longest, longest, True, 0.0,
                                                              bool(options.causal), False, scale=scale)
                return [out[0].transpose(0, 1)]

            for name, run in (("torch-flash", flash), ("cudnn", cudnn)):
                try:
                    run()
                    torch.cuda.synchronize()
                    makes[name] = kept(run)
                    makes[name]()()
                except (RuntimeError, TypeError) as e:
                    print("%s: %s" % (name, str(e).splitlines()[0]))
            rows = [(int(torch.randint(0, h, (1,))), int(torch.randint(0, total, (1,)))) for _ in range(64)]
            rows += [(0, 0), (h - 1, total - 1)] + [(0, int(s) - 1) for s in starts[1:]] + [(0, int(s)) for s in starts[:-1]]
            want = []
            for head, row in rows:
                at = int((starts[1:] <= row).sum())
                first = int(starts[at])
                end = row + 1 if options.causal else int(starts[at + 1])
                s = (k[first:end, head // (h // hk)].double() @ q[row, head].double()) * scale
                want.append((torch.softmax(s, 0) @ v[first:end, head // (h // hk)].double(), torch.logsumexp(s, 0)))

            judge = rows_judge(rows, want)

            pairs = sum(n * (n + 1) // 2 if options.causal else n * n for n in lens)
            yield ("varlen %s B %d rows %d heads %d/%d %s" % (
                "causal" if options.causal else "full", count, total, h, hk,
                "alike" if way == 0 else "1 to %d" % longest), makes, [t["O"], t["LSE"]], judge,
                4.0 * h * pairs * 128, ("torch-flash", "cudnn"))


def sdpa(backend, q, k, v, causal, scale, columns):
    def run():
        with torch.nn.attention.sdpa_kernel(getattr(torch.nn.attention.SDPBackend, backend)):
            o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale,
                                                                 enable_gqa=q.shape[1] != k.shape[1])
        return [o[..., :columns]]
    return run


def flex(q, k, v, causal, scale, cap, sink):
    """FlexAttention, compiled; a sink scales its output by what it leaves, in the same graph."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, q.shape[2], k.shape[2]) if causal else None
    mod = (lambda s, b, h, i, j: cap * torch.tanh(s / cap)) if cap else None

    def body(q, k, v):
        o, lse = flex_attention(q, k, v, score_mod=mod, block_mask=mask, scale=scale, return_lse=True,
                                enable_gqa=q.shape[1] != k.shape[1])
        if sink is None:
            return o, lse
        return (o * torch.sigmoid(lse - sink[None, :, None])[..., None]).bfloat16(), torch.logaddexp(
            lse, sink[None, :, None].expand_as(lse))

    compiled = static(body)
    return lambda: list(compiled(q, k, v))


def forms(options, driver, sms):
    """Attention whose V has other columns than K, or whose scores are capped, or with sinks, as the bundles are. Peers:
    cuDNN, flash and memory-efficient attention of torch where they take the problem (V filled up with zeros where they
    want it as wide as K; the filling is not timed), FlexAttention."""
    bundles = [peer.Bundle(b) for b in options.forms]
    kernels = [peer.Kernel(driver, b, sms) for b in bundles]
    first = bundles[0]
    scale, cap, sinks = first.scalars[0], options.cap, options.sinks
    for size in sizes(bundles):
        case = first.case(size)
        if not case:
            continue
        torch.manual_seed(1)
        t = strided(first, case)
        q, k, v, o = (t[n] for n in "QKVO")
        b, h, sq, d = q.shape
        hk, sk, dv = k.shape[1], k.shape[2], v.shape[3]
        sink = t["SINK"] if sinks else None
        makes = {x.label: of(x, y, size, t) for x, y in zip(bundles, kernels) if x.case(size)}
        runs = {"flex": lambda: flex(q, k, v, options.causal, scale, cap, sink)}
        if not cap and not sinks:
            wide = torch.nn.functional.pad(v, (0, d - dv))
            runs["cudnn"] = lambda: sdpa("CUDNN_ATTENTION", q, k, v, options.causal, scale, dv)
            runs["efficient"] = lambda: sdpa("EFFICIENT_ATTENTION", q, k, v, options.causal, scale, dv)
            if d != dv:
                runs["cudnn-filled"] = lambda: sdpa("CUDNN_ATTENTION", q, k, wide, options.causal, scale, dv)
                runs["flash-filled"] = lambda: sdpa("FLASH_ATTENTION", q, k, wide, options.causal, scale, dv)
        for name in runs:
            try:
                run = runs[name]()
                run()
                torch.cuda.synchronize()
                makes[name] = kept(run)
                makes[name]()()
            except Exception as e:  # whatever a compiler raises: the peer is left out by name
                print("%s: %s" % (name, str(e).splitlines()[0] if str(e) else type(e).__name__))
        rows = [tuple(int(torch.randint(0, n, (1,))) for n in (b, h, sq)) for _ in range(64)] + [(0, 0, 0), (b - 1, h - 1, sq - 1)]
        want = []
        for i, j, r in rows:
            s = (k[i, j // (h // hk)].double() @ q[i, j, r].double()) * scale
            s = cap * torch.tanh(s / cap) if cap else s
            if options.causal:
                s[r + 1 + sk - sq:] = float("-inf")
            all_ = torch.cat((s, sink[j:j + 1].double())) if sinks else s
            want.append((torch.softmax(all_, 0)[:sk] @ v[i, j // (h // hk)].double(), torch.logsumexp(all_, 0)))

        judge = rows_judge(rows, want)

        flops = 2.0 * b * h * sq * sk * (d + dv) / (2 if options.causal else 1)
        yield ("d %d/%d %s%s%s S %d" % (d, dv, "causal" if options.causal else "full", " cap" if cap else "",
                                        " sinks" if sinks else "", sq),
               makes, [o, t["LSE"]], judge, flops, tuple(x for x in makes if x in ("flex", "cudnn", "efficient", "cudnn-filled", "flash-filled")))
