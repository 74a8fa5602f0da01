/* Designs in the hint form: tle.range with num_stages, pipe_stages, pipe_orders and executors over
 * `with tle.pipeline_group(i)`. Written is the program with the groups as they are drawn; pipes,
 * waits and rounds ahead are the compiler's. What such a text cannot say is refused, and the caller
 * writes the steps that the hint means. */
#include "base/phrase.h"
#include "codegen/python/tle/tle.h"
#include "codegen/python/triton/triton.h"
#include "program/elaborate.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/staged.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* The loop that has the hint, and its group that a step stands in; NULL: none. */
static const WsStagedLoop *group_of(const WsTle *t, const char *step, guint *group)
{
    return ws_staged_loop(t->hinted, step, group);
}

static const char *step_of(const WsTree *t)
{
    if (t->kind == WS_TREE_OP)
        return t->op->step;
    if (t->step)
        return t->step;
    return t->n_kids && t->kid[0] ? step_of(t->kid[0]) : NULL;
}

/* --- loops -------------------------------------------------------------------------------------*/

static const WsStagedLoop *loop_of(const WsTle *t, const WsTree *loop)
{
    for (guint i = 0; i < t->hinted->len; i++) {
        const WsStagedLoop *s = t->hinted->pdata[i];
        if (!g_strcmp0(loop->step, s->place))
            return s;
    }
    return NULL;
}

static gint executor_of(const WsStagedLoop *s, guint group)
{
    guint n = 0;
    const char *name = s->group[group].executor;
    if (!strcmp(name, s->home))
        return 0;
    for (guint i = 0; i < s->n; i++) {
        gboolean known = !strcmp(s->group[i].executor, s->home);
        for (guint k = 0; k < i && !known; k++)
            known = !strcmp(s->group[k].executor, s->group[i].executor);
        n += !known;
        if (!strcmp(s->group[i].executor, name))
            break;
    }
    return (gint)n;
}

static const char *range_more(WsPy *y, const WsTree *loop)
{
    const WsStagedLoop *s = loop_of(y->role, loop);
    if (!s)
        return NULL;
    const char *stages = "", *orders = "", *executors = "";
    for (guint i = 0; i < s->n; i++) {
        const char *comma = i ? ", " : "";
        stages = ws_py_format(y, "%s%s%" G_GINT64_FORMAT, stages, comma, s->group[i].stage);
        orders = ws_py_format(y, "%s%s%" G_GINT64_FORMAT, orders, comma, s->group[i].order);
        executors = ws_py_format(y, "%s%s%d", executors, comma, executor_of(s, i));
    }
    return ws_py_format(
        y, ", num_stages=%" G_GINT64_FORMAT ", pipe_stages=[%s], pipe_orders=[%s], executors=[%s]",
        s->stages, stages, orders, executors);
}

/* The loop holds its groups and nothing else. */
static gboolean round_of(WsPy *y, const WsTree *loop)
{
    WsTle *t = y->role;
    if (!loop_of(t, loop))
        return FALSE;
    const WsTree *list = loop->kid[0];
    const gsize before = y->out->len;
    gint open = -1;
    for (guint i = 0; i < list->n_kids && !y->error; i++) {
        guint group;
        if (!group_of(t, step_of(list->kid[i]), &group)) {
            ws_py_refuse(y, NULL, "a step of a round outside of its groups", NULL);
            break;
        }
        if ((gint)group != open) {
            if (open >= 0)
                ws_py_close(y);
            ws_py_open(y, "with tle.pipeline_group(%u)", group);
            open = (gint)group;
        }
        ws_py_values_before(y, list, i);
        ws_py_tree(y, list->kid[i]);
    }
    if (open >= 0)
        ws_py_close(y);
    if (loop->total_var >= 0 && ws_py_mentions(y->out->str + before, y->var[loop->total_var].s))
        ws_py_refuse(y, NULL, "the number of rounds so far in a loop with stages", NULL);
    return TRUE;
}

/* --- operations --------------------------------------------------------------------------------*/

