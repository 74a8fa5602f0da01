#include "program/elaborate/typing.h"
#include "program/parts/agent.h"
#include "program/parts/value.h"
#include "target/target.h"

#include <string.h>

/* Types of array statements (LANGUAGE section 10): kinds, shapes, broadcasting, conversions. What
 * is judged here becomes the nodes of the program (program/array.h) in the same walk. */

typedef WsTyping Typing;

/* `a` NULL: there is no type. */
typedef struct {
    WsArray *a;
    WsDtype dtype; /* of a conversion at the root */
    gboolean converted;
    gboolean uniform; /* integers or a condition, whole: one node */
} Type;

static const Type bad = { .a = NULL };

static Type fail(Typing *T, const char *problem)
{
    if (!T->problem) {
        T->problem = problem;
        T->where = T->here;
    }
    return bad;
}

static Type fail_at(Typing *T, const WsExpr *part, const char *problem)
{
    const WsExpr *outer = T->here;
    T->here = part;
    fail(T, problem);
    T->here = outer;
    return bad;
}

static const char *kind_text(WsMathKind kind)
{
    static const char *const text[] = { "a literal", "an integer", "a float", "a condition" };
    return text[kind];
}

static WsMathKind dtype_kind(WsDtype t)
{
    return ws_dtype_real(t) ? WS_MATH_REAL : WS_MATH_INT;
}

static Type leaf(Typing *T, WsArrayForm form, WsMathKind kind, const WsExpr *e)
{
    WsArray *a = ws_arena_new0(T->E->arena, WsArray, 1);
    *a = (WsArray){ .form = form, .kind = kind, .x = e };
    a->rows = form != WS_ARRAY_ROW;
    a->cols = form != WS_ARRAY_COL;
    return (Type){ .a = a, .uniform = form == WS_ARRAY_UNIFORM };
}

static Type misfit(Typing *T, const WsArray *a)
{
    guint rows = 1, cols = 1, more_rows, more_cols;
    for (guint i = 0; i < a->n_arg; i++) {
        const WsArray *b = a->arg[i];
        if (!ws_shape_meet(rows, b->rows, &more_rows) ||
            !ws_shape_meet(cols, b->cols, &more_cols)) {
            T->extents = TRUE;
            return fail(T, ws_arena_printf(T->E->arena,
                                           "%u x %u meets %u x %u: extents are equal, or one of "
                                           "the two is 1",
                                           rows, cols, b->rows, b->cols));
        }
        rows = more_rows;
        cols = more_cols;
    }
    return bad;
}

/* Of operands that are all the same in every thread it makes another such number. */
static gboolean uniform_operator(const WsExpr *e)
{
    return e->op != WS_EXPR_CALL || e->func == WS_FUNC_CDIV || e->func == WS_FUNC_MIN ||
           e->func == WS_FUNC_MAX || e->func == WS_FUNC_ABS || e->func == WS_FUNC_SELECT ||
           e->func == WS_FUNC_POW2FLOOR;
}

/* An operator or a function of these operands, in their common shape. */
static Type node(Typing *T, WsMathKind kind, const WsExpr *e, const Type *arg)
{
    Type out = leaf(T, WS_ARRAY_OPERATION, kind, e);
    WsArray *a = out.a;
    a->n_arg = e->n_args;
    a->arg = ws_arena_new0(T->E->arena, WsArray *, e->n_args);
    out.uniform = uniform_operator(e);
    for (guint i = 0; i < e->n_args; i++) {
        a->arg[i] = arg[i].a;
        out.uniform = out.uniform && arg[i].uniform;
    }
    return ws_shape_of_args(a) ? out : misfit(T, a);
}

static gboolean is_number(WsMathKind k)
{
    return k != WS_MATH_BOOL;
}

/* Kind of two numbers together. */
static WsMathKind common(WsMathKind a, WsMathKind b)
{
    if (a == WS_MATH_REAL || b == WS_MATH_REAL)
        return WS_MATH_REAL;
    return a == WS_MATH_INT || b == WS_MATH_INT ? WS_MATH_INT : WS_MATH_LITERAL;
}

