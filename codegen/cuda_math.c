/* Compute steps: a statement becomes loops over the row and column slots that a thread holds (ri,
 * ci; li for linear values) around its expression. What is costly and the same for a whole row is
 * named once per row. Elaboration has judged the types; they are told again here. */
#include "codegen/cuda.h"

#include <math.h>
#include <string.h>

typedef enum { KIND_LITERAL, KIND_INT, KIND_REAL, KIND_BOOL } Kind;
typedef enum { UNIFORM, NUMBER, SCALAR, ROW, COL, VALUE, TEMPORARY, OPERATION, REDUCTION } Form;

typedef struct Node Node;
struct Node {
    Form form;
    Kind kind;
    const WsExpr *x;
    guint rows, cols;   /* extent 0 while typing: takes that of its context (row, col) */
    guint n_row, n_col; /* slots of a thread */
    guint n_arg;
    Node **arg;
    WsCudaView view;   /* VALUE */
    const char *name;  /* TEMPORARY, or what the node has been named */
    const char *fixed; /* masks: the part that does not change from slot to slot */
    gboolean resolved;
};

typedef struct {
    WsCuda *c;
    const WsOp *op;
    GPtrArray *pool;
    GHashTable *temporary;
    gboolean linear;
    guint lin_rows, lin_cols;
} Math;

static void free_node(gpointer data)
{
    Node *n = data;
    g_free(n->arg);
    g_free(n);
}

static Node *fail(Math *m, const char *what)
{
    ws_cuda_step_error(m->c, m->op, what);
    return NULL;
}

/* --- types -------------------------------------------------------------------------------------*/

static Node *new_node(Math *m, Form form, Kind kind, const WsExpr *x)
{
    Node *n = g_new0(Node, 1);
    *n = (Node){ .form = form, .kind = kind, .x = x, .rows = 1, .cols = 1, .n_row = 1, .n_col = 1 };
    g_ptr_array_add(m->pool, n);
    return n;
}

static gboolean uniform_call(WsFunc f)
{
    return f == WS_FUNC_CDIV || f == WS_FUNC_MIN || f == WS_FUNC_MAX || f == WS_FUNC_ABS ||
           f == WS_FUNC_SELECT || f == WS_FUNC_POW2FLOOR;
}

static gboolean is_uniform(Math *m, const WsExpr *x)
{
    if (x->op == WS_EXPR_VAR) {
        const WsVar *v = &m->c->p->var[x->var];
        return !v->real && v->kind != WS_VAR_ROW && v->kind != WS_VAR_COL;
    }
    if (x->op == WS_EXPR_REAL || x->op == WS_EXPR_NAME || x->op == WS_EXPR_TOTAL ||
        x->op == WS_EXPR_INDEX || (x->op == WS_EXPR_CALL && !uniform_call(x->func)))
        return FALSE;
    for (guint i = 0; i < x->n_args; i++) {
        if (!is_uniform(m, x->arg[i]))
            return FALSE;
    }
    return TRUE;
}

static gboolean has_var(const WsExpr *x)
{
    gboolean any = x->op == WS_EXPR_VAR;
    for (guint i = 0; i < x->n_args; i++)
        any = any || has_var(x->arg[i]);
    return any;
}

static gboolean is_condition(const WsExpr *x)
{
    return x->op == WS_EXPR_TEXT_BOOL || x->op == WS_EXPR_NOT ||
           (x->op >= WS_EXPR_LT && x->op <= WS_EXPR_OR) ||
           (x->op == WS_EXPR_CALL && x->func == WS_FUNC_SELECT && is_condition(x->arg[1]));
}

static gboolean meet(guint a, guint b, guint *out)
{
    if (a == b || b == 1 || (b == 0 && a != 1))
        *out = a;
    else if (a == 1 || a == 0)
        *out = b;
    else
        return FALSE;
    return TRUE;
}

static gboolean broadcast(Node *n)
{
    guint rows = 1, cols = 1;
    for (guint i = 0; i < n->n_arg; i++) {
        if (!meet(rows, n->arg[i]->rows, &rows) || !meet(cols, n->arg[i]->cols, &cols))
            return FALSE;
    }
    n->rows = rows;
    n->cols = cols;
    return TRUE;
}

static Kind common(Kind a, Kind b)
{
    if (a == KIND_BOOL || b == KIND_BOOL)
        return KIND_BOOL;
    if (a == KIND_REAL || b == KIND_REAL)
        return KIND_REAL;
    return a == KIND_INT || b == KIND_INT ? KIND_INT : KIND_LITERAL;
}

static Kind kind_of(const Node *n)
{
    const WsExpr *x = n->x;
    Kind kind = n->arg[0]->kind;
    if (x->op != WS_EXPR_CALL) {
        if (is_condition(x))
            return KIND_BOOL;
        return n->n_arg > 1 ? common(kind, n->arg[1]->kind) : kind;
    }
    switch (x->func) {
    case WS_FUNC_SELECT:
        return common(n->arg[1]->kind, n->arg[2]->kind);
    case WS_FUNC_CDIV:
    case WS_FUNC_MIN:
    case WS_FUNC_MAX:
        for (guint i = 1; i < n->n_arg; i++)
            kind = common(kind, n->arg[i]->kind);
        return kind;
    case WS_FUNC_ABS:
    case WS_FUNC_ROWMAX:
    case WS_FUNC_ROWSUM:
    case WS_FUNC_LANEMAX:
    case WS_FUNC_LANESUM:
        return kind;
    case WS_FUNC_I32:
    case WS_FUNC_I8:
    case WS_FUNC_U8:
        return KIND_INT;
    default:
        return KIND_REAL;
    }
}

