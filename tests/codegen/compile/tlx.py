"""tlx.py EXPORT…: TLX's own language package reads TLX exports: its functions, its type rules, its checks.
WARPSTAVE_TLX is its folder (third_party/tlx/language/tlx of facebookexperimental/triton). It is laid
over the front end of the Triton 3.6 at hand, whose libtriton makes (and verifies) the operations that it
knows; the others end in a builder that makes a value of the right type, or nothing. Tasks are read one
after the other in one function. Prints TAP; skipped where either is absent.

What this cannot see: lowering (layouts, registers, memory), verifiers that are written in C++, and what
tasks may capture."""
import importlib.util
import math
import os
import re
import sys
import types

import launched
import tle


def language(folder):
    """Puts TLX in the place that it has in its own Triton."""
    import triton.language.extra as extra

    absent = types.ModuleType("triton.language.extra.cuda.inline_ptx_lib")
    absent._mul_f32x2 = None  # of Blackwell
    sys.modules[absent.__name__] = absent
    spec = importlib.util.spec_from_file_location("triton.language.extra.tlx", os.path.join(folder, "__init__.py"),
                                                  submodule_search_locations=[folder])
    extra.tlx = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = extra.tlx
    spec.loader.exec_module(extra.tlx)
    return extra.tlx


def check_products():
    """What the semantics of TLX's Triton have beside `dot`: checks of its operands."""
    import triton.language.core as tl
    from triton.language.semantic import TritonSemantic

    def dot_precheck(self, a, b, acc, precision, _tf32, _imprecise, out, _two_ctas):
        (m, k), (k2, n) = ([plain(x) for x in v.shape] for v in (a, b))
        assert a.dtype == b.dtype, f"operands of {a.dtype} and {b.dtype}"
        assert k == k2, f"{m}x{k} by {k2}x{n}"
        kind = tl.block_type(tl._unwrap_if_constexpr(out), [m, n])
        zero = acc is None or tl._unwrap_if_constexpr(acc) is None
        if not zero:
            assert acc.type == kind, f"{acc.type} is no accumulator of {m}x{n}"
        handle = self.full([m, n], 0, kind.scalar).handle if zero else acc.handle
        return a, b, handle, precision, None, kind

    TritonSemantic.dot_precheck = dot_precheck


def read_tasks(tlx):
    """`with` of tasks: their bodies one after the other."""
    from triton.compiler.code_generator import CodeGenerator, enter_sub_region

    plain = CodeGenerator.visit_With

    def visit_with(self, node):
        call = node.items[0].context_expr
        made = self.visit(call.func)
        if made not in (tlx.async_tasks, tlx.async_task):
            return plain(self, node)
        named = {k.arg: self.visit(k.value) for k in call.keywords}
        made(*[self.visit(a) for a in call.args], **named)
        if made is tlx.async_tasks:
            defaults = [t for t in node.body if t.items[0].context_expr.args]
            assert len(defaults) == 1, "one default task"
        with enter_sub_region(self):
            self.visit_compound_statement(node.body)

    CodeGenerator.visit_With = visit_with


