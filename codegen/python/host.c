/* The launcher's side: what sizes decide is worked out in Python on the host. */
#include "codegen/python/py.h"
#include "codegen/sizes.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_asked.h"
#include "program/walk/reach.h"

#include <string.h>

static gboolean is_size(const WsPy *y, guint i)
{
    return y->p->var[i].kind == WS_VAR_SIZE;
}

/* Where a size can be read off: dimension *dim of tensor *tensor is that size and nothing else. */
static gboolean shape_of(const WsPy *y, guint var, guint *tensor, guint *dim)
{
    for (*tensor = 0; *tensor < y->p->n_tensors; ++*tensor) {
        const WsTensor *t = &y->p->tensor[*tensor];
        for (*dim = 0; *dim < t->rank; ++*dim) {
            if (t->shape[*dim]->op == WS_EXPR_VAR && t->shape[*dim]->var == (gint)var)
                return TRUE;
        }
    }
    return FALSE;
}

const char *ws_py_host_parameters(WsPy *y)
{
    const char *s = "";
    guint tensor, dim, n = 0;
    for (guint i = 0; i < y->p->n_tensors; i++)
        s = ws_py_format(y, "%s%s%s", s, n++ ? ", " : "", y->tensor[i]);
    for (guint i = 0; i < y->p->n_vars; i++) {
        const WsVar *v = &y->p->var[i];
        if (is_size(y, i) && !shape_of(y, i, &tensor, &dim))
            s = ws_py_format(y, "%s%s%s=%" G_GINT64_FORMAT, s, n++ ? ", " : "", y->var[i].s,
                             ws_fact_preset(y->p, (gint)i));
        if (v->kind == WS_VAR_SCALAR)
            s = ws_py_format(y, "%s%s%s=%.9g", s, n++ ? ", " : "", y->var[i].s, v->preset_real);
    }
    return s;
}

GPtrArray *ws_py_host_arguments(WsPy *y)
{
    static const WsVarKind order[] = { WS_VAR_SIZE, WS_VAR_SCALAR, WS_VAR_RUN };
    GPtrArray *all = g_ptr_array_new();
    for (guint k = 0; k < G_N_ELEMENTS(order); k++) {
        for (guint i = 0; i < y->p->n_vars; i++) {
            if (y->p->var[i].kind == order[k])
                g_ptr_array_add(all, (gpointer)y->var[i].s);
        }
    }
    for (guint i = 0; i < y->p->tiles->n_axes; i++)
        g_ptr_array_add(all, (gpointer)ws_py_extent(y, i));
    g_ptr_array_add(all, (gpointer) "n_tiles");
    if (ws_py_host_group(y))
        g_ptr_array_add(all, (gpointer) "group_n");
    return all;
}

/* --- real run names --------------------------------------------------------------------------- */

const char *ws_py_host_real(WsPy *y, const WsExpr *x)
{
    if (!x->name)
        return ws_py_format(y, "%.17g", x->r);
    return !strcmp(x->name, "log2e") ? "math.log2(math.e)"
           : !strcmp(x->name, "ln2") ? "math.log(2.0)"
                                     : "math.inf";
}

static const char *real(WsPy *y, const WsExpr *x);

static const char *real_call(WsPy *y, const WsExpr *x)
{
    static const struct {
        WsFunc func;
        const char *before, *after;
    } known[] = {
        { WS_FUNC_EXP2, "math.exp2(", ")" },
        { WS_FUNC_LOG2, "math.log2(", ")" },
        { WS_FUNC_EXP, "math.exp(", ")" },
        { WS_FUNC_LN, "math.log(", ")" },
        { WS_FUNC_SQRT, "math.sqrt(", ")" },
        { WS_FUNC_TANH, "math.tanh(", ")" },
        { WS_FUNC_ERF, "math.erf(", ")" },
        { WS_FUNC_RSQRT, "(1.0 / math.sqrt(", "))" },
        { WS_FUNC_SIN, "math.sin(", ")" },
        { WS_FUNC_COS, "math.cos(", ")" },
        { WS_FUNC_FLOOR, "float(math.floor(", "))" },
        { WS_FUNC_CEIL, "float(math.ceil(", "))" },
        { WS_FUNC_MIN, "min(", ")" },
        { WS_FUNC_MAX, "max(", ")" },
        { WS_FUNC_ABS, "abs(", ")" },
        { WS_FUNC_RCP, "1.0 / (", ")" },
        { WS_FUNC_F32, "float(", ")" },
    };
    const char *s = "";
    for (guint i = 0; i < x->n_args; i++)
        s = ws_py_format(y, "%s%s%s", s, i ? ", " : "", real(y, x->arg[i]));
    for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
        if (known[i].func == x->func)
            return ws_py_format(y, "%s%s%s", known[i].before, s, known[i].after);
    }
    if (x->func == WS_FUNC_SELECT)
        return ws_py_format(y, "(%s if %s else %s)", real(y, x->arg[1]), real(y, x->arg[0]),
                            real(y, x->arg[2]));
    ws_py_refuse(y, NULL, ws_py_phrase(y, "%s() in a name of the launch", ws_func_text(x->func)),
                 NULL);
    return "0.0";
}

