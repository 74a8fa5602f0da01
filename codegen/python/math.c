/* Statements of compute steps as arithmetic on tensors. A value [rows, 1] is a tensor of rank 1,
 * and so is a lane partial [rows, 4], which holds the whole row here; [1, cols] has rank 1 too.
 * They are spread where they meet tiles. Elaboration has judged types and shapes. */
#include "codegen/python/py.h"

#include <math.h>
#include <string.h>

/* A node of a statement with its type; owned by the pool of Math. */
typedef struct Node Node;
struct Node {
    WsArrayForm form;
    WsMathKind kind;
    const WsExpr *x;
    guint rows, cols; /* 0: what the context says */
    gboolean lanes;   /* sums per lane of the quad */
    gboolean places;  /* row or col stands in it, not inside of a reduction */
    guint value;
    const char *name; /* WS_ARRAY_TEMPORARY */
    guint n_arg;
    Node **arg;
};

typedef struct {
    WsPy *y;
    const WsOp *op;
    GPtrArray *pool;
    GHashTable *temporary;
} Math;

static void node_free(gpointer data)
{
    Node *n = data;
    g_free(n->arg);
    g_free(n);
}

static Node *node_new(Math *m, WsArrayForm form, WsMathKind kind, const WsExpr *x)
{
    Node *n = g_new0(Node, 1);
    *n = (Node){ .form = form, .kind = kind, .x = x, .rows = 1, .cols = 1 };
    g_ptr_array_add(m->pool, n);
    return n;
}

static Node *fail(Math *m, const char *what)
{
    ws_py_refuse(m->y, m->op, what, NULL);
    return NULL;
}

/* --- types -------------------------------------------------------------------------------------*/

static gboolean broadcast(Node *n)
{
    guint rows = 1, cols = 1;
    for (guint i = 0; i < n->n_arg; i++) {
        if (!ws_array_meet(rows, n->arg[i]->rows, &rows) ||
            !ws_array_meet(cols, n->arg[i]->cols, &cols))
            return FALSE;
        n->lanes = n->lanes || n->arg[i]->lanes;
        n->places = n->places || n->arg[i]->places;
    }
    n->rows = rows;
    n->cols = cols;
    return TRUE;
}

static Node *value_node(Math *m, const WsExpr *x)
{
    Node *temporary = g_hash_table_lookup(m->temporary, x->name);
    const WsAgent *a = m->y->agent;
    if (temporary)
        return temporary;
    for (guint i = 0; a && i < a->n_values; i++) {
        const WsRegValue *v = &a->value[i];
        if (strcmp(v->name, x->name) != 0)
            continue;
        Node *n =
            node_new(m, WS_ARRAY_VALUE, ws_dtype_real(v->dtype) ? WS_MATH_REAL : WS_MATH_INT, x);
        n->value = i;
        n->lanes = v->cols == 4 && v->rows > 1;
        n->rows = v->rows;
        n->cols = n->lanes ? 1 : v->cols;
        return n;
    }
    return fail(m, "a name that is no value here");
}

static Node *infer(Math *m, const WsExpr *x)
{
    WsMathKind own_kind;
    x = ws_array_chosen(m->y->p, x);
    WsArrayForm form = ws_array_form(m->y->p, x, &own_kind);
    if (form == WS_ARRAY_VALUE)
        return value_node(m, x);
    if (form == WS_ARRAY_OTHER)
        return fail(m, "an expression of this form");
    Node *n = node_new(m, form, own_kind, x);
    n->rows = form != WS_ARRAY_ROW;
    n->cols = form != WS_ARRAY_COL;
    n->places = form == WS_ARRAY_ROW || form == WS_ARRAY_COL;
    if (form != WS_ARRAY_OPERATION && form != WS_ARRAY_REDUCTION)
        return n;
    WsMathKind kind[16];
    if (x->n_args > G_N_ELEMENTS(kind))
        return fail(m, "more than 16 operands");
    n->n_arg = x->n_args;
    n->arg = g_new0(Node *, x->n_args);
    for (guint i = 0; i < x->n_args; i++) {
        n->arg[i] = infer(m, x->arg[i]);
        if (!n->arg[i])
            return NULL;
        kind[i] = n->arg[i]->kind;
    }
    n->kind = ws_array_kind(x, kind, n->n_arg);
    if (!broadcast(n))
        return fail(m, "shapes of this form");
    if (n->form == WS_ARRAY_REDUCTION) {
        n->cols = 1;
        n->places = FALSE;
        n->lanes = x->func == WS_FUNC_LANEMAX || x->func == WS_FUNC_LANESUM;
    }
    return n;
}

