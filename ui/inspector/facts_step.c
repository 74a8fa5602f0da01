#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/tensor.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "ui/inspector/facts.h"

#include "ui/parts/format.h"

#include <glib/gi18n.h>
#include <string.h>

/* What the program made of one step: its operations, each with everything that was derived. */

/* Text of an expression; takes nothing, gives "–" for none. */
static char *expr_text(const WsExpr *e)
{
    return e ? ws_expr_print(e) : g_strdup(WS_NO_FIGURE);
}

static void put(WsInspectorFacts *facts, const char *section, const char *name, char *value,
                const char *help)
{
    WsFact *f = ws_facts_add(facts, WS_FACT_DERIVED, section, name, value);
    f->help = g_strdup(help);
}

static void put_expr(WsInspectorFacts *facts, const char *section, const char *name,
                     const WsExpr *e, const char *help)
{
    if (e)
        put(facts, section, name, expr_text(e), help);
}

/* --- barrier side -------------------------------------------------------------------------------
 */

static void put_barrier(WsInspectorFacts *facts, const char *section, const WsProgram *p,
                        const WsOp *op)
{
    if (op->barrier < 0)
        return;
    const WsBarrier *b = &p->barrier[op->barrier];
    g_autofree char *element = b->is_array ? expr_text(op->element) : NULL;
    g_autofree char *name =
        element ? g_strdup_printf("%s[%s]", b->name, element) : g_strdup(b->name);
    if (b->derived)
        put(facts, section, _("barrier"), g_strdup_printf(_("%s (derived)"), name), NULL);
    else
        ws_facts_link(facts, section, _("barrier"), name, b->path);
    put_expr(facts, section, _("use"), op->use, _("which use of the ring this is"));
    put_expr(facts, section, _("slot"), op->slot, _("use modulo the slots of the barrier"));
    put_expr(facts, section, _("parity"), op->parity, _("the parity that is tested"));
    put_expr(facts, section, _("turn"), op->turn,
             ws_op_waits_phase(op->kind)
                 ? _("number of the completion it waits for; -1 passes at once")
                 : _("number of the completion it feeds"));
}

static void put_count(WsInspectorFacts *facts, const char *section, const WsOp *op)
{
    gboolean threads = ws_op_joins(op->kind) || ws_op_row(op->kind)->deed == WS_DEED_SIGNAL;
    if (op->count)
        put(facts, section, threads ? _("threads") : _("arrivals"), ws_format_int(op->count),
            threads ? _("threads that join") : _("arrivals of one execution, per target CTA"));
    if (op->per > 0)
        put(facts, section, _("lanes per arrival"), ws_format_int(op->per), NULL);
    if (op->bytes)
        put(facts, section, _("bytes"), ws_format_bytes(op->bytes),
            ws_op_expects(op->kind) ? _("bytes that the barrier waits for")
                                    : _("bytes moved per target CTA"));
    if (op->ctas.kind == WS_CTAS_ALL)
        put(facts, section, _("CTAs"), g_strdup(_("all of the cluster")), NULL);
    else if (op->ctas.kind == WS_CTAS_MASK)
        put(facts, section, _("CTAs"), g_strdup_printf(_("mask 0x%x"), op->ctas.mask), NULL);
    else if (op->ctas.kind == WS_CTAS_EXPR)
        put_expr(facts, section, _("CTA"), op->ctas.expr, NULL);
}

/* --- memory -------------------------------------------------------------------------------------
 */

static char *view_text(const char *name, const WsExpr *row0, guint rows, const WsExpr *col0,
                       guint cols)
{
    g_autofree char *r = expr_text(row0), *c = expr_text(col0);
    return g_strdup_printf("%s.rows(%s, %u).cols(%s, %u)", name, r, rows, c, cols);
}

static char *ranges_text(const WsBuffer *b, const WsAccess *a)
{
    gint64 row, col;
    if (!ws_expr_is_int(a->row0, &row) || !ws_expr_is_int(a->col0, &col))
        return g_strdup(_("depend on the round"));
    WsRange range[4];
    guint n = ws_buffer_ranges(b, (guint)row, a->rows, (guint)col, a->cols, range, 4);
    g_autoptr(GString) out = g_string_new(NULL);
    for (guint i = 0; i < MIN(n, 4); i++) {
        g_autofree char *from = ws_format_int((gint64)range[i].offset);
        g_autofree char *to = ws_format_int((gint64)(range[i].offset + range[i].bytes) - 1);
        /* Translators: first and last byte of a range */
        g_string_append_printf(out, "%s%s\xe2\x80\x93%s", i ? ", " : "", from, to);
    }
    if (n > 4)
        g_string_append_printf(out, " (%s)", _("and more"));
    return g_strdup(out->str);
}