static gboolean is_reduction(const WsExpr *x)
{
    return x->op == WS_EXPR_CALL && (x->func == WS_FUNC_ROWMAX || x->func == WS_FUNC_ROWSUM ||
                                     x->func == WS_FUNC_LANEMAX || x->func == WS_FUNC_LANESUM);
}

static Node *value_node(Math *m, const WsExpr *x)
{
    Node *temporary = g_hash_table_lookup(m->temporary, x->name);
    const WsAgent *a = m->c->agent;
    if (temporary)
        return temporary;
    for (guint i = 0; a && i < a->n_values; i++) {
        const WsRegValue *v = &a->value[i];
        if (strcmp(v->name, x->name) != 0)
            continue;
        Node *n = new_node(m, VALUE, ws_dtype_real(v->dtype) ? KIND_REAL : KIND_INT, x);
        WsValueUse use = { .value = i, .rows = v->rows, .cols = v->cols };
        if (!ws_cuda_view(m->c, &use, &n->view))
            return fail(m, "a value of this shape");
        n->rows = v->rows;
        n->cols = v->cols;
        if (n->view.shape == WS_PLACE_LINEAR) {
            m->linear = TRUE;
            m->lin_rows = MAX(m->lin_rows, v->rows);
            m->lin_cols = MAX(m->lin_cols, v->cols);
        }
        return n;
    }
    return fail(m, "a name that is no value here");
}

/* 1 or 2: that operand is the literal 0 or 1; else 0. */
static guint choice(const WsExpr *x)
{
    for (guint i = 0; i < 2; i++) {
        if (x->arg[i]->op == WS_EXPR_INT && (x->arg[i]->i == 0 || x->arg[i]->i == 1))
            return i + 1;
    }
    return 0;
}

static Node *infer(Math *m, const WsExpr *x)
{
    if (is_uniform(m, x))
        return new_node(m, UNIFORM,
                        is_condition(x) ? KIND_BOOL
                        : has_var(x)    ? KIND_INT
                                        : KIND_LITERAL,
                        x);
    if (x->op == WS_EXPR_REAL)
        return new_node(m, NUMBER, KIND_REAL, x);
    if (x->op == WS_EXPR_NAME)
        return value_node(m, x);
    if (x->op == WS_EXPR_VAR) {
        const WsVar *v = &m->c->p->var[x->var];
        if (v->real)
            return new_node(m, SCALAR, KIND_REAL, x);
        Node *n = new_node(m, v->kind == WS_VAR_ROW ? ROW : COL, KIND_INT, x);
        *(v->kind == WS_VAR_ROW ? &n->rows : &n->cols) = 0;
        return n;
    }
    if (!x->n_args || x->op == WS_EXPR_INDEX)
        return fail(m, "an expression of this form");
    if (x->op == WS_EXPR_MUL && choice(x)) { /* CAUSAL*row: the index, or 0 */
        const WsExpr *factor = x->arg[choice(x) - 1];
        Node *index = infer(m, x->arg[2 - choice(x)]);
        if (index && index->kind == KIND_INT)
            return factor->i ? index : new_node(m, UNIFORM, KIND_LITERAL, factor);
        if (!index)
            return NULL;
    }
    Node *n = new_node(m, is_reduction(x) ? REDUCTION : OPERATION, KIND_REAL, x);
    n->n_arg = x->n_args;
    n->arg = g_new0(Node *, x->n_args);
    for (guint i = 0; i < x->n_args; i++) {
        n->arg[i] = infer(m, x->arg[i]);
        if (!n->arg[i])
            return NULL;
    }
    n->kind = kind_of(n);
    if (!broadcast(n))
        return fail(m, "shapes of this form");
    if (n->form == REDUCTION)
        n->cols = x->func == WS_FUNC_LANEMAX || x->func == WS_FUNC_LANESUM ? 4 : 1;
    return n;
}

static guint slots(guint extent, guint per)
{
    return extent <= 4 ? 1 : extent / per;
}

static gboolean resolve(Math *m, Node *n, guint rows, guint cols)
{
    if (n->resolved)
        return TRUE;
    if (n->form == REDUCTION) {
        Node *a = n->arg[0];
        if (!resolve(m, a, MAX(a->rows, 1), MAX(a->cols, 1)))
            return FALSE;
        n->rows = a->rows;
    } else {
        for (guint i = 0; i < n->n_arg; i++) {
            if (!resolve(m, n->arg[i], rows, cols))
                return FALSE;
        }
        if (n->n_arg && !broadcast(n))
            return FALSE;
    }
    n->rows = n->rows ? n->rows : rows;
    n->cols = n->cols ? n->cols : cols;
    n->resolved = TRUE;
    if (n->form == VALUE && n->view.shape != WS_PLACE_SCALAR &&
        (n->view.shape == WS_PLACE_LINEAR) != m->linear)
        return fail(m, "linear values and an accumulator in one statement") != NULL;
    if (m->linear && (n->rows > 1 || n->cols > 1)) {
        guint threads = m->c->agent->threads;
        n->n_row = (m->lin_rows * m->lin_cols + threads - 1) / threads;
        n->n_col = 1;
    } else if (!m->linear) {
        n->n_row = slots(n->rows, 32);
        n->n_col = slots(n->cols, 4);
    }
    return TRUE;
}

