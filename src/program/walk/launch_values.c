/* One launch: sizes, run names, extents, shapes and strides as numbers. */
#include "program/walk/launch_values.h"
#include "model/finding.h"
#include "program/elaborate.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_asked.h"
#include "program/walk/tile_order.h"
#include "program/walk/walk.h"

#include <math.h>
#include <string.h>

#define MAX_HILBERT_CELLS (G_GINT64_CONSTANT(1) << 26)

typedef enum { TODO, BUSY, DONE, FAILED } State;

struct WsLaunchValues {
    gatomicrefcount refs;
    WsProgram *p;
    gint64 *value; /* per variable */
    double *real;  /* per variable */
    guint8 *state; /* State per variable */
    guint failures;
    gint cause; /* the last name whose own expression failed; -1: none */
    WsTileSpace space;
    gint64 tiles, grid;
    gint64 (*shape)[WS_MAX_RANK], (*stride)[WS_MAX_RANK];
};

WsLaunchValues *ws_launch_values_ref(WsLaunchValues *v)
{
    g_atomic_ref_count_inc(&v->refs);
    return v;
}

void ws_launch_values_free(WsLaunchValues *v)
{
    if (!v || !g_atomic_ref_count_dec(&v->refs))
        return;
    ws_program_unref(v->p);
    g_free(v->value);
    g_free(v->real);
    g_free(v->state);
    g_free(v->shape);
    g_free(v->stride);
    g_free(v->space.hilbert);
    g_free(v);
}

/* --- variables ---------------------------------------------------------------------------------
 */
static WsLookup resolve(WsLaunchValues *v, gint var, GError **error);

static const WsVar *launch_var(const WsLaunchValues *v, const WsExpr *leaf)
{
    if (leaf->op != WS_EXPR_VAR || leaf->var < 0 || (guint)leaf->var >= v->p->n_vars)
        return NULL;
    const WsVar *var = &v->p->var[leaf->var];
    gboolean launch =
        var->kind == WS_VAR_SIZE || var->kind == WS_VAR_SCALAR || var->kind == WS_VAR_RUN;
    return launch ? var : NULL;
}

static WsLookup lookup_integer(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    WsLaunchValues *v = data;
    const WsVar *var = launch_var(v, leaf);
    if (!var || var->real || var->kind == WS_VAR_SCALAR)
        return WS_LOOKUP_UNKNOWN;
    WsLookup found = resolve(v, leaf->var, error);
    *value = v->value[leaf->var];
    return found;
}

static WsLookup lookup_real(gpointer data, const WsExpr *leaf, double *value, GError **error)
{
    WsLaunchValues *v = data;
    if (!launch_var(v, leaf))
        return WS_LOOKUP_UNKNOWN;
    WsLookup found = resolve(v, leaf->var, error);
    *value = v->real[leaf->var];
    return found;
}

WsExprEnv ws_launch_env(const WsLaunchValues *v)
{
    return (WsExprEnv){ lookup_integer, lookup_real, NULL, (gpointer)v };
}

/* Makes a run name known, and those it uses. A name that failed fails at once when it is asked for
 * again, and only the name whose own expression fails is told: chains of thousands of names are
 * evaluated once. */
static WsLookup resolve(WsLaunchValues *v, gint index, GError **error)
{
    const WsVar *var = &v->p->var[index];
    if (v->state[index] == DONE)
        return WS_LOOKUP_KNOWN;
    if (v->state[index] == FAILED) {
        v->failures++;
        g_set_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_NAME, "%s has no value", var->name);
        return WS_LOOKUP_ERROR;
    }
    if (v->state[index] == BUSY || !var->value) {
        g_set_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_NAME, "%s %s", var->name,
                    var->value ? "is defined by itself" : "has no definition");
        return WS_LOOKUP_ERROR;
    }
    WsExprEnv env = ws_launch_env(v);
    const guint failures = v->failures;
    v->state[index] = BUSY;
    gboolean ok = var->real ? ws_expr_eval_real(var->value, &env, &v->real[index], error)
                            : ws_expr_eval(var->value, &env, &v->value[index], error);
    if (!ok) {
        v->state[index] = FAILED;
        if (v->failures++ == failures) {
            v->cause = index;
            g_prefix_error(error, "%s: ", var->name);
        }
        return WS_LOOKUP_ERROR;
    }
    v->state[index] = DONE;
    if (var->real)
        v->real[index] = (double)(float)v->real[index]; /* it is an f32 everywhere else */
    else
        v->real[index] = (double)v->value[index];
    return WS_LOOKUP_KNOWN;
}

