"""Which half of eight warps holds which rows of a tile, as Triton 3.9 lays it out: prints the rows of
layouts.def. No GPU is needed.

    layouts.py      (of a Python that has Triton)
"""
import itertools

from triton._C.libtriton import gluon_ir, ir
from triton.experimental.gluon import language as gl

context = ir.context()
ir.load_dialects(context)
builder = gluon_ir.GluonOpBuilder(context)


def span(bases):
    places = {(0, 0)}
    for row, col in bases:
        places |= {(r ^ row, c ^ col) for r, c in places}
    return places


def judged(layout, rows, cols):
    """Looks at the elements that each half holds, not at bases."""
    made = builder.to_linear_layout(layout._to_ir(builder), [rows, cols])
    own = made.reg_bases + made.lane_bases
    warps = made.warp_bases
    lower = span(own + warps[:2])
    upper = {(r ^ warps[2][0], c ^ warps[2][1]) for r, c in lower}
    every = {(r, c) for r in range(rows) for c in range(cols)}
    rows_of = {r for r, _ in lower}
    by = [m for m in range(1, rows) if len(rows_of) * 2 == rows and
          all((r & m).bit_count() % 2 == 0 for r in rows_of)]
    halves, bits = "UNKNOWN", 0
    if lower | upper == every:
        if lower == upper:
            halves = "BOTH"
        elif len(by) == 1 and len(lower) * 2 == len(every):
            halves, bits = "ROWS", by[0] * cols
        else:
            halves = "PLACES"
    once = len(own + warps) == (rows * cols).bit_length() - 1 and lower | upper == every
    return halves, bits, once, all(col == 0 for _, col in warps)


def say(kind, numbers, layout, rows, cols):
    halves, bits, once, inside = judged(layout, rows, cols)
    print("LAYOUT(%s, %s, %d, %d, %s, %d, %s, %s)" % (
        kind, ", ".join(map(str, numbers)), rows, cols, halves, bits, str(once).upper(),
        str(inside).upper()))


def main():
    print("/* Written by layouts.py: what Triton 3.9.0 makes of these layouts.\n"
          " * LAYOUT(kind, numbers of it…, rows, columns, halves, by, every element once, a row in one "
          "warp) */")
    warps = [(4, 2), (8, 1), (2, 4), (1, 8)]
    for block, turned, (m, n), (tm, tn), (rows, cols) in itertools.product(
            (16, 32), (0, 1), warps, ((1, 1), (2, 1), (4, 1), (2, 2)), ((256, 64), (128, 256))):
        if (block == 32) != (tm == 2) and tm != 1:
            continue
        sums = gl.amd.AMDMFMALayout(version=4, instr_shape=[block, block, 512 // block],
                                    transposed=bool(turned), warps_per_cta=[m, n],
                                    tiles_per_warp=[tm, tn])
        own = [block, turned, m, n, tm, tn]
        say("SUMS", own, sums, rows, cols)
        if turned:
            continue
        for number, width in ((0, 8), (1, 8), (1, 4)):
            say("OPERAND", own + [number, width], gl.DotOperandLayout(number, sums, width), rows,
                cols)
    for threads, (m, n), order, (rows, cols) in itertools.product(
            ((16, 4), (8, 8), (64, 1)), warps, ((1, 0), (0, 1)), ((128, 32), (256, 64), (64, 64))):
        vector = [1, 8] if order == (1, 0) else [8, 1]
        say("BLOCKED", [*vector, *threads, m, n, *order],
            gl.BlockedLayout(vector, list(threads), [m, n], list(order)), rows, cols)


main()
