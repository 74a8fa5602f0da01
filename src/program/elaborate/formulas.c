/* Binds and types the reference: statements become the nodes of program/formula.h. What LANGUAGE
 * section 5 does not give a meaning to is refused by name; the first problem of a statement, in
 * reading order, is told. */
#include "program/elaborate/formulas.h"

#include "program/program.h"

/* What the names of a statement say, before its value is read. */
static void judge_names(WsBinder *B, const WsStatement *s)
{
    const WsProgram *p = B->p;
    const gint tensor = ws_program_find_tensor(p, s->name);
    if (tensor >= 0 && p->tensor[tensor].access == WS_ACCESS_READ)
        ws_bind_fail(B, ws_arena_phrase(
                            B->arena, "\"%s\" is an input: a statement cannot define it", s->name));
    for (guint i = B->statement + 1; i < p->n_reference && !B->d->problem; i++) {
        if (strcmp(p->reference[i].statement->name, s->name) != 0)
            continue;
        ws_bind_fail(B, ws_arena_phrase(B->arena, "\"%s\" is defined twice", s->name));
        B->d->problem_at = i;
    }
    if (s->n_index > WS_FORMULA_INDICES)
        ws_bind_fail(B, ws_arena_phrase(B->arena, "more than %u indices", WS_FORMULA_INDICES));
    const guint of_device = p->mesh ? 1 : 0; /* the first index says of which device */
    if (tensor >= 0 && s->n_index != p->tensor[tensor].rank + of_device)
        ws_bind_fail(B, ws_arena_phrase(B->arena,
                                        of_device
                                            ? "%s has %u dimensions on each device, the "
                                              "statement %u indices, the first of them the device"
                                            : "%s has %u dimensions, the statement %u indices",
                                        s->name, p->tensor[tensor].rank, s->n_index));
    for (guint i = 0; i < s->n_index; i++) {
        if (ws_bind_taken(B, s->index[i]))
            ws_bind_fail(
                B, ws_arena_phrase(B->arena, "index \"%s\" has a meaning already", s->index[i]));
        g_ptr_array_add(B->scope, s->index[i]);
    }
}

static void bind_statement(WsBinder *B, guint statement)
{
    WsDefinition *d = &B->p->reference[statement];
    WsFormula *value = NULL;
    B->d = d;
    B->statement = statement;
    B->named = TRUE;
    B->height = B->depth = 0;
    g_ptr_array_set_size(B->scope, 0);
    judge_names(B, d->statement);
    if (d->tensor < 0 || ws_bind_shape(B, (guint)d->tensor)) {
        B->whole = TRUE;
        value = ws_bind_expr(B, d->statement->value);
    }
    if (d->problem)
        return;
    d->value = value;
    d->kind = MAX(WS_FORMULA_INT, value->kind);
    d->height = B->depth;
}

typedef struct {
    const WsProgram *p;
    guint64 named;
} Mentions;

static void see_mention(const WsExpr *e, gpointer data)
{
    Mentions *m = data;
    const gint at = e->op == WS_EXPR_INDEX ? ws_formula_find(m->p, e->name) : -1;
    if (at >= 0)
        m->named |= (guint64)1 << at;
}

/* Helpers before those who name them; one that its own value leads back to is refused. */
static void bind_in_order(WsBinder *B)
{
    const guint n = B->p->n_reference;
    guint64 direct[WS_FORMULA_STATEMENTS], all[WS_FORMULA_STATEMENTS], done = 0;
    for (guint i = 0; i < n; i++) {
        Mentions m = { B->p, 0 };
        ws_expr_visit(B->p->reference[i].statement->value, see_mention, &m);
        direct[i] = all[i] = m.named;
    }
    for (guint via = 0; via < n; via++)
        for (guint i = 0; i < n; i++)
            if (all[i] >> via & 1)
                all[i] |= all[via];
    for (guint i = 0; i < n; i++) {
        WsDefinition *d = &B->p->reference[i];
        if (!(all[i] >> i & 1))
            continue;
        d->problem = ws_arena_phrase(B->arena, "\"%s\" is defined by itself", d->statement->name);
        d->problem_at = i;
        done |= (guint64)1 << i;
    }
    for (guint bound = 1; bound > 0;) {
        bound = 0;
        for (guint i = 0; i < n; i++) {
            if (done >> i & 1 || direct[i] & ~done)
                continue;
            bind_statement(B, i);
            done |= (guint64)1 << i;
            bound++;
        }
    }
}

gint ws_formula_find(const WsProgram *p, const char *name)
{
    for (guint i = 0; i < p->n_reference; i++)
        if (strcmp(p->reference[i].statement->name, name) == 0)
            return (gint)i;
    return -1;
}

gboolean ws_formula_says_any(const WsProgram *p, guint tensor)
{
    const gint statement = ws_formula_find(p, p->tensor[tensor].name);
    return statement >= 0 && p->reference[statement].any;
}

void ws_formulas_bind(WsProgram *p, WsStatement *const *statement, guint n)
{
    WsBinder B = { .p = p, .arena = p->arena };
    p->n_reference = n;
    p->reference = ws_arena_new0(B.arena, WsDefinition, n);
    p->formula_shape = ws_arena_new0(B.arena, WsFormulaShape, p->n_tensors);
    for (guint i = 0; i < n; i++)
        p->reference[i] = (WsDefinition){ .statement = statement[i],
                                          .tensor = ws_program_find_tensor(p, statement[i]->name) };
    for (guint i = 0; i < n && n > WS_FORMULA_STATEMENTS; i++) {
        p->reference[i].problem =
            ws_arena_phrase(B.arena, "more than %u statements", WS_FORMULA_STATEMENTS);
        p->reference[i].problem_at = G_MAXUINT;
    }
    if (n > WS_FORMULA_STATEMENTS)
        return;
    g_autofree gboolean *shaped = B.shaped = g_new0(gboolean, p->n_tensors + 1);
    g_autofree WsBoundVariable *known = B.variable = g_new0(WsBoundVariable, p->n_vars + 1);
    g_autoptr(GPtrArray) scope = B.scope = g_ptr_array_new();
    bind_in_order(&B);
}

char *ws_formula_problem(const WsProgram *p, guint tensor, gint *at, gboolean *missing)
{
    const gint statement = ws_formula_find(p, p->tensor[tensor].name);
    *at = -1;
    *missing = statement < 0;
    if (statement < 0)
        return ws_phrase("no statement defines output %s", p->tensor[tensor].name);
    const WsDefinition *d = &p->reference[statement];
    *at = d->problem == NULL ? statement : d->problem_at == G_MAXUINT ? -1 : (gint)d->problem_at;
    return g_strdup(d->problem);
}
