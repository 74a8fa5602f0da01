#include "import/python/dialect/pyread_terms.h"
#include "import/python/dialect/tle_mesh.h"
#include "import/python/pyread_host.h"
#include "import/python/pyread_law.h"
#include "import/python/pyread_types.h"

#include <string.h>

/* Words for integers and for arithmetic on tiles. */

const Val *py_mean_SAME(PyRead *p, const Val **a, const WsPyNode *at)
{
    return a[0] ? a[0] : py_none(p);
}

/* int(x): of an integer the same; what it makes of a real number is not followed. */
const Val *py_mean_WHOLE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gboolean real = a[0] && (a[0]->kind == VAL_REAL || py_is_tile(a[0]));
    return real ? py_opaque(p) : py_mean_SAME(p, a, at);
}

const Val *py_mean_SECOND(PyRead *p, const Val **a, const WsPyNode *at)
{
    return a[1] ? a[1] : py_none(p);
}

const Val *py_mean_NOTHING(PyRead *p, const Val **a, const WsPyNode *at)
{
    return py_none(p);
}

const Val *py_mean_PROGRAM_ID(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gint64 axis = py_number(a[0], 0);
    const char *name = axis == 0 ? PY_PID : axis == 1 ? PY_PID "_1" : PY_PID "_2";
    gint64 all;
    if (axis > 0 && p->from == WS_IMPORT_TLE && ws_x_is(py_count_of(p, name), &all) && all == 1)
        return py_literal(p, 0);
    return py_int(p, axis == 0 ? py_mesh_program(p, ws_x_name(p->r, name)) : ws_x_name(p->r, name));
}

const Val *py_mean_NUM_PROGRAMS(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (p->mesh)
        return py_wrong(p, at, "how many programs a launch of clusters has");
    p->counts_programs = TRUE;
    return py_number(a[0], 0) == 0 ? py_int(p, ws_x_name(p->r, PY_GRID)) : py_opaque(p);
}

const Val *py_mean_NUM_WARPS(PyRead *p, const Val **a, const WsPyNode *at)
{
    return p->group ? py_literal(p, p->own_warps) : py_opaque(p);
}

const Val *py_mean_NUM_CTAS(PyRead *p, const Val **a, const WsPyNode *at)
{
    return py_literal(p, p->r->cluster);
}

/* getattr(x, "value", x): what a constexpr holds. */
const Val *py_mean_GETATTR(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gboolean value = a[1] && a[1]->kind == VAL_STRING && !strcmp(a[1]->text, "\"value\"");
    return value && a[0] && (a[0]->kind == VAL_INT || a[0]->kind == VAL_STRING) ? a[0]
                                                                                : py_opaque(p);
}

/* Kernels are read as they are for Hopper. */
const Val *py_mean_CAPABILITY(PyRead *p, const Val **a, const WsPyNode *at)
{
    Val *v = py_val(p, VAL_TUPLE);
    v->item = g_new0(const Val *, 3);
    g_ptr_array_add(p->r->pool, v->item);
    v->item[v->n++] = py_literal(p, 9);
    v->item[v->n++] = py_literal(p, 0);
    return v;
}

const Val *py_mean_LEN(PyRead *p, const Val **a, const WsPyNode *at)
{
    return a[0] && a[0]->kind == VAL_TUPLE ? py_literal(p, a[0]->n) : py_opaque(p);
}

const Val *py_mean_CDIV(PyRead *p, const Val **a, const WsPyNode *at)
{
    return a[0] && a[1] ? py_int(p, ws_x_call(p->r, WS_FUNC_CDIV, py_as_int(p, a[0]),
                                              py_as_int(p, a[1]), NULL))
                        : py_opaque(p);
}

