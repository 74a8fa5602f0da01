#include "import/ptx/walk.h"

#include <string.h>

/* Blocks: straight code, branches that meet again, loops. */

static const WsPtxBlock *block_at(const PtxWalk *w, guint b)
{
    return &g_array_index(w->ptx->blocks, WsPtxBlock, b);
}

static void ptx_instruction(PtxWalk *w, const WsPtxInst *i)
{
    if (!ws_source_works(w->p.r, 40))
        return;
    if (++w->p.budget > PTX_READ_BUDGET || w->p.r->exprs->len > PTX_MOST_EXPRS) {
        ws_source_fail(w->p.r, i->line, 1, "Import a smaller kernel.",
                       "this kernel takes too long to follow");
        return;
    }
    if (ptx_lazy(w, i) || ptx_step(w, i) || ptx_arithmetic(w, i))
        return;
    if (i->n && *i->arg[0] != '[') /* whatever it computes is not known */
        ptx_forget(w, i->arg[0]);
}

/* --- loops ------------------------------------------------------------------------------------ */

typedef struct {
    PyLoop loop;
    guint head;
    gint exit;
    const WsPtxLoop *blocks;
    gboolean once;       /* the condition stands behind the first round */
    const char *tile;    /* register of a claimed tile, NULL none */
    const GPtrArray *to; /* list of a round */
    WsPyNode node;
} Walked;

gboolean ptx_in_round(const PtxWalk *w)
{
    return w->walked ? ((const Walked *)w->walked)->to == w->p.to : w->p.to == w->p.group->body;
}

static gboolean inside(const WsPtxLoop *l, guint b)
{
    return g_hash_table_contains(l->blocks, GUINT_TO_POINTER(b));
}

static void run_blocks(PtxWalk *w, guint block, gint stop, gboolean first);

static void run_round(PyRead *p, PyLoop *l)
{
    PtxWalk *w = (PtxWalk *)p;
    Walked *own = (Walked *)l;
    Walked *outer = w->walked;
    w->walked = own;
    own->to = w->p.to;
    w->again = NULL;
    w->tested_first = FALSE;
    w->fresh = TRUE;
    const guint passed = w->passed;
    const gboolean apart = w->apart;
    const PtxFlying flying = ptx_flying_copy(w);
    run_blocks(w, own->head, (gint)own->head, TRUE);
    ptx_flying_join(w, flying); /* of what was before the first round, too */
    w->apart |= apart;          /* of what was before the first round, or left by the last one */
    w->passed = passed;
    if (w->ended) { /* of a loop in which threads end nothing is known behind it */
        ptx_lost(w, ws_ptx_inst(w->ptx, block_at(w, own->head)->first),
                 "a loop in which a thread may end");
        w->ended = FALSE;
    }
    ptx_products_closed(w, ws_ptx_inst(w->ptx, block_at(w, own->head)->first));
    if (own->tile)
        ptx_claim_taken(w, own->tile, ws_ptx_inst(w->ptx, block_at(w, own->head)->first));
    w->walked = outer;
}

static void over_tile(PtxWalk *w, PyLoop *l, const char *name)
{
    WsPyNode *target = g_new0(WsPyNode, 1);
    g_ptr_array_add(w->p.r->pool, target);
    target->kind = WS_PY_NAME;
    target->text = name;
    l->target = target;
}