def builder_class():
    class Builder(tle.builder_class()):
        """Shared memory has one layout per shape here: which one is the compiler's business."""

        def get_memdesc_type(self, shape, element, *_):
            rank = len(shape)
            layout = self.get_swizzled_shared_layout(1, 1, 1, list(range(rank))[::-1], [])
            return self.get_shared_mem_desc_ty(element, list(shape), layout, list(shape))

        def held(self, shape, element):
            return self.create_poison(self.get_memdesc_type(shape, element))

        def shape_of(self, value):
            *shape, element = re.match(r"!ttg.memdesc<([0-9a-zA-Z]+)", str(value.get_type()))[1].split("x")
            made = {"f32": self.get_float_ty, "f16": self.get_half_ty, "bf16": self.get_bf16_ty,
                    "i64": self.get_int64_ty, "i32": self.get_int32_ty, "i8": self.get_int8_ty,
                    "f8E4M3FN": self.get_fp8e4nv_ty, "f8E5M2": self.get_fp8e5_ty}
            return [int(n) for n in shape], made[element]()

        # --- shared memory
        def create_local_alloc(self, shape, element, *_):
            return self.held(shape, element)

        def create_alloc_barriers(self, n, count, _layout):
            assert isinstance(n, int) and isinstance(count, int) and n > 0 and count > 0
            return self.held([n], self.get_int64_ty())

        def create_memdesc_subview(self, source, *_):
            shape, element = self.shape_of(source)
            return self.held(shape[1:] or [1], element)

        create_memdesc_index = create_memdesc_subview

        def create_memdesc_subslice(self, source, offset, shape):
            whole, element = self.shape_of(source)
            at, shape = [plain(o) for o in offset], [plain(n) for n in shape]
            assert len(at) == len(shape) == len(whole), "a slice of another rank"
            assert all(0 <= o and o + n <= m for o, n, m in zip(at, shape, whole)), "a slice beyond its buffer"
            return self.held(shape, element)

        def create_memdesc_trans(self, source, order):
            shape, element = self.shape_of(source)
            return self.held([shape[plain(i)] for i in order], element)

        def create_memdesc_reshape(self, source, shape):
            whole, element = self.shape_of(source)
            shape = [plain(n) for n in shape]
            assert math.prod(shape) == math.prod(whole), "another number of elements"
            return self.held(shape, element)

        def create_local_load(self, source, token=None, **_):
            shape, element = self.shape_of(source)
            return self.create_poison(self.get_block_ty(element, shape))

        def create_local_store(self, to, value):
            shape, element = self.shape_of(to)
            wanted = str(self.get_block_ty(element, shape))
            assert str(value.get_type()) == wanted, f"{value.get_type()} is stored where {wanted} lies"

        # --- products
        def create_require_layout(self, value, _layout, **_):
            return value

        def create_release_layout(self, value):
            return value

        def create_warp_group_dot(self, a, b, acc, *_):
            return self.create_poison(acc.get_type())

        def create_warp_group_dot_wait(self, values, pendings):
            assert isinstance(pendings, int) and 0 <= pendings < 8
            return [self.create_poison(v.get_type()) for v in values]

        # --- copies
        def block_of(self, desc):
            return re.search(r"tensordesc<tensor<([0-9a-zA-Z]+)", str(desc.get_type()))[1]

        def moves(self, desc, buffer):
            held = re.match(r"!ttg.memdesc<([0-9a-zA-Z]+)", str(buffer.get_type()))[1]
            assert self.block_of(desc) == held, f"{self.block_of(desc)} is copied to or from {held}"

        def create_async_TMA_load(self, _targets, desc, offsets, barrier, pred, result, *_):
            self.moves(desc, result)
            assert "i64" in str(barrier.get_type())

        def create_async_TMA_store(self, desc, offsets, source, *_):
            self.moves(desc, source)

        def __getattr__(self, name):
            if name.startswith("make_"):
                return lambda *a, **k: None
            silent = ("create_barrier_", "create_named_barrier_", "create_fence_async_shared", "create_async_TMA_store_wait")
            if name.startswith(silent):
                return lambda *a, **k: None
            raise AttributeError(name)

    return Builder


def plain(x):
    x = getattr(x, "value", x)
    assert isinstance(x, int), "a number that the compiler has to know"
    return x


def main():
    folder = os.environ.get("WARPSTAVE_TLX")
    if not folder or not importlib.util.find_spec("triton"):
        print("1..0 # SKIP no TLX, or no Triton")
        return 0
    from triton._C.libtriton import ir
    tlx = language(folder)
    read_tasks(tlx)
    check_products()
    tlx.barrier.is_hip = lambda: False  # asks the driver for a device
    ir.builder = builder_class()
    launched.stand_in()
    from triton._utils import canonicalize_dtype
    from triton.backends.compiler import GPUTarget
    from triton.backends.nvidia.compiler import CUDABackend
    from triton.compiler.compiler import ASTSource
    from triton.runtime.jit import JITFunction
    failed = 0
    for i, path in enumerate(sys.argv[1:], 1):
        title = os.path.basename(path)[:-3]
        try:
            kernel, arguments, named = launched.launch_of(path, JITFunction)
            types_, constants, attributes, options = launched.signature(kernel, arguments, named, canonicalize_dtype)
            target = GPUTarget("cuda", 90, 32)
            backend = CUDABackend(target)
            options = backend.parse_options(options)
            context = ir.context()
            ir.load_dialects(context)
            backend.load_dialects(context)
            source = ASTSource(kernel, types_, constants, attributes)
            module = source.make_ir(target, options, backend.get_codegen_implementation(options),
                                    backend.get_module_map(), context)
            good = module.verify()
            print(f"{'ok' if good else 'not ok'} {i} - {title}: {len(str(module).splitlines())} lines of IR", flush=True)
            failed += not good
        except Exception as e:
            failed += 1
            while e.__cause__ is not None:
                e = e.__cause__
            print(f"not ok {i} - {title}")
            for line in f"{type(e).__name__}: {e}".splitlines()[-8:]:
                print("# " + line)
    print(f"1..{len(sys.argv) - 1}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
