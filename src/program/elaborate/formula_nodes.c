/* Expressions of the reference as nodes: names, elements, reductions, functions, and their kinds.
 */
#include "program/agree.h"
#include "program/elaborate/formulas.h"
#include "program/parts/mesh.h"
#include "program/program.h"

#define RUN_TERMS 50000u /* of a run name with the others written into it */

WsFormula *ws_bind_fail(WsBinder *B, const char *problem)
{
    if (B->d->problem == NULL) {
        B->d->problem = problem;
        B->d->problem_at = B->statement;
    }
    return NULL;
}

static void count(guint *terms, guint more)
{
    *terms = MIN(*terms + more, WS_FORMULA_TERMS);
}

static WsFormula *node(WsBinder *B, WsFormulaForm form, WsFormulaKind kind, const WsExpr *x,
                       guint n_arg)
{
    WsFormula *f = ws_arena_new0(B->arena, WsFormula, 1);
    *f = (WsFormula){ .form = form, .kind = kind, .x = x, .depth = B->scope->len, .n_arg = n_arg };
    f->arg = ws_arena_new0(B->arena, WsFormula *, MAX(n_arg, 1));
    return f;
}

/* Argument `at` of `f`: `e`. */
static gboolean bind_arg(WsBinder *B, WsFormula *f, guint at, const WsExpr *e)
{
    f->arg[at] = ws_bind_expr(B, e);
    f->costly = f->costly || (f->arg[at] && f->arg[at]->costly);
    return f->arg[at] != NULL;
}

static gboolean bind_args(WsBinder *B, WsFormula *f)
{
    for (guint i = 0; i < f->x->n_args; i++)
        if (!bind_arg(B, f, i, f->x->arg[i]))
            return FALSE;
    return TRUE;
}

/* The widest kind of the arguments from `first` on, at least `least`. */
static WsFormulaKind widest(const WsFormula *f, guint first, WsFormulaKind least)
{
    for (guint i = first; i < f->n_arg; i++)
        least = MAX(least, f->arg[i]->kind);
    return least;
}

/* --- names --------------------------------------------------------------------------------------
 */

static gint index_of(const WsBinder *B, const char *name)
{
    for (guint i = B->scope->len; i-- > 0;)
        if (strcmp(B->scope->pdata[i], name) == 0)
            return (gint)i;
    return -1;
}

/* All that a statement sees of the program by name alone. */
static gint variable_of(const WsProgram *p, const char *name)
{
    for (guint i = 0; i < p->n_vars; i++)
        if ((p->var[i].kind == WS_VAR_SIZE || p->var[i].kind == WS_VAR_SCALAR ||
             p->var[i].kind == WS_VAR_RUN) &&
            strcmp(p->var[i].name, name) == 0)
            return (gint)i;
    return -1;
}

gboolean ws_bind_taken(const WsBinder *B, const char *name)
{
    for (guint i = 0; i < B->p->n_constants; i++)
        if (strcmp(B->p->constant_name[i], name) == 0)
            return TRUE;
    return index_of(B, name) >= 0 || variable_of(B->p, name) >= 0 || strcmp(name, "any") == 0;
}

/* A run name's value knows no index. */
static WsFormula *bind_apart(WsBinder *B, const WsExpr *e)
{
    GPtrArray *scope = B->scope;
    const gboolean named = B->named;
    B->scope = g_ptr_array_new();
    B->named = FALSE;
    WsFormula *f = ws_bind_expr(B, e);
    g_ptr_array_free(B->scope, TRUE);
    B->scope = scope;
    B->named = named;
    return f;
}

static WsFormula *too_high(WsBinder *B)
{
    return ws_bind_fail(B, ws_arena_phrase(B->arena,
                                           "deeper than %u levels when its helpers are written out",
                                           WS_FORMULA_HEIGHT));
}

/* The first mention of a variable. FALSE: its value is no formula. */
static gboolean bind_variable(WsBinder *B, WsBoundVariable *known, gint var, const WsExpr *e)
{
    const WsVar *v = &B->p->var[var];
    const gboolean real = v->kind == WS_VAR_SCALAR || v->real;
    const guint terms = B->d->terms, depth = B->depth;
    WsFormula *f = node(B, WS_FORMULA_VARIABLE, real ? WS_FORMULA_REAL : WS_FORMULA_INT, e, 0);
    f->index = (guint)var;
    f->depth = 0;
    B->d->terms = 0;
    B->depth = B->height;
    if (v->kind == WS_VAR_RUN) {
        f->n_arg = 1;
        f->arg[0] = bind_apart(B, v->value);
        if (f->arg[0] == NULL)
            return FALSE;
    }
    *known = (WsBoundVariable){ f, B->d->terms, B->depth - B->height };
    B->d->terms = terms;
    B->depth = depth;
    return TRUE;
}

