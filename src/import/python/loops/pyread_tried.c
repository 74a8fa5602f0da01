#include "import/python/loops/pyread_tried.h"
#include "import/python/pyread_object.h"

#include <string.h>

/* What was found of the variables of a loop is tried with numbers, round for round: at the head of
 * the first round a variable is what it was before the loop, what a round leaves is what stands at
 * the head of the next one, and behind the loop is what the last round left. Forms are sums,
 * quotients and remainders by small numbers, so that two which agree for all values that are drawn
 * here (small ones, those around every number in them, some large) are the same. */

#define DRAWS     240
#define NOT_KNOWN G_MININT64 /* what a round adds to a counter */

typedef struct {
    const PyRead *p;
    const PyLoop *l;
    GRand *random;
    GArray *literal; /* gint64: numbers in the expressions that are compared */
    GHashTable *value,
        *counter;               /* char* -> gint64*: of this draw; of counters beyond their start */
    GHashTable *same;           /* const char* -> const char*: names taken for equal: for one */
    GHashTable *least;          /* char* -> gint64*: what that one is never below */
    GPtrArray *assumed;         /* const WsExpr*: of the names in the expressions, and of theirs */
    gboolean again;             /* what is assumed did not hold */
    guint seen;                 /* draws that said something */
    gint64 round, total, entry; /* of the loop: at hand, rounds ever, those before it began */
    gboolean first, good;       /* first: before any round of it there was none of those inside */
} Draw;

/* --- values of names ---------------------------------------------------------------------------*/

static void note_literal(const WsExpr *node, gpointer data)
{
    GArray *literal = data;
    gint64 n;
    if (!ws_expr_is_int(node, &n) || ABS(n) > (gint64)1 << 40)
        return;
    for (guint i = 0; i < literal->len; i++)
        if (g_array_index(literal, gint64, i) == n)
            return;
    g_array_append_val(literal, n);
}

/* Small numbers, numbers near those of the expressions and multiples of them, large ones. */
static gint64 draw_from(Draw *d, gint64 least)
{
    const gint32 way = g_rand_int_range(d->random, d->again ? 9 : 0, 20);
    if (way < 17 || !d->literal->len)
        return least + g_rand_int_range(d->random, 0, way < 9 ? 7 : way < 15 ? 90 : 9000);
    const guint i = (guint)g_rand_int_range(d->random, 0, (gint32)d->literal->len);
    const gint64 number = g_array_index(d->literal, gint64, i);
    const gint64 drawn = way == 19 ? number * g_rand_int_range(d->random, 1, 40)
                                   : number + g_rand_int_range(d->random, -1, 2);
    return MAX(drawn, least);
}

static gint64 value_of(Draw *d, const char *key, gint64 least)
{
    gint64 *known = g_hash_table_lookup(d->value, key);
    if (!known) {
        known = g_new(gint64, 1);
        *known = draw_from(d, least);
        g_hash_table_insert(d->value, g_strdup(key), known);
    }
    return *known;
}

gboolean py_is_inside(const PyLoop *l, const char *loop)
{
    return l->inside && g_ptr_array_find_with_equal_func(l->inside, loop, g_str_equal, NULL);
}

static const char *one_for(const Draw *d, const char *name)
{
    const char *other;
    while ((other = g_hash_table_lookup(d->same, name)))
        name = other;
    return name;
}

static gint64 least_of(Draw *d, const WsExpr *name)
{
    const char *one = one_for(d, name->name);
    gint64 *known = g_hash_table_lookup(d->least, one);
    if (!known) {
        known = g_new(gint64, 1);
        if (!py_least(d->p, name, known))
            *known = 0;
        *known = MAX(*known, !strcmp(name->name, PY_GRID));
        g_hash_table_insert(d->least, g_strdup(one), known);
    }
    return *known;
}

/* `a == b` is assumed: they are one name here, since two drawn numbers are hardly ever equal. */
static void equate(Draw *d, const WsExpr *e)
{
    if (e->op != WS_EXPR_EQ || e->arg[0]->op != WS_EXPR_NAME || e->arg[1]->op != WS_EXPR_NAME)
        return;
    const gint64 least = MAX(least_of(d, e->arg[0]), least_of(d, e->arg[1]));
    const char *a = one_for(d, e->arg[0]->name), *b = one_for(d, e->arg[1]->name);
    if (!strcmp(a, b))
        return;
    g_hash_table_insert(d->same, (gpointer)a, (gpointer)b);
    g_hash_table_insert(d->least, g_strdup(b), g_memdup2(&least, sizeof least));
}

