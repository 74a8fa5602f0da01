#include "import/recognise.h"

#include <string.h>

/* From the places that the source names to rings: how many copies belong together, and whether a
 * barrier starts ready. */

typedef void (*Visit)(WsRead *r, WsReadStep *s, gpointer data);

static void visit_steps(WsRead *r, GPtrArray *list, Visit visit, gpointer data)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        visit(r, s, data);
        visit_steps(r, s->body, visit, data);
        visit_steps(r, s->other, visit, data);
    }
}

static void visit_all(WsRead *r, Visit visit, gpointer data)
{
    for (guint g = 0; g < r->groups->len; g++)
        visit_steps(r, ((WsReadGroup *)g_ptr_array_index(r->groups, g))->body, visit, data);
}

typedef struct {
    gboolean barrier;
    gint object;
    gint64 copies, modulus; /* modulus 0: none seen */
    gboolean loose;         /* an index that is neither a number nor a remainder */
} Ring;

static void look(WsRead *r, const WsPlace *p, gboolean barrier, Ring *ring)
{
    gint64 value, base, n;
    const WsExpr *u;
    if (p->object != ring->object || barrier != ring->barrier || p->in_value || !p->index)
        return;
    if (p->use)
        ring->modulus = ring->copies;
    if (ws_x_is(p->index, &value))
        return;
    if (ws_x_modulus(r, p->index, &base, &u, &n) && base % n == 0 && base + n <= ring->copies) {
        if (!ring->modulus)
            ring->modulus = n;
    } else {
        ring->loose = TRUE;
    }
}

static void look_at_step(WsRead *r, WsReadStep *s, gpointer data)
{
    if (s->off)
        return;
    look(r, &s->barrier, TRUE, data);
    look(r, &s->buffer, FALSE, data);
    look(r, &s->a, FALSE, data);
    look(r, &s->b, FALSE, data);
    for (guint i = 0; s->operands && i < s->places->len; i++)
        look(r, &g_array_index(s->places, WsPlace, i), FALSE, data);
}

static gint64 ring_of(WsRead *r, gboolean barrier, gint object, gint64 copies)
{
    Ring ring = { barrier, object, copies, 0, FALSE };
    visit_all(r, look_at_step, &ring);
    return ring.modulus ? ring.modulus : ring.loose ? copies : 1;
}

WsReadSpot ws_source_spot(WsRead *r, const WsPlace *p, gint64 stages, gint64 copies)
{
    WsReadSpot spot = { .element = copies > stages ? 0 : -1 };
    gint64 value, base, n;
    const WsExpr *u;
    if (!p->index)
        return spot;
    if (p->use && stages == copies) {
        spot.use = p->use;
        return spot;
    }
    if (ws_x_is(p->index, &value)) {
        if (copies > stages)
            spot.element = value / stages;
        spot.slot = ws_x_int(r, value % stages);
    } else if (ws_x_modulus(r, p->index, &base, &u, &n) && n == stages && base % n == 0) {
        if (copies > stages)
            spot.element = base / stages;
        spot.use = stages > 1 ? u : NULL;
    } else {
        spot.slot = p->index;
    }
    return spot;
}

/* What the waits of an element test: parities of count + 1, of the count itself, a fixed 1, a fixed
 * 0. */
enum { TESTS_NEXT = 1, TESTS_SAME = 2, TESTS_ONE = 4, TESTS_ZERO = 8 };

static void look_at_wait(WsRead *r, WsReadStep *s, gpointer data)
{
    if (s->off || s->kind != WS_READ_WAIT || !s->parity || s->barrier.object < 0)
        return;
    WsReadBarrier *b = &g_array_index(r->barriers, WsReadBarrier, s->barrier.object);
    const WsReadSpot spot = ws_source_spot(r, &s->barrier, b->slots, b->copies);
    if (b->said || spot.element >= b->copies)
        return;
    gint *ready = &b->ready[MAX(spot.element, 0)];
    gint64 p;
    WsAffine f;
    if (ws_x_is(s->parity, &p)) {
        *ready |= p == 1 ? TESTS_ONE : TESTS_ZERO;
    } else if (s->parity->op == WS_EXPR_MOD && ws_expr_affine(s->parity->arg[0], &f)) {
        /* (x + 2) % 2 is the second round of an unrolled loop: (x + 1) % 2 tells which */
        *ready |= f.constant < 1 ? TESTS_SAME : f.constant % 2 ? TESTS_NEXT : 0;
        ws_affine_clear(&f);
    }
}

/* Starts ready: a fresh barrier has the parity that the first wait tests. With one slot a wait one
 * use later looks like it, so there all waits must. */
