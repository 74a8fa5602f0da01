#include "import/python/loops/pyread_loop.h"

#include <string.h>

/* Parities that flip with another variable of the loop, however that is written: found by values,
 * as (phase + (u + step + shift) / n - (u + shift) / n) mod 2 of an index u that counts on. What is
 * found is tried again when the loop is walked (pyread_tried.c). */

#define DRAWS         1600
#define MOST_N        64
#define MOST_REPEATED (DRAWS / 2) /* each with both parities */

typedef struct {
    GRand *random;
    GHashTable *value; /* char* -> gint64* */
    const char *phase, *index;
    gint64 p, u;
} Values;

static WsLookup look_up(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    Values *v = data;
    if (leaf->op != WS_EXPR_NAME && leaf->op != WS_EXPR_TOTAL)
        return WS_LOOKUP_UNKNOWN;
    const gboolean name = leaf->op == WS_EXPR_NAME;
    g_autofree char *key = g_strconcat(leaf->name, name ? "" : ".total", NULL);
    gint64 *known = g_hash_table_lookup(v->value, key);
    if (name && !strcmp(leaf->name, v->phase))
        *value = v->p;
    else if (name && !strcmp(leaf->name, v->index))
        *value = v->u;
    else if (known)
        *value = *known;
    else {
        *value = g_rand_int_range(v->random, 0, 300);
        g_hash_table_insert(v->value, g_steal_pointer(&key), g_memdup2(value, sizeof *value));
    }
    return WS_LOOKUP_KNOWN;
}

static gboolean value_of(Values *v, const WsExpr *e, gint64 *value)
{
    const WsExprEnv env = { .integer = look_up, .data = v };
    return ws_expr_eval(e, &env, value, NULL);
}

/* --- where values drawn at random are enough ---------------------------------------------------*/

#define MOST_PERIOD 128 /* product of the numbers that what another name is in is divided by */

typedef struct {
    const char *phase, *index;
    gboolean any;
} Others;

static void note_other(const WsExpr *node, gpointer data)
{
    Others *o = data;
    const gboolean own = node->op == WS_EXPR_NAME &&
                         (!strcmp(node->name, o->phase) || !strcmp(node->name, o->index));
    o->any |= (node->op == WS_EXPR_NAME && !own) || node->op == WS_EXPR_TOTAL ||
              (node->op != WS_EXPR_INT && !node->n_args && !own);
}

static gboolean has_others(const Others *own, const WsExpr *e)
{
    Others o = { own->phase, own->index, FALSE };
    ws_expr_visit(e, note_other, &o);
    return o.any;
}

static gboolean has_name(const WsExpr *e)
{
    gint64 n;
    return !ws_expr_is_int(e, &n);
}

/* Only sums, and quotients and remainders by a few small numbers: equal at all small values is
 * equal. A comparison with a number, or a product of names, may differ at a value that is never
 * drawn. `by` is what the surroundings divide by, `period` the product of these numbers. */
static gboolean is_plain(const Others *o, const WsExpr *e, gint64 by, gint64 period)
{
    gint64 n;
    if (!has_others(o, e))
        return TRUE;
    if (e->op == WS_EXPR_NAME || e->op == WS_EXPR_TOTAL) {
        return TRUE;
    } else if (e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB || e->op == WS_EXPR_NEG) {
    } else if (e->op == WS_EXPR_MUL) {
        if (has_name(e->arg[0]) && has_name(e->arg[1]))
            return FALSE;
    } else if (e->op == WS_EXPR_DIV || e->op == WS_EXPR_MOD) {
        if (!ws_expr_is_int(e->arg[1], &n) || n < 1 || n > MOST_PERIOD)
            return FALSE;
        if (n != 2 && by % n && (period *= n) > MOST_PERIOD)
            return FALSE;
        by = n;
    } else {
        return FALSE;
    }
    for (guint i = 0; i < e->n_args; i++)
        if (!is_plain(o, e->arg[i], by, period))
            return FALSE;
    return TRUE;
}

/* A quotient or remainder of an index that counts on is enough; compared, it may differ at a value
 * that is never drawn. */
static gboolean compares(const Others *o, const WsExpr *e)
{
    const gboolean arithmetic = e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB ||
                                e->op == WS_EXPR_NEG || e->op == WS_EXPR_MUL ||
                                e->op == WS_EXPR_DIV || e->op == WS_EXPR_MOD || !e->n_args;
    if (!arithmetic && ws_expr_mentions(e, o->index))
        return TRUE;
    for (guint i = 0; i < e->n_args; i++)
        if (compares(o, e->arg[i]))
            return TRUE;
    return FALSE;
}

/* Only sums of names and numbers. */
static gboolean is_sum(const WsExpr *e)
{
    const gboolean sum = e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB || e->op == WS_EXPR_NEG ||
                         e->op == WS_EXPR_INT || e->op == WS_EXPR_NAME;
    for (guint i = 0; sum && i < e->n_args; i++)
        if (!is_sum(e->arg[i]))
            return FALSE;
    return sum;
}

static gint64 common(gint64 a, gint64 b)
{
    gint64 x = a, y = b;
    while (y) {
        const gint64 rest = x % y;
        x = y;
        y = rest;
    }
    return x ? a / x * b : 0;
}

/* After how many the values of `e` repeat when the name `index` counts on. 0: not known, or after
 * more than MOST_REPEATED. */