static WsLookup look_up(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    Draw *d = data;
    const PyLoop *l = d->l;
    if (leaf->op == WS_EXPR_TOTAL) {
        g_autofree char *key = g_strconcat(leaf->name, ".total", NULL);
        *value = !strcmp(leaf->name, l->name)              ? d->total
                 : d->first && py_is_inside(l, leaf->name) ? 0
                                                           : value_of(d, key, 0);
        return WS_LOOKUP_KNOWN;
    }
    if (leaf->op != WS_EXPR_NAME)
        return WS_LOOKUP_UNKNOWN;
    if (!strcmp(leaf->name, l->name)) {
        *value = d->round;
    } else if (l->tiles && d->p->tile && !strcmp(leaf->name, d->p->tile)) {
        *value = value_of(d, PY_PID, 0) +
                 (l->from + d->round * MAX(l->stride, 1)) * value_of(d, PY_GRID, 1);
    } else {
        const gint64 *more = g_hash_table_lookup(d->counter, leaf->name);
        if (more && *more == NOT_KNOWN)
            return WS_LOOKUP_UNKNOWN;
        *value = value_of(d, one_for(d, leaf->name), least_of(d, leaf)) + (more ? *more : 0);
    }
    return WS_LOOKUP_KNOWN;
}

/* An element of a tensor: some number that belongs to its place. */
static WsLookup element(gpointer data, const WsExpr *leaf, const gint64 *at, gint64 *value,
                        GError **error)
{
    Draw *d = data;
    g_autoptr(GString) key = g_string_new(leaf->name);
    for (guint i = 0; i < leaf->n_args; i++)
        g_string_append_printf(key, "[%" G_GINT64_FORMAT "]", at[i]);
    *value = value_of(d, key->str, 0);
    return WS_LOOKUP_KNOWN;
}

static gboolean evaluate(Draw *d, const WsExpr *e, gint64 *value)
{
    const WsExprEnv env = { .integer = look_up, .element = element, .data = d };
    return e && ws_expr_eval(e, &env, value, NULL);
}

/* --- one draw ----------------------------------------------------------------------------------*/

static void forget(const WsExpr *node, gpointer data)
{
    Draw *d = data;
    if (node->op == WS_EXPR_NAME)
        g_hash_table_remove(d->value, one_for(d, node->name));
}

#define MOST_TRIES 60 /* to find values for which an assumption holds */

/* Draws the sizes for which it does not hold anew. */
static void assume(Draw *d, const WsExpr *e)
{
    gint64 holds;
    for (guint i = 0; i < MOST_TRIES; i++) {
        if (!evaluate(d, e, &holds) || holds)
            return;
        ws_expr_visit(e, forget, d);
        d->again = TRUE;
    }
}

static void begin(Draw *d)
{
    g_hash_table_remove_all(d->value);
    g_hash_table_remove_all(d->counter);
    d->first = d->p->loops->len == 0;
    d->again = FALSE;
    d->entry = d->first ? 0 : draw_from(d, 0);
    d->round = 0;
    d->total = d->entry;
    d->good = TRUE;
    for (guint round = 0; round < 3; round++) /* one may undo another */
        for (guint i = 0; i < d->assumed->len; i++)
            assume(d, d->assumed->pdata[i]);
    for (guint i = 0; i < d->assumed->len; i++) {
        gint64 holds;
        d->good &= !evaluate(d, d->assumed->pdata[i], &holds) || holds;
    }
    d->again = FALSE;
}

/* How many rounds the loop makes; over tiles any number. */
static gint64 rounds(Draw *d)
{
    gint64 n = 0;
    if (!d->l->count)
        return draw_from(d, 0);
    d->good &= evaluate(d, d->l->count, &n);
    return MAX(n, 0);
}

static void at_round(Draw *d, gint64 round)
{
    d->round = round;
    d->total = d->entry + round;
}

/* --- which assumptions matter ------------------------------------------------------------------*/

static void note_name(const WsExpr *node, gpointer data)
{
    if (node->name && node->op != WS_EXPR_INT && node->op != WS_EXPR_REAL)
        g_hash_table_add(data, node->name);
}

static void has_name(const WsExpr *node, gpointer data)
{
    gpointer *d = data;
    gboolean *found = d[1];
    *found |= node->name && g_hash_table_contains(d[0], node->name);
}

/* Of `all` those that share a name with `names`, or with one of these, and so on: what is assumed
 * of other names changes no value here. */
static void take_assumed(Draw *d, GPtrArray *all, GHashTable *names)
{
    gboolean more = TRUE;
    while (more) {
        more = FALSE;
        for (guint i = 0; i < all->len; i++) {
            const WsExpr *e = all->pdata[i];
            gboolean found = FALSE;
            gpointer data[] = { names, &found };
            if (!e)
                continue;
            ws_expr_visit(e, has_name, data);
            if (!found)
                continue;
            ws_expr_visit(e, note_name, names);
            ws_expr_visit(e, note_literal, d->literal);
            g_ptr_array_add(d->assumed, (gpointer)e);
            equate(d, e);
            all->pdata[i] = NULL;
            more = TRUE;
        }
    }
}

