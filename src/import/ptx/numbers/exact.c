#include "import/ptx/walk.h"

#include <string.h>

/* Where the exact integer that is followed is what an instruction computes. Registers wrap, widths
 * cut, unsigned instructions take what is below 0 for large: where one of these may show, nothing
 * is known of the result. An instruction that has no row, or another modifier, computes what is not
 * followed. */

typedef enum {
    NEED_NOTHING,  /* the same modulo 2^width, whatever the signs are */
    NEED_UNSIGNED, /* of an unsigned type: nothing is below 0 */
    NEED_POSITIVE, /* nothing is below 0 */
} Need;

#define WIDE "s32 u32 b32 s64 u64 b64"
#define ALL  "s32 u32 b32 s64 u64 b64 s16 u16 b16"

static const struct {
    const char *word, *modifiers;
    Need need;
} rows[] = {
    { "add", ALL, NEED_NOTHING },
    { "sub", ALL, NEED_NOTHING },
    { "neg", ALL, NEED_NOTHING },
    { "not", "pred " ALL, NEED_NOTHING },
    { "mul", "lo " ALL, NEED_NOTHING },
    { "mul", "wide s32 u32 s16 u16", NEED_UNSIGNED },
    { "mul", "hi u32", NEED_POSITIVE },
    { "mul", "hi s32", NEED_NOTHING },
    { "mad", "lo " WIDE, NEED_NOTHING },
    { "mad", "wide s32 u32", NEED_UNSIGNED },
    { "div", WIDE, NEED_POSITIVE },
    { "rem", WIDE, NEED_POSITIVE },
    { "min", WIDE, NEED_UNSIGNED },
    { "max", WIDE, NEED_UNSIGNED },
    { "shl", WIDE, NEED_NOTHING },
    { "shr", WIDE, NEED_UNSIGNED },
    { "and", "pred " ALL, NEED_NOTHING },
    { "or", "pred " ALL, NEED_NOTHING },
    { "xor", "pred " ALL, NEED_NOTHING },
    { "setp", "eq ne " ALL, NEED_NOTHING },
    { "setp", "lt le gt ge " ALL, NEED_UNSIGNED },
    { "setp", "lo hs " ALL, NEED_POSITIVE },
    { "selp", ALL, NEED_NOTHING },
    { "bfe", "u32 u64", NEED_NOTHING },
};

static gboolean listed(const char *list, const char *op)
{
    for (const char *at = strchr(op, '.'); at;) {
        const gsize n = strcspn(++at, ".");
        gboolean found = FALSE;
        for (const char *word = list; *word && !found; word += *word == ' ') {
            const gsize length = strcspn(word, " ");
            found = length == n && !strncmp(word, at, n);
            word += length;
        }
        if (!found)
            return FALSE;
        at = at[n] ? at + n : NULL;
    }
    return TRUE;
}

/* Bits of the last type of an instruction; 0: it is no integer. */
static guint width(const char *type)
{
    const char kind = type && *type == '.' ? type[1] : 0;
    if (kind != 's' && kind != 'u' && kind != 'b')
        return 0;
    const char *bits = type + 2;
    const gsize n = strcspn(bits, ".");
    return n == 1 && *bits == '8'              ? 8
           : n == 2 && !strncmp(bits, "16", 2) ? 16
           : n == 2 && !strncmp(bits, "32", 2) ? 32
           : n == 2 && !strncmp(bits, "64", 2) ? 64
                                               : 0;
}

static gboolean is_bit(const WsExpr *e)
{
    return (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_OR) || e->op == WS_EXPR_NOT;
}

static gboolean not_negative(PtxWalk *w, const WsExpr *e, guint depth);

/* A launch has a CTA. */
static gint64 least_name(const WsExpr *t)
{
    return t->op == WS_EXPR_NAME && !strcmp(t->name, PY_GRID) ? 1 : 0;
}

/* x of x / n · n, which is at most x where neither is below 0; NULL: it is not that. */
static const WsExpr *whole_of(PtxWalk *w, const WsExpr *t, guint depth)
{
    for (guint k = 0; k < 2 && t->op == WS_EXPR_MUL; k++) {
        const WsExpr *d = t->arg[k], *n = t->arg[1 - k];
        if (d->op == WS_EXPR_DIV && ws_expr_equal(d->arg[1], n) &&
            not_negative(w, d->arg[0], depth + 1) && not_negative(w, n, depth + 1))
            return d->arg[0];
    }
    return NULL;
}