/* Extents that only the context knows. */
static void resolve(Node *n, guint rows, guint cols)
{
    if (n->form == WS_ARRAY_REDUCTION) {
        Node *a = n->arg[0];
        resolve(a, a->rows ? a->rows : rows, a->cols ? a->cols : cols);
        n->rows = a->rows;
        return;
    }
    for (guint i = 0; i < n->n_arg; i++)
        resolve(n->arg[i], rows, cols);
    if (n->n_arg)
        broadcast(n);
    n->rows = n->rows ? n->rows : rows;
    n->cols = n->cols ? n->cols : cols;
}

static WsPyShape shape(const Node *n)
{
    if (n->rows > 1)
        return n->cols > 1 ? WS_PY_TILE : WS_PY_ROWS;
    return n->cols > 1 ? WS_PY_COLS : WS_PY_SCALAR;
}

/* --- text --------------------------------------------------------------------------------------*/

/* What the text stands in: a tile, where everything is broadcastable in rank 2, or a line. */
typedef struct {
    gboolean tile;
    guint rows, cols;
    gboolean lanes; /* beside sums per lane, where they are tensors of their own */
} Place;

static WsTerm text(Math *m, Node *n, Place at);

static WsTerm real_number(Math *m, double r)
{
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    if (isinf(r))
        return ws_term_unknown(r < 0 ? "-float(\"inf\")" : "float(\"inf\")",
                               r < 0 ? WS_PREC_UNARY : WS_PREC_ATOM);
    g_ascii_formatd(buffer, sizeof buffer, "%.9g", r);
    const char *s = ws_py_format(m->y, strpbrk(buffer, ".e") ? "%s" : "%s.0", buffer);
    return ws_term_unknown(s, r < 0 ? WS_PREC_UNARY : WS_PREC_ATOM);
}

/* A node as an operand of real, integer or boolean arithmetic. */
static WsTerm as(Math *m, Node *n, WsMathKind kind, Place at)
{
    gint64 v;
    if (kind == WS_MATH_REAL && n->form == WS_ARRAY_UNIFORM && n->kind != WS_MATH_BOOL) {
        WsTerm t = ws_py_uniform(m->y, n->x);
        if (ws_term_known(t, &v))
            return real_number(m, (double)v);
        return t;
    }
    return text(m, n, at);
}

static WsTerm infix(Math *m, const char *op, guint prec, WsTerm a, WsTerm b)
{
    return ws_term_infix(&m->y->terms, op, prec, a, b, WS_INTERVAL_ANY);
}

static WsTerm call(Math *m, const char *f, WsTerm a)
{
    return ws_term_unknown(ws_py_format(m->y, "%s.%s(%s)", m->y->dialect->module, f, a.s),
                           WS_PREC_ATOM);
}

static WsMathKind own(const Node *n)
{
    return n->kind == WS_MATH_LITERAL ? WS_MATH_INT : n->kind;
}

static WsTerm arithmetic(Math *m, Node *n, Place at)
{
    static const char *const sign[] = { "+", "-", "*" };
    WsTerm a = as(m, n->arg[0], own(n), at), b = as(m, n->arg[1], own(n), at);
    guint which = n->x->op - WS_EXPR_ADD;
    if (which < G_N_ELEMENTS(sign))
        return infix(m, sign[which], which < 2 ? WS_PREC_SUM : WS_PREC_TERM, a, b);
    if (n->kind == WS_MATH_REAL && n->x->op == WS_EXPR_DIV)
        return infix(m, "/", WS_PREC_TERM, a, b);
    fail(m, "division of tiles of integers (it truncates there, and floors in a design)");
    return a;
}