static WsFormula *variable(WsBinder *B, gint var, const WsExpr *e)
{
    if (var < 0 || (guint)var >= B->p->n_vars)
        return ws_bind_fail(B,
                            ws_arena_phrase(B->arena, "a variable that the program does not have"));
    const WsVar *v = &B->p->var[var];
    WsBoundVariable *known = &B->variable[var];
    if (v->kind != WS_VAR_SIZE && v->kind != WS_VAR_SCALAR && v->kind != WS_VAR_RUN)
        return ws_bind_fail(
            B, ws_arena_phrase(B->arena,
                               "\"%s\" is neither an index, a size, a scalar nor a run "
                               "name",
                               v->name));
    if (known->formula == NULL && !bind_variable(B, known, var, e))
        return NULL;
    if (B->height + known->height > WS_FORMULA_HEIGHT)
        return too_high(B);
    B->depth = MAX(B->depth, B->height + known->height);
    if (known->terms > RUN_TERMS)
        return ws_bind_fail(
            B, ws_arena_phrase(B->arena,
                               "run name \"%s\" has more than %u terms when the others are "
                               "written out",
                               v->name, RUN_TERMS));
    count(&B->d->terms, known->terms);
    return known->formula;
}

/* `any`: a literal, in the place of the whole element of an output. */
static WsFormula *any(WsBinder *B, const WsExpr *e, gboolean whole)
{
    WsExpr *x = ws_arena_new0(B->arena, WsExpr, 1);
    if (!whole || B->d->tensor < 0)
        return ws_bind_fail(
            B, ws_arena_phrase(B->arena, "`any` is not a number: it is all that a statement "
                                         "says of an element of an output, alone or as a branch "
                                         "of `select`"));
    *x = *e;
    x->op = WS_EXPR_REAL;
    x->r = ws_any();
    B->d->any = TRUE;
    return node(B, WS_FORMULA_NUMBER, WS_FORMULA_REAL, x, 0);
}

static WsFormula *bind_name(WsBinder *B, const WsExpr *e, gboolean whole)
{
    const gint at = index_of(B, e->name);
    if (strcmp(e->name, "any") == 0)
        return any(B, e, whole);
    if (at >= 0) {
        WsFormula *f = node(B, WS_FORMULA_INDEX, WS_FORMULA_INT, e, 0);
        f->index = (guint)at;
        return f;
    }
    const gint var = B->named ? variable_of(B->p, e->name) : -1;
    if (var >= 0 && B->p->mesh && var == B->p->mesh->rank)
        return ws_bind_fail(
            B, ws_arena_phrase(B->arena,
                               "\"%s\" is another number on each device; the first index "
                               "of a tensor says of which device it is",
                               e->name));
    if (var >= 0)
        return variable(B, var, e);
    return ws_bind_fail(
        B, ws_arena_phrase(B->arena,
                           "unknown name \"%s\"; known are the indices of the statement, "
                           "sizes, scalars and run names",
                           e->name));
}

/* --- elements and helpers -----------------------------------------------------------------------
 */

gboolean ws_bind_shape(WsBinder *B, guint tensor)
{
    const WsTensor *t = &B->p->tensor[tensor];
    WsFormulaShape *s = &B->p->formula_shape[tensor];
    const guint outer = B->d->terms;
    for (guint i = 0; i < t->rank && !B->shaped[tensor]; i++) {
        s->extent[i] = bind_apart(B, t->shape[i]);
        s->stride[i] = s->extent[i] ? bind_apart(B, t->stride[i]) : NULL;
        if (s->stride[i] == NULL)
            return FALSE;
    }
    B->shaped[tensor] = TRUE;
    B->d->terms = outer;
    return TRUE;
}