static void note_one(GPtrArray *all, const WsExpr *e)
{
    if (e && !g_ptr_array_find(all, e, NULL))
        g_ptr_array_add(all, (gpointer)e);
}

/* What is assumed of the names in `e` and in what was found of the loop's variables. */
static void note_assumed(Draw *d, const GArray *tried, const WsExpr *const *e, guint n)
{
    const PyRead *p = d->p;
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < p->r->assume->len; i++)
        note_one(all, ws_x_parsed(p->r, p->r->assume->pdata[i]));
    for (guint i = 0; p->way.assume && p->way.assume[i]; i++)
        note_one(all, ws_x_parsed(p->r, p->way.assume[i]));
    g_hash_table_add(names, (gpointer)PY_PID);
    g_hash_table_add(names, (gpointer)PY_GRID); /* by which tiles are counted */
    for (guint i = 0; i < n; i++)
        if (e[i])
            ws_expr_visit(e[i], note_name, names);
    for (guint i = 0; i < tried->len; i++) {
        const PyTried *t = &g_array_index(tried, PyTried, i);
        const WsExpr *const part[] = { t->start, t->counter, t->counted };
        for (guint k = 0; t->counter && k < G_N_ELEMENTS(part); k++)
            if (part[k])
                ws_expr_visit(part[k], note_name, names);
    }
    take_assumed(d, all, names);
}

/* To compare some of `e`, of a loop whose variables are `tried`. */
static Draw *draw_new(const PyRead *p, const PyLoop *l, const GArray *tried, const WsExpr *const *e,
                      guint n)
{
    Draw *d = g_new0(Draw, 1);
    d->p = p;
    d->l = l;
    d->random = g_rand_new_with_seed(20);
    d->literal = g_array_new(FALSE, FALSE, sizeof(gint64));
    d->assumed = g_ptr_array_new();
    d->value = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    d->counter = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    d->same = g_hash_table_new(g_str_hash, g_str_equal);
    d->least = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    note_assumed(d, tried, e, n);
    for (guint i = 0; i < n; i++)
        if (e[i])
            ws_expr_visit(e[i], note_literal, d->literal);
    return d;
}

static void draw_free(Draw *d)
{
    g_rand_free(d->random);
    g_array_unref(d->literal);
    g_ptr_array_unref(d->assumed);
    g_hash_table_unref(d->value);
    g_hash_table_unref(d->counter);
    g_hash_table_unref(d->same);
    g_hash_table_unref(d->least);
    g_free(d);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Draw, draw_free)

/* --- what is tried -----------------------------------------------------------------------------*/

#define TRIED(list, i) (&g_array_index(list, PyTried, i))

static const WsExpr *number_at(PyRead *p, const char *name)
{
    const Val *v = py_path(p, name);
    return v && v->kind == VAL_INT ? v->e : NULL;
}

static void unknown_from_here(PyRead *p, const PyTried *t)
{
    py_set_path(p, t->name, py_opaque(p));
}

/* Counters are what a round adds to them. */
static void advance_counters(Draw *d, const GArray *tried)
{
    g_autoptr(GArray) by = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint i = 0; i < tried->len; i++) {
        const PyTried *t = TRIED(tried, i);
        gint64 now = 0, then = 0;
        const gboolean known =
            t->counter && evaluate(d, t->counter, &now) && evaluate(d, t->counted, &then);
        then = known ? then - now : NOT_KNOWN;
        g_array_append_val(by, then);
    }
    for (guint i = 0; i < tried->len; i++)
        if (TRIED(tried, i)->counter)
            g_hash_table_insert(d->counter, g_strdup(TRIED(tried, i)->counter->name),
                                g_memdup2(&g_array_index(by, gint64, i), sizeof(gint64)));
}

/* Before any round counters are what they start with. */
static void start_counters(Draw *d, const GArray *tried)
{
    for (guint i = 0; i < tried->len; i++) {
        const PyTried *t = TRIED(tried, i);
        gint64 from = 0, now = 0;
        if (!t->counter)
            continue;
        const gboolean known = evaluate(d, t->start, &from) && evaluate(d, t->counter, &now);
        from = known ? from - now : NOT_KNOWN;
        g_hash_table_insert(d->counter, g_strdup(t->counter->name), g_memdup2(&from, sizeof from));
    }
}

/* Where the source divides by 0 nothing is asked. FALSE: they differ. */
static gboolean agree(Draw *d, gboolean known, gint64 value, const WsExpr *found)
{
    gint64 now;
    if (!known)
        return TRUE;
    d->seen++;
    return evaluate(d, found, &now) && now == value;
}

