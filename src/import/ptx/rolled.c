#include "import/ptx/rolled.h"
#include "import/ptx/walk.h"

#include <string.h>

/* Loops that a compiler unrolled: one that makes U rounds at once, T / U times, and behind it what
 * makes the T mod U rounds that are left: a loop of single rounds, or straight code that is left
 * after each of them. They are read as one loop of T single rounds, if that is what they do: what
 * U single rounds make of unknown registers, step by step, is what the unrolled round makes of
 * them. Registers of which that is not so are not known in the rounds, or behind the loop. */

static const WsPtxBlock *block_at(const PtxWalk *w, guint b)
{
    return &g_array_index(w->ptx->blocks, WsPtxBlock, b);
}

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_vars(PtxWalk *w, GHashTable *from)
{
    GHashTableIter it;
    gpointer key, value;
    g_hash_table_remove_all(w->p.frame->vars);
    g_hash_table_iter_init(&it, from);
    while (g_hash_table_iter_next(&it, &key, &value))
        g_hash_table_insert(w->p.frame->vars, key, value);
}

/* None of them is known any more, but for sums of products. */
static void forget_all(PtxWalk *w, GHashTable *names, GHashTable *but)
{
    GHashTableIter it;
    gpointer key;
    g_hash_table_iter_init(&it, names);
    while (g_hash_table_iter_next(&it, &key, NULL))
        if (!g_hash_table_contains(w->matrix, key) && !(but && g_hash_table_contains(but, key)))
            g_hash_table_insert(w->p.frame->vars, key, (gpointer)py_opaque(&w->p));
}

/* x + c n, which is below 0 where x / n + c is; e itself if it is not that. */
static const WsExpr *whole_steps(WsRead *r, const WsExpr *e)
{
    gint64 n, c;
    const WsExpr *x = e ? ptx_steps_over(r, e, FALSE, &n, &c) : NULL;
    return x && n < 1 << 20 && c > -(1 << 20) && c < 1 << 20
               ? ws_x_op(r, WS_EXPR_ADD, x, ws_x_int(r, c * n))
               : e;
}

/* max(x, n) + c as x + c where x is known not to be below n; else e. */
static const WsExpr *without_most(PtxWalk *w, const WsExpr *e)
{
    WsRead *r = w->p.r;
    WsAffine f;
    if (!ws_expr_affine(e, &f))
        return e;
    const WsExpr *t = f.n == 1 && f.factor[0] == 1 ? f.term[0] : NULL;
    const gboolean most = t && t->op == WS_EXPR_CALL && t->func == WS_FUNC_MAX && t->n_args == 2;
    for (guint k = 0; most && k < 2; k++) {
        const WsExpr *x = ws_x_own(r, ws_expr_ref(t->arg[k])),
                     *n = ws_x_own(r, ws_expr_ref(t->arg[1 - k]));
        if (ptx_not_negative(w, ws_x_op(r, WS_EXPR_SUB, x, n))) {
            e = ws_x_op(r, WS_EXPR_ADD, x, ws_x_int(r, f.constant));
            break;
        }
    }
    ws_affine_clear(&f);
    return e;
}

/* The unrolled loop is left out exactly where T is below U; T is above 0. */
static gboolean is_guard(PtxWalk *w, const WsExpr *skips, const WsExpr *rounds, gint64 by)
{
    WsRead *r = w->p.r;
    gint64 d;
    const WsExpr *c = ptx_positive(r, skips);
    const guint by_path = w->by_path;
    const gboolean any = ptx_not_negative(w, ws_x_op(r, WS_EXPR_SUB, rounds, ws_x_int(r, 1)));
    w->by_path = by_path; /* without a round both do nothing */
    if (!c || c->n_args != 2 || !any)
        return FALSE;
    const WsExpr *a = ws_x_own(r, ws_expr_ref(c->arg[0])), *b = ws_x_own(r, ws_expr_ref(c->arg[1]));
    const WsExpr *less = ws_x_op(r, WS_EXPR_SUB, a, b);
    less = less ? without_most(w, less) : NULL;
    w->by_path = by_path;
    const WsExpr *want = ws_x_op(r, WS_EXPR_SUB, rounds, ws_x_int(r, by));
    if (c->op == WS_EXPR_LT && less && ws_x_difference(less, whole_steps(r, want), &d) && d == 0)
        return TRUE;
    if (c->op == WS_EXPR_LT)
        return less && ws_x_difference(less, want, &d) && d == 0;
    if (c->op == WS_EXPR_LE)
        return less && ws_x_difference(less, want, &d) && d == -1;
    if (c->op != WS_EXPR_EQ || by != 2)
        return FALSE;
    const gint64 each =
        rounds->op == WS_EXPR_DIV && ws_x_is(rounds->arg[1], &d) && d > 0 && d < 1 << 20 ? d : 1;
    const WsExpr *one = ws_x_op(r, WS_EXPR_SUB, rounds, ws_x_int(r, 1));
    return ptx_same(ptx_ring_form(r, less),
                    ptx_ring_form(r, ws_x_op(r, WS_EXPR_MUL, one, ws_x_int(r, each))));
}

