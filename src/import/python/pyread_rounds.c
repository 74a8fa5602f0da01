#include "import/fit.h"
#include "import/python/pyread_loop.h"
#include "import/python/pyread_object.h"

#include <string.h>

/* What variables are in a round and behind the loop, from what a round does to them. */

/* --- what a variable is in a round, and after the loop
 * -----------------------------------------------*/

typedef enum { AT_HEAD, AT_EXIT } Moment;

/* base after some rounds, each adding `step` (a number, terms of inner loops' rounds, or anything
 * that does not change). NULL: it cannot be said. */
static const WsExpr *advance(PyRead *p, const WsExpr *base, const WsExpr *step, const char *loop,
                             const WsExpr *count, Moment moment)
{
    WsRead *r = p->r;
    WsAffine f;
    if (!base || !step || !ws_expr_affine(step, &f))
        return NULL;
    const gboolean probe = p->probing && py_holds_trial(base);
    const gboolean outer = p->loops->len == 0;
    gboolean carried = TRUE, nested = FALSE, any = f.constant != 0;
    const WsExpr *sum = base;
    gint64 factor;
    ws_x_without(r, base, loop, TRUE, &factor);
    carried &= factor == f.constant;
    for (guint i = 0; i < f.n; i++) {
        const WsExpr *t = f.term[i];
        const gboolean rounds = t->op == WS_EXPR_NAME && g_str_has_prefix(t->name, "__n_");
        nested |= rounds;
        any = TRUE;
        if (rounds) {
            ws_x_without(r, base, t->name + 4, TRUE, &factor);
            carried &= factor == f.factor[i];
        } else {
            carried = FALSE;
        }
    }
    if (carried && any && !probe) {
        ws_affine_clear(&f);
        return base;
    }
    for (guint i = 0; sum && i <= f.n; i++) {
        const gint64 c = i < f.n ? f.factor[i] : f.constant;
        const WsExpr *t = i < f.n ? f.term[i] : NULL;
        const gboolean rounds = t && t->op == WS_EXPR_NAME && g_str_has_prefix(t->name, "__n_");
        const WsExpr *times =
            probe && moment == AT_EXIT
                ? ws_x_name(r, rounds ? t->name : ws_source_format(r, "__n_%s", loop))
            : outer || probe    ? ws_x_total(r, rounds ? t->name + 4 : loop)
            : nested            ? NULL
            : moment == AT_HEAD ? ws_x_name(r, loop)
                                : count;
        if (c == 0)
            continue;
        if (t && !rounds)
            times = ws_x_op(r, WS_EXPR_MUL, times, ws_x_own(r, ws_expr_ref(t)));
        sum = ws_x_op(r, WS_EXPR_ADD, sum, ws_x_op(r, WS_EXPR_MUL, times, ws_x_int(r, c)));
    }
    ws_affine_clear(&f);
    return sum;
}

const WsExpr *py_inner_of(PyRead *p, const WsExpr *e, gint64 n)
{
    gint64 m;
    return e->op == WS_EXPR_MOD && ws_x_is(e->arg[1], &m) && m == n
               ? ws_x_own(p->r, ws_expr_ref(e->arg[0]))
               : e;
}

static const WsExpr *wrapped(PyRead *p, const PyCarry *c, const PyCarry *all, guint n_all,
                             const char *loop, const WsExpr *count, Moment moment)
{
    WsRead *r = p->r;
    for (guint i = 0; i < n_all; i++) {
        const PyCarry *index = &all[i];
        if (strcmp(index->name, c->index) || index->kind != CARRY_MOD)
            continue;
        const WsExpr *g = py_inner_of(p, index->entry->e, index->n);
        gint64 first;
        if (p->py && ws_x_is(g, &first) && first < 0) /* quotients are not rounded down there */
            return NULL;
        const WsExpr *turns = advance(p, g, index->step, loop, count, moment);
        const WsExpr *base = py_inner_of(p, c->entry->e, 2);
        const WsExpr *old = ws_x_op(r, WS_EXPR_DIV, g, ws_x_int(r, c->n));
        const WsExpr *now = ws_x_op(r, WS_EXPR_DIV, turns, ws_x_int(r, c->n));
        const WsExpr *start = ws_x_op(r, WS_EXPR_SUB, base, old);
        gint64 known;
        /* the entry already holds old turns, or the index starts below n */
        if (!start || py_holds_trial(base) || !(ws_x_is(start, &known) || ws_x_is(base, &known)))
            start = base;
        else if (ws_x_is(base, &known))
            start = base;
        return ws_x_mod(r, ws_x_op(r, WS_EXPR_ADD, start, now), 2);
    }
    return NULL;
}