/* Read again, a tile `a` is the ring `a_stages`. */
static const char *ring_name(WsTle *t, const char *buffer)
{
    const gsize n = strlen(buffer), more = strlen("_stages");
    const char *end = n > more ? buffer + n - more : NULL;
    if (!end || strcmp(end, "_stages"))
        return ws_py_local(t->y, buffer);
    return ws_py_local(t->y, ws_py_format(t->y, "%.*s", (int)(n - more), buffer));
}

/* The ring of its loop, all of it; refused otherwise. */
static const char *ring(WsTle *t, const WsOp *op, const WsAccess *a)
{
    const WsBuffer *b = &t->y->p->buffer[a->buffer];
    const gint pipe = t->pipe_of[a->buffer];
    if (pipe < 0 || !t->staged[pipe] || b->rank != 2 || a->rows != b->rows || a->cols != b->cols) {
        ws_py_refuse(t->y, op, "a buffer that the loop does not fill, or a part of one", NULL);
        return "";
    }
    return ring_name(t, b->name);
}

static void load(WsTle *t, const WsOp *op)
{
    const WsPyBox *box = ws_py_call(t->y, op);
    if (!box)
        return;
    WsAccess all = op->access[0];
    all.rows = box->rows;
    all.cols = box->cols;
    const char *name = ring(t, op, &all);
    if (box->rank != 2)
        ws_py_refuse(t->y, op, "a tile of a tensor that has other dimensions", NULL);
    if (op->hint != WS_HINT_NONE)
        t->dropped |= WS_TLE_DROPPED_HINT;
    ws_py_line(t->y, "%s = %s.load([%s])", name, box->name, ws_py_coordinates(t->y, op));
}

static const char *operand(WsTle *t, const WsOp *op, gboolean a)
{
    if (a && op->mma->a.in_registers) {
        if (!ws_py_whole(t->y, &op->value[1]))
            ws_py_refuse(t->y, op, "a part of a value as operand", NULL);
        return t->y->value[op->value[1].value];
    }
    const WsAccess *x = &op->access[a || op->mma->a.in_registers ? 0 : 1];
    const char *name = ring(t, op, x);
    return (a ? x->transposed : !x->transposed) ? ws_py_format(t->y, "tl.trans(%s)", name) : name;
}

static void product(WsTle *t, const WsOp *op)
{
    const char *acc = t->y->value[op->value[0].value];
    gint64 known = 0;
    const gboolean fixed = !op->mma->first || ws_py_constant(t->y, op->mma->first, &known);
    if (!ws_py_whole(t->y, &op->value[0]))
        ws_py_refuse(t->y, op, "a part of a value as accumulator", NULL);
    if (!fixed && !ws_py_zeros_before(op))
        ws_py_refuse(t->y, op, "a product that begins at 0 in some rounds", NULL);
    if (op->mma->acc_type != WS_DTYPE_F32 || op->mma->a_type == WS_DTYPE_TF32)
        ws_py_refuse(t->y, op, "a product of these types", NULL);
    const char *a = operand(t, op, TRUE), *b = operand(t, op, FALSE);
    const char *first =
        fixed ? "" : ws_py_format(t->y, "  # first: %s", ws_py_uniform(t->y, op->mma->first).s);
    ws_py_line(t->y, "%s = tl.dot(%s, %s%s%s)%s", acc, a, b, fixed && known ? "" : ", ",
               fixed && known ? "" : acc, first);
}

static void staged_op(WsPy *y, const WsOp *op)
{
    WsTle *t = y->role;
    guint group;
    if (!group_of(t, op->step, &group)) {
        ws_tle_op(y, op);
        return;
    }
    if (op->transfer && ws_op_row(op->kind)->from == WS_DATA_AT_TENSOR) {
        ws_py_step_comment(y, op);
        load(t, op);
    } else if (ws_op_is_product(op->kind)) {
        ws_py_step_comment(y, op);
        product(t, op);
    } else if (op->n_math) {
        ws_py_step_comment(y, op);
        ws_py_math(y, op);
    } else if (strchr(op->id, '#')) { /* derived of the group */
        ws_py_implied(y, op, "the stages of the loop");
    } else {
        ws_py_refuse(y, op, "this step in a loop with stages", NULL);
    }
}