static const char *mode_text(WsMode mode)
{
    return mode == (WS_MODE_READ | WS_MODE_WRITE) ? _("reads and writes")
           : mode == WS_MODE_WRITE                ? _("writes")
                                                  : _("reads");
}

static void put_access(WsInspectorFacts *facts, const char *section, const WsProgram *p,
                       const WsAccess *a)
{
    const WsBuffer *b = &p->buffer[a->buffer];
    g_autofree char *element = b->is_array ? expr_text(a->element) : NULL;
    g_autofree char *name =
        element ? g_strdup_printf("%s[%s]", b->name, element) : g_strdup(b->name);
    g_autofree char *view = view_text(name, a->row0, a->rows, a->col0, a->cols);
    g_autofree char *path = g_strdup_printf("buffers/%s", b->name);
    ws_facts_link(facts, section, mode_text(a->mode), view, path);
    put_expr(facts, section, _("stage"), a->stage, _("stage of the ring that is touched"));
    put(facts, section, _("bytes of the stage"), ranges_text(b, a),
        _("byte ranges inside one stage, first and last byte"));
    if (a->proxy != WS_PROXY_NONE)
        put(facts, section, _("proxy"),
            g_strdup(a->proxy == WS_PROXY_ASYNC ? _("async") : _("generic")),
            _("how it reaches shared memory"));
}

static void put_tensor(WsInspectorFacts *facts, const char *section, const WsProgram *p,
                       const WsOp *op)
{
    if (op->tensor < 0)
        return;
    g_autoptr(GString) at = g_string_new(p->tensor[op->tensor].name);
    for (guint i = 0; i < op->n_coord; i++) {
        g_autofree char *text = expr_text(op->coord[i]);
        g_string_append_printf(at, "%s%s", i ? ", " : "[", text);
    }
    g_string_append(at, op->n_coord ? "]" : "");
    put(facts, section, _("tensor"), g_strdup(at->str), _("where the box starts"));
    put_expr(facts, section, _("rows"), op->limit,
             _("rows of the tile from this one on are not written"));
    if (op->map >= 0) {
        const WsTensorMap *m = &p->map[op->map];
        g_autoptr(GString) box = g_string_new(NULL);
        for (guint i = 0; i < m->rank; i++)
            g_string_append_printf(box, "%s%u", i ? " × " : "", m->box[i]);
        put(facts, section, _("box"), g_strdup(box->str), _("elements, innermost first"));
        put(facts, section, _("swizzle"), ws_format_bytes(m->swizzle), NULL);
    }
    if (op->reduce != WS_REDUCE_NONE)
        put(facts, section, _("reduction"), g_strdup(ws_reduce_text(op->reduce)), NULL);
}

/* --- one operation ------------------------------------------------------------------------------
 */

static void put_engine(WsInspectorFacts *facts, const char *section, const WsOp *op)
{
    static const char *const breadth[] = { N_("one thread (the leader)"), N_("one warp"),
                                           N_("all threads of the group") };
    static const char *const engine[] = { NULL, N_("TMA load: ends at its barrier"),
                                          N_("cp.async: ends at its barrier or load_wait"),
                                          N_("TMA store: bulk groups, ends at store_wait"),
                                          N_("tensor core: commit groups, ends at mma_wait") };
    put(facts, section, _("run by"), g_strdup(_(breadth[op->breadth])), NULL);
    if (op->engine != WS_ENGINE_NONE)
        put(facts, section, _("engine"), g_strdup(_(engine[op->engine])),
            _("which queue completes it"));
}