/* --- trying it -------------------------------------------------------------------------------- */

static void only_block(PtxWalk *w, guint block)
{
    w->cut = block + 1;
    ptx_run(w, block, -1);
    w->cut = 0;
}

/* What stands between the two. */
static void between(const PtxRolled *o)
{
    only_block(o->w, o->test);
    if (o->first != o->single.head)
        ptx_run(o->w, o->first, (gint)o->single.head);
}

/* Registers that only the unrolled round counts on: what one of its U rounds adds. */
static void find_added(PtxRolled *o, GHashTable *start, GHashTable *left)
{
    g_autoptr(GHashTable) own = g_hash_table_new(g_str_hash, g_str_equal);
    GHashTableIter it;
    gpointer name;
    gint64 d;
    ptx_note_written_of(o->w, o->single.blocks->blocks, own);
    g_hash_table_iter_init(&it, o->written);
    while (g_hash_table_iter_next(&it, &name, NULL)) {
        const Val *a = g_hash_table_lookup(start, name), *b = g_hash_table_lookup(left, name);
        if (!g_hash_table_contains(own, name) && a && b && a->kind == VAL_INT &&
            b->kind == VAL_INT && ws_x_difference(a->e, b->e, &d) && d && d % o->by == 0 &&
            d > -(1 << 28) && d < 1 << 28)
            g_hash_table_insert(o->single.add, name, GINT_TO_POINTER((gint)(d / o->by)));
    }
}

/* What goes on is the same in both. */
static gboolean goes_on_alike(const PtxRolled *o, GHashTable *a, GHashTable *b)
{
    GHashTableIter it;
    gpointer name;
    g_hash_table_iter_init(&it, o->read);
    while (g_hash_table_iter_next(&it, &name, NULL))
        if (strcmp(name, o->left) && !g_hash_table_contains(o->w->matrix, name) &&
            !ptx_same_value(g_hash_table_lookup(a, name), g_hash_table_lookup(b, name)))
            return FALSE;
    return TRUE;
}

/* Straight code makes as many single rounds as are left: 1 … U - 1. */
static gboolean is_straight(PtxRolled *o, GHashTable *start, GPtrArray *single,
                            const guint *n_steps, GPtrArray *states)
{
    PtxWalk *w = o->w;
    gboolean good = TRUE;
    GHashTableIter it;
    gpointer name;
    for (gint64 k = 1; k < o->by && good; k++) {
        g_autoptr(GPtrArray) steps = g_ptr_array_new();
        g_autoptr(GPtrArray) some = g_ptr_array_new();
        const PtxFlying flying = ptx_flying_copy(w);
        put_vars(w, start);
        ptx_set(w, o->left, py_literal(&w->p, k));
        w->p.to = steps;
        only_block(w, o->test);
        ptx_set(w, o->left, py_literal(&w->p, k)); /* where it computes that, too */
        ptx_round(w, &o->all);
        ptx_flying_join(w, flying);
        for (guint i = 0; i < n_steps[k]; i++)
            g_ptr_array_add(some, g_ptr_array_index(single, i));
        g_autoptr(GHashTable) now = py_copy_vars(w->p.frame->vars);
        g_hash_table_iter_init(&it, o->single.add); /* nobody reads them behind it */
        while (g_hash_table_iter_next(&it, &name, NULL))
            g_hash_table_insert(now, name, g_hash_table_lookup(g_ptr_array_index(states, k), name));
        good = !w->ended && ptx_same_steps(w, some, steps) &&
               goes_on_alike(o, now, g_ptr_array_index(states, k));
    }
    return good;
}