/* Terms with factors; what is taken away is at most what it is made of. */
static gboolean sum_not_negative(PtxWalk *w, const WsExpr *e, guint depth)
{
    WsRead *r = w->p.r;
    WsAffine f;
    gint64 by;
    if (!ws_expr_affine(e, &f))
        return FALSE;
    gint64 least = f.constant;
    for (guint i = 0; i < f.n; i++)
        least += f.factor[i] > 0 ? f.factor[i] * least_name(f.term[i]) : 0;
    gboolean good = !(f.n == 1 && ws_expr_equal(f.term[0], e));
    const WsExpr *less = NULL;
    for (guint i = 0; i < f.n && good && !less; i++) {
        const WsExpr *t = f.term[i];
        if (f.factor[i] > 0) {
            good = not_negative(w, t, depth + 1) || f.n > 1;
            continue;
        }
        const WsExpr *whole = whole_of(w, t, depth);
        if (whole) {
            less = ws_x_op(r, WS_EXPR_SUB, ws_x_own(r, ws_expr_ref(whole)),
                           ws_x_own(r, ws_expr_ref(t)));
            less =
                ws_x_op(r, WS_EXPR_ADD, e, ws_x_op(r, WS_EXPR_MUL, less, ws_x_int(r, f.factor[i])));
            good = less != NULL;
            break;
        }
        good = (t->op == WS_EXPR_MOD || t->op == WS_EXPR_DIV) && ws_x_is(t->arg[1], &by) &&
               by > 0 && not_negative(w, t->arg[0], depth + 1);
        if (!good)
            break;
        const gint64 taken =
            t->op == WS_EXPR_DIV && f.factor[i] % by == 0 ? f.factor[i] / by : f.factor[i];
        /* e - x / n is not below 0 where n e - x is not */
        const gint64 times = t->op == WS_EXPR_DIV && f.factor[i] % by ? by : 1;
        less =
            ws_x_op(r, WS_EXPR_SUB, e,
                    ws_x_op(r, WS_EXPR_MUL, ws_x_own(r, ws_expr_ref(t)), ws_x_int(r, f.factor[i])));
        less = ws_x_op(r, WS_EXPR_MUL, less, ws_x_int(r, times));
        good = less != NULL; /* it fits */
        less = ws_x_op(
            r, WS_EXPR_ADD, less,
            ws_x_op(r, WS_EXPR_MUL, ws_x_own(r, ws_expr_ref(t->arg[0])), ws_x_int(r, taken)));
    }
    good &= less || least >= 0;
    for (guint i = 0; i < f.n && good && !less; i++)
        good = not_negative(w, f.term[i], depth + 1);
    ws_affine_clear(&f);
    return good && (!less || not_negative(w, less, depth + 1));
}

/* One of several is at least n: on every way if one of them is. */
static gboolean some_above(PtxWalk *w, const WsExpr *t, gint64 n, guint depth)
{
    WsRead *r = w->p.r;
    const guint before = w->by_path;
    guint behind = before;
    for (guint i = 0; i < t->n_args; i++) {
        w->by_path = before;
        if (!not_negative(
                w, ws_x_op(r, WS_EXPR_SUB, ws_x_own(r, ws_expr_ref(t->arg[i])), ws_x_int(r, n)),
                depth + 2))
            continue;
        if (w->by_path == before)
            return TRUE;
        behind = w->by_path;
    }
    w->by_path = behind;
    return behind != before;
}

/* t - n, n above 0, of one term: the greater of several, or a quotient. */
static gboolean one_above(PtxWalk *w, const WsExpr *e, guint depth)
{
    WsRead *r = w->p.r;
    WsAffine f;
    gint64 by;
    if (!ws_expr_affine(e, &f))
        return FALSE;
    const gint64 n = -f.constant;
    const WsExpr *t = f.n == 1 && f.factor[0] == 1 && n > 0 && n < 1 << 20 ? f.term[0] : NULL;
    gboolean good = FALSE;
    if (t && t->op == WS_EXPR_CALL && t->func == WS_FUNC_MAX)
        good = some_above(w, t, n, depth);
    if (t && t->op == WS_EXPR_DIV && ws_x_is(t->arg[1], &by) && by > 0 && by < 1 << 20)
        good = not_negative(
            w, ws_x_op(r, WS_EXPR_SUB, ws_x_own(r, ws_expr_ref(t->arg[0])), ws_x_int(r, n * by)),
            depth + 2);
    if (t && t->op == WS_EXPR_CALL && t->func == WS_FUNC_CDIV && ws_x_is(t->arg[1], &by) &&
        by > 0 && by < 1 << 20) /* at least n where what it divides is above (n - 1) by */
        good = not_negative(w,
                            ws_x_op(r, WS_EXPR_SUB, ws_x_own(r, ws_expr_ref(t->arg[0])),
                                    ws_x_int(r, (n - 1) * by + 1)),
                            depth + 2);
    ws_affine_clear(&f);
    return good;
}