static void put_mma(WsInspectorFacts *facts, const char *section, const WsMma *mma)
{
    if (!mma)
        return;
    put(facts, section, _("product"), g_strdup_printf("%u × %u × %u", mma->m, mma->n, mma->k),
        _("m × n × k of the step"));
    put(facts, section, _("types"),
        g_strdup_printf("%s × %s → %s", ws_dtype_text(mma->a_type), ws_dtype_text(mma->b_type),
                        ws_dtype_text(mma->acc_type)),
        NULL);
    guint n = mma->inst_k ? mma->atoms * (mma->k / mma->inst_k) : 0;
    put(facts, section, _("instructions"),
        g_strdup_printf("%u × m64n%uk%u", n, mma->n, mma->inst_k), NULL);
    put_expr(facts, section, _("starts at 0 if"), mma->first, NULL);
}

static void put_rest(WsInspectorFacts *facts, const char *section, const WsProgram *p,
                     const WsOp *op)
{
    if (ws_op_retires(op->kind))
        put(facts, section, _("may stay open"),
            ws_format_count(op->n, ngettext("%s newest group", "%s newest groups", (gulong)op->n)),
            NULL);
    for (guint i = 0; i < op->n_value; i++) {
        const WsValueUse *v = &op->value[i];
        const WsRegValue *value = &p->agent[op->agent].value[v->value];
        g_autofree char *text = view_text(value->name, v->row0, v->rows, v->col0, v->cols);
        put(facts, section, _("registers"), g_steal_pointer(&text), mode_text(v->mode));
    }
    put_expr(facts, section, _("value"), op->set, NULL);
    for (guint i = 0; i < op->n_math; i++)
        put(facts, section, i ? "" : _("statements"), ws_statement_print(op->math[i]), NULL);
}

static void put_op(WsInspectorFacts *facts, const WsProgram *p, const WsOp *op)
{
    const char *kind = ws_op_kind_text(op->kind);
    const char *agent = op->agent >= 0 ? p->agent[op->agent].name : _("prologue");
    g_autofree char *section = op->derived
                                   ? g_strdup_printf(_("Operation %s of %s, derived"), kind, agent)
                                   : g_strdup_printf(_("Operation %s of %s"), kind, agent);
    put_engine(facts, section, op);
    put_barrier(facts, section, p, op);
    put_count(facts, section, op);
    put_tensor(facts, section, p, op);
    for (guint i = 0; i < op->n_access; i++)
        put_access(facts, section, p, &op->access[i]);
    put_mma(facts, section, op->mma);
    put_rest(facts, section, p, op);
}

/* Agents that are copies of one group say the same: one stands for all. */
static gboolean is_first_replica(const WsProgram *p, const WsOp *op)
{
    return op->agent < 0 || p->agent[op->agent].replica == 0;
}

static void put_loop(WsInspectorFacts *facts, const WsTree *tree, const char *step)
{
    if (tree->kind == WS_TREE_LOOP && !g_strcmp0(tree->step, step)) {
        const char *section = _("Loop");
        put(facts, section, _("name"), g_strdup(tree->name), NULL);
        put_expr(facts, section, _("rounds"), tree->count, _("none if not above 0"));
        put_expr(facts, section, _("first index"), tree->from, NULL);
        put_expr(facts, section, _("index grows by"), tree->step_by, NULL);
        if (tree->unroll)
            put(facts, section, _("unrolled"),
                tree->unroll < 0 ? g_strdup(_("fully")) : ws_format_int(tree->unroll), NULL);
        return;
    }
    if (tree->kind == WS_TREE_BRANCH && !g_strcmp0(tree->step, step)) {
        put_expr(facts, _("Branch"), _("condition"), tree->cond, NULL);
        return;
    }
    for (guint i = 0; i < tree->n_kids; i++)
        if (tree->kid[i])
            put_loop(facts, tree->kid[i], step);
}

void ws_facts_of_step(WsInspectorFacts *facts, const WsProgram *p, const char *step)
{
    guint before = facts->list->len;
    for (guint i = 0; i < p->n_agents; i++)
        if (p->agent[i].replica == 0 && p->agent[i].body)
            put_loop(facts, p->agent[i].body, step);
    for (guint pass = 0; pass < 2; pass++) /* what was written first, what follows from it after */
        for (guint i = 0; i < p->n_ops; i++)
            if (!g_strcmp0(p->op[i]->step, step) && p->op[i]->derived == (pass == 1) &&
                is_first_replica(p, p->op[i]))
                put_op(facts, p, p->op[i]);
    if (facts->list->len == before)
        put(facts, _("In the program"), _("operations"), g_strdup(_("none")),
            _("muted, or nothing follows from it"));
}