static Node *typed(Math *m, const WsExpr *x, guint target_rows, guint target_cols)
{
    Node *n = infer(m, x);
    guint rows, cols;
    if (!n || m->c->error)
        return NULL;
    if (!meet(target_rows, n->rows, &rows) || !meet(target_cols, n->cols, &cols) ||
        !resolve(m, n, MAX(rows, 1), MAX(cols, 1)))
        return m->c->error ? NULL : fail(m, "shapes of this form");
    return n;
}

/* --- text --------------------------------------------------------------------------------------*/

static WsTerm text(Math *m, Node *n);

static WsTerm as(Math *m, Node *n, Kind kind)
{
    gint64 v;
    if (kind == KIND_REAL && n->form == UNIFORM && n->x->op == WS_EXPR_INT)
        return ws_term(ws_cuda_format(m->c, "%" G_GINT64_FORMAT ".0f", n->x->i), WS_CPP_UNARY, 0,
                       0);
    WsTerm t = text(m, n);
    if (kind == KIND_REAL && n->kind != KIND_REAL && n->form == UNIFORM && ws_term_known(t, &v))
        return ws_term(ws_cuda_format(m->c, "%" G_GINT64_FORMAT ".0f", v), WS_CPP_UNARY, 0, 0);
    if (kind == KIND_REAL && n->kind != KIND_REAL)
        return ws_term(ws_cuda_format(m->c, "float(%s)", t.s), WS_CPP_ATOM, 0, 1);
    return t;
}

static WsTerm unknown(const char *s, guint prec)
{
    return ws_term(s, prec, WS_INTERVAL_MIN, WS_INTERVAL_MAX);
}

static const char *number(Math *m, double r)
{
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    if (isinf(r))
        return r < 0 ? "-INFINITY" : "INFINITY";
    g_ascii_formatd(buffer, sizeof buffer, "%.9g", r);
    return ws_cuda_format(m->c, strpbrk(buffer, ".e") ? "%sf" : "%s.0f", buffer);
}

/* Row or column number of a slot: a part of the lane, and a constant of the slot. */
static const char *lane_part(const Node *n)
{
    if (n->form == ROW)
        return n->rows > 1 ? "row0" : "0";
    return n->cols > 4 ? "col0" : n->cols > 1 ? "lane % 4" : "0";
}

static const char *slot_part(const Node *n)
{
    if (n->form == ROW)
        return n->rows > 1 ? "slot_row(ri)" : NULL;
    return n->cols > 4 ? "slot_col(ci)" : NULL;
}

static WsTerm place(Math *m, const Node *n)
{
    if (m->linear) {
        const char *e = ws_cuda_format(m->c, "(li * %u + thread)", m->c->agent->threads);
        if (m->lin_rows == 1)
            return unknown(n->form == ROW ? "0" : e, WS_CPP_ATOM);
        return unknown(
            ws_cuda_format(m->c, "%s(%s, %u)", n->form == ROW ? "quot" : "mod", e, m->lin_cols),
            WS_CPP_ATOM);
    }
    const char *slot = slot_part(n);
    return slot ? unknown(ws_cuda_format(m->c, "%s + %s", lane_part(n), slot), WS_CPP_SUM)
                : unknown(lane_part(n), WS_CPP_TERM);
}

static WsTerm infix(Math *m, const char *op, guint prec, WsTerm a, WsTerm b)
{
    return unknown(ws_cuda_format(m->c, "%s %s %s", ws_term_in(m->c, a, prec), op,
                                  ws_term_in(m->c, b, prec + 1)),
                   prec);
}

static WsTerm call(Math *m, const char *f, WsTerm a)
{
    return unknown(ws_cuda_format(m->c, "%s(%s)", f, a.s), WS_CPP_ATOM);
}

static WsTerm call2(Math *m, const char *f, WsTerm a, WsTerm b)
{
    return unknown(ws_cuda_format(m->c, "%s(%s, %s)", f, a.s, b.s), WS_CPP_ATOM);
}

static Kind own(const Node *n)
{
    return n->kind == KIND_LITERAL ? KIND_INT : n->kind;
}

static gboolean is_product(const Node *n)
{
    return n->form == OPERATION && n->x->op == WS_EXPR_MUL && n->kind == KIND_REAL && !n->name;
}

/* a*b + c and its like, fused where the product changes with the column: what is the same for a
 * row is computed once. The other way round costs an instruction per element. s NULL: no such
 * form. */
static WsTerm fused(Math *m, Node *n)
{
    Node *a = n->arg[0], *b = n->arg[1];
    gboolean minus = n->x->op == WS_EXPR_SUB, left = is_product(a), right = is_product(b);
    if ((!left && !right) || n->kind != KIND_REAL)
        return (WsTerm){ 0 };
    if (left && right) {
        left = a->n_row * a->n_col >= b->n_row * b->n_col;
        right = !left;
    }
    Node *product = left ? a : b, *rest = left ? b : a;
    WsTerm x = as(m, product->arg[0], KIND_REAL), y = as(m, product->arg[1], KIND_REAL);
    const char *r = as(m, rest, KIND_REAL).s, *f = x.s;
    if (minus && left)
        r = ws_cuda_format(m->c, "-(%s)", r);
    else if (minus)
        f = ws_cuda_format(m->c, "-(%s)", x.s);
    return unknown(ws_cuda_format(m->c, "fmaf(%s, %s, %s)", f, y.s, r), WS_CPP_ATOM);
}

