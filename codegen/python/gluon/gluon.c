/* generate --as gluon: the program as one Python file for Triton 3.6. */
#include "codegen/python/gluon/gluon.h"
#include "codegen/python/gluon/amd/amd.h"
#include "codegen/python/plan.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/tiles.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

static const WsPyDialect gluon = {
    .name = "gluon",
    .lens = WS_LENS_GLUON,
    .module = "gl",
    .range = "range",
    .static_range = "gl.static_range",
    .constexpr_t = "gl.constexpr",
    .masks = TRUE,
    .parts = TRUE,
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
    .role_head = ws_gluon_role_head,
};

/* --- the kernel ------------------------------------------------------------------------------- */

static gboolean by_copy_or_product(const WsPy *y, guint buffer)
{
    for (guint i = 0; i < y->p->n_ops; i++) {
        const WsOp *op = y->p->op[i];
        gboolean async =
            op->kind == WS_OP_TMA_LOAD || op->kind == WS_OP_TMA_STORE || ws_op_is_product(op->kind);
        for (guint k = 0; async && k < op->n_access; k++) {
            if (op->access[k].buffer == buffer)
                return TRUE;
        }
    }
    return FALSE;
}

static const char *shared_layout(WsPy *y, guint i)
{
    const WsBuffer *b = &y->p->buffer[i];
    const guint rank = b->rank == 1 ? 1 : 2;
    return by_copy_or_product(y, i) ? ws_gluon_shared_layout(y, b->swizzle, b->dtype, rank)
           : rank == 1              ? "gl.SwizzledSharedLayout(1, 1, 1, order=[0])"
                                    : "gl.SwizzledSharedLayout(1, 1, 1, order=[1, 0])";
}

/* "[4, 128, 64]": stages of all elements, and parts of tiles whose rows are no power of two. */
static const char *shape_of(WsPy *y, const WsBuffer *b)
{
    guint part;
    const char *s = ws_py_stages(y, b, &part);
    return b->rank == 1 ? ws_py_format(y, "[%s, %u]", s, b->cols)
                        : ws_py_format(y, "[%s, %u, %u]", s, part, b->cols);
}

static void buffer(WsPy *y, guint i)
{
    const WsBuffer *b = &y->p->buffer[i], *under = b->over >= 0 ? &y->p->buffer[b->over] : NULL;
    if (under && (under->offset != b->offset || under->bytes < b->bytes)) {
        const char *why =
            under->offset != b->offset
                ? ws_py_phrase(y, "buffer %s, which is no beginning of %s that it lies over",
                               b->name, under->name)
                : ws_py_phrase(y, "buffer %s, which reaches beyond %s that it lies over", b->name,
                               under->name);
        ws_py_refuse(y, NULL, why, "give it memory of its own");
        return;
    }
    const char *layout = ws_gluon(y)->kind->shared_layout(y, i);
    if (under)
        ws_py_line(y, "%s = %s._reinterpret(%s, %s, %s)", y->buffer[i], y->buffer[b->over],
                   ws_gluon_dtype(y, b->dtype), shape_of(y, b), layout);
    else
        ws_py_line(y, "%s = gl.allocate_shared_memory(%s, %s, %s)", y->buffer[i],
                   ws_gluon_dtype(y, b->dtype), shape_of(y, b), layout);
}

static void partitions(WsPy *y, const GPtrArray *roles, const WsPyPlan *plan)
{
    if (y->p->n_agents == 1) {
        const WsPyRole *r = ws_py_role_of(roles, 0);
        const char *given = ws_py_role_arguments(y, r, 0);
        ws_py_line(y, "%s%s", r->name, given);
        return;
    }
    const char *warps = "", *registers = "";
    ws_py_line(y, "gl.warp_specialize([");
    for (guint i = 0; i < plan->n; i++) {
        const WsPyRole *r = ws_py_role_of(roles, plan->agent[i]);
        const WsAgent *a = &y->p->agent[plan->agent[i]];
        const char *more = plan->warps[i] == a->warps
                               ? ""
                               : ws_py_format(y, "  # %u warps in the design", a->warps);
        const char *given = ws_py_role_arguments(y, r, plan->agent[i] - r->first);
        ws_py_line(y, "    (%s, %s),%s", r->name, given, more);
        if (!i)
            continue;
        warps = ws_py_format(y, "%s%s%u", warps, i > 1 ? ", " : "", plan->warps[i]);
        registers = ws_py_format(y, "%s%s%u", registers, i > 1 ? ", " : "", plan->request[i]);
    }
    ws_py_line(y, "], [%s], [%s])", warps, registers);
}

const char *ws_gluon_joined(WsPy *y, const GPtrArray *names)
{
    const char *s = "";
    for (guint i = 0; i < names->len; i++)
        s = ws_py_format(y, "%s%s%s", s, i ? ", " : "", (const char *)names->pdata[i]);
    return s;
}

