/* Remedies of roles that disagree: one side does a thing only under a condition, in a loop of its
 * own, or not at all, and the other side counts on it. */
#include "check/play/remedy.h"
#include "check/touch.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/value.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

/* --- conditions ------------------------------------------------------------------------------- */
/* Conditions that an operation stands under, as they are written; the other branch of an `if` is
 * "not (…)". */
static GPtrArray *conditions(const WsOp *op)
{
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
    for (const WsTree *t = op->tree; t && t->parent; t = t->parent) {
        if (t->parent->kind != WS_TREE_BRANCH || !t->parent->cond)
            continue;
        g_autofree char *text = ws_expr_print(t->parent->cond);
        g_ptr_array_add(list, t == t->parent->kid[0] ? g_steal_pointer(&text)
                                                     : g_strdup_printf("not (%s)", text));
    }
    return list;
}

static gboolean has_text(const GPtrArray *list, const char *text)
{
    for (guint i = 0; i < list->len; i++)
        if (strcmp(list->pdata[i], text) == 0)
            return TRUE;
    return FALSE;
}

/* The condition of `a` that `b` does not stand under; NULL if there is none. Caller frees. */
static char *beyond(const WsOp *a, const WsOp *b)
{
    g_autoptr(GPtrArray) x = conditions(a), y = conditions(b);
    for (guint i = 0; i < x->len; i++)
        if (!has_text(y, x->pdata[i]))
            return g_strdup(x->pdata[i]);
    return NULL;
}

/* Does the agent contribute to the barrier by this step alone? (An `expect` and what it expects are
 * one.) Who arrives in several places has its reasons for conditions: a first round, a last one. */
static gboolean alone(const WsPlay *play, const WsOp *feed)
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op != feed && op->agent == feed->agent && op->barrier == feed->barrier &&
            ws_is_feed(op) && op->tree->parent != feed->tree->parent)
            return FALSE;
    }
    return TRUE;
}

gboolean ws_remedy_condition(const WsPlay *play, WsFinding *f, const WsOp *wait)
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *feed = play->p->op[i];
        if (feed->agent < 0 || feed->barrier != wait->barrier || !ws_is_feed(feed) ||
            !alone(play, feed))
            continue;
        g_autofree char *only = beyond(feed, wait), *own = beyond(wait, feed);
        if (!only)
            continue;
        g_autofree char *when = own ? ws_phrase("if %s", own) : ws_phrase("always");
        ws_finding_set_remedy(f,
                              "let both come under the same condition: `%s` of %s comes only if "
                              "%s, `%s` of %s %s",
                              ws_op_name(feed), ws_op_agent(play, feed), only, ws_op_name(wait),
                              ws_op_agent(play, wait), when);
        return TRUE;
    }
    return FALSE;
}

gboolean ws_remedy_only_if(const WsPlay *play, WsFinding *f, const WsOp *feed)
{
    g_autoptr(GPtrArray) list = conditions(feed);
    g_autofree char *use = ws_use_text(feed);
    if (list->len == 0 || !use)
        return FALSE;
    ws_finding_set_remedy(
        f,
        "let `%s` of %s come for every use that is waited for: it is for %s, and comes only if %s",
        ws_op_name(feed), ws_op_agent(play, feed), use, (const char *)list->pdata[0]);
    return TRUE;
}

gboolean ws_remedy_ahead(const WsPlay *play, WsFinding *f, const WsOp *wait)
{
    g_autoptr(GPtrArray) list = conditions(wait);
    g_autofree char *use = ws_use_text(wait);
    const WsTree *loop = ws_loop_of(wait);
    if (!loop || !use)
        return FALSE;
    if (list->len)
        ws_finding_set_remedy(f,
                              "let `%s` of %s come only while another round of %s follows: it is "
                              "for %s, which nobody fills after the last one, and comes if %s",
                              ws_op_name(wait), ws_op_agent(play, wait), loop->name, use,
                              (const char *)list->pdata[0]);
    else
        ws_finding_set_remedy(f,
                              "let `%s` of %s come only while another round of %s follows: it is "
                              "for %s, which nobody fills after the last one",
                              ws_op_name(wait), ws_op_agent(play, wait), loop->name, use);
    return TRUE;
}

