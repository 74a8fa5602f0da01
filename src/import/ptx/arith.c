#include "import/ptx/walk.h"

#include <string.h>

/* Integer instructions on symbolic values. Integers count as what they stand for: indices and sizes
 * that are not negative and do not overflow; the sign correction of a division by shifts is 0. */

/* --- powers of two ---------------------------------------------------------------------------- */

gboolean ptx_divides(const WsExpr *e, gint64 n)
{
    WsAffine f;
    if (!ws_expr_affine(e, &f))
        return FALSE;
    gboolean all = f.constant % n == 0;
    for (guint i = 0; i < f.n && all; i++)
        all = f.factor[i] % n == 0 ||
              (f.term[i]->op == WS_EXPR_NAME && !strcmp(f.term[i]->name, PTX_SMEM) && n <= 1024 &&
               f.factor[i] == 1);
    ws_affine_clear(&f);
    return all;
}

/* e mod n: multiples of n are gone, what stood in remainders is free. */
static const WsExpr *bare_mod(WsRead *r, const WsExpr *e, gint64 n)
{
    for (guint pass = 0; e && pass < 3; pass++) {
        WsAffine f;
        gint64 m;
        if (!ws_expr_affine(e, &f))
            return NULL;
        const WsExpr *sum = ws_x_int(r, f.constant);
        for (guint i = 0; i < f.n; i++) {
            const WsExpr *t = f.term[i];
            if (f.factor[i] % n == 0)
                continue;
            if (t->op == WS_EXPR_MOD && ws_x_is(t->arg[1], &m) && m > 0 && m % n == 0)
                t = t->arg[0];
            sum = ws_x_op(
                r, WS_EXPR_ADD, sum,
                ws_x_op(r, WS_EXPR_MUL, ws_x_own(r, ws_expr_ref(t)), ws_x_int(r, f.factor[i])));
        }
        ws_affine_clear(&f);
        e = sum;
    }
    return ws_x_op(r, WS_EXPR_MOD, e, ws_x_int(r, n));
}

/* (g x) mod (g n) is g (x mod n). */
static const WsExpr *factored(WsRead *r, const WsExpr *m)
{
    WsAffine f;
    gint64 n;
    if (!m || m->op != WS_EXPR_MOD || !ws_x_is(m->arg[1], &n) || !ws_expr_affine(m->arg[0], &f))
        return m;
    gint64 g = n;
    for (gint64 one = 0; g > 1 && one <= f.n; one++)
        while (g > 1 && (one < f.n ? f.factor[one] : f.constant) % g)
            g /= 2;
    const WsExpr *x = ws_x_int(r, f.constant / g);
    for (guint i = 0; i < f.n; i++)
        x = ws_x_op(r, WS_EXPR_ADD, x,
                    ws_x_op(r, WS_EXPR_MUL, ws_x_own(r, ws_expr_ref(f.term[i])),
                            ws_x_int(r, f.factor[i] / g)));
    ws_affine_clear(&f);
    return g > 1 && n % g == 0 ? ws_x_op(r, WS_EXPR_MUL, ws_x_mod(r, x, n / g), ws_x_int(r, g)) : m;
}

/* Addresses are below 2^18: are these, or what they were divided to, below n? */
static gboolean inside(const WsExpr *e, gint64 n)
{
    WsAffine f;
    gint64 d;
    if (n >= 1 << 18)
        return TRUE;
    if (!ws_expr_affine(e, &f))
        return FALSE;
    gboolean all = TRUE;
    for (guint i = 0; i < f.n && all; i++)
        if (ws_expr_mentions(f.term[i], PTX_SMEM))
            all = f.term[i]->op == WS_EXPR_DIV && ws_x_is(f.term[i]->arg[1], &d) && d > 0 &&
                  f.factor[i] == 1 && d <= 1024 && n * d >= 1 << 18;
    ws_affine_clear(&f);
    return all;
}

