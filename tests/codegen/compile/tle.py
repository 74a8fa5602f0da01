"""tle.py EXPORT…: FlagTree's own front end reads TLE exports: its parser, its type rules, the checks of
its language package. FlagTree itself is not built: WARPSTAVE_FLAGTREE is the folder `python` of its
source, and the operations of Triton 3.6 are made by the libtriton of the Triton at hand (and verified by
it). Operations that only FlagTree has end in a builder that makes a value of the right type, or
nothing. Prints TAP; skipped where either is absent.

The source at hand may be older than the language that is written. What came after it (`alloc` with
capacity and alias, `subslice`, operands of wgmma in registers) is added here from its description, and
lines of such files end in "with:".

What this cannot see: lowering (layouts, registers, memory), and verifiers of FlagTree's own operations
that are written in C++."""
import importlib.machinery
import importlib.util
import inspect
import os
import sys
import types

import launched


def overlay(flagtree):
    """FlagTree's package `triton`, with what it takes from a build taken from the Triton at hand."""
    found = importlib.util.find_spec("triton")
    if not found:
        return False
    here = found.submodule_search_locations[0]
    root = os.path.join(flagtree, "triton")
    spec = importlib.util.spec_from_file_location("triton", os.path.join(root, "__init__.py"),
                                                  submodule_search_locations=[root])

    class Finder:
        """Modules that FlagTree's source lacks, among them the extension."""

        @staticmethod
        def find_spec(name, path=None, target=None):
            parts = name.split(".")
            if parts[0] != "triton" or len(parts) == 1:
                return None
            if parts[:2] != ["triton", "_C"] and parts[:3] not in (
                    ["triton", "backends", "nvidia"], ["triton", "backends", "amd"], ["triton", "language", "extra"]):
                return None
            base = os.path.join(here, *parts[1:])
            if os.path.isdir(base) and name != "triton._C.libtriton":
                init = os.path.join(base, "__init__.py")
                if not os.path.exists(init):
                    made = importlib.machinery.ModuleSpec(name, None, is_package=True)
                    made.submodule_search_locations = [base]
                    return made
                return importlib.util.spec_from_file_location(name, init, submodule_search_locations=[base])
            for end in (".py", ".so"):
                if os.path.exists(base + end):
                    return importlib.util.spec_from_file_location(name, base + end)
            return None

    sys.meta_path.insert(0, Finder)
    module = importlib.util.module_from_spec(spec)
    sys.modules["triton"] = module
    spec.loader.exec_module(module)
    return True


def builder_class():
    from triton._C.libtriton import gluon_ir, ir
    common = ir.builder

    class Builder(gluon_ir.GluonOpBuilder):
        """What FlagTree adds to the builder of Triton 3.6."""

        def __init__(self, context):
            super().__init__(context)
            self.spoken = []

        # --- layouts and types
        def make_swizzled_shared_encoding_attr(self, vec, per, most, order, *_cga):
            return self.get_swizzled_shared_layout(vec, per, most, order, [])

        def make_nv_mma_shared_encoding_attr(self, shape, order, element, *rest):
            fp4, swizzled = rest[-2:]
            bits = {"f32": 32, "i32": 32, "f16": 16, "bf16": 16}.get(str(element), 64 if str(element) == "i64" else 8)
            rank = len(shape)
            swizzle = 128 if swizzled else 0
            while swizzle > 16 and shape[order[0]] * bits // 8 < swizzle:
                swizzle //= 2
            return self.get_nvmma_shared_layout(swizzle if swizzle > 16 else 0, bits, order[0] == 0, bool(fp4), [], rank)

        def get_memdesc_type(self, shape, element, layout, _storage, whole=None):
            return self.get_shared_mem_desc_ty(element, list(shape), layout, list(whole or shape))

        def poison(self, what, type_, *read):
            self.spoken.append(what)
            return self.create_poison(type_)

        # --- memory
        def create_local_alloc(self, *a):
            if len(a) == 3:
                shape, element, layout = a
                return super().create_local_alloc(self.get_memdesc_type(shape, element, layout, "smem"))
            return super().create_local_alloc(*a)

        def create_local_pointers(self, type_, *read):
            value = self.poison("local_pointers", type_)
            return types.SimpleNamespace(get_result=lambda i: value)

        def create_memdesc_index(self, type_, source, *at):
            return super().create_memdesc_index(type_, source, *at)

        def create_tma_copy(self, *a):
            self.spoken.append("tma_copy")

        # --- barriers
        def create_barrier_alloc(self, type_, *a):
            return self.poison("barrier_alloc", type_)

        def create_tle_wgmma(self, a, b, acc, *more):
            return self.poison("wgmma", acc.get_type())

        def create_tle_wgmma_wait(self, acc, n):
            return self.poison("wgmma_wait", acc.get_type())

        def create_extract_tile(self, x, index, shape):
            return self.poison("extract_tile", self.get_block_ty(self.element_of(x), shape))

        def element_of(self, x):
            text = str(x.get_type()).split("x")[-1].split(",")[0].rstrip(">")
            made = {"f32": self.get_float_ty, "f16": self.get_half_ty, "bf16": self.get_bf16_ty,
                    "i32": self.get_int32_ty, "i8": self.get_int8_ty, "i1": self.get_int1_ty,
                    "f8E4M3FN": self.get_fp8e4nv_ty, "f8E5M2": self.get_fp8e5_ty}
            return made[text]()

        def create_pipe_reader_wait(self, *a):
            return self.get_int1(False)

        # --- what FlagTree's builder takes more: a hint, last
        def create_load(self, *a):
            return common.create_load(self, *a[:4])

        def create_masked_load(self, *a):
            return common.create_masked_load(self, *a[:6])

        def __getattr__(self, name):
            silent = ("create_barrier_wait_", "create_barrier_arrive_", "create_pipe_")
            if name.startswith(silent):
                return lambda *a, **k: self.spoken.append(name[len("create_"):])
            raise AttributeError(name)

    for name in set(vars(gluon_ir.GluonOpBuilder)) & set(vars(common)):  # types there have layouts
        if not name.startswith("__"):
            setattr(Builder, name, getattr(common, name))
    return Builder


