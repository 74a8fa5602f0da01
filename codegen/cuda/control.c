/* Sequences, loops, branches and leader guards, as control.c makes them: loops are split at their
 * cuts, so that what a peeled round knows (k == 0) folds; full unrolling becomes one loop where its
 * rounds fold, and copies where they do not. */
#include "codegen/cuda/cuda.h"
#include "program/parts/tree.h"

/* The other threads keep the old values of what code under `if (leader)` changes. */
static void left(gpointer data, gint var)
{
    ((WsCuda *)data)->var[var].stale = TRUE;
}

/* Takes `if (…) {` back if nothing was written inside. */
static void close_if(WsCuda *c, gsize before, gsize opened)
{
    c->depth--;
    if (c->out->len == opened)
        g_string_truncate(c->out, before);
    else
        ws_cuda_line(c, "}");
}

static guint leader_run(WsCuda *c, const WsTree *seq, guint i)
{
    gsize before = c->out->len;
    ws_cuda_open(c, "if (leader)");
    gsize opened = c->out->len;
    c->in_leader = TRUE;
    for (; i < seq->n_kids && ws_tree_wants_leader(seq->kid[i]) && !c->error; i++) {
        ws_cuda_tree(c, seq->kid[i]);
        ws_tree_left_behind(seq->kid[i], left, c);
    }
    c->in_leader = FALSE;
    close_if(c, before, opened);
    return i;
}

static void sequence(WsCuda *c, const WsTree *t)
{
    GArray *outer = g_steal_pointer(&c->looked_up); /* the places of other rows */
    guint drop = 0;
    for (guint i = 0; i < t->n_kids && !c->error;) {
        if (drop && i >= drop) {
            g_clear_pointer(&c->looked_up, g_array_unref);
            drop = 0;
        }
        if (!c->looked_up)
            drop = ws_cuda_gather_look_up(c, t, i);
        if (!c->in_leader && ws_tree_wants_leader(t->kid[i]))
            i = leader_run(c, t, i);
        else
            ws_cuda_tree(c, t->kid[i++]);
    }
    g_clear_pointer(&c->looked_up, g_array_unref);
    c->looked_up = outer;
}

/* --- loops ------------------------------------------------------------------------------------*/

typedef struct {
    const WsTree *tree;
    const char *name;
    WsTerm from, step;
    gboolean plain; /* index of round i is i */
} Loop;

static void body(WsCuda *c, const Loop *loop, WsTerm index)
{
    const WsTree *t = loop->tree;
    if (t->index_var >= 0)
        c->var[t->index_var] = (WsTermName){ .bound = TRUE, .s = index.s, .in = index.in };
    ws_cuda_tree(c, t->kid[0]);
    if (t->total_var >= 0)
        ws_cuda_line(c, "++%s;", c->var[t->total_var].s);
    if (t->index_var >= 0)
        c->var[t->index_var].bound = FALSE;
}

static WsTerm index_of(WsCuda *c, const Loop *loop, WsTerm round)
{
    return ws_term_op(&c->terms, WS_EXPR_ADD, loop->from,
                      ws_term_op(&c->terms, WS_EXPR_MUL, round, loop->step));
}

/* Rounds first..last-1. */
static void rolled(WsCuda *c, const Loop *loop, WsTerm first, WsTerm last)
{
    WsTerm any = ws_term_op(&c->terms, WS_EXPR_LT, first, last);
    gint64 known;
    if (ws_term_known(any, &known) && !known) {
        ws_account_never(&c->account, loop->tree);
        return;
    }
    gint64 high = last.in.hi < WS_INTERVAL_MAX ? last.in.hi - 1 : WS_INTERVAL_MAX;
    const char *round = loop->plain ? loop->name : ws_cuda_format(c, "%s_round", loop->name);
    ws_cuda_line(c, "#pragma unroll %d", (int)CLAMP(loop->tree->unroll, 1, 64));
    ws_cuda_open(c, "for (int %s = %s; %s < %s; ++%s)", round, first.s, round,
                 ws_term_in(&c->terms, last, WS_PREC_BIT), round);
    WsTerm r = ws_term(round, WS_PREC_ATOM, first.in.lo, high), index = r;
    if (!loop->plain) {
        index = index_of(c, loop, r);
        ws_cuda_line(c, "[[maybe_unused]] const int %s = %s;", loop->name, index.s);
        index = (WsTerm){ loop->name, WS_PREC_ATOM, index.in };
    }
    body(c, loop, index);
    ws_cuda_close(c);
}

