/* Statements of compute steps as arithmetic on tensors. A value [rows, 1] is a tensor of rank 1,
 * and so is a lane partial [rows, 4], which holds the whole row here; [1, cols] has rank 1 too. They
 * are spread where they meet tiles. Elaboration has judged types and shapes. */
#include "codegen/python/py.h"

#include <math.h>
#include <string.h>

typedef enum {
    UNIFORM,   /* the same in all threads: term.c */
    NUMBER,    /* real literal */
    SCALAR,    /* f32 argument or run name */
    ROW,       /* row number */
    COL,       /* column number */
    VALUE,     /* value of the agent */
    TEMPORARY, /* of the step */
    REDUCTION,
    OPERATION,
} Form;

/* A node of a statement with its type; owned by the pool of Math. */
typedef struct Node Node;
struct Node {
    Form form;
    WsMathKind kind;
    const WsExpr *x;
    guint rows, cols; /* 0: what the context says */
    gboolean lanes;   /* sums per lane of the quad */
    gboolean places;  /* row or col stands in it, not inside of a reduction */
    guint value;
    const char *name; /* TEMPORARY */
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

static Node *node_new(Math *m, Form form, WsMathKind kind, const WsExpr *x)
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

static gboolean is_real(WsDtype t)
{
    return t != WS_DTYPE_I8 && t != WS_DTYPE_U8 && t != WS_DTYPE_I32;
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
        Node *n = node_new(m, VALUE, is_real(v->dtype) ? WS_MATH_REAL : WS_MATH_INT, x);
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
    x = ws_array_chosen(m->y->p, x);
    if (ws_array_uniform(m->y->p, x))
        return node_new(m, UNIFORM, ws_array_uniform_kind(x), x);
    if (x->op == WS_EXPR_REAL)
        return node_new(m, NUMBER, WS_MATH_REAL, x);
    if (x->op == WS_EXPR_NAME)
        return value_node(m, x);
    if (x->op == WS_EXPR_VAR) {
        const WsVar *v = &m->y->p->var[x->var];
        if (v->real)
            return node_new(m, SCALAR, WS_MATH_REAL, x);
        Node *n = node_new(m, v->kind == WS_VAR_ROW ? ROW : COL, WS_MATH_INT, x);
        *(v->kind == WS_VAR_ROW ? &n->rows : &n->cols) = 0;
        n->places = TRUE;
        return n;
    }
    if (!x->n_args || x->op == WS_EXPR_INDEX)
        return fail(m, "an expression of this form");
    Node *n = node_new(m, ws_array_reduction(x) ? REDUCTION : OPERATION, WS_MATH_REAL, x);
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
    if (n->form == REDUCTION) {
        n->cols = 1;
        n->places = FALSE;
        n->lanes = x->func == WS_FUNC_LANEMAX || x->func == WS_FUNC_LANESUM;
    }
    return n;
}

/* Extents that only the context knows. */
static void resolve(Node *n, guint rows, guint cols)
{
    if (n->form == REDUCTION) {
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
} Place;

static WsPyTerm text(Math *m, Node *n, Place at);

static WsPyTerm term(const char *s, guint prec)
{
    return (WsPyTerm){ s, prec, { WS_INTERVAL_MIN, WS_INTERVAL_MAX } };
}

static WsPyTerm real_number(Math *m, double r)
{
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    if (isinf(r))
        return term(r < 0 ? "-float(\"inf\")" : "float(\"inf\")", r < 0 ? WS_PY_UNARY : WS_PY_ATOM);
    g_ascii_formatd(buffer, sizeof buffer, "%.9g", r);
    const char *s = ws_py_format(m->y, strpbrk(buffer, ".e") ? "%s" : "%s.0", buffer);
    return term(s, r < 0 ? WS_PY_UNARY : WS_PY_ATOM);
}

/* A node as an operand of real, integer or boolean arithmetic. */
static WsPyTerm as(Math *m, Node *n, WsMathKind kind, Place at)
{
    gint64 v;
    if (kind == WS_MATH_REAL && n->form == UNIFORM && n->kind != WS_MATH_BOOL) {
        WsPyTerm t = ws_py_uniform(m->y, n->x);
        if (ws_py_known(t, &v))
            return real_number(m, (double)v);
        return t;
    }
    return text(m, n, at);
}

static WsPyTerm infix(Math *m, const char *op, guint prec, WsPyTerm a, WsPyTerm b)
{
    return term(ws_py_format(m->y, "%s %s %s", ws_py_in(m->y, a, prec), op,
                             ws_py_in(m->y, b, prec + 1)),
                prec);
}

static WsPyTerm call(Math *m, const char *f, WsPyTerm a)
{
    return term(ws_py_format(m->y, "%s.%s(%s)", m->y->dialect->module, f, a.s), WS_PY_ATOM);
}

static WsMathKind own(const Node *n)
{
    return n->kind == WS_MATH_LITERAL ? WS_MATH_INT : n->kind;
}

static WsPyTerm arithmetic(Math *m, Node *n, Place at)
{
    static const char *const sign[] = { "+", "-", "*" };
    WsPyTerm a = as(m, n->arg[0], own(n), at), b = as(m, n->arg[1], own(n), at);
    guint which = n->x->op - WS_EXPR_ADD;
    if (which < G_N_ELEMENTS(sign))
        return infix(m, sign[which], which < 2 ? WS_PY_SUM : WS_PY_TERM, a, b);
    if (n->kind == WS_MATH_REAL && n->x->op == WS_EXPR_DIV)
        return infix(m, "/", WS_PY_TERM, a, b);
    fail(m, "division of tiles of integers (it truncates there, and floors in a design)");
    return a;
}

static WsPyTerm comparison(Math *m, Node *n, Place at)
{
    static const char *const sign[] = { "<", "<=", ">", ">=", "==", "!=" };
    gboolean real = n->arg[0]->kind == WS_MATH_REAL || n->arg[1]->kind == WS_MATH_REAL;
    WsMathKind kind = real ? WS_MATH_REAL : WS_MATH_INT;
    WsPyTerm a = as(m, n->arg[0], kind, at), b = as(m, n->arg[1], kind, at);
    const char *s = ws_py_format(m->y, "%s %s %s", ws_py_in(m->y, a, WS_PY_BIT),
                                 sign[n->x->op - WS_EXPR_LT], ws_py_in(m->y, b, WS_PY_BIT));
    return term(s, WS_PY_REL);
}

/* -1 unless intervals decide a condition, or enough of it. */
static int decided(Math *m, Node *n)
{
    gint64 v;
    gboolean both = n->x->op == WS_EXPR_AND;
    if (n->form == OPERATION && (both || n->x->op == WS_EXPR_OR)) {
        int a = decided(m, n->arg[0]), b = decided(m, n->arg[1]);
        if (a == !both || b == !both)
            return !both;
        return a == both && b == both ? both : -1;
    }
    if (n->form != UNIFORM)
        return -1;
    return ws_py_known(ws_py_truth(m->y, ws_py_uniform(m->y, n->x)), &v) ? v != 0 : -1;
}

static WsPyTerm logic(Math *m, Node *n, Place at)
{
    if (n->x->op == WS_EXPR_NOT) {
        WsPyTerm a = text(m, n->arg[0], at);
        return term(ws_py_format(m->y, "~%s", ws_py_in(m->y, a, WS_PY_ATOM)), WS_PY_UNARY);
    }
    gboolean is_and = n->x->op == WS_EXPR_AND;
    for (guint i = 0; i < 2; i++) {
        int known = decided(m, n->arg[i]);
        if (known >= 0)
            return text(m, n->arg[known == is_and ? 1 - i : i], at);
    }
    return infix(m, is_and ? "&" : "|", WS_PY_BIT, text(m, n->arg[0], at),
                 text(m, n->arg[1], at));
}

static WsPyTerm choose(Math *m, Node *n, Place at)
{
    int known = decided(m, n->arg[0]);
    if (known >= 0)
        return as(m, n->arg[known ? 1 : 2], own(n), at);
    WsPyTerm c = text(m, n->arg[0], at), a = as(m, n->arg[1], own(n), at),
             b = as(m, n->arg[2], own(n), at);
    return term(ws_py_format(m->y, "%s.where(%s, %s, %s)", m->y->dialect->module, c.s, a.s, b.s),
                WS_PY_ATOM);
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
static WsPyTerm convert(Math *m, Node *n, Place at, gboolean kept)
{
    const char *module = m->y->dialect->module, *narrow = type_name(n->x->func);
    Node *a = n->arg[0];
    WsPyTerm x = as(m, a, WS_MATH_REAL, at);
    if (n->x->func == WS_FUNC_F32 || (n->x->func == WS_FUNC_I32 && a->kind != WS_MATH_REAL)) {
        if (a->kind == WS_MATH_REAL || n->x->func == WS_FUNC_I32 || shape(a) == WS_PY_SCALAR)
            return x;
        return term(ws_py_format(m->y, "%s.to(%s.float32)", ws_py_in(m->y, x, WS_PY_ATOM), module),
                    WS_PY_ATOM);
    }
    if (!narrow) {
        fail(m, "a conversion to tf32 or to integers (rounding to nearest)");
        return x;
    }
    return term(ws_py_format(m->y, "%s.to(%s.%s)%s%s%s", ws_py_in(m->y, x, WS_PY_ATOM), module,
                             narrow, kept ? "" : ".to(", kept ? "" : module,
                             kept ? "" : ".float32)"),
                WS_PY_ATOM);
}

static WsPyTerm tanh_of(Math *m, WsPyTerm x)
{
    WsPyTerm twice = infix(m, "*", WS_PY_TERM, real_number(m, 2), x);
    return term(ws_py_format(m->y, "1.0 - 2.0 / (%s + 1.0)", call(m, "exp", twice).s), WS_PY_SUM);
}

static WsPyTerm extreme(Math *m, Node *n, Place at)
{
    const char *f = n->x->func == WS_FUNC_MAX ? "maximum" : "minimum";
    WsPyTerm x = as(m, n->arg[0], own(n), at);
    for (guint i = 1; i < n->n_arg; i++)
        x = term(ws_py_format(m->y, "%s.%s(%s, %s)", m->y->dialect->module, f, x.s,
                              as(m, n->arg[i], own(n), at).s),
                 WS_PY_ATOM);
    return x;
}

static WsPyTerm function(Math *m, Node *n, Place at)
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
        return infix(m, "/", WS_PY_TERM, real_number(m, 1), as(m, n->arg[0], WS_MATH_REAL, at));
    case WS_FUNC_TANH:
        return tanh_of(m, as(m, n->arg[0], WS_MATH_REAL, at));
    default:
        if (n->x->func >= WS_FUNC_F32)
            return convert(m, n, at, FALSE);
        fail(m, "this function");
        return term("0", WS_PY_ATOM);
    }
}

static WsPyTerm operation(Math *m, Node *n, Place at)
{
    switch (n->x->op) {
    case WS_EXPR_CALL:
        return function(m, n, at);
    case WS_EXPR_NEG: {
        WsPyTerm a = as(m, n->arg[0], own(n), at);
        return term(ws_py_format(m->y, "-%s", ws_py_in(m->y, a, WS_PY_UNARY)), WS_PY_UNARY);
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
    return (Place){ n->rows > 1 && n->cols > 1, n->rows, n->cols };
}

/* In rank 1 (or 0); a lane partial holds the whole row, so that its row sum is the value itself. */
static WsPyTerm reduction(Math *m, Node *n)
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
    WsPyTerm x = as(m, a, own(n), place_of(a));
    if (a->lanes && (n->x->func == WS_FUNC_ROWSUM || n->x->func == WS_FUNC_ROWMAX))
        return term(ws_py_format(m->y, "%s(%s)", ws_py_helper(m->y, "lanes"), x.s), WS_PY_ATOM);
    if (a->cols == 1)
        return x;
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (kinds[i].func == n->x->func)
            return term(m->y->dialect->reduce(m->y, kinds[i].what, x.s, a->rows, a->cols),
                        WS_PY_ATOM);
    }
    return x;
}

static WsPyTerm value_text(Math *m, const Node *n)
{
    const WsRegValue *v = &m->y->agent->value[n->value];
    const char *s = m->y->value[n->value];
    if (is_real(v->dtype) && v->dtype != WS_DTYPE_F32 && v->dtype != WS_DTYPE_TF32)
        s = ws_py_format(m->y, "%s.to(%s.float32)", s, m->y->dialect->module);
    return term(s, WS_PY_ATOM);
}

/* Without a look at the place: a leaf, or an operation whose operands stand in `at`. */
static WsPyTerm plain(Math *m, Node *n, Place at)
{
    switch (n->form) {
    case UNIFORM: {
        WsPyTerm t = ws_py_uniform(m->y, n->x);
        return n->kind == WS_MATH_BOOL ? ws_py_truth(m->y, t) : t;
    }
    case NUMBER:
        return real_number(m, n->x->r);
    case SCALAR:
        return term(m->y->var[n->x->var].s, WS_PY_ATOM);
    case ROW:
        return term(m->y->dialect->row_index(m->y, at.rows, at.tile ? at.cols : 1), WS_PY_ATOM);
    case COL:
        return term(m->y->dialect->col_index(m->y, at.tile ? at.rows : 1, at.cols), WS_PY_ATOM);
    case VALUE:
        return value_text(m, n);
    case TEMPORARY:
        return term(n->name, WS_PY_ATOM);
    case REDUCTION:
        return reduction(m, n);
    default:
        return operation(m, n, at);
    }
}

/* In a tile all operands have rank 2: what has rank 1 is spread as a whole, unless row or col stand
 * in it, which have rank 2 there themselves. */
static WsPyTerm text(Math *m, Node *n, Place at)
{
    WsPyShape s = shape(n);
    gboolean line = s == WS_PY_ROWS || s == WS_PY_COLS;
    if (!at.tile || !line || n->places)
        return plain(m, n, at);
    WsPyTerm t = plain(m, n, place_of(n));
    const char *x = ws_py_in(m->y, t, WS_PY_ATOM);
    return term(m->y->dialect->spread(m->y, x, s, at.rows, at.cols), WS_PY_ATOM);
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
    gboolean real = is_real(v->dtype), tile = v->rows > 1 && v->cols > 1 && v->cols != 4;
    Place at = { tile, v->rows, v->cols == 4 && v->rows > 1 ? 1 : v->cols };
    gboolean kept = n->form == OPERATION && n->x->op == WS_EXPR_CALL && type_name(n->x->func);
    Place in = n->rows > 1 || n->cols > 1 ? at : (Place){ 0 };
    WsPyTerm t = kept ? convert(m, n, in, TRUE) : as(m, n, real ? WS_MATH_REAL : own(n), in);
    const char *name = m->y->value[number];
    gboolean fills = (n->rows < v->rows && n->rows == 1) || (n->cols == 1 && at.cols > 1);
    if (fills && n->rows == 1 && n->cols == 1)
        ws_py_line(m->y, "%s = %s", name, m->y->dialect->full(m->y, number, t.s));
    else if (fills)
        ws_py_line(m->y, "%s = %s + %s", name, m->y->dialect->full(m->y, number, real ? "0.0" : "0"),
                   ws_py_in(m->y, t, WS_PY_TERM));
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
    Node *t = node_new(m, TEMPORARY, n->kind, s->value);
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