static Type type_of(Typing *T, const WsExpr *e);

/* All operands, in order. FALSE: one of them has no type. */
static gboolean types_of_args(Typing *T, const WsExpr *e, Type *arg)
{
    gboolean all = TRUE;
    for (guint i = 0; i < e->n_args; i++) {
        arg[i] = type_of(T, e->arg[i]);
        all = all && arg[i].a;
    }
    return all;
}

static Type temporary_type(Typing *T, const WsTemporary *t, const WsExpr *e)
{
    Type out;
    const char *since = NULL;
    if (t->open) {
        out = (Type){ .a = ws_shape_copy(T, t, &since) };
        if (since)
            return fail(T, ws_arena_printf(T->E->arena,
                                           "%s takes its extents from where it is used, but %s has "
                                           "been assigned since: write it out here",
                                           e->name, since));
    } else {
        out = leaf(T, WS_ARRAY_TEMPORARY, t->array->kind, e);
        out.a->rows = t->array->rows;
        out.a->cols = t->array->cols;
        out.a->index = t->statement;
        out.uniform = FALSE;
    }
    out.dtype = t->dtype;
    out.converted = t->converted;
    return out;
}

static Type name_type(Typing *T, const WsExpr *e)
{
    const WsTemporary *t = g_hash_table_lookup(T->temporaries, e->name);
    if (t)
        return temporary_type(T, t, e);
    for (guint i = 0; T->agent && i < T->agent->n_values; i++) {
        const WsRegValue *v = &T->agent->value[i];
        if (strcmp(v->name, e->name) != 0)
            continue;
        Type out = leaf(T, WS_ARRAY_VALUE, dtype_kind(v->dtype), e);
        out.a->rows = v->rows;
        out.a->cols = v->cols;
        out.a->index = i;
        return out;
    }
    return fail(T, ws_arena_printf(T->E->arena, "%s is used before it is assigned", e->name));
}

static Type var_type(Typing *T, const WsExpr *e)
{
    const WsVar *v = &g_array_index(T->E->vars, WsVar, e->var);
    if (v->kind == WS_VAR_ROW)
        return leaf(T, WS_ARRAY_ROW, WS_MATH_INT, e);
    if (v->kind == WS_VAR_COL)
        return leaf(T, WS_ARRAY_COL, WS_MATH_INT, e);
    return v->real ? leaf(T, WS_ARRAY_SCALAR, WS_MATH_REAL, e)
                   : leaf(T, WS_ARRAY_UNIFORM, WS_MATH_INT, e);
}

/* An index times a constant 0 or 1 is the choice between two masks: what is left of it. */
static Type chosen(Typing *T, const WsExpr *e, const Type *arg)
{
    for (guint i = 0; e->op == WS_EXPR_MUL && i < 2; i++) {
        const WsExpr *factor = e->arg[i], *index = e->arg[1 - i];
        if (factor->op != WS_EXPR_INT || (factor->i != 0 && factor->i != 1) ||
            index->op != WS_EXPR_VAR || arg[1 - i].a->kind == WS_MATH_REAL)
            continue;
        Type out = factor->i ? arg[1 - i] : leaf(T, WS_ARRAY_UNIFORM, WS_MATH_INT, factor);
        out.uniform = arg[1 - i].uniform;
        return out;
    }
    return bad;
}

/* A literal that meets i32 has to be one. */
static gboolean holds_literals(Typing *T, const WsExpr *e, const Type *arg)
{
    for (guint i = 0; i < e->n_args; i++) {
        const WsExpr *x = e->arg[i];
        if (arg[i].a->kind == WS_MATH_LITERAL && x->op == WS_EXPR_INT &&
            (x->i < G_MININT32 || x->i > G_MAXINT32)) {
            fail_at(T, x,
                    ws_arena_printf(T->E->arena,
                                    "%" G_GINT64_FORMAT " does not fit i32: write it with a sign",
                                    x->i));
            return FALSE;
        }
    }
    return TRUE;
}