/* tl.maximum(x, y, propagate_nan), which max and min of Python mean in a kernel, too. */
static const Val *two(PyRead *p, const Val **a, WsFunc f, const char *name, const WsPyNode *at)
{
    if (!a[0] || !a[1])
        return py_opaque(p);
    const gboolean tiles = py_is_tile(a[0]) || py_is_tile(a[1]);
    if (tiles && py_given(a[2]) && !py_is_named(a[2], "PropagateNan.NONE"))
        return py_lost(p, at, "which NaN the larger or smaller of two is");
    if (tiles)
        return py_function_tile(p, name, a, 2, FALSE);
    return py_int(p, ws_x_call(p->r, f, py_as_int(p, a[0]), py_as_int(p, a[1]), NULL));
}

const Val *py_mean_MAXIMUM(PyRead *p, const Val **a, const WsPyNode *at)
{
    return two(p, a, WS_FUNC_MAX, "max", at);
}

const Val *py_mean_MINIMUM(PyRead *p, const Val **a, const WsPyNode *at)
{
    return two(p, a, WS_FUNC_MIN, "min", at);
}

const Val *py_mean_WHERE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[0] || !a[1] || !a[2])
        return py_opaque(p);
    gint64 known;
    if (py_known(a[0], &known))
        return a[known ? 1 : 2];
    if (py_is_tile(a[0]) || py_is_tile(a[1]) || py_is_tile(a[2]))
        return py_function_tile(p, "select", a, 3, FALSE);
    return py_int(p, ws_x_call(p->r, WS_FUNC_SELECT, py_as_int(p, a[0]), py_as_int(p, a[1]),
                               py_as_int(p, a[2])));
}

#define ONE(id, text)                                                                              \
    const Val *py_mean_##id(PyRead *p, const Val **a, const WsPyNode *at)                          \
    {                                                                                              \
        (void)at;                                                                                  \
        return a[0] ? py_function_tile(p, text, a, 1, FALSE) : py_opaque(p);                       \
    }
ONE(EXP2, "exp2")
ONE(LOG2, "log2")
ONE(EXP, "exp")
ONE(LN, "ln")
ONE(SQRT, "sqrt")
ONE(ABSOLUTE, "abs")

/* math.floor(n/m) of the host is another number. */
#define OF_TILE(id, text)                                                                          \
    const Val *py_mean_##id(PyRead *p, const Val **a, const WsPyNode *at)                          \
    {                                                                                              \
        (void)at;                                                                                  \
        return py_is_tile(a[0]) ? py_function_tile(p, text, a, 1, FALSE) : py_opaque(p);           \
    }
OF_TILE(ERF, "erf")
OF_TILE(RSQRT, "rsqrt")
OF_TILE(SIN, "sin")
OF_TILE(COS, "cos")
OF_TILE(FLOOR, "floor")
OF_TILE(CEIL, "ceil")

const Val *py_mean_FMA(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[0] || !a[1] || !a[2])
        return py_opaque(p);
    for (guint i = 0; i < 3; i++) /* rounded once */
        if (py_is_tile(a[i]) && py_is_sixteen(py_formula(p, a[i])))
            return py_opaque(p);
    return py_binary_tile(p, "+", py_binary_tile(p, "*", a[0], a[1]), a[2]);
}

void py_off_zeros(PyRead *p, Val *zeros, const WsPyNode *at)
{
    zeros->step = py_step(p, WS_READ_COMPUTE, at);
    zeros->step->off = TRUE;
    zeros->depth = p->loops->len;
}

/* Whether nothing happens between the step, which is off, and what is read now. */
static gboolean stands_last(const GPtrArray *to, const WsReadStep *step)
{
    guint i = to->len;
    while (i > 0 && ((const WsReadStep *)to->pdata[i - 1])->off && to->pdata[i - 1] != step)
        i--;
    return i > 0 && to->pdata[i - 1] == step;
}

