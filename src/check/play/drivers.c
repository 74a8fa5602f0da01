/* What decides the loop counts of a program, and which values make them 0, 1, 2, S - 1, S, S + 1
 * and 2S + 1 for the ring depths S of the design. */
#include "check/play/play.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

typedef struct {
    const WsProgram *p;
    gint64 *size;  /* [vars] current sizes */
    gboolean tile; /* saw a tile, axis or index variable */
    guint depth;
} Env;

/* --- evaluating with chosen sizes ------------------------------------------------------------- */
static WsLookup look(gpointer data, const WsExpr *leaf, gint64 *value, GError **error);

static gboolean eval(Env *env, const WsExpr *e, gint64 *value)
{
    WsExprEnv x = { .integer = look, .data = env };
    g_autoptr(GError) error = NULL;
    return ws_expr_eval(e, &x, value, &error);
}

static WsLookup look(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    Env *env = data;
    if (leaf->op != WS_EXPR_VAR || leaf->var < 0 || (guint)leaf->var >= env->p->n_vars)
        return WS_LOOKUP_UNKNOWN;
    const WsVar *v = &env->p->var[leaf->var];
    if (v->kind == WS_VAR_SIZE) {
        *value = env->size[leaf->var];
        return WS_LOOKUP_KNOWN;
    }
    if (v->kind != WS_VAR_RUN || v->real || !v->value || env->depth > 16)
        return WS_LOOKUP_UNKNOWN;
    env->depth++;
    gboolean ok = eval(env, v->value, value);
    env->depth--;
    return ok ? WS_LOOKUP_KNOWN : WS_LOOKUP_UNKNOWN;
}

static const char *broken_assumption(Env *env)
{
    for (guint i = 0; i < env->p->n_assume; i++) {
        gint64 holds = 0;
        if (eval(env, env->p->assume[i], &holds) && !holds)
            return env->p->assume_text[i];
    }
    return NULL;
}

/* Strides of tensor maps: multiples of 16 bytes (launches.c). */
static gboolean has_maps(Env *env)
{
    const WsProgram *p = env->p;
    for (guint i = 0; i < p->n_maps; i++) {
        const WsTensor *x = &p->tensor[p->map[i].tensor];
        gint64 contiguous = 1, extent, stride;
        for (guint d = x->rank; d-- > 0;) {
            if (!eval(env, x->shape[d], &extent))
                return TRUE; /* it is asked again */
            stride = contiguous;
            if (x->strides_given && x->stride[d] && !eval(env, x->stride[d], &stride))
                return TRUE;
            if (d + 1 < x->rank && stride % 16 * (gint64)ws_dtype_bytes(x->dtype) % 16 != 0)
                return FALSE;
            if (__builtin_mul_overflow(contiguous, MAX(extent, 1), &contiguous))
                return TRUE;
            if (d + 1 == x->rank && extent == 0)
                break;
        }
    }
    return TRUE;
}

/* --- least value of an expression (LANGUAGE section 16, 9) ------------------------------------ */
static gint64 least(const WsProgram *p, const WsExpr *e, guint depth)
{
    gint64 a, b;
    if (depth > 16)
        return 0;
    if (e->op == WS_EXPR_INT)
        return e->i;
    if (e->op == WS_EXPR_VAR) {
        if (e->var >= 0 && (guint)e->var < p->n_vars && p->var[e->var].value)
            return least(p, p->var[e->var].value, depth + 1);
        return 0;
    }
    if (e->op == WS_EXPR_ADD) {
        a = least(p, e->arg[0], depth + 1), b = least(p, e->arg[1], depth + 1);
        return __builtin_add_overflow(a, b, &a) ? 0 : a;
    }
    if (e->op == WS_EXPR_CALL) {
        if (e->n_args != 2)
            return 0;
        a = least(p, e->arg[0], depth + 1), b = least(p, e->arg[1], depth + 1);
        if (e->func == WS_FUNC_MAX)
            return MAX(a, b);
        return e->func == WS_FUNC_MIN ? MIN(a, b) : 0;
    }
    return 0;
}

/* --- drivers ---------------------------------------------------------------------------------- */
typedef struct {
    const WsProgram *p;
    gint tile_var;
    guint n_tile, n_axis, n_inner;
    gboolean *size; /* [vars] */
    guint depth;
} Leaves;

static void see_leaf(const WsExpr *e, gpointer data)
{
    Leaves *l = data;
    if (e->op == WS_EXPR_INDEX)
        l->n_axis++;
    if (e->op != WS_EXPR_VAR || e->var < 0 || (guint)e->var >= l->p->n_vars)
        return;
    const WsVar *v = &l->p->var[e->var];
    switch (v->kind) {
    case WS_VAR_SIZE:
        l->size[e->var] = TRUE;
        break;
    case WS_VAR_RUN:
        if (v->value && l->depth < 16) {
            l->depth++;
            ws_expr_visit(v->value, see_leaf, l);
            l->depth--;
        }
        break;
    case WS_VAR_TILE:
        l->n_tile++, l->tile_var = e->var;
        break;
    case WS_VAR_AXIS:
        l->n_axis++;
        break;
    case WS_VAR_INDEX:
    case WS_VAR_TOTAL:
    case WS_VAR_COUNTER:
    case WS_VAR_LET:
        l->n_inner++;
        break;
    case WS_VAR_COL:
    case WS_VAR_CTA:
    case WS_VAR_ROW:
    case WS_VAR_SCALAR:
    default:
        break;
    }
}

