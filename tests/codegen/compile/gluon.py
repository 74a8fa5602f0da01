"""gluon.py [--parameters] EXPORT…: compiles Gluon exports ahead of time for sm_90a with the Triton at
hand, without a GPU and without torch; with --parameters also at the least and the largest value that
each constant may have, and beyond them, where the kernel itself has to refuse. Prints TAP; skipped where
Triton 3.6 is absent."""
import os
import re
import sys

import launched

try:
    import triton
    from triton._utils import canonicalize_dtype
    from triton.backends.compiler import GPUTarget
    from triton.experimental.gluon._runtime import GluonASTSource
    from triton.runtime.jit import JITFunction
except ImportError:
    print("1..0 # SKIP no Triton")
    sys.exit(0)


RANGE = re.compile(r"static_assert\((\d+) <= (\w+) and \w+ <= (\d+)")
PINNED = re.compile(r"static_assert\((\w+) == (\d+)")


def compiled(path, beyond=None, **constants):
    """`constants` go to launch(), `beyond` to the kernel alone."""
    kernel, arguments, named = launched.launch_of(path, JITFunction, **constants)
    named.update(beyond or {})
    *source, options = launched.signature(kernel, arguments, named, canonicalize_dtype)
    return triton.compile(GluonASTSource(kernel, *source), target=GPUTarget("cuda", 90, 32), options=options)


def parameters(path):
    """(title, good, detail) of every value at an end, and of one beyond it."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    ends = [(m[2], int(m[1]), int(m[3])) for m in RANGE.finditer(text)]
    ends += [(m[1], int(m[2]), int(m[2])) for m in PINNED.finditer(text)]
    for name, lo, hi in ends:
        for value in (lo, hi) if lo < hi else ():
            try:
                compiled(path, **{name: value})
                yield f"{name}={value}", True, ""
            except Exception as e:
                asked = "multiple of" in str(e)  # together with the others: refused by the kernel
                yield f"{name}={value}", asked, str(e)
        try:
            compiled(path, beyond={name: 2 * hi})
            yield f"{name}={2 * hi} is refused", False, "it compiles"
        except Exception as e:
            yield f"{name}={2 * hi} is refused", f"{name}: " in str(e) or "multiple of" in str(e), str(e)


def main():
    if not triton.__version__.startswith("3.6"):
        print(f"1..0 # SKIP Triton {triton.__version__}, and the exports are for 3.6")
        return 0
    launched.stand_in()
    failed, i = 0, 0
    paths = sys.argv[1:]
    if paths[:1] == ["--parameters"]:
        for path in paths[1:]:
            for title, good, detail in parameters(path):
                i += 1
                failed += not good
                print(f"{'ok' if good else 'not ok'} {i} - {os.path.basename(path)[:-3]}: {title}", flush=True)
                for line in [] if good else detail.splitlines()[-12:]:
                    print("# " + line)
        print(f"1..{i}")
        return failed > 0
    for i, path in enumerate(paths, 1):
        title = os.path.basename(path)[:-3]
        try:
            made = compiled(path)
            products = len(re.findall("wgmma.mma_async", made.asm["ptx"]))
            print(f"ok {i} - {title}: {made.metadata.shared} bytes of shared memory, {products} wgmma", flush=True)
        except Exception as e:
            failed += 1
            print(f"not ok {i} - {title}")
            for line in str(e).splitlines()[-12:]:
                print("# " + line)
    print(f"1..{len(sys.argv) - 1}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