def newer(used):
    """Adds what later versions have; `used` collects what a file made use of."""
    from triton.experimental.tle.language import gpu
    from triton.experimental.tle.language.gpu import core, types as kinds
    import triton.language.core as tl

    if "capacity" not in inspect.signature(core.alloc).parameters:
        plain = core.alloc

        @tl.builtin
        def alloc(shape, dtype, layout=None, scope=kinds.smem, init_value=None, nv_mma_shared_layout=True, alias=None,
                  alias_offset_bytes=0, capacity=None, _semantic=None):
            capacity = tl._unwrap_if_constexpr(capacity)
            if capacity is not None:
                used.add("capacity")
                if tl._unwrap_if_constexpr(shape[0]) != capacity:
                    raise ValueError("capacity is the leading dimension")
                shape = [1 << (tl._unwrap_if_constexpr(n) - 1).bit_length() for n in shape]  # what is reserved
            if alias is not None:
                used.add("alias")
                if not isinstance(alias, kinds.buffered_tensor) or tl._unwrap_if_constexpr(alias_offset_bytes) < 0:
                    raise ValueError("alias is a buffer, its offset is not negative")
            return plain(shape, dtype, layout, scope, init_value, nv_mma_shared_layout, _semantic=_semantic)

        core.alloc = gpu.alloc = alloc
    if not hasattr(kinds.buffered_tensor, "subslice"):

        @tl.builtin
        def subslice(self, start, length, dim=-1, _semantic=None):
            used.add("subslice")
            start, length, dim = (tl._unwrap_if_constexpr(x) for x in (start, length, dim))
            if not all(isinstance(x, int) for x in (start, length, dim)):
                raise ValueError("start, length and dim of a subslice are compile-time integers")
            shape = list(self.shape)
            if start < 0 or length < 1 or start + length > shape[dim]:
                raise ValueError(f"rows or columns {start} to {start + length} of {shape[dim]}")
            shape[dim] = length
            made = kinds.buffered_tensor_type(self.dtype, shape, self.type.storage, self.type.layout, _semantic,
                                              alloc_shape=self.type.alloc_shape)
            handle = _semantic.builder.create_poison(made.to_ir(_semantic.builder))
            return kinds.buffered_tensor(handle, self.dtype, shape, self.type.storage, self.type.layout, _semantic,
                                         alloc_shape=made.alloc_shape)

        kinds.buffered_tensor.subslice = subslice


def main():
    flagtree = os.environ.get("WARPSTAVE_FLAGTREE")
    if not flagtree or not overlay(flagtree):
        print("1..0 # SKIP no FlagTree, or no Triton")
        return 0
    from triton._C.libtriton import ir
    if importlib.util.find_spec("triton.experimental.tle") is None:
        print("1..0 # SKIP no TLE in this FlagTree")
        return 0
    ir.builder = builder_class()
    launched.stand_in()
    import triton
    from triton._utils import canonicalize_dtype
    from triton.backends.compiler import GPUTarget
    from triton.backends.nvidia.compiler import CUDABackend
    from triton.compiler.compiler import ASTSource
    from triton.runtime.jit import JITFunction
    failed, used = 0, set()
    newer(used)
    for i, path in enumerate(sys.argv[1:], 1):
        title = os.path.basename(path)[:-3]
        used.clear()
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
            more = f"; with: {', '.join(sorted(used))}" if used else ""
            print(f"{'ok' if good else 'not ok'} {i} - {title}: {len(str(module).splitlines())} lines of IR{more}",
                  flush=True)
            failed += not good
        except Exception as e:
            failed += 1
            print(f"not ok {i} - {title}")
            for line in f"{type(e).__name__}: {e}".splitlines()[-12:]:
                print("# " + line)
    print(f"1..{len(sys.argv) - 1}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