static const WsExpr *carried(PyRead *p, const PyCarry *c, const PyCarry *all, guint n_all,
                             const char *loop, const WsExpr *count, Moment moment)
{
    if (c->counter) {
        const WsExpr *sum = ws_x_name(p->r, c->counter);
        return c->kind == CARRY_MOD ? ws_x_mod(p->r, sum, c->n) : sum;
    }
    switch (c->kind) {
    case CARRY_LINEAR:
        return advance(p, c->entry->e, c->step, loop, count, moment);
    case CARRY_MOD: {
        const WsExpr *e =
            advance(p, py_inner_of(p, c->entry->e, c->n), c->step, loop, count, moment);
        return e ? ws_x_mod(p->r, e, c->n) : NULL;
    }
    case CARRY_WRAP:
        return wrapped(p, c, all, n_all, loop, count, moment);
    default:
        return NULL;
    }
}

static void add_counter(PyRead *p, PyCarry *c, const WsExpr *start)
{
    c->counter = py_group_name(p, c->name);
    g_ptr_array_add(p->group->counters, (gpointer)c->counter);
    g_ptr_array_add(p->group->starts, (gpointer)start);
}

/* A round adds what is no number (a block count): its multiples by a round would be no affine
 * expression, so the sum becomes a counter of the group. Only around everything: a counter never
 * starts anew. */
static void maybe_counter(PyRead *p, PyCarry *c)
{
    WsAffine f;
    if (p->loops->len || (c->kind != CARRY_LINEAR && c->kind != CARRY_MOD) || !c->step ||
        !ws_expr_affine(c->step, &f))
        return;
    gboolean symbols = FALSE;
    for (guint i = 0; i < f.n; i++)
        symbols |= p->way.counters_only || f.term[i]->op != WS_EXPR_NAME ||
                   !g_str_has_prefix(f.term[i]->name, "__n_");
    ws_affine_clear(&f);
    if (!symbols)
        return;
    add_counter(p, c, c->kind == CARRY_MOD ? py_inner_of(p, c->entry->e, c->n) : c->entry->e);
}

/* What `e` of a round was one round before: the others of `all` one step back, the loop at `index`.
 * NULL: it cannot be said. */
static const WsExpr *one_back(PyRead *p, const WsExpr *e, const PyLoop *l, const PyCarry *all,
                              guint n_all, Moment moment, gboolean entered, const WsExpr *index)
{
    WsRead *r = p->r;
    if (e && l->tiles && ws_x_mentions(e, p->tile))
        return NULL;
    if (e && ws_x_mentions(e, l->name)) /* before the others: what they are has it, too */
        e = ws_x_replace(r, e, l->name, index);
    for (guint i = 0; e && i < n_all; i++) {
        const PyCarry *c = &all[i];
        if (!c->atom || !ws_x_mentions(e, c->atom))
            continue;
        if ((c->kind != CARRY_LINEAR && c->kind != CARRY_MOD) || !c->step)
            return NULL;
        const WsExpr *now =
            entered ? c->entry->e : carried(p, c, all, n_all, l->name, l->count, moment);
        const WsExpr *sum = now && c->kind == CARRY_MOD ? py_inner_of(p, now, c->n) : now;
        sum = ws_x_op(r, WS_EXPR_SUB, sum, c->step);
        e = ws_x_replace(r, e, c->atom, c->kind == CARRY_MOD ? ws_x_mod(r, sum, c->n) : sum);
    }
    for (guint i = 0; e && i < n_all; i++)
        if (all[i].atom && ws_x_mentions(e, all[i].atom))
            return NULL;
    return e;
}

/* How many rounds there were, behind the loop. */
static const WsExpr *made(PyRead *p, const PyLoop *l)
{
    return p->loops->len || p->probing || l->tiles ? l->count : ws_x_total(p->r, l->name);
}

/* A variable that a round only sets: what the round before left, where the value before the loop is
 * what a round before the first would have left. NULL: it is not. */
