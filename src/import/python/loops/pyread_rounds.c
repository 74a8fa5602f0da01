#include "import/fit.h"
#include "import/python/loops/pyread_loop.h"
#include "import/python/loops/pyread_tried.h"
#include "import/python/pyread_object.h"

#include <string.h>

/* What variables are in a round and behind the loop, from what a round does to them. */

/* --- what a variable is in a round, and after the loop ---------------------------------------- */

typedef enum { AT_HEAD, AT_EXIT } Moment;

typedef struct {
    PyRead *p;
    const PyLoop *l;
    gboolean own, inner; /* rounds of the loop; of those inside, which have gone on by now */
} Held;

static void look_at(const WsExpr *node, gpointer data)
{
    Held *h = data;
    if (node->op != WS_EXPR_TOTAL || !node->name)
        return;
    h->own |= !strcmp(node->name, h->l->name);
    h->inner |= py_is_inside(h->l, node->name);
}

typedef struct {
    const char *loop;
    const WsExpr *rounds;
} Since;

static WsExpr *less_rounds(const WsExpr *leaf, gpointer data, GError **error)
{
    const Since *s = data;
    return leaf->op == WS_EXPR_TOTAL && leaf->name && !strcmp(leaf->name, s->loop)
               ? ws_expr_op(WS_EXPR_SUB, ws_expr_ref((WsExpr *)leaf),
                            ws_expr_ref((WsExpr *)s->rounds))
               : NULL;
}

/* What `e` was when the loop began: `rounds` of it ago. NULL: it cannot be said. */
static const WsExpr *before_rounds(PyRead *p, const PyLoop *l, const WsExpr *e,
                                   const WsExpr *rounds)
{
    Held h = { .p = p, .l = l };
    if (e)
        ws_expr_visit(e, look_at, &h);
    if (!e || h.inner || (h.own && !rounds))
        return NULL;
    if (!h.own)
        return e;
    Since since = { l->name, rounds };
    WsExpr *then = ws_expr_map(e, less_rounds, &since, NULL);
    return ws_x_op(p->r, WS_EXPR_ADD, ws_x_own(p->r, then), ws_x_int(p->r, 0));
}

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
                             const PyLoop *l, Moment moment)
{
    WsRead *r = p->r;
    for (guint i = 0; i < n_all; i++) {
        const PyCarry *index = &all[i];
        if (strcmp(index->name, c->index) ||
            (index->kind != CARRY_MOD && (!p->py || index->kind != CARRY_LINEAR)))
            continue;
        const WsExpr *g =
            index->kind == CARRY_MOD ? py_inner_of(p, index->entry->e, index->n) : index->entry->e;
        gint64 first, known;
        if (p->py && ws_x_is(g, &first) && first < 0) /* quotients are not rounded down there */
            return NULL;
        const WsExpr *turns = (p->py || p->way.counters_only) && index->counter
                                  ? ws_x_name(p->r, index->counter)
                                  : advance(p, g, index->step, l->name, l->count, moment);
        const WsExpr *base = py_inner_of(p, c->entry->e, 2);
        const WsExpr *shift = ws_x_int(r, c->shift), *by = ws_x_int(r, c->n);
        const WsExpr *old = ws_x_op(r, WS_EXPR_DIV, ws_x_op(r, WS_EXPR_ADD, g, shift), by);
        const WsExpr *now = ws_x_op(r, WS_EXPR_DIV, ws_x_op(r, WS_EXPR_ADD, turns, shift), by);
        const WsExpr *start = ws_x_op(r, WS_EXPR_SUB, base, old);
        const gboolean below =
            g->op == WS_EXPR_NAME && py_holds_trial(g) && !c->shift && index->kind == CARRY_MOD;
        const gboolean alone = !p->py && py_holds_trial(base) && !py_holds_trial(g);
        if (p->probing && (below || alone)) /* an index below n */
            start = base;
        else if (p->probing && (p->py || py_holds_trial(g)))
            ;           /* as it is */
        else if (p->py) /* turns since the loop began */
            start =
                before_rounds(p, l, start, moment == AT_HEAD ? ws_x_name(r, l->name) : l->count);
        else if (!ws_x_is(start, &known) || ws_x_is(base, &known))
            start = base;
        return ws_x_mod(r, ws_x_op(r, WS_EXPR_ADD, start, now), 2);
    }
    return NULL;
}