/* How many rounds the unrolled loop makes: it goes on until a number is 0 that counts by U. */
static gboolean find_by(PtxRolled *o, const WsExpr *again)
{
    WsRead *r = o->w->p.r;
    const char *k = o->loop.name;
    gint64 d;
    if (!again || o->w->tested_first || again->op != WS_EXPR_NE)
        return FALSE;
    const WsExpr *x = ws_x_op(r, WS_EXPR_SUB, ws_x_own(r, ws_expr_ref(again->arg[0])),
                              ws_x_own(r, ws_expr_ref(again->arg[1])));
    if (!x || py_holds_trial(x))
        return FALSE;
    const WsExpr *next =
        ws_x_replace(r, x, k, ws_x_op(r, WS_EXPR_ADD, ws_x_name(r, k), ws_x_int(r, 1)));
    if (!ws_x_difference(x, next, &d) || d < -PTX_MOST_AT_ONCE || d > PTX_MOST_AT_ONCE ||
        ABS(d) < 2 || (o->two && ABS(d) != 2))
        return FALSE;
    o->by = ABS(d);
    o->most = ws_x_op(r, d < 0 ? WS_EXPR_ADD : WS_EXPR_SUB, ws_x_int(r, o->by),
                      ws_x_replace(r, x, k, ws_x_int(r, 0)));
    return o->most && !py_holds_trial(o->most);
}

/* Registers that every round adds the same number to are what they were and so many times that. */
static void set_linear(const PtxRolled *o)
{
    GHashTableIter it;
    gpointer name, e;
    g_hash_table_iter_init(&it, o->linear);
    while (g_hash_table_iter_next(&it, &name, &e))
        ptx_set(o->w, name, ptx_value(o->w, e));
}

static void try_one(PyRead *p, PyLoop *l)
{
    const PtxRolled *o = (PtxRolled *)l;
    const PtxFlying flying = ptx_flying_copy(o->w);
    ptx_round(o->w, &o->at_once);
    ptx_flying_join(o->w, flying);
    o->w->ended = FALSE;
}

static void try_both(PyRead *p, PyLoop *l)
{
    PtxRolled *o = (PtxRolled *)l;
    PtxWalk *w = o->w;
    GPtrArray *to = p->to;
    w->compares = TRUE;
    set_linear(o);
    guint n_steps[PTX_MOST_AT_ONCE + 1] = { 0 };
    g_autoptr(GHashTable) start = py_copy_vars(w->p.frame->vars);
    g_autoptr(GPtrArray) at_once = g_ptr_array_new(), single = g_ptr_array_new();
    g_autoptr(GPtrArray) states =
        g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref);
    const PtxFlying flying = ptx_flying_copy(w);
    p->to = at_once;
    ptx_round(w, &o->at_once);
    const gboolean counted = find_by(o, w->again);
    between(o);
    g_autoptr(GHashTable) left = py_copy_vars(w->p.frame->vars);
    const PtxFlying flown = ptx_flying_swap(w, flying);
    if (counted && o->single.add)
        find_added(o, start, left);
    put_vars(w, start);
    p->to = single;
    between(o);
    g_ptr_array_add(states, py_copy_vars(w->p.frame->vars));
    for (gint64 k = 0; k < o->by && counted; k++) {
        ptx_round(w, &o->single);
        n_steps[k + 1] = single->len;
        g_ptr_array_add(states, py_copy_vars(w->p.frame->vars));
    }
    ptx_flying_join(w, flown);
    o->good = counted && !w->ended &&
              ptx_same_value(g_hash_table_lookup(left, o->left),
                             g_hash_table_lookup(g_ptr_array_index(states, 0), o->left)) &&
              ptx_same_steps(w, at_once, single) &&
              goes_on_alike(o, left, g_ptr_array_index(states, o->by)) &&
              (!o->single.add || is_straight(o, start, single, n_steps, states)) && !*p->r->error;
    w->ended = w->compares = FALSE;
    p->to = to;
}

static void forget_probe(PyLoop *l)
{
    g_clear_pointer(&l->waited_on, g_array_unref);
    g_clear_pointer(&l->generic, g_array_unref);
    g_clear_pointer(&l->inside, g_ptr_array_unref);
    g_clear_pointer(&l->set, g_array_unref);
}