/* What a helper brings with it; they are bound first. FALSE: it has a problem. */
static gboolean have_helper(WsBinder *B, guint statement)
{
    const WsDefinition *helper = &B->p->reference[statement];
    if (helper->problem) {
        B->d->problem = helper->problem;
        B->d->problem_at = helper->problem_at;
        return FALSE;
    }
    if (helper->any) {
        ws_bind_fail(B, ws_arena_phrase(B->arena,
                                        "\"%s\" has elements that may hold anything (`any`): no "
                                        "statement reads them",
                                        helper->statement->name));
        return FALSE;
    }
    if (B->height + helper->height > WS_FORMULA_HEIGHT)
        return too_high(B) != NULL;
    B->depth = MAX(B->depth, B->height + helper->height);
    count(&B->d->terms, helper->terms);
    return TRUE;
}

static WsFormula *element(WsBinder *B, const WsExpr *e)
{
    const gint statement = ws_formula_find(B->p, e->name),
               tensor = ws_program_find_tensor(B->p, e->name);
    if (statement < 0 && tensor < 0)
        return ws_bind_fail(B,
                            ws_arena_phrase(B->arena, "unknown tensor or helper \"%s\"", e->name));
    const WsTensor *t = statement < 0 ? &B->p->tensor[tensor] : NULL;
    const guint rank =
        t ? t->rank + (B->p->mesh ? 1 : 0) : B->p->reference[statement].statement->n_index;
    if (rank != e->n_args)
        return ws_bind_fail(B, ws_arena_phrase(B->arena, "\"%s\" takes %u indices, not %u", e->name,
                                               rank, e->n_args));
    if (t && t->access != WS_ACCESS_READ)
        return ws_bind_fail(
            B, ws_arena_phrase(B->arena,
                               "\"%s\" is written by the kernel, and no statement says "
                               "what: a reference that reads it would judge the kernel by "
                               "itself",
                               e->name));
    WsFormula *f = node(B, t ? WS_FORMULA_ELEMENT : WS_FORMULA_HELPER, WS_FORMULA_REAL, e, rank);
    f->index = (guint)(t ? tensor : statement);
    if (!bind_args(B, f))
        return NULL;
    for (guint i = 0; i < rank; i++)
        if (f->arg[i]->kind == WS_FORMULA_REAL)
            return ws_bind_fail(
                B, ws_arena_phrase(B->arena, "index %u of \"%s\" is not an integer", i, e->name));
    if (t) {
        f->kind = ws_dtype_real(t->dtype) ? WS_FORMULA_REAL : WS_FORMULA_INT;
        return ws_bind_shape(B, f->index) ? f : NULL;
    }
    if (!have_helper(B, f->index))
        return NULL;
    f->kind = B->p->reference[statement].kind;
    f->costly = f->costly || B->p->reference[statement].value->costly;
    return f;
}

/* --- operators and functions --------------------------------------------------------------------
 */

static WsFormula *reduction(WsBinder *B, const WsExpr *e, guint n)
{
    const guint before = B->scope->len;
    WsFormula *f = node(B, WS_FORMULA_REDUCTION, WS_FORMULA_INT, e, n + 1);
    gboolean fine = TRUE;
    for (guint i = 0; i < n && fine; i++) {
        char *name = e->arg[i]->arg[0]->name;
        if (ws_bind_taken(B, name)) {
            ws_bind_fail(
                B, ws_arena_phrase(B->arena,
                                   "%s needs leading arguments of the form index < bound with new "
                                   "index names",
                                   ws_func_text(e->func)));
            fine = FALSE;
            break;
        }
        count(&B->d->terms, 2);
        fine = bind_arg(B, f, i, e->arg[i]->arg[1]);
        if (fine && f->arg[i]->kind == WS_FORMULA_REAL) {
            ws_bind_fail(B,
                         ws_arena_phrase(B->arena, "the bound of \"%s\" is not an integer", name));
            fine = FALSE;
        }
        g_ptr_array_add(B->scope, name);
    }
    fine = fine && bind_arg(B, f, n, e->arg[n]);
    g_ptr_array_set_size(B->scope, (gint)before);
    if (!fine)
        return NULL;
    f->kind = MAX(WS_FORMULA_INT, f->arg[n]->kind);
    f->costly = TRUE;
    return f;
}

/* min(a < b, c): neither a number nor a new index. */
static gboolean half_a_reduction(const WsExpr *e)
{
    if (e->func == WS_FUNC_SUM)
        return TRUE;
    if (e->func != WS_FUNC_MIN && e->func != WS_FUNC_MAX)
        return FALSE;
    for (guint i = 0; i + 1 < e->n_args; i++)
        if (e->arg[i]->op == WS_EXPR_LT)
            return TRUE;
    return FALSE;
}