static const WsExpr *carried(PyRead *p, const PyCarry *c, const PyCarry *all, guint n_all,
                             const PyLoop *l, Moment moment)
{
    if (c->counter) {
        const WsExpr *sum = ws_x_name(p->r, c->counter);
        return c->kind == CARRY_MOD ? ws_x_mod(p->r, sum, c->n) : sum;
    }
    switch (c->kind) {
    case CARRY_LINEAR:
        return advance(p, c->entry->e, c->step, l->name, l->count, moment);
    case CARRY_MOD: {
        const WsExpr *e =
            advance(p, py_inner_of(p, c->entry->e, c->n), c->step, l->name, l->count, moment);
        return e ? ws_x_mod(p->r, e, c->n) : NULL;
    }
    case CARRY_WRAP:
        return wrapped(p, c, all, n_all, l, moment);
    case CARRY_NONE:
    case CARRY_UNKNOWN:
    default:
        return NULL;
    }
}

static void add_counter(PyRead *p, PyCarry *c, const WsExpr *start)
{
    c->counter = py_group_name(p, c->name);
    g_ptr_array_add(p->group->counters, (gpointer)c->counter);
    g_ptr_array_add(p->group->starts, (gpointer)start);
    gint64 n;
    g_hash_table_remove(p->rising, c->counter); /* of another group */
    if (py_least(p, start, &n) && n >= 0 && py_only_adds(p, c->step))
        g_hash_table_insert(p->rising, (gpointer)c->counter, NULL);
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
    if (e && l->tiles && ws_expr_mentions(e, p->tile))
        return NULL;
    if (e && ws_expr_mentions(e, l->name)) /* before the others: what they are has it, too */
        e = ws_x_replace(r, e, l->name, index);
    for (guint i = 0; e && i < n_all; i++) {
        const PyCarry *c = &all[i];
        if (!c->atom || !ws_expr_mentions(e, c->atom))
            continue;
        if ((c->kind != CARRY_LINEAR && c->kind != CARRY_MOD) || !c->step)
            return NULL;
        const WsExpr *now = entered ? c->entry->e : carried(p, c, all, n_all, l, moment);
        const WsExpr *sum = now && c->kind == CARRY_MOD ? py_inner_of(p, now, c->n) : now;
        sum = ws_x_op(r, WS_EXPR_SUB, sum, c->step);
        e = ws_x_replace(r, e, c->atom, c->kind == CARRY_MOD ? ws_x_mod(r, sum, c->n) : sum);
    }
    for (guint i = 0; e && i < n_all; i++)
        if (all[i].atom && ws_expr_mentions(e, all[i].atom))
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
    if (l->tiles && ws_expr_mentions(c->end->e, p->tile))
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
        e = own || ws_expr_mentions(read, l->name) || strstr(whole, total) ? NULL : read;
    }
    gint64 rounds;
    if (!e || !l->count)
        return NULL;
    if (ws_x_is(l->count, &rounds))
        return rounds > 0 ? e : c->entry->e;
    return ws_x_call(r, WS_FUNC_SELECT, ws_x_op(r, WS_EXPR_GT, l->count, ws_x_int(r, 0)), e,
                     c->entry->e);
}

static void look_at_text(const char *text, Held *h)
{
    g_autofree char *own = g_strconcat(h->l->name, ".total", NULL);
    h->inner |= text && strstr(text, own) != NULL; /* no number that could be put right */
    for (guint i = 0; text && h->l->inside && i < h->l->inside->len; i++) {
        g_autofree char *other = g_strconcat(h->l->inside->pdata[i], ".total", NULL);
        h->inner |= strstr(text, other) != NULL;
    }
}

static void look_into(const Val *v, Held *h)
{
    const WsExpr *part[] = { v->e, v->place.index, v->place.use };
    for (guint i = 0; i < G_N_ELEMENTS(part); i++)
        if (part[i])
            ws_expr_visit(part[i], look_at, h);
    look_at_text(v->place.views, h);
    if (v->kind == VAL_MATH || v->kind == VAL_TILE || v->kind == VAL_POINTER)
        look_at_text(v->text, h);
    for (guint i = 0; v->kind == VAL_TUPLE && i < v->n; i++)
        look_into(v->item[i], h);
}

/* Names that a round leaves alone and that hold what rounds of the loop, or of one inside, were
 * counted before it. The rounds before this one are taken off; where that cannot be said, the name
 * is not known any more. */
