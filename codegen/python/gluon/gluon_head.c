/* Before the first function of a file: what it is, imports, constants, the helpers it calls. */
#include "codegen/python/gluon/gluon.h"
#include "codegen/python/host_tensors.h"
#include "program/program.h"

/* Functions that the text may call; they may call those further up. */
static const struct {
    const char *name, *text;
} helper[] = {
    { "floor_div", "@gluon.jit\ndef floor_div(a, b):\n"
                   "    return (a - (a % b + b) % b) // b\n" },
    { "floor_mod", "@gluon.jit\ndef floor_mod(a, b):\n    return (a % b + b) % b\n" },
    { "columns", "@gluon.jit\ndef columns(x, start: gl.constexpr, size: gl.constexpr):\n"
                 "    # columns start .. start + size of a tile in registers\n"
                 "    if x.shape[1] == size:\n"
                 "        return x\n"
                 "    else:\n"
                 "        half: gl.constexpr = x.shape[1] // 2\n"
                 "        lo, hi = x.reshape([x.shape[0], 2, half]).permute(0, 2, 1).split()\n"
                 "        return columns(lo if start < half else hi, start % half, size)\n" },
    { "lanesum",
      "@gluon.jit\ndef lanesum(x):\n"
      "    # one sum per lane: of columns 8 * i + 2 * lane and the next one; no shuffles\n"
      "    x = x.reshape([x.shape[0], x.shape[1] // 8, 4, 2])\n"
      "    return gl.convert_layout(gl.sum(gl.sum(x, axis=3), axis=1), QUAD)\n" },
    { "lanemax", "@gluon.jit\ndef lanemax(x):\n"
                 "    # one maximum per lane: of columns 8 * i + 2 * lane and the next one\n"
                 "    x = x.reshape([x.shape[0], x.shape[1] // 8, 4, 2])\n"
                 "    return gl.convert_layout(gl.max(gl.max(x, axis=3), axis=1), QUAD)\n" },
    { "lanes", "@gluon.jit\ndef lanes(x):\n"
               "    # what the lanes hold, added up\n"
               "    return gl.sum(x, axis=1)\n" },
    { "lanes_max", "@gluon.jit\ndef lanes_max(x):\n    return gl.max(x, axis=1)\n" },
    { "at_most",
      "@gluon.jit\ndef at_most(offset, index, limit):\n"
      "    # offset + index <= limit, written so that no register per column lives on in loops\n"
      "    return limit - offset - index >= 0\n" },
    { "at_most_of_row",
      "@gluon.jit\ndef at_most_of_row(offset, index, limit):\n"
      "    # offset + index <= limit, with a limit per row: one difference per row\n"
      "    return index <= limit - offset\n" },
    { "async_add_shared_to_global",
      "@builtin\ndef async_add_shared_to_global(desc, coord, src, _semantic=None):\n"
      "    # the compiler of 3.6 has the operation, its language no name for it\n"
      "    coord = _semantic._convert_to_ir_values(coord, require_i64=False)\n"
      "    _semantic.builder.create_async_tma_reduce(ir.DESCRIPTOR_REDUCE_KIND.ADD, desc.handle,\n"
      "            coord, src.handle)\n" },
    { "async_min_shared_to_global",
      "@builtin\ndef async_min_shared_to_global(desc, coord, src, _semantic=None):\n"
      "    # the compiler of 3.6 has the operation, its language no name for it\n"
      "    coord = _semantic._convert_to_ir_values(coord, require_i64=False)\n"
      "    _semantic.builder.create_async_tma_reduce(ir.DESCRIPTOR_REDUCE_KIND.MIN, desc.handle,\n"
      "            coord, src.handle)\n" },
    { "async_max_shared_to_global",
      "@builtin\ndef async_max_shared_to_global(desc, coord, src, _semantic=None):\n"
      "    # the compiler of 3.6 has the operation, its language no name for it\n"
      "    coord = _semantic._convert_to_ir_values(coord, require_i64=False)\n"
      "    _semantic.builder.create_async_tma_reduce(ir.DESCRIPTOR_REDUCE_KIND.MAX, desc.handle,\n"
      "            coord, src.handle)\n" },
    { "named_sync", "@gluon.jit\ndef named_sync(barrier: gl.constexpr, threads: gl.constexpr):\n"
                    "    # a barrier between partitions, for which 3.6 has no call\n"
                    "    gl.inline_asm_elementwise(\"bar.sync $1, $2; // dummy $0\", \"=r,r,r\", "
                    "[barrier, threads],\n"
                    "            dtype=gl.int32, is_pure=False, pack=1)\n" },
    { "named_arrive",
      "@gluon.jit\ndef named_arrive(barrier: gl.constexpr, threads: gl.constexpr):\n"
      "    gl.inline_asm_elementwise(\"bar.arrive $1, $2; // dummy $0\", \"=r,r,r\", [barrier, "
      "threads],\n"
      "            dtype=gl.int32, is_pure=False, pack=1)\n" },
    { "dealt",
      "@gluon.jit\ndef dealt(cta, n_tiles, dies: gl.constexpr, chunk: gl.constexpr):\n"
      "    # workgroups go to dies in turn: `chunk` tiles that follow each other stay on one\n"
      "    tile = cta\n"
      "    if cta < n_tiles // (dies * chunk) * (dies * chunk):\n"
      "        own = cta // dies\n"
      "        tile = own // chunk * (dies * chunk) + cta % dies * chunk + own % chunk\n"
      "    return tile\n" },
    { "fits", WS_PY_FITS },
    { "spaced", WS_PY_SPACED },
    { "counted", WS_PY_COUNTED },
    { "pow2floor", "def pow2floor(n):\n    return 1 << (n.bit_length() - 1) if n > 0 else 0\n" },
};