/* --- the file ----------------------------------------------------------------------------------*/

static const WsPyDialect dialect = {
    WS_TL_DIALECT,
    .name = "tle",
    .lens = WS_LENS_TLE,
    .range = "tl.range",
    .range_more = range_more,
    .round = round_of,
    .op = staged_op,
    .goes_on = ws_tle_goes_on,
    .role_begin = ws_tle_role_begin,
};

static void head(WsPy *y)
{
    const WsTle *t = y->role;
    ws_py_head(y,
               "TLE (FlagTree), loops with stages and pipeline groups: of its documentation, not "
               "of its compiler, which has none yet.");
    ws_py_comment(y, "Not run: TLE was not available where this was written. Rings, waits and "
                     "rounds ahead are the compiler's, also how many registers a group has.");
    if (t->dropped & WS_TLE_DROPPED_HINT)
        ws_py_comment(y, "L2 hints of loads and stores are left away: a copy takes none.");
    if (t->dropped & WS_TLE_DROPPED_PREFETCH)
        ws_py_comment(y, "Prefetches into L2 are left away.");
}

static void kernel(WsPy *y, const GPtrArray *roles)
{
    ws_tle_objects(y->role); /* its steps stand behind them */
}

/* Pipes that a group of a loop fills. */
static void mark_rings(WsTle *t)
{
    const WsProgram *p = t->y->p;
    guint group;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        const gint pipe = op->barrier >= 0 ? t->barrier[op->barrier].pipe : -1;
        if (pipe >= 0 && group_of(t, op->step, &group))
            t->staged[pipe] = TRUE;
    }
}

static gboolean has_replicas(const WsProgram *p, const WsStagedLoop *s)
{
    for (guint a = 0; a < p->n_agents; a++)
        if (p->agent[a].replicas > 1 && g_str_has_prefix(p->agent[a].path, "groups/") &&
            !strcmp(p->agent[a].path + strlen("groups/"), s->home))
            return TRUE;
    return FALSE;
}

static const char *no_form(const WsProgram *p, const WsProgram *plain, const GPtrArray *loops)
{
    for (guint i = 0; i < loops->len; i++)
        if (has_replicas(p, loops->pdata[i]))
            return WS_WORD("replicas, each with its own part of a tile: a loop with stages is one "
                           "program of all warps");
    if (!plain || plain->n_agents != 1)
        return WS_WORD("several groups with steps of their own");
    if (plain->cluster > 1)
        return WS_WORD("a cluster");
    return NULL;
}

char *ws_tle_staged(const WsProgram *p, const GPtrArray *loops, gboolean remarks,
                    WsPyPieces *pieces, const WsPyNumbers *numbers, GError **error)
{
    WsProgram *plain = ws_program_in_order(p);
    const char *why = no_form(p, plain, loops);
    if (why) {
        ws_generate_refuse(error, "tle", NULL, NULL, why, NULL);
        g_clear_pointer(&plain, ws_program_unref);
        return NULL;
    }
    WsPy *y = ws_py_new(plain, &dialect, remarks, pieces, numbers);
    char *text = NULL;
    if (!y->error) {
        WsTle t;
        ws_tle_plan(&t, y);
        t.hinted = loops;
        t.staged = g_new0(gboolean, t.pipe->len + 1);
        y->role = &t;
        mark_rings(&t);
        ws_tle_judge(&t);
        g_autoptr(GArray) param = ws_tle_parameters(&t);
        if (!y->error)
            ws_tl_file(y, &(WsTlFile){ .import = "triton.experimental.tle.language as tle",
                                       .param = param,
                                       .warps = plain->agent[0].warps,
                                       .options = "",
                                       .inlined = TRUE,
                                       .head = head,
                                       .kernel = kernel });
        ws_tle_clear(&t);
    }
    text = ws_py_finish(y, error);
    ws_program_unref(plain);
    return text;
}
