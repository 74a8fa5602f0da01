"""judge.py EXPORT…: what Gluon of Triton 3.6 asks of a file, without Triton: the file is parsed and a
table of rules read over it. Then every rule is shown a text that breaks it. Prints TAP."""
import ast
import builtins
import os
import re
import sys
import types

GL = set("""allocate_shared_memory arange assume atomic_add atomic_max atomic_min bfloat16 BlockedLayout cdiv constexpr
convert_layout DistributedLinearLayout DotOperandLayout exp exp2 float16 float32 float8e4nv float8e5 full
inline_asm_elementwise int32 int64 int8 load log log2 max max_constancy max_contiguous maximum min minimum multiple_of
num_programs NVMMADistributedLayout NVMMASharedLayout program_id SliceLayout sqrt static_assert static_range store sum
SwizzledSharedLayout thread_barrier uint8 warp_specialize where zeros abs""".split())
API = {"gl": GL, "gluon": {"jit"}, "tma": {"async_copy_global_to_shared", "async_copy_shared_to_global", "store_wait"},
       "mbarrier": {"MBarrierLayout", "arrive", "expect", "init", "wait"},
       "async_copy": {"async_copy_global_to_shared", "commit_group", "mbarrier_arrive", "wait_group"}}
BYTES = {"bfloat16": 2, "float16": 2, "float32": 4, "int64": 8, "int32": 4, "float8e4nv": 1, "float8e5": 1, "int8": 1,
         "uint8": 1}
SHARED = 232448