static const WsExpr *follows(PyRead *p, const PyLoop *l, const PyCarry *c, const PyCarry *all,
                             guint n_all, Moment moment)
{
    WsRead *r = p->r;
    if (!c->end || c->end->kind != VAL_INT || !c->entry->e)
        return NULL;
    const WsExpr *e = c->end->e;
    const WsExpr *first = one_back(p, e, l, all, n_all, AT_HEAD, TRUE, ws_x_int(r, -1));
    const WsExpr *now = moment == AT_HEAD ? ws_x_name(r, l->name) : made(p, l);
    return first && ws_expr_equal(first, c->entry->e)
               ? one_back(p, e, l, all, n_all, moment, FALSE,
                          ws_x_op(r, WS_EXPR_SUB, now, ws_x_int(r, 1)))
               : NULL;
}

/* The same where the first round finds another value. */
static const WsExpr *before(PyRead *p, const PyLoop *l, const PyCarry *c)
{
    WsRead *r = p->r;
    const WsExpr *k = ws_x_name(r, l->name), *entry = c->entry->e;
    if (l->tiles && ws_x_mentions(c->end->e, p->tile))
        return NULL;
    const WsExpr *last =
        ws_x_replace(r, c->end->e, l->name, ws_x_op(r, WS_EXPR_SUB, k, ws_x_int(r, 1)));
    gint64 then, start;
    if (ws_x_is(last, &then) && ws_x_is(entry, &start) && then + start == 1 && then * start == 0)
        return ws_x_op(r, then ? WS_EXPR_GT : WS_EXPR_LE, k, ws_x_int(r, 0)); /* a flag */
    return ws_x_call(r, WS_FUNC_SELECT, ws_x_op(r, WS_EXPR_GT, k, ws_x_int(r, 0)), last, entry);
}

/* Behind the loop it is what the last round set, or what it was where there was no round. */
static const WsExpr *behind(PyRead *p, const PyLoop *l, const PyCarry *c, const PyCarry *all,
                            guint n_all)
{
    WsRead *r = p->r;
    const WsExpr *e = follows(p, l, c, all, n_all, AT_EXIT);
    if (e || !c->end || c->end->kind != VAL_INT)
        return e;
    const Val *v = py_path(p, c->name);
    const WsExpr *left = c->end->e;
    if (ws_expr_equal(left, c->entry->e))
        return left;
    const WsExpr *last = ws_x_op(r, WS_EXPR_SUB, made(p, l), ws_x_int(r, 1));
    e = one_back(p, left, l, all, n_all, AT_EXIT, FALSE, last);
    g_autofree char *text = ws_x_text(e);
    if (e && strstr(text, "__n_")) { /* rounds of loops inside: as they were read */
        const WsExpr *read = v && v->kind == VAL_INT ? v->e : NULL;
        gint64 own;
        ws_x_without(r, read, l->name, TRUE, &own);
        g_autofree char *total = g_strconcat(l->name, ".total", NULL);
        g_autofree char *whole = ws_x_text(read);
        e = own || ws_x_mentions(read, l->name) || strstr(whole, total) ? NULL : read;
    }
    gint64 rounds;
    if (!e || !l->count)
        return NULL;
    if (ws_x_is(l->count, &rounds))
        return rounds > 0 ? e : c->entry->e;
    return ws_x_call(r, WS_FUNC_SELECT, ws_x_op(r, WS_EXPR_GT, l->count, ws_x_int(r, 0)), e,
                     c->entry->e);
}

static void is_total(const WsExpr *node, gpointer data)
{
    gpointer *d = data;
    gboolean *found = d[1];
    *found |= node->op == WS_EXPR_TOTAL && node->name && !strcmp(node->name, d[0]);
}

static gboolean holds_total(const Val *v, const char *loop)
{
    gboolean found = FALSE;
    gpointer data[] = { (gpointer)loop, &found };
    const WsExpr *part[] = { v->e, v->place.index, v->place.use };
    for (guint i = 0; i < G_N_ELEMENTS(part); i++)
        if (part[i])
            ws_expr_visit(part[i], is_total, data);
    for (guint i = 0; !found && v->kind == VAL_TUPLE && i < v->n; i++)
        found = holds_total(v->item[i], loop);
    return found;
}

/* A name that got the rounds of a loop before it, and does not change in it, is not what the loop
 * has counted by now. */