static void cannot(WsFindings *findings, const char *at, const char *what, GError *error)
{
    if (findings)
        ws_findings_add(findings, WS_RULE_R_LAUNCH, at, "%s: %s", what,
                        error ? error->message : WS_WORD("no value"));
}

static gboolean take_sizes(WsLaunchValues *v, const WsSize *size, guint n_size, gboolean rehearse,
                           WsFindings *findings)
{
    const WsProgram *p = v->p;
    gboolean ok = TRUE;
    for (guint i = 0; i < p->n_vars; i++) {
        const WsVar *var = &p->var[i];
        if (var->kind != WS_VAR_SIZE && var->kind != WS_VAR_SCALAR)
            continue;
        v->state[i] = DONE;
        v->value[i] = rehearse ? var->rehearse : var->preset;
        v->real[i] =
            var->kind == WS_VAR_SCALAR ? (double)(float)var->preset_real : (double)v->value[i];
    }
    for (guint s = 0; s < n_size; s++) {
        gint found = -1;
        for (guint i = 0; i < p->n_vars && found < 0; i++)
            if (p->var[i].kind == WS_VAR_SIZE && strcmp(p->var[i].name, size[s].name) == 0)
                found = (gint)i;
        if (found < 0) {
            ok = FALSE;
            if (findings)
                ws_findings_add(findings, WS_RULE_R_SIZE, "sizes", "there is no size '%s'",
                                size[s].name);
            continue;
        }
        v->value[found] = size[s].value;
        v->real[found] = (double)size[s].value;
    }
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SIZE && v->value[i] < 0) {
            ok = FALSE;
            if (findings)
                ws_findings_add(findings, WS_RULE_R_LAUNCH, "sizes",
                                "size %s is %" G_GINT64_FORMAT "; sizes are 0 or more",
                                p->var[i].name, v->value[i]);
        }
    return ok;
}

static gboolean take_run_names(WsLaunchValues *v, WsFindings *findings)
{
    gboolean ok = TRUE;
    for (guint i = 0; i < v->p->n_vars; i++) {
        g_autoptr(GError) error = NULL;
        v->cause = -1;
        if (v->p->var[i].kind != WS_VAR_RUN || resolve(v, (gint)i, &error) == WS_LOOKUP_KNOWN)
            continue;
        ok = FALSE;
        if (v->cause < 0)
            continue; /* told at the name that it uses */
        g_autofree char *at = g_strdup_printf("let/%s", v->p->var[v->cause].name);
        cannot(findings, at, "run name", error);
    }
    return ok;
}

/* --- assumptions -------------------------------------------------------------------------------
 */
typedef struct {
    const WsLaunchValues *v;
    GString *values; /* "K = 0, M = 3" */
} Leaves;

static void note_leaf(const WsExpr *node, gpointer data)
{
    Leaves *l = data;
    const WsVar *var = launch_var(l->v, node);
    if (!var)
        return;
    g_autofree char *text =
        var->real || var->kind == WS_VAR_SCALAR
            ? g_strdup_printf("%s = %g", var->name, l->v->real[node->var])
            : g_strdup_printf("%s = %" G_GINT64_FORMAT, var->name, l->v->value[node->var]);
    if (strstr(l->values->str, text))
        return;
    g_string_append_printf(l->values, "%s%s", l->values->len ? ", " : "", text);
}

static void tell_broken(const WsLaunchValues *v, guint i, GError *error, WsFindings *findings)
{
    g_autofree char *at = g_strdup_printf("assume/%u", i);
    g_autoptr(GString) values = g_string_new(NULL);
    Leaves leaves = { v, values };
    const char *text = v->p->assume_text ? v->p->assume_text[i] : "assumption";
    if (error) {
        cannot(findings, at, text, error);
        return;
    }
    ws_expr_visit(v->p->assume[i], note_leaf, &leaves);
    ws_findings_add(findings, WS_RULE_R_ASSUME, at, "%s does not hold%s%s", text,
                    values->len ? WS_WORD(" for ") : "", values->str);
}

/* Assumptions about tile names hold or not per tile; here only those of the whole launch. */
static gboolean check_assumptions(WsLaunchValues *v, WsFindings *findings)
{
    gboolean ok = TRUE;
    WsExprEnv env = ws_launch_env(v);
    for (guint i = 0; i < v->p->n_assume; i++) {
        if (!ws_launch_knows(v->p, v->p->assume[i]))
            continue;
        g_autoptr(GError) error = NULL;
        double holds = 0;
        if (ws_expr_eval_real(v->p->assume[i], &env, &holds, &error) && holds != 0)
            continue;
        ok = FALSE;
        if (findings)
            tell_broken(v, i, error, findings);
    }
    return ok;
}

