#include "program/elaborate/elab.h"

#include <string.h>

/* Types of array statements (LANGUAGE section 10): kinds, shapes, broadcasting, conversions. */

typedef enum { KIND_LITERAL, KIND_INT, KIND_REAL, KIND_BOOL, KIND_BAD } Kind;

/* An extent of 0 fits any (row, col: they take the extents of what they meet). */
typedef struct {
    Kind kind;
    guint rows, cols;
    WsDtype dtype; /* of a conversion at the root */
    gboolean converted;
} Type;

typedef struct {
    WsStepState *S;
    const WsOp *op;
    GHashTable *temporaries; /* name -> Type* */
    const WsExpr *here;      /* being typed */
    const WsExpr *where;     /* of the problem */
    const char *problem;     /* first one, arena */
} Typing;

static const Type bad = { .kind = KIND_BAD };

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

static const char *kind_text(Kind kind)
{
    static const char *const text[] = { "a literal", "an integer", "a float", "a condition", "?" };
    return text[kind];
}

static gboolean meet_extent(guint a, guint b, guint *out)
{
    if (a == b || b == 1 || (b == 0 && a != 1)) {
        *out = a;
        return TRUE;
    }
    if (a <= 1) { /* 0 meets a number, or 1 meets anything */
        *out = b;
        return TRUE;
    }
    return FALSE;
}

/* Shape of two operands; kind and conversion are the caller's. */
static Type broadcast(Typing *T, Type a, Type b)
{
    Type out = { .kind = KIND_LITERAL };
    if (a.kind == KIND_BAD || b.kind == KIND_BAD)
        return bad;
    if (!meet_extent(a.rows, b.rows, &out.rows) || !meet_extent(a.cols, b.cols, &out.cols))
        return fail(
            T, ws_arena_printf(T->S->E->arena,
                               "%u x %u meets %u x %u: extents are equal, or one of the two is 1",
                               a.rows, a.cols, b.rows, b.cols));
    return out;
}

static gboolean is_number(Kind k)
{
    return k == KIND_LITERAL || k == KIND_INT || k == KIND_REAL;
}

/* Kind of two numbers together; KIND_BAD if one is a condition. */
static Kind common(Kind a, Kind b)
{
    if (!is_number(a) || !is_number(b))
        return KIND_BAD;
    if (a == KIND_REAL || b == KIND_REAL)
        return KIND_REAL;
    return a == KIND_INT || b == KIND_INT ? KIND_INT : KIND_LITERAL;
}

static Type type_of(Typing *T, const WsExpr *e);

static Kind dtype_kind(WsDtype t)
{
    return t == WS_DTYPE_I32 || t == WS_DTYPE_I8 || t == WS_DTYPE_U8 ? KIND_INT : KIND_REAL;
}

static Type name_type(Typing *T, const WsExpr *e)
{
    WsElab *E = T->S->E;
    const Type *t = g_hash_table_lookup(T->temporaries, e->name);
    if (t)
        return *t;
    const WsAgent *a = E->agent->out;
    for (guint i = 0; i < a->n_values; i++)
        if (strcmp(a->value[i].name, e->name) == 0)
            return (Type){ .kind = dtype_kind(a->value[i].dtype),
                           .rows = a->value[i].rows,
                           .cols = a->value[i].cols };
    return fail(T, ws_arena_printf(E->arena, "%s is used before it is assigned", e->name));
}

static Type var_type(Typing *T, const WsExpr *e)
{
    const WsVar *v = &g_array_index(T->S->E->vars, WsVar, e->var);
    if (v->kind == WS_VAR_ROW)
        return (Type){ .kind = KIND_INT, .rows = 0, .cols = 1 };
    if (v->kind == WS_VAR_COL)
        return (Type){ .kind = KIND_INT, .rows = 1, .cols = 0 };
    return (Type){ .kind = v->real ? KIND_REAL : KIND_INT, .rows = 1, .cols = 1 };
}

