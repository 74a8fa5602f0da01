#include "import/ptx/region/region.h"

#include <string.h>

/* PTX says the slot that an arrival frees, not which use of it: the one that this group waited for
 * last, of those that have the slot. Which barrier a slot is filled by is what its loader says: it
 * waits for the one and lets its copies signal the other. */

typedef struct {
    WsRead *r;
    gint *filled;          /* barrier that frees -> barrier that fills, -1 */
    const WsExpr **waited; /* barrier -> count of the last wait in the walk of a group */
    const WsReadGroup *group;
} Uses;

/* --- pairs ------------------------------------------------------------------------------------ */

static void pair(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    Uses *q = data;
    const WsReadStep *s = g_ptr_array_index(list, at);
    if (s->kind != WS_READ_WAIT || s->barrier.object < 0)
        return;
    for (guint i = at + 1; i < list->len; i++) {
        const WsReadStep *o = g_ptr_array_index(list, i);
        if (o->off)
            continue;
        if (o->kind == WS_READ_WAIT || o->kind == WS_READ_MMA || o->kind == WS_READ_FOR)
            return;
        if ((o->kind == WS_READ_LOAD || o->kind == WS_READ_GATHER) && o->barrier.object >= 0 &&
            o->barrier.object != s->barrier.object) {
            q->filled[s->barrier.object] = o->barrier.object;
            return;
        }
    }
}

/* --- uses ------------------------------------------------------------------------------------- */

static gint64 slots_of(const Uses *q, const WsReadStep *s)
{
    return g_array_index(q->r->barriers, WsReadBarrier, s->barrier.object).copies;
}

/* The count x of a parity (x / n + c) mod 2; NULL: it is none. */
static const WsExpr *count_of(WsRead *r, const WsExpr *parity, gint64 n)
{
    WsAffine f;
    gint64 d;
    const WsExpr *x = NULL;
    if (!parity || parity->op != WS_EXPR_MOD || !ws_expr_affine(parity->arg[0], &f))
        return NULL;
    if (f.n == 1 && f.factor[0] == 1 && f.term[0]->op == WS_EXPR_DIV &&
        ws_x_is(f.term[0]->arg[1], &d) && d == n)
        x = ws_x_own(r, ws_expr_ref(f.term[0]->arg[0]));
    ws_affine_clear(&f);
    return x;
}

/* A wait for what copies fill, (x / n + 1) mod 2: the next completion, not the one before. */
static void next_completion(Uses *q, WsReadStep *s)
{
    WsRead *r = q->r;
    const gint64 n = slots_of(q, s);
    const WsExpr *x = count_of(r, s->parity, n);
    WsAffine f;
    gboolean fills = FALSE;
    for (guint i = 0; i < r->barriers->len; i++)
        fills |= q->filled[i] == s->barrier.object;
    if (!fills || !x || n < 2 || !ws_expr_affine(s->parity->arg[0], &f))
        return;
    const gboolean next = f.constant == 1;
    ws_affine_clear(&f);
    if (next)
        s->parity = ws_x_mod(
            r, ws_x_op(r, WS_EXPR_DIV, ws_x_op(r, WS_EXPR_ADD, x, ws_x_int(r, n)), ws_x_int(r, n)),
            2);
}

/* A slot says its use modulo n, and whatever factors a count had are gone modulo n, too: the use
 * that lies `*behind` behind x where both have the same slot then. NULL: they do not, or differ by
 * a number only. */
static const WsExpr *same_slot(WsRead *r, const WsExpr *u, const WsExpr *x, gint64 n,
                               gint64 *behind)
{
    WsAffine f;
    const WsExpr *left = x ? ws_x_op(r, WS_EXPR_SUB, x, u) : NULL;
    if (!left || !ws_expr_affine(left, &f))
        return NULL;
    gboolean all = f.n > 0;
    for (guint i = 0; i < f.n; i++)
        all &= f.factor[i] % n == 0;
    *behind = ((f.constant % n) + n) % n;
    ws_affine_clear(&f);
    return all ? ws_x_op(r, WS_EXPR_SUB, x, ws_x_int(r, *behind)) : NULL;
}