static Type arithmetic(Typing *T, const WsExpr *e)
{
    Type arg[2];
    if (!types_of_args(T, e, arg))
        return bad;
    Type out = node(T, WS_MATH_LITERAL, e, arg);
    WsMathKind a = arg[0].a->kind, b = arg[1].a->kind;
    if (!out.a)
        return out;
    if (!is_number(a) || !is_number(b))
        return fail_at(T, e->arg[is_number(a)], "arithmetic takes numbers, not conditions");
    out.a->kind = common(a, b);
    if (e->op == WS_EXPR_MOD && out.a->kind == WS_MATH_REAL)
        return fail(T, "% takes integers");
    if (out.a->kind == WS_MATH_INT && !out.uniform && !holds_literals(T, e, arg))
        return bad;
    Type less = chosen(T, e, arg);
    return less.a ? less : out;
}

static Type comparison(Typing *T, const WsExpr *e)
{
    Type arg[2];
    if (!types_of_args(T, e, arg))
        return bad;
    Type out = node(T, WS_MATH_BOOL, e, arg);
    if (out.a && (!is_number(arg[0].a->kind) || !is_number(arg[1].a->kind)))
        return fail_at(T, e->arg[is_number(arg[0].a->kind)], "a comparison takes numbers");
    return out;
}

static Type logic(Typing *T, const WsExpr *e)
{
    Type arg[2];
    if (!types_of_args(T, e, arg))
        return bad;
    for (guint i = 0; i < e->n_args; i++) {
        if (arg[i].a->kind != WS_MATH_BOOL)
            return fail(T, ws_arena_printf(T->E->arena, "a condition is needed, not %s",
                                           kind_text(arg[i].a->kind)));
    }
    return node(T, WS_MATH_BOOL, e, arg);
}

static Type select_type(Typing *T, const WsExpr *e)
{
    Type arg[3];
    if (!types_of_args(T, e, arg))
        return bad;
    WsMathKind c = arg[0].a->kind, x = arg[1].a->kind, y = arg[2].a->kind;
    if (c != WS_MATH_BOOL)
        return fail_at(
            T, e->arg[0],
            ws_arena_printf(T->E->arena, "select takes a condition first, not %s", kind_text(c)));
    if (is_number(x) != is_number(y))
        return fail(T, "the two values of select are of different kinds");
    return node(T, is_number(x) ? common(x, y) : WS_MATH_BOOL, e, arg);
}

static Type fold_type(Typing *T, const WsExpr *e) /* min, max, cdiv */
{
    g_autofree Type *arg = g_new(Type, e->n_args);
    if (!types_of_args(T, e, arg))
        return bad;
    WsMathKind kind = arg[0].a->kind;
    for (guint i = 0; i < e->n_args; i++) {
        if (!is_number(arg[i].a->kind))
            return fail(T, "min and max take numbers");
        kind = common(kind, arg[i].a->kind);
    }
    return node(T, kind, e, arg);
}

static Type convert(Typing *T, const WsExpr *e, WsDtype dtype)
{
    Type arg = type_of(T, e->arg[0]);
    if (!arg.a)
        return bad;
    if (arg.a->kind == WS_MATH_BOOL)
        return fail(T, "a condition has no conversion: write select(c, 1, 0)");
    Type out = node(T, dtype_kind(dtype), e, &arg);
    out.dtype = dtype;
    out.converted = TRUE;
    return out;
}

static Type reduce(Typing *T, const WsExpr *e, gboolean lanes)
{
    Type arg = type_of(T, e->arg[0]);
    if (!arg.a)
        return bad;
    const WsTargetMatrix *x = &T->E->hw->matrix;
    guint cols = arg.a->cols;
    if (!is_number(arg.a->kind))
        return fail(T, "a reduction takes numbers");
    if (cols == 0)
        return fail(T, "nothing here says how many columns there are: col alone has no extent");
    if (lanes && (x->columns == 0 || cols % x->columns != 0))
        return fail(T, ws_arena_printf(T->E->arena,
                                       "lanesum and lanemax take columns in "
                                       "multiples of %u, not %u",
                                       x->columns, cols));
    Type out = node(T, arg.a->kind, e, &arg);
    out.a->form = WS_ARRAY_REDUCTION;
    out.a->cols = lanes ? x->quad : 1;
    return out;
}