/* --- loops ------------------------------------------------------------------------------------ */
gboolean ws_remedy_tail(const WsPlay *play, WsFinding *f, const WsOp *wait, const WsOp *feed)
{
    const WsTree *own = ws_loop_of(wait), *theirs = feed ? ws_loop_of(feed) : NULL;
    if (!own || !theirs || !theirs->count || own->over != WS_OVER_COUNT)
        return FALSE;
    g_autofree char *rounds = ws_expr_print(theirs->count);
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        const WsTree *loop =
            op->agent == wait->agent && op->barrier == wait->barrier && ws_is_wait(op)
                ? ws_loop_of(op)
                : NULL;
        if (!loop || loop == own || !loop->count)
            continue;
        g_autofree char *n = ws_expr_print(loop->count);
        if (strcmp(n, rounds) != 0)
            continue;
        ws_finding_set_remedy(f,
                              "nobody fills what loop %s waits for: `%s` in loop %s has waited for "
                              "all %s uses that %s fills; remove the wait, or fill those uses too",
                              own->name, ws_op_name(op), loop->name, rounds,
                              ws_op_agent(play, feed));
        return TRUE;
    }
    return FALSE;
}

gboolean ws_remedy_counter(const WsPlay *play, WsFinding *f, const WsOp *op)
{
    g_autofree char *use = ws_use_text(op);
    for (guint i = 0; use && i < play->p->n_ops; i++) {
        const WsOp *move = play->p->op[i];
        const WsTree *loop = move->agent == op->agent ? ws_loop_of(move) : NULL;
        gint64 step = 1;
        if (move->var < 0 || play->p->var[move->var].kind != WS_VAR_COUNTER || !loop ||
            loop->over != WS_OVER_TILES || !loop->step_by ||
            !ws_expr_is_int(loop->step_by, &step) || step < 2)
            continue;
        const char *counter = play->p->var[move->var].name;
        const gsize n = strlen(counter);
        if (strncmp(use, counter, n) != 0 || g_ascii_isalnum(use[n]) || use[n] == '_')
            continue;
        g_autofree char *by = move->set ? ws_expr_print(move->set) : g_strdup("1");
        ws_finding_set_remedy(
            f,
            "let `advance %s` of %s pass over what the others use, too: it moves "
            "by %s in every tile, and the loop takes one tile of %" G_GINT64_FORMAT,
            counter, ws_op_agent(play, op), by, step);
        return TRUE;
    }
    return FALSE;
}

/* --- transfers that nobody waits for ---------------------------------------------------------- */
void ws_remedy_unawaited(const WsPlay *play, WsFinding *f, const WsEvent *load, const WsSlot *s)
{
    const WsBarrier *b = &play->p->barrier[s->barrier];
    const WsOp *wait = ws_first_on(play, -1, s->barrier, ws_is_wait);
    g_autofree char *slot = ws_slot_name(play, s);
    if (!wait) {
        ws_finding_set_remedy(f, "let the agent that uses the bytes wait for %s: no step does",
                              slot);
        return;
    }
    if (ws_remedy_rounds(play, f, load->op, wait))
        return;
    g_autofree char *only = beyond(wait, load->op), *own = beyond(load->op, wait);
    g_autofree char *when = own ? ws_phrase("if %s", own) : ws_phrase("always");
    if (only)
        ws_finding_set_remedy(f,
                              "let both come under the same condition: `%s` of %s comes only if "
                              "%s, `%s` of %s %s",
                              ws_op_name(wait), ws_op_agent(play, wait), only, ws_op_name(load->op),
                              ws_op_agent(play, load->op), when);
    else
        ws_finding_set_remedy(f,
                              "do not issue it in a round for which `%s` of %s does not wait, or "
                              "wait for %s once more before the end",
                              ws_op_name(wait), ws_op_agent(play, wait), b->name);
}

gboolean ws_remedy_retired_before(const WsPlay *play, WsFinding *f, const WsEvent *issued)
{
    const WsOp *op = issued->op, *wait = NULL;
    const gint queue = ws_op_queue(op->kind);
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *w = play->p->op[i];
        if (w->agent != op->agent || !ws_op_retires(w->kind) || ws_op_queue(w->kind) != queue ||
            w->tree->parent != op->tree->parent)
            continue;
        if (w->index > op->index)
            return FALSE;
        wait = w;
    }
    if (!wait)
        return FALSE;
    ws_finding_set_remedy(f, "let `%s` come after `%s`: it is before it", ws_op_name(wait),
                          ws_op_name(op));
    return TRUE;
}

