"""What peer.py measures bundles against: operands for a bundle, torch's ways to compute the same
product, float64 samples of it, and the yardsticks of 8-bit accumulation."""

import torch

KINDS = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32,
         "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
EIGHT_BIT = ("e4m3", "e5m2")


def operand_names(bundle, options):
    """Names of A, B, C and, where the bundle has them, of block scales SA and SB."""
    names = {t["name"] for t in bundle.tensors}
    return [options.a, options.b, options.c] + [s for s in ("SA", "SB") if s in names]


def fill(kind, rows, cols):
    x = torch.randn(rows, cols, device="cuda", dtype=torch.float32)
    return x.to(KINDS[kind])


def make_set(bundle, case, options):
    """One set of operands: tensor name -> torch tensor, C poisoned later."""
    made = {}
    for name in operand_names(bundle, options):
        i = bundle.index(name)
        kind, extent = bundle.tensors[i]["dtype"], case["extent"][i]
        if name in ("SA", "SB"):
            made[name] = torch.empty(*extent, device="cuda").uniform_(0.5, 2.0)
            continue
        if name == options.c:
            made[name] = torch.empty(*extent, device="cuda", dtype=KINDS[kind])
            continue
        stride = case["stride"][i]
        made[name] = fill(kind, *extent) if stride[-1] == 1 else fill(kind, *extent[::-1]).t()
    return made


def alpha_of(bundle):
    return bundle.scalars[0] if bundle.scalars else 1.0


def rows_of(x, i):
    """Rows i of x as float64; 8-bit types are gathered as bytes (torch indexes them no other way)."""
    if x.element_size() == 1:
        return x.view(torch.uint8)[i].view(x.dtype).double()
    return x[i].double()


def sampled(tensors, names, alpha, i, j):
    """Elements (i, j) of alpha * A * B^T, block scales included, in float64; and the sum of |terms|."""
    a, b = tensors[names[0]], tensors[names[1]]
    out = torch.empty(len(i), dtype=torch.float64, device="cuda")
    size = torch.empty_like(out)
    for s in range(0, len(i), 256):
        rows, cols = rows_of(a, i[s:s + 256]), rows_of(b, j[s:s + 256])
        terms = rows * cols
        if "SA" in tensors:
            scale = tensors["SA"].t()[i[s:s + 256]].double() * tensors["SB"][j[s:s + 256] // 128].double()
            terms = terms * scale.repeat_interleave(128, dim=1)[:, :terms.shape[1]]
        out[s:s + 256] = terms.sum(-1) * alpha
        size[s:s + 256] = terms.abs().sum(-1) * abs(alpha)
    return out, size


def matmul_runs(sets, names, layouts):
    """torch.matmul on the same numbers, in BLAS letters as torch calls it: first letter B, second A;
    tn: both with the contraction last in memory (ours), nn: B is [K, N], tt: A is [K, M], nt: both."""
    made = {}
    for layout in layouts:
        runs = []
        for tensors in sets:
            a, b, c = (tensors[n] for n in names)
            a = a.contiguous() if layout[1] == "n" else a.t().contiguous().t()
            bt = b.contiguous().t() if layout[0] == "t" else b.t().contiguous()
            runs.append(lambda a=a, bt=bt, c=c: torch.matmul(a, bt, out=c))
        made["torch-" + layout] = runs
    return made


def scaled_runs(sets, names, alpha):
    """torch._scaled_mm, fast and exact accumulation, or with the block scales of the operands."""
    made = {}
    for fast in (True, False):
        label = "torch-fast" if fast else "torch-exact"
        runs = []
        for tensors in sets:
            a, b, c = (tensors[n] for n in names)
            if "SA" in tensors:
                sa, sb = tensors["SA"].t(), tensors["SB"].t()
            else:
                sa = torch.tensor(alpha, device="cuda", dtype=torch.float32)
                sb = torch.tensor(1.0, device="cuda", dtype=torch.float32)
            runs.append(lambda a=a, b=b, c=c, sa=sa, sb=sb, fast=fast: torch._scaled_mm(
                a, b.t(), scale_a=sa, scale_b=sb, out_dtype=torch.bfloat16, use_fast_accum=fast, out=c))
        try:
            runs[0]()
            torch.cuda.synchronize()
            made[label] = runs
        except (RuntimeError, ValueError, TypeError) as e:
            print("peer: no %s here: %s" % (label, str(e).strip().split("\n")[0][:160]))
    return made


def peers(bundle, sets, options):
    names = operand_names(bundle, options)[:3]
    if bundle.tensors[bundle.index(names[0])]["dtype"] in EIGHT_BIT:
        return scaled_runs(sets, names, alpha_of(bundle))
    return matmul_runs(sets, names, options.layouts.split(","))


def accumulation_bound(k, alpha, partial):
    """Error that the fp8 tensor core may add over a contraction of k, in one place so that it can be
    argued with. Each instruction aligns 32 products and the accumulator to the largest of them and keeps
    13 fraction bits (the "about 14 bits" reported of H800): 33 terms cut by up to one unit u each,
    u = 2^-13 of the largest magnitude, which is at most twice the largest partial sum. Cuts of random
    sign add up as a walk of 33 * k/32 steps of at most u; 6 of its standard deviations (u / sqrt(3) a
    step) are allowed."""
    unit = 2.0 * partial * 2.0 ** -13
    return abs(alpha) * 6.0 * unit * (33.0 * k / 32.0 / 3.0) ** 0.5
