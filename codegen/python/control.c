/* Sequences, loops and branches. Loops stay whole: a cut is a hint that changes no meaning, so it
 * is written as a remark, and full unrolling is the language's static range. All threads of a
 * partition walk together, so what the leader alone does needs no guard. */
#include "codegen/python/py.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"

#include <string.h>

static void sequence(WsPy *y, const WsTree *t)
{
    for (guint i = 0; i < t->n_kids && !y->error; i++) {
        ws_py_values_before(y, t, i);
        ws_py_tree(y, t->kid[i]);
    }
}

/* --- loops ------------------------------------------------------------------------------------*/

static void remarks(WsPy *y, const WsTree *t)
{
    for (guint i = 0; i < t->n_cuts; i++) {
        g_autofree char *at = ws_expr_print(t->cut[i]);
        ws_py_line(y, "# split: %s", at);
    }
    if (t->unroll > 1)
        ws_py_line(y, "# unroll: %d", t->unroll);
}

static void body_end(WsPy *y, const WsTree *t)
{
    if (y->dialect->body_end)
        y->dialect->body_end(y, t);
}

static void round_of(WsPy *y, const WsTree *t)
{
    if (y->dialect->round && y->dialect->round(y, t))
        return;
    ws_py_tree(y, t->kid[0]);
    body_end(y, t);
    if (t->total_var >= 0)
        ws_py_line(y, "%s += 1", y->var[t->total_var].s);
}

/* Where the index ends: from + count * step. "nb - 1" rounds from 1 end at nb. */
static WsTerm end_of(WsPy *y, const WsTree *t, WsTerm from, WsTerm step, WsTerm count)
{
    gint64 a, one, back;
    gboolean plain = ws_term_known(from, &a) && ws_term_known(step, &one) && one == 1;
    const WsExpr *x = t->count;
    if (plain && x->op == WS_EXPR_SUB && ws_expr_is_int(x->arg[1], &back) && back == a)
        return ws_py_uniform(y, x->arg[0]);
    return ws_py_op(y, WS_EXPR_ADD, from, ws_py_op(y, WS_EXPR_MUL, count, step));
}

/* A loop over a pipe: its writer ends it. */
static void asked(WsPy *y, const WsTree *t)
{
    const char *name = ws_py_local(y, t->name);
    if (!y->dialect->goes_on) {
        ws_py_refuse(y, t->ask, "a loop that ends when the writer closes a pipe",
                     "give the loop a count, and drop `close`");
        return;
    }
    ws_py_line(y, "%s = 0", name);
    ws_py_begin_block(y, t);
    ws_py_open(y, "while %s", y->dialect->goes_on(y, t));
    if (t->index_var >= 0)
        y->var[t->index_var] =
            (WsTermName){ .bound = TRUE, .s = name, .in = ws_interval(0, G_MAXINT32) };
    round_of(y, t);
    ws_py_line(y, "%s += 1", name);
    if (t->index_var >= 0)
        y->var[t->index_var].bound = FALSE;
    ws_py_close(y);
    ws_py_end_block(y, t);
}