const Val *py_stored_zeros(PyRead *p, const char *name, const Val *v, const WsPyNode *at)
{
    Val *zero = py_val(p, VAL_ZERO);
    *zero = *v;
    g_autofree char *full = g_strconcat(p->frame->prefix, name, NULL);
    zero->index =
        ws_source_value(p->r, p->group, full, v->dtype ? v->dtype : "f32", v->rows, v->cols);
    if (v->step->text ? v->index != zero->index : !stands_last(p->to, v->step))
        py_off_zeros(p, zero, at);
    py_set(p, zero->step, zero->index);
    WsReadValue *held = &g_array_index(p->group->values, WsReadValue, zero->index);
    held->layout = v->layout;
    zero->made = p->clock;
    zero->step->text = ws_source_format(p->r, "%s = %s", held->name, v->text ? v->text : "0.0");
    return zero;
}

/* One dimension is one value per row, unless the layout is no slice that leaves rows. */
static const Val *filled(PyRead *p, const Val *shape, const Val *dtype, const Val *layout,
                         const char *text, const WsPyNode *at)
{
    if (!shape || shape->kind != VAL_TUPLE || !shape->n || shape->n > 2)
        return py_opaque(p);
    Val *v = py_val(p, VAL_ZERO);
    v->rows = py_number(shape->item[0], 0);
    v->cols = shape->n == 2 ? py_number(shape->item[1], 0) : 1;
    v->dims = shape->n;
    if (shape->n == 1 && layout && layout->kind == VAL_LAYOUT && layout->index != 1) {
        v->cols = v->rows;
        v->rows = 1;
    }
    v->dtype = dtype && dtype->kind == VAL_NAME ? py_dtype(dtype->text) : NULL;
    v->text = text;
    v->depth = p->loops->len;
    if (v->rows < 1 || v->cols < 1)
        return py_opaque(p);
    if (p->group)
        py_off_zeros(p, v, at);
    return v;
}

const Val *py_mean_ZEROS(PyRead *p, const Val **a, const WsPyNode *at)
{
    const char *dtype = a[1] && a[1]->kind == VAL_NAME ? py_dtype(a[1]->text) : NULL;
    const gboolean whole = dtype && (*dtype == 'i' || *dtype == 'u');
    const gboolean plain = !dtype || whole || !strcmp(dtype, "f32") || !strcmp(dtype, "tf32");
    const char *zero = whole ? "0" : plain ? "0.0" : ws_source_format(p->r, "%s(0.0)", dtype);
    return filled(p, a[0], a[1], a[2], zero, at);
}

/* Integers hold integers of their range alone. */
static gboolean holds(const Val *v, const char *dtype)
{
    const gboolean i8 = !strcmp(dtype, "i8"), u8 = !strcmp(dtype, "u8");
    const gint64 most = i8 ? 127 : u8 ? 255 : G_MAXINT32, least = i8 ? -128 : u8 ? 0 : G_MININT32;
    gint64 n;
    if (*dtype != 'i' && *dtype != 'u')
        return TRUE;
    return py_known(v, &n) ? n >= least && n <= most : v->kind != VAL_REAL && !i8 && !u8;
}

const Val *py_mean_FULL(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (a[1] && a[1]->kind == VAL_CLAIM) /* a tile of one element: what is claimed */
        return a[1];
    const Val *x = a[1] ? py_formula(p, a[1]) : NULL;
    if (!x)
        return py_opaque(p);
    const char *dtype = a[2] && a[2]->kind == VAL_NAME ? py_dtype(a[2]->text) : NULL;
    if (dtype && !holds(a[1], dtype))
        return py_lost(p, at, "a number that the type of a tile does not hold");
    const gboolean narrow = dtype && strcmp(dtype, "f32") && strcmp(dtype, "tf32") &&
                            ws_func_find(dtype) != WS_FUNC_COUNT;
    return filled(p, a[0], a[2], a[3],
                  narrow ? ws_source_format(p->r, "%s(%s)", dtype, x->text) : x->text, at);
}

const Val *py_mean_SLICE_LAYOUT(PyRead *p, const Val **a, const WsPyNode *at)
{
    Val *v = py_val(p, VAL_LAYOUT);
    v->index = (gint)py_number(a[0], -1);
    return v;
}

static void assume_constant(PyRead *p, const WsExpr *e)
{
    g_autofree char *text = ws_x_text(e);
    g_ptr_array_add(p->r->assume, (gpointer)ws_source_format(p->r, "%s", text));
}

