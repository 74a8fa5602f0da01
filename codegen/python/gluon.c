/* generate --as gluon: the program as one Python file for Triton 3.6. */
#include "codegen/python/gluon.h"
#include "codegen/python/plan.h"

#include <string.h>

static const WsPyDialect gluon = {
    .name = "gluon",
    .module = "gl",
    .range = "range",
    .static_range = "gl.static_range",
    .constexpr_t = "gl.constexpr",
    .masks = TRUE,
    .op = ws_gluon_op,
    .fresh = ws_gluon_fresh,
    .full = ws_gluon_full,
    .row_index = ws_gluon_row_index,
    .col_index = ws_gluon_col_index,
    .spread = ws_gluon_spread,
    .reduce = ws_gluon_reduce,
    .element = ws_gluon_element,
    .to_lanes = ws_gluon_to_lanes,
    .of_lanes = ws_gluon_of_lanes,
    .body_end = ws_gluon_body_end,
    .block_around = ws_gluon_block_around,
    .role_begin = ws_gluon_role_begin,
};

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
      "    # offset + index <= limit, said so that no register per column lives on in loops\n"
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
    { "fits",
      "def fits(name, x, shape, strides, dtype):\n"
      "    there = [s for s, n in zip(x.stride(), x.shape) if n > 1]\n"
      "    wanted = [s for s, n in zip(strides, shape) if n > 1]\n"
      "    if x.dtype != dtype or tuple(x.shape) != shape or there != wanted:\n"
      "        raise ValueError(f\"{name}: {x.dtype} {tuple(x.shape)} with strides {x.stride()}; "
      "\"\n"
      "                         f\"it must be {dtype} {shape} with strides {strides}\")\n" },
    { "pow2floor", "def pow2floor(n):\n    return 1 << (n.bit_length() - 1) if n > 0 else 0\n" },
};

/* --- header
 * -------------------------------------------------------------------------------------*/