/* cumsum(x, exclusive, reverse): of the columns that x has by itself. */
static Type scan(Typing *T, const WsExpr *e)
{
    Type arg[3];
    const WsTargetMatrix *x = &T->E->hw->matrix;
    if (!types_of_args(T, e, arg))
        return bad;
    for (guint i = 1; i < e->n_args; i++)
        if (e->arg[i]->op != WS_EXPR_INT || e->arg[i]->i < 0 || e->arg[i]->i > 1)
            return fail(T, "cumsum(x, exclusive, reverse) takes constants, 0 or 1");
    if (!is_number(arg[0].a->kind))
        return fail(T, "a running sum takes numbers");
    if (arg[0].a->cols == 0 || x->columns == 0 || arg[0].a->cols % x->columns != 0)
        return fail(T, ws_arena_printf(T->E->arena, "cumsum takes columns in multiples of %u",
                                       MAX(x->columns, 1)));
    Type out = node(T, arg[0].a->kind, e, arg);
    if (out.a)
        out.a->form = WS_ARRAY_SCAN;
    out.uniform = FALSE;
    return out;
}

/* exp2(x, n, of): which elements take the polynomial is settled when code is made. */
static gboolean exp2_share(Typing *T, const WsExpr *e)
{
    if (e->n_args == 1)
        return TRUE;
    gboolean constant = e->n_args == 3 && e->arg[1]->op == WS_EXPR_INT &&
                        e->arg[2]->op == WS_EXPR_INT && e->arg[1]->i >= 0 &&
                        e->arg[1]->i <= e->arg[2]->i && e->arg[2]->i >= 1 && e->arg[2]->i <= 64;
    if (!constant)
        fail(T, "exp2(x, n, of) takes constants, 0 <= n <= of <= 64");
    return constant;
}

static Type absolute(Typing *T, const WsExpr *e)
{
    Type arg = type_of(T, e->arg[0]);
    if (!arg.a)
        return bad;
    if (!is_number(arg.a->kind))
        return fail(T, "abs takes a number");
    Type out = node(T, arg.a->kind, e, &arg);
    out.dtype = arg.dtype; /* as narrow as its operand */
    out.converted = arg.converted;
    return out;
}

static Type of_real(Typing *T, const WsExpr *e)
{
    Type arg[3];
    if (!types_of_args(T, e, arg))
        return bad;
    WsMathKind kind = arg[0].a->kind;
    if (kind == WS_MATH_INT || kind == WS_MATH_BOOL)
        return fail(T, ws_arena_printf(T->E->arena, "a float is needed, not %s", kind_text(kind)));
    return node(T, e->func == WS_FUNC_BITS ? WS_MATH_INT : WS_MATH_REAL, e, arg);
}

/* Bits of i32, in two's complement. */
static Type of_bits(Typing *T, const WsExpr *e, WsMathKind kind)
{
    Type arg[2];
    if (!types_of_args(T, e, arg))
        return bad;
    for (guint i = 0; i < e->n_args; i++) {
        WsMathKind k = arg[i].a->kind;
        if (k == WS_MATH_REAL || k == WS_MATH_BOOL)
            return fail_at(
                T, e->arg[i],
                ws_arena_printf(T->E->arena, "an integer is needed, not %s", kind_text(k)));
    }
    return holds_literals(T, e, arg) ? node(T, kind, e, arg) : bad;
}