/* The same of an address that shared memory's alignment says the lowest bits of. */
static const WsExpr *low_address(WsRead *r, const WsExpr *e, gint64 n)
{
    gint64 factor, d;
    if (ptx_divides(e, n) || (e->op == WS_EXPR_DIV && ws_x_is(e->arg[1], &d) && d > 0 &&
                              d <= 1024 && ptx_divides(e->arg[0], n * d)))
        return ws_x_int(r, 0);
    e = ws_x_without(r, e, PTX_SMEM, FALSE, &factor);
    if (factor != 1)
        return NULL;
    ws_source_granted(r, PTX_ALIGNED);
    return factored(r, bare_mod(r, e, n));
}

/* e mod 2^n; shared addresses are below 2^18 and begin at a multiple of 1024. */
static const WsExpr *low(WsRead *r, const WsExpr *e, gint64 n)
{
    if (!e)
        return NULL;
    const gboolean address = ws_expr_mentions(e, PTX_SMEM);
    gint64 known;
    if (address && !inside(e, n))
        return n > 1024 ? NULL : low_address(r, e, n);
    if (address)
        return e;
    if (n >= 1 << 28 && !ws_x_is(e, &known)) {
        ws_source_granted(r, PTX_BELOW);
        return e;
    }
    if (ptx_divides(e, n))
        return ws_x_int(r, 0);
    return factored(r, bare_mod(r, e, n));
}

/* n floor(e / n); of a size rounded up and divided before as designs say it. */
static const WsExpr *high(WsRead *r, const WsExpr *e, gint64 n)
{
    gint64 d;
    if (e && e->op == WS_EXPR_DIV && ws_x_is(e->arg[1], &d) && d > 0 && d < 1 << 20 &&
        n < 1 << 20) {
        const WsExpr *whole = ptx_quotient(r, ws_x_own(r, ws_expr_ref(e->arg[0])), d * n);
        if (whole && whole->op == WS_EXPR_CALL)
            return ws_x_op(r, WS_EXPR_MUL, whole, ws_x_int(r, n));
    }
    const WsExpr *below = low(r, e, n);
    return below ? ws_x_op(r, WS_EXPR_SUB, e, below) : NULL;
}

/* Bits lo … hi of e, in place. */
static const WsExpr *and_mask(WsRead *r, const WsExpr *e, gint64 mask)
{
    guint lo = 0, hi;
    if (mask == 0)
        return ws_x_int(r, 0);
    while (!(mask >> lo & 1))
        lo++;
    for (hi = lo; hi < 63 && mask >> hi & 1; hi++)
        ;
    if (mask < 0 && mask == -((gint64)1 << lo))
        return high(r, e, (gint64)1 << lo);
    if (mask < 0 || hi >= 62 || mask >> hi)
        return NULL;
    const WsExpr *below = low(r, e, (gint64)1 << hi);
    return lo ? high(r, below, (gint64)1 << lo) : below;
}

/* e with the bits of `mask` flipped; NULL: they are not known. */
static const WsExpr *flip(WsRead *r, const WsExpr *e, gint64 mask)
{
    const WsExpr *sum = e;
    if (mask >= (gint64)1 << 30)
        return NULL;
    for (gint64 bit = 1; bit <= mask; bit *= 2) {
        gint64 above, below;
        if (!(mask & bit))
            continue;
        if (!ws_x_is(low(r, e, 2 * bit), &above) || !ws_x_is(low(r, e, bit), &below))
            return NULL;
        sum = ws_x_op(r, WS_EXPR_ADD, sum, ws_x_int(r, above == below ? bit : -bit));
    }
    return sum;
}

const WsExpr *ptx_ring_form(WsRead *r, const WsExpr *e)
{
    for (guint pass = 0; pass < 4; pass++) {
        WsAffine f;
        if (!e || !ws_expr_affine(e, &f))
            return e;
        const WsExpr *sum = ws_x_int(r, f.constant);
        gboolean changed = FALSE;
        for (guint i = 0; i < f.n; i++) {
            const WsExpr *t = ws_x_own(r, ws_expr_ref(f.term[i]));
            gint64 n;
            if (t->op == WS_EXPR_DIV && ws_x_is(t->arg[1], &n) && n > 1 && f.factor[i] % n == 0) {
                const WsExpr *x = ws_x_own(r, ws_expr_ref(t->arg[0]));
                t = ws_x_op(r, WS_EXPR_SUB, x, ws_x_mod(r, x, n));
                t = ws_x_op(r, WS_EXPR_MUL, t, ws_x_int(r, f.factor[i] / n));
                changed = TRUE;
            } else {
                t = ws_x_op(r, WS_EXPR_MUL, t, ws_x_int(r, f.factor[i]));
            }
            sum = ws_x_op(r, WS_EXPR_ADD, sum, t);
        }
        ws_affine_clear(&f);
        e = sum;
        if (!changed)
            break;
    }
    return e;
}

