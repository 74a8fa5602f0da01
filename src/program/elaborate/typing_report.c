/* Where in a statement a problem of its types stands, as a finding. */
#include "program/elaborate/typing.h"

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

gboolean ws_typing_has_var(const WsExpr *x)
{
    gboolean any = x->op == WS_EXPR_VAR;
    for (guint i = 0; i < x->n_args; i++)
        any = any || ws_typing_has_var(x->arg[i]);
    return any;
}

void ws_typing_report(WsTyping *T, const char *at, const WsStatement *written,
                      const WsStatement *bound)
{
    WsElab *E = T->E;
    glong character = 0;
    if (T->problem && !written)
        ws_elab_error(E, WS_RULE_T_STATEMENT, at, NULL, "unless: %s", T->problem);
    if (T->problem && written) {
        const WsExpr *part = T->where ? twin(written->value, bound->value, T->where) : NULL;
        g_autofree char *text = ws_statement_print_at(written, part, &character);
        g_autofree char *of = part ? ws_expr_print(part) : g_strdup(written->name);
        ws_elab_error(E, WS_RULE_T_STATEMENT, at,
                      T->extents ? "Give both the same extents. No part of a value can be named in "
                                   "`compute`: declare several values of fewer columns instead."
                                 : NULL,
                      "%s: character %ld, %s: %s", text, MAX(character, 1), of, T->problem);
    }
    T->problem = NULL;
    T->extents = FALSE;
    T->where = NULL;
}