static Type arithmetic(Typing *T, const WsExpr *e)
{
    Type a = type_of(T, e->arg[0]), b = type_of(T, e->arg[1]), out = broadcast(T, a, b);
    if (out.kind == KIND_BAD)
        return out;
    out.kind = common(a.kind, b.kind);
    if (out.kind == KIND_BAD)
        return fail_at(T, e->arg[a.kind == KIND_BOOL ? 0 : 1],
                       "arithmetic takes numbers, not conditions");
    if (e->op == WS_EXPR_MOD && out.kind == KIND_REAL)
        return fail(T, "% takes integers");
    return out;
}

static Type comparison(Typing *T, const WsExpr *e)
{
    Type a = type_of(T, e->arg[0]), b = type_of(T, e->arg[1]), out = broadcast(T, a, b);
    if (out.kind == KIND_BAD)
        return out;
    if (common(a.kind, b.kind) == KIND_BAD)
        return fail_at(T, e->arg[a.kind == KIND_BOOL ? 0 : 1], "a comparison takes numbers");
    out.kind = KIND_BOOL;
    return out;
}

static Type logic(Typing *T, const WsExpr *e)
{
    Type out = type_of(T, e->arg[0]);
    if (out.kind != KIND_BAD && out.kind != KIND_BOOL)
        return fail(T, ws_arena_printf(T->S->E->arena, "a condition is needed, not %s",
                                       kind_text(out.kind)));
    if (e->n_args < 2)
        return out;
    Type b = type_of(T, e->arg[1]);
    if (b.kind != KIND_BAD && b.kind != KIND_BOOL)
        return fail(
            T, ws_arena_printf(T->S->E->arena, "a condition is needed, not %s", kind_text(b.kind)));
    out = broadcast(T, out, b);
    if (out.kind != KIND_BAD)
        out.kind = KIND_BOOL;
    return out;
}

static Type select_type(Typing *T, const WsExpr *e)
{
    Type c = type_of(T, e->arg[0]), x = type_of(T, e->arg[1]), y = type_of(T, e->arg[2]);
    if (c.kind == KIND_BAD || x.kind == KIND_BAD || y.kind == KIND_BAD)
        return bad;
    if (c.kind != KIND_BOOL)
        return fail_at(T, e->arg[0],
                       ws_arena_printf(T->S->E->arena, "select takes a condition first, not %s",
                                       kind_text(c.kind)));
    if ((x.kind == KIND_BOOL) != (y.kind == KIND_BOOL))
        return fail(T, "the two values of select are of different kinds");
    Type out = broadcast(T, broadcast(T, x, y), c);
    if (out.kind != KIND_BAD)
        out.kind = x.kind == KIND_BOOL ? KIND_BOOL : common(x.kind, y.kind);
    return out;
}

static Type fold_type(Typing *T, const WsExpr *e) /* min, max, cdiv */
{
    Type out = type_of(T, e->arg[0]);
    for (guint i = 1; i < e->n_args && out.kind != KIND_BAD; i++) {
        Type b = type_of(T, e->arg[i]), both = broadcast(T, out, b);
        if (both.kind == KIND_BAD)
            return bad;
        both.kind = common(out.kind, b.kind);
        if (both.kind == KIND_BAD)
            return fail(T, "min and max take numbers");
        out = both;
    }
    return out;
}

static Type convert(Typing *T, const WsExpr *e, WsDtype dtype)
{
    Type out = type_of(T, e->arg[0]);
    if (out.kind == KIND_BAD)
        return out;
    if (out.kind == KIND_BOOL)
        return fail(T, "a condition has no conversion: write select(c, 1, 0)");
    out.kind = dtype_kind(dtype);
    out.dtype = dtype;
    out.converted = TRUE;
    return out;
}