/* --- instructions ----------------------------------------------------------------------------- */

/* A number as a register of the instruction's type holds it. */
static const WsExpr *as_held(PtxWalk *w, const WsPtxInst *i, guint k)
{
    return ptx_held(w, strrchr(i->op, '.'), ptx_int(w, i->arg[k]));
}

/* A number as an instruction of its type takes it. */
static const WsExpr *as_typed(PtxWalk *w, const WsPtxInst *i, guint k)
{
    return strstr(i->op, ".eq.") || strstr(i->op, ".ne.")
               ? as_held(w, i, k)
               : ptx_typed(w, strrchr(i->op, '.'), ptx_int(w, i->arg[k]));
}

/* floor(a / 2^n) */
static const WsExpr *high_bits(PtxWalk *w, const WsExpr *a, gint64 n)
{
    const WsExpr *x = ptx_by_product(w, a, n), *turned = x ? NULL : ptx_by_product_turned(w, a, n);
    return x        ? x
           : turned ? ws_x_op(w->p.r, WS_EXPR_SUB, ws_x_int(w->p.r, -1), turned)
                    : ptx_quotient(w->p.r, a, (gint64)1 << n);
}

static const WsExpr *shift(PtxWalk *w, const WsPtxInst *i, gboolean left)
{
    WsRead *r = w->p.r;
    const WsExpr *a = left ? as_held(w, i, 1) : as_typed(w, i, 1);
    const WsExpr *b = ptx_int(w, i->arg[2]);
    gint64 n, known;
    const gboolean half = strstr(i->op, "64") == NULL; /* of 32 bits */
    if (!a || !ws_x_is(b, &n) || n < 0 || n > 62)
        return NULL;
    if (left && n > (half ? 31 : 32)) /* shifts clamp */
        return half ? ws_x_int(r, 0) : NULL;
    if (left)
        return ws_x_op(r, WS_EXPR_MUL, a, ws_x_int(r, (gint64)1 << n));
    if (half && n >= 31 && !ws_x_is(a, &known)) /* the sign */
        return ptx_not_negative(w, a) ? ws_x_int(r, 0) : NULL;
    return high_bits(w, a, n);
}

static gboolean is_bit(const WsExpr *e)
{
    gint64 n;
    return (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_OR) || e->op == WS_EXPR_NOT ||
           (e->op == WS_EXPR_MOD && ws_x_is(e->arg[1], &n) && n == 2) ||
           (ws_x_is(e, &n) && (n == 0 || n == 1));
}

/* What a round that is only tried begins with: where it flips it begins as 0 or 1. */
static gboolean is_trial(const WsExpr *e)
{
    return e->op == WS_EXPR_NAME && g_str_has_prefix(e->name, "__v_");
}

static gboolean is_choice(const WsExpr *e, gint64 a, gint64 b)
{
    gint64 x, y;
    return e && e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT && ws_x_is(e->arg[1], &x) &&
           ws_x_is(e->arg[2], &y) && x == a && y == b;
}

/* Bits that e may have where it is f (x % n), both powers of two; 0: it is not that. */
static gint64 bits_of(const WsExpr *e)
{
    WsAffine f;
    gint64 n, bits = 0;
    if (!ws_expr_affine(e, &f))
        return 0;
    if (f.n == 1 && !f.constant && f.factor[0] > 0 && f.factor[0] < 1 << 16 &&
        !(f.factor[0] & (f.factor[0] - 1)) && f.term[0]->op == WS_EXPR_MOD &&
        ws_x_is(f.term[0]->arg[1], &n) && n > 1 && n < 1 << 10 && !(n & (n - 1)))
        bits = f.factor[0] * (n - 1);
    ws_affine_clear(&f);
    return bits;
}