static guint terms(const WsExpr *e)
{
    WsAffine f;
    if (!ws_expr_affine(e, &f))
        return 1;
    const guint n = f.n;
    ws_affine_clear(&f);
    return n;
}

/* More than something of which it is known that it is not below 0. */
static gboolean above_known(PtxWalk *w, const WsExpr *e, guint depth)
{
    for (guint i = 0; i < w->least->len; i++) {
        const WsExpr *known = g_ptr_array_index(w->least, i),
                     *left = ws_x_op(w->p.r, WS_EXPR_SUB, e, known);
        if (left && terms(left) < terms(e) && not_negative(w, left, depth + 4)) {
            w->by_path += i >= w->always;
            return TRUE;
        }
    }
    return FALSE;
}

/* Names are indices and sizes, which are not negative. */
static gboolean not_negative(PtxWalk *w, const WsExpr *e, guint depth)
{
    gint64 n;
    if (!e || depth > 12)
        return FALSE;
    if (ws_x_is(e, &n))
        return n >= 0;
    if (e->op == WS_EXPR_NAME)
        return strcmp(e->name, PTX_TOKEN) != 0;
    if (e->op == WS_EXPR_TOTAL || is_bit(e))
        return TRUE;
    if (e->op == WS_EXPR_MOD && ws_x_is(e->arg[1], &n) && n > 0)
        return TRUE;
    if (e->op == WS_EXPR_MOD || e->op == WS_EXPR_DIV)
        return not_negative(w, e->arg[0], depth + 1) && not_negative(w, e->arg[1], depth + 1);
    if (e->op == WS_EXPR_CALL) {
        const guint from = e->func == WS_FUNC_SELECT;
        gboolean all = TRUE, any = FALSE;
        for (guint i = from; i < e->n_args; i++) {
            const gboolean one = not_negative(w, e->arg[i], depth + 1);
            all &= one;
            any |= one;
        }
        return e->func == WS_FUNC_MAX
                   ? any
                   : all && (e->func == WS_FUNC_MIN || from || e->func == WS_FUNC_CDIV);
    }
    if (e->op == WS_EXPR_MUL && !ws_x_is(e->arg[0], &n) && !ws_x_is(e->arg[1], &n) &&
        not_negative(w, e->arg[0], depth + 1) && not_negative(w, e->arg[1], depth + 1))
        return TRUE;
    return sum_not_negative(w, e, depth) || one_above(w, e, depth) || above_known(w, e, depth);
}

static void not_below(PtxWalk *w, const WsExpr *a, const WsExpr *b, gint64 more)
{
    const WsExpr *e = ws_x_op(w->p.r, WS_EXPR_SUB, a, b);
    e = e ? ws_x_op(w->p.r, WS_EXPR_SUB, e, ws_x_int(w->p.r, more)) : NULL;
    if (e && e->n_args)
        g_ptr_array_add(w->least, (gpointer)e);
}

void ptx_path(PtxWalk *w, const WsExpr *c, gboolean holds)
{
    WsRead *r = w->p.r;
    if (!c || !c->n_args || ws_expr_mentions(c, PTX_TOKEN))
        return;
    const WsExpr *a = ws_x_own(r, ws_expr_ref(c->arg[0])),
                 *b = c->n_args > 1 ? ws_x_own(r, ws_expr_ref(c->arg[1])) : NULL;
    if (c->op == WS_EXPR_NOT) {
        ptx_path(w, a, !holds);
    } else if (c->op == WS_EXPR_AND || c->op == WS_EXPR_OR) {
        if (holds == (c->op == WS_EXPR_AND)) {
            ptx_path(w, a, holds);
            ptx_path(w, b, holds);
        }
    } else if (c->op == WS_EXPR_LT) {
        holds ? not_below(w, b, a, 1) : not_below(w, a, b, 0);
    } else if (c->op == WS_EXPR_LE) {
        holds ? not_below(w, b, a, 0) : not_below(w, a, b, 1);
    } else if (c->op == WS_EXPR_GT) {
        holds ? not_below(w, a, b, 1) : not_below(w, b, a, 0);
    } else if (c->op == WS_EXPR_GE) {
        holds ? not_below(w, a, b, 0) : not_below(w, b, a, 1);
    } else if ((c->op == WS_EXPR_NE) == holds && (c->op == WS_EXPR_NE || c->op == WS_EXPR_EQ)) {
        if (ptx_not_negative(w, ws_x_op(r, WS_EXPR_SUB, a, b)))
            not_below(w, a, b, 1);
    }
}