static WsTerm arithmetic(Math *m, Node *n)
{
    WsTerm together =
        n->x->op == WS_EXPR_ADD || n->x->op == WS_EXPR_SUB ? fused(m, n) : (WsTerm){ 0 };
    if (together.s)
        return together;
    WsTerm a = as(m, n->arg[0], own(n)), b = as(m, n->arg[1], own(n));
    switch (n->x->op) {
    case WS_EXPR_ADD:
        return infix(m, "+", WS_CPP_SUM, a, b);
    case WS_EXPR_SUB:
        return infix(m, "-", WS_CPP_SUM, a, b);
    case WS_EXPR_MUL:
        return infix(m, "*", WS_CPP_TERM, a, b);
    default:
        if (n->kind == KIND_REAL)
            return infix(m, "*", WS_CPP_TERM, a, call(m, "rcp", b));
        return call2(m, n->x->op == WS_EXPR_MOD ? "floor_mod" : "floor_div", a, b);
    }
}

/* --- masks -------------------------------------------------------------------------------------*/

static gboolean is_index(const Node *n)
{
    if (n->form == OPERATION && (n->x->op == WS_EXPR_ADD || n->x->op == WS_EXPR_SUB))
        return is_index(n->arg[0]) && is_index(n->arg[1]);
    return n->kind != KIND_BOOL && (n->form == ROW || n->form == COL || n->form == UNIFORM);
}

/* The part of a sum of row, col and uniforms that does not change from slot to slot, and the one
 * that does (constants once the loops are unrolled). */
static void index_parts(Math *m, Node *n, gboolean minus, GString *fixed, GString *slot)
{
    if (n->form == OPERATION) {
        index_parts(m, n->arg[0], minus, fixed, slot);
        index_parts(m, n->arg[1], minus != (n->x->op == WS_EXPR_SUB), fixed, slot);
        return;
    }
    const char *sign = minus ? " - " : " + ";
    if (n->form == UNIFORM) {
        WsTerm t = text(m, n);
        g_string_append_printf(fixed, "%s%s", sign, ws_term_in(m->c, t, WS_CPP_TERM));
        return;
    }
    g_string_append_printf(fixed, "%s%s", sign, lane_part(n));
    if (slot_part(n))
        g_string_append_printf(slot, "%s%s", minus ? " + " : " - ", slot_part(n));
}

static const char *trimmed(Math *m, GString *s)
{
    const char *text = s->len == 0                       ? "0"
                       : g_str_has_prefix(s->str, " + ") ? ws_cuda_format(m->c, "%s", s->str + 3)
                                                         : ws_cuda_format(m->c, "-%s", s->str + 3);
    g_string_free(s, TRUE);
    return text;
}

static gboolean is_index_comparison(Math *m, const Node *n)
{
    return n->form == OPERATION && n->x->op >= WS_EXPR_LT && n->x->op <= WS_EXPR_NE && !m->linear &&
           is_index(n->arg[0]) && is_index(n->arg[1]);
}

/* `base + col <= last + row` is one difference per thread against a constant per slot. */
static WsTerm index_comparison(Math *m, Node *n, const char *op, guint prec)
{
    GString *fixed = g_string_new(NULL), *slot = g_string_new(NULL);
    index_parts(m, n->arg[0], FALSE, fixed, slot);
    index_parts(m, n->arg[1], TRUE, fixed, slot);
    const char *left = trimmed(m, fixed), *right = trimmed(m, slot);
    return unknown(ws_cuda_format(m->c, n->fixed ? "%s %s %s" : "(%s) %s %s",
                                  n->fixed ? n->fixed : left, op, right),
                   prec);
}

/* Through an opaque move: the comparisons are made here, not once for all rounds and then kept. */
static void name_difference(Math *m, Node *n)
{
    GString *fixed = g_string_new(NULL), *slot = g_string_new(NULL);
    index_parts(m, n->arg[0], FALSE, fixed, slot);
    index_parts(m, n->arg[1], TRUE, fixed, slot);
    g_string_free(slot, TRUE);
    if (!m->c->in_flight->len) { /* made before the wait for products they take a register each */
        ws_cuda_line(m->c, "// comparisons stay behind the wait");
        ws_cuda_line(m->c, "%s(n_tiles);", ws_cuda_prim_name(WS_PRIM_STAY));
    }
    n->fixed = ws_cuda_format(m->c, "part_%u", m->c->temporaries++);
    ws_cuda_line(m->c, "const int %s = int(%s(%s));", n->fixed, ws_cuda_prim_name(WS_PRIM_MOV32),
                 trimmed(m, fixed));
}

static WsTerm comparison(Math *m, Node *n)
{
    static const char *const op[] = { "<", "<=", ">", ">=", "==", "!=" };
    guint at = n->x->op - WS_EXPR_LT, prec = at < 4 ? WS_CPP_REL : WS_CPP_EQ;
    gboolean real = n->arg[0]->kind == KIND_REAL || n->arg[1]->kind == KIND_REAL;
    if (is_index_comparison(m, n))
        return index_comparison(m, n, op[at], prec);
    Kind kind = real ? KIND_REAL : KIND_INT;
    WsTerm a = as(m, n->arg[0], kind), b = as(m, n->arg[1], kind);
    return unknown(ws_cuda_format(m->c, "%s %s %s", ws_term_in(m->c, a, WS_CPP_SHIFT), op[at],
                                  ws_term_in(m->c, b, WS_CPP_SHIFT)),
                   prec);
}

/* --- conditions --------------------------------------------------------------------------------*/

/* -1 unless a uniform condition is decided by intervals. */
static int decided(Math *m, Node *n)
{
    gint64 v;
    if (n->form != UNIFORM)
        return -1;
    WsTerm t = ws_term_truth(m->c, ws_cuda_uniform(m->c, n->x));
    return ws_term_known(t, &v) ? v != 0 : -1;
}