static gboolean is_same_loop(PtxWalk *w, PtxRolled *o, GHashTable *unrolled)
{
    g_autoptr(GArray) carries = g_array_new(FALSE, TRUE, sizeof(PyCarry));
    GHashTableIter it;
    gpointer name;
    const guint names = w->p.loop_names->len;
    for (guint k = 0; k < 2; k++) {
        g_hash_table_iter_init(&it, k ? unrolled : o->written);
        while (g_hash_table_iter_next(&it, &name, NULL)) {
            const Val *v = g_hash_table_lookup(w->p.frame->vars, name);
            PyCarry c = { .name = name, .entry = v };
            if (g_hash_table_contains(w->matrix, name) ||
                (k && g_hash_table_contains(o->written, name)))
                continue;
            if (v && v->kind == VAL_INT)
                g_array_append_val(carries, c);
            else if (v)
                ptx_set(w, name, py_opaque(&w->p));
        }
    }
    o->w = w;
    o->node.line = o->node.end_line = ws_ptx_inst(w->ptx, block_at(w, o->head)->first)->line;
    o->node.column = 1;
    o->loop.node = &o->node;
    o->loop.name = py_group_name(&w->p, "k");
    w->p.budget += 2000 + 20 * w->p.loop_names->len;
    const gboolean lost = w->lost, apart = w->apart;
    const guint passed = w->passed;
    o->loop.run = try_one;
    py_probe(&w->p, &o->loop, carries);
    for (guint i = carries->len; i-- > 0;) {
        const PyCarry *c = &g_array_index(carries, PyCarry, i);
        WsRead *r = w->p.r;
        gint64 d;
        if (!c->atom || !c->end || c->end->kind != VAL_INT ||
            !ws_x_difference(ws_x_name(r, c->atom), c->end->e, &d))
            continue;
        const WsExpr *e =
            ws_x_op(r, WS_EXPR_ADD, c->entry->e,
                    ws_x_op(r, WS_EXPR_MUL, ws_x_name(r, o->loop.name), ws_x_int(r, d)));
        if (e)
            g_hash_table_insert(o->linear, (gpointer)c->name, (gpointer)e);
        if (e)
            g_array_remove_index(carries, i);
    }
    forget_probe(&o->loop);
    o->loop.run = try_both;
    py_probe(&w->p, &o->loop, carries);
    w->lost = lost;
    w->apart = apart;
    w->passed = passed;
    forget_probe(&o->loop);
    g_ptr_array_set_size(w->p.loop_names, (gint)names);
    return o->good;
}

/* Registers that are written in front of the unrolled loop hold the same where it is left out; sums
 * begin with the same number. */
static gboolean begins_alike(PtxWalk *w, GHashTable *skipped, GHashTable *set)
{
    GHashTableIter it;
    gpointer name;
    gint64 a, b;
    g_hash_table_iter_init(&it, set);
    while (g_hash_table_iter_next(&it, &name, NULL)) {
        const Val *now = g_hash_table_lookup(w->p.frame->vars, name),
                  *then = g_hash_table_lookup(skipped, name);
        if (ptx_same_value(now, then))
            continue;
        if (g_hash_table_contains(w->matrix, name) &&
            !(now && then && py_known(now, &a) && py_known(then, &b) && a == b))
            return FALSE;
        ptx_set(w, name, py_opaque(&w->p));
    }
    return TRUE;
}

/* T - T mod U rounds in the one, T mod U in the other: T; NULL: it is not that. */
static const WsExpr *all_rounds(PtxWalk *w, const PtxRolled *o)
{
    WsRead *r = w->p.r;
    const guint by_path = w->by_path;
    gint64 by;
    const WsExpr *rest = ptx_int(w, o->left);
    const WsExpr *all = rest ? ws_x_op(r, WS_EXPR_ADD, o->most, rest) : NULL;
    const gboolean good = all && rest->op == WS_EXPR_MOD && ws_x_is(rest->arg[1], &by) &&
                          by == o->by && ptx_same(ws_x_own(r, ws_expr_ref(rest->arg[0])), all);
    if (good)
        all = without_most(w, all);
    w->by_path = by_path; /* without a round neither of them does anything */
    return good ? all : NULL;
}

static void walk_rolled(PtxWalk *w, PtxRolled *o, GHashTable *unrolled)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    GHashTableIter it;
    gpointer name;
    between(o);
    forget_all(w, unrolled, o->written); /* what the unrolled loop alone sets */
    g_hash_table_iter_init(&it, o->written);
    while (g_hash_table_iter_next(&it, &name, NULL)) {
        const Val *v = g_hash_table_lookup(w->p.frame->vars, name);
        if (g_hash_table_contains(w->matrix, name))
            g_hash_table_add(w->turned, name);
        else if (v && (v->kind == VAL_INT || v->kind == VAL_PARAM) && strcmp(name, o->left))
            g_ptr_array_add(names, name);
        else if (v && v->kind != VAL_OPAQUE && v->kind != VAL_TILE)
            ptx_set(w, name, py_opaque(&w->p));
    }
    g_ptr_array_sort(names, by_name);
    ptx_rounds(w, &o->single, names);
}