/* Some barrier of n slots was waited for at this use. */
static const WsExpr *waited_for(const Uses *q, const WsExpr *u, gint64 n, gboolean at_once)
{
    gint64 behind;
    for (guint i = 0; i < q->r->barriers->len; i++) {
        const WsExpr *use = g_array_index(q->r->barriers, WsReadBarrier, i).copies == n
                                ? same_slot(q->r, u, q->waited[i], n, &behind)
                                : NULL;
        if (use && (!at_once || behind == 0))
            return use;
    }
    return NULL;
}

/* What a loader expects or fills is the use that it waited for just now. */
static void filled_use(const Uses *q, WsPlace *p)
{
    gint64 base, n;
    const WsExpr *u, *use;
    if (p->in_value || p->object < 0 || !p->index || !ws_x_modulus(q->r, p->index, &base, &u, &n) ||
        base || n < 2)
        return;
    if ((use = waited_for(q, u, n, TRUE)))
        p->index = ws_x_mod(q->r, use, n);
}

static void free_slot(Uses *q, WsReadStep *s)
{
    WsRead *r = q->r;
    gint64 base, n, d;
    const WsExpr *u;
    const gint by = q->filled[s->barrier.object];
    if (by < 0 || !ws_x_modulus(r, s->barrier.index, &base, &u, &n) || base || n < 2)
        return;
    const WsExpr *waited = q->waited[by], *use;
    WsAffine f;
    if ((use = same_slot(r, u, waited, n, &d)))
        u = use;
    else if (waited && ws_x_difference(u, waited, &d)) {
        u = ws_x_op(r, WS_EXPR_ADD, u, ws_x_int(r, d >= 0 ? d / n * n : -((n - 1 - d) / n * n)));
    } else if (ws_expr_affine(u, &f)) { /* behind its loop: the last one */
        const gint64 turn = ((f.constant % n) + n) % n;
        u = ws_x_op(r, WS_EXPR_ADD, u, ws_x_int(r, (turn ? turn - n : 0) - f.constant));
        ws_affine_clear(&f);
    }
    s->barrier.index = u ? ws_x_mod(r, u, n) : s->barrier.index;
}

static gboolean same_when(const WsReadStep *a, const WsReadStep *b)
{
    return a->when == b->when || (a->when && b->when && ws_expr_equal(a->when, b->when));
}

/* Arrivals in every CTA of the cluster, one after the other, are one step. */
static void join_ranks(WsRead *r, GPtrArray *list, guint at)
{
    WsReadStep *s = g_ptr_array_index(list, at);
    guint found = 0;
    gint64 rank, d;
    for (guint i = at; i < list->len && found < (guint)r->cluster; i++) {
        const WsReadStep *o = g_ptr_array_index(list, i);
        if (o->kind != WS_READ_ARRIVE || o->off || !ws_x_is(o->cta, &rank) || rank != found ||
            o->barrier.object != s->barrier.object || !same_when(o, s) || o->n != s->n ||
            o->flag != s->flag ||
            (s->barrier.index && !(ws_x_difference(s->barrier.index, o->barrier.index, &d) && !d)))
            return;
        found++;
    }
    if (r->cluster < 2 || found != (guint)r->cluster)
        return;
    for (guint i = 1; i < found; i++)
        ((WsReadStep *)g_ptr_array_index(list, at + i))->off = TRUE;
    s->ctas = G_MAXUINT;
    s->cta = NULL;
}

/* What one group has waited for says nothing to the next. */
static void enter(Uses *q, WsReadGroup *g)
{
    if (q->group == g)
        return;
    memset(q->waited, 0, sizeof *q->waited * q->r->barriers->len);
    q->group = g;
}