static void kernel(WsPy *y, const GPtrArray *roles, const WsPyPlan *plan)
{
    for (guint i = 0; i < y->p->n_buffers; i++)
        buffer(y, i);
    ws_gluon_barriers(y);
    ws_py_plan_comment(y, plan);
    partitions(y, roles, plan);
}

/* The kernel behind its launcher's text: by then it is known which constants it takes. */
static void kernel_and_launcher(WsPy *y, const GPtrArray *roles, const GPtrArray *arguments,
                                const WsPyPlan *plan)
{
    GString *outer = y->out;
    y->out = g_string_new(NULL);
    y->depth = 1;
    kernel(y, roles, plan);
    g_autofree char *body = ws_py_piece(y, g_string_free(y->out, FALSE), FALSE);
    y->out = g_string_new(NULL);
    g_autofree char *launcher = ws_gluon_launcher(y, arguments, plan);
    g_string_free(y->out, TRUE);
    y->out = outer;
    y->depth = 0;
    const char *constants = ws_py_parameters(y, "%s: gl.constexpr = %v", FALSE);
    ws_py_line(y, "\n");
    ws_py_line(y, "@gluon.jit");
    ws_py_open(y, "def %s(%s%s%s)", y->kernel, ws_gluon_joined(y, arguments),
               *constants ? ", " : "", constants);
    ws_py_static_asserts(y);
    ws_py_named_guards(y);
    g_string_append(y->out, body);
    ws_py_close(y);
    ws_py_line(y, "\n");
    g_string_append(y->out, launcher);
}

/* --- everything ------------------------------------------------------------------------------- */

/* What the kernel takes: descriptors, tensors through pointers, the counter, sizes. */
static GPtrArray *arguments_of(WsPy *y, const char *text)
{
    GPtrArray *all = g_ptr_array_new();
    for (guint i = 0; i < y->boxes->len; i++)
        g_ptr_array_add(all, (gpointer)g_array_index(y->boxes, WsPyBox, i).name);
    for (guint i = 0; i < y->p->n_tensors; i++) {
        if (!text || ws_py_mentions(text, y->tensor[i]))
            g_ptr_array_add(all, (gpointer)y->tensor[i]);
    }
    if (y->p->tiles->launch == WS_LAUNCH_DYNAMIC)
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

void ws_gluon_whole(WsPy *y)
{
    g_auto(WsPyPlan) plan = { 0 };
    ws_py_boxes(y);
    ws_gluon(y)->plan = &plan;
    if (y->error || !ws_gluon(y)->kind->plan(y, &plan))
        return;
    g_autofree char *tile = ws_py_piece(y, ws_py_tile_function(y, "@gluon.jit"), TRUE);
    g_autoptr(GPtrArray) roles = all_roles(y);
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
    kernel_and_launcher(y, roles, arguments, &plan);
    ws_py_host_check(y);
    y->out = outer;
    ws_gluon(y)->kind->header(y);
    ws_gluon_helpers(y, text);
    g_autofree char *all = g_strconcat(text->str, body->str, NULL);
    ws_gluon(y)->kind->imports(y, all);
    ws_gluon_constants(y);
    ws_py_named_constants(y);
    g_autofree char *layouts = ws_py_piece(y, ws_gluon_layouts(y), TRUE);
    g_string_append(y->out, layouts);
    g_string_append(y->out, text->str);
    g_string_append(y->out, body->str);
    g_string_free(text, TRUE);
    g_string_free(body, TRUE);
}

static const WsGluonKind kind = { .header = ws_gluon_header,
                                  .imports = ws_gluon_imports,
                                  .shared_layout = shared_layout,
                                  .plan = ws_py_plan };

static char *written(const WsProgram *p, gboolean remarks, WsPyPieces *pieces,
                     const WsPyNumbers *numbers, GError **error)
{
    if (p->hardware->halves)
        return ws_gluon_amd(p, remarks, pieces, numbers, error);
    WsPy *y = ws_py_new(p, &gluon, remarks, pieces, numbers);
    WsGluon g = { .kind = &kind };
    g.gathers = g_ptr_array_new();
    g.layout = g_array_new(FALSE, FALSE, sizeof(WsGluonLayout));
    y->role = &g;
    if (!y->error)
        ws_gluon_whole(y);
    g_ptr_array_unref(g.gathers);
    g_free(g.token);
    g_array_unref(g.layout);
    return ws_py_finish(y, error);
}

char *ws_generate_gluon(const WsProgram *p, gboolean remarks, const WsPyJudge *judge,
                        GError **error)
{
    return ws_py_parametric(p, remarks, judge, written, error);
}
