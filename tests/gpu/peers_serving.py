"""Problems of peers.py that serving runs: GEMM of few rows (bf16, 8-bit and 4-bit weights) and attention of few query
rows over a paged cache. Each yields (label, {name: maker of a launch}, outputs, judge, flops, peers)."""

import ctypes

import peer

torch = peer.torch
POINTS = 400


def of(bundle, kernel, size, tensors):
    return lambda: kernel.prepare(bundle.case(size), [tensors[x["name"]] for x in bundle.tensors])


def library(path, option):
    """What is given with an option; None, by name, where nothing is."""
    if not path:
        print("no %s: what it holds is left out" % option)
        return None
    try:
        return ctypes.CDLL(path)
    except OSError as e:
        raise peer.BundleError("%s: %s" % (option, e)) from e


class Chain:
    """Bundles whose launches follow each other, given as FOLDER+FOLDER+…"""

    def __init__(self, folders, driver, sms):
        self.bundles = [peer.Bundle(x) for x in folders.split("+")]
        self.kernels = [peer.Kernel(driver, b, sms) for b in self.bundles]
        self.label = "+".join(b.label for b in self.bundles)

    @staticmethod
    def own(bundle, size):
        """The sizes of a case that a bundle names, in its order."""
        return {n: size[n] for n in bundle.sizes}

    def has(self, size):
        return all(size.keys() >= set(b.sizes) and b.case(self.own(b, size)) for b in self.bundles)

    def parts(self, size, tensor):
        """Makers of the launches; tensor(spec) is the one for a tensor of a bundle."""
        def tensors(bundle):
            return {x["name"]: tensor(x) for x in bundle.tensors}

        return {b.label: of(b, k, self.own(b, size), tensors(b)) for b, k in zip(self.bundles, self.kernels)}

    def maker(self, size, tensor):
        def make():
            launches = [x() for x in self.parts(size, tensor).values()]

            def run():
                for launch in launches:
                    launch()
            return run

        return make


def static(function):
    """Compiled for the shapes of one problem: after a second problem torch would compile for any, which is slower."""
    torch._dynamo.reset()
    return torch.compile(function, dynamic=False)


def kept(run):
    """A maker of launches of run(), a list of tensors, which stay in `outputs` of the maker."""
    held = []

    def launch():
        held[:] = run()

    def make():
        return launch

    make.outputs = held
    return make


def strided(bundle, case):
    """Tensors of a case with the strides that the design declares; those that are read hold normal values."""
    t = {}
    for i, spec in enumerate(bundle.tensors):
        kind = torch.bfloat16 if spec["dtype"] == "bf16" else torch.float32
        t[spec["name"]] = torch.empty_strided(case["extent"][i], case["stride"][i], device="cuda", dtype=kind)
        if spec["access"] == "read":
            t[spec["name"]].copy_(torch.randn(case["extent"][i], device="cuda"))
    return t


def sizes(bundles):
    """Sizes of all cases of bundles, each once."""
    seen = []
    for b in bundles:
        for c in b.cases:
            size = dict(zip(b.sizes, c["values"]))
            if size not in seen:
                seen.append(size)
    return seen


def cases_of(bundles):
    """Sizes of the cases of all bundles that name sizes as the first does, each once, with a bundle that has it."""
    seen = {}
    for b in bundles:
        for c in b.cases if b.sizes == bundles[0].sizes else ():
            seen.setdefault(tuple(sorted(zip(b.sizes, c["values"]))), (b, c))
    return list(seen.values())


def point_judge(want, tolerance):
    def judge(out):
        error = max(abs(float(out[0][m, n]) - w) / (tolerance + 0.01 * abs(w)) for (n, m), w in want)
        return error <= 1, "worst %.3f of what is allowed (%g + 1 %%) at %d elements" % (error, tolerance, len(want))
    return judge


def points(n, m):
    return [(int(torch.randint(0, n, (1,))), int(torch.randint(0, m, (1,)))) for _ in range(POINTS)] + [(0, 0), (n - 1, m - 1)]


