"""gluon.py [--parameters] EXPORT…: compiles Gluon exports ahead of time for sm_90a with the Triton at
hand, without a GPU and without torch; with --parameters at every value that a constant may have by
itself and at some pairs, and at twice and half of them all, where the kernel itself has to refuse.
Prints TAP; skipped where Triton 3.6 is absent."""
import ast
import itertools
import os
import re
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../parameters"))
import edited
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


def compiled(path, beyond=None, **constants):
    """`constants` go to launch(), `beyond` to the kernel alone."""
    kernel, arguments, named = launched.launch_of(path, JITFunction, **constants)
    named.update(beyond or {})
    *source, options = launched.signature(kernel, arguments, named, canonicalize_dtype)
    return triton.compile(GluonASTSource(kernel, *source), target=GPUTarget("cuda", 90, 32), options=options)


def attempt(path, title, right, **where):
    """(title, good, detail): `right` is what its guard says, word for word, or None if it compiles."""
    try:
        compiled(path, **where)
        return title, right is None, "it compiles"
    except Exception as e:
        return title, right is not None and right in str(e), str(e)


def parameters(path):
    tree = ast.parse(edited.read(path))
    base = edited.constants(tree)
    kernel = {a.arg for a in edited.kernel_of(tree).args.args}
    taken = {n: [v for v in edited.others(base[n]) if edited.accepts(tree, {**base, n: v})] for n in base}
    for n, values in taken.items():
        for v in values:
            yield attempt(path, f"{n}={v}", None, **{n: v})
        for v in {2 * max(values + [base[n]]), min(values + [base[n]]) // 2} if n in kernel else ():
            yield attempt(path, f"{n}={v} is refused", n, beyond={n: v})
    for a, b in itertools.combinations([n for n in taken if taken[n]], 2):
        change = {a: taken[a][0], b: taken[b][-1]}
        title = " ".join(f"{n}={v}" for n, v in change.items())
        if edited.accepts(tree, {**base, **change}):
            yield attempt(path, title, None, **change)
        else:
            yield attempt(path, title + " is refused", f"{a} and {b}: ", beyond=change)


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
