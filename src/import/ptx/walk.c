#include "import/ptx/walk.h"
#include "import/ptx/rolled.h"

#include <string.h>

/* Blocks: straight code, branches that meet again, loops. */

static const WsPtxBlock *block_at(const PtxWalk *w, guint b)
{
    return &g_array_index(w->ptx->blocks, WsPtxBlock, b);
}

static void ptx_instruction(PtxWalk *w, const WsPtxInst *i)
{
    if (!ws_source_reads(w->p.r, i->line) || !ws_source_works(w->p.r, 40))
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
    const PtxRound *round; /* what a round is, where it is not what its blocks say */
    gboolean once;         /* the condition stands behind the first round */
    const char *tile;      /* register of a claimed tile, NULL none */
    GPtrArray *settled;    /* const char*: registers that the last round leaves otherwise */
    const GPtrArray *to;   /* list of a round */
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

static void part_of_round(PtxWalk *w, const PtxRound *round)
{
    GHashTableIter it;
    gpointer name, n;
    w->cut = round->cut;
    run_blocks(w, round->head, round->stop, TRUE);
    w->cut = 0;
    if (!round->add)
        return;
    g_hash_table_iter_init(&it, round->add);
    while (g_hash_table_iter_next(&it, &name, &n)) {
        const WsExpr *e = ptx_int(w, name);
        const WsExpr *next =
            e ? ws_x_op(w->p.r, WS_EXPR_ADD, e, ws_x_int(w->p.r, GPOINTER_TO_INT(n))) : NULL;
        ptx_set(w, name, next ? ptx_value(w, next) : py_opaque(&w->p));
    }
}

static void follow_round(PtxWalk *w, Walked *own)
{
    Walked *outer = w->walked;
    w->walked = own;
    own->to = w->p.to;
    w->again = NULL;
    w->tested_first = FALSE;
    w->fresh = TRUE;
    const guint passed = w->passed, inner = w->inner_syncs;
    const gboolean apart = w->apart, held = w->held;
    const PtxFlying flying = ptx_flying_copy(w);
    if (own->round)
        part_of_round(w, own->round);
    else
        run_blocks(w, own->head, (gint)own->head, TRUE);
    ptx_flying_join(w, flying); /* of what was before the first round, too */
    w->apart |= apart;          /* of what was before the first round, or left by the last one */
    w->passed = passed;
    w->held = held || (!w->p.probing && (w->held || w->inner_syncs != inner));
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

static void run_round(PyRead *p, PyLoop *l)
{
    follow_round((PtxWalk *)p, (Walked *)l);
}

void ptx_round(PtxWalk *w, const PtxRound *round)
{
    Walked own = { .head = round->head, .exit = -1, .blocks = round->blocks, .round = round };
    follow_round(w, &own);
}

static void over_tile(PtxWalk *w, PyLoop *l, const char *name)
{
    WsPyNode *target = g_new0(WsPyNode, 1);
    g_ptr_array_add(w->p.r->pool, target);
    target->kind = WS_PY_NAME;
    target->text = name;
    l->target = target;
}

/* What a round leaves where another one follows: that is what the next one begins with. */
static void settle_carries(PtxWalk *w, Walked *own, GArray *carries)
{
    for (guint i = 0; i < carries->len; i++) {
        PyCarry *c = &g_array_index(carries, PyCarry, i);
        const WsExpr *e =
            c->end && c->end->kind == VAL_INT ? ptx_settled(w, c->end->e, w->again, TRUE) : NULL;
        if (!e || e == c->end->e)
            continue;
        PyCarry one = *c;
        one.end = c->end = py_int(&w->p, e);
        py_classify(&w->p, &one);
        if (one.kind != CARRY_LINEAR && one.kind != CARRY_MOD)
            c->end = py_opaque(&w->p); /* no count of rounds says what it is */
        g_ptr_array_add(own->settled, (gpointer)c->name);
    }
}

static gboolean decide(PyRead *p, PyLoop *l, GArray *carries)
{
    PtxWalk *w = (PtxWalk *)p;
    WsRead *r = p->r;
    settle_carries(w, (Walked *)l, carries);
    const WsExpr *left = ptx_left_over(r, w->again);
    ((Walked *)l)->once = !w->tested_first;
    if ((w->again && ws_expr_mentions(w->again, PTX_TOKEN)) || !ptx_begin_below(p, carries))
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
        if (!c->atom || !c->end || c->end->kind != VAL_INT || !ws_expr_mentions(left, c->atom))
            continue;
        py_classify(p, c);
        if (c->kind != CARRY_LINEAR)
            break;
        const WsExpr *rest = ws_x_without(r, left, c->atom, FALSE, &factor);
        if (w->again->op == WS_EXPR_NE && ws_x_is(c->step, &step) &&
            step * factor > 0) { /* x != 0 counting down or up */
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
    own.settled = g_ptr_array_new();
    ptx_products_closed(w, ws_ptx_inst(w->ptx, block_at(w, block)->first));
    g_hash_table_add(w->heads, GUINT_TO_POINTER(block));
    const gboolean good = w->p.loops->len < 10 && py_walk(&w->p, &own.loop);
    g_hash_table_remove(w->heads, GUINT_TO_POINTER(block));
    if (good)
        ptx_forget_rounds(w, &own.loop);
    for (guint i = 0; i < own.settled->len; i++)
        ptx_set(w, g_ptr_array_index(own.settled, i), py_opaque(&w->p));
    g_ptr_array_unref(own.settled);
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

static gboolean is_counted(PyRead *p, PyLoop *l, GArray *carries)
{
    PtxWalk *w = (PtxWalk *)p;
    if (!ptx_begin_below(p, carries))
        return FALSE;
    if (!ptx_turn_together(p, carries)) {
        ptx_lose_line(w, l->node->line, "a parity that restarts where its slot continues");
        return FALSE;
    }
    l->count = ((Walked *)l)->round->count;
    return TRUE;
}

void ptx_rounds(PtxWalk *w, const PtxRound *round, GPtrArray *names)
{
    const WsPtxInst *at = ws_ptx_inst(w->ptx, block_at(w, round->head)->first);
    Walked own = { .head = round->head, .exit = -1, .blocks = round->blocks, .round = round };
    own.node.line = own.node.end_line = at->line;
    own.node.column = 1;
    own.loop.node = &own.node;
    own.loop.run = run_round;
    own.loop.decide = is_counted;
    own.loop.names = names;
    w->p.budget += 2000 + 20 * w->p.loop_names->len;
    own.loop.name = py_group_name(&w->p, "k");
    ptx_products_closed(w, at);
    if (w->p.loops->len < 10 && py_walk(&w->p, &own.loop))
        ptx_forget_rounds(w, &own.loop);
    else
        ptx_lost(w, at, "a loop whose rounds are not known");
}

/* --- branches --------------------------------------------------------------------------------- */

guint ptx_forward(const PtxWalk *w, guint b)
{
    for (guint steps = 0; steps < 4; steps++) {
        const WsPtxBlock *block = block_at(w, b);
        if (block->first != block->last || block->next->len != 1 ||
            ws_ptx_inst(w->ptx, block->last)->guard ||
            strncmp(ws_ptx_inst(w->ptx, block->last)->op, "bra", 3) || block->loop >= 0)
            break;
        b = g_array_index(block->next, guint, 0);
    }
    return b;
}

/* The thread ends where c holds, before it did anything: so have all of the CTA that do anything
 * (same_ends), and those of all CTAs of a cluster. */
static void skip(PtxWalk *w, const WsPtxInst *i, const WsExpr *c)
{
    const gboolean alone = w->p.r->cluster > 1 && ws_expr_mentions(c, "cta");
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
    if (c && ws_expr_mentions(c, PY_PID) && !w->walked && !w->depth &&
        (b->join < 0 || !ptx_works(w->p.group->body)) &&
        ptx_ends_at_once(w, taken) != ptx_ends_at_once(w, fall)) {
        const gboolean ends = ptx_ends_at_once(w, taken);
        skip(w, i, ends ? c : ws_x_op(w->p.r, WS_EXPR_NOT, c, NULL));
        ptx_settle(w, c, !ends);
        return (gint)(ends ? fall : taken);
    }
    Walked *own = w->walked;
    const gboolean back = own && ptx_forward(w, taken) == own->head;
    if (back || (own && ptx_forward(w, fall) == own->head)) {
        w->again = back ? c : ws_x_op(w->p.r, WS_EXPR_NOT, c, NULL);
        own->exit = (gint)(back ? fall : taken);
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
    const gboolean pid = c && ws_expr_mentions(c, PY_PID);
    if ((!c || pid) && b->join >= 0 && (!own || inside(own->blocks, (guint)b->join)) &&
        ptx_quiet(w, block, (guint)b->join, pid))
        return b->join == stop ? -1 : b->join;
    if ((!own || (b->join >= 0 && inside(own->blocks, (guint)b->join))) &&
        ptx_alike(w, i, taken, fall, b->join))
        return b->join == stop ? -1 : b->join;
    if (!c || w->depth >= PTX_MAX_DEPTH) {
        ptx_lost(w, i, c ? "branches nested too deep" : "a branch whose condition is not known");
        return (gint)fall;
    }
    const gint rolled = ptx_rolled(w, block, c);
    if (rolled >= 0)
        return rolled == stop ? -1 : rolled;
    const gint join = own && b->join >= 0 && !inside(own->blocks, (guint)b->join) ? stop : b->join;
    const guint outer = w->branched, inner = w->inner_syncs;
    const gboolean held = w->held;
    w->depth++;
    w->p.budget += 2000; /* all registers are copied twice */
    ptx_choice(w, i, c, taken, fall, join);
    w->depth--;
    w->branched = outer;
    w->held |= held || w->inner_syncs != inner;
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
            if (c && ws_expr_mentions(c, PY_PID) && !w->walked && !w->depth)
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
        if (w->cut == (guint)at + 1)
            return;
        at = after(w, (guint)at, stop);
    }
}

void ptx_run(PtxWalk *w, guint block, gint stop)
{
    run_blocks(w, block, stop, FALSE);
}