static Type call(Typing *T, const WsExpr *e)
{
    static const WsDtype to[WS_FUNC_COUNT] = {
        [WS_FUNC_F32] = WS_DTYPE_F32,   [WS_FUNC_BF16] = WS_DTYPE_BF16,
        [WS_FUNC_F16] = WS_DTYPE_F16,   [WS_FUNC_TF32] = WS_DTYPE_TF32,
        [WS_FUNC_E4M3] = WS_DTYPE_E4M3, [WS_FUNC_E5M2] = WS_DTYPE_E5M2,
        [WS_FUNC_I32] = WS_DTYPE_I32,   [WS_FUNC_U8] = WS_DTYPE_U8,
        [WS_FUNC_I8] = WS_DTYPE_I8,
    };
    switch (e->func) {
    case WS_FUNC_SELECT:
        return select_type(T, e);
    case WS_FUNC_MIN:
    case WS_FUNC_MAX:
    case WS_FUNC_CDIV:
        return fold_type(T, e);
    case WS_FUNC_ABS:
        return absolute(T, e);
    case WS_FUNC_POW2FLOOR: /* of run names alone */
        return T->op ? fail(T, "this function does not belong in a statement") : fold_type(T, e);
    case WS_FUNC_EXP2:
        if (!exp2_share(T, e))
            return bad;
        /* fall through */
    case WS_FUNC_LOG2:
    case WS_FUNC_EXP:
    case WS_FUNC_LN:
    case WS_FUNC_RCP:
    case WS_FUNC_ELEMENTARY:
    case WS_FUNC_TANH:
    case WS_FUNC_BITS:
        return of_real(T, e);
    case WS_FUNC_FROM_BITS:
        return of_bits(T, e, WS_MATH_REAL);
    case WS_FUNC_ROWMAX:
    case WS_FUNC_ROWSUM:
        return reduce(T, e, FALSE);
    case WS_FUNC_LANEMAX:
    case WS_FUNC_LANESUM:
        return reduce(T, e, TRUE);
    case WS_FUNC_CUMSUM:
        return scan(T, e);
    case WS_FUNC_CONVERSION:
        return convert(T, e, to[e->func]);
    case WS_FUNC_OF_BITS:
        return of_bits(T, e, WS_MATH_INT);
    case WS_FUNC_SUM:
    case WS_FUNC_COUNT:
    default:
        return fail(T, "this function does not belong in a statement");
    }
}

static Type type_of_kind(Typing *T, const WsExpr *e)
{
    switch (e->op) {
    case WS_EXPR_INT:
        return leaf(T, WS_ARRAY_UNIFORM, WS_MATH_LITERAL, e);
    case WS_EXPR_REAL:
        return leaf(T, WS_ARRAY_NUMBER, WS_MATH_REAL, e);
    case WS_EXPR_TEXT_BOOL:
        return leaf(T, WS_ARRAY_UNIFORM, WS_MATH_BOOL, e);
    case WS_EXPR_NAME:
        return name_type(T, e);
    case WS_EXPR_VAR:
        return var_type(T, e);
    case WS_EXPR_NEG: {
        Type arg = type_of(T, e->arg[0]);
        if (!arg.a)
            return bad;
        return is_number(arg.a->kind) ? node(T, arg.a->kind, e, &arg)
                                      : fail(T, "a condition has no sign");
    }
    case WS_EXPR_NOT:
    case WS_EXPR_AND:
    case WS_EXPR_OR:
        return logic(T, e);
    case WS_EXPR_ARITHMETIC:
        return arithmetic(T, e);
    case WS_EXPR_COMPARISON:
        return comparison(T, e);
    case WS_EXPR_CALL:
        return call(T, e);
    case WS_EXPR_INDEX:
    case WS_EXPR_TOTAL:
    default:
        return fail(T, "this does not belong in a statement");
    }
}

/* What is uniform as a whole is one node. */
static Type type_of(Typing *T, const WsExpr *e)
{
    const WsExpr *outer = T->here;
    T->here = e;
    Type out = type_of_kind(T, e);
    T->here = outer;
    if (out.a && out.uniform && out.a->form == WS_ARRAY_OPERATION) {
        WsMathKind kind = ws_typing_has_var(e) ? WS_MATH_INT : WS_MATH_LITERAL;
        out = leaf(T, WS_ARRAY_UNIFORM, out.a->kind == WS_MATH_BOOL ? WS_MATH_BOOL : kind, e);
    }
    return out;
}