void ws_gluon_helpers(WsPy *y, GString *out)
{
    for (guint i = 0; i < G_N_ELEMENTS(helper); i++) {
        if (!g_hash_table_contains(y->helpers, helper[i].name))
            continue;
        g_autofree char *quad = g_strdup_printf("quad_%u", ws_gluon(y)->quad);
        g_autoptr(GString) text = g_string_new(helper[i].text);
        g_string_replace(text, "QUAD", quad, 0);
        g_string_append_printf(out, "\n\n%s", text->str);
    }
}

/* --- header ----------------------------------------------------------------------------------- */

void ws_gluon_constants(WsPy *y)
{
    for (guint i = 0; i < y->p->n_constants; i++) {
        if (y->of_file[i])
            ws_py_line(y, "%s = gl.constexpr(%" G_GINT64_FORMAT ")", y->constant[i],
                       y->p->constant[i]);
    }
}

static const struct {
    const char *word, *line; /* a line of imports, for who mentions the word */
} imported[] = {
    { "math", "import math\n" },
    { NULL, "import torch" },
    { "triton", "import triton" },
    { "ir", "from triton._C.libtriton import ir" },
    { NULL, "from triton.experimental import gluon" },
    { NULL, "from triton.experimental.gluon import language as gl" },
    { "builtin", "from triton.experimental.gluon.language._core import builtin" },
    { NULL, NULL }, /* names of Hopper's module */
    { "TensorDescriptor", "from triton.experimental.gluon.nvidia.hopper import TensorDescriptor" },
};

void ws_gluon_import_names(WsPy *y, const char *text, const char *module, const char *const *name,
                           guint n)
{
    const char *s = "", *only = "";
    guint k = 0;
    for (guint i = 0; i < n; i++) {
        if (!ws_py_mentions(text, name[i]))
            continue;
        s = ws_py_format(y, "%s    %s,\n", s, only = name[i]);
        k++;
    }
    if (k == 1)
        ws_py_line(y, "from %s import %s", module, only);
    else if (k)
        g_string_append_printf(y->out, "from %s import (\n%s)\n", module, s);
}

static void import_hopper(WsPy *y, const char *text)
{
    static const char *const name[] = { "async_copy", "fence_async_shared", "mbarrier",
                                        "tma",        "warpgroup_mma",      "warpgroup_mma_wait" };
    ws_gluon_import_names(y, text, "triton.experimental.gluon.language.nvidia.hopper", name,
                          G_N_ELEMENTS(name));
}

static void import_dependent(WsPy *y, const char *text)
{
    static const char *const name[] = { "gdc_launch_dependents", "gdc_wait" };
    ws_gluon_import_names(y, text, "triton.language.extra.cuda", name, G_N_ELEMENTS(name));
}

void ws_gluon_imports(WsPy *y, const char *text)
{
    for (guint i = 0; i < G_N_ELEMENTS(imported); i++) {
        const char *word = imported[i].word;
        if (!imported[i].line)
            import_hopper(y, text);
        else if (!word || ws_py_mentions(text, word))
            ws_py_line(y, "%s", imported[i].line);
    }
    import_dependent(y, text);
    ws_py_line(y, "%s", "");
}

void ws_gluon_header(WsPy *y)
{
    ws_py_head(y, "Gluon of Triton 3.6 on an H100 or H200: launch() runs it, this file run as a "
                  "program tries it.");
    ws_py_line(y, "#");
    ws_py_comment(y, "x_total counts rounds of loop x. `warpstave check` of this file proves or "
                     "refutes its schedule, on its own lines.");
    ws_py_line(y, "%s", "");
}
