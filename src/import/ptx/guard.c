#include "import/ptx/walk.h"

/* Loops that are skipped where they would make no round: what a guard asks, what is left behind. */

/* cdiv(e, g): multiples of g stand outside of it. */
const WsExpr *ptx_rounds_of(WsRead *r, const WsExpr *e, gint64 g)
{
    WsAffine f;
    const WsExpr *whole_clusters = g % MAX(r->cluster, 1) ? NULL : ptx_clusters(r, e);
    if (whole_clusters)
        return ptx_rounds_of(r, whole_clusters, g / r->cluster);
    if (g == 1)
        return e;
    if (!e || !ws_expr_affine(e, &f))
        return e ? ws_x_call(r, WS_FUNC_CDIV, e, ws_x_int(r, g), NULL) : NULL;
    const gint64 rest = ((f.constant % g) + g) % g;
    const WsExpr *whole = ws_x_int(r, (f.constant - rest) / g), *part = ws_x_int(r, rest);
    for (guint i = 0; i < f.n; i++) {
        const gboolean out = f.factor[i] % g == 0;
        const WsExpr *t = ws_x_op(r, WS_EXPR_MUL, ws_x_own(r, ws_expr_ref(f.term[i])),
                                  ws_x_int(r, out ? f.factor[i] / g : f.factor[i]));
        if (out)
            whole = ws_x_op(r, WS_EXPR_ADD, whole, t);
        else
            part = ws_x_op(r, WS_EXPR_ADD, part, t);
    }
    ws_affine_clear(&f);
    return ws_x_op(r, WS_EXPR_ADD, whole, ws_x_call(r, WS_FUNC_CDIV, part, ws_x_int(r, g), NULL));
}

/* Does `skip` hold only where the loop would make no round? */
static gboolean skips_rounds(WsRead *r, const WsExpr *skip, const WsExpr *count)
{
    gint64 n, d;
    const WsExpr *a = ws_x_own(r, ws_expr_ref(skip->arg[0])),
                 *b = ws_x_own(r, ws_expr_ref(skip->arg[1]));
    if (!count)
        return FALSE;
    if (skip->op == WS_EXPR_LT && ws_x_is(b, &n) && n == 1)
        return ws_x_difference(a, count, &d) && d == 0;
    if (skip->op == WS_EXPR_LT)
        return ws_x_difference(ws_x_op(r, WS_EXPR_SUB, a, b), count, &d) && d == 1;
    if (skip->op == WS_EXPR_LE || skip->op == WS_EXPR_EQ)
        return ws_x_difference(ws_x_op(r, WS_EXPR_SUB, a, b), count, &d) && d == 0;
    if (skip->op == WS_EXPR_GE)
        return ws_x_difference(ws_x_op(r, WS_EXPR_SUB, b, a), count, &d) && d == 0;
    if (skip->op == WS_EXPR_GT)
        return ws_x_difference(ws_x_op(r, WS_EXPR_SUB, b, a), count, &d) && d == 1;
    return FALSE;
}

const WsExpr *ptx_steps_over(WsRead *r, const WsExpr *e, gboolean up, gint64 *n, gint64 *c)
{
    WsAffine f;
    const WsExpr *x = NULL;
    if (!ws_expr_affine(e, &f))
        return NULL;
    const WsExpr *t = f.n == 1 && f.factor[0] == 1 ? f.term[0] : NULL;
    const gboolean divides =
        t && (up ? t->op == WS_EXPR_CALL && t->func == WS_FUNC_CDIV : t->op == WS_EXPR_DIV);
    if (divides && ws_x_is(t->arg[1], n) && *n > 0)
        x = ws_x_own(r, ws_expr_ref(t->arg[0]));
    *c = f.constant;
    ws_affine_clear(&f);
    return x;
}

/* cdiv(x, n) - m rounds are none where x - m n is not above 0. NULL: it is no such count. */
static const WsExpr *in_steps(WsRead *r, const WsExpr *count)
{
    gint64 n, c;
    const WsExpr *x = ptx_steps_over(r, count, TRUE, &n, &c);
    return x ? ws_x_op(r, WS_EXPR_ADD, x, ws_x_int(r, c * n)) : NULL;
}

/* x / n - m rounds, rounded down, are none where x - (m + 1) n is below 0. NULL: it is no such
 * count. */
static const WsExpr *in_whole_steps(WsRead *r, const WsExpr *count)
{
    gint64 n, c;
    const WsExpr *x = ptx_steps_over(r, count, FALSE, &n, &c);
    return x && n < 1 << 20 && c > -(1 << 20) && c < 1 << 20
               ? ws_x_op(r, WS_EXPR_ADD, x, ws_x_int(r, (c - 1) * n + 1))
               : NULL;
}

/* The count is said in rounds or, rounded up or down, in what they step over. */
gboolean ptx_guards(const PyRead *p, const WsExpr *skip, const WsReadStep *loop)
{
    WsRead *r = p->r;
    if (!loop || loop->kind != WS_READ_FOR || !skip || skip->n_args != 2 || loop->when)
        return FALSE;
    const WsExpr *e = loop->e;
    if (!e) /* over tiles, from this CTA's number on */
        return p->tiles &&
               skips_rounds(r, skip,
                            ws_x_op(r, WS_EXPR_SUB, p->tiles,
                                    ws_x_op(r, WS_EXPR_ADD, ws_x_name(r, PY_PID),
                                            ws_x_op(r, WS_EXPR_MUL, ws_x_name(r, PY_GRID),
                                                    ws_x_int(r, loop->n)))));
    return skips_rounds(r, skip, e) || skips_rounds(r, skip, in_steps(r, e)) ||
           (skip->op != WS_EXPR_EQ && skips_rounds(r, skip, in_whole_steps(r, e)));
}