/* --- copies to other CTAs --------------------------------------------------------------------- */
void ws_remedy_copied(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *copy)
{
    const WsSlot *s = copy->slot;
    const WsOp *by = NULL;
    const char *copied = ws_op_name(copy->op), *next = ws_op_name(inst->step.op);
    const WsBarrier *b = s ? &play->p->barrier[s->barrier] : NULL;
    if (!s) {
        ws_finding_set_remedy(f, "let `%s` signal a barrier, and let its receiver answer", copied);
        return;
    }
    if (copy->op == inst->step.op) {
        ws_finding_set_remedy(f, "copy into other bytes: `%s` cannot read and write the same ones",
                              copied);
        return;
    }
    if (s->rank == inst->rank) {
        ws_finding_set_remedy(f, "wait for %s before `%s`: with it the copy has read its bytes",
                              b->name, next);
        return;
    }
    const gint room = ws_room_of(play, s->barrier, inst->agent, &by);
    if (room >= 0)
        ws_finding_set_remedy(f,
                              "let CTA %u answer: an arrival on %s of CTA %u after its wait for "
                              "%s, for which this agent waits before `%s`",
                              s->rank, play->p->barrier[room].name, inst->rank, b->name, next);
    else
        ws_finding_set_remedy(f,
                              "let CTA %u answer: when it has waited for %s it arrives on a "
                              "barrier of CTA %u, for which this agent waits before `%s`",
                              s->rank, b->name, inst->rank, next);
}

/* --- values ----------------------------------------------------------------------------------- */
static gboolean assigns(const WsPlay *play, const WsOp *op, guint value)
{
    if (op->kind == WS_OP_MATH) {
        g_autoptr(GArray) read = g_array_new(FALSE, FALSE, sizeof(guint));
        g_autoptr(GArray) write = g_array_new(FALSE, FALSE, sizeof(guint));
        ws_math_values(op, FALSE, read, write);
        for (guint i = 0; i < write->len; i++)
            if (g_array_index(write, guint, i) == value)
                return TRUE;
        return FALSE;
    }
    for (guint k = 0; k < op->n_value; k++)
        if (op->value[k].value == value && op->value[k].mode & WS_MODE_WRITE)
            return TRUE;
    return FALSE;
}

static gboolean is_part(const WsAgent *a, const WsOp *op, guint value)
{
    for (guint k = 0; k < op->n_value; k++)
        if (op->value[k].value == value && op->value[k].mode & WS_MODE_WRITE)
            return op->value[k].rows * op->value[k].cols <
                   a->value[value].rows * a->value[value].cols;
    return FALSE;
}

gboolean ws_remedy_assigned(const WsPlay *play, WsFinding *f, const WsInst *inst, guint value)
{
    const WsOp *here = inst->step.op;
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent != (gint)inst->agent || !assigns(play, op, value))
            continue;
        g_autofree char *only = beyond(op, here);
        const char *name = inst->a->value[value].name;
        if (only && op->index < here->index)
            ws_finding_set_remedy(f,
                                  "assign %s on every path: `%s` does so only if %s; put an "
                                  "assignment before the `if`, or into its other branch",
                                  name, ws_op_name(op), only);
        else if (op->index > here->index)
            ws_finding_set_remedy(f, "assign %s before this step: `%s` comes after it", name,
                                  ws_op_name(op));
        else if (op->skip)
            ws_finding_set_remedy(f,
                                  "do `%s` in every case: by its `unless` a warp may leave %s "
                                  "as it is",
                                  ws_op_name(op), name);
        else if (is_part(inst->a, op, value))
            ws_finding_set_remedy(f, "define all of %s: `%s` defines a part of it alone", name,
                                  ws_op_name(op));
        else
            continue;
        return TRUE;
    }
    return FALSE;
}

/* --- tiles, arrivals, the whole CTA ----------------------------------------------------------- */
void ws_remedy_tile(const WsPlay *play, WsFinding *f, const WsEvent *w)
{
    if (w && w->op->kind != WS_OP_CLAIM)
        ws_finding_set_remedy(f,
                              "let nobody but the claim write %s: `%s` of %s does so before the "
                              "take",
                              play->p->buffer[w->buffer].name, ws_op_name(w->op),
                              ws_op_agent(play, w->op));
    else
        ws_finding_set_remedy(f, "let the slot be full and empty once in every round");
}

void ws_remedy_brought(const WsPlay *play, WsFinding *f, const WsSlot *s, gint64 arrivals)
{
    const WsBarrier *b = &play->p->barrier[s->barrier];
    if (!ws_remedy_count(play, f, b, s->element))
        ws_finding_set_remedy(
            f, "let %s count the arrivals of one use: %" G_GINT64_FORMAT " come by one step",
            b->name, arrivals);
}

gboolean ws_is_whole_cta(const WsBarrier *b)
{
    return strcmp(b->name, "cta") == 0; /* a reserved name */
}