static void assign(Typing *T, const WsRegValue *v, Type t)
{
    WsArena *arena = T->E->arena;
    guint rows, cols;
    if (!t.a)
        return;
    if (!ws_shape_meet(v->rows, t.a->rows, &rows) || rows != v->rows ||
        !ws_shape_meet(v->cols, t.a->cols, &cols) || cols != v->cols) {
        fail(T,
             ws_arena_printf(
                 arena, "%u x %u is assigned to %s of %u x %u: a result may be smaller, not larger",
                 t.a->rows, t.a->cols, v->name, v->rows, v->cols));
        return;
    }
    WsMathKind want = dtype_kind(v->dtype);
    if (t.a->kind != WS_MATH_LITERAL && t.a->kind != want) {
        fail(T, ws_arena_printf(arena, "%s is assigned to %s, which is %s", kind_text(t.a->kind),
                                v->name, ws_dtype_text(v->dtype)));
        return;
    }
    gboolean wide = v->dtype == WS_DTYPE_F32 || v->dtype == WS_DTYPE_I32;
    if (!wide && t.a->kind != WS_MATH_LITERAL && !(t.converted && t.dtype == v->dtype))
        fail(T, ws_arena_printf(arena, "%s is %s: write %s(…)", v->name, ws_dtype_text(v->dtype),
                                ws_dtype_text(v->dtype)));
    ws_shape_resolve(t.a, v->rows, v->cols);
}

/* Keeps what a statement without a target has left; its node, or NULL where it stays open. */
static const WsArray *keep(Typing *T, const char *name, Type t)
{
    WsTemporary *kept = ws_arena_new0(T->E->arena, WsTemporary, 1);
    if (!t.a)
        return NULL;
    *kept = (WsTemporary){ t.a, T->statement, ws_shape_open(t.a), t.dtype, t.converted };
    if (!kept->open)
        ws_shape_resolve(t.a, t.a->rows, t.a->cols);
    g_hash_table_replace(T->temporaries, (gpointer)name, kept);
    return kept->open ? NULL : t.a;
}

static WsAssign statement(Typing *T, const WsStatement *s)
{
    gint value = -1;
    for (guint k = 0; k < T->agent->n_values && value < 0; k++)
        value = strcmp(T->agent->value[k].name, s->name) == 0 ? (gint)k : -1;
    Type t = type_of(T, s->value);
    if (value < 0)
        return (WsAssign){ -1, keep(T, s->name, t) };
    assign(T, &T->agent->value[value], t);
    return (WsAssign){ value, t.a };
}

static const WsArray *unless(Typing *T)
{
    Type t = type_of(T, T->op->skip);
    if (!t.a)
        return NULL;
    if (t.a->kind != WS_MATH_BOOL)
        fail(T, "a condition is needed");
    else if (ws_shape_open(t.a))
        fail(T, "row and col have no extent here: nothing beside them has rows and columns");
    else
        ws_shape_resolve(t.a, t.a->rows, t.a->cols);
    return t.a;
}

void ws_types_bind(WsStepState *S, WsOp *op)
{
    WsElab *E = S->E;
    if (E->errors > 0) /* a name that did not resolve types as anything */
        return;
    g_autoptr(GHashTable) temporaries = g_hash_table_new(g_str_hash, g_str_equal);
    Typing T = { .E = E, .agent = E->agent->out, .op = op, .temporaries = temporaries };
    op->assign = ws_arena_new0(E->arena, WsAssign, op->n_math);
    for (T.statement = 0; T.statement < op->n_math && E->errors == 0; T.statement++) {
        const WsStatement *s = op->math[T.statement];
        op->assign[T.statement] = statement(&T, s);
        const WsValue *item = ws_elab_field_item(S->node, WS_F_keyword, T.statement);
        gboolean is = item && item->kind == WS_VALUE_STATEMENT;
        ws_typing_report(&T, S->id, is ? item->statement : s, s);
    }
    if (op->skip && E->errors == 0) {
        op->unless = unless(&T);
        ws_typing_report(&T, S->id, NULL, NULL);
    }
}

/* NULL where no generator could make code of it. */
const WsArray *ws_types_run_name(WsElab *E, const WsExpr *value)
{
    g_autoptr(GHashTable) none = g_hash_table_new(g_str_hash, g_str_equal);
    Typing T = { .E = E, .temporaries = none };
    Type t = type_of(&T, value);
    return !t.a || ws_shape_open(t.a) ? NULL : t.a;
}