gboolean ptx_not_negative(PtxWalk *w, const WsExpr *e)
{
    gint64 n;
    return e &&
           (not_negative(w, e, 0) || (py_least(&w->p, e, &n) && n >= 0) || ptx_with_sign(w, e));
}

/* An address in shared memory of which all that varies is bounded: below 2^18, since there is no
 * more of it. */
static gboolean is_address(const WsExpr *e)
{
    WsAffine f;
    gint64 n;
    if (!ws_expr_affine(e, &f))
        return FALSE;
    gboolean base = FALSE, good = f.constant >= 0;
    gint64 most = f.constant;
    for (guint i = 0; i < f.n && good; i++) {
        const WsExpr *t = f.term[i];
        const gboolean start =
            t->op == WS_EXPR_NAME && !strcmp(t->name, PTX_SMEM) && f.factor[i] == 1;
        good = start ? !base
                     : t->op == WS_EXPR_MOD && ws_x_is(t->arg[1], &n) && n > 0 && n < 1 << 16 &&
                           f.factor[i] > 0 && f.factor[i] < 1 << 18;
        base |= start;
        most += good && !start ? f.factor[i] * (n - 1) : 0;
    }
    ws_affine_clear(&f);
    return good && base && most < 1 << 18;
}

/* Is it below 2^bits, and not below 0, whatever its names are? */
static gboolean within(const WsExpr *e, guint bits)
{
    gint64 n;
    if (ws_x_is(e, &n))
        return n >= 0 && n < (gint64)1 << bits;
    if (e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT)
        return within(e->arg[1], bits) && within(e->arg[2], bits);
    if (e->op == WS_EXPR_DIV && ws_x_is(e->arg[1], &n) && n > 0 && is_address(e->arg[0]))
        return (1 << 18) / n <= (gint64)1 << bits;
    return is_bit(e) ||
           (e->op == WS_EXPR_MOD && ws_x_is(e->arg[1], &n) && n > 0 && n <= (gint64)1 << bits);
}

gboolean ptx_fits_64(const WsAffine *f)
{
    return ptx_bound(f) < G_MAXINT64;
}

/* Numbers of the text in it, and what it may be one of, are those of so many bits: it does not
 * overflow because of them. */
static gboolean small_factors(const WsExpr *e, guint bits)
{
    WsAffine f;
    if (!ws_expr_affine(e, &f))
        return TRUE;
    gboolean small =
        bits == 64 ? ptx_fits_64(&f) : f.constant >= G_MININT32 && f.constant <= G_MAXINT32;
    for (guint i = 0; i < f.n && small; i++) {
        const WsExpr *t = f.term[i];
        small = bits == 64 || (f.factor[i] >= -(1 << 20) && f.factor[i] <= 1 << 20);
        for (guint k = t->func == WS_FUNC_SELECT; t->op == WS_EXPR_CALL && k < t->n_args && small;
             k++)
            small = small_factors(t->arg[k], bits);
    }
    ws_affine_clear(&f);
    return small;
}

/* e in a register of so many bits; a number wraps. NULL: it may not fit. */
static const WsExpr *in_width(PtxWalk *w, const WsExpr *e, guint bits)
{
    gint64 n;
    if (!e || !bits)
        return NULL;
    if (ws_x_is(e, &n))
        return ws_x_int(w->p.r, bits == 8    ? (gint8)n
                                : bits == 16 ? (gint16)n
                                : bits == 32 ? (gint32)n
                                             : n);
    if (bits < 32)
        return within(e, bits - 1) ? e : NULL;
    return small_factors(e, bits) ? e : NULL;
}

const WsExpr *ptx_held(PtxWalk *w, const char *type, const WsExpr *e)
{
    gint64 n;
    return ws_x_is(e, &n) && width(type) ? in_width(w, e, width(type)) : e;
}