static void visit(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    Uses *q = data;
    WsReadStep *s = g_ptr_array_index(list, at);
    enter(q, g);
    if (s->barrier.object < 0)
        return;
    if (s->kind == WS_READ_ARRIVE && s->cta)
        join_ranks(q->r, list, at);
    if (!s->barrier.index)
        return;
    if (s->kind == WS_READ_WAIT)
        next_completion(q, s);
    if (s->kind == WS_READ_WAIT) {
        q->waited[s->barrier.object] = count_of(q->r, s->parity, slots_of(q, s));
        filled_use(q, &s->barrier);
    } else if (s->kind == WS_READ_ARRIVE) {
        free_slot(q, s);
    } else if (s->kind == WS_READ_EXPECT || s->kind == WS_READ_LOAD) {
        filled_use(q, &s->barrier);
    }
}

/* --- stages ----------------------------------------------------------------------------------- */

/* (u mod n) as the use of the last wait that says the same slot: what it waited for is what is
 * touched now. */
static void stage_use(const Uses *q, WsPlace *p)
{
    WsRead *r = q->r;
    gint64 base, n, d;
    const WsExpr *u;
    if (p->in_value || p->object < 0 || !p->index || !ws_x_modulus(r, p->index, &base, &u, &n) ||
        base || n < 2)
        return;
    const WsExpr *use = waited_for(q, u, n, FALSE);
    if (use) {
        p->index = ws_x_mod(r, use, n);
        return;
    }
    for (guint i = 0; i < r->barriers->len; i++)
        if (q->waited[i] && g_array_index(r->barriers, WsReadBarrier, i).copies == n &&
            ws_x_difference(u, q->waited[i], &d) && d > 0 && d % n == 0) {
            p->index = ws_x_mod(r, ws_x_op(r, WS_EXPR_ADD, u, ws_x_int(r, d)), n);
            return;
        }
}

static void stage(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    Uses *q = data;
    WsReadStep *s = g_ptr_array_index(list, at);
    enter(q, g);
    if (s->kind == WS_READ_WAIT && s->barrier.object >= 0)
        q->waited[s->barrier.object] = count_of(q->r, s->parity, slots_of(q, s));
    if (s->kind == WS_READ_MMA) {
        stage_use(q, &s->a);
        stage_use(q, &s->b);
    } else if (s->kind == WS_READ_LOAD) {
        filled_use(q, &s->buffer);
    } else if (s->kind == WS_READ_READ) {
        stage_use(q, &s->buffer);
    }
}

void ptx_stages(WsRead *r)
{
    Uses q = { .r = r, .waited = g_new0(const WsExpr *, r->barriers->len + 1) };
    ptx_visit(r, stage, &q);
    g_free(q.waited);
}

/* A copy says the use that it means where its slot does, or where every round makes it: under a
 * branch it is not known which one that is, and only what the hardware does by parity is. */
static void under_branches(PtxWalk *w, const GPtrArray *list, gboolean loop, gboolean branch)
{
    gint64 known;
    if (w->p.r->by_parity)
        return;
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        const WsExpr *at = s->barrier.index;
        if (loop && branch && s->kind == WS_READ_LOAD && s->barrier.object >= 0 &&
            (!at || ws_x_is(at, &known))) {
            ptx_lose_line(w, s->line, "a copy under a branch to a slot that does not turn");
            w->p.r->parity_may_help = TRUE;
        }
        const gboolean choice = s->kind == WS_READ_IF;
        under_branches(w, s->body, loop || s->kind == WS_READ_FOR, branch || choice);
        under_branches(w, s->other, loop, branch || choice);
    }
}

void ptx_uses(PtxWalk *w)
{
    WsRead *r = w->p.r;
    for (guint g = 0; g < r->groups->len; g++)
        under_branches(w, ((WsReadGroup *)g_ptr_array_index(r->groups, g))->body, FALSE, FALSE);
    const guint n = r->barriers->len;
    Uses q = { .r = r, .filled = g_new(gint, n + 1), .waited = g_new0(const WsExpr *, n + 1) };
    for (guint i = 0; i < n; i++)
        q.filled[i] = -1;
    ptx_visit(r, pair, &q);
    ptx_visit(r, visit, &q);
    g_free(q.filled);
    g_free(q.waited);
}