/* f32 expressions over sizes and scalars; parentheses everywhere but at leaves. */
static const char *real(WsPy *y, const WsExpr *x)
{
    static const char *const sign[] = { "+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=" };
    if (x->op == WS_EXPR_INT)
        return ws_py_format(y, "%" G_GINT64_FORMAT, x->i);
    if (x->op == WS_EXPR_REAL)
        return ws_py_host_real(y, x);
    if (x->op == WS_EXPR_VAR)
        return y->var[x->var].s;
    if (x->op == WS_EXPR_NEG)
        return ws_py_format(y, "-(%s)", real(y, x->arg[0]));
    if (x->op == WS_EXPR_CALL)
        return real_call(y, x);
    if (x->op >= WS_EXPR_ADD && x->op <= WS_EXPR_NE && x->n_args == 2)
        return ws_py_format(y, "(%s %s %s)", real(y, x->arg[0]), sign[x->op - WS_EXPR_ADD],
                            real(y, x->arg[1]));
    ws_py_refuse(y, NULL, "an expression of this form in a name of the launch", NULL);
    return "0.0";
}

const char *ws_py_host_value(WsPy *y, const WsVar *run)
{
    return run->real ? ws_py_bare(y, real(y, run->value)) : ws_py_uniform(y, run->value).s;
}

/* --- sizes ------------------------------------------------------------------------------------ */

static void sizes_of_shapes(WsPy *y)
{
    guint tensor, dim;
    for (guint i = 0; i < y->p->n_vars; i++) {
        if (is_size(y, i) && shape_of(y, i, &tensor, &dim))
            ws_py_line(y, "%s = %s.shape[%u]", y->var[i].s, y->tensor[tensor], dim);
    }
}

void ws_py_host_sizes(WsPy *y)
{
    const WsTiles *t = y->p->tiles;
    y->host = TRUE;
    sizes_of_shapes(y);
    for (guint i = 0; i < y->p->n_vars && !y->error; i++) {
        const WsVar *v = &y->p->var[i];
        if (v->kind == WS_VAR_RUN && v->value)
            ws_py_line(y, "%s = %s", y->var[i].s, ws_py_host_value(y, v));
    }
    const char *count = "";
    for (guint i = 0; i < t->n_axes && !y->error; i++) {
        const WsTerm extent = ws_py_uniform(y, t->axis[i].extent);
        ws_py_line(y, extent.in.lo < 0 ? "%s = max(%s, 0)" : "%s = %s", ws_py_extent(y, i),
                   extent.s);
        count = ws_py_format(y, "%s%s%s", count, i ? " * " : "", ws_py_extent(y, i));
    }
    ws_py_line(y, "n_tiles = %s", *count ? count : "1");
    if (ws_py_host_group(y))
        ws_py_line(y, "group_n = %s", ws_py_uniform(y, t->order_n).s);
    y->host = FALSE;
}

