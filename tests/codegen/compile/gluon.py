"""gluon.py EXPORT…: compiles Gluon exports ahead of time for sm_90a with the Triton at hand, without a
GPU and without torch. Prints TAP; skipped where Triton 3.6 is absent."""
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


def compiled(path, **constants):
    kernel, arguments, named = launched.launch_of(path, JITFunction, **constants)
    *source, options = launched.signature(kernel, arguments, named, canonicalize_dtype)
    return triton.compile(GluonASTSource(kernel, *source), target=GPUTarget("cuda", 90, 32), options=options)


def main():
    if not triton.__version__.startswith("3.6"):
        print(f"1..0 # SKIP Triton {triton.__version__}, and the exports are for 3.6")
        return 0
    launched.stand_in()
    failed = 0
    for i, path in enumerate(sys.argv[1:], 1):
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