static gboolean starts_ready(gint tests, gint64 slots)
{
    if (tests & (TESTS_NEXT | TESTS_SAME))
        return (tests & TESTS_NEXT) && (slots > 1 || !(tests & TESTS_SAME));
    return tests == TESTS_ONE;
}

typedef struct {
    guint from;  /* the barrier that is split */
    gint64 size; /* slots of a part */
} Split;

static void move_place(WsPlace *p, const Split *s, WsRead *r, guint first)
{
    gint64 base = 0, n;
    const WsExpr *u;
    if (p->object != (gint)s->from || p->in_value)
        return;
    if (!p->index)
        p->index = ws_x_int(r, 0);
    if (!ws_x_is(p->index, &base))
        ws_x_modulus(r, p->index, &base, &u, &n);
    const gint64 part = base / s->size;
    p->object = part ? (gint)(first + part - 1) : p->object;
    p->index = s->size == 1 ? NULL : ws_x_op(r, WS_EXPR_SUB, p->index, ws_x_int(r, part * s->size));
}

typedef struct {
    Split split;
    guint first;
    gboolean fits;
} Moves;

static void look_at_part(WsRead *r, WsReadStep *s, gpointer data)
{
    Moves *m = data;
    gint64 base, n;
    const WsExpr *u;
    if (s->off || s->barrier.object != (gint)m->split.from || !s->barrier.index)
        return;
    if (ws_x_is(s->barrier.index, &base))
        m->fits &= base >= 0;
    else
        m->fits &= ws_x_modulus(r, s->barrier.index, &base, &u, &n) && n == m->split.size &&
                   base >= 0 && base % n == 0;
}

static void move_step(WsRead *r, WsReadStep *s, gpointer data)
{
    const Moves *m = data;
    move_place(&s->barrier, &m->split, r, m->first);
}

/* An array whose elements count differently is as many barriers; those of a ring do not. */
static void split_barrier(WsRead *r, guint i)
{
    const WsReadBarrier whole = g_array_index(r->barriers, WsReadBarrier, i);
    const gint64 size = whole.slots, parts = whole.copies / size;
    gboolean alike = TRUE, within = TRUE;
    for (gint64 k = 0; k < whole.copies; k++) {
        alike &= whole.count[k] == whole.count[0];
        within &= whole.count[k] == whole.count[k / size * size];
    }
    Moves m = { { i, size }, r->barriers->len, TRUE };
    visit_all(r, look_at_part, &m);
    if (alike || !within || !m.fits || parts < 2 || parts > 64)
        return;
    for (gint64 k = 1; k < parts; k++) {
        WsReadBarrier b = whole;
        b.name = ws_source_name(r, ws_source_format(r, "%s_%d", whole.name, (int)k));
        b.copies = size;
        b.count = g_memdup2(whole.count + k * size, size * sizeof *b.count);
        b.ready = g_memdup2(whole.ready + k, size * sizeof *b.ready);
        g_array_append_val(r->barriers, b);
    }
    g_array_index(r->barriers, WsReadBarrier, i).copies = size;
    visit_all(r, move_step, &m);
}

void ws_source_rings(WsRead *r)
{
    for (guint i = 0; i < r->buffers->len; i++) {
        WsReadBuffer *b = &g_array_index(r->buffers, WsReadBuffer, i);
        b->indexed |= b->rank >= 3;
        b->copies = b->indexed ? b->shape[0] * (b->indexed_twice ? b->shape[1] : 1) : 1;
        b->stages = ring_of(r, FALSE, (gint)i, b->copies);
        b->copies -= b->copies % b->stages; /* rounded up, as powers of two are wanted */
    }
    for (guint i = 0; i < r->barriers->len; i++) {
        WsReadBarrier *b = &g_array_index(r->barriers, WsReadBarrier, i);
        b->slots = b->named ? 1 : ring_of(r, TRUE, (gint)i, b->copies);
        b->copies -= b->copies % b->slots;
    }
    for (guint i = r->barriers->len; i-- > 0;)
        if (!g_array_index(r->barriers, WsReadBarrier, i).named &&
            !g_array_index(r->barriers, WsReadBarrier, i).said)
            split_barrier(r, i);
    visit_all(r, look_at_wait, NULL);
    for (guint i = 0; i < r->barriers->len; i++) {
        WsReadBarrier *b = &g_array_index(r->barriers, WsReadBarrier, i);
        for (gint64 e = 0; b->ready && !b->said && e < b->copies; e++)
            b->ready[e] = starts_ready(b->ready[e], b->slots);
    }
}