/* "a + col <= b", where the compiler of a language takes care by a helper (its name): the numbers
 * of columns change nowhere, so that a register of each would live on around all loops. */
static const char *mask_helper(Math *m, const Node *n)
{
    const Node *left = n->arg[0], *right = n->arg[1];
    if (!m->y->dialect->masks || n->x->op != WS_EXPR_LE || left->form != WS_ARRAY_OPERATION ||
        left->x->op != WS_EXPR_ADD || left->arg[0]->form != WS_ARRAY_UNIFORM ||
        left->arg[1]->form != WS_ARRAY_COL || right->kind == WS_MATH_REAL || right->cols > 1)
        return NULL;
    return right->places || right->rows > 1 ? "at_most_of_row" : "at_most";
}

static WsTerm comparison(Math *m, Node *n, Place at)
{
    static const char *const sign[] = { "<", "<=", ">", ">=", "==", "!=" };
    gboolean real = n->arg[0]->kind == WS_MATH_REAL || n->arg[1]->kind == WS_MATH_REAL;
    WsMathKind kind = real ? WS_MATH_REAL : WS_MATH_INT;
    const char *helper = mask_helper(m, n);
    if (helper) {
        const Node *left = n->arg[0];
        const char *s = ws_py_format(m->y, "%s(%s, %s, %s)", ws_py_helper(m->y, helper),
                                     as(m, left->arg[0], kind, at).s,
                                     as(m, left->arg[1], kind, at).s, as(m, n->arg[1], kind, at).s);
        return ws_term_unknown(s, WS_PREC_ATOM);
    }
    WsTerm a = as(m, n->arg[0], kind, at), b = as(m, n->arg[1], kind, at);
    const char *s = ws_py_format(m->y, "%s %s %s", ws_py_in(m->y, a, WS_PREC_BIT),
                                 sign[n->x->op - WS_EXPR_LT], ws_py_in(m->y, b, WS_PREC_BIT));
    return ws_term_unknown(s, WS_PREC_REL);
}

/* -1 unless intervals decide a condition, or enough of it. */
static int decided(Math *m, Node *n)
{
    gint64 v;
    gboolean both = n->x->op == WS_EXPR_AND;
    if (n->form == WS_ARRAY_OPERATION && (both || n->x->op == WS_EXPR_OR)) {
        int a = decided(m, n->arg[0]), b = decided(m, n->arg[1]);
        if (a == !both || b == !both)
            return !both;
        return a == both && b == both ? both : -1;
    }
    if (n->form != WS_ARRAY_UNIFORM)
        return -1;
    return ws_term_known(ws_py_truth(m->y, ws_py_uniform(m->y, n->x)), &v) ? v != 0 : -1;
}

static WsTerm logic(Math *m, Node *n, Place at)
{
    if (n->x->op == WS_EXPR_NOT) {
        WsTerm a = text(m, n->arg[0], at);
        return ws_term_unknown(ws_py_format(m->y, "~%s", ws_py_in(m->y, a, WS_PREC_ATOM)),
                               WS_PREC_UNARY);
    }
    gboolean is_and = n->x->op == WS_EXPR_AND;
    for (guint i = 0; i < 2; i++) {
        int known = decided(m, n->arg[i]);
        if (known >= 0)
            return text(m, n->arg[known == is_and ? 1 - i : i], at);
    }
    return infix(m, is_and ? "&" : "|", WS_PREC_BIT, text(m, n->arg[0], at),
                 text(m, n->arg[1], at));
}

static WsTerm choose(Math *m, Node *n, Place at)
{
    int known = decided(m, n->arg[0]);
    if (known >= 0)
        return as(m, n->arg[known ? 1 : 2], own(n), at);
    WsTerm c = text(m, n->arg[0], at), a = as(m, n->arg[1], own(n), at),
           b = as(m, n->arg[2], own(n), at);
    return ws_term_unknown(
        ws_py_format(m->y, "%s.where(%s, %s, %s)", m->y->dialect->module, c.s, a.s, b.s),
        WS_PREC_ATOM);
}