static WsTerm logic(Math *m, Node *n)
{
    if (n->x->op == WS_EXPR_NOT) {
        WsTerm a = as(m, n->arg[0], KIND_BOOL);
        return unknown(ws_cuda_format(m->c, "!%s", ws_term_in(m->c, a, WS_CPP_UNARY)),
                       WS_CPP_UNARY);
    }
    gboolean is_and = n->x->op == WS_EXPR_AND;
    for (guint i = 0; i < 2; i++) {
        int known = decided(m, n->arg[i]);
        if (known >= 0)
            return as(m, n->arg[known == is_and ? 1 - i : i], KIND_BOOL);
    }
    WsTerm a = as(m, n->arg[0], KIND_BOOL), b = as(m, n->arg[1], KIND_BOOL);
    return infix(m, is_and ? "&&" : "||", is_and ? WS_CPP_AND : WS_CPP_OR, a, b);
}

static WsTerm choose(Math *m, Node *n)
{
    int known = decided(m, n->arg[0]);
    if (known >= 0)
        return as(m, n->arg[known ? 1 : 2], own(n));
    WsTerm c = as(m, n->arg[0], KIND_BOOL), a = as(m, n->arg[1], own(n)),
           b = as(m, n->arg[2], own(n));
    return unknown(ws_cuda_format(m->c, "%s ? %s : %s", ws_term_in(m->c, c, WS_CPP_OR),
                                  ws_term_in(m->c, a, WS_CPP_OR), ws_term_in(m->c, b, WS_CPP_OR)),
                   WS_CPP_COND);
}

/* --- functions ---------------------------------------------------------------------------------*/

static WsTerm convert(Math *m, Node *n)
{
    WsFunc f = n->x->func;
    Node *a = n->arg[0];
    if (f == WS_FUNC_F32)
        return as(m, a, KIND_REAL);
    if (f == WS_FUNC_I32)
        return a->kind == KIND_REAL ? call(m, "int", call(m, "cvt_rni", text(m, a))) : text(m, a);
    if (f == WS_FUNC_I8 || f == WS_FUNC_U8)
        return call(m,
                    ws_cuda_format(m->c, "%s_%s", a->kind == KIND_REAL ? "saturate" : "wrap",
                                   ws_func_text(f)),
                    text(m, a));
    return call(m, ws_cuda_format(m->c, "round_%s", ws_func_text(f)), as(m, a, KIND_REAL));
}

static WsTerm extreme(Math *m, Node *n)
{
    const char *f = n->x->func == WS_FUNC_MAX ? "max" : "min";
    if (n->kind == KIND_REAL)
        f = n->x->func == WS_FUNC_MAX ? "fmaxf" : "fminf";
    WsTerm x = as(m, n->arg[0], own(n));
    for (guint i = 1; i < n->n_arg; i++)
        x = call2(m, f, x, as(m, n->arg[i], own(n)));
    return x;
}

static WsTerm function(Math *m, Node *n)
{
    switch (n->x->func) {
    case WS_FUNC_SELECT:
        return choose(m, n);
    case WS_FUNC_MIN:
    case WS_FUNC_MAX:
        return extreme(m, n);
    case WS_FUNC_ABS:
        return call(m, n->kind == KIND_REAL ? "fabsf" : "abs", as(m, n->arg[0], own(n)));
    case WS_FUNC_EXP2: {
        WsTerm x = as(m, n->arg[0], KIND_REAL);
        if (n->n_arg != 3)
            return call(m, "ex2", x);
        return call2(
            m,
            ws_cuda_format(m->c, "ex2_share<%d, %d>", (int)n->x->arg[1]->i, (int)n->x->arg[2]->i),
            x,
            unknown(n->n_col > 1   ? "ci"
                    : m->linear    ? "li"
                    : n->n_row > 1 ? "ri"
                                   : "0",
                    WS_CPP_ATOM));
    }
    case WS_FUNC_EXP:
        return call(m, "ex2",
                    infix(m, "*", WS_CPP_TERM, as(m, n->arg[0], KIND_REAL),
                          unknown(number(m, 1 / G_LN2), WS_CPP_ATOM)));
    case WS_FUNC_LOG2:
        return call(m, "lg2", as(m, n->arg[0], KIND_REAL));
    case WS_FUNC_LN:
        return infix(m, "*", WS_CPP_TERM, call(m, "lg2", as(m, n->arg[0], KIND_REAL)),
                     unknown(number(m, G_LN2), WS_CPP_ATOM));
    case WS_FUNC_RCP:
    case WS_FUNC_SQRT:
    case WS_FUNC_TANH:
        return call(m, ws_func_text(n->x->func), as(m, n->arg[0], KIND_REAL));
    case WS_FUNC_CDIV:
        return call2(m, "cdiv", as(m, n->arg[0], KIND_INT), as(m, n->arg[1], KIND_INT));
    default:
        if (n->x->func < WS_FUNC_F32) {
            fail(m, "this function");
            return unknown("0", WS_CPP_ATOM);
        }
        return convert(m, n);
    }
}