/* count = factor * var + constant, nothing else. */
static gboolean solve_tile(const WsExpr *count, gint var, gint64 *factor, gint64 *constant)
{
    WsAffine a = { 0 };
    if (!ws_expr_affine(count, &a))
        return FALSE;
    gboolean ok =
        a.n == 1 && a.term[0]->op == WS_EXPR_VAR && a.term[0]->var == var && a.factor[0] != 0;
    if (ok)
        *factor = a.factor[0], *constant = a.constant;
    ws_affine_clear(&a);
    return ok;
}

static WsDriver *driver_of(const WsProgram *p, const WsTree *t, GPtrArray *skipped)
{
    g_autofree gboolean *size = g_new0(gboolean, p->n_vars + 1);
    Leaves l = { .p = p, .tile_var = -1, .size = size };
    ws_expr_visit(t->count, see_leaf, &l);
    gboolean any = l.n_tile > 0;
    for (guint i = 0; i < p->n_vars; i++)
        any |= size[i];
    if (!any)
        return NULL;
    WsDriver *d = g_new0(WsDriver, 1);
    d->count = t->count;
    d->loop = t->name;
    d->tile_var = d->size = -1;
    if (l.n_tile == 1 && solve_tile(t->count, l.tile_var, &d->factor, &d->constant)) {
        d->tile_var = l.tile_var;
        d->least = p->var[l.tile_var].value ? least(p, p->var[l.tile_var].value, 0) : 0;
        return d;
    }
    if (l.n_inner || l.n_axis || l.n_tile) {
        g_autofree char *text = ws_expr_print(t->count);
        g_ptr_array_add(
            skipped, ws_phrase("%s: count %s follows the sizes, it is not chosen", t->name, text));
        g_free(d);
        return NULL;
    }
    return d;
}

static void collect(const WsProgram *p, const WsTree *t, GPtrArray *drivers, GPtrArray *skipped)
{
    if (!t)
        return;
    if (t->kind == WS_TREE_LOOP && t->over == WS_OVER_COUNT && t->count &&
        t->count->op != WS_EXPR_INT) {
        gboolean known = FALSE;
        for (guint i = 0; i < drivers->len; i++)
            known |= ws_expr_equal(((WsDriver *)drivers->pdata[i])->count, t->count);
        WsDriver *d = known ? NULL : driver_of(p, t, skipped);
        for (guint i = 0; d && i < drivers->len; i++)
            if (d->tile_var >= 0 && ((WsDriver *)drivers->pdata[i])->tile_var == d->tile_var)
                g_clear_pointer(&d, g_free); /* decided already, up to a constant */
        if (d) {
            d->value = g_array_new(FALSE, FALSE, sizeof(gint64));
            d->rounds = g_array_new(FALSE, FALSE, sizeof(gint64));
            g_ptr_array_add(drivers, d);
        }
    }
    for (guint i = 0; i < t->n_kids; i++)
        collect(p, t->kid[i], drivers, skipped);
}

static void driver_free(gpointer data)
{
    WsDriver *d = data;
    g_array_unref(d->value);
    g_array_unref(d->rounds);
    g_free(d);
}

/* --- numbers of rounds ------------------------------------------------------------------------ */
static gint ascending(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

static void want(GArray *list, gint64 r)
{
    for (guint i = 0; i < list->len; i++)
        if (g_array_index(list, gint64, i) == r)
            return;
    if (r >= 0)
        g_array_append_val(list, r);
}

/* 0, 1, 2 and around every ring depth of the program; at most 24 numbers. */
static GArray *wanted_rounds(const WsProgram *p, const GArray *more)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(gint64));
    GArray *depth = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint b = 0; b < p->n_barriers; b++)
        if (p->barrier[b].kind == WS_BARRIER_MBARRIER && p->barrier[b].slots > 1)
            want(depth, p->barrier[b].slots);
    for (gint64 r = 0; r <= 2; r++)
        want(list, r);
    if (depth->len == 0)
        for (guint b = 0; b < p->n_buffers; b++)
            if (p->buffer[b].stages > 1)
                want(depth, p->buffer[b].stages);
    if (depth->len == 0)
        want(list, 3);
    for (guint i = 0; i < depth->len && list->len < 24; i++) {
        gint64 s = g_array_index(depth, gint64, i);
        want(list, s - 1), want(list, s), want(list, s + 1), want(list, 2 * s + 1);
    }
    for (guint i = 0; more && i < more->len && list->len < 48; i++)
        want(list, g_array_index(more, gint64, i));
    g_array_unref(depth);
    g_array_sort(list, ascending);
    return list;
}