static Type reduce(Typing *T, const WsExpr *e, gboolean lanes)
{
    Type out = type_of(T, e->arg[0]);
    if (out.kind == KIND_BAD)
        return out;
    if (!is_number(out.kind))
        return fail(T, "a reduction takes numbers");
    const WsTargetMatrix *x = &T->S->E->hw->matrix;
    if (lanes && (x->columns == 0 || out.cols % x->columns != 0))
        return fail(T, ws_arena_printf(T->S->E->arena,
                                       "lanesum and lanemax take columns in "
                                       "multiples of %u, not %u",
                                       x->columns, out.cols));
    out.cols = lanes ? x->quad : 1;
    out.converted = FALSE;
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

static Type call(Typing *T, const WsExpr *e)
{
    switch (e->func) {
    case WS_FUNC_SELECT:
        return select_type(T, e);
    case WS_FUNC_MIN:
    case WS_FUNC_MAX:
    case WS_FUNC_CDIV:
        return fold_type(T, e);
    case WS_FUNC_ABS: {
        Type out = type_of(T, e->arg[0]);
        return out.kind == KIND_BOOL ? fail(T, "abs takes a number") : out;
    }
    case WS_FUNC_EXP2:
        if (!exp2_share(T, e))
            return bad;
        /* fall through */
    case WS_FUNC_LOG2:
    case WS_FUNC_EXP:
    case WS_FUNC_LN:
    case WS_FUNC_RCP:
    case WS_FUNC_SQRT:
    case WS_FUNC_TANH: {
        Type out = type_of(T, e->arg[0]);
        if (out.kind == KIND_INT || out.kind == KIND_BOOL)
            return fail(T, ws_arena_printf(T->S->E->arena, "a float is needed, not %s",
                                           kind_text(out.kind)));
        out.kind = out.kind == KIND_BAD ? KIND_BAD : KIND_REAL;
        out.converted = FALSE;
        return out;
    }
    case WS_FUNC_ROWMAX:
    case WS_FUNC_ROWSUM:
        return reduce(T, e, FALSE);
    case WS_FUNC_LANEMAX:
    case WS_FUNC_LANESUM:
        return reduce(T, e, TRUE);
    case WS_FUNC_F32:
        return convert(T, e, WS_DTYPE_F32);
    case WS_FUNC_BF16:
        return convert(T, e, WS_DTYPE_BF16);
    case WS_FUNC_F16:
        return convert(T, e, WS_DTYPE_F16);
    case WS_FUNC_TF32:
        return convert(T, e, WS_DTYPE_TF32);
    case WS_FUNC_E4M3:
        return convert(T, e, WS_DTYPE_E4M3);
    case WS_FUNC_E5M2:
        return convert(T, e, WS_DTYPE_E5M2);
    case WS_FUNC_I32:
        return convert(T, e, WS_DTYPE_I32);
    case WS_FUNC_U8:
        return convert(T, e, WS_DTYPE_U8);
    case WS_FUNC_I8:
        return convert(T, e, WS_DTYPE_I8);
    default:
        return fail(T, "this function does not belong into a statement");
    }
}

static Type type_of_kind(Typing *T, const WsExpr *e)
{
    switch (e->op) {
    case WS_EXPR_INT:
        return (Type){ .kind = KIND_LITERAL, .rows = 1, .cols = 1 };
    case WS_EXPR_REAL:
        return (Type){ .kind = KIND_REAL, .rows = 1, .cols = 1 };
    case WS_EXPR_TEXT_BOOL:
        return (Type){ .kind = KIND_BOOL, .rows = 1, .cols = 1 };
    case WS_EXPR_NAME:
        return name_type(T, e);
    case WS_EXPR_VAR:
        return var_type(T, e);
    case WS_EXPR_NEG: {
        Type out = type_of(T, e->arg[0]);
        out.converted = FALSE;
        return out.kind == KIND_BOOL ? fail(T, "a condition has no sign") : out;
    }
    case WS_EXPR_NOT:
    case WS_EXPR_AND:
    case WS_EXPR_OR:
        return logic(T, e);
    case WS_EXPR_ADD:
    case WS_EXPR_SUB:
    case WS_EXPR_MUL:
    case WS_EXPR_DIV:
    case WS_EXPR_MOD:
        return arithmetic(T, e);
    case WS_EXPR_LT:
    case WS_EXPR_LE:
    case WS_EXPR_GT:
    case WS_EXPR_GE:
    case WS_EXPR_EQ:
    case WS_EXPR_NE:
        return comparison(T, e);
    case WS_EXPR_CALL:
        return call(T, e);
    default:
        return fail(T, "this does not belong into a statement");
    }
}

static Type type_of(Typing *T, const WsExpr *e)
{
    const WsExpr *outer = T->here;
    T->here = e;
    Type out = type_of_kind(T, e);
    T->here = outer;
    return out;
}

static void assign(Typing *T, const WsRegValue *v, Type t)
{
    WsArena *arena = T->S->E->arena;
    guint rows, cols;
    if (t.kind == KIND_BAD)
        return;
    if (!meet_extent(v->rows, t.rows, &rows) || rows != v->rows ||
        !meet_extent(v->cols, t.cols, &cols) || cols != v->cols) {
        fail(T,
             ws_arena_printf(
                 arena, "%u x %u is assigned to %s of %u x %u: a result may be smaller, not larger",
                 t.rows, t.cols, v->name, v->rows, v->cols));
        return;
    }
    Kind want = dtype_kind(v->dtype);
    if (t.kind != KIND_LITERAL && t.kind != want) {
        fail(T, ws_arena_printf(arena, "%s is assigned to %s, which is %s", kind_text(t.kind),
                                v->name, ws_dtype_text(v->dtype)));
        return;
    }
    gboolean wide = v->dtype == WS_DTYPE_F32 || v->dtype == WS_DTYPE_I32;
    if (!wide && t.kind != KIND_LITERAL && !(t.converted && t.dtype == v->dtype))
        fail(T, ws_arena_printf(arena, "%s is %s: write %s(…)", v->name, ws_dtype_text(v->dtype),
                                ws_dtype_text(v->dtype)));
}

/* The part of `written` that stands where `part` stands in `bound`, its copy with bound names. */
static const WsExpr *twin(const WsExpr *written, const WsExpr *bound, const WsExpr *part)
{
    if (bound == part)
        return written;
    const WsExpr *found = NULL;
    for (guint i = 0; i < bound->n_args && i < written->n_args && !found; i++)
        found = twin(written->arg[i], bound->arg[i], part);
    return found;
}

/* `written`: as the author wrote it, NULL for `unless`. */
static void report(Typing *T, const WsStatement *written, const WsStatement *bound)
{
    WsElab *E = T->S->E;
    glong character = 0;
    if (T->problem && !written)
        ws_elab_error(E, WS_RULE_T_STATEMENT, T->S->id, NULL, "unless: %s", T->problem);
    if (T->problem && written) {
        const WsExpr *part = T->where ? twin(written->value, bound->value, T->where) : NULL;
        g_autofree char *text = ws_statement_print_at(written, part, &character);
        g_autofree char *at = part ? ws_expr_print(part) : g_strdup(written->name);
        ws_elab_error(E, WS_RULE_T_STATEMENT, T->S->id, NULL, "%s: character %ld, %s: %s", text,
                      MAX(character, 1), at, T->problem);
    }
    T->problem = NULL;
    T->where = NULL;
}

void ws_types_check(WsStepState *S, const WsOp *op)
{
    WsElab *E = S->E;
    if (E->errors > 0) /* a name that did not resolve types as anything */
        return;
    Typing T = { .S = S, .op = op, .temporaries = g_hash_table_new(g_str_hash, g_str_equal) };
    const WsAgent *a = E->agent->out;
    for (guint i = 0; i < op->n_math; i++) {
        const WsStatement *s = op->math[i];
        const WsRegValue *target = NULL;
        for (guint k = 0; k < a->n_values; k++)
            if (strcmp(a->value[k].name, s->name) == 0)
                target = &a->value[k];
        Type t = type_of(&T, s->value);
        if (target) {
            assign(&T, target, t);
        } else {
            Type *kept = ws_arena_new0(E->arena, Type, 1);
            *kept = t;
            g_hash_table_replace(T.temporaries, s->name, kept);
        }
        if (T.problem) {
            const WsValue *item = ws_elab_field_item(S->node, WS_F_keyword, i);
            gboolean is = item && item->kind == WS_VALUE_STATEMENT;
            report(&T, is ? item->statement : s, s);
            break;
        }
    }
    if (op->skip && E->errors == 0) {
        Type t = type_of(&T, op->skip);
        if (t.kind != KIND_BOOL && t.kind != KIND_BAD)
            fail(&T, "a condition is needed");
        report(&T, NULL, NULL);
    }
    g_hash_table_destroy(T.temporaries);
}