static gboolean decide(PyRead *p, PyLoop *l, GArray *carries)
{
    PtxWalk *w = (PtxWalk *)p;
    WsRead *r = p->r;
    const WsExpr *left = ptx_left_over(r, w->again);
    ((Walked *)l)->once = !w->tested_first;
    if ((w->again && ws_x_mentions(w->again, PTX_TOKEN)) || !ptx_begin_below(p, carries))
        return FALSE;
    if (!ptx_turn_together(p, carries)) { /* said of a round that is only tried, too */
        if (!w->lost)
            ptx_lose_line(w, l->node->line, "a parity that restarts where its slot continues");
        return FALSE;
    }
    const char *tile = ptx_claims_tiles(w, l, carries, left);
    if (tile) {
        over_tile(w, l, tile);
        ((Walked *)l)->tile = tile;
        return TRUE;
    }
    for (guint i = 0; left && i < carries->len; i++) {
        PyCarry *c = &g_array_index(carries, PyCarry, i);
        gint64 factor, step;
        if (!c->atom || !c->end || c->end->kind != VAL_INT || !ws_x_mentions(left, c->atom))
            continue;
        py_classify(p, c);
        if (c->kind != CARRY_LINEAR)
            break;
        const WsExpr *rest = ws_x_without(r, left, c->atom, FALSE, &factor);
        if (factor == 1 && w->again->op == WS_EXPR_NE) { /* x != 0 counting down or up */
            left = ws_x_op(r, WS_EXPR_NEG, left, NULL);
            rest = ws_x_without(r, left, c->atom, FALSE, &factor);
        }
        const WsExpr *added = w->tested_first ? ws_x_int(r, 0) : c->step;
        if (factor == -1 && w->again->op != WS_EXPR_NE &&
            py_over_tiles(p, l, c->entry->e, ws_x_op(r, WS_EXPR_ADD, rest, added), c->step)) {
            over_tile(w, l, c->name);
            c->atom = NULL;
            return TRUE;
        }
        if (!ws_x_is(c->step, &step) || step * -factor <= 0)
            break;
        const gint64 g = step * -factor;
        const WsExpr *start = ws_x_replace(r, left, c->atom, c->entry->e);
        if (w->again->op == WS_EXPR_NE && !ptx_comes_to_zero(start, g))
            break;
        if (!w->tested_first)
            start = ws_x_op(r, WS_EXPR_ADD, start, ws_x_int(r, g));
        l->count = ptx_rounds_of(r, start, g);
        if (l->count && l->count->n_args && ptx_of_launch(r, l->count) &&
            !g_ptr_array_find_with_equal_func(w->least, l->count, (GEqualFunc)ws_expr_equal, NULL))
            g_ptr_array_insert(w->least, (gint)w->always++, (gpointer)l->count);
        return l->count != NULL;
    }
    return FALSE;
}

static gboolean is_control(const PtxWalk *w, const WsPtxInst *i)
{
    return !strncmp(i->op, "bra", 3) || !strncmp(i->op, "brx", 3) || !strncmp(i->op, "call", 4) ||
           ws_ptx_end(w->ptx, i) != PTX_GOES_ON;
}

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A register that a loop sets: its value at the head is followed if it is an integer, forgotten if
 * it is anything else that could stay. */
static void assigned(PtxWalk *w, const char *name, GHashTable *seen, GPtrArray *names)
{
    if (g_hash_table_contains(w->matrix, name))
        g_hash_table_add(w->turned, (gpointer)name);
    if (g_hash_table_contains(seen, name) || g_hash_table_contains(w->matrix, name))
        return;
    const Val *v = g_hash_table_lookup(w->p.frame->vars, name);
    if (!v || v->kind == VAL_OPAQUE)
        return;
    g_hash_table_add(seen, (gpointer)name);
    if (v->kind == VAL_INT || v->kind == VAL_PARAM)
        g_ptr_array_add(names, (gpointer)name);
    else if (v->kind != VAL_TILE)
        ptx_set(w, name, py_opaque(&w->p));
}

static void collect_assigned(PtxWalk *w, const WsPtxLoop *l, GPtrArray *names)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    GHashTableIter it;
    gpointer key;
    g_hash_table_iter_init(&it, l->blocks);
    while (g_hash_table_iter_next(&it, &key, NULL)) {
        const WsPtxBlock *b = block_at(w, GPOINTER_TO_UINT(key));
        for (guint i = b->first; i <= b->last; i++) {
            const WsPtxInst *x = ws_ptx_inst(w->ptx, i);
            if (!x->n || *x->arg[0] == '[' || is_control(w, x))
                continue;
            if (!strpbrk(x->arg[0], "{|")) {
                assigned(w, x->arg[0], seen, names);
                continue;
            }
            g_autofree char *list = g_strdelimit(g_strdup(x->arg[0]), "{},|", ' ');
            g_auto(GStrv) word = g_strsplit(list, " ", -1);
            for (guint k = 0; word[k]; k++)
                if (*word[k])
                    assigned(w, g_string_chunk_insert_const(w->p.r->text, word[k]), seen, names);
        }
    }
    g_ptr_array_sort(names, by_name);
}