/* Least value of size `var` that gives `r` rounds, by bisection over a rising count, then upwards
 * until all assumptions hold; FALSE and the reason if there is none. */
#define MOST ((gint64)1 << 34)
static gboolean solve_size(Env *env, const WsDriver *d, gint var, gint64 r, gint64 *value,
                           const char **why)
{
    gint64 lo = 0, hi = MOST, got, before = env->size[var];
    gboolean ok = FALSE;
    *why = NULL;
    while (lo < hi) {
        gint64 mid = lo + (hi - lo) / 2;
        env->size[var] = mid;
        if (!eval(env, d->count, &got))
            break;
        if (MAX(got, 0) < r)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (guint i = 0; lo == hi && i < 4096 && !ok; i++) {
        env->size[var] = lo + i;
        if (!eval(env, d->count, &got) || MAX(got, 0) != r)
            break;
        const char *text = broken_assumption(env);
        if (text)
            *why = text;
        ok = text == NULL && has_maps(env);
        *value = lo + i;
    }
    env->size[var] = before;
    return ok;
}

/* Says once what was left out. */
static void skip(GPtrArray *skipped, char *text)
{
    for (guint i = 0; i < skipped->len; i++)
        if (strcmp(skipped->pdata[i], text) == 0) {
            g_free(text);
            return;
        }
    g_ptr_array_add(skipped, text);
}

/* The largest value of a size with no round at all, where a smaller one has none either: what
 * stands behind a loop of max(0, N - 1) rounds is another thing for N = 1 than for N = 0. */
static void most_without(Env *env, WsDriver *d, gint var)
{
    gint64 before = env->size[var], got, value = -1;
    if (d->rounds->len == 0 || g_array_index(d->rounds, gint64, 0) != 0)
        return;
    gint64 least = g_array_index(d->value, gint64, 0), none = 0;
    for (gint64 i = 1; i <= 64; i++) {
        env->size[var] = least + i;
        if (!eval(env, d->count, &got) || got > 0)
            break;
        if (!broken_assumption(env))
            value = least + i;
    }
    env->size[var] = before;
    if (value < 0)
        return;
    g_array_append_val(d->rounds, none);
    g_array_append_val(d->value, value);
}

static void solve_driver(Env *env, WsDriver *d, const GArray *wanted, GPtrArray *skipped)
{
    if (d->tile_var >= 0) {
        for (guint i = 0; i < wanted->len; i++) {
            gint64 r = g_array_index(wanted, gint64, i), value;
            if (__builtin_sub_overflow(r, d->constant, &value) || value == G_MININT64 ||
                value % d->factor || value / d->factor < d->least)
                continue;
            value /= d->factor;
            g_array_append_val(d->rounds, r);
            g_array_append_val(d->value, value);
        }
        return;
    }
    g_autofree gboolean *size = g_new0(gboolean, env->p->n_vars + 1);
    Leaves l = { .p = env->p, .tile_var = -1, .size = size };
    ws_expr_visit(d->count, see_leaf, &l);
    for (guint v = 0; v < env->p->n_vars && d->rounds->len == 0; v++) {
        if (!size[v])
            continue;
        d->size = (gint)v;
        for (guint i = 0; i < wanted->len; i++) {
            gint64 r = g_array_index(wanted, gint64, i), value;
            const char *why;
            if (solve_size(env, d, (gint)v, r, &value, &why)) {
                g_array_append_val(d->rounds, r);
                g_array_append_val(d->value, value);
            } else if (why) {
                skip(skipped, ws_phrase("%" G_GINT64_FORMAT " rounds of %s: %s would not hold", r,
                                        d->loop, why));
            }
        }
        most_without(env, d, (gint)v);
    }
}

GPtrArray *ws_drivers(const WsProgram *p, const gint64 *base, const GArray *more,
                      GPtrArray *skipped)
{
    GPtrArray *drivers = g_ptr_array_new_with_free_func(driver_free);
    for (guint a = 0; a < p->n_agents; a++)
        collect(p, p->agent[a].body, drivers, skipped);
    g_autofree gint64 *now = g_memdup2(base, (p->n_vars + 1) * sizeof(gint64));
    Env env = { .p = p, .size = now };
    g_autoptr(GArray) wanted = wanted_rounds(p, more);
    for (guint i = drivers->len; i-- > 0;) {
        WsDriver *d = drivers->pdata[i];
        solve_driver(&env, d, wanted, skipped);
        if (d->rounds->len)
            continue;
        skip(skipped, ws_phrase("%s: no size found that chooses its rounds", d->loop));
        g_ptr_array_remove_index(drivers, i);
    }
    return drivers;
}
