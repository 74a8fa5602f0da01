"""Sparse attention beside FlashMLA and DeepGEMM, whose libraries are given: prefill, decode over an fp8 cache, and the scores
by which keys are chosen. Each yields what the problems of peers.py yield."""

import ctypes

import peer
from peers_serving import Chain, cases_of, library, sizes

torch = peer.torch
LN2 = 0.6931471805599453
PAGE = 64  # tokens of a page of FlashMLA's cache
ROW = 656  # bytes of a token there: 512 e4m3, 4 scales in f32, 64 bf16


def pointers(*tensors):
    return [ctypes.c_void_p(x.data_ptr() if x is not None else None) for x in tensors]


def calling(name, function, *arguments):
    def run(keep=arguments):
        code = function(*arguments, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        if code:
            raise RuntimeError("%s: %d" % (name, code))
    return run


# --- prefill -------------------------------------------------------------------------------------


def picked_keys(rows, keys, count):
    """Distinct keys for every row."""
    index = torch.empty(rows, count, dtype=torch.int32, device="cuda")
    for row in range(0, rows, 64):
        index[row:row + 64] = torch.rand(min(64, rows - row), keys, device="cuda").topk(count, 1).indices.int()
    return index


def sparse_inputs(case, bundle):
    """Sizes and tensors of a case, under the names that other designs have for them, too."""
    size = dict(zip(bundle.sizes, case["values"]))
    sq, skv, hq, topk = size["SQ"], size["SKV"], size["HQ"], size["TOPK"]
    size.update(B=1, H=hq)
    if topk == 2048:  # as the import of TLE's tutorial calls them, whose constants they are
        size.update(S=skv, d_v=512, DT=576, _=1, __2=576, __3=1, __4=sq, __5=1)
    torch.manual_seed(1)
    t = {"Q": torch.randn(sq, hq, 576, device="cuda").bfloat16(),
         "KV": torch.randn(skv, 576, device="cuda").bfloat16()}
    t["I"] = picked_keys(sq, skv, topk)
    t["O"] = torch.empty(sq, hq, 512, dtype=torch.bfloat16, device="cuda")
    t["MAXL"] = torch.empty(sq, hq, device="cuda")
    t["LSE"] = torch.empty(sq, hq, device="cuda")
    t["SINK"] = torch.full((hq,), float("-inf"), device="cuda")  # none: FlashMLA is built without
    t["LEN"] = torch.full((sq,), topk, dtype=torch.int32, device="cuda")
    t.update(q=t["Q"], kv=t["KV"], indices=t["I"], output=t["O"],
             lse=torch.empty(sq, hq, dtype=torch.bfloat16, device="cuda"))
    return size, t


def sparse_mla(options, driver, sms):
    bundles = [peer.Bundle(b) for b in options.sparse_mla]
    kernels = [peer.Kernel(driver, b, sms) for b in bundles]
    lib = library(options.flashmla, "--flashmla")
    scale = next((b.scalars[0] for b in bundles if b.scalars), 576 ** -0.5)
    for first, case in cases_of(bundles):
        size, t = sparse_inputs(case, first)
        sq, skv, hq, topk = size["SQ"], size["SKV"], size["HQ"], size["TOPK"]

        def own(bundle):
            return bundle.case({name: size.get(name) for name in bundle.sizes})

        def of(bundle, kernel):
            return lambda: kernel.prepare(own(bundle), [t[x["name"]] for x in bundle.tensors])

        padded = (hq + 63) // 64 * 64  # what FlashMLA asks for; the padding itself is not timed
        wide = dict(t)
        if padded != hq:
            wide["Q"] = torch.zeros(sq, padded, 576, dtype=torch.bfloat16, device="cuda")
            wide["Q"][:, :hq] = t["Q"]
            wide["O"] = torch.empty(sq, padded, 512, dtype=torch.bfloat16, device="cuda")
            wide["MAXL"], wide["LSE"] = (torch.empty(sq, padded, device="cuda") for _ in range(2))

        def flashmla():
            return calling("flashmla_prefill", lib.flashmla_prefill,
                           *pointers(*(wide[n] for n in ("Q", "KV", "I", "O", "MAXL", "LSE"))),
                           *[ctypes.c_int(v) for v in (sq, skv, padded, topk)], ctypes.c_float(scale))

        flashmla.outputs = [wide[n] for n in ("O", "MAXL", "LSE")]
        makes = {b.label: of(b, x) for b, x in zip(bundles, kernels) if own(b)}
        for b in bundles:
            if b.label in makes:
                makes[b.label].outputs = [t[x["name"]] for x in b.tensors if x["access"] != "read"]
        if lib:
            makes["flashmla"] = flashmla
        tokens = torch.randint(0, sq, (24,), device="cuda").tolist() + [0, sq - 1]
        want = []
        for q in tokens:
            index = t["I"][q].long()
            ok = (index >= 0) & (index < skv)
            kv = t["KV"][index.clamp(0, skv - 1)].double()
            s = (t["Q"][q].double() @ kv.t() * scale).masked_fill(~ok, float("-inf"))
            want.append((torch.softmax(s, 1) @ kv[:, :512], s.amax(1), torch.logsumexp(s, 1)))

        def judge(out):
            worst = [0.0, 0.0, 0.0]
            for q, w in zip(tokens, want):
                # without maxima it is TLE's form, whose logarithms have base 2
                for o, i, unit in zip(out, (0, 1, 2), (1, 1, 1)) if len(out) == 3 else zip(out, (0, 2), (1, LN2)):
                    worst[i] = max(worst[i], float((o[q][:hq].double() * unit - w[i]).abs().max()))
            rounding = 0.03 if out[-1].dtype == torch.bfloat16 else 0  # half a step of a logarithm between 8 and 16
            return worst[0] < 0.02 and worst[1] < 0.01 and worst[2] < 0.01 + rounding, "O %.4f max %.5f lse %.5f" % tuple(worst)

        yield ("s_q %d h %d keys %d topk %d" % (sq, hq, skv, topk), makes, [t["O"], t["MAXL"], t["LSE"]],
               judge, 2.0 * sq * hq * topk * (576 + 512), "flashmla")
        torch.cuda.empty_cache()


# --- decode --------------------------------------------------------------------------------------


def fp8_cache(keys):
    """A cache as FlashMLA publishes it, and its rows in float64. Scales are powers of two, as FlashMLA's own are: what is
    dequantised to bf16 is then exact."""
    raw = torch.empty(keys, ROW, dtype=torch.uint8, device="cuda")
    values = torch.randn(keys, 512, device="cuda").to(torch.float8_e4m3fn)
    scales = torch.exp2(torch.randint(-1, 2, (keys, 4), device="cuda").float())
    rope = torch.randn(keys, 64, device="cuda").bfloat16()
    raw[:, :512] = values.view(torch.uint8)
    raw[:, 512:528] = scales.view(torch.uint8)
    raw[:, 528:] = rope.view(torch.uint8)

    def rows(index):
        return torch.cat((values[index].double() * scales[index].double().repeat_interleave(128, 1), rope[index].double()), 1)

    return raw, rows


def decode_peer(lib, t, raw, lengths, b, h, keys, topk, scale):
    """Makers of FlashMLA's launches: as it is used, with the metadata, and each alone. This form of it takes no lengths: behind
    the length of a list stands -1 for it, and it reads the whole list."""
    place = torch.arange(topk, device="cuda")
    index = torch.where(place < lengths[:, None], t["I"].view(b, topk), -1).int().contiguous()
    parts = lib.flashmla_decode_parts(h, 1)
    held = [torch.empty(parts, 8, dtype=torch.int32, device="cuda"), torch.empty(b + 1, dtype=torch.int32, device="cuda"),
            torch.empty(b + parts, h, device="cuda"), torch.empty(b + parts, h, 512, device="cuda")]
    out, lse = torch.empty_like(t["O"]), torch.empty(b, h, device="cuda")

    def launch(what):
        return calling("flashmla_decode", lib.flashmla_decode, *pointers(t["Q"], raw, index, None, out, lse, *held),
                       *[ctypes.c_int(x) for x in (b, 1, h, topk, keys // PAGE, PAGE)], ctypes.c_float(scale), ctypes.c_int(what))

    def maker(what):
        def make():
            launch(7)()  # metadata and splits that a part of the launches finds
            run = launch(what)
            run.keep = (t, raw, index, held)
            return run

        make.outputs = [out]
        return make

    alone = {"metadata": maker(1), "attention": maker(2), "combine": maker(4)}
    return {"flashmla": maker(6), "flashmla-meta": maker(7)}, alone


def sparse_decode(options, driver, sms):
    """One query row for each sequence over listed rows of an fp8 cache; BUNDLE+BUNDLE are the splits and what combines them,
    once for each number of splits S of their cases, a bundle alone is one launch without splits. All lists full, then of drawn
    lengths. Peer: FlashMLA."""
    chains = [Chain(x, driver, sms) for x in options.sparse_decode]
    lib = library(options.flashmla, "--flashmla")
    scale = chains[0].bundles[0].scalars[0]
    cases = sizes([c.bundles[0] for c in chains])
    for b, h, keys, topk in dict.fromkeys(tuple(c[n] for n in ("B", "HQ", "SKV", "TOPK")) for c in cases):
        size = {"B": b, "HQ": h, "SKV": keys, "TOPK": topk}
        splits = sorted({c["S"] for c in cases if "S" in c and size.items() <= c.items()})
        for drawn in (False, True):
            torch.manual_seed(1)
            raw, rows = fp8_cache(keys)
            flat = raw.view(-1)
            length = torch.randint(1, topk + 1, (b,), device="cuda").int() if drawn else (
                torch.full((b,), topk, dtype=torch.int32, device="cuda"))
            t = {"Q": torch.randn(b, h, 576, device="cuda").bfloat16(), "KN": flat, "KS": flat[512:], "KR": flat[528:],
                 "I": picked_keys(b, keys, topk), "L": length, "O": torch.empty(b, h, 512, dtype=torch.bfloat16, device="cuda")}
            makes, alone = {}, {}
            for c in chains:
                for s in splits if "S" in c.bundles[0].sizes else [0]:
                    case = {**size, "S": s} if s else size
                    if c.has(case):
                        between = {"TOP": torch.empty(s, b, h, device="cuda"), "SUM": torch.empty(s, b, h, device="cuda"),
                                   "PART": torch.empty(s, b, h, 512, device="cuda"), **t}
                        splitting = " S %d" % s if s else ""
                        name = c.label + splitting
                        makes[name] = c.maker(case, lambda spec, x=between: x[spec["name"]])
                        makes[name].keep = between
                        for part, make in c.parts(case, lambda spec, x=between: x[spec["name"]]).items():
                            alone[part + splitting] = make
            if lib and keys % PAGE == 0 and h in (64, 128) and topk % 64 == 0:
                theirs, parts = decode_peer(lib, t, raw, length, b, h, keys, topk, scale)
                makes.update(theirs)
                alone.update(parts)
            elif lib:
                print("FlashMLA: left out: 64 or 128 heads, keys and lists of whole blocks of 64")
            label = "sparse decode B %d heads %d keys %d listed %d%s" % (b, h, keys, topk, " drawn lengths" if drawn else "")
            if options.case and label not in options.case:
                continue
            picks = [(int(torch.randint(0, b, (1,))), int(torch.randint(0, h, (1,)))) for _ in range(62)] + [(0, 0), (b - 1, h - 1)]
            want = []
            for i, j in picks:
                k = rows(t["I"][i, :int(length[i])].long())
                want.append(torch.softmax(k @ t["Q"][i, j].double() * scale, 0) @ k[:, :512])

            def judge(out):
                worst = max(float(((out[0][p].double() - w).abs() / (0.012 + 0.012 * w.abs())).max()) for p, w in zip(picks, want))
                return worst < 1, "worst %.3f of what is allowed (0.012 + 1.2 %%)" % worst

            if not options.profile:
                seen, _ = peer.cold_rounds({n: m() for n, m in alone.items()}, options.flush, 3, 3, peer.Nvml())
                print("  cold, each launch alone: %s" % ", ".join("%s %.1f us" % (n, sorted(x)[1]) for n, x in seen.items()))
            yield (label, makes, [t["O"]], judge, 2.0 * h * float(length.sum()) * (576 + 512), ("flashmla", "flashmla-meta"))
            torch.cuda.empty_cache()


# --- indexer -------------------------------------------------------------------------------------


def no_nan(o):
    return not bool(torch.isnan(o).any())


def indexer(options, driver, sms):
    """Scores of keys in e4m3 with 128 columns; every query wants all keys, then those up to its own place (causal). Peer:
    DeepGEMM's fp8_mqa_logits with its logits cleaned (-inf elsewhere, as ours), and without that launch."""
    bundles = [peer.Bundle(b) for b in options.indexer]
    kernels = [peer.Kernel(driver, b, sms) for b in bundles]
    lib = library(options.deepgemm_mqa, "--deepgemm-mqa")
    heads = {id(b): [c["extent"][b.index("Q")][0] // dict(zip(b.sizes, c["values"]))["SQ"] for c in b.cases] for b in bundles}
    problems = dict.fromkeys((c["values"][b.sizes.index("SQ")], c["values"][b.sizes.index("SKV")], h)
                             for b in bundles for c, h in zip(b.cases, heads[id(b)]))
    for sq, skv, h in problems:
        for causal in (False, True):
            label = "indexer queries %d keys %d heads %d%s" % (sq, skv, h, " causal" if causal else "")
            if (options.case and label not in options.case) or (causal and skv < sq):
                continue
            torch.manual_seed(1)
            place = torch.arange(sq, device="cuda", dtype=torch.int32)
            t = {"Q": torch.randn(sq * h, 128, device="cuda").to(torch.float8_e4m3fn),
                 "K": torch.randn(skv, 128, device="cuda").to(torch.float8_e4m3fn),
                 "KS": torch.rand((skv + 3) // 4 * 4, device="cuda") * 0.5 + 0.5,
                 "W": torch.randn(sq, h, device="cuda"), "START": torch.zeros_like(place),
                 "END": place + (skv - sq + 1) if causal else torch.full_like(place, skv),
                 "LOGITS": torch.empty(sq, skv, device="cuda")}
            makes = {}
            for b, kernel in zip(bundles, kernels):
                case = b.case({"SQ": sq, "SKV": skv})
                if case and case["extent"][b.index("Q")][0] == sq * h:
                    makes[b.label] = lambda b=b, k=kernel, c=case: k.prepare(c, [t[x["name"]] for x in b.tensors])
                    makes[b.label].sound = no_nan
                    spec = b.tensors[b.index("LOGITS")]
            if lib:
                filled = (sq + 128 // h - 1) // (128 // h) * (128 // h)
                stride = (skv + 256 + 255) // 256 * 256
                theirs = torch.empty(filled, stride, device="cuda")

                def deepgemm(what):
                    def make():
                        return calling("deepgemm_mqa_logits", lib.deepgemm_mqa_logits,
                                       *pointers(*(t[n] for n in ("Q", "K", "KS", "W", "START", "END")), theirs),
                                       *[ctypes.c_int(x) for x in (sq, skv, h, stride, what)])

                    make.outputs = [theirs[:sq, :skv]] * (1 if what & 2 else 2)  # two: only what is wanted is judged
                    return make

                makes["deepgemm"], makes["deepgemm-uncleaned"] = deepgemm(3), deepgemm(1)
                makes["deepgemm"].sound = no_nan
                makes["deepgemm-uncleaned"].sound = lambda o: True
            places = torch.randint(0, sq, (30,)).tolist() + [0, sq - 1]
            want = {}
            for i in places:
                x = (t["Q"][i * h:(i + 1) * h].double() @ t["K"].double().t()).clamp(min=0)
                want[i] = (t["W"][i].double() @ x) * t["KS"][:skv].double()

            def judge(out, t=t, want=want, spec=spec):
                worst, outside = 0.0, True
                for i, w in want.items():
                    end = int(t["END"][i])
                    error = (out[0][i, :end].double() - w[:end]).abs() / (spec["abs"] + spec["rel"] * w[:end].abs())
                    worst = max(worst, float(error.nan_to_num(nan=float("inf")).max()))
                    outside = outside and (len(out) == 2 or bool((out[0][i, end:] == float("-inf")).all()))
                return worst < 1 and outside, "worst %.3f of what is allowed%s" % (worst, "" if outside else ", NOT -inf OUTSIDE")

            pairs = float((t["END"] - t["START"]).sum())
            yield (label, makes, [t["LOGITS"]], judge, 2.0 * pairs * h * 128, "deepgemm")
            torch.cuda.empty_cache()