/* The loop whose head `block` is; the block behind it, -1: it could not be read. */
static gint loop(PtxWalk *w, guint block)
{
    const WsPtxLoop *l = &g_array_index(w->ptx->loops, WsPtxLoop, block_at(w, block)->loop);
    Walked own = { .head = block, .exit = -1, .blocks = l };
    own.node.line = ws_ptx_inst(w->ptx, block_at(w, block)->first)->line;
    own.node.column = 1;
    own.node.end_line = own.node.line;
    own.loop.node = &own.node;
    own.loop.run = run_round;
    own.loop.decide = decide;
    own.loop.names = g_ptr_array_new();
    collect_assigned(w, l, own.loop.names);
    w->p.budget += 2000 + 20 * w->p.loop_names->len;
    own.loop.name = py_group_name(&w->p, "k");
    ptx_products_closed(w, ws_ptx_inst(w->ptx, block_at(w, block)->first));
    g_hash_table_add(w->heads, GUINT_TO_POINTER(block));
    const gboolean good = w->p.loops->len < 10 && py_walk(&w->p, &own.loop);
    g_hash_table_remove(w->heads, GUINT_TO_POINTER(block));
    if (good)
        ptx_forget_rounds(w, &own.loop);
    g_ptr_array_unref(own.loop.names);
    WsReadStep *made = good && w->p.to->len ? g_ptr_array_index(w->p.to, w->p.to->len - 1) : NULL;
    if (made && made->kind == WS_READ_FOR && own.once)
        made->text = PTX_ONCE;
    if (!good) {
        const WsPtxInst *i = ws_ptx_inst(w->ptx, block_at(w, block)->first);
        ptx_lost(w, i, "a loop whose rounds are not known");
        GHashTableIter it;
        gpointer key;
        g_hash_table_iter_init(&it, l->blocks); /* go on behind it */
        while (own.exit < 0 && g_hash_table_iter_next(&it, &key, NULL)) {
            const GArray *next = block_at(w, GPOINTER_TO_UINT(key))->next;
            for (guint k = 0; k < next->len; k++)
                if (!inside(l, g_array_index(next, guint, k)))
                    own.exit = (gint)g_array_index(next, guint, k);
        }
    }
    return own.exit;
}

/* --- branches --------------------------------------------------------------------------------- */

static GHashTable *copy_vars(GHashTable *from)
{
    GHashTable *to = g_hash_table_new(g_str_hash, g_str_equal);
    GHashTableIter it;
    gpointer key, value;
    g_hash_table_iter_init(&it, from);
    while (g_hash_table_iter_next(&it, &key, &value))
        g_hash_table_insert(to, key, value);
    return to;
}

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
    run_blocks(w, block, join, FALSE);
    g_ptr_array_set_size(w->least, (gint)(w->always + known));
}