#define WS_UNROLL_MOST 4096

/* The text of one round whose index is a literal. Caller frees. */
static char *round_text(WsCuda *c, const Loop *loop, gint64 round)
{
    GString *outer = c->out;
    gboolean plus_zero = c->terms.plus_zero;
    c->out = g_string_new(NULL);
    c->terms.plus_zero = TRUE;
    c->commented = NULL;
    body(c, loop, index_of(c, loop, ws_term_int(&c->terms, round)));
    char *text = g_string_free(c->out, FALSE);
    c->out = outer;
    c->terms.plus_zero = plus_zero;
    return text;
}

static void unrolled(WsCuda *c, const Loop *loop, gint64 first, gint64 last)
{
    if (last - first > WS_UNROLL_MOST) {
        ws_cuda_step_error(c, NULL, "unrolling more than 4096 rounds");
        return;
    }
    if (first >= last)
        ws_account_never(&c->account, loop->tree);
    g_auto(GStrv) round = g_new0(char *, MAX(last - first, 0) + 1);
    c->depth++;
    for (gint64 i = first; i < last && !c->error; i++)
        round[i - first] = round_text(c, loop, i);
    c->depth--;
    if (c->error)
        return;
    guint n = g_strv_length(round);
    const char *index = loop->name;
    g_autofree char *one = ws_fold_text((const char *const *)round, n, index, FALSE);
    c->commented = NULL;
    if (one) { /* literals of the text are affine in the number of the copy */
        ws_cuda_line(c, "#pragma unroll");
        ws_cuda_open(c, "for (int %s = 0; %s < %u; ++%s)", index, index, n, index);
        g_string_append(c->out, one);
        ws_cuda_close(c);
        return;
    }
    for (guint i = 0; i < n; i++) {
        ws_cuda_block(c, ws_cuda_format(c, "%s = %s", loop->name,
                                        index_of(c, loop, ws_term_int(&c->terms, first + i)).s));
        g_string_append(c->out, round[i]);
        ws_cuda_close(c);
    }
}

static void stretch(WsCuda *c, const Loop *loop, WsTerm first, WsTerm last)
{
    gint64 a, b;
    gboolean known = ws_term_known(first, &a) && ws_term_known(last, &b);
    if (known && (b - a <= 1 || loop->tree->unroll < 0)) {
        unrolled(c, loop, a, b);
        return;
    }
    if (loop->tree->unroll < 0) {
        ws_cuda_step_error(c, NULL, "full unrolling of a loop whose count is not constant");
        return;
    }
    if (ws_term_known(first, &a) && last.in.hi == a + 1) { /* a peeled round that may be missing */
        ws_cuda_open(c, "if (%s < %s)", first.s, ws_term_in(&c->terms, last, WS_PREC_BIT));
        body(c, loop, index_of(c, loop, first));
        ws_cuda_close(c);
        return;
    }
    rolled(c, loop, first, last);
}

/* Round at which the index reaches `cut`: max(low, cdiv(cut - from, step)), at most count. */
static WsTerm cut_round(WsCuda *c, const Loop *loop, WsTerm cut, WsTerm low, WsTerm count)
{
    WsTerm far = ws_term_op(&c->terms, WS_EXPR_SUB, cut, loop->from);
    gint64 one, known;
    if (!ws_term_known(loop->step, &one) || one != 1)
        far = ws_term_cdiv(&c->terms, far, loop->step);
    WsTerm r = ws_term_min(&c->terms, far, count), less = ws_term_op(&c->terms, WS_EXPR_LT, r, low);
    if (ws_term_known(less, &known))
        return known ? low : r;
    return ws_term(ws_cuda_format(c, "max(%s, %s)", r.s, low.s), WS_PREC_ATOM,
                   MAX(r.in.lo, low.in.lo), MAX(r.in.hi, low.in.hi));
}