static void counted(WsPy *y, const WsTree *t)
{
    WsTerm from = t->from ? ws_py_uniform(y, t->from) : ws_py_int(y, 0);
    WsTerm step = t->step_by ? ws_py_uniform(y, t->step_by) : ws_py_int(y, 1);
    y->terms.at_least_zero = t->count;
    WsTerm count = ws_py_uniform(y, t->count);
    const char *name = ws_py_local(y, t->name);
    gint64 a, b, n;
    gboolean unit = ws_term_known(step, &b) && b == 1;
    gboolean plain = ws_term_known(from, &a) && a == 0 && unit;
    gboolean fixed = t->unroll < 0;
    if (fixed &&
        !(ws_term_known(count, &n) && ws_term_known(from, &a) && ws_term_known(step, &b))) {
        ws_py_refuse(y, NULL, "full unrolling of a loop whose count is not constant", NULL);
        return;
    }
    WsTerm end = end_of(y, t, from, step, count);
    remarks(y, t);
    const char *more = y->dialect->range_more ? y->dialect->range_more(y, t) : NULL;
    const char *range = fixed ? y->dialect->static_range : more ? "tle.range" : y->dialect->range;
    more = more ? more : "";
    ws_py_begin_block(y, t);
    if (plain && !*more)
        ws_py_open(y, "for %s in %s(%s)", name, range, count.s);
    else if (unit)
        ws_py_open(y, "for %s in %s(%s, %s%s)", name, range, from.s, end.s, more);
    else
        ws_py_open(y, "for %s in %s(%s, %s, %s%s)", name, range, from.s, end.s, step.s, more);
    WsInterval in = { MIN(from.in.lo, 0), G_MAXINT32 };
    if (step.in.lo > 0)
        in = ws_interval(from.in.lo, MAX(end.in.hi - 1, from.in.lo));
    if (t->index_var >= 0)
        y->var[t->index_var] = (WsTermName){ .bound = TRUE, .s = name, .in = in };
    round_of(y, t);
    if (t->index_var >= 0)
        y->var[t->index_var].bound = FALSE;
    ws_py_close(y);
    ws_py_end_block(y, t);
}

/* --- branches ---------------------------------------------------------------------------------*/

static void branch(WsPy *y, const WsTree *t)
{
    WsTerm cond = ws_py_truth(y, ws_py_uniform(y, t->cond));
    const WsTree *otherwise = t->n_kids > 1 ? t->kid[1] : NULL;
    gint64 known;
    if (ws_term_known(cond, &known)) {
        const WsTree *taken = known ? t->kid[0] : otherwise;
        ws_account_never(&y->account, known ? otherwise : t->kid[0]);
        if (taken)
            ws_py_tree(y, taken);
        return;
    }
    ws_py_begin_block(y, t);
    ws_py_open(y, "if %s", cond.s);
    ws_py_tree(y, t->kid[0]);
    body_end(y, t);
    ws_py_close(y);
    if (otherwise) {
        ws_py_open(y, "else");
        ws_py_tree(y, otherwise);
        body_end(y, t);
        ws_py_close(y);
    }
    ws_py_end_block(y, t);
}

/* There is a line in `text` that is more than a remark. */
static gboolean has_code(const char *text)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *code = line + strspn(line, " ");
        if (*code && *code != '#' && *code != '\n')
            return TRUE;
    }
    return FALSE;
}

static void operation(WsPy *y, const WsOp *op)
{
    const gsize before = y->out->len;
    if (op->declared) {
        ws_py_implied(y, op, "the text of a raw step");
        return;
    }
    y->op = op;
    if (op->kind == WS_OP_LET)
        ws_py_line(y, "%s = %s", y->var[op->var].s, ws_py_uniform(y, op->set).s);
    else if (op->kind == WS_OP_ADVANCE)
        ws_py_line(y, "%s += %s", y->var[op->var].s, ws_py_uniform(y, op->set).s);
    else
        y->dialect->op(y, op);
    if (has_code(y->out->str + before))
        ws_account_written(&y->account, op);
    y->op = NULL;
}

void ws_py_tree(WsPy *y, const WsTree *t)
{
    if (y->error)
        return;
    switch (t->kind) {
    case WS_TREE_SEQ:
        if (t->stage)
            ws_py_begin_block(y, t);
        sequence(y, t);
        if (t->stage)
            ws_py_end_block(y, t);
        return;
    case WS_TREE_OP:
        operation(y, t->op);
        return;
    case WS_TREE_BRANCH:
        branch(y, t);
        return;
    case WS_TREE_LOOP:
        if (t->over == WS_OVER_TILES)
            ws_py_tiles_loop(y, t);
        else if (t->ask)
            asked(y, t);
        else
            counted(y, t);
        return;
    }
}

void ws_py_round(WsPy *y, const WsTree *t)
{
    round_of(y, t);
}