static const char *type_name(WsFunc f)
{
    switch (f) {
    case WS_FUNC_BF16:
        return "bfloat16";
    case WS_FUNC_F16:
        return "float16";
    case WS_FUNC_E4M3:
        return "float8e4nv";
    case WS_FUNC_E5M2:
        return "float8e5";
    default:
        return NULL;
    }
}

/* `kept`: as it is stored; otherwise the rounded number as f32. */
static WsTerm convert(Math *m, Node *n, Place at, gboolean kept)
{
    const char *module = m->y->dialect->module, *narrow = type_name(n->x->func);
    Node *a = n->arg[0];
    WsTerm x = as(m, a, WS_MATH_REAL, at);
    if (n->x->func == WS_FUNC_F32 || (n->x->func == WS_FUNC_I32 && a->kind != WS_MATH_REAL)) {
        if (a->kind == WS_MATH_REAL || n->x->func == WS_FUNC_I32 || shape(a) == WS_PY_SCALAR)
            return x;
        return ws_term_unknown(
            ws_py_format(m->y, "%s.to(%s.float32)", ws_py_in(m->y, x, WS_PREC_ATOM), module),
            WS_PREC_ATOM);
    }
    if (!narrow) {
        fail(m, "a conversion to tf32 or to integers (rounding to nearest)");
        return x;
    }
    return ws_term_unknown(ws_py_format(m->y, "%s.to(%s.%s)%s%s%s", ws_py_in(m->y, x, WS_PREC_ATOM),
                                        module, narrow, kept ? "" : ".to(", kept ? "" : module,
                                        kept ? "" : ".float32)"),
                           WS_PREC_ATOM);
}

static WsTerm tanh_of(Math *m, WsTerm x)
{
    WsTerm twice = infix(m, "*", WS_PREC_TERM, real_number(m, 2), x);
    return ws_term_unknown(ws_py_format(m->y, "1.0 - 2.0 / (%s + 1.0)", call(m, "exp", twice).s),
                           WS_PREC_SUM);
}

static WsTerm extreme(Math *m, Node *n, Place at)
{
    const char *f = n->x->func == WS_FUNC_MAX ? "maximum" : "minimum";
    WsTerm x = as(m, n->arg[0], own(n), at);
    for (guint i = 1; i < n->n_arg; i++)
        x = ws_term_unknown(ws_py_format(m->y, "%s.%s(%s, %s)", m->y->dialect->module, f, x.s,
                                         as(m, n->arg[i], own(n), at).s),
                            WS_PREC_ATOM);
    return x;
}

static WsTerm function(Math *m, Node *n, Place at)
{
    switch (n->x->func) {
    case WS_FUNC_SELECT:
        return choose(m, n, at);
    case WS_FUNC_MIN:
    case WS_FUNC_MAX:
        return extreme(m, n, at);
    case WS_FUNC_ABS:
        return call(m, "abs", as(m, n->arg[0], own(n), at));
    case WS_FUNC_EXP2: /* shares of the FMA pipe are a hint */
        return call(m, "exp2", as(m, n->arg[0], WS_MATH_REAL, at));
    case WS_FUNC_EXP:
    case WS_FUNC_LOG2:
    case WS_FUNC_SQRT:
        return call(m, ws_func_text(n->x->func), as(m, n->arg[0], WS_MATH_REAL, at));
    case WS_FUNC_LN:
        return call(m, "log", as(m, n->arg[0], WS_MATH_REAL, at));
    case WS_FUNC_RCP:
        return infix(m, "/", WS_PREC_TERM, real_number(m, 1), as(m, n->arg[0], WS_MATH_REAL, at));
    case WS_FUNC_TANH:
        return tanh_of(m, as(m, n->arg[0], WS_MATH_REAL, at));
    default:
        if (n->x->func >= WS_FUNC_F32)
            return convert(m, n, at, FALSE);
        fail(m, "this function");
        return ws_term_unknown("0", WS_PREC_ATOM);
    }
}