/* Its arguments are integers, and so is what it returns. */
static gboolean of_integers(WsFunc func)
{
    return func == WS_FUNC_CDIV || func == WS_FUNC_POW2FLOOR || ws_func_of_bits(func);
}

static WsFormula *call(WsBinder *B, const WsExpr *e, gboolean whole)
{
    const guint n = ws_expr_n_bounds(e);
    if (n > 0)
        return reduction(B, e, n);
    if (half_a_reduction(e))
        return ws_bind_fail(
            B, ws_arena_phrase(B->arena,
                               "%s needs leading arguments of the form index < bound with "
                               "new index names",
                               ws_func_text(e->func)));
    if (!strchr(ws_func_where(e->func), 'R') || (e->func == WS_FUNC_EXP2 && e->n_args != 1))
        return ws_bind_fail(
            B, ws_arena_phrase(B->arena, "a function that the reference notation does not have "
                                         "(LANGUAGE.md section 5 lists those that it has)"));
    WsFormula *f = node(B, WS_FORMULA_OPERATION, WS_FORMULA_REAL, e, e->n_args);
    for (guint i = 0; i < e->n_args; i++) {
        B->whole = whole && e->func == WS_FUNC_SELECT && i > 0;
        if (!bind_arg(B, f, i, e->arg[i]))
            return NULL;
    }
    if (e->func == WS_FUNC_SELECT)
        f->kind = widest(f, 1, WS_FORMULA_BOOL);
    else if (e->func == WS_FUNC_MIN || e->func == WS_FUNC_MAX || e->func == WS_FUNC_ABS)
        f->kind = widest(f, 0, WS_FORMULA_INT);
    else if (of_integers(e->func) || e->func == WS_FUNC_BITS || e->func == WS_FUNC_FROM_BITS) {
        if (e->func != WS_FUNC_BITS && widest(f, 0, WS_FORMULA_INT) == WS_FORMULA_REAL)
            return ws_bind_fail(
                B, ws_arena_phrase(B->arena, "%s takes integers", ws_func_text(e->func)));
        f->kind = e->func == WS_FUNC_FROM_BITS ? WS_FORMULA_REAL : WS_FORMULA_INT;
    }
    return f;
}

static WsFormula *operation(WsBinder *B, const WsExpr *e)
{
    WsFormula *f = node(B, WS_FORMULA_OPERATION, WS_FORMULA_BOOL, e, e->n_args);
    if (!bind_args(B, f))
        return NULL;
    if (e->op == WS_EXPR_NEG || (e->op >= WS_EXPR_ADD && e->op <= WS_EXPR_MOD))
        f->kind = widest(f, 0, WS_FORMULA_INT);
    return f;
}

static WsFormula *bind_node(WsBinder *B, const WsExpr *e, gboolean whole)
{
    if (e->op == WS_EXPR_INT)
        return node(B, WS_FORMULA_NUMBER, WS_FORMULA_INT, e, 0);
    if (e->op == WS_EXPR_TEXT_BOOL)
        return node(B, WS_FORMULA_NUMBER, WS_FORMULA_BOOL, e, 0);
    if (e->op == WS_EXPR_REAL)
        return node(B, WS_FORMULA_NUMBER, WS_FORMULA_REAL, e, 0);
    if (e->op == WS_EXPR_NAME)
        return bind_name(B, e, whole);
    if (e->op == WS_EXPR_VAR)
        return variable(B, e->var, e);
    if (e->op == WS_EXPR_INDEX)
        return element(B, e);
    if (e->op == WS_EXPR_CALL)
        return call(B, e, whole);
    if (e->op == WS_EXPR_TOTAL)
        return ws_bind_fail(B,
                            ws_arena_phrase(B->arena, "a name with .total, which only steps have"));
    return operation(B, e);
}

WsFormula *ws_bind_expr(WsBinder *B, const WsExpr *e)
{
    const gboolean whole = B->whole;
    WsFormula *f;
    B->whole = FALSE;
    if (B->d->problem)
        return NULL;
    count(&B->d->terms, 1);
    B->height++;
    B->depth = MAX(B->depth, B->height);
    f = B->height > WS_FORMULA_HEIGHT ? too_high(B) : bind_node(B, e, whole);
    B->height--;
    return f;
}