/* A size that is one number is tried with that. */
static void preset(PyRead *p, const WsExpr *e)
{
    gint64 n;
    for (guint i = 0; i < p->r->sizes->len; i++)
        if (e->op == WS_EXPR_EQ && e->arg[0]->op == WS_EXPR_NAME && ws_x_is(e->arg[1], &n) &&
            n > 0 && !strcmp(e->arg[0]->name, p->r->sizes->pdata[i]))
            g_array_index(p->r->presets, gint64, i) = n;
}

/* What the host or the kernel is sure of becomes an assumption of the design. */
gboolean py_assume(PyRead *p, const WsExpr *e)
{
    gint64 known;
    g_autofree char *text = ws_x_text(e);
    if (e && !ws_x_is(e, &known) && (!p->group || p->prologue) && !p->unsure && !p->entered &&
        !strstr(text, PY_PID) && !strstr(text, PY_GRID)) {
        g_ptr_array_add(p->r->assume, (gpointer)ws_source_format(p->r, "%s", text));
        preset(p, e);
        return TRUE;
    }
    return FALSE;
}

/* What is never true, in whatever way it is written. */
static gboolean is_false(const Val *v)
{
    gint64 n;
    return v && ((py_known(v, &n) && !n) || v->kind == VAL_NONE ||
                 (v->kind == VAL_REAL && g_ascii_strtod(v->text, NULL) == 0));
}

const Val *py_mean_ASSUME(PyRead *p, const Val **a, const WsPyNode *at)
{
    const WsExpr *e = a[0] ? py_as_int(p, a[0]) : NULL;
    if (is_false(a[0])) /* what comes behind it may do anything */
        py_unread(p, at, "an assumption that does not hold");
    py_assume(p, e);
    return py_none(p);
}

static void is_constant(const WsExpr *node, gpointer data)
{
    gpointer *d = data;
    gboolean *all = d[1];
    *all &= node->op != WS_EXPR_TOTAL && node->op != WS_EXPR_INDEX &&
            (node->op != WS_EXPR_NAME || g_hash_table_contains(d[0], node->name));
}

/* A kernel is compiled only where it holds: assumed of values that are constants of the kernel. */
const Val *py_mean_STATIC_ASSERT(PyRead *p, const Val **a, const WsPyNode *at)
{
    const WsExpr *e = a[0] ? py_as_int(p, a[0]) : NULL;
    gboolean constant = e != NULL;
    gint64 holds;
    gpointer data[] = { p->constants, &constant };
    if (e)
        ws_expr_visit(e, is_constant, data);
    if (is_false(a[0])) /* in a branch and in a loop, too: it is compiled */
        py_unread(p, at, "a static_assert that does not hold");
    else if (constant && !ws_x_is(e, &holds) && !p->unsure)
        assume_constant(p, e);
    else if (!ws_x_is(e, &holds))
        py_law_value(p, at, "what a static_assert asks for");
    return py_none(p);
}

const Val *py_mean_LAYOUT(PyRead *p, const Val **a, const WsPyNode *at)
{
    return py_val(p, VAL_LAYOUT);
}

const Val *py_mean_LAYOUT_FOR(PyRead *p, const Val **a, const WsPyNode *at)
{
    Val *v = py_val(p, VAL_LAYOUT);
    v->dtype = a[1] && a[1]->kind == VAL_NAME ? py_dtype(a[1]->text) : NULL;
    return v;
}

const Val *py_mean_ARANGE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gint64 n = py_number(a[1], 0) - py_number(a[0], 0);
    if (!a[2] || a[2]->kind != VAL_LAYOUT || n < 1 || py_number(a[0], 0))
        return py_opaque(p);
    Val *v = py_val(p, VAL_MATH);
    v->text = a[2]->index == 1 ? "row" : "col";
    v->dtype = "i32";
    v->rows = a[2]->index == 1 ? n : 1;
    v->cols = a[2]->index == 1 ? 1 : n;
    return v;
}