static void forget_totals(PyRead *p, const PyLoop *l, const GArray *carries)
{
    const PyCarry *all = (const PyCarry *)(gconstpointer)carries->data;
    for (Frame *f = p->frame; f && p->py && !p->probing; f = f->up) {
        g_autoptr(GPtrArray) old = g_ptr_array_new();
        GHashTableIter each;
        gpointer name, val;
        g_hash_table_iter_init(&each, f->vars);
        while (g_hash_table_iter_next(&each, &name, &val)) {
            gboolean changes = FALSE;
            for (guint i = 0; f == p->frame && i < carries->len; i++)
                changes |= !strcmp(all[i].name, name);
            if (!changes && holds_total(val, l->name))
                g_ptr_array_add(old, name);
        }
        for (guint i = 0; i < old->len; i++)
            g_hash_table_insert(f->vars, old->pdata[i], (gpointer)py_opaque(p));
    }
}

void py_set_heads(PyRead *p, const PyLoop *l, GArray *carries)
{
    forget_totals(p, l, carries);
    PyCarry *all = (PyCarry *)(gpointer)carries->data;
    for (guint i = 0; i < carries->len; i++)
        if (all[i].atom && all[i].end && all[i].end->kind == VAL_INT)
            py_classify(p, &all[i]);
        else if (all[i].atom)
            all[i].kind = CARRY_UNKNOWN;
    for (guint i = 0; i < carries->len; i++)
        if (all[i].kind == CARRY_UNKNOWN && all[i].end && all[i].end->kind == VAL_INT &&
            py_flips_on_wrap(p, &all[i], all, carries->len))
            all[i].kind = CARRY_WRAP;
    for (guint i = 0; i < carries->len; i++) {
        PyCarry *c = &all[i];
        if (!c->atom)
            continue;
        if (c->kind == CARRY_NONE)
            continue;
        maybe_counter(p, c);
        py_set_path(p, c->name,
                    py_int(p, carried(p, c, all, carries->len, l->name, l->count, AT_HEAD)));
    }
    for (guint i = 0; i < carries->len; i++) {
        PyCarry *c = &all[i];
        if (!c->atom || c->kind != CARRY_NONE)
            continue;
        const WsExpr *e = follows(p, l, c, all, carries->len, AT_HEAD);
        gint64 fixed;
        const gboolean flag = c->end && c->end->kind == VAL_INT && ws_x_is(c->end->e, &fixed);
        if (!e && !p->loops->len && !flag) { /* what the round before left */
            add_counter(p, c, c->entry->e);
            e = ws_x_name(p->r, c->counter);
        } else if (!e && c->end && c->end->kind == VAL_INT && !py_holds_trial(c->end->e)) {
            e = before(p, l, c);
        }
        py_set_path(p, c->name, py_int(p, e));
    }
}

/* Of compiled code: a count of one size less a number is taken for none below 0 (assume_rounds). */
static gboolean is_assumed(const PyRead *p, const WsExpr *count)
{
    WsAffine f;
    if (p->py || !ws_expr_affine(count, &f))
        return FALSE;
    const gboolean one = f.n == 1 && f.factor[0] > 0;
    ws_affine_clear(&f);
    return one;
}

/* How many rounds there were: none where the count is below 0. */
static const WsExpr *rounds_made(PyRead *p, const WsExpr *count)
{
    gint64 n;
    return !count || (py_least(p, count, &n) && n >= 0) || is_assumed(p, count)
               ? count
               : ws_x_call(p->r, WS_FUNC_MAX, count, ws_x_int(p->r, 0), NULL);
}

/* Its counter is still there: one that no step of a round names is dropped. */
static gboolean is_counted(const PyRead *p, const PyCarry *c)
{
    return c->counter && g_ptr_array_find(p->group->counters, c->counter, NULL);
}

void py_set_exits(PyRead *p, const PyLoop *loop, GArray *carries)
{
    PyCarry *all = (PyCarry *)(gpointer)carries->data;
    g_autofree const Val **left = g_new0(const Val *, carries->len + 1);
    PyLoop l = *loop;
    l.count = rounds_made(p, loop->count);
    for (guint i = 0; i < carries->len; i++) {
        const PyCarry *c = &all[i];
        if (c->atom)
            left[i] = py_int(p, c->kind != CARRY_NONE || is_counted(p, c)
                                    ? carried(p, c, all, carries->len, l.name, l.count, AT_EXIT)
                                    : behind(p, &l, c, all, carries->len));
    }
    for (guint i = 0; i < carries->len; i++)
        if (left[i])
            py_set_path(p, all[i].name, left[i]);
}
