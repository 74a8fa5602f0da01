#include "import/write_steps.h"

/* Waits and contributions: which use of a barrier the source means. */

static const WsReadBarrier *barrier_of(const WsWriter *w, const WsPlace *p)
{
    return &g_array_index(w->r->barriers, WsReadBarrier, p->object);
}

static char *barrier_name(WsWriter *w, const WsPlace *p, const WsReadSpot *spot)
{
    const WsReadBarrier *b = barrier_of(w, p);
    return spot->element >= 0 ? g_strdup_printf("%s[%" G_GINT64_FORMAT "]", b->name, spot->element)
                              : g_strdup(b->name);
}

static gboolean same_barrier(const WsReadStep *a, const WsReadStep *b)
{
    if (a->off || b->off || a->barrier.object != b->barrier.object || a->barrier.object < 0)
        return FALSE;
    if (!a->barrier.index || !b->barrier.index)
        return a->barrier.index == b->barrier.index;
    gint64 d;
    return ws_x_difference(a->barrier.index, b->barrier.index, &d) && d == 0;
}

static gboolean contributes(const WsReadStep *s)
{
    return s->kind == WS_READ_ARRIVE || s->kind == WS_READ_EXPECT || s->kind == WS_READ_LOAD ||
           s->kind == WS_READ_GATHER || s->kind == WS_READ_COPY;
}

/* Is `s` the first step of what it contributes: an expect and the loads behind it, or the copies to
 * the same place in another CTA, are one. */
static gboolean opens(const GPtrArray *list, guint at)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    if (s->kind != WS_READ_LOAD && s->kind != WS_READ_COPY)
        return TRUE;
    for (guint i = at; i-- > 0;) {
        const WsReadStep *before = g_ptr_array_index(list, i);
        if (!same_barrier(s, before))
            continue;
        return before->kind == WS_READ_ARRIVE || before->kind == WS_READ_WAIT;
    }
    return TRUE;
}

static guint sites(const GPtrArray *list, const WsReadStep *like)
{
    guint n = 0;
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        n += sites(s->body, like) + sites(s->other, like);
        if (contributes(s) && same_barrier(s, like) && opens(list, i))
            n++;
    }
    return n;
}

/* A barrier of one slot says nothing of its use: the running number of this group's contributions.
 * NULL where it does not follow from one list of steps. */
static const WsExpr *ordinal(WsWriter *w, const GPtrArray *list, guint at)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    guint here = 0, before = 0;
    for (guint i = 0; i < list->len; i++) {
        const WsReadStep *other = g_ptr_array_index(list, i);
        if (!contributes(other) || !same_barrier(other, s) || !opens(list, i))
            continue;
        here++;
        before += i <= at;
    }
    if (!here || sites(w->group->body, s) != here || w->conditional)
        return NULL;
    before = before ? before - 1 : 0;
    if (!w->loops->len)
        return ws_x_int(w->r, before);
    const WsReadStep *loop = g_ptr_array_index(w->loops, w->loops->len - 1);
    const WsExpr *rounds = ws_x_total(w->r, loop->name);
    return ws_x_op(w->r, WS_EXPR_ADD, ws_x_op(w->r, WS_EXPR_MUL, rounds, ws_x_int(w->r, here)),
                   ws_x_int(w->r, before));
}

static const WsExpr *contribution_use(WsWriter *w, const GPtrArray *list, guint at,
                                      const WsReadSpot *spot)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    if (spot->use)
        return spot->use;
    const WsExpr *turn = ordinal(w, list, at);
    const gint64 slots = barrier_of(w, &s->barrier)->slots;
    if (!turn || slots == 1)
        return turn;
    return spot->slot ? ws_x_op(w->r, WS_EXPR_ADD, spot->slot,
                                ws_x_op(w->r, WS_EXPR_MUL, turn, ws_x_int(w->r, slots)))
                      : NULL;
}

/* --- waits ------------------------------------------------------------------------------------ */

/* A parity of (x / slots + c) mod 2 awaits completion x / slots + c: for c = 1 the one before x's,
 * as everybody writes it who starts with free slots. `turn` is that c. */
static gboolean take_parity(WsWriter *w, const WsExpr *parity, gint64 slots, gboolean ready,
                            const WsExpr **x, gint64 *turn)
{
    WsAffine f;
    gint64 n;
    if (parity->op != WS_EXPR_MOD || !ws_x_is(parity->arg[1], &n) || n != 2 ||
        !ws_expr_affine(parity->arg[0], &f))
        return FALSE;
    gboolean found = FALSE;
    const gint64 c = f.constant;
    *turn = c > 0 && (slots > 1 ? c % 2 : ready) ? c - 2 : c;
    if (slots == 1) {
        *x = ws_x_op(w->r, WS_EXPR_SUB, ws_x_own(w->r, ws_expr_ref(parity->arg[0])),
                     ws_x_int(w->r, c));
        found = *x != NULL;
    } else if (f.n == 1 && (f.factor[0] == 1 || f.factor[0] == -1) &&
               f.term[0]->op == WS_EXPR_DIV && ws_x_is(f.term[0]->arg[1], &n) && n == slots) {
        *x = ws_x_own(w->r, ws_expr_ref(f.term[0]->arg[0]));
        found = TRUE;
    }
    ws_affine_clear(&f);
    return found;
}

/* An element that does not exist is found when the design is elaborated. */
static gboolean is_ready(const WsReadBarrier *b, const WsReadSpot *spot)
{
    return spot->element < b->copies && b->ready[MAX(spot->element, 0)];
}