/* At the head of the first round it is what it was. */
static gboolean begins_right(Draw *d, const GArray *tried, const PyTried *t)
{
    gint64 entry;
    begin(d);
    if (!rounds(d) || !d->good)
        return TRUE;
    start_counters(d, tried);
    const gboolean known = evaluate(d, t->entry, &entry);
    return agree(d, known, entry, t->head);
}

GArray *py_try_heads(PyRead *p, const PyLoop *l, const GArray *carries)
{
    GArray *tried = g_array_new(FALSE, TRUE, sizeof(PyTried));
    for (guint i = 0; !p->probing && p->py && i < carries->len; i++) {
        const PyCarry *c = &g_array_index(carries, PyCarry, i);
        PyTried t = { .name = c->name, .head = number_at(p, c->name) };
        guint at;
        if (!c->atom)
            continue;
        t.entry = c->entry->e;
        if (c->counter && g_ptr_array_find(p->group->counters, c->counter, &at)) {
            t.counter = ws_x_name(p->r, c->counter);
            t.start = g_ptr_array_index(p->group->starts, at);
            t.modulus = c->kind == CARRY_MOD ? c->n : 0;
        }
        g_array_append_val(tried, t);
    }
    for (guint i = 0; i < tried->len; i++) {
        PyTried *t = TRIED(tried, i);
        const WsExpr *const compared[] = { t->head, t->entry, t->start, l->count };
        g_autoptr(Draw) d = draw_new(p, l, tried, compared, G_N_ELEMENTS(compared));
        gboolean right = t->head != NULL;
        for (guint k = 0; right && k < DRAWS; k++)
            right = begins_right(d, tried, t);
        if (t->head && !(right && d->seen)) {
            unknown_from_here(p, t);
            t->head = NULL;
        }
    }
    return tried;
}

/* What round `d` is at leaves is what stands at the head of the next. */
static gboolean goes_on_right(Draw *d, const GArray *tried, const PyTried *t)
{
    gint64 left;
    begin(d);
    d->first = FALSE;
    const gint64 n = rounds(d);
    if (!d->good || n < 2)
        return TRUE;
    at_round(d, g_rand_boolean(d->random) ? n - 2 : draw_from(d, 0) % (n - 1));
    const gboolean known = evaluate(d, t->left, &left);
    advance_counters(d, tried);
    at_round(d, d->round + 1);
    return agree(d, known, left, t->head);
}

/* A loop of one round at most has no next one. */
static gboolean is_once(const Draw *d)
{
    gint64 n;
    return ws_x_is(d->l->count, &n) && n < 2;
}

void py_try_rounds(PyRead *p, const PyLoop *l, GArray *tried)
{
    for (guint i = 0; i < tried->len; i++) {
        PyTried *t = TRIED(tried, i);
        t->left = number_at(p, t->name);
        t->counted = t->left && t->modulus ? py_inner_of(p, t->left, t->modulus) : t->left;
    }
    for (guint i = 0; i < tried->len; i++) {
        const PyTried *t = TRIED(tried, i);
        const WsExpr *const compared[] = { t->head, t->left, l->count };
        g_autoptr(Draw) d = draw_new(p, l, tried, compared, G_N_ELEMENTS(compared));
        gboolean right = TRUE;
        for (guint k = 0; t->head && right && k < DRAWS; k++)
            right = goes_on_right(d, tried, t);
        if (t->head && !(right && (d->seen || is_once(d))))
            py_unread(p, l->node,
                      ws_source_format(p->r, "what `%s` is from round to round", t->name));
    }
}

/* Behind the loop it is what the last round left; without one, what it was. */
static gboolean ends_right(Draw *d, const GArray *tried, const PyTried *t, const WsExpr *behind)
{
    gint64 left;
    begin(d);
    const gint64 n = rounds(d);
    d->first &= !n;
    at_round(d, MAX(n - 1, 0));
    if (!n)
        start_counters(d, tried);
    const gboolean known = evaluate(d, n ? t->left : t->entry, &left);
    if (n)
        advance_counters(d, tried);
    at_round(d, n);
    return !d->good || agree(d, known, left, behind);
}

void py_try_exits(PyRead *p, const PyLoop *l, const GArray *tried)
{
    for (guint i = 0; i < tried->len; i++) {
        const PyTried *t = TRIED(tried, i);
        const WsExpr *behind = number_at(p, t->name);
        const WsExpr *const compared[] = { t->left, t->entry, behind, l->count };
        g_autoptr(Draw) d = draw_new(p, l, tried, compared, G_N_ELEMENTS(compared));
        gboolean right = behind != NULL;
        for (guint k = 0; right && k < DRAWS; k++)
            right = ends_right(d, tried, t, behind);
        if (behind && !(right && d->seen))
            unknown_from_here(p, t);
    }
}
