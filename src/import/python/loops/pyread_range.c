/* What must fit: an index its ring, a block the buffer that it is copied into. Which numbers an
 * index can be is bounded; what is not shown to lie in the ring is not read. */
#include "import/fit.h"
#include "import/python/dialect/pyread_terms.h"
#include "import/python/loops/pyread_loop.h"

#include <string.h>

#define FAR ((gint64)1 << 40) /* nothing is known of that side */

typedef struct {
    gint64 least, most;
} Range;

static const Range anything = { -FAR, FAR };

static Range range_of(const PyRead *p, const WsExpr *e);

static gint64 clamped(gint64 n)
{
    return CLAMP(n, -FAR, FAR);
}

/* What `x <= INTEGER` or `x < INTEGER` among the conditions says of a name. */
static gint64 assumed_most(const PyRead *p, const WsExpr *e)
{
    gint64 most = FAR, n;
    for (guint i = 0; i < p->r->assume->len; i++) {
        const WsExpr *says = ws_x_parsed(p->r, g_ptr_array_index(p->r->assume, i));
        if (says && (says->op == WS_EXPR_LE || says->op == WS_EXPR_LT) &&
            ws_expr_equal(says->arg[0], e) && ws_x_is(says->arg[1], &n))
            most = MIN(most, clamped(n) - (says->op == WS_EXPR_LT));
    }
    return most;
}

static Range of_name(const PyRead *p, const WsExpr *e)
{
    Range r = { -FAR, assumed_most(p, e) };
    for (guint i = 0; i < p->loops->len; i++) {
        const OpenLoop *l = &g_array_index(p->loops, OpenLoop, i);
        const gint64 rounds =
            !strcmp(l->name, e->name) && l->count ? range_of(p, l->count).most : FAR;
        if (rounds < FAR)
            r.most = MAX(rounds - 1, 0);
    }
    return r;
}

static Range of_quotient(const PyRead *p, const WsExpr *e)
{
    gint64 n;
    if (!ws_x_is(e->arg[1], &n) || n < 1)
        return anything;
    const Range a = range_of(p, e->arg[0]);
    if (e->op == WS_EXPR_DIV)
        return a.least < 0 ? anything : (Range){ a.least / n, a.most == FAR ? FAR : a.most / n };
    return a.least >= 0 && a.most < n ? a : (Range){ 0, n - 1 };
}

/* select(x == n, 0, x): x is n nowhere else, and least where it was not beyond n. */
static Range of_call(const PyRead *p, const WsExpr *e)
{
    gint64 n, by;
    if (e->func == WS_FUNC_CDIV && ws_x_is(e->arg[1], &n) && n > 0) {
        const Range x = range_of(p, e->arg[0]);
        return x.least < 0 ? anything
                           : (Range){ x.least / n + (x.least % n != 0),
                                      x.most == FAR ? FAR : x.most / n + (x.most % n != 0) };
    }
    if (e->func != WS_FUNC_SELECT)
        return anything;
    const Range a = range_of(p, e->arg[1]);
    Range b = range_of(p, e->arg[2]);
    const WsExpr *c = e->arg[0];
    if ((c->op == WS_EXPR_EQ || c->op == WS_EXPR_GE) && ws_x_is(c->arg[1], &n) &&
        ws_x_is(ws_x_op(p->r, WS_EXPR_SUB, e->arg[2], c->arg[0]), &by) && b.most == n + by)
        b.most--;
    return (Range){ MIN(a.least, b.least), MAX(a.most, b.most) };
}

static gint64 times(gint64 bound, gint64 factor)
{
    gint64 n;
    if (ABS(bound) >= FAR)
        return (bound < 0) == (factor < 0) ? FAR : -FAR;
    return __builtin_mul_overflow(bound, factor, &n) ? ((bound < 0) == (factor < 0) ? FAR : -FAR)
                                                     : clamped(n);
}

/* A side that is not known stays so. */
static gint64 plus(gint64 a, gint64 b)
{
    return ABS(a) >= FAR ? a : ABS(b) >= FAR ? b : clamped(a + b);
}

static Range of_sum(const PyRead *p, const WsExpr *e)
{
    WsAffine f;
    if (!ws_expr_affine(e, &f))
        return anything;
    Range sum = { clamped(f.constant), clamped(f.constant) };
    for (guint i = 0; i < f.n; i++) {
        const Range t = ws_expr_equal(f.term[i], e) ? anything : range_of(p, f.term[i]);
        const gint64 by = f.factor[i];
        sum.least = plus(sum.least, times(by > 0 ? t.least : t.most, by));
        sum.most = plus(sum.most, times(by > 0 ? t.most : t.least, by));
    }
    ws_affine_clear(&f);
    return sum;
}

static Range range_of(const PyRead *p, const WsExpr *e)
{
    gint64 n;
    Range r = anything;
    if (ws_x_is(e, &n))
        return (Range){ clamped(n), clamped(n) };
    if (e->op == WS_EXPR_NOT || (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_OR))
        return (Range){ 0, 1 };
    if (e->op == WS_EXPR_NAME)
        r = of_name(p, e);
    else if (e->op == WS_EXPR_DIV || e->op == WS_EXPR_MOD)
        r = of_quotient(p, e);
    else if (e->op == WS_EXPR_CALL)
        r = of_call(p, e);
    else if (e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB || e->op == WS_EXPR_NEG ||
             e->op == WS_EXPR_MUL)
        r = of_sum(p, e);
    if (r.least < 0 && py_least(p, e, &n))
        r.least = MAX(r.least, clamped(n));
    return r;
}

gboolean py_is_never_negative(const PyRead *p, const WsExpr *e)
{
    return range_of(p, e).least >= 0;
}

void py_need_within(PyRead *p, const WsExpr *e, gint64 n, const WsPyNode *at)
{
    if (p->probing || !p->in_kernel || !p->group)
        return;
    const Range r = range_of(p, e);
    if (r.least < 0 || r.most >= n)
        py_unread(p, at,
                  ws_source_format(
                      p->r, "an index that is not shown to lie in 0 to %" G_GINT64_FORMAT, n - 1));
}

/* A block of another size than what it is copied into. Blocks that the text does not show, and
 * views whose extents are not known, are taken as they come. */
static gboolean other_block(PyRead *p, const Val *block, const Val *buffer)
{
    gint64 all = 1, last = 0;
    Val to = *buffer;
    if (!block || !block->n || !block->item ||
        (block->kind != VAL_DESC && block->kind != VAL_TUPLE))
        return FALSE;
    if (!to.rows)
        py_extents(p, &to);
    for (guint i = 0; i < block->n; i++) {
        last = py_number(block->item[i], 0);
        if (last < 1)
            return FALSE;
        all *= last;
    }
    const WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, to.place.object);
    const guint lead = (b->indexed ? 1 : 0) + (b->indexed_twice ? 1 : 0);
    return b->rank - lead <= 2 && (last != to.cols || all != to.rows * to.cols);
}

void py_need_block(PyRead *p, const Val *block, const Val *buffer, const WsPyNode *at)
{
    if (!p->probing && buffer && buffer->kind == VAL_BUFFER && other_block(p, block, buffer))
        py_unread(p, at, "a copy of another shape than the buffer's");
}
