"""Problems of peers.py for experts in fp8 with block scales: contiguous rows (a bundle with E, the expert of each row) and
masked ones (with CNT, how many rows of each expert count). Peer: DeepGEMM's grouped sm90_fp8_gemm_1d2d_impl, every
instance of the given cubins that is for the problem; ratios are to the fastest."""

import ctypes
import random
import re

import contestants
import peer

torch = peer.torch
POINTS = 1024
DRAWS = 3  # of the experts' rows in the masked layout, of few rows each
CONTIGUOUS, MASKED = 1, 2


def aligned(value, to):
    return -(-value // to) * to


class GroupedDeepGemm:
    """Kernels of cubins, launched as DeepGEMM's host code does; what an instance is for is read from its name."""

    FIELDS = ("m", "n", "k", "groups", "block_m", "block_n", "block_k", "swizzle_a", "swizzle_b", "swizzle_d", "stages",
              "tma_threads", "math_threads", "multicast", "on_a", "sms", "kind")

    def __init__(self, driver, paths):
        self.driver, self.instances = driver, []
        for path in paths:
            with open(path, "rb") as f:
                image = f.read()
            module = ctypes.c_void_p()
            driver.call("cuModuleLoadData", ctypes.byref(module), image)
            for name in sorted(set(re.findall(rb"_ZN9deep_gemm[0-9]+sm90_fp8_gemm_1d2d_impl[A-Za-z0-9_]+", image))):
                numbers = re.search(rb"MajorE0E((?:L[jb]\d+E)+)LNS_8GemmTypeE(\d+)E", name)
                found = [int(x) for x in re.findall(rb"L[jb](\d+)E", numbers.group(1))] + [int(numbers.group(2))]
                self.instances.append((dict(zip(self.FIELDS, found)), module, name))

    def of(self, kind, groups, n, k):
        """label -> (fields, module, name) of the instances for a problem."""
        return {"deepgemm-%dx%d-%s%d" % (i["block_m"], i["block_n"], "a" if i["on_a"] else "b", i["multicast"]): x
                for x in self.instances for i in [x[0]]
                if (i["kind"], i["groups"], i["n"], i["k"]) == (kind, groups, n, k)}

    def map(self, tensor, kind, inner, outer, box, stride, swizzle):
        raw = ctypes.create_string_buffer(256)
        address = (ctypes.addressof(raw) + 127) // 128 * 128
        self.driver.call("cuTensorMapEncodeTiled", address, kind, 2, tensor.data_ptr(),
                         (ctypes.c_uint64 * 2)(inner, outer), (ctypes.c_uint64 * 1)(stride),
                         (ctypes.c_uint32 * 2)(*box), (ctypes.c_uint32 * 2)(1, 1), 0,
                         {0: 0, 32: 1, 64: 2, 128: 3}[swizzle], 3, 0)
        return raw, address

    def prepare(self, instance, t, layout, m):
        """`m`: rows of A, or of one expert's room."""
        i, module, name = instance
        n, k, bm, bn = i["n"], i["k"], i["block_m"], i["block_n"]
        rooms = i["groups"] if i["kind"] == MASKED else 1
        shared = aligned(bm * bn * 2, 1024) + 256 + aligned(-(-k // 128) * 4 * (1 if 128 % bn == 0 else 2), 8) + (
            i["stages"] * (bm * 128 + bn * 128 + aligned(bm * 4, 128)))
        function = ctypes.c_void_p()
        self.driver.call("cuModuleGetFunction", ctypes.byref(function), module, name)
        self.driver.call("cuFuncSetAttribute", function, 8, shared)
        wide = i["swizzle_d"] // 2 if i["swizzle_d"] else bn
        maps = [self.map(t["A"], 0, k, m * rooms, (128, bm), k, 128),
                self.map(t["B"], 0, k, n * i["groups"], (128, bn), k, 128),
                self.map(t["C"], 9, n, m * rooms, (wide, bm), 2 * n, i["swizzle_d"]),
                self.map(t["SA"], 7, m, k // 128 * rooms, (bm, 1), 4 * m, 0)]
        held = [ctypes.c_uint64(t["SB"].data_ptr()), ctypes.c_uint64(layout.data_ptr())]
        held += [ctypes.c_uint32(v) for v in (m, n, k)]
        params = (ctypes.c_void_p * 9)(*[ctypes.addressof(h) for h in held], *[a for _, a in maps])
        attribute = peer.Attribute(id=4, x=i["multicast"], y=1, z=1)
        config = peer.Launch((ctypes.c_uint * 3)(i["sms"], 1, 1),
                             (ctypes.c_uint * 3)(i["tma_threads"] + i["math_threads"], 1, 1), shared,
                             torch.cuda.current_stream().cuda_stream, ctypes.pointer(attribute), 1)
        stream = torch.cuda.current_stream

        def run(keep=(maps, held, params, attribute, config, layout)):
            config.stream = stream().cuda_stream
            self.driver.call("cuLaunchKernelEx", ctypes.byref(config), function, params, None)

        return run


def drawn(mean, groups, seed):
    """Rows of each expert, as DeepGEMM's own tests draw them."""
    source = random.Random(seed)
    return [int(mean * source.uniform(0.7, 1.3)) for _ in range(groups)]


def scales(*extent):
    return torch.empty(*extent, device="cuda").uniform_(0.5, 2.0)


def operands(size):
    n, k, experts = size["N"], size["K"], size["NE"]
    return {"B": contestants.fill("e4m3", experts * n, k).view(experts, n, k), "SB": scales(experts, -(-n // 128), k // 128)}


def contiguous_rows(size):
    """The expert of each row: drawn shares of M in whole blocks of 128; the last rows of an expert fill it up (-1)."""
    m, experts = size["M"], size["NE"]
    rows = drawn(m // experts, experts, 0)
    blocks = [-(-r // 128) for r in rows]
    blocks[-1] += m // 128 - sum(blocks)
    owner = torch.full((m,), -1, dtype=torch.int32)
    at = 0
    for e, (r, b) in enumerate(zip(rows, blocks)):
        owner[at:at + (min(r, b * 128) if e + 1 < experts else b * 128)] = e
        at += b * 128
    return owner.cuda(), [b * 128 for b in blocks]


def judged(points, want):
    def judge(out):
        got = torch.stack([out[0][p] for p in points]).double()
        error = (got - want).abs()
        return bool((error <= 0.7 + 0.004 * want.abs()).all()), "rms %.4f worst %.3f" % (
            float((error * error).mean().sqrt()), float(error.max()))
    return judge


def value(a, sa, b, sb):
    """One element in float64: rows of A and B in e4m3, their scales."""
    return float((a.double() * b.double() * (sa.double() * sb.double()).repeat_interleave(128)).sum())


def experts(options, driver, sms):
    bundles = [peer.Bundle(b) for b in options.experts]
    kernels = [peer.Kernel(driver, b, sms) for b in bundles]
    theirs = GroupedDeepGemm(driver, options.deepgemm_grouped)
    seen = []
    for first in bundles:
        masked = any(t["name"] == "CNT" for t in first.tensors)
        for case in first.cases:
            size = dict(zip(first.sizes, case["values"]))
            what = (masked, *(size[x] for x in ("NE", "N", "K")), size["MX" if masked else "M"])
            if what in seen:
                continue
            seen.append(what)
            mine = [(b, x) for b, x in zip(bundles, kernels) if masked == any(t["name"] == "CNT" for t in b.tensors)]
            for draw in range(DRAWS if masked else 1):
                yield from problem(what, size, draw, mine, theirs, options)


def same(bundle, size):
    """The case of a bundle for a problem; CL (how many clusters share the work) is its own."""
    for case in bundle.cases:
        mine = dict(zip(bundle.sizes, case["values"]))
        if all(mine[x] == size[x] for x in mine if x not in ("CL",)):
            return case
    return None


def problem(what, size, draw, mine, theirs, options):
    masked, n, k, experts = what[0], size["N"], size["K"], size["NE"]
    torch.manual_seed(1)
    t = operands(size)
    if masked:
        room = size["MX"]
        mean = dict(zip((1, 2, 4), (1024, 512, 256))).get(experts, 192)
        rows = drawn(mean, experts, draw)
        t["A"] = contestants.fill("e4m3", experts * room, k).view(experts, room, k)
        t["SA"] = scales(experts, k // 128, room)
        t["CNT"] = torch.tensor(rows, dtype=torch.int32, device="cuda")
        t["C"] = torch.empty(experts, room, n, dtype=torch.bfloat16, device="cuda")
        layout, kind, m = t["CNT"], MASKED, room
        points = [(e, int(torch.randint(0, rows[e], (1,))), int(torch.randint(0, n, (1,))))
                  for e in range(experts) for _ in range(POINTS // experts)]
        points += [(e, rows[e] - 1, n - 1) for e in range(experts)]
        want = [value(t["A"][e, i], t["SA"][e, :, i], t["B"][e, j], t["SB"][e, j // 128]) for e, i, j in points]
        label = "masked experts %d N %d K %d rows %s" % (experts, n, k, "+".join(map(str, rows)))
    else:
        m = size["M"]
        t["E"], rows = contiguous_rows(size)
        t["A"] = contestants.fill("e4m3", m, k)
        t["SA"] = scales(k // 128, m)
        t["C"] = torch.empty(m, n, dtype=torch.bfloat16, device="cuda")
        layout, kind = t["E"], CONTIGUOUS
        owner = t["E"].cpu()
        count = (owner >= 0).nonzero().flatten()  # DeepGEMM leaves half blocks out that only fill up
        points = [(int(count[torch.randint(0, len(count), (1,))]), int(torch.randint(0, n, (1,)))) for _ in range(POINTS)]
        points += [(0, 0), (int(count[-1]), n - 1)]
        want = []
        for i, j in points:
            e = int(owner[i // 128 * 128])
            want.append(value(t["A"][i], t["SA"][:, i], t["B"][e, j], t["SB"][e, j // 128]))
        label = "contiguous experts %d M %d N %d K %d (largest %d)" % (experts, m, n, k, max(rows))
    makes = {}
    for b, kernel in mine:
        case = same(b, size)
        if case:
            makes[b.label] = lambda b=b, kernel=kernel, case=case: kernel.prepare(case, [t[x["name"]] for x in b.tensors])
    peers = theirs.of(kind, experts, n, k)
    for name, instance in peers.items():
        makes[name] = lambda instance=instance: theirs.prepare(instance, t, layout, m)
    for make in makes.values():
        make.sound = lambda o: True  # rows that do not count keep the poison; what counts is sampled
    yield (label, makes, [t["C"]], judged(points, torch.tensor(want, dtype=torch.float64, device="cuda")),
           2.0 * sum(rows) * n * k, tuple(peers))
    torch.cuda.empty_cache()
