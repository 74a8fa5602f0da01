#include "import/python/pyread_loop.h"

#include <string.h>

/* Parities that flip with another variable of the loop, however that is written: found by values,
 * as (phase + (u + step + shift) / n - (u + shift) / n) mod 2 of an index u that counts on. What is
 * found is tried again when the loop is walked (pyread_tried.c). */

#define DRAWS  96
#define MOST_N 64

typedef struct {
    GRand *random;
    GHashTable *value; /* char* -> gint64* */
    const char *phase, *index;
    gint64 p, u;
} Values;

static WsLookup look_up(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    Values *v = data;
    (void)error;
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
        *value = g_rand_int_range(v->random, 0, 30);
        g_hash_table_insert(v->value, g_steal_pointer(&key), g_memdup2(value, sizeof *value));
    }
    return WS_LOOKUP_KNOWN;
}

static gboolean value_of(Values *v, const WsExpr *e, gint64 *value)
{
    const WsExprEnv env = { .integer = look_up, .data = v };
    return ws_expr_eval(e, &env, value, NULL);
}

static gboolean flips(const PyCarry *c, const PyCarry *index, gint64 n, gint64 shift)
{
    Values v = { .random = g_rand_new_with_seed(7),
                 .value = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                 .phase = c->atom,
                 .index = index->atom };
    gboolean good = TRUE;
    for (guint i = 0; good && i < DRAWS; i++) {
        gint64 left, step;
        g_hash_table_remove_all(v.value);
        v.p = i & 1;
        v.u = index->kind == CARRY_MOD ? (gint64)(i / 2) % n
                                       : g_rand_int_range(v.random, 0, (gint32)(5 * n));
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

gboolean py_flips_with(PyCarry *c, PyCarry *all, guint n_all)
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
                if (flips(c, index, g_array_index(own, gint64, d), shift)) {
                    c->index = index->name;
                    c->n = g_array_index(own, gint64, d);
                    c->shift = shift;
                    return TRUE;
                }
    }
    return FALSE;
}