/* What each of the parts sets. */
static void note_parts(PtxWalk *w, PtxRolled *o, GHashTable *unrolled, GHashTable *once)
{
    GHashTableIter it;
    gpointer name;
    ptx_note_written_of(w, o->at_once.blocks->blocks, unrolled);
    ptx_note_written_of(w, o->single.blocks->blocks, o->written);
    if (o->single.add)
        ptx_note_written_of(w, o->rest.blocks, once);
    ptx_note_written(w, o->test, once);
    if (o->first != o->single.head)
        ptx_note_written(w, o->first, once);
    ptx_note_read(w, o->single.blocks->blocks, o->single.head, o->read);
    g_hash_table_iter_init(&it, unrolled);
    while (g_hash_table_iter_next(&it, &name, NULL))
        if (g_hash_table_contains(o->read, name))
            g_hash_table_add(o->written, name);
}

/* How many rounds are left is no matter of the unrolled rounds, and stays from the question on. */
static gboolean left_stays(const PtxRolled *o, GHashTable *unrolled)
{
    g_autoptr(GHashTable) set = g_hash_table_new(g_str_hash, g_str_equal);
    if (o->first != o->single.head)
        ptx_note_written(o->w, o->first, set);
    return !g_hash_table_contains(set, o->left) && !g_hash_table_contains(unrolled, o->left);
}

static gboolean rolled(PtxWalk *w, PtxRolled *o, const WsExpr *c)
{
    g_autoptr(GHashTable) skipped = py_copy_vars(w->p.frame->vars);
    g_autoptr(GHashTable) unrolled = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) before = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) once = g_hash_table_new(g_str_hash, g_str_equal);
    if (o->before != o->head) {
        ptx_run(w, o->before, (gint)o->head);
        ptx_note_written(w, o->before, before);
    }
    only_block(w, o->test);
    note_parts(w, o, unrolled, once);
    gboolean good = left_stays(o, unrolled) && is_same_loop(w, o, unrolled);
    o->single.count = good ? all_rounds(w, o) : NULL;
    good = o->single.count && is_guard(w, c, o->single.count, o->by) &&
           begins_alike(w, skipped, before);
    if (!good) {
        put_vars(w, skipped);
        return FALSE;
    }
    walk_rolled(w, o, unrolled);
    forget_all(w, unrolled, o->read); /* what a round left, where nothing goes on with it */
    forget_all(w, o->written, o->read);
    if (o->single.add)
        forget_all(w, o->single.add, NULL);
    forget_all(w, once, o->single.add ? o->written : NULL);
    return TRUE;
}

gint ptx_rolled(PtxWalk *w, guint block, const WsExpr *c)
{
    PtxRolled o = { .w = w };
    gint behind = -1;
    if (w->p.budget > PTX_READ_BUDGET / 2 || !c)
        return -1;
    o.own.blocks = g_hash_table_new(NULL, NULL);
    o.rest.blocks = g_hash_table_new(NULL, NULL);
    o.read = g_hash_table_new(g_str_hash, g_str_equal);
    o.written = g_hash_table_new(g_str_hash, g_str_equal);
    o.linear = g_hash_table_new(g_str_hash, g_str_equal);
    if (ptx_rolled_shape(w, block, &o)) {
        GHashTable *add =
            o.single.blocks == &o.own ? g_hash_table_new(g_str_hash, g_str_equal) : NULL;
        o.single.add = add;
        if (g_array_index(block_at(w, block)->next, guint, 0) != o.test)
            c = ws_x_op(w->p.r, WS_EXPR_NOT, c, NULL);
        behind = rolled(w, &o, c) ? (gint)o.behind : -1;
        if (add)
            g_hash_table_unref(add);
    }
    g_hash_table_unref(o.own.blocks);
    g_hash_table_unref(o.rest.blocks);
    g_hash_table_unref(o.read);
    g_hash_table_unref(o.written);
    g_hash_table_unref(o.linear);
    return behind;
}