/* Over what the thread holds of the row, then (finished ones) over the quad of lanes. */
static WsTerm reduction(Math *m, Node *n)
{
    Node *a = n->arg[0];
    gboolean max = n->x->func == WS_FUNC_ROWMAX || n->x->func == WS_FUNC_LANEMAX;
    gboolean finish = n->x->func == WS_FUNC_ROWMAX || n->x->func == WS_FUNC_ROWSUM;
    if (m->linear) {
        fail(m, "a reduction of linear values");
        return unknown("0", WS_CPP_ATOM);
    }
    if (a->cols == 1)
        return as(m, a, own(n));
    WsTerm x = as(m, a, own(n));
    const char *f = max ? "max" : "sum";
    const char *s =
        a->n_col == 1
            ? x.s
            : ws_cuda_format(m->c, "columns_%s<%u>([&](int ci) { return %s; })", f, a->n_col, x.s);
    return unknown(finish ? ws_cuda_format(m->c, "quad_%s(%s)", f, s) : s, WS_CPP_ATOM);
}

static WsTerm operation(Math *m, Node *n)
{
    switch (n->x->op) {
    case WS_EXPR_CALL:
        return function(m, n);
    case WS_EXPR_NEG: {
        WsTerm a = as(m, n->arg[0], own(n));
        return unknown(ws_cuda_format(m->c, "-%s", ws_term_in(m->c, a, WS_CPP_ATOM)), WS_CPP_UNARY);
    }
    case WS_EXPR_NOT:
    case WS_EXPR_AND:
    case WS_EXPR_OR:
        return logic(m, n);
    case WS_EXPR_LT:
    case WS_EXPR_LE:
    case WS_EXPR_GT:
    case WS_EXPR_GE:
    case WS_EXPR_EQ:
    case WS_EXPR_NE:
        return comparison(m, n);
    default:
        return arithmetic(m, n);
    }
}

/* Element of a temporary held in an array: one per slot of its shape. */
static WsTerm temporary_text(Math *m, const Node *n)
{
    const char *name = n->name;
    if (n->n_row * n->n_col == 1)
        return unknown(name, WS_CPP_ATOM);
    if (m->linear)
        return unknown(ws_cuda_format(m->c, "%s[li]", name), WS_CPP_ATOM);
    if (n->n_col == 1)
        return unknown(ws_cuda_format(m->c, "%s[ri]", name), WS_CPP_ATOM);
    if (n->n_row == 1)
        return unknown(ws_cuda_format(m->c, "%s[ci]", name), WS_CPP_ATOM);
    return unknown(ws_cuda_format(m->c, "%s[ri * %u + ci]", name, n->n_col), WS_CPP_ATOM);
}

static WsTerm text(Math *m, Node *n)
{
    if (n->form == TEMPORARY)
        return temporary_text(m, n);
    if (n->name)
        return unknown(n->name, WS_CPP_ATOM);
    switch (n->form) {
    case UNIFORM: {
        WsTerm t = ws_cuda_uniform(m->c, n->x);
        return n->kind == KIND_BOOL ? ws_term_truth(m->c, t) : t;
    }
    case NUMBER:
        return unknown(number(m, n->x->r), n->x->r < 0 ? WS_CPP_UNARY : WS_CPP_ATOM);
    case SCALAR:
        return unknown(m->c->var[n->x->var].s, WS_CPP_ATOM);
    case ROW:
    case COL:
        return place(m, n);
    case VALUE:
        return unknown(ws_cuda_get(m->c, &n->view, 0), WS_CPP_ATOM);
    case REDUCTION:
        return reduction(m, n);
    default:
        return operation(m, n);
    }
}

/* --- statements --------------------------------------------------------------------------------*/

static const char *cpp_type(Kind kind)
{
    return kind == KIND_REAL ? "float" : kind == KIND_BOOL ? "bool" : "int";
}

/* Has something that is no plain arithmetic: worth a name where it is the same for many slots. */
static gboolean costly(const Node *n)
{
    if (n->name)
        return FALSE;
    if (n->form == REDUCTION ||
        (n->form == OPERATION &&
         ((n->x->op == WS_EXPR_CALL && n->x->func != WS_FUNC_SELECT && n->x->func != WS_FUNC_MIN &&
           n->x->func != WS_FUNC_MAX && n->x->func != WS_FUNC_ABS) ||
          (n->x->op == WS_EXPR_DIV && n->kind == KIND_REAL))))
        return TRUE;
    for (guint i = 0; i < n->n_arg; i++) {
        if (costly(n->arg[i]))
            return TRUE;
    }
    return FALSE;
}

/* Names the largest costly parts that do not change with the column (`rows`: they change with the
 * row; else they are the same for all slots). */
static void name_parts(Math *m, Node *n, gboolean rows)
{
    if (n->name || n->form == TEMPORARY)
        return;
    if (!n->fixed && !rows && is_index_comparison(m, n))
        name_difference(m, n);
    gboolean here =
        n->n_col == 1 && (n->n_row > 1) == rows && (n->form == OPERATION || n->form == REDUCTION);
    if ((n->form == REDUCTION && n->n_row > 1 && !rows) ||
        (m->linear && (n->rows > 1 || n->cols > 1)))
        here = FALSE;
    if (here && costly(n)) {
        for (guint i = 0; n->form == REDUCTION && i < n->n_arg; i++)
            name_parts(m, n->arg[i], rows); /* inside its loop over the columns */
        const char *name = ws_cuda_format(m->c, "part_%u", m->c->temporaries++);
        if (rows) {
            ws_cuda_line(m->c, "%s %s[%u];", cpp_type(n->kind), name, n->n_row);
            ws_cuda_line(m->c, "#pragma unroll");
            ws_cuda_line(m->c, "for (int ri = 0; ri < %u; ++ri)", n->n_row);
            ws_cuda_line(m->c, "    %s[ri] = %s;", name, as(m, n, own(n)).s);
            name = ws_cuda_format(m->c, "%s[ri]", name);
        } else {
            ws_cuda_line(m->c, "const %s %s = %s;", cpp_type(n->kind), name, as(m, n, own(n)).s);
        }
        n->name = name;
        return;
    }
    for (guint i = 0; i < n->n_arg; i++)
        name_parts(m, n->arg[i], rows);
}