class Export:
    """A parsed file: functions, constants, allocations, descriptors, the launch."""

    def __init__(self, text):
        self.tree = ast.parse(text)
        self.functions = {n.name: n for n in self.tree.body if isinstance(n, ast.FunctionDef)}
        self.jit = {n: f for n, f in self.functions.items() if any("gluon.jit" in ast.unparse(d) for d in f.decorator_list)}
        self.constants = {}
        for n in self.tree.body:
            if isinstance(n, ast.Assign) and ast.unparse(n.value).startswith("gl.constexpr(") and \
                    isinstance(n.value.args[0], ast.Constant):
                self.constants[n.targets[0].id] = n.value.args[0].value
        launched = next(c.func.value.id for c in calls(self.functions["launch"]) if isinstance(c.func, ast.Subscript) and
                        name(c.func.value) in self.jit)
        self.kernel, self.kernel_name = self.jit[launched], launched
        for a, d in zip(reversed(self.kernel.args.args), reversed(self.kernel.args.defaults)):
            self.constants[a.arg] = d.value
        self.memory, self.barriers = {}, {}
        for n in ast.walk(self.kernel):
            if isinstance(n, ast.Assign) and ast.unparse(n.value).startswith("gl.allocate_shared_memory("):
                shape = [self.number(e) for e in n.value.args[1].elts]
                kind = ast.unparse(n.value.args[0]).split(".")[1]
                (self.barriers if kind == "int64" else self.memory)[n.targets[0].id] = (kind, shape)
        self.blocks = {}
        for n in ast.walk(self.functions["launch"]):
            if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call) and name(n.value.func) == "TensorDescriptor":
                self.blocks[n.targets[0].id] = ([self.number(e) for e in n.value.args[3].elts],
                                               int(re.search(r"element_bitwidth=(\d+)", ast.unparse(n.value)).group(1)) // 8)
        self.specialize = next((c for c in calls(self.kernel) if name(c.func) == "gl.warp_specialize"), None)
        self.named = {m[1]: (int(m[2]), [int(n) for n in m[3].split(",")]) for m in
                      re.finditer(r"^(\w+) = gl\.constexpr\((\d+)\)  # named in the design: ([\d,]+) threads", text, re.M)}
        launch = next(c for c in calls(self.functions["launch"]) if ast.unparse(c.func).startswith(launched + "["))
        self.options = {k.arg: k.value.value for k in launch.keywords if isinstance(k.value, ast.Constant)}

    def number(self, e):
        """What an expression of constants and of descriptors is, with the defaults of the kernel."""
        known = dict(self.constants)
        for desc, (shape, size) in getattr(self, "blocks", {}).items():
            for n in shape:
                size *= n
            known[desc] = types.SimpleNamespace(block_type=types.SimpleNamespace(nbytes=size))
        return eval(ast.unparse(e), {"__builtins__": {}}, known)


def name(e):
    return ast.unparse(e)


def calls(tree):
    return [n for n in ast.walk(tree) if isinstance(n, ast.Call)]


# --- the rules: each yields what is wrong ---------------------------------------------------------


def names_are_known(x):
    known = set(dir(builtins)) | set(x.functions) | {"torch", "triton", "math", "__name__"}
    for n in x.tree.body:
        if isinstance(n, (ast.Import, ast.ImportFrom)):
            known |= {(a.asname or a.name).split(".")[0] for a in n.names}
        if isinstance(n, ast.Assign):
            known |= {t.id for t in n.targets}
    for f in x.functions.values():
        own = {a.arg for n in ast.walk(f) if isinstance(n, (ast.FunctionDef, ast.Lambda))
               for a in n.args.args + ([n.args.vararg] if n.args.vararg else [])}
        own |= {n.name for n in ast.walk(f) if isinstance(n, ast.FunctionDef)}
        own |= {n.id for n in ast.walk(f) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for n in ast.walk(f):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id not in own | known:
                yield f"{f.name}: {n.id} is not defined"


def api_exists(x):
    for f in x.jit.values():
        for n in ast.walk(f):
            if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id in API and \
                    n.attr not in API[n.value.id]:
                yield f"{f.name}: 3.6 has no {n.value.id}.{n.attr}"


def partitions_match(x):
    if not x.specialize:
        return
    entries, warps, regs = x.specialize.args
    if not len(entries.elts) - 1 == len(warps.elts) == len(regs.elts):
        yield "workers, warp counts and register counts differ in number"
    if len(entries.elts) > 15:
        yield "more than 15 partitions"
    for e in entries.elts:
        if not isinstance(e, ast.Tuple) or len(e.elts) != 2 or not isinstance(e.elts[1], ast.Tuple):
            yield f"{name(e)} is not (function, tuple)"
        elif name(e.elts[0]) not in x.jit:
            yield f"{name(e.elts[0])} is no jit function"
        elif len(x.jit[name(e.elts[0])].args.args) != len(e.elts[1].elts):
            yield f"{name(e.elts[0])} takes another number of arguments"


def warps_are_legal(x):
    if x.options["num_warps"] % 4:
        yield "the default partition is no multiple of 4 warps"
    for w in x.specialize.args[1].elts if x.specialize else []:
        if w.value & (w.value - 1):
            yield f"{w.value} warps are no power of two"


def registers_are_left(x):
    if not x.specialize:
        return
    warps, regs = ([e.value for e in x.specialize.args[i].elts] for i in (1, 2))
    padded, own, most = (sum(warps) + 3) // 4 * 4, x.options["num_warps"], x.options["maxnreg"]
    left = most * own * 32 + most * (padded - sum(warps)) * 32
    for w, r in zip(warps, regs):
        if r % 8 or not 24 <= r <= 256:
            yield f"a request for {r} registers"
        left += (most - (r + 7) // 8 * 8) * w * 32
    if left // (own * 32) // 8 * 8 < 24:
        yield "the default partition is left with less than 24 registers"


def barriers_are_initialised(x):
    done = {}
    for n in x.kernel.body:
        if isinstance(n, ast.For):
            count = x.number(n.iter.args[0])
            for c in calls(n):
                if name(c.func) == "mbarrier.init":
                    b = name(c.args[0].func.value)
                    done[b] = done.get(b, 0) + count
                    if c.keywords[0].value.value < 1:
                        yield f"{b} counts no arrivals"
    for b, (_, shape) in x.barriers.items():
        if done.get(b) != shape[0] or shape[1] != 1:
            yield f"{b}: {done.get(b, 0)} of {shape[0]} slots are initialised"


def barriers_are_indexed(x):
    place = {"mbarrier.wait": 0, "mbarrier.arrive": 0, "mbarrier.expect": 0, "tma.async_copy_global_to_shared": 2}
    for f in x.jit.values():
        for c in calls(f):
            if name(c.func) in place:
                b = c.args[place[name(c.func)]]
                if not (isinstance(b, ast.Call) and isinstance(b.func, ast.Attribute) and b.func.attr == "index" and
                        name(b.func.value) in x.barriers):
                    yield f"{f.name}: {name(b)} is no slot of a barrier"


def statements(body, repeat=1):
    """Calls in order, with how often a static loop around repeats them."""
    for n in body:
        if isinstance(n, ast.For) and name(n.iter.func) == "gl.static_range" and name(n.target) == "part":
            yield from statements(n.body, repeat * n.iter.args[0].value)
        elif isinstance(n, ast.Expr) and isinstance(n.value, ast.Call):
            yield n.value, repeat
        elif isinstance(n, (ast.For, ast.While, ast.If)):
            yield "block", n


def named_barriers_meet(x):
    """Triton takes the barriers of its partitions and one more; who arrives and waits must fill a named one."""
    used = range(3 + len(x.specialize.args[1].elts)) if x.specialize else range(3)
    taken = {}
    for b, (first, threads) in x.named.items():
        for i in range(first, first + len(threads)):
            if i in used or i > 15:
                yield f"{b}: barrier {i} is the compiler's, or beyond 15"
            if i in taken:
                yield f"{b}: barrier {i} is {taken[i]}'s too"
            taken[i] = b
    for f in x.jit.values():
        for c in calls(f):
            if name(c.func) not in ("named_sync", "named_arrive"):
                continue
            b = next((n.id for n in ast.walk(c.args[0]) if isinstance(n, ast.Name) and n.id in x.named), None)
            if b is None or c.args[1].value not in x.named[b][1] or c.args[1].value % 32:
                yield f"{f.name}: {name(c)} meets nobody"


def bytes_agree(x):
    def judge(body, where):
        open_ = {}
        for c, repeat in statements(body):
            if c == "block":
                yield from judge(repeat.body, where)
                if isinstance(repeat, ast.If):
                    yield from judge(repeat.orelse, where)
            elif name(c.func) == "mbarrier.expect":
                b = name(c.args[0])
                if open_.get(b):
                    yield f"{where}: {open_[b]} bytes of {b} are expected and not copied"
                open_[b] = x.number(c.args[1])
            elif name(c.func) == "tma.async_copy_global_to_shared" and name(c.args[2]) in open_:
                shape, size = x.blocks[name(c.args[0])]
                for n in shape:
                    size *= n
                open_[name(c.args[2])] -= size * repeat
        for b, left in open_.items():
            if left:
                yield f"{where}: {b} is {left} bytes off"

    for f in x.jit.values():
        yield from judge(f.body, f.name)


def copies_are_legal(x):
    for d, (shape, size) in x.blocks.items():
        if any(n & (n - 1) or n > 256 for n in shape) or shape[-1] * size < 16 or not 1 <= len(shape) <= 5:
            yield f"{d}: a block of {shape}"
    for f in x.jit.values():
        for c in calls(f):
            if name(c.func).startswith("tma.async_copy") and len(c.args[1].elts) != len(x.blocks[name(c.args[0])][0]):
                yield f"{f.name}: {name(c.args[0])} has another number of coordinates"


def products_are_waited_for(x):
    for f in x.jit.values():
        issued, waited = set(), set()
        for n in ast.walk(f):
            if not isinstance(n, ast.Assign) or not isinstance(n.value, ast.Call):
                continue
            if name(n.value.func) == "warpgroup_mma":
                issued.add(name(n.targets[0]))
                if not any(k.arg == "is_async" for k in n.value.keywords):
                    yield f"{f.name}: a product that is not asynchronous"
            if name(n.value.func) == "warpgroup_mma_wait":
                deps = [k.value for k in n.value.keywords if k.arg == "deps"]
                have = [name(e) for e in deps[0].elts] if deps else []
                want = [name(e) for e in getattr(n.targets[0], "elts", [n.targets[0]])]
                if have != want:
                    yield f"{f.name}: a wait hands back other names than it takes"
                waited |= set(have)
        for v in issued - waited:
            yield f"{f.name}: nobody waits for {v}"


def memory_fits(x):
    total = 0
    for kind, shape in list(x.memory.values()) + list(x.barriers.values()):
        size = BYTES[kind]
        for n in shape:
            size *= n
        total += size
        if any(n & (n - 1) for n in shape[1:]):
            yield f"extents {shape} are no powers of two"
    if total > SHARED:
        yield f"{total} bytes of shared memory"


RULES = [names_are_known, api_exists, partitions_match, warps_are_legal, registers_are_left, barriers_are_initialised,
         barriers_are_indexed, named_barriers_meet, bytes_agree, copies_are_legal, products_are_waited_for, memory_fits]

# What breaks a rule in the export of gemm-bf16, or of attention-d128 where it says so: (rule, pattern, replacement).
MUTANTS = [
    (names_are_known, r"tm, tn = tile_at", "tm, other = tile_at"),
    (api_exists, r"gl\.thread_barrier\(\)", "gl.named_barrier()"),
    (api_exists, r"mbarrier\.arrive\(", "mbarrier.signal("),
    (partitions_match, r"\], \[1, 4\], \[40", "], [4], [40"),
    (partitions_match, r"SLAB, 1,\)", "SLAB,)"),
    (warps_are_legal, r"\[1, 4\], \[40", "[3, 4], [40"),
    (registers_are_left, r"\[32, 160, 160\]", "[256, 256, 256]", "attention-d64"),
    (registers_are_left, r"\[40, 232\]", "[40, 236]"),
    (barriers_are_initialised, r"mbarrier\.init\(empty\.index\(i\), count=2\)", "pass"),
    (barriers_are_initialised, r"count=2", "count=0"),
    (barriers_are_indexed, r"mbarrier\.arrive\(empty\.index\([^\n]*\)\)", "mbarrier.arrive(empty)"),
    (named_barriers_meet, r"turn = gl\.constexpr\(14\)", "turn = gl.constexpr(4)", "attention-d128"),
    (named_barriers_meet, r"turn = gl\.constexpr\(14\)", "turn = gl.constexpr(15)", "attention-d128"),
    (named_barriers_meet, r"named_arrive\(turn \+ \(1 - replica\), 256\)", "named_arrive(turn + (1 - replica), 128)",
     "attention-d128"),
    (bytes_agree, r"A_desc\.block_type\.nbytes", "16368"),
    (copies_are_legal, r"\[tm \* BM, k \* BK\]", "[tm * BM]"),
    (copies_are_legal, r"\[128, BK\],\n", "[192, BK],\n"),
    (products_are_waited_for, r"acc = warpgroup_mma_wait\(1, deps=\[acc\]\)", "acc = warpgroup_mma_wait(1, deps=[b])"),
    (products_are_waited_for, r", is_async=True", ""),
    (memory_fits, r"\[STAGES, BN, BK\]", "[8, 256, 64]"),
]

count = failed = 0


def report(good, title, detail=""):
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {title}")
    for line in detail.splitlines():
        print("# " + line)


def wrong(text, rules=RULES):
    try:
        export = Export(text)
    except SyntaxError as e:
        return [f"does not parse: {e}"]
    return [f"{r.__name__}: {w}" for r in rules for w in r(export)]


def main():
    texts = {}
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as f:
            texts[os.path.basename(path)[:-3]] = f.read()
    for title, text in texts.items():
        found = wrong(text)
        report(not found, f"{title} keeps the rules", "\n".join(found[:5]))
    plain = texts["gemm-bf16"]
    for rule, pattern, replacement, *of in MUTANTS:
        text, n = re.subn(pattern, replacement, texts[of[0]] if of else plain, count=0 if rule is names_are_known else 1)
        report(n > 0 and bool(wrong(text, [rule])), f"{rule.__name__} sees {replacement.strip()}")
    for rule in RULES:
        report(any(m[0] is rule for m in MUTANTS), f"{rule.__name__} has a text that breaks it")
    report(bool(wrong(plain + "\ndef broken(:\n")), "what does not parse is seen")
    print(f"1..{count}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