static gboolean lacks(WsRead *r, const WsExpr *e, gint64 bits)
{
    gint64 n, above = 1;
    while (above <= bits)
        above <<= 1;
    return bits && ws_x_is(low(r, e, above), &n) && !(n & bits);
}

/* Exclusive or of numbers of which one says no bit that the other one leaves open: of bits that are
 * 0 or 1 in the other one; and of the one bit that turns. NULL: it is not that. */
static const WsExpr *either(WsRead *r, const WsExpr *a, const WsExpr *b)
{
    const gint64 bits = bits_of(b);
    gint64 n, two, above = 1;
    while (bits && above <= bits)
        above <<= 1;
    if (bits && ws_x_is(low(r, a, above), &n) && (n & bits) == 0)
        return ws_x_op(r, WS_EXPR_ADD, a, b);
    if (bits && ws_x_is(low(r, a, above), &n) && (n & bits) == bits)
        return ws_x_op(r, WS_EXPR_SUB, a, b);
    WsAffine f;
    const WsExpr *turned = NULL;
    if (!ws_x_is(b, &n) || n < 1 || n >= 1 << 16 || n & (n - 1) || !ws_expr_affine(a, &f))
        return NULL;
    for (guint i = 0; i < f.n && !turned; i++) {
        const WsExpr *t = ws_x_own(r, ws_expr_ref(f.term[i]));
        if (t->op != WS_EXPR_MOD || !ws_x_is(t->arg[1], &two) || two != 2 || f.factor[i] != n)
            continue;
        const WsExpr *rest = ws_x_op(r, WS_EXPR_SUB, a, ws_x_op(r, WS_EXPR_MUL, t, b));
        const WsExpr *next =
            ws_x_op(r, WS_EXPR_ADD, ws_x_own(r, ws_expr_ref(t->arg[0])), ws_x_int(r, 1));
        if (lacks(r, rest, n))
            turned =
                ws_x_op(r, WS_EXPR_ADD, rest, ws_x_op(r, WS_EXPR_MUL, ws_x_mod(r, next, 2), b));
    }
    ws_affine_clear(&f);
    return turned;
}

static const WsExpr *logic(PtxWalk *w, const WsPtxInst *i, const char *base)
{
    WsRead *r = w->p.r;
    const gboolean predicate = strstr(i->op, ".pred") != NULL;
    const WsExpr *a = as_held(w, i, 1), *b = as_held(w, i, 2);
    gint64 n, m;
    if (ws_x_is(a, &n) && !ws_x_is(b, &m)) {
        const WsExpr *swap = a;
        a = b;
        b = swap;
    }
    const gboolean known = ws_x_is(b, &n);
    if (predicate) {
        if (known && !strcmp(base, "and"))
            return n ? a : ws_x_int(r, 0);
        if (known && !strcmp(base, "or"))
            return n ? ws_x_int(r, 1) : a;
        return ws_x_op(r,
                       !strcmp(base, "and")  ? WS_EXPR_AND
                       : !strcmp(base, "or") ? WS_EXPR_OR
                                             : WS_EXPR_NE,
                       a, b);
    }
    if (known && ws_x_is(a, &m))
        return ws_x_int(r, !strcmp(base, "and")  ? (n & m)
                           : !strcmp(base, "or") ? (n | m)
                                                 : (n ^ m));
    if (!a || !b)
        return NULL;
    if (!strcmp(base, "and"))
        return known && n >= 1 << 28 && !ptx_not_negative(w, a) ? NULL
               : known                                          ? and_mask(r, a, n)
               : is_bit(a) && is_bit(b)                         ? ws_x_op(r, WS_EXPR_AND, a, b)
                                                                : NULL;
    if (!strcmp(base, "xor")) {
        if (known && n == 0)
            return a;
        if (known && n == -1)
            return ws_x_op(r, WS_EXPR_SUB, ws_x_int(r, -1), a);
        if (known && n == 1 && is_bit(a))
            return ws_x_mod(r, ws_x_op(r, WS_EXPR_ADD, a, b), 2);
        if (known && n == 1)
            return flip(r, a, n) || !is_trial(a) ? flip(r, a, n)
                                                 : ws_x_mod(r, ws_x_op(r, WS_EXPR_ADD, a, b), 2);
        const WsExpr *next = is_choice(b, 1, 0) ? ptx_next_parity(r, b->arg[0], a) : NULL;
        if (next)
            return next;
        if (is_choice(b, 1, 0) &&
            (is_bit(a) || py_is_parity(a) || is_trial(a))) /* flips where a condition holds */
            return ws_x_call(r, WS_FUNC_SELECT, ws_x_own(r, ws_expr_ref(b->arg[0])),
                             ws_x_mod(r, ws_x_op(r, WS_EXPR_ADD, a, ws_x_int(r, 1)), 2), a);
        const WsExpr *flipped = known && n > 1 ? flip(r, a, n) : NULL;
        flipped = flipped ? flipped : either(r, a, b);
        return flipped ? flipped : either(r, b, a);
    }
    if (known && n >= 0) { /* or: disjoint bits; a descriptor's address has 14 */
        const gint64 bits = n > (gint64)1 << 40 ? n & ((1 << 14) - 1) : n;
        gint64 above = 1;
        while (above <= bits)
            above <<= 1;
        const gboolean apart =
            ptx_divides(a, above) || (ws_x_is(low(r, a, above), &m) && !(m & bits));
        return apart ? ws_x_op(r, WS_EXPR_ADD, a, b) : NULL;
    }
    if (!known && !strcmp(base, "or") && (lacks(r, a, bits_of(b)) || lacks(r, b, bits_of(a))))
        return ws_x_op(r, WS_EXPR_ADD, a, b);
    return NULL;
}

