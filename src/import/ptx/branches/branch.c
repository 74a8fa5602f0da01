#include "import/ptx/walk.h"

/* Branches that both ways are followed of. */

static const WsReadStep *only_step(const GPtrArray *list)
{
    const WsReadStep *found = NULL;
    for (guint i = 0; i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off || s->kind == WS_READ_COMPUTE)
            continue;
        if (found)
            return NULL;
        found = s;
    }
    return found;
}

static gboolean only_computes(const GPtrArray *list)
{
    for (guint i = 0; i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (!s->off && s->kind != WS_READ_COMPUTE)
            return FALSE;
    }
    return TRUE;
}

static void splice(GPtrArray *to, const GPtrArray *from)
{
    for (guint i = 0; i < from->len; i++)
        g_ptr_array_add(to, g_ptr_array_index(from, i));
}

/* The variables of the path that is taken where c holds, and `other` of the one that is not. */
static void merge_vars(PtxWalk *w, GHashTable *other, const WsExpr *c)
{
    GHashTableIter it;
    gpointer key, value;
    gint64 known;
    ptx_written_by_both(w->p.frame->vars, other);
    g_hash_table_iter_init(&it, other);
    while (g_hash_table_iter_next(&it, &key, &value)) {
        const Val *a = value, *b = g_hash_table_lookup(w->p.frame->vars, key);
        if (!b || a == b)
            continue;
        const gboolean sums = a->kind == VAL_TILE || b->kind == VAL_TILE;
        const Val *v = sums && (a->kind == VAL_TILE || py_known(a, &known)) &&
                               (b->kind == VAL_TILE || py_known(b, &known))
                           ? (a->kind == VAL_TILE ? a : b) /* a sum, or 0 before it begins */
                       : a->kind == VAL_INT && b->kind == VAL_INT && ws_expr_equal(a->e, b->e) ? a
                       : a->kind == VAL_INT && b->kind == VAL_INT
                           ? ptx_value(w, ws_x_call(w->p.r, WS_FUNC_SELECT, c, b->e, a->e))
                           : py_opaque(&w->p);
        g_hash_table_insert(w->p.frame->vars, key, (gpointer)v);
    }
}

/* From `block` up to the join, where c holds or does not. */
static void path_blocks(PtxWalk *w, const WsExpr *c, gboolean holds, guint block, gint join)
{
    const guint known = w->least->len - w->always;
    ptx_path(w, c, holds);
    ptx_settle(w, c, holds);
    ptx_run(w, block, join);
    g_ptr_array_set_size(w->least, (gint)(w->always + known));
}

void ptx_choice(PtxWalk *w, const WsPtxInst *at, const WsExpr *c, guint taken, guint fall,
                gint join)
{
    WsRead *r = w->p.r;
    GPtrArray *to = w->p.to;
    WsReadStep *s = ws_source_step(r, NULL, WS_READ_IF, at->line, 1, at->line);
    GHashTable *vars = w->p.frame->vars, *before = py_copy_vars(vars);
    const gboolean skips = (gint)taken == join;
    ptx_products_closed(w, at);
    w->p.to = s->other;
    const guint before_both = w->passed, by_path = w->by_path;
    const gboolean apart = w->apart;
    const PtxFlying flying = ptx_flying_copy(w);
    const guint branched = w->depth > 1 ? G_MAXUINT : 2 * at->line;
    w->branched = branched;
    path_blocks(w, c, FALSE, fall, join);
    w->branched = w->depth > 1 ? branched : branched + 1;
    const guint passed = w->passed;
    const gboolean left_apart = w->apart;
    w->apart = apart;
    w->passed = before_both;
    ptx_products_closed(w, at);
    const gboolean ended = w->ended;
    w->ended = FALSE;
    w->p.to = s->body;
    GHashTable *fell = py_copy_vars(w->p.frame->vars);
    g_hash_table_unref(w->p.frame->vars);
    w->p.frame->vars = before;
    const PtxFlying fallen = ptx_flying_swap(w, flying);
    path_blocks(w, c, TRUE, taken, join);
    ptx_flying_join(w, fallen);
    w->passed = MIN(w->passed, passed);
    w->apart |= left_apart;
    ptx_products_closed(w, at);
    w->p.to = to;
    gboolean done;
    const WsExpr *token = ptx_token_of(w, c, &done);
    if (token) {
        GPtrArray *wait = done ? s->other : s->body, *none = done ? s->body : s->other;
        WsReadStep *one = (WsReadStep *)only_step(wait);
        gint64 d;
        if (one && one->kind == WS_READ_WAIT && !one->when && !only_step(none) && !ended &&
            !w->ended && none->len == 0 &&
            ws_x_difference(ptx_token(w, one->barrier.index, one->parity), token, &d) && d == 0)
            splice(to, wait);
        else
            ptx_lost(w, at, "a branch on what a test of an mbarrier found");
        merge_vars(w, fell, c);
        g_hash_table_unref(fell);
        w->ended &= ended;
        return;
    }
    const gboolean pid = ws_expr_mentions(c, PY_PID);
    if (skips && ptx_guards(&w->p, c, only_step(s->other))) {
        /* the loop itself makes no round where it is skipped */
        WsReadStep *loop = (WsReadStep *)only_step(s->other);
        if (loop && loop->kind == WS_READ_FOR)
            loop->text = NULL;
        splice(to, s->other);
        if (w->by_path != by_path && loop && loop->e) /* values that hold on this way only */
            ptx_merge_rounds(w, w->p.frame->vars, fell, loop, c);
        else if (w->by_path != by_path)
            merge_vars(w, fell, c);
        ptx_written_by_both(fell, w->p.frame->vars);
        if (w->by_path == by_path || (loop && loop->e)) {
            g_hash_table_unref(w->p.frame->vars);
            w->p.frame->vars = fell;
        } else {
            g_hash_table_unref(fell);
        }
        w->ended = ended;
        return;
    }
    const WsExpr *none = ptx_positive(r, ws_x_op(r, WS_EXPR_NOT, c, NULL));
    for (guint side = 0; side < 2 && !ended && !w->ended; side++) {
        GPtrArray *rounds = side ? s->other : s->body;
        WsReadStep *guarded = (WsReadStep *)only_step(rounds);
        if (!guarded || !only_computes(side ? s->body : s->other) || guarded->kind != WS_READ_FOR ||
            !guarded->e || !ptx_of_launch(r, guarded->e) ||
            !ptx_guards(&w->p, side ? c : none, guarded))
            continue;
        guarded->text = NULL;
        splice(to, rounds);
        GHashTable *now = w->p.frame->vars;
        ptx_merge_rounds(w, side ? now : fell, side ? fell : now, guarded, side ? c : none);
        w->p.frame->vars = side ? fell : now;
        g_hash_table_unref(side ? now : fell);
        return;
    }
    merge_vars(w, fell, c);
    g_hash_table_unref(fell);
    w->ended &= ended;
    s->e = c;
    if (!s->body->len && s->other->len) {
        GPtrArray *empty = s->body;
        s->body = s->other;
        s->other = empty;
        s->e = ws_x_op(r, WS_EXPR_NOT, c, NULL);
    }
    if (!s->body->len)
        return;
    g_ptr_array_add(to, s);
    if (pid) {
        s->kind = WS_READ_OPAQUE;
        ptx_unread(w, at, "a branch on the number of the CTA");
        w->lost |= !w->p.probing;
    }
}