const WsExpr *ptx_typed(PtxWalk *w, const char *type, const WsExpr *e)
{
    const guint bits = width(type);
    gint64 n;
    if (!ws_x_is(e, &n) || bits == 64 || !bits)
        return e;
    n = bits == 8 ? (gint8)n : bits == 16 ? (gint16)n : (gint32)n;
    return ws_x_int(w->p.r, type[1] == 'u' && n < 0 ? n + ((gint64)1 << bits) : n);
}

/* Is every integer that it takes what the register holds? */
gboolean ptx_exact_sources(PtxWalk *w, const WsPtxInst *i)
{
    const gsize n = strcspn(i->op, ".");
    const char *type = strrchr(i->op, '.');
    gint need = -1;
    for (guint k = 0; k < G_N_ELEMENTS(rows) && need < 0; k++)
        if (strlen(rows[k].word) == n && !strncmp(rows[k].word, i->op, n) &&
            listed(rows[k].modifiers, i->op))
            need = (gint)rows[k].need;
    const gboolean compares = g_str_has_prefix(i->op, "setp");
    if (!type || need < 0 || (compares && i->n != 3) || strpbrk(i->arg[0], "|{"))
        return FALSE;
    if (!strcmp(type, ".pred"))
        return TRUE;
    if (need == NEED_UNSIGNED && type[1] == 's')
        need = NEED_NOTHING;
    const gboolean narrow = width(type) < 32;
    /* the last source of a shift is a number, of a selection a predicate */
    const guint to = i->op[0] == 's' && i->op[1] == 'h' ? 2 : !strncmp(i->op, "selp", 4) ? 3 : i->n;
    for (guint k = 1; k < MIN(to, i->n); k++) {
        const WsExpr *e = ptx_typed(w, type, ptx_int(w, i->arg[k]));
        gint64 known;
        if (!e)
            return FALSE;
        const gboolean number = ws_x_is(e, &known);
        if (narrow && !number && !within(e, width(type) - 1))
            return FALSE;
        if (need != NEED_NOTHING && !ptx_not_negative(w, e))
            return FALSE;
    }
    return TRUE;
}

const WsExpr *ptx_exact_result(PtxWalk *w, const WsPtxInst *i, const WsExpr *e)
{
    const char *type = strrchr(i->op, '.');
    if (!strcmp(type, ".pred") || g_str_has_prefix(i->op, "setp"))
        return e;
    return in_width(w, e, strstr(i->op, ".wide") ? 2 * width(type) : width(type));
}

/* mov, cvta and cvt: the value in its new register. */
const Val *ptx_converted(PtxWalk *w, const WsPtxInst *i, const Val *v)
{
    const char *from = strrchr(i->op, '.'),
               *to = from ? g_strrstr_len(i->op, from - i->op, ".") : NULL;
    if (!g_str_has_prefix(i->op, "cvt") || g_str_has_prefix(i->op, "cvta"))
        return v->kind == VAL_INT ? ptx_value(w, ptx_held(w, from, v->e)) : v;
    const gboolean plain = to && to - i->op == 3; /* no rounding, no saturation */
    const guint a = plain ? width(from) : 0, b = plain ? width(to) : 0;
    if (!a || !b)
        return py_opaque(&w->p);
    if (v->kind == VAL_TUPLE && a >= 32 && b >= 32)
        return v;
    const WsExpr *e = v->kind == VAL_INT ? v->e : v->kind == VAL_PARAM ? py_as_int(&w->p, v) : NULL;
    gint64 n;
    e = e ? ptx_typed(w, from, e) : NULL;
    if (e && a < 32 && !ws_x_is(e, &n) && !within(e, a - 1))
        e = NULL;
    if (e && b > a && from[1] == 'u' && !ptx_not_negative(w, e))
        e = NULL;
    if (v->kind == VAL_PARAM && e && b == 64 && a == 64)
        return v;
    return ptx_value(w, in_width(w, e, b));
}

gboolean ptx_number(const char *text, gint64 *n)
{
    char *end;
    const gboolean minus = *text == '-';
    if (!g_ascii_isdigit(text[minus]))
        return FALSE;
    const guint64 size = g_ascii_strtoull(text + minus, &end, 0); /* 0x…, 0…: octal */
    const gboolean hex = text[minus] == '0' && (text[minus + 1] | 32) == 'x';
    end += *end == 'U';
    if (*end || size == G_MAXUINT64 || (minus && size > (guint64)G_MAXINT64))
        return hex && !minus && size == G_MAXUINT64 && strlen(text) <= 19 && !*end ? (*n = -1, TRUE)
                                                                                   : FALSE;
    *n = minus ? -(gint64)size : (gint64)size;
    return TRUE;
}