static const WsExpr *compare(PtxWalk *w, const WsPtxInst *i)
{
    static const struct {
        const char *text;
        WsExprOp op;
    } table[] = { { ".lt.", WS_EXPR_LT },  { ".le.", WS_EXPR_LE }, { ".gt.", WS_EXPR_GT },
                  { ".ge.", WS_EXPR_GE },  { ".eq.", WS_EXPR_EQ }, { ".ne.", WS_EXPR_NE },
                  { ".ltu.", WS_EXPR_LT }, { ".lo.", WS_EXPR_LT }, { ".hs.", WS_EXPR_GE } };
    const WsExpr *a = as_typed(w, i, 1), *b = as_typed(w, i, 2);
    gint64 zero;
    if (a && b && (ws_expr_mentions(a, PTX_SMEM) || ws_expr_mentions(b, PTX_SMEM))) {
        a = ws_x_op(w->p.r, WS_EXPR_SUB, a, b); /* where shared memory begins nobody knows */
        b = ws_x_int(w->p.r, 0);
        if (!a || ws_expr_mentions(a, PTX_SMEM))
            return NULL;
    }
    if (is_choice(a, 1, 0) && ws_x_is(b, &zero) && zero == 0) {
        const WsExpr *c = ws_x_own(w->p.r, ws_expr_ref(a->arg[0]));
        return strstr(i->op, ".ne.")   ? c
               : strstr(i->op, ".eq.") ? ws_x_op(w->p.r, WS_EXPR_NOT, c, NULL)
                                       : NULL;
    }
    for (guint k = 0; k < G_N_ELEMENTS(table); k++)
        if (strstr(i->op, table[k].text)) {
            const WsExpr *alike = ptx_cluster_compare(w->p.r, table[k].op, a, b);
            alike = alike ? alike : ptx_chosen(w, table[k].op, a, b);
            return alike ? alike : ws_x_op(w->p.r, table[k].op, a, b);
        }
    return NULL;
}

static const WsExpr *select_(PtxWalk *w, const WsPtxInst *i)
{
    const WsExpr *c = i->n > 3 ? ptx_int(w, i->arg[3]) : NULL;
    gint64 known;
    if (ws_x_is(c, &known))
        return as_held(w, i, known ? 1 : 2);
    if (ptx_of_claim(c))
        return NULL;
    const WsExpr *a = as_held(w, i, 1), *b = as_held(w, i, 2),
                 *next = ptx_next_turn(w->p.r, c, a, b);
    return next ? next : ws_x_call(w->p.r, WS_FUNC_SELECT, c, a, b);
}

