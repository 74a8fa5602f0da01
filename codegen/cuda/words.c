/* Comments: the step in the author's words, and for barriers who stands at the other end. */
#include "codegen/cuda/cuda.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/program.h"

#include <string.h>

/* Groups that wait on a barrier, or that complete it. */
static void others(WsCuda *c, GString *s, const WsOp *op, gboolean waiters)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < c->p->n_ops; i++) {
        const WsOp *o = c->p->op[i];
        gboolean wait = ws_op_waits_phase(o->kind);
        if (o->barrier != op->barrier || o->agent < 0 || wait != waiters ||
            (!wait && !ws_op_completes(o->kind)))
            continue;
        const char *group = c->p->group_name[c->p->agent[o->agent].group];
        if (g_hash_table_add(seen, (gpointer)group))
            g_string_append_printf(s, "%s%s", g_hash_table_size(seen) > 1 ? ", " : "", group);
    }
}

/* "<- full (load)": waits for what load completes; "-> empty (load)": what load waits for. */
static void edge(WsCuda *c, GString *s, const WsOp *op)
{
    gboolean wait = ws_op_waits_phase(op->kind);
    if (op->barrier < 0 || c->p->barrier[op->barrier].kind != WS_BARRIER_MBARRIER ||
        (!wait && !ws_op_arrives(op->kind)))
        return;
    g_string_append_printf(s, "  %s %s (", wait ? "<-" : "->", c->barrier[op->barrier]);
    others(c, s, op, !wait);
    g_string_append_c(s, ')');
}

/* One comment per step: its words, its edge, with remarks its path, by
 * which the studio finds the lines of a step. */
void ws_cuda_step_comment(WsCuda *c, const WsOp *op)
{
    if (!op->step || ws_op_assigns(op->kind) ||
        (c->commented && strcmp(c->commented, op->step) == 0))
        return;
    c->commented = op->step;
    GString *s = g_string_new(op->words ? op->words : ws_op_kind_text(op->kind));
    edge(c, s, op);
    if (c->remarks)
        g_string_append_printf(s, "  [%s]", op->step);
    ws_cuda_comment(c, s->str);
    g_string_free(s, TRUE);
}