typedef struct {
    PyRead *p;
    PyLoop *l;
    Frame *frame, *own;
    const GArray *carries;
    GPtrArray *old; /* char*: paths */
} Holders;

static void find_holders(Holders *w, const char *path, const Val *v)
{
    Held h = { .p = w->p, .l = w->l };
    for (guint i = 0; w->frame == w->own && i < w->carries->len; i++)
        if (!strcmp(g_array_index(w->carries, PyCarry, i).name, path))
            return;
    for (guint i = 0; v->kind == VAL_OBJECT && i < v->n; i++)
        find_holders(w, ws_source_format(w->p->r, "%s.%s", path, v->item[2 * i]->text),
                     v->item[2 * i + 1]);
    if (v->kind == VAL_OBJECT)
        return;
    look_into(v, &h);
    if (h.own || h.inner)
        g_ptr_array_add(w->old, (gpointer)path);
}

static void hold_totals(PyRead *p, PyLoop *l, const GArray *carries)
{
    Frame *own = p->frame;
    for (Frame *f = own; f && p->py && !p->probing; f = f->up) {
        Holders w = { p, l, f, own, carries, g_ptr_array_new() };
        GHashTableIter each;
        gpointer name, val;
        g_hash_table_iter_init(&each, f->vars);
        while (g_hash_table_iter_next(&each, &name, &val))
            find_holders(&w, name, val);
        p->frame = f;
        for (guint i = 0; i < w.old->len; i++) {
            const char *path = w.old->pdata[i];
            const Val *was = py_path(p, path);
            const WsExpr *now = was && was->kind == VAL_INT
                                    ? before_rounds(p, l, was->e, ws_x_name(p->r, l->name))
                                    : NULL;
            const PyHeld held = { f, path, now ? was->e : NULL, py_int(p, now) };
            if (now)
                g_array_append_val(l->held, held);
            py_set_path(p, path, held.now);
        }
        g_ptr_array_unref(w.old);
    }
    p->frame = own;
}

/* Behind the loop all of its rounds are taken off. */
static void hold_on(PyRead *p, const PyLoop *l, const WsExpr *count)
{
    Frame *own = p->frame;
    for (guint i = 0; l->held && i < l->held->len; i++) {
        const PyHeld *h = &g_array_index(l->held, PyHeld, i);
        p->frame = h->frame;
        if (py_path(p, h->name) == h->now)
            py_set_path(p, h->name, py_int(p, before_rounds(p, l, h->was, count)));
    }
    p->frame = own;
}

void py_set_heads(PyRead *p, PyLoop *l, GArray *carries)
{
    hold_totals(p, l, carries);
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
    for (guint i = 0; i < carries->len; i++)
        if (all[i].atom && all[i].kind != CARRY_NONE)
            maybe_counter(p, &all[i]);
    for (guint i = 0; i < carries->len; i++) {
        PyCarry *c = &all[i];
        if (!c->atom)
            continue;
        if (c->kind == CARRY_NONE)
            continue;
        py_set_path(p, c->name, py_int(p, carried(p, c, all, carries->len, l, AT_HEAD)));
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

/* Rows, columns or pointers by the number of a round, which nothing is behind the loop. */
static gboolean is_of_round(const Val *v, const char *name)
{
    const gboolean line = v && (v->kind == VAL_POINTER || py_is_index(v));
    g_autoptr(WsExpr) e = line && v->text ? ws_expr_parse(v->text, NULL) : NULL;
    return line && (!e || ws_expr_mentions(e, name));
}

void py_set_exits(PyRead *p, const PyLoop *loop, GArray *carries)
{
    PyCarry *all = (PyCarry *)(gpointer)carries->data;
    g_autofree const Val **left = g_new0(const Val *, carries->len + 1);
    PyLoop l = *loop;
    l.count = rounds_made(p, loop->count);
    hold_on(p, loop, l.count);
    for (guint i = 0; i < carries->len; i++) {
        const PyCarry *c = &all[i];
        if (c->atom)
            left[i] = py_int(p, c->kind != CARRY_NONE || is_counted(p, c)
                                    ? carried(p, c, all, carries->len, &l, AT_EXIT)
                                    : behind(p, &l, c, all, carries->len));
    }
    for (guint i = 0; i < carries->len; i++)
        if (left[i])
            py_set_path(p, all[i].name, left[i]);
        else if (is_of_round(py_path(p, all[i].name), loop->name))
            py_set_path(p, all[i].name, py_opaque(p));
}
