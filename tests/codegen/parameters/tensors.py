#!/usr/bin/env python3
"""tensors.py EXPORT: which tensors the helpers of its launcher take, `spaced` and `fits`, without torch.
Prints TAP."""
import ast
import sys


class Tensor:
    def __init__(self, shape, strides, dtype="bf16", size=2):
        self.shape, self.strides, self.dtype, self.size = shape, strides, dtype, size

    def stride(self):
        return self.strides

    def element_size(self):
        return self.size


def contiguous(shape):
    strides = []
    for n in reversed(shape):
        strides.insert(0, strides[0] * shape[len(shape) - len(strides)] if strides else 1)
    return tuple(strides)


# what, shape, strides, taken by spaced, taken by fits
CASES = [
    ("as the design has it", (64, 32), (32, 1), True, True),
    ("rows further apart", (64, 32), (40, 1), True, False),
    ("rows of 66 bytes", (64, 32), (33, 1), False, False),
    ("one row for all", (64, 32), (0, 1), False, False),
    ("rows that overlap", (64, 32), (16, 1), False, False),
    ("columns side by side", (64, 32), (1, 64), False, False),
    ("every second column", (64, 32), (64, 2), False, False),
    ("rows backwards", (64, 32), (-32, 1), False, False),
    ("heads before positions", (2, 64, 4, 32), (8192, 32, 2048, 1), True, False),
    ("heads that overlap", (2, 64, 4, 32), (8192, 32, 32, 1), False, False),
    ("a dimension of one, wherever it lies", (1, 64, 32), (7, 32, 1), True, True),
    ("one column", (64, 1), (8, 5), True, False),
    ("nothing", (0, 32), (32, 1), True, True),
]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        tree = ast.parse(file.read())
    names = {f.name: f for f in tree.body if isinstance(f, ast.FunctionDef) and f.name in ("spaced", "fits")}
    space = {}
    exec(compile(ast.Module(list(names.values()), []), "helpers", "exec"), space)
    number, failed = 0, False

    def say(good, text):
        nonlocal number, failed
        number += 1
        failed |= not good
        print(f"{'ok' if good else 'not ok'} {number} - {text}")

    def takes(helper, tensor, shape):
        try:
            return space[helper]("A", tensor, shape, contiguous(shape), "bf16"), True
        except ValueError as e:
            return str(e), False

    for helper in names:
        for what, shape, strides, spaced, fits in CASES:
            got, taken = takes(helper, Tensor(shape, strides), shape)
            good = taken == (spaced if helper == "spaced" else fits)
            if taken and helper == "spaced":
                good = good and all(g == s for g, s, n in zip(got, strides, shape) if n > 1)
            say(good, f"{helper}: {what}: {got}")
        say(not takes(helper, Tensor((64, 32), (32, 1), "f16"), (64, 32))[1], f"{helper}: another type")
        say(not takes(helper, Tensor((64, 32), (32, 1)), (64, 64))[1], f"{helper}: another shape")
    print(f"1..{number}")
    return failed or not names


if __name__ == "__main__":
    sys.exit(main())