/* Index of the line that binds `name` and nothing else mentions; -1. */
static gint unused(char *const *line, const char *name)
{
    gint at = -1;
    gboolean quoted = FALSE; /* in the docstring */
    g_autofree char *bind = g_strdup_printf("    %s = ", name);
    for (gint i = 0; line[i]; i++) {
        gboolean mark = strstr(line[i], "\"\"\"") != NULL, inside = quoted || mark;
        quoted = quoted != mark;
        if (inside)
            continue;
        gboolean binds = g_str_has_prefix(line[i], bind);
        if (binds ? at >= 0 || ws_py_mentions(line[i] + strlen(bind), name)
                  : ws_py_mentions(line[i], name))
            return -1;
        at = binds ? i : at;
    }
    return at;
}

char *ws_py_host_used(WsPy *y, const char *text)
{
    GPtrArray *line = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) all = g_strsplit(text, "\n", -1);
    for (guint i = 0; all[i]; i++)
        g_ptr_array_add(line, g_strdup(all[i]));
    g_ptr_array_add(line, NULL);
    for (guint k = y->p->n_vars; k-- > 0;) { /* what a name needs was bound before it */
        WsVarKind kind = y->p->var[k].kind;
        if (kind != WS_VAR_RUN && kind != WS_VAR_SIZE)
            continue;
        if (kind == WS_VAR_RUN && y->p->var[k].value && ws_may_lack_value(y->p->var[k].value))
            continue; /* no launch where it has no value */
        gint at = unused((char **)line->pdata, y->var[k].s);
        if (at >= 0)
            g_ptr_array_remove_index(line, (guint)at);
    }
    char *used = g_strjoinv("\n", (char **)line->pdata);
    g_ptr_array_unref(line);
    return used;
}

/* The expression, or whether it holds, with nothing known of the sizes yet. */
static const char *unassumed(WsPy *y, const WsExpr *e, gboolean truth)
{
    g_autofree WsInterval *in = g_new0(WsInterval, y->p->n_vars + 1);
    for (guint v = 0; v < y->p->n_vars; v++) {
        in[v] = y->var[v].in;
        if (is_size(y, v))
            y->var[v].in = ws_interval(WS_INTERVAL_MIN, WS_INTERVAL_MAX);
    }
    WsTerm t = ws_py_uniform(y, e);
    t = truth ? ws_py_truth(y, t) : t;
    for (guint v = 0; v < y->p->n_vars; v++)
        y->var[v].in = in[v];
    return t.s;
}

void ws_py_host_counted(WsPy *y)
{
    gint64 most;
    g_autoptr(GPtrArray) wide = ws_reach_launch(y->p, &most);
    const char *sizes = "", *values = "";
    y->host = TRUE;
    for (guint i = 0; i < y->p->n_vars; i++)
        if (is_size(y, i))
            sizes = ws_py_format(y, "%s%s%s", sizes, *sizes ? ", " : "", y->var[i].s);
    for (guint i = 0; i < wide->len && !y->error; i++)
        values = ws_py_format(y, "%s, %s", values, unassumed(y, wide->pdata[i], FALSE));
    if (*sizes || *values)
        ws_py_line(y, "%s([%s], %" G_GINT64_FORMAT "%s)", ws_py_helper(y, "counted"), sizes, most,
                   values);
    y->host = FALSE;
}

void ws_py_raise_unless(WsPy *y, const char *condition, const char *text)
{
    g_autofree char *quoted = g_strescape(text, NULL);
    ws_py_open(y, "if not (%s)", condition);
    ws_py_line(y, "raise ValueError(\"%s\")", quoted);
    ws_py_close(y);
}

void ws_py_host_assumptions(WsPy *y)
{
    g_autoptr(GPtrArray) bounds = ws_launch_bounds(y->p);
    y->host = TRUE;
    for (guint i = 0; i < y->p->n_assume && !y->error; i++) {
        if (!ws_launch_knows(y->p, y->p->assume[i]))
            continue; /* of tiles or data */
        g_autofree char *text = g_strdup_printf("%s does not hold", y->p->assume_text[i]);
        ws_py_raise_unless(y, unassumed(y, y->p->assume[i], TRUE), text);
    }
    for (guint i = 0; i < bounds->len && !y->error; i++) {
        const char *condition = unassumed(y, bounds->pdata[i], TRUE); /* constants by name */
        g_autofree char *text = g_strdup_printf("%s does not hold", condition);
        ws_py_raise_unless(y, condition, text);
    }
    y->host = FALSE;
}