/* if (c) then taken else fall, up to the join. */
static void choice(PtxWalk *w, const WsPtxInst *at, const WsExpr *c, guint taken, guint fall,
                   gint join)
{
    WsRead *r = w->p.r;
    GPtrArray *to = w->p.to;
    WsReadStep *s = ws_source_step(r, NULL, WS_READ_IF, at->line, 1, at->line);
    GHashTable *vars = w->p.frame->vars, *before = copy_vars(vars);
    const gboolean skips = (gint)taken == join;
    ptx_products_closed(w, at);
    w->p.to = s->other;
    const guint before_both = w->passed, by_path = w->by_path;
    const gboolean apart = w->apart;
    const PtxFlying flying = ptx_flying_copy(w);
    path_blocks(w, c, FALSE, fall, join);
    const guint passed = w->passed;
    const gboolean left_apart = w->apart;
    w->apart = apart;
    w->passed = before_both;
    ptx_products_closed(w, at);
    const gboolean ended = w->ended;
    w->ended = FALSE;
    w->p.to = s->body;
    GHashTable *fell = copy_vars(w->p.frame->vars);
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
    const gboolean pid = ws_x_mentions(c, PY_PID);
    if (skips && ptx_guards(&w->p, c, only_step(s->other))) {
        /* the loop itself makes no round where it is skipped */
        WsReadStep *loop = (WsReadStep *)only_step(s->other);
        if (loop && loop->kind == WS_READ_FOR)
            loop->text = NULL;
        splice(to, s->other);
        if (w->by_path != by_path && loop && loop->e) /* values that hold on this way only */
            ptx_merge_rounds(w, w->p.frame->vars, fell, loop->e, c);
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
        ptx_merge_rounds(w, side ? now : fell, side ? fell : now, guarded->e, side ? c : none);
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

/* The thread ends where c holds, before it did anything: so have all of the CTA that do anything
 * (same_ends), and those of all CTAs of a cluster. */
static void skip(PtxWalk *w, const WsPtxInst *i, const WsExpr *c)
{
    const gboolean alone = w->p.r->cluster > 1 && ws_x_mentions(c, "cta");
    if (ptx_works(w->p.group->body) || alone)
        ptx_lost(w, i,
                 alone ? "a CTA that leaves its cluster before the others"
                       : "a CTA that is left in the middle");
    g_ptr_array_add(w->skips, (gpointer)c);
}

/* The block behind a conditional branch; -1: the round or the path ends here. */
static gint conditional(PtxWalk *w, const WsPtxInst *i, guint block, gint stop)
{
    const WsPtxBlock *b = block_at(w, block);
    const WsExpr *c = ptx_condition(w, i);
    const guint taken = g_array_index(b->next, guint, 0);
    const guint fall = b->next->len > 1 ? g_array_index(b->next, guint, 1) : taken;
    gint64 known;
    if (ws_x_is(c, &known)) {
        if (g_hash_table_contains(w->told, i->guard))
            g_hash_table_add(w->nobody, GUINT_TO_POINTER(known ? fall : taken));
        return (gint)(known ? taken : fall);
    }
    if (block_at(w, taken)->aborts != block_at(w, fall)->aborts) {
        const gboolean by_branch = block_at(w, taken)->aborts;
        ptx_no_abort(w, by_branch ? taken : fall,
                     by_branch || !c ? c : ws_x_op(w->p.r, WS_EXPR_NOT, c, NULL));
        return (gint)(by_branch ? fall : taken);
    }
    if (c && ws_x_mentions(c, PY_PID) && !w->walked && !w->depth &&
        ptx_ends_at_once(w, taken) != ptx_ends_at_once(w, fall)) {
        const gboolean ends = ptx_ends_at_once(w, taken);
        skip(w, i, ends ? c : ws_x_op(w->p.r, WS_EXPR_NOT, c, NULL));
        return (gint)(ends ? fall : taken);
    }
    Walked *own = w->walked;
    if (own && (taken == own->head || fall == own->head)) {
        w->again = taken == own->head ? c : ws_x_op(w->p.r, WS_EXPR_NOT, c, NULL);
        own->exit = (gint)(taken == own->head ? fall : taken);
        return -1;
    }
    if (own && inside(own->blocks, taken) != inside(own->blocks, fall)) {
        const gboolean in = inside(own->blocks, taken);
        if (!w->fresh || w->again) {
            ptx_lost(w, i, "a loop that is left in the middle");
        } else {
            w->again = in ? c : ws_x_op(w->p.r, WS_EXPR_NOT, c, NULL);
            w->tested_first = TRUE;
            own->exit = (gint)(in ? fall : taken);
        }
        return (gint)(in ? taken : fall);
    }
    if (ptx_of_claim(c))
        c = NULL;
    const gboolean pid = c && ws_x_mentions(c, PY_PID);
    if ((!c || pid) && b->join >= 0 && (!own || inside(own->blocks, (guint)b->join)) &&
        ptx_quiet(w, block, (guint)b->join, pid))
        return b->join == stop ? -1 : b->join;
    if (!c || w->depth >= PTX_MAX_DEPTH) {
        ptx_lost(w, i, c ? "branches nested too deep" : "a branch whose condition is not known");
        return (gint)fall;
    }
    const gint join = own && b->join >= 0 && !inside(own->blocks, (guint)b->join) ? stop : b->join;
    w->depth++;
    w->p.budget += 2000; /* all registers are copied twice */
    choice(w, i, c, taken, fall, join);
    w->depth--;
    if (join < 0)
        w->ended = TRUE;
    return join == stop ? -1 : join;
}

static gint table(PtxWalk *w, const WsPtxInst *i)
{
    gint64 n;
    const GPtrArray *labels = i->n > 1 ? g_hash_table_lookup(w->ptx->tables, i->arg[1]) : NULL;
    if (!labels || i->guard || !ws_x_is(ptx_int(w, i->arg[0]), &n) || n < 0 || n >= labels->len) {
        ptx_lost(w, i, "a jump by a table whose place is not known");
        w->ended = TRUE;
        return -1;
    }
    const gint at =
        ws_ptx_label(w->ptx, g_ptr_array_index(labels, n), (guint)(i - ws_ptx_inst(w->ptx, 0)));
    return at < 0 || (guint)at >= w->ptx->inst->len
               ? -1
               : (gint)g_array_index(w->ptx->block_of, guint, at);
}

static gint after(PtxWalk *w, guint block, gint stop)
{
    const WsPtxBlock *b = block_at(w, block);
    const WsPtxInst *i = ws_ptx_inst(w->ptx, b->last);
    const PtxEnd end = ws_ptx_end(w->ptx, i);
    if (end != PTX_GOES_ON) {
        gint64 known;
        const WsExpr *c = ptx_predicate(w, i);
        if (!i->guard || (ws_x_is(c, &known) && known)) {
            if (end == PTX_ABORTS)
                ptx_lost(w, i, "a thread that always ends the launch");
            w->ended = TRUE;
            return -1;
        }
        if (!ws_x_is(c, &known) && end == PTX_ABORTS) {
            ptx_no_abort_at(w, i, c);
        } else if (!ws_x_is(c, &known)) {
            if (c && ws_x_mentions(c, PY_PID) && !w->walked && !w->depth)
                skip(w, i, c);
            else
                ptx_lost(w, i, "a thread that ends under a condition");
        }
    } else if (g_str_has_prefix(i->op, "brx")) {
        return table(w, i);
    } else if (i->target >= 0 && i->guard && !i->spin) {
        return conditional(w, i, block, stop);
    } else if (!strncmp(i->op, "bra", 3) && i->target < 0 && !i->spin) {
        ptx_lost(w, i, "a branch to a place that is not known");
        w->ended = TRUE;
        return -1;
    }
    return b->next->len ? (gint)g_array_index(b->next, guint, b->next->len - 1) : -1;
}

static void run_blocks(PtxWalk *w, guint block, gint stop, gboolean first)
{
    for (gint at = (gint)block; at >= 0 && !w->ended && !*w->p.r->error; first = FALSE) {
        if (!first && at == stop)
            return;
        const WsPtxBlock *b = block_at(w, (guint)at);
        const gboolean open = g_hash_table_contains(w->heads, GINT_TO_POINTER(at));
        if (b->loop >= 0 && g_array_index(w->ptx->loops, WsPtxLoop, b->loop).dispatch) {
            if (open && ++w->dispatched > PTX_MAX_DEPTH) { /* back for more work */
                ptx_lost(w, ws_ptx_inst(w->ptx, b->first), "a loop of work that does not end");
                w->ended = TRUE;
                return;
            }
            g_hash_table_add(w->heads, GINT_TO_POINTER(at));
        } else if (b->loop >= 0 && !first) {
            if (open)
                return;
            at = loop(w, (guint)at);
            continue;
        }
        const guint steps = w->p.to->len;
        const gint branch = (gint)b->last;
        for (gint i = (gint)b->first; i <= branch && !*w->p.r->error; i++) {
            const WsPtxInst *x = ws_ptx_inst(w->ptx, (guint)i);
            if (!is_control(w, x) || !strncmp(x->op, "call", 4))
                ptx_instruction(w, x);
        }
        if (w->p.to->len != steps)
            w->fresh = FALSE;
        at = after(w, (guint)at, stop);
    }
}

void ptx_run(PtxWalk *w, guint block, gint stop)
{
    run_blocks(w, block, stop, FALSE);
}
