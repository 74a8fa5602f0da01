"""What Triton makes of the borders of stages.

    conformance.py LETTERS…        as in test-stages.c: C|C, Rx0|Wx0, =C|C, Lx0w|C, …

Writes a Gluon kernel for each, compiles it for gfx950 (no GPU, no torch) and prints, a line each,
a letter per border in order: L a barrier with a fence of shared memory, p a plain one, d one that
was drawn; ( and ) are the conditional barriers around a pipeline. `invalid: …` where the compiler
refuses it.
"""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

HEAD = '''
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd.cdna4 import async_copy


@gluon.jit
def kernel(A, N):
    flat: gl.constexpr = gl.BlockedLayout([1, 4], [4, 16], [8, 1], [1, 0])
    x = gl.allocate_shared_memory(gl.float32, [3, 64, 64], gl.SwizzledSharedLayout(1, 1, 1, order=[1, 0]))
    y = gl.allocate_shared_memory(gl.float32, [3, 64, 64], gl.SwizzledSharedLayout(1, 1, 1, order=[1, 0]))
    row = gl.arange(0, 64, layout=gl.SliceLayout(1, flat))[:, None]
    col = gl.arange(0, 64, layout=gl.SliceLayout(0, flat))[None, :]
    v = gl.load(A + row * 64 + col)
'''
TAIL = "    gl.store(A + row * 64 + col, v)\n"


def slot(letter):
    return "k % 3" if letter == "k" else letter


def body(letters, depth, loads):
    """Lines of one list of stages."""
    out, stage, at = [], [], 0
    pad = "    " * depth

    def close():
        out.append(pad + "with gl.amd.warp_pipeline_stage():")
        out.extend(pad + "    " + line for line in stage or ["pass"])
        stage.clear()

    opened = False
    while at < len(letters):
        c = letters[at]
        if c == " ":
            at += 1
            continue
        if c in "ws|":
            if opened or c == "|":
                close()
            opened = False
            if c != "|":
                out.append(pad + ("async_copy.wait_group(0)" if c == "w" else "gl.barrier()"))
            at += 2 if c != "|" and letters[at + 1:at + 2] == "|" else 1
            continue
        opened = True
        prefix = ""
        if c == "?":
            stage.append("if N > 3:")
            prefix, at = "    ", at + 1
            c = letters[at]
        if c in "Cm":
            stage.append(prefix + ("v = v + v" if c == "C" else "n = N + 1"))
            at += 1
            continue
        name, use = letters[at + 1], slot(letters[at + 2])
        if c == "R" and name in loads:
            line = f"v = v + async_copy.load_shared_relaxed({name}.index({use}), flat)"
        elif c == "R":
            line = f"v = v + {name}.index({use}).load(flat)"
        elif c == "W":
            line = f"{name}.index({use}).store(v)"
        else:
            line = f"async_copy.buffer_load_to_shared({name}.index({use}), A, row * 64 + col)"
        stage.append(prefix + line)
        if c == "L":
            stage.append(prefix + "async_copy.commit_group()")
        at += 3
    if opened:
        close()
    return out


def kernel(letters):
    loads = set(re.findall(r"L(\w)", letters))
    text = HEAD
    for part in letters.split("/"):
        if part == "s":
            text += "    gl.barrier()\n"
            continue
        flat = part.startswith("=")
        if not flat:
            text += "    for k in range(N):\n"
        text += "\n".join(body(part[flat:], 1 if flat else 2, loads)) + "\n"
    return text + TAIL


def borders(dump):
    """Of the module as the pass that lowers the stages leaves it: what stands between prelude and
    postlude, the conditional barriers."""
    part = re.split(r"// -----// IR Dump Before (\w+)", dump)
    names = part[1::2]
    at = names.index("ConvertWarpPipeline")
    out, depth = [], 0
    for line in part[2 * at + 4].splitlines():
        line = line.strip()
        if "cond_barrier" in line:
            out.append(")" if depth % 2 else "(")
            depth += 1
        elif depth % 2 and line.startswith("ttg.barrier"):
            out.append("L" if line.split()[1] == "local" else "d")
        elif depth % 2 and line.startswith("rocdl.s.barrier"):
            out.append("p")
        elif depth % 2 and "async_wait" in line:
            out.append("d")
    return "".join(out)


def main():
    if sys.argv[1] == "--one":
        spec = importlib.util.spec_from_file_location("conformance_kernel", sys.argv[2])
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.experimental.gluon._runtime import GluonASTSource
        source = GluonASTSource(module.kernel, {"A": "*fp32", "N": "i32"}, {},
                                {(0,): [["tt.divisibility", 16]]})
        triton.compile(source, target=GPUTarget("hip", "gfx950", 64), options={"num_warps": 8})
        return
    for letters in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "kernel.py")
            open(file, "w").write(kernel(letters))
            env = dict(os.environ, TRITON_CACHE_DIR=folder, MLIR_ENABLE_DUMP="kernel")
            done = subprocess.run([sys.executable, __file__, "--one", file], capture_output=True,
                                  text=True, env=env)
        if done.returncode:
            said = [l for l in done.stderr.splitlines() if "error:" in l or "Error" in l]
            print("invalid:", said[0].strip() if said else done.stderr[-300:])
        else:
            if os.environ.get("DUMP"):
                print(done.stderr)
            print(borders(done.stderr))


main()