/* The use at which a wait of the design tests what the source tests; NULL: there is none. */
static const WsExpr *wait_use(WsWriter *w, const WsReadStep *s, const WsReadSpot *spot)
{
    WsRead *r = w->r;
    const WsReadBarrier *b = barrier_of(w, &s->barrier);
    const WsExpr *x;
    gint64 shift, p, d;
    const gboolean ready = is_ready(b, spot);
    if (!s->parity)
        return NULL;
    if (ws_x_is(s->parity, &p)) {
        if (spot->use || (w->loops->len && !spot->slot))
            return NULL;          /* the ring goes on, the parity does not */
        gboolean in_loop = FALSE; /* an index that is the loop's own may stand for all slots once */
        for (guint i = 0; i < w->loops->len; i++) {
            const WsReadStep *loop = g_ptr_array_index(w->loops, i);
            in_loop |= !ws_expr_mentions(spot->slot, loop->name);
        }
        const gint64 turn = ready ? (p ? 0 : 1) : p;
        return in_loop ? NULL
                       : ws_x_op(r, WS_EXPR_ADD, spot->slot ? spot->slot : ws_x_int(r, 0),
                                 ws_x_int(r, turn * b->slots));
    }
    if (!take_parity(w, s->parity, b->slots, ready, &x, &shift))
        return NULL;
    if (b->slots > 1) {
        const WsExpr *u = spot->use ? spot->use : spot->slot;
        if (!ws_x_difference(u, x, &d) || d % b->slots)
            return NULL; /* index and parity follow different counts */
    }
    return ws_x_op(r, WS_EXPR_ADD, x, ws_x_int(r, b->slots * (shift + (ready ? 1 : 0))));
}

/* The load that a wait stands behind for, which has a barrier of its own. */
static const WsExpr *use_of_load(WsWriter *w, const GPtrArray *list, guint at)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    while (at-- > 0) {
        const WsReadStep *before = g_ptr_array_index(list, at);
        if (before->kind == WS_READ_LOAD && same_barrier(before, s))
            return ordinal(w, list, at);
    }
    return NULL;
}

void ws_write_wait(WsWriter *w, const GPtrArray *list, guint at, WsJson *step)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    const WsReadBarrier *b = barrier_of(w, &s->barrier);
    const WsReadSpot spot = ws_source_spot(w->r, &s->barrier, b->slots, b->copies);
    const WsExpr *use = s->own            ? use_of_load(w, list, at)
                        : s->barrier.use  ? s->barrier.use
                        : w->r->by_parity ? NULL
                                          : wait_use(w, s, &spot);
    ws_json_put(step, "wait", ws_json_take_text(barrier_name(w, &s->barrier, &spot)));
    if (use) {
        ws_json_put(step, "use", ws_write_expr(w->r, use));
        return;
    }
    const WsExpr *slot = spot.slot  ? spot.slot
                         : spot.use ? ws_x_mod(w->r, spot.use, b->slots)
                                    : ws_x_int(w->r, 0);
    ws_json_put(step, "slot", ws_write_expr(w->r, slot));
    const WsExpr *parity = s->parity ? s->parity : ws_x_int(w->r, 0);
    if (is_ready(b, &spot))
        parity = ws_x_mod(w->r, ws_x_op(w->r, WS_EXPR_ADD, parity, ws_x_int(w->r, 1)), 2);
    ws_json_put(step, "phase", ws_write_expr(w->r, parity));
}

/* "all", or the CTAs of the mask. */
static WsJson *ctas_of(guint mask)
{
    if (mask == G_MAXUINT)
        return ws_json_text("all");
    WsJson *list = ws_json_list();
    for (guint i = 0; i < 16; i++)
        if (mask >> i & 1)
            ws_json_add(list, ws_json_int(i));
    return list;
}

void ws_write_signal(WsWriter *w, const GPtrArray *list, guint at, const char *key, WsJson *step)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    const WsReadBarrier *b = barrier_of(w, &s->barrier);
    const WsReadSpot spot = ws_source_spot(w->r, &s->barrier, b->slots, b->copies);
    g_autofree char *name = barrier_name(w, &s->barrier, &spot);
    const WsExpr *slot = spot.slot  ? spot.slot
                         : spot.use ? ws_x_mod(w->r, spot.use, b->slots)
                                    : ws_x_int(w->r, 0);
    const WsExpr *use = s->barrier.use    ? s->barrier.use
                        : w->r->by_parity ? NULL
                                          : contribution_use(w, list, at, &spot);
    const gboolean load =
        s->kind == WS_READ_LOAD || s->kind == WS_READ_GATHER || s->kind == WS_READ_COPY;
    const gboolean by_slot = w->r->by_parity && s->kind == WS_READ_LOAD;
    if (!use && load && !by_slot)
        use = slot;
    g_autofree char *text = use ? ws_source_named_text(w->r, use) : NULL;
    ws_json_put(step, key,
                load && use ? ws_json_format("%s @ %s", name, text) : ws_json_text(name));
    if (s->kind == WS_READ_EXPECT)
        ws_json_put(step, "bytes", ws_json_int(s->n));
    if (s->kind == WS_READ_ARRIVE && s->n != 1)
        ws_json_put(step, "count", ws_json_int(s->n));
    if (s->kind == WS_READ_ARRIVE && s->flag)
        ws_json_put(step, "by", ws_json_text("all"));
    if (s->kind == WS_READ_ARRIVE && s->all)
        ws_json_put(step, "by", ws_json_text("warp"));
    if (s->ctas)
        ws_json_put(step, load ? "multicast" : "cta", ctas_of(s->ctas));
    if (s->cta)
        ws_json_put(step, "cta", ws_write_expr(w->r, s->cta));
    if (!load && use)
        ws_json_put(step, "use", ws_json_text(text));
    else if (!use)
        ws_json_put(step, "slot", ws_write_expr(w->r, slot));
}