static gboolean feeds_mma(WsCuda *c, guint value)
{
    for (guint i = 0; i < c->p->n_ops; i++) {
        const WsOp *op = c->p->op[i];
        if (op->kind == WS_OP_MMA && op->agent >= 0 && &c->p->agent[op->agent] == c->agent &&
            op->mma->a.in_registers && op->value[1].value == value)
            return TRUE;
    }
    return FALSE;
}

/* Rows inside of columns: what only depends on the column lives shortly. */
static guint nest(Math *m, guint n_row, guint n_col, guint step)
{
    WsCuda *c = m->c;
    ws_cuda_line(c, "#pragma unroll");
    ws_cuda_open(
        c, step == 1 ? "for (int ci = 0; ci < %u; ++ci)" : "for (int ci = 0; ci < %u; ci += %u)",
        n_col, step);
    ws_cuda_line(c, "#pragma unroll");
    ws_cuda_open(c, "for (int ri = 0; ri < %u; ++ri)", n_row);
    return 2;
}

/* Tiles of narrow types: a register takes 2 or 4 neighbouring column slots. */
static void assign_packed(Math *m, Node *n, const WsCudaView *v, guint value)
{
    WsCuda *c = m->c;
    WsDtype t = v->v->dtype;
    Kind kind = ws_dtype_real(t) ? KIND_REAL : KIND_INT;
    gboolean here = (t == WS_DTYPE_BF16 || t == WS_DTYPE_F16) && feeds_mma(c, value);
    guint per = 4 / ws_dtype_bytes(t);
    name_parts(m, n, TRUE);
    guint opened = nest(m, v->n_row, v->n_col, per);
    ws_cuda_line(c, "const auto x = [&](int ci) { return %s; };", as(m, n, kind).s);
    const char *low = ws_cuda_pair(c, t, "x(ci)", "x(ci + 1)", here);
    if (per == 2)
        ws_cuda_line(c, "%s = %s;", ws_cuda_register(c, v, 0), low);
    else
        ws_cuda_line(c, "%s = %s | uint32_t(%s) << 16;", ws_cuda_register(c, v, 0), low,
                     ws_cuda_pair(c, t, "x(ci + 2)", "x(ci + 3)", FALSE));
    ws_cuda_end_slots(c, opened);
}

static void assign(Math *m, const WsExpr *x, guint value)
{
    WsCuda *c = m->c;
    const WsRegValue *rv = &c->agent->value[value];
    WsValueUse use = { .value = value, .rows = rv->rows, .cols = rv->cols };
    WsCudaView v;
    /* rounding comes with the store */
    if (x->op == WS_EXPR_CALL && x->func >= WS_FUNC_F32 && x->func <= WS_FUNC_E5M2 &&
        ws_dtype_real(rv->dtype) && strcmp(ws_func_text(x->func), ws_dtype_text(rv->dtype)) == 0)
        x = x->arg[0];
    if (!ws_cuda_view(c, &use, &v)) {
        fail(m, "a value of this shape");
        return;
    }
    m->linear = v.shape == WS_PLACE_LINEAR;
    m->lin_rows = m->linear ? rv->rows : 0;
    m->lin_cols = m->linear ? rv->cols : 0;
    Node *n = typed(m, x, rv->rows, rv->cols);
    if (!n)
        return;
    name_parts(m, n, FALSE);
    if (v.shape == WS_PLACE_TILE && ws_dtype_bytes(rv->dtype) < 4) {
        assign_packed(m, n, &v, value);
        return;
    }
    Kind kind = ws_dtype_real(rv->dtype) ? KIND_REAL : KIND_INT;
    guint opened = 0;
    if (v.shape == WS_PLACE_TILE) {
        name_parts(m, n, TRUE);
        opened = nest(m, v.n_row, v.n_col, 1);
    } else if (m->linear) {
        ws_cuda_line(c, "#pragma unroll");
        ws_cuda_open(c, "for (int li = 0; li < %u; ++li)", v.n_row);
        opened = 1;
    } else {
        opened = ws_cuda_slots(c, &v, 1);
    }
    ws_cuda_set(c, &v, 0, as(m, n, kind).s);
    ws_cuda_end_slots(c, opened);
}

static void temporary(Math *m, const WsStatement *s)
{
    WsCuda *c = m->c;
    m->linear = FALSE;
    m->lin_rows = m->lin_cols = 0;
    Node *n = typed(m, s->value, 1, 1), *t;
    if (!n)
        return;
    const char *base = ws_cuda_ident(c, s->name);
    t = new_node(m, TEMPORARY, own(n), s->value);
    t->rows = n->rows;
    t->cols = n->cols;
    t->n_row = n->n_row;
    t->n_col = n->n_col;
    t->resolved = TRUE;
    t->name = g_hash_table_contains(m->temporary, s->name)
                  ? ws_cuda_format(c, "%s_%u", base, c->temporaries++)
                  : base;
    name_parts(m, n, FALSE);
    if (n->n_row * n->n_col == 1) {
        ws_cuda_line(c, "const %s %s = %s;", cpp_type(t->kind), t->name, as(m, n, own(n)).s);
        g_hash_table_replace(m->temporary, s->name, t);
        return;
    }
    ws_cuda_line(c, "%s %s[%u];", cpp_type(t->kind), t->name, n->n_row * n->n_col);
    guint opened = 1;
    if (n->n_row > 1 && n->n_col > 1) {
        name_parts(m, n, TRUE);
        opened = nest(m, n->n_row, n->n_col, 1);
    } else {
        const char *i = n->n_col > 1 ? "ci" : m->linear ? "li" : "ri";
        ws_cuda_line(c, "#pragma unroll");
        ws_cuda_open(c, "for (int %s = 0; %s < %u; ++%s)", i, i, MAX(n->n_row, n->n_col), i);
    }
    ws_cuda_line(c, "%s = %s;", temporary_text(m, t).s, as(m, n, own(n)).s);
    ws_cuda_end_slots(c, opened);
    g_hash_table_replace(m->temporary, s->name, t);
}