/* An expression of some length gets a name before the loop. */
static WsTerm named(WsCuda *c, const Loop *loop, const char *what, guint number, WsTerm t)
{
    gint64 known;
    if (ws_term_known(t, &known) || t.prec == WS_PREC_ATOM)
        return t;
    const char *name = number ? ws_cuda_format(c, "%s_%s%u", loop->name, what, number)
                              : ws_cuda_format(c, "%s_%s", loop->name, what);
    ws_cuda_line(c, "const int %s = %s;", name, t.s);
    return (WsTerm){ name, WS_PREC_ATOM, t.in };
}

/* A loop over a pipe: the slot that has been waited for says whether there is another round. */
static void asked(WsCuda *c, const Loop *loop)
{
    ws_cuda_open(c, "for (int %s = 0; %s; ++%s)", loop->name, ws_cuda_goes_on(c, loop->tree->ask),
                 loop->name);
    body(c, loop, ws_term(loop->name, WS_PREC_ATOM, 0, WS_INTERVAL_MAX));
    ws_cuda_close(c);
}

static void counted(WsCuda *c, const WsTree *t)
{
    WsTerm zero = ws_term_int(&c->terms, 0);
    Loop loop = { t, ws_cuda_ident(c, t->name), t->from ? ws_cuda_uniform(c, t->from) : zero,
                  t->step_by ? ws_cuda_uniform(c, t->step_by) : ws_term_int(&c->terms, 1), FALSE };
    gint64 from, step;
    loop.plain = ws_term_known(loop.from, &from) && from == 0 && ws_term_known(loop.step, &step) &&
                 step == 1;
    if (t->ask) {
        asked(c, &loop);
        return;
    }
    WsTerm count = ws_cuda_uniform(c, t->count), low = zero;
    gint64 known;
    gboolean brace = t->n_cuts && !ws_term_known(count, &known);
    if (brace) {
        ws_cuda_block(c, "");
        count = named(c, &loop, "count", 0, count);
    }
    for (guint i = 0; i < t->n_cuts && !c->error; i++) {
        WsTerm high = cut_round(c, &loop, ws_cuda_uniform(c, t->cut[i]), low, count);
        high = named(c, &loop, "cut", i + 1, high);
        ws_cuts_enter(c->cuts, t, i);
        stretch(c, &loop, low, high);
        ws_cuts_leave(c->cuts, t, i);
        low = high;
    }
    ws_cuts_enter(c->cuts, t, t->n_cuts);
    stretch(c, &loop, low, count);
    ws_cuts_leave(c->cuts, t, t->n_cuts);
    if (brace)
        ws_cuda_close(c);
}

/* --- branches ---------------------------------------------------------------------------------*/

static void branch(WsCuda *c, const WsTree *t)
{
    WsTerm cond = ws_term_truth(&c->terms, ws_cuda_uniform(c, t->cond));
    const WsTree *otherwise = t->n_kids > 1 ? t->kid[1] : NULL;
    gint64 known;
    if (ws_term_known(cond, &known)) {
        const WsTree *taken = known ? t->kid[0] : otherwise;
        ws_account_never(&c->account, known ? otherwise : t->kid[0]);
        if (taken)
            ws_cuda_tree(c, taken);
        return;
    }
    ws_cuda_open(c, "if (%s)", cond.s);
    ws_cuda_tree(c, t->kid[0]);
    ws_cuda_close(c);
    if (otherwise) {
        ws_cuda_open(c, "else");
        ws_cuda_tree(c, otherwise);
        ws_cuda_close(c);
    }
}

void ws_cuda_tree(WsCuda *c, const WsTree *t)
{
    if (c->error)
        return;
    if (t->leader && !c->in_leader) { /* reached by other ways than a sequence */
        ws_cuda_open(c, "if (leader)");
        c->in_leader = TRUE;
        ws_cuda_tree(c, t);
        ws_tree_left_behind(t, left, c);
        c->in_leader = FALSE;
        ws_cuda_close(c);
        return;
    }
    switch (t->kind) {
    case WS_TREE_SEQ:
        sequence(c, t);
        return;
    case WS_TREE_OP:
        ws_cuda_op(c, t->op);
        return;
    case WS_TREE_BRANCH:
        branch(c, t);
        return;
    case WS_TREE_LOOP:
        if (t->over == WS_OVER_TILES)
            ws_cuda_tiles_loop(c, t);
        else
            counted(c, t);
        return;
    }
}