static const WsExpr *field(PtxWalk *w, const WsPtxInst *i)
{
    gint64 at, n;
    const WsExpr *a = as_typed(w, i, 1);
    if (i->n < 4 || !a || !ws_x_is(ptx_int(w, i->arg[2]), &at) ||
        !ws_x_is(ptx_int(w, i->arg[3]), &n) || at < 0 || n < 1 ||
        at + n > (strstr(i->op, "64") ? 60 : 32))
        return NULL;
    const WsExpr *x = ptx_by_product(w, a, at),
                 *turned = x ? NULL : ptx_by_product_turned(w, a, at);
    if (turned && n == 1)
        return ws_x_mod(w->p.r, ws_x_op(w->p.r, WS_EXPR_ADD, turned, ws_x_int(w->p.r, 1)), 2);
    x = x ? x : ws_x_op(w->p.r, WS_EXPR_DIV, a, ws_x_int(w->p.r, (gint64)1 << at));
    return ws_expr_mentions(a, PTX_SMEM) && at + n >= 18 ? x : ws_x_mod(w->p.r, x, (gint64)1 << n);
}

static const WsExpr *two(PtxWalk *w, const WsPtxInst *i, WsExprOp op)
{
    return ws_x_op(w->p.r, op, as_typed(w, i, 1), as_typed(w, i, 2));
}

static const WsExpr *three(PtxWalk *w, const WsPtxInst *i) /* what is added may be wider */
{
    return i->n > 3 ? ws_x_op(w->p.r, WS_EXPR_ADD, two(w, i, WS_EXPR_MUL),
                              strstr(i->op, ".wide") ? ptx_int(w, i->arg[3]) : as_held(w, i, 3))
                    : NULL;
}

/* mul.hi by a number: how compilers divide. */
static const WsExpr *high_product(PtxWalk *w, const WsPtxInst *i)
{
    WsRead *r = w->p.r;
    gint64 n;
    if (!strstr(i->op, "32") || !ws_x_is(as_typed(w, i, 2), &n))
        return NULL;
    const WsExpr *whole = two(w, i, WS_EXPR_MUL), *x = whole ? ptx_by_product(w, whole, 32) : NULL;
    return x ? x : ws_x_op(r, WS_EXPR_DIV, whole, ws_x_int(r, (gint64)1 << 32));
}

/* A number where it is one on the way that the walk goes; all roles say anything else alike. */
static const WsExpr *extreme(PtxWalk *w, const WsExpr *a, const WsExpr *b, gboolean least)
{
    WsRead *r = w->p.r;
    gint64 n;
    if (!a || !b)
        return NULL;
    if (ws_x_is(b, &n) &&
        ptx_not_negative(w, least ? ws_x_op(r, WS_EXPR_SUB, a, b) : ws_x_op(r, WS_EXPR_SUB, b, a)))
        return b;
    if (ws_x_is(a, &n) &&
        ptx_not_negative(w, least ? ws_x_op(r, WS_EXPR_SUB, b, a) : ws_x_op(r, WS_EXPR_SUB, a, b)))
        return a;
    return ws_x_call(r, least ? WS_FUNC_MIN : WS_FUNC_MAX, a, b, NULL);
}

static const WsExpr *compute(PtxWalk *w, const WsPtxInst *i, const char *base)
{
    WsRead *r = w->p.r;
    gint64 n;
    if (!strcmp(base, "not"))
        return strstr(i->op, ".pred") ? ws_x_op(r, WS_EXPR_NOT, ptx_int(w, i->arg[1]), NULL)
                                      : ws_x_op(r, WS_EXPR_SUB, ws_x_int(r, -1), as_held(w, i, 1));
    if (!strcmp(base, "neg"))
        return ws_x_op(r, WS_EXPR_NEG, as_held(w, i, 1), NULL);
    if (i->n < 3)
        return NULL;
    if (!strcmp(base, "add"))
        return two(w, i, WS_EXPR_ADD);
    if (!strcmp(base, "sub"))
        return two(w, i, WS_EXPR_SUB);
    if (!strcmp(base, "mul") && strstr(i->op, ".hi"))
        return high_product(w, i);
    if (!strcmp(base, "mul"))
        return two(w, i, WS_EXPR_MUL);
    if (!strcmp(base, "mad"))
        return strstr(i->op, ".hi") ? NULL : three(w, i);
    if (!strcmp(base, "div"))
        return ws_x_is(as_typed(w, i, 2), &n) && n > 0 ? ptx_quotient(r, as_typed(w, i, 1), n)
                                                       : two(w, i, WS_EXPR_DIV);
    if (!strcmp(base, "rem"))
        return two(w, i, WS_EXPR_MOD);
    if (!strcmp(base, "min") || !strcmp(base, "max"))
        return extreme(w, as_typed(w, i, 1), as_typed(w, i, 2), base[1] == 'i');
    if (!strcmp(base, "shl") || !strcmp(base, "shr"))
        return shift(w, i, base[2] == 'l');
    if (!strcmp(base, "and") || !strcmp(base, "or") || !strcmp(base, "xor"))
        return logic(w, i, base);
    if (!strcmp(base, "setp"))
        return compare(w, i);
    if (!strcmp(base, "selp"))
        return select_(w, i);
    if (!strcmp(base, "bfe"))
        return field(w, i);
    return NULL;
}