static void constants(WsPy *y, const char *text)
{
    for (guint i = 0; i < y->p->n_constants; i++) {
        const char *name = ws_py_ident(y, y->p->constant_name[i]);
        if (ws_py_mentions(text, name))
            ws_py_line(y, "%s = gl.constexpr(%" G_GINT64_FORMAT ")", name, y->p->constant[i]);
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

static void import_names(WsPy *y, const char *text, const char *module, const char *const *name,
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
    import_names(y, text, "triton.experimental.gluon.language.nvidia.hopper", name,
                 G_N_ELEMENTS(name));
}

static void import_dependent(WsPy *y, const char *text)
{
    static const char *const name[] = { "gdc_launch_dependents", "gdc_wait" };
    import_names(y, text, "triton.language.extra.cuda", name, G_N_ELEMENTS(name));
}

static void imports(WsPy *y, const char *text)
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

static void header(WsPy *y)
{
    const char *note = y->design ? ws_node_text(ws_design_root(y->design), WS_F_note) : NULL;
    ws_py_comment(y, y->p->name);
    if (note) {
        ws_py_line(y, "#");
        ws_py_comment(y, note);
    }
    ws_py_line(y, "#");
    ws_py_comment(y, "generated by: warpstave " WARPSTAVE_VERSION " generate --as gluon");
    ws_py_line(y, "# sha256: %s", y->p->design_hash);
    ws_py_line(y, "# Gluon of Triton 3.6 on an H100 or H200: launch() runs it, this file run as a "
                  "program tries it.");
    ws_py_line(y, "#");
    ws_py_comment(y,
                  "In brackets: the place of a step in the design. x_total counts rounds of "
                  "loop x. `warpstave check` of this file proves or refutes its schedule, on its "
                  "own lines.");
    ws_py_line(y, "%s", "");
}

/* --- the kernel
 * ---------------------------------------------------------------------------------*/

static gboolean by_copy_or_product(const WsPy *y, guint buffer)
{
    for (guint i = 0; i < y->p->n_ops; i++) {
        const WsOp *op = y->p->op[i];
        gboolean async =
            op->kind == WS_OP_TMA_LOAD || op->kind == WS_OP_TMA_STORE || op->kind == WS_OP_MMA;
        for (guint k = 0; async && k < op->n_access; k++) {
            if (op->access[k].buffer == buffer)
                return TRUE;
        }
    }
    return FALSE;
}

/* "[4, 128, 64]": stages of all elements, and parts of tiles whose rows are no power of two. */
static const char *shape_of(WsPy *y, const WsBuffer *b)
{
    guint part = b->rank == 1 ? 1 : ws_gluon_part_rows(b->rows);
    guint n = b->stages * b->array * (b->rank == 1 ? 1 : b->rows / part);
    const char *count = ws_py_count_name(y, WS_F_buffers, WS_F_stages, b->name);
    const char *s = count && n == b->stages ? count : ws_py_format(y, "%u", n);
    if (!ws_py_pow2(b->cols) || (b->rank > 1 && part < 8 && part != b->rows))
        ws_py_refuse(y, NULL,
                     ws_py_format(y,
                                  "buffer %s of %u rows and %u columns (extents are powers of "
                                  "two)",
                                  b->name, b->rows, b->cols),
                     "make them powers of two");
    return b->rank == 1 ? ws_py_format(y, "[%s, %u]", s, b->cols)
                        : ws_py_format(y, "[%s, %u, %u]", s, part, b->cols);
}

static void buffer(WsPy *y, guint i)
{
    const WsBuffer *b = &y->p->buffer[i], *under = b->over >= 0 ? &y->p->buffer[b->over] : NULL;
    if (under && (under->offset != b->offset || under->bytes < b->bytes)) {
        ws_py_refuse(y, NULL,
                     ws_py_format(y, "buffer %s, which reaches beyond %s that it lies over",
                                  b->name, under->name),
                     "give it memory of its own");
        return;
    }
    guint rank = b->rank == 1 ? 1 : 2;
    const char *layout = by_copy_or_product(y, i)
                             ? ws_gluon_shared_layout(y, b->swizzle, b->dtype, rank)
                         : rank == 1 ? "gl.SwizzledSharedLayout(1, 1, 1, order=[0])"
                                     : "gl.SwizzledSharedLayout(1, 1, 1, order=[1, 0])";
    if (under)
        ws_py_line(y, "%s = %s._reinterpret(%s, %s, %s)", y->buffer[i], y->buffer[b->over],
                   ws_gluon_dtype(y, b->dtype), shape_of(y, b), layout);
    else
        ws_py_line(y, "%s = gl.allocate_shared_memory(%s, %s, %s)", y->buffer[i],
                   ws_gluon_dtype(y, b->dtype), shape_of(y, b), layout);
}

static const WsPyRole *role_of(const GPtrArray *roles, guint agent, guint *replica)
{
    for (guint i = 0; i < roles->len; i++) {
        const WsPyRole *r = roles->pdata[i];
        if (agent >= r->first && agent < r->first + r->n) {
            *replica = agent - r->first;
            return r;
        }
    }
    return NULL;
}

static void partitions(WsPy *y, const GPtrArray *roles, const WsPyPlan *plan)
{
    guint replica = 0;
    if (y->p->n_agents == 1) {
        const WsPyRole *r = role_of(roles, 0, &replica);
        const char *given = ws_py_role_arguments(y, r, 0);
        ws_py_line(y, "%s%s", r->name, given);
        return;
    }
    const char *warps = "", *registers = "";
    ws_py_line(y, "gl.warp_specialize([");
    for (guint i = 0; i < plan->n; i++) {
        const WsPyRole *r = role_of(roles, plan->agent[i], &replica);
        const WsAgent *a = &y->p->agent[plan->agent[i]];
        const char *more = plan->warps[i] == a->warps
                               ? ""
                               : ws_py_format(y, "  # %u warps in the design", a->warps);
        ws_py_line(y, "    (%s, %s),%s", r->name, ws_py_role_arguments(y, r, replica), more);
        if (!i)
            continue;
        warps = ws_py_format(y, "%s%s%u", warps, i > 1 ? ", " : "", plan->warps[i]);
        registers = ws_py_format(y, "%s%s%u", registers, i > 1 ? ", " : "", plan->request[i]);
    }
    ws_py_line(y, "], [%s], [%s])", warps, registers);
}

static const char *joined(WsPy *y, const GPtrArray *names)
{
    const char *s = "";
    for (guint i = 0; i < names->len; i++)
        s = ws_py_format(y, "%s%s%s", s, i ? ", " : "", (const char *)names->pdata[i]);
    return s;
}

static void kernel(WsPy *y, const GPtrArray *roles, const GPtrArray *arguments,
                   const WsPyPlan *plan)
{
    ws_py_line(y, "@gluon.jit");
    ws_py_open(y, "def kernel(%s)", joined(y, arguments));
    for (guint i = 0; i < y->p->n_buffers; i++)
        buffer(y, i);
    ws_gluon_barriers(y);
    ws_py_plan_comment(y, plan);
    partitions(y, roles, plan);
    ws_py_close(y);
}

/* --- the launcher
 * -------------------------------------------------------------------------------*/

static const char *list(WsPy *y, WsExpr *const *x, guint n)
{
    const char *s = "";
    for (guint i = 0; i < n; i++)
        s = ws_py_format(y, "%s%s%s", s, i ? ", " : "", ws_py_uniform(y, x[i]).s);
    return s;
}

static void descriptors(WsPy *y)
{
    const GArray *boxes = ws_gluon(y)->boxes;
    for (guint i = 0; i < boxes->len; i++) {
        const WsPyBox *b = &g_array_index(boxes, WsPyBox, i);
        const WsTensor *t = &y->p->tensor[b->tensor];
        const char *block = "";
        for (guint d = 0; d < b->rank; d++)
            block = ws_py_format(y, "%s%s%u", block, d ? ", " : "", ws_gluon_block(b, d));
        ws_py_line(y, "%s = TensorDescriptor(", b->name);
        ws_py_line(y, "    %s, [%s], [%s], [%s],", y->tensor[b->tensor], list(y, t->shape, t->rank),
                   list(y, t->stride, t->rank), block);
        ws_py_line(y, "    %s)", ws_gluon_shared_layout(y, b->swizzle, t->dtype, b->rank));
    }
}

static void grid(WsPy *y)
{
    const WsTiles *t = &y->p->tiles;
    if (t->launch == WS_LAUNCH_SINGLE) {
        ws_py_line(y, "programs = n_tiles");
        return;
    }
    if (t->grid)
        ws_py_line(y, "programs = min(n_tiles, %s)", ws_py_uniform(y, t->grid).s);
    else
        ws_py_line(y,
                   "programs = min(n_tiles, torch.cuda.get_device_properties(%s.device)"
                   ".multi_processor_count)",
                   y->tensor[0]);
}

/* Steps griddepcontrol. */
static gboolean depends(const WsPy *y)
{
    for (guint i = 0; i < y->p->n_ops; i++) {
        if (y->p->op[i]->kind == WS_OP_DEP_WAIT || y->p->op[i]->kind == WS_OP_DEP_LAUNCH)
            return TRUE;
    }
    return FALSE;
}

static const char *listed_shape(WsPy *y, const WsTensor *t)
{
    const char *s = "";
    for (guint d = 0; d < t->rank; d++)
        s = ws_py_format(y, "%s%s%s", s, d ? ", " : "", ws_py_uniform(y, t->shape[d]).s);
    return s;
}

/* What it computes, and of what: in the words of the design. */
static void docstring(WsPy *y)
{
    static const char *const use[] = {
        [WS_ACCESS_READ] = "", [WS_ACCESS_WRITE] = ", written", [WS_ACCESS_REDUCE] = ", added to"
    };
    for (guint i = 0; i < y->p->n_reference; i++) {
        g_autofree char *line = ws_statement_print(y->p->reference[i]);
        ws_py_line(y, "%s%s", i ? "" : "\"\"\"", line);
    }
    ws_py_line(y, "%s", y->p->n_reference ? "" : "\"\"\"Runs the kernel.\n");
    for (guint i = 0; i < y->p->n_tensors; i++) {
        const WsTensor *t = &y->p->tensor[i];
        ws_py_line(y, "%s: %s [%s]%s%s", y->tensor[i], ws_dtype_text(t->dtype), listed_shape(y, t),
                   t->strides_given ? " with the strides below" : "", use[t->access]);
    }
    ws_py_line(y, "\"\"\"");
}

static void launcher(WsPy *y, const GPtrArray *arguments, const WsPyPlan *plan)
{
    GString *outer = y->out;
    y->out = g_string_new(NULL);
    ws_py_open(y, "def launch(%s)", ws_py_host_parameters(y));
    y->host = TRUE;
    docstring(y);
    y->host = FALSE;
    ws_py_host_sizes(y);
    ws_py_host_assumptions(y);
    y->host = TRUE;
    for (guint i = 0; i < y->p->n_tensors; i++) {
        const WsTensor *t = &y->p->tensor[i];
        const char *end = t->rank == 1 ? "," : "";
        ws_py_line(y, "%s(\"%s\", %s, (%s%s), (%s%s), torch.%s)", ws_py_helper(y, "fits"),
                   y->tensor[i], y->tensor[i], list(y, t->shape, t->rank), end,
                   list(y, t->stride, t->rank), end, ws_py_torch_type(t->dtype));
    }
    descriptors(y);
    grid(y);
    y->host = FALSE;
    if (y->p->tiles.launch == WS_LAUNCH_DYNAMIC)
        ws_py_line(y, "counter = torch.zeros(1, dtype=torch.int32, device=%s.device)",
                   y->tensor[0]);
    ws_py_line(y, "return kernel[(programs,)](%s, num_warps=%u, maxnreg=%u%s)",
               joined(y, arguments), y->p->agent[plan->agent[0]].warps, plan->maxnreg,
               depends(y) ? ", launch_pdl=True" : "");
    ws_py_close(y);
    g_autofree char *used = ws_py_host_used(y, y->out->str);
    g_string_append(outer, used);
    g_string_free(y->out, TRUE);
    y->out = outer;
}

/* --- everything
 * ---------------------------------------------------------------------------------*/

/* What the kernel takes: descriptors, tensors through pointers, the counter, sizes. */
static GPtrArray *arguments_of(WsPy *y, const char *text)
{
    GPtrArray *all = g_ptr_array_new();
    const GArray *boxes = ws_gluon(y)->boxes;
    for (guint i = 0; i < boxes->len; i++)
        g_ptr_array_add(all, (gpointer)g_array_index(boxes, WsPyBox, i).name);
    for (guint i = 0; i < y->p->n_tensors; i++) {
        if (!text || ws_py_mentions(text, y->tensor[i]))
            g_ptr_array_add(all, (gpointer)y->tensor[i]);
    }
    if (y->p->tiles.launch == WS_LAUNCH_DYNAMIC)
        g_ptr_array_add(all, (gpointer) "counter");
    g_autoptr(GPtrArray) more = ws_py_host_arguments(y);
    for (guint i = 0; i < more->len; i++) {
        if (!text || ws_py_mentions(text, more->pdata[i]))
            g_ptr_array_add(all, more->pdata[i]);
    }
    return all;
}

static GPtrArray *all_roles(WsPy *y)
{
    g_autoptr(GArray) param = g_array_new(FALSE, FALSE, sizeof(WsPyParam));
    g_autoptr(GPtrArray) outer = arguments_of(y, NULL);
    for (guint i = 0; i < outer->len; i++) {
        WsPyParam p = { outer->pdata[i], outer->pdata[i] };
        g_array_append_val(param, p);
    }
    for (guint i = 0; i < y->p->n_buffers; i++) {
        WsPyParam p = { y->buffer[i], y->buffer[i] };
        g_array_append_val(param, p);
    }
    for (guint i = 0; i < y->p->n_barriers; i++) {
        WsPyParam p = { y->barrier[i], y->barrier[i] };
        if (y->p->barrier[i].kind == WS_BARRIER_MBARRIER)
            g_array_append_val(param, p);
    }
    return ws_py_roles(y, (const WsPyParam *)(void *)param->data, param->len);
}

static void helpers(WsPy *y, GString *out)
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

static void whole(WsPy *y)
{
    g_auto(WsPyPlan) plan = { 0 };
    WsGluon *g = ws_gluon(y);
    g->boxes = ws_py_boxes(y);
    g->plan = &plan;
    if (y->error || !ws_py_plan(y, &plan))
        return;
    g_autoptr(GPtrArray) roles = all_roles(y);
    g_autofree char *tile = ws_py_tile_function(y, "@gluon.jit");
    if (y->error)
        return;
    GString *text = g_string_new(NULL), *body = g_string_new(NULL), *outer = y->out;
    if (*tile)
        g_string_append_printf(body, "\n\n%s", tile);
    for (guint i = 0; i < roles->len; i++)
        g_string_append_printf(body, "\n\n@gluon.jit\n%s",
                               ((const WsPyRole *)roles->pdata[i])->text);
    g_autoptr(GPtrArray) arguments = arguments_of(y, body->str);
    y->out = body;
    ws_py_line(y, "\n");
    kernel(y, roles, arguments, &plan);
    ws_py_line(y, "\n");
    launcher(y, arguments, &plan);
    ws_py_host_check(y);
    y->out = outer;
    header(y);
    helpers(y, text);
    g_autofree char *all = g_strconcat(text->str, body->str, NULL);
    imports(y, all);
    constants(y, body->str);
    ws_gluon_named_constants(y);
    g_autofree char *layouts = ws_gluon_layouts(y);
    g_string_append(y->out, layouts);
    g_string_append(y->out, text->str);
    g_string_append(y->out, body->str);
    g_string_free(text, TRUE);
    g_string_free(body, TRUE);
}

char *ws_generate_gluon(const WsProgram *p, GError **error)
{
    WsPy *y = ws_py_new(p, &gluon);
    WsGluon g = { 0 };
    g.in_flight = g_array_new(FALSE, FALSE, sizeof(WsGluonProduct));
    g.gathers = g_ptr_array_new();
    g.layout = g_new0(gboolean, 3 * 257);
    y->role = &g;
    if (!y->error)
        whole(y);
    g_clear_pointer(&g.boxes, g_array_unref);
    g_array_unref(g.in_flight);
    g_ptr_array_unref(g.gathers);
    g_free(g.token);
    g_free(g.layout);
    return ws_py_finish(y, error);
}