def small(options, driver, sms):
    """C = X*W^T with few rows X; weights as the first bundle has them: bf16, i8 with a scale per row, or u8 that
    holds two 4-bit weights with a scale per group of 128. Peers: torch.matmul with bf16 weights (the same numbers,
    rounded), also with B stored [K, N], and torch's own product with 8-bit or 4-bit weights where it has one."""
    bundles = [peer.Bundle(b) for b in options.small]
    kernels = [peer.Kernel(driver, b, sms) for b in bundles]
    kind = next(t["dtype"] for t in bundles[0].tensors if t["name"] == "W")
    for size in sizes(bundles):
        m, n, k = size["M"], size["N"], size["K"]
        torch.manual_seed(1)
        x = torch.randn(m, k, device="cuda").bfloat16()
        t = {"X": x, "Y": torch.empty(m, n, dtype=torch.bfloat16, device="cuda")}
        makes = {}
        if kind == "bf16":
            t["W"] = wide = torch.randn(n, k, device="cuda").bfloat16()
        elif kind == "i8":
            t["W"] = torch.randint(-127, 128, (n, k), dtype=torch.int8, device="cuda")
            t["S"] = torch.rand(n, device="cuda") * 0.009 + 0.001
            wide = (t["W"] * t["S"][:, None]).bfloat16()
        else:
            t["W"] = torch.randint(0, 256, (n, k // 2), dtype=torch.uint8, device="cuda")
            t["S"] = torch.rand(k // 128, n, device="cuda") * 0.08 + 0.02
            byte = t["W"].reshape(n, k // 128, 64)
            q = torch.cat((byte & 15, byte >> 4), 2).reshape(n, k)
            wide = ((q.float() - 8) * t["S"].t().repeat_interleave(128, 1)).bfloat16()
        if kind == "u8" and hasattr(torch.ops.aten, "_weight_int4pack_mm"):
            try:
                packed = torch.ops.aten._convert_weight_to_int4pack((q[:, ::2] << 4 | q[:, 1::2]).to(torch.uint8), 8)
                zeros = torch.stack((t["S"], torch.zeros_like(t["S"])), 2).bfloat16().contiguous()
                makes["torch-int4"] = kept(lambda: [torch.ops.aten._weight_int4pack_mm(x, packed, 128, zeros)])
            except RuntimeError as e:
                print("torch-int4: %s" % str(e).splitlines()[0])
        if kind == "i8" and hasattr(torch.ops.aten, "_weight_int8pack_mm"):
            try:
                scale8 = t["S"].bfloat16()
                torch.ops.aten._weight_int8pack_mm(x, t["W"], scale8)
                makes["torch-int8"] = kept(lambda: [torch.ops.aten._weight_int8pack_mm(x, t["W"], scale8)])
            except (RuntimeError, NotImplementedError) as e:
                print("torch-int8: %s" % str(e).splitlines()[0])
        turned = wide.t().contiguous()
        makes["torch-nk"] = kept(lambda: [torch.mm(x, wide.t())])
        makes["torch-kn"] = kept(lambda: [torch.mm(x, turned)])
        for b, kernel in zip(bundles, kernels):
            if b.case(size):
                makes[b.label] = of(b, kernel, size, t)
        weights = t["W"].double() if kind == "bf16" else t["W"].double() * t["S"].double()[:, None] if kind == "i8" else (
            (q.double() - 8) * t["S"].double().t().repeat_interleave(128, 1))
        want = [((i, j), float(weights[i] @ x[j].double())) for i, j in points(n, m)]
        del weights
        bound = 0.02 * float(wide.float().square().mean().sqrt()) * k ** 0.5  # two of bf16's steps of a typical sum
        for name in [x for x in makes if x.startswith("torch")]:  # graphs replay what allocates once
            makes[name]()()
        bytes_ = t["W"].numel() * t["W"].element_size()
        yield ("%s M %d N %d K %d (weights %.1f MB)" % (kind, m, n, k, bytes_ / 1e6), makes, [t["Y"]],
               point_judge(want, bound), 2.0 * m * n * k, tuple(x for x in makes if x.startswith("torch")))


def decode(options, driver, sms):
    """Attention of G query heads for each key head over pages of a cache; all sequences of one length (--length) or of
    drawn ones (--length 0); pages anywhere in the cache, or one after the other (--in-order). BUNDLE+BUNDLE are two
    launches, splits and what combines them, timed together for each number of splits S of their cases. Peer: torch's
    scaled_dot_product_attention on a cache without pages, where all lengths are equal, by cuDNN and by flash attention."""
    chains = [Chain(x, driver, sms) for x in options.decode]
    scale = chains[0].bundles[0].scalars[0]
    cases = sizes([c.bundles[0] for c in chains])
    for size in [dict(x) for x in dict.fromkeys(tuple((n, c[n]) for n in ("B", "H", "G", "NP", "MP")) for c in cases)]:
        b, h, g, np_, mp = size.values()
        page = 64
        splits = sorted({c["S"] for c in cases if "S" in c and size.items() <= c.items()})
        for length in options.length:
            torch.manual_seed(1)
            t = {"Q": torch.randn(b, h, g, 128, device="cuda").bfloat16(),
                 "KC": torch.randn(np_, h, page, 128, device="cuda").bfloat16(),
                 "VC": torch.randn(np_, h, page, 128, device="cuda").bfloat16(),
                 "O": torch.empty(b, h, g, 128, device="cuda", dtype=torch.bfloat16)}
            t["T"] = torch.randperm(np_, device="cuda")[:b * mp].reshape(b, mp).int() if np_ >= b * mp else (
                torch.randint(0, np_, (b, mp), device="cuda").int())
            if options.in_order:
                t["T"] = (torch.arange(b * mp, device="cuda") % np_).reshape(b, mp).int()
            lens = torch.full((b,), min(length, mp * page), dtype=torch.int32, device="cuda") if length else (
                torch.randint(0, mp * page + 1, (b,), device="cuda").int())
            if not length:
                lens[0] = 0
                lens[-1] = 1
            t["L"] = lens
            makes = {c.label: c.maker(size, lambda spec, t=t: t[spec["name"]])
                     for c in chains if len(c.bundles) == 1 and c.has(size)}
            for c in (c for c in chains if len(c.bundles) > 1):  # maxima, sums and products of the splits between its launches
                for s in splits:
                    if c.has({**size, "S": s}):
                        between = {"TOP": torch.empty(s, b, h, g, device="cuda"), "SUM": torch.empty(s, b, h, g, device="cuda"),
                                   "PART": torch.empty(s, b, h, g, 128, device="cuda"), **t}
                        makes["%s S %d" % (c.label, s)] = c.maker({**size, "S": s}, lambda spec, x=between: x[spec["name"]])
            if length:
                top = int(lens[0])
                keys, values = (t[n][t["T"].long()].transpose(1, 2).reshape(b, h, mp * page, 128)[:, :, :top].contiguous()
                                for n in ("KC", "VC"))
                heads = t["Q"].reshape(b, h * g, 1, 128)
                for name, backend in (("cudnn", "CUDNN_ATTENTION"), ("torch-flash", "FLASH_ATTENTION")):
                    def sdpa(backend=backend):
                        with torch.nn.attention.sdpa_kernel(getattr(torch.nn.attention.SDPBackend, backend)):
                            return [torch.nn.functional.scaled_dot_product_attention(
                                heads, keys, values, scale=scale, enable_gqa=g != 1).reshape(b, h, g, 128)]

                    makes[name] = kept(sdpa)
                    makes[name].varies = True  # cuDNN adds its splits up in another order at times
            rows = [tuple(int(torch.randint(0, n, (1,))) for n in (b, h, g)) for _ in range(48)]
            rows += [(0, 0, 0), (b - 1, h - 1, g - 1)]
            want = []
            for i, j, r in rows:
                n = int(lens[i])
                pages = t["T"][i].long()
                k = t["KC"][pages, j].reshape(-1, 128)[:n].double()
                v = t["VC"][pages, j].reshape(-1, 128)[:n].double()
                s = (k @ t["Q"][i, j, r].double()) * scale
                want.append(torch.softmax(s, 0) @ v if n else torch.zeros(128, device="cuda").double())

            def judge(out):
                worst = max(float((out[0][r].double() - w).abs().max()) for r, w in zip(rows, want))
                return worst < 0.01, "O %.5f" % worst

            moved = float(lens.sum()) * h * 128 * 2 * 2
            yield ("decode B %d H %d G %d %s (cache %.1f MB)" % (b, h, g, "length %d" % length if length else "drawn lengths",
                                                          moved / 1e6),
                   makes, [t["O"]], judge, 4.0 * g * h * 128 * float(lens.sum()), ("cudnn", "torch-flash"))


def grouped(options, driver, sms):
    """Grouped GEMM, rows of one expert together in blocks of 128 and some experts without rows. Peer: torch._grouped_mm
    on the same tensors, groups by offsets."""
    bundles = [peer.Bundle(b) for b in options.grouped]
    kernels = [peer.Kernel(driver, b, sms) for b in bundles]
    for size in sizes(bundles):
        m, n, k, experts = size["M"], size["N"], size["K"], size["NE"]
        torch.manual_seed(1)
        blocks = (m + 127) // 128
        share = torch.rand(experts)
        share[1 % experts] = 0  # nobody asks this one
        owner = torch.multinomial(share, blocks, replacement=True).sort().values
        counts = torch.bincount(owner, minlength=experts) * 128
        offsets = counts.cumsum(0).int().cuda()
        t = {"A": torch.randn(m, k, device="cuda").bfloat16(),
             "B": torch.randn(experts, n, k, device="cuda").bfloat16(),
             "E": owner.int().cuda(), "C": torch.empty(m, n, dtype=torch.bfloat16, device="cuda")}
        turned = t["B"].transpose(1, 2)
        makes = {"torch-grouped": kept(
            lambda: [torch._grouped_mm(t["A"], turned, offs=offsets, out_dtype=torch.bfloat16)])}
        makes["torch-grouped"]()()
        for b, kernel in zip(bundles, kernels):
            if b.case(size):
                makes[b.label] = of(b, kernel, size, t)
        want = [((j, i), float(t["A"][i].double() @ t["B"][int(owner[i // 128]), j].double())) for j, i in points(n, m)]
        yield ("grouped M %d N %d K %d experts %d (largest %d rows, %d without)" % (
            m, n, k, experts, int(counts.max()), int((counts == 0).sum())), makes, [t["C"]],
               point_judge(want, 0.02 * k ** 0.5), 2.0 * m * n * k, "torch-grouped")