static WsTerm operation(Math *m, Node *n, Place at)
{
    switch (n->x->op) {
    case WS_EXPR_CALL:
        return function(m, n, at);
    case WS_EXPR_NEG: {
        WsTerm a = as(m, n->arg[0], own(n), at);
        return ws_term_unknown(ws_py_format(m->y, "-%s", ws_py_in(m->y, a, WS_PREC_UNARY)),
                               WS_PREC_UNARY);
    }
    case WS_EXPR_NOT:
    case WS_EXPR_AND:
    case WS_EXPR_OR:
        return logic(m, n, at);
    case WS_EXPR_LT:
    case WS_EXPR_LE:
    case WS_EXPR_GT:
    case WS_EXPR_GE:
    case WS_EXPR_EQ:
    case WS_EXPR_NE:
        return comparison(m, n, at);
    default:
        return arithmetic(m, n, at);
    }
}

static Place place_of(const Node *n)
{
    return (Place){ n->rows > 1 && n->cols > 1, n->rows, n->cols, n->lanes };
}

/* In rank 1 (or 0). Where a lane partial holds the whole row its row sum is the value itself. */
static WsTerm reduction(Math *m, Node *n)
{
    static const struct {
        WsFunc func;
        const char *what;
    } kinds[] = {
        { WS_FUNC_ROWMAX, "max" },
        { WS_FUNC_ROWSUM, "sum" },
        { WS_FUNC_LANEMAX, "lanemax" },
        { WS_FUNC_LANESUM, "lanesum" },
    };
    Node *a = n->arg[0];
    WsTerm x = as(m, a, own(n), place_of(a));
    if (a->lanes && (n->x->func == WS_FUNC_ROWSUM || n->x->func == WS_FUNC_ROWMAX)) {
        gboolean max = n->x->func == WS_FUNC_ROWMAX && m->y->dialect->of_lanes;
        const char *s =
            ws_py_format(m->y, "%s(%s)", ws_py_helper(m->y, max ? "lanes_max" : "lanes"), x.s);
        return ws_term_unknown(m->y->dialect->of_lanes ? m->y->dialect->of_lanes(m->y, s) : s,
                               WS_PREC_ATOM);
    }
    if (a->cols == 1)
        return x;
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (kinds[i].func == n->x->func)
            return ws_term_unknown(
                m->y->dialect->reduce(m->y, kinds[i].what, x.s, a->rows, a->cols), WS_PREC_ATOM);
    }
    return x;
}

static WsTerm value_text(Math *m, const Node *n)
{
    const WsRegValue *v = &m->y->agent->value[n->value];
    const char *s = m->y->value[n->value];
    if (ws_dtype_real(v->dtype) && v->dtype != WS_DTYPE_F32 && v->dtype != WS_DTYPE_TF32)
        s = ws_py_format(m->y, "%s.to(%s.float32)", s, m->y->dialect->module);
    return ws_term_unknown(s, WS_PREC_ATOM);
}

/* Without a look at the place: a leaf, or an operation whose operands stand in `at`. */
static WsTerm plain(Math *m, Node *n, Place at)
{
    switch (n->form) {
    case WS_ARRAY_UNIFORM: {
        WsTerm t = ws_py_uniform(m->y, n->x);
        return n->kind == WS_MATH_BOOL ? ws_py_truth(m->y, t) : t;
    }
    case WS_ARRAY_NUMBER:
        return real_number(m, n->x->r);
    case WS_ARRAY_SCALAR:
        return ws_term_unknown(m->y->var[n->x->var].s, WS_PREC_ATOM);
    case WS_ARRAY_ROW:
        return ws_term_unknown(m->y->dialect->row_index(m->y, at.rows, at.tile ? at.cols : 1),
                               WS_PREC_ATOM);
    case WS_ARRAY_COL:
        return ws_term_unknown(m->y->dialect->col_index(m->y, at.tile ? at.rows : 1, at.cols),
                               WS_PREC_ATOM);
    case WS_ARRAY_VALUE:
        return value_text(m, n);
    case WS_ARRAY_TEMPORARY:
        return ws_term_unknown(n->name, WS_PREC_ATOM);
    case WS_ARRAY_REDUCTION:
        return reduction(m, n);
    default:
        return operation(m, n, at);
    }
}

/* In a tile all operands have rank 2: what has rank 1 is spread as a whole, unless row or col stand
 * in it, which have rank 2 there themselves. */