/* --- tensors and tiles --------------------------------------------------------------------------
 */
static gboolean number(WsLaunchValues *v, const WsExpr *e, gint64 *out, const char *folder,
                       const char *name, const char *what, WsFindings *findings)
{
    g_autoptr(GError) error = NULL;
    WsExprEnv env = ws_launch_env(v);
    if (ws_expr_eval(e, &env, out, &error))
        return TRUE;
    g_autofree char *at = g_strdup_printf("%s%s", folder, name);
    cannot(findings, at, what, error);
    return FALSE;
}

/* What has no value, in words that are made only when they are needed. */
static const char *const extent_word[] = { "extent 0", "extent 1", "extent 2", "extent 3",
                                           "extent 4" };
G_STATIC_ASSERT(G_N_ELEMENTS(extent_word) >= WS_MAX_RANK);

static gboolean take_tensor(WsLaunchValues *v, guint t, WsFindings *findings)
{
    const WsTensor *x = &v->p->tensor[t];
    static const char folder[] = "tensors/";
    gint64 contiguous = 1;
    for (guint d = x->rank; d-- > 0;) {
        gint64 *extent = &v->shape[t][d], *stride = &v->stride[t][d];
        if (!number(v, x->shape[d], extent, folder, x->name, extent_word[d], findings))
            return FALSE;
        if (*extent < 0) {
            g_autofree char *at = g_strconcat(folder, x->name, NULL);
            if (findings)
                ws_findings_add(findings, WS_RULE_R_LAUNCH, at,
                                "extent %u of tensor %s is %" G_GINT64_FORMAT, d, x->name, *extent);
            return FALSE;
        }
        *stride = contiguous;
        if (x->strides_given && x->stride[d] &&
            !number(v, x->stride[d], stride, folder, x->name, "stride", findings))
            return FALSE;
        if (__builtin_mul_overflow(contiguous, MAX(*extent, 1), &contiguous)) {
            g_autofree char *at = g_strconcat(folder, x->name, NULL);
            if (findings)
                ws_findings_add(findings, WS_RULE_R_LAUNCH, at,
                                "the elements of tensor %s do not fit in 64 bits", x->name);
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean take_tiles(WsLaunchValues *v, WsFindings *findings)
{
    const WsTiles *t = v->p->tiles;
    v->tiles = 1;
    for (guint a = 0; a < t->n_axes; a++) {
        if (!number(v, t->axis[a].extent, &v->space.extent[a], "tiles/axes/", t->axis[a].name,
                    "extent", findings))
            return FALSE;
        v->space.extent[a] = MAX(v->space.extent[a], 0);
        if (__builtin_mul_overflow(v->tiles, v->space.extent[a], &v->tiles)) {
            g_autofree char *at = g_strconcat("tiles/axes/", t->axis[a].name, NULL);
            if (findings)
                ws_findings_add(findings, WS_RULE_R_LAUNCH, at,
                                "the number of tiles does not fit in 64 bits");
            return FALSE;
        }
    }
    v->space.group = t->order_group;
    if (t->order == WS_ORDER_GROUPED && t->order_n &&
        !number(v, t->order_n, &v->space.group, "tiles/", "order", "group", findings))
        return FALSE;
    v->grid = 0;
    if (t->grid && !number(v, t->grid, &v->grid, "tiles/", "grid", "grid", findings))
        return FALSE;
    if (t->grid && v->grid < (gint64)MAX(v->p->cluster, 1)) {
        if (findings)
            ws_findings_add(findings, WS_RULE_R_LAUNCH, "tiles/grid",
                            "grid is %" G_GINT64_FORMAT "; it needs at least one cluster of %u",
                            v->grid, MAX(v->p->cluster, 1));
        return FALSE;
    }
    if (t->order == WS_ORDER_HILBERT && v->tiles > 0) {
        gint64 x = v->space.extent[t->order_axis], y = v->space.extent[t->order_axis2];
        if (x > MAX_HILBERT_CELLS / y) {
            if (findings)
                ws_findings_add(findings, WS_RULE_R_LAUNCH, "tiles/order",
                                "a Hilbert order of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                                " tiles needs too large a table",
                                x, y);
            return FALSE;
        }
        v->space.hilbert = ws_hilbert_table(x, y);
    }
    return TRUE;
}

WsLaunchValues *ws_launch_values(const WsProgram *p, const WsSize *size, guint n_size,
                                 gboolean rehearse, WsFindings *findings)
{
    g_autoptr(WsLaunchValues) v = g_new0(WsLaunchValues, 1);
    g_atomic_ref_count_init(&v->refs);
    v->p = ws_program_ref((WsProgram *)p);
    v->value = g_new0(gint64, p->n_vars + 1);
    v->real = g_new0(double, p->n_vars + 1);
    v->state = g_new0(guint8, p->n_vars + 1);
    v->shape = g_malloc0((p->n_tensors + 1) * sizeof *v->shape);
    v->stride = g_malloc0((p->n_tensors + 1) * sizeof *v->stride);
    if (!take_sizes(v, size, n_size, rehearse, findings) || !take_run_names(v, findings) ||
        !check_assumptions(v, findings))
        return NULL;
    for (guint t = 0; t < p->n_tensors; t++)
        if (!take_tensor(v, t, findings))
            return NULL;
    if (!take_tiles(v, findings))
        return NULL;
    return g_steal_pointer(&v);
}

/* --- results ------------------------------------------------------------------------------------
 */
gint64 ws_launch_var(const WsLaunchValues *v, gint var)
{
    return v->value[var];
}

double ws_launch_var_real(const WsLaunchValues *v, gint var)
{
    return v->real[var];
}

gint64 ws_launch_extent(const WsLaunchValues *v, guint axis)
{
    return v->space.extent[axis];
}

gint64 ws_launch_tiles(const WsLaunchValues *v)
{
    return v->tiles;
}

gint64 ws_launch_shape(const WsLaunchValues *v, guint tensor, guint dim)
{
    return v->shape[tensor][dim];
}

gint64 ws_launch_stride(const WsLaunchValues *v, guint tensor, guint dim)
{
    return v->stride[tensor][dim];
}

gint64 ws_launch_grid(const WsLaunchValues *v, gint64 sms)
{
    gint64 cluster = MAX(v->p->cluster, 1);
    if (v->tiles == 0)
        return 0;
    if (v->p->tiles->launch == WS_LAUNCH_SINGLE)
        return v->tiles > G_MAXINT64 / cluster ? G_MAXINT64 : v->tiles * cluster;
    gint64 ctas = v->p->tiles->grid ? v->grid : sms;
    return MAX(ctas / cluster, 1) * cluster;
}

void ws_launch_tile(const WsLaunchValues *v, gint64 id, gint64 *coord)
{
    ws_tile_coords(v->p->tiles, &v->space, id, coord);
}

const gint32 *ws_launch_hilbert(const WsLaunchValues *v, gint64 *n)
{
    const WsTiles *t = v->p->tiles;
    *n = v->space.hilbert ? v->space.extent[t->order_axis] * v->space.extent[t->order_axis2] : 0;
    return v->space.hilbert;
}

char *ws_launch_sizes_text(const WsLaunchValues *v)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < v->p->n_vars; i++)
        if (v->p->var[i].kind == WS_VAR_SIZE)
            g_string_append_printf(s, "%s%s=%" G_GINT64_FORMAT, s->len ? " " : "",
                                   v->p->var[i].name, v->value[i]);
    return g_string_free(s, FALSE);
}

gint64 ws_launch_offset(const WsLaunchValues *v, gint tensor, gint64 n, const gint64 *at)
{
    const guint d = v->p->tensor[tensor].rank - 1;
    const gint64 last = ws_launch_shape(v, (guint)tensor, d) - 1;
    gint64 product;
    if (at[d] <= 0 || last <= 0 || n <= 0 || __builtin_mul_overflow(n, MIN(at[d], last), &product))
        return 0;
    return product / last;
}

gboolean ws_launch_guess_element(const WsLaunchValues *v, gint tensor, const gint64 *at,
                                 gint64 *value)
{
    const WsTensor *t = &v->p->tensor[tensor];
    WsExprEnv env = ws_launch_env(v);
    gint64 low = 0, high = 0;
    if ((t->data_a && !ws_expr_eval(t->data_a, &env, &low, NULL)) ||
        (t->data_b && !ws_expr_eval(t->data_b, &env, &high, NULL)))
        return FALSE;
    *value = 0;
    if (t->data == WS_DATA_INTEGERS)
        *value = low + (high > low ? (high - 1 - low) / 2 : 0);
    else if (t->data == WS_DATA_INDICES)
        *value = low / 2;
    else if (t->data == WS_DATA_OFFSETS)
        *value = ws_launch_offset(v, tensor, low, at);
    return TRUE;
}