static gint64 repeats(const WsExpr *e, const char *index)
{
    gint64 n, all = 1;
    if (!ws_expr_mentions(e, index))
        return 1;
    if (e->op == WS_EXPR_MOD && ws_expr_is_int(e->arg[1], &n) && n > 0 && n <= MOST_REPEATED &&
        is_sum(e->arg[0]))
        return n;
    for (guint i = 0; all && i < e->n_args; i++) {
        n = repeats(e->arg[i], index);
        all = n ? common(all, n) : 0;
        if (all > MOST_REPEATED)
            all = 0;
    }
    return e->n_args ? all : 0;
}

/* What compares an index that counts on: right where it has no other names, and repeats, so that
 * every value is tried. 0: it does not. */
static gint64 all_repeat(const Others *own, const PyCarry *c, const PyCarry *index, gint64 n)
{
    gint64 step;
    const gint64 period = repeats(c->end->e, index->atom);
    if (has_others(own, c->end->e) || !ws_x_is(index->step, &step) || !period)
        return 0;
    return common(period, n) <= MOST_REPEATED ? common(period, n) : 0;
}

/* A number that the index is never below: it counts on from there. */
static gint64 begins_at(const PyCarry *index)
{
    gint64 from = 0, step;
    const gboolean known = index->kind == CARRY_LINEAR && index->entry->kind == VAL_INT &&
                           ws_x_is(index->entry->e, &from) && ws_x_is(index->step, &step) &&
                           step >= 0;
    return known ? CLAMP(from, 0, MOST_N) : 0;
}

/* Nothing in it is rounded down below 0, as far as the index is not below `from`. */
static gboolean rests_are_plain(WsRead *r, const PyCarry *c, const PyCarry *index, gint64 from)
{
    const WsExpr *behind = ws_x_op(r, WS_EXPR_ADD, ws_x_name(r, index->atom), ws_x_int(r, from));
    return py_rests_are_plain(from ? ws_x_replace(r, c->end->e, index->atom, behind) : c->end->e);
}

static gboolean flips(WsRead *r, const PyCarry *c, const PyCarry *index, gint64 n, gint64 shift)
{
    const gint64 from = begins_at(index);
    Values v = { .random = g_rand_new_with_seed(7),
                 .value = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                 .phase = c->atom,
                 .index = index->atom };
    const Others own = { c->atom, index->atom, FALSE };
    gboolean good = is_plain(&own, c->end->e, 0, 1) && is_plain(&own, index->step, 0, 1) &&
                    rests_are_plain(r, c, index, from);
    gint64 tried = n; /* so many values of the index; 0: some are drawn */
    if (index->kind != CARRY_MOD) {
        const Others none = { c->atom, "", FALSE };
        tried = all_repeat(&own, c, index, n);
        good = good && (tried || (!compares(&own, c->end->e) && is_plain(&none, c->end->e, 0, 1)));
    }
    for (guint i = 0; good && i < DRAWS; i++) {
        gint64 left, step;
        g_hash_table_remove_all(v.value);
        v.p = i & 1;
        v.u = from + (tried ? (gint64)(i / 2) % tried
                            : g_rand_int_range(v.random, 0, (gint32)(300 + 5 * n)));
        good = value_of(&v, c->end->e, &left) && value_of(&v, index->step, &step) && step >= 0 &&
               left == ((v.p + (v.u + step + shift) / n - (v.u + shift) / n) & 1);
    }
    g_rand_free(v.random);
    g_hash_table_unref(v.value);
    return good;
}

/* Whether it stays 0 or 1 at all. */
static gboolean is_parity(const PyCarry *c)
{
    Values v = { .random = g_rand_new_with_seed(3),
                 .value = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                 .phase = c->atom,
                 .index = "" };
    gboolean good = TRUE;
    for (guint i = 0; good && i < 12; i++) {
        gint64 left;
        g_hash_table_remove_all(v.value);
        v.p = i & 1;
        good = value_of(&v, c->end->e, &left) && (left == 0 || left == 1);
    }
    g_rand_free(v.random);
    g_hash_table_unref(v.value);
    return good;
}

static void note_divisor(const WsExpr *node, gpointer data)
{
    GArray *list = data;
    gint64 n;
    const gboolean divides = node->op == WS_EXPR_MOD || node->op == WS_EXPR_DIV;
    if (!divides || !ws_expr_is_int(node->arg[1], &n) || n < 2 || n > MOST_N)
        return;
    for (guint i = 0; i < list->len; i++)
        if (g_array_index(list, gint64, i) == n)
            return;
    g_array_append_val(list, n);
}

gboolean py_flips_with(PyRead *p, PyCarry *c, PyCarry *all, guint n_all)
{
    g_autoptr(GArray) divisors = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(GArray) modulus = g_array_new(FALSE, FALSE, sizeof(gint64));
    if (!is_parity(c))
        return FALSE;
    ws_expr_visit(c->end->e, note_divisor, divisors);
    for (guint i = 0; i < n_all; i++) {
        const PyCarry *index = &all[i];
        const gboolean counts = index->kind == CARRY_MOD || index->kind == CARRY_LINEAR;
        if (index == c || !index->atom || !counts || !index->step ||
            (index->kind == CARRY_MOD && (index->n < 2 || index->n > MOST_N)))
            continue;
        GArray *own = index->kind == CARRY_MOD ? modulus : divisors;
        g_array_set_size(modulus, 0);
        g_array_append_val(modulus, index->n);
        for (guint d = 0; d < own->len; d++)
            for (gint64 shift = 0; shift < g_array_index(own, gint64, d); shift++)
                if (flips(p->r, c, index, g_array_index(own, gint64, d), shift)) {
                    c->index = index->name;
                    c->n = g_array_index(own, gint64, d);
                    c->shift = shift;
                    return TRUE;
                }
    }
    return FALSE;
}