static WsTerm text(Math *m, Node *n, Place at)
{
    WsPyShape s = shape(n);
    gboolean line = s == WS_PY_ROWS || s == WS_PY_COLS;
    if (at.lanes && s == WS_PY_ROWS && !n->lanes && m->y->dialect->to_lanes)
        return ws_term_unknown(m->y->dialect->to_lanes(m->y, plain(m, n, place_of(n)).s),
                               WS_PREC_ATOM);
    if (!at.tile || !line || n->places)
        return plain(m, n, at);
    WsTerm t = plain(m, n, place_of(n));
    const char *x = ws_py_in(m->y, t, WS_PREC_ATOM);
    return ws_term_unknown(m->y->dialect->spread(m->y, x, s, at.rows, at.cols), WS_PREC_ATOM);
}

/* --- statements --------------------------------------------------------------------------------*/

static const WsRegValue *target_of(Math *m, const char *name, guint *number)
{
    const WsAgent *a = m->y->agent;
    for (*number = 0; a && *number < a->n_values; ++*number) {
        if (!strcmp(a->value[*number].name, name))
            return &a->value[*number];
    }
    return NULL;
}

static void assign(Math *m, guint number, Node *n)
{
    const WsRegValue *v = &m->y->agent->value[number];
    gboolean real = ws_dtype_real(v->dtype), tile = v->rows > 1 && v->cols > 1 && v->cols != 4;
    gboolean lanes = v->cols == 4 && v->rows > 1;
    Place at = { tile, v->rows, lanes ? 1 : v->cols, lanes };
    gboolean kept =
        n->form == WS_ARRAY_OPERATION && n->x->op == WS_EXPR_CALL && type_name(n->x->func);
    Place in = n->rows > 1 || n->cols > 1 ? at : (Place){ 0 };
    WsTerm t = kept ? convert(m, n, in, TRUE) : as(m, n, real ? WS_MATH_REAL : own(n), in);
    const char *name = m->y->value[number];
    gboolean fills = (n->rows < v->rows && n->rows == 1) || (n->cols == 1 && at.cols > 1) ||
                     (lanes && !n->lanes && m->y->dialect->to_lanes);
    if (fills && n->rows == 1 && n->cols == 1)
        ws_py_line(m->y, "%s = %s", name, m->y->dialect->full(m->y, number, t.s));
    else if (fills)
        ws_py_line(m->y, "%s = %s + %s", name,
                   m->y->dialect->full(m->y, number, real ? "0.0" : "0"),
                   ws_py_in(m->y, t, WS_PREC_TERM));
    else
        ws_py_line(m->y, "%s = %s", name, t.s);
}

static void statement(Math *m, const WsStatement *s)
{
    guint number;
    const WsRegValue *v = target_of(m, s->name, &number);
    Node *n = infer(m, s->value);
    if (!n || m->y->error)
        return;
    guint rows = v ? v->rows : 1, cols = v ? v->cols : 1;
    if (v && cols == 4 && rows > 1)
        cols = 1;
    if (!ws_array_meet(rows, n->rows, &rows) || !ws_array_meet(cols, n->cols, &cols)) {
        fail(m, "shapes of this form");
        return;
    }
    resolve(n, MAX(rows, 1), MAX(cols, 1));
    if (v) {
        assign(m, number, n);
        return;
    }
    const char *name = ws_py_ident(m->y, s->name);
    ws_py_line(m->y, "%s = %s", name, as(m, n, own(n), place_of(n)).s);
    Node *t = node_new(m, WS_ARRAY_TEMPORARY, n->kind, s->value);
    t->rows = n->rows;
    t->cols = n->cols;
    t->lanes = n->lanes;
    t->name = name;
    g_hash_table_insert(m->temporary, (gpointer)s->name, t);
}

void ws_py_math(WsPy *y, const WsOp *op)
{
    Math m = { .y = y, .op = op };
    m.pool = g_ptr_array_new_with_free_func(node_free);
    m.temporary = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < op->n_math && !y->error; i++)
        statement(&m, op->math[i]);
    g_hash_table_destroy(m.temporary);
    g_ptr_array_free(m.pool, TRUE);
}
