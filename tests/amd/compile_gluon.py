"""Compiles an exported Gluon kernel for gfx950, without a GPU and without torch.

    compile_gluon.py FILE NAME=TYPE…        types of tensors and scalars; the rest are integers

Prints what the machine code does, in order: B a barrier, P<n> a priority, W<n> a wait for all but n
vector memory operations, ( and ) around a loop; then `spills N`, and for each layout of the file
that is one of warps `half ROW of ROWS`: the first row of warps 4 to 7.
"""
import ast
import importlib.util
import re
import sys
import types

torch = sys.modules["torch"] = types.ModuleType("torch")
torch.float16 = torch.bfloat16 = torch.float32 = torch.int32 = torch.Tensor = int

import triton
from triton._C.libtriton import gluon_ir, ir
from triton.backends.compiler import GPUTarget
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource

FILE, TYPES = sys.argv[1], dict(x.split("=") for x in sys.argv[2:])


def compiled(text):
    spec = importlib.util.spec_from_file_location("exported", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = getattr(module, re.search(r"return (\w+)\[\(programs,\)\]", text)[1])
    signature, constants = {}, {}
    for p in kernel.params:
        signature[p.name] = "constexpr" if p.is_constexpr else TYPES.get(p.name, "i32")
        if p.is_constexpr:
            constants[(p.num,)] = p.default
    aligned = {(p.num,): [["tt.divisibility", 16]] for p in kernel.params
               if signature[p.name].startswith("*") or (p.name.isupper() and not p.is_constexpr)}
    source = GluonASTSource(kernel, signature, constants, aligned)
    return triton.compile(source, target=GPUTarget("hip", "gfx950", 64), options={"num_warps": 8})


def sequence(code):
    """Loops are from a label to the last branch back to it."""
    lines = [line.split(";")[0].strip() for line in code.splitlines()]
    label = {line[:-1]: n for n, line in enumerate(lines) if line.endswith(":")}
    back = {}
    for n, line in enumerate(lines):
        to = re.match(r"s_c?branch\w* (\S+)$", line)
        if to and label.get(to[1], n) < n and to[1].startswith(".LBB"):
            back[label[to[1]]] = n
    out = []
    for n, line in enumerate(lines):
        if n in back:
            out.append("(")
        if line.startswith("s_barrier"):
            out.append("B")
        elif line.startswith("s_setprio"):
            out.append("P" + line.split()[1])
        elif line.startswith("s_waitcnt") and "vmcnt" in line:
            out.append("W" + re.search(r"vmcnt\((\d+)\)", line)[1])
        if n in back.values():
            out.append(")")
    return " ".join(out)


def layouts(text):
    context = ir.context()
    ir.load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)
    for name, rows, call in re.findall(r"mma_((\d+)): gl\.constexpr = (gl\.amd\.AMDMFMALayout\(.*?\))\n",
                                       text, re.S):
        layout = eval(call, {"gl": gl})
        for at in (layout, gl.DotOperandLayout(0, layout, 8)):
            made = builder.to_linear_layout(at._to_ir(builder), [int(rows), 64])
            print("half", made.warp_bases[-1][0], "of", rows)
    for call in re.findall(r"load_\w+: gl\.constexpr = (gl\.DistributedLinearLayout\(.*?shape=\[\d+, \d+\]\))",
                           text, re.S):
        made = eval(call, {"gl": gl})
        print("half", made.warp_bases[-1][0], "of", made.shape[0])


text = open(FILE).read()
ast.parse(text)
code = compiled(text).asm["amdgcn"]
print(sequence(code))
print("spills", re.search(r"\.vgpr_spill_count: +(\d+)", code)[1])
layouts(text)