/* b = a + m count: what a loop of `count` rounds makes of a, and leaves where it makes none. */
static gboolean follows(WsRead *r, const WsExpr *a, const WsExpr *b, const WsExpr *count)
{
    WsAffine f, g;
    gint64 m = 0, d;
    const WsExpr *diff = ws_x_op(r, WS_EXPR_SUB, b, a);
    if (!diff || !ws_expr_affine(count, &f))
        return FALSE;
    if (!ws_expr_affine(diff, &g)) {
        ws_affine_clear(&f);
        return FALSE;
    }
    for (guint i = 0; i < g.n && f.n > 0; i++)
        if (ws_expr_equal(g.term[i], f.term[0]))
            m = g.factor[i] / f.factor[0];
    ws_affine_clear(&f);
    ws_affine_clear(&g);
    return m && ws_x_difference(ws_x_op(r, WS_EXPR_MUL, count, ws_x_int(r, m)), diff, &d) && d == 0;
}

static gboolean is_trial(const WsExpr *e)
{
    return e->op == WS_EXPR_NAME && g_str_has_prefix(e->name, "__v_");
}

/* What a round that is only tried begins with: an index is below its modulus, a parity 0 or 1. */
static const WsExpr *bare(WsRead *r, const WsExpr *e)
{
    WsAffine f;
    gint64 n;
    if (e->op != WS_EXPR_MOD || !ws_x_is(e->arg[1], &n) || n < 2 || !ws_expr_affine(e->arg[0], &f))
        return e;
    const WsExpr *sum = ws_x_int(r, f.constant);
    for (guint i = 0; i < f.n; i++) {
        const WsExpr *t = f.term[i];
        if (t->op == WS_EXPR_DIV && is_trial(t->arg[0]) && n == 2)
            continue;
        sum =
            ws_x_op(r, WS_EXPR_ADD, sum,
                    ws_x_op(r, WS_EXPR_MUL, ws_x_own(r, ws_expr_ref(t)), ws_x_int(r, f.factor[i])));
    }
    ws_affine_clear(&f);
    return sum && is_trial(sum) ? sum : e;
}

/* In a round that is only tried: b is what a loop of so many rounds makes of a, without one a. */
static gboolean is_kept(WsRead *r, const WsExpr *a, const WsExpr *b, const char *loop)
{
    g_autofree char *rounds = g_strconcat("__n_", loop, NULL);
    const WsExpr *none =
        ws_expr_mentions(b, rounds) ? ws_x_replace(r, b, rounds, ws_x_int(r, 0)) : NULL;
    return none && (ws_expr_equal(none, a) || (is_trial(a) && ws_expr_equal(bare(r, none), a)));
}

static gboolean only_there(gpointer key, gpointer value, gpointer other)
{
    return ((const Val *)value)->kind != VAL_TILE && !g_hash_table_contains(other, key);
}

/* A register that one of two ways does not write, and nothing before it did, is not known. */
void ptx_written_by_both(GHashTable *vars, GHashTable *other)
{
    g_hash_table_foreach_remove(vars, only_there, other);
}

/* What is left behind a loop that is skipped exactly where it makes no round: `skipped` where it
 * is. What does not follow from its rounds is a choice by c, which holds where it is. */
void ptx_merge_rounds(PtxWalk *w, GHashTable *skipped, GHashTable *looped, const WsReadStep *loop,
                      const WsExpr *c)
{
    GHashTableIter it;
    gpointer key, value;
    gint64 known;
    ptx_written_by_both(looped, skipped);
    g_hash_table_iter_init(&it, skipped);
    while (g_hash_table_iter_next(&it, &key, &value)) {
        const Val *a = value, *b = g_hash_table_lookup(looped, key);
        if (!b || a == b || b->kind == VAL_TILE)
            continue;
        const gboolean ints = a->kind == VAL_INT && b->kind == VAL_INT;
        if (ints && (ws_expr_equal(a->e, b->e) || follows(w->p.r, a->e, b->e, loop->e) ||
                     is_kept(w->p.r, a->e, b->e, loop->name)))
            continue;
        const Val *v = a->kind == VAL_TILE && py_known(b, &known) ? a
                       : ints ? ptx_value(w, ws_x_call(w->p.r, WS_FUNC_SELECT, c, a->e, b->e))
                              : py_opaque(&w->p);
        g_hash_table_insert(looped, key, (gpointer)v);
    }
}

/* not (a < b) as a comparison. */
const WsExpr *ptx_positive(WsRead *r, const WsExpr *e)
{
    if (!e || e->op != WS_EXPR_NOT || e->arg[0]->n_args != 2)
        return e;
    const WsExprOp op = e->arg[0]->op;
    const WsExprOp other = op == WS_EXPR_LT   ? WS_EXPR_GE
                           : op == WS_EXPR_LE ? WS_EXPR_GT
                           : op == WS_EXPR_GT ? WS_EXPR_LE
                           : op == WS_EXPR_GE ? WS_EXPR_LT
                           : op == WS_EXPR_EQ ? WS_EXPR_NE
                           : op == WS_EXPR_NE ? WS_EXPR_EQ
                                              : WS_EXPR_NOT;
    return other == WS_EXPR_NOT ? e
                                : ws_x_op(r, other, ws_x_own(r, ws_expr_ref(e->arg[0]->arg[0])),
                                          ws_x_own(r, ws_expr_ref(e->arg[0]->arg[1])));
}