static void result(PtxWalk *w, const WsPtxInst *i, const Val *v)
{
    gint64 known;
    const WsExpr *guard = ptx_predicate(w, i);
    if (i->guard && !(ws_x_is(guard, &known) && known)) {
        const Val *old = ptx_operand(w, i->arg[0]);
        v = guard && old->kind == VAL_INT && v->kind == VAL_INT
                ? ptx_value(w, ws_x_call(w->p.r, WS_FUNC_SELECT, guard, v->e, old->e))
                : py_opaque(&w->p);
    }
    ptx_set(w, i->arg[0], v);
}

gboolean ptx_arithmetic(PtxWalk *w, const WsPtxInst *i)
{
    static const char *const bases[] = { "add", "sub", "mul", "mad",  "div",  "rem",
                                         "min", "max", "shl", "shr",  "and",  "or",
                                         "xor", "not", "neg", "setp", "selp", "bfe" };
    g_autofree char *base = g_strndup(i->op, strcspn(i->op, "."));
    if (i->n < 2)
        return FALSE;
    if (!strcmp(base, "mov") || !strcmp(base, "cvta") || !strcmp(base, "cvt")) {
        if (ptx_unpacked(w, i))
            return TRUE;
        const WsExpr *whole = ptx_packed(w, i);
        const gboolean sums = g_hash_table_contains(w->matrix, i->arg[0]) &&
                              g_hash_table_contains(w->matrix, i->arg[1]);
        const Val *own = sums ? g_hash_table_lookup(w->p.frame->vars, i->arg[1]) : NULL,
                  *v = whole ? py_int(&w->p, whole)
                             : ptx_converted(w, i, own ? own : ptx_operand(w, i->arg[1]));
        const gint64 cols = (gint64)GPOINTER_TO_SIZE(g_hash_table_lookup(w->sums, i->arg[0]));
        gint64 zero;
        if (cols && py_known(v, &zero) && zero == 0) { /* a sum starts */
            gint value;
            const char *name = ptx_accumulator(w, i->arg[0], cols, &value);
            WsReadStep *s = ptx_before_fence(w, i->line, i->line);
            s->text = ws_source_format(w->p.r, "%s = 0.0",
                                       g_array_index(w->p.group->values, WsReadValue, value).name);
            g_hash_table_add(w->seen, (gpointer)name);
        }
        result(w, i, v);
        return TRUE;
    }
    if (ptx_claim_number(w, i))
        return TRUE;
    if (!strcmp(base, "setp") && g_hash_table_contains(w->told, i->arg[1]))
        g_hash_table_add(w->told, (gpointer)i->arg[0]);
    for (guint k = 0; k < G_N_ELEMENTS(bases); k++)
        if (!strcmp(base, bases[k])) {
            const WsExpr *e = ptx_exact_sources(w, i) ? compute(w, i, base) : NULL;
            e = e ? e : ptx_sign(w, i);
            e = e ? ptx_exact_result(w, i, e) : NULL;
            if (strpbrk(i->arg[0], "|{"))
                ptx_forget(w, i->arg[0]);
            else
                result(w, i, ptx_value(w, e));
            return TRUE;
        }
    return FALSE;
}
