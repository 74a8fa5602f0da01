#include "import/ptx/region/region.h"

/* --- slots that a loop skips ------------------------------------------------------------------ */

/* A ring of which rounds that take several slots at a time touch every g-th by one instruction. */

#define MOST_TIMES 16

typedef struct {
    PtxSpot spot;
    gint tensor; /* of a box that is loaded there; -1 of anything else */
} Seen;

typedef struct {
    PtxWalk *w;
    GArray *seen;  /* Seen */
    GArray *rings; /* PtxSpot: whole ones */
    GArray *skips; /* PtxSpot of mbarriers: how many slots, `stride` of them at a time */
    gboolean barriers;
} Widen;

static WsPlace *place_at(WsReadStep *s, gboolean barriers, guint k)
{
    WsPlace *const of[] = { &s->buffer, &s->a, &s->b };
    return barriers ? (k ? NULL : &s->barrier) : k < G_N_ELEMENTS(of) ? of[k] : NULL;
}

static void look(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    Widen *q = data;
    WsReadStep *s = g_ptr_array_index(list, at);
    WsPlace *p;
    Seen one;
    for (guint k = 0; (p = place_at(s, q->barriers, k)); k++) {
        if (!p->index || p->in_value || !ptx_spot(q->w->p.r, p->index, &one.spot) ||
            one.spot.n < 2 || one.spot.open)
            continue;
        one.tensor = !q->barriers && s->kind == WS_READ_LOAD ? s->tensor : -1;
        g_array_append_val(q->seen, one);
        if (!one.spot.per_cta)
            g_array_append_val(q->rings, one.spot);
    }
}

static gint by_base(gconstpointer a, gconstpointer b)
{
    const Seen *x = a, *y = b;
    return x->spot.base < y->spot.base ? -1 : x->spot.base > y->spot.base;
}

/* Does something take the slots that begin `by` bytes behind those of `s`? */
static gboolean takes(const Widen *q, const Seen *s, gint64 by)
{
    for (guint i = 0; i < q->seen->len; i++) {
        const Seen *o = &g_array_index(q->seen, Seen, i);
        if (o->spot.n == s->spot.n && o->spot.stride == s->spot.stride && o->tensor == s->tensor &&
            o->spot.base == s->spot.base + by)
            return TRUE;
    }
    return FALSE;
}

/* mbarriers that lie in a row and count alike. */
static gboolean in_a_row(const Widen *q, gint64 base, gint64 n)
{
    const PtxInit *first = NULL;
    for (gint64 i = 0; i < n; i++) {
        const PtxInit *one =
            g_hash_table_lookup(q->w->inits, GSIZE_TO_POINTER((gsize)(base + 8 * i)));
        if (!one || (first && first->count != one->count))
            return FALSE;
        first = first ? first : one;
    }
    return TRUE;
}

static void add_whole(Widen *q, const Seen *s, gint64 times)
{
    const PtxSpot whole = { .base = s->spot.base,
                            .stride = s->spot.stride / times,
                            .n = s->spot.n * times };
    for (guint i = 0; i < q->rings->len; i++) {
        const PtxSpot *w = &g_array_index(q->rings, PtxSpot, i);
        if (w->stride == whole.stride && w->n == whole.n && w->base <= whole.base &&
            whole.base < w->base + w->stride * w->n)
            return;
    }
    g_array_append_val(q->rings, whole);
}

/* Nobody takes the slots of a ring one by one, but each of `times` instructions every `times`-th:
 * all of them together are the ring. Of boxes only where mbarriers are taken like that, too. */
static void find_whole(Widen *q)
{
    g_array_sort(q->seen, by_base);
    for (guint i = 0; i < q->seen->len; i++) {
        const Seen *s = &g_array_index(q->seen, Seen, i);
        const gint64 n = s->spot.n, stride = s->spot.stride;
        for (gint64 times = 2; times <= MOST_TIMES && times * n <= PTX_MAX_SLOTS; times++) {
            gboolean good = stride % times == 0 && (!q->barriers || stride == 8 * times);
            gboolean known = q->barriers && in_a_row(q, s->spot.base, n * times);
            for (guint k = 0; k < q->skips->len && !q->barriers; k++) {
                const PtxSpot *skip = &g_array_index(q->skips, PtxSpot, k);
                known |= s->tensor >= 0 && skip->n == n && skip->stride == times;
            }
            for (gint64 j = 1; j < times && good && known; j++)
                good = takes(q, s, stride / times * j);
            if (!good || !known)
                continue;
            if (q->barriers) {
                const PtxSpot skip = { .n = n, .stride = times };
                g_array_append_val(q->skips, skip);
            }
            add_whole(q, s, times);
            break;
        }
    }
}

/* base + g stride (x % (n / g)) is base + stride ((g x) % n). */
static void widen(gpointer data, GPtrArray *list, guint at, WsReadGroup *group)
{
    Widen *q = data;
    WsRead *r = q->w->p.r;
    PtxSpot s;
    WsPlace *p;
    for (guint k = 0; (p = place_at(g_ptr_array_index(list, at), q->barriers, k)); k++) {
        if (!p->index || p->in_value || !ptx_spot(r, p->index, &s) || s.n < 2 || s.open)
            continue;
        for (guint i = 0; i < q->rings->len; i++) {
            const PtxSpot *w = &g_array_index(q->rings, PtxSpot, i);
            const gint64 times = w->stride ? s.stride / w->stride : 0, d = s.base - w->base;
            if (times < 2 || w->stride * times != s.stride || s.n * times != w->n || d < 0 ||
                d >= s.stride || (q->barriers && d % w->stride))
                continue;
            const WsExpr *x = ws_x_own(r, ws_expr_ref(s.index->arg[0]));
            x = ws_x_op(r, WS_EXPR_ADD, ws_x_op(r, WS_EXPR_MUL, x, ws_x_int(r, times)),
                        ws_x_int(r, d / w->stride));
            x = ws_x_op(r, WS_EXPR_MUL, ws_x_mod(r, x, w->n), ws_x_int(r, w->stride));
            x = ws_x_op(r, WS_EXPR_ADD, x, ws_x_int(r, w->base + d % w->stride));
            if (s.per_cta)
                x = ws_x_op(r, WS_EXPR_ADD, x,
                            ws_x_op(r, WS_EXPR_MUL, ws_x_name(r, "cta"), ws_x_int(r, s.per_cta)));
            p->index = x;
            break;
        }
    }
}

void ptx_widen(PtxWalk *w)
{
    g_autoptr(GArray) skips = g_array_new(FALSE, FALSE, sizeof(PtxSpot));
    for (guint k = 0; k < 2; k++) {
        Widen q = { w, g_array_new(FALSE, FALSE, sizeof(Seen)),
                    g_array_new(FALSE, FALSE, sizeof(PtxSpot)), skips, k == 0 };
        ptx_visit(w->p.r, look, &q);
        find_whole(&q);
        ptx_visit(w->p.r, widen, &q);
        g_array_unref(q.seen);
        g_array_unref(q.rings);
    }
}