static gint value_of(const WsAgent *a, const char *name)
{
    for (guint v = 0; v < a->n_values; v++) {
        if (strcmp(a->value[v].name, name) == 0)
            return (gint)v;
    }
    return -1;
}

static void statement(Math *m, guint i)
{
    const WsStatement *s = m->op->math[i];
    gint v = value_of(m->c->agent, s->name);
    if (v >= 0)
        assign(m, s->value, (guint)v);
    else
        temporary(m, s);
}

static gboolean calls(const WsExpr *x, WsFunc a, WsFunc b)
{
    gboolean any = x->op == WS_EXPR_CALL && (x->func == a || x->func == b);
    for (guint i = 0; i < x->n_args; i++)
        any = any || calls(x->arg[i], a, b);
    return any;
}

static void statements(Math *m)
{
    for (guint i = 0; i < m->op->n_math && !m->c->error; i++)
        statement(m, i);
}

/* The warp's vote: TRUE where some element does not satisfy `unless`. */
static void vote(Math *m)
{
    WsCuda *c = m->c;
    Node *n = typed(m, m->op->skip, 1, 1);
    if (!n)
        return;
    name_parts(m, n, FALSE);
    ws_cuda_line(c, "bool skip = true;");
    guint opened = 0;
    if (n->n_row > 1) {
        ws_cuda_line(c, "#pragma unroll");
        ws_cuda_open(
            c, m->linear ? "for (int li = 0; li < %u; ++li)" : "for (int ri = 0; ri < %u; ++ri)",
            n->n_row);
        opened++;
    }
    if (n->n_col > 1) {
        ws_cuda_line(c, "#pragma unroll");
        ws_cuda_open(c, "for (int ci = 0; ci < %u; ++ci)", n->n_col);
        opened++;
    }
    ws_cuda_line(c, "skip = skip && %s;", ws_term_in(c, as(m, n, KIND_BOOL), WS_CPP_EQ));
    ws_cuda_end_slots(c, opened);
}

static gboolean before_named_barrier(WsCuda *c, const WsOp *op)
{
    const WsOp *next = op->index + 1 < c->p->n_ops ? c->p->op[op->index + 1] : NULL;
    return next && next->agent == op->agent && next->barrier >= 0 &&
           (next->kind == WS_OP_BAR_ARRIVE || next->kind == WS_OP_BAR_SYNC);
}

/* As in math_step.c: what is drawn beside products in flight, or before a named barrier, is done
 * there. */
static void hold(WsCuda *c, const WsOp *op)
{
    GString *s = g_string_new(NULL);
    gboolean on = c->in_flight->len || before_named_barrier(c, op);
    for (guint i = 0; on && i < op->n_math; i++) {
        gint v = value_of(c->agent, op->math[i]->name);
        if (v < 0 || c->agent->value[v].dtype != WS_DTYPE_F32 ||
            !calls(op->math[i]->value, WS_FUNC_LANESUM, WS_FUNC_ROWSUM))
            continue;
        gboolean one = ws_cuda_shape(&c->agent->value[v]) == WS_PLACE_SCALAR;
        for (guint r = 0; r < c->agent->value[v].registers && r < 8; r++)
            g_string_append_printf(s, one ? "%s%s" : "%s%s[%u]", s->len ? " + " : "", c->value[v],
                                   r);
    }
    if (s->len)
        ws_cuda_line(c, "%s(%s);", ws_cuda_prim_name(WS_PRIM_HOLD), s->str);
    g_string_free(s, TRUE);
}

void ws_cuda_math(WsCuda *c, const WsOp *op)
{
    Math m = { .c = c, .op = op };
    m.pool = g_ptr_array_new_with_free_func(free_node);
    m.temporary = g_hash_table_new(g_str_hash, g_str_equal);
    ws_cuda_block(c, "");
    if (op->skip) {
        vote(&m);
        ws_cuda_open(c, "if (!%s(skip))", ws_cuda_prim_name(WS_PRIM_VOTE_ALL));
        statements(&m);
        ws_cuda_close(c);
    } else {
        statements(&m);
        hold(c, op);
    }
    ws_cuda_close(c);
    g_hash_table_destroy(m.temporary);
    g_ptr_array_free(m.pool, TRUE);
}

const char *ws_cuda_run_name(WsCuda *c, const WsExpr *x)
{
    Math m = { .c = c };
    m.pool = g_ptr_array_new_with_free_func(free_node);
    m.temporary = g_hash_table_new(g_str_hash, g_str_equal);
    Node *n = typed(&m, x, 1, 1);
    const char *s = n ? as(&m, n, KIND_REAL).s : "0";
    g_hash_table_destroy(m.temporary);
    g_ptr_array_free(m.pool, TRUE);
    return s;
}
