/* Replacing and visiting leaves. */
#include "expr/internal.h"

#include <string.h>

static gboolean is_leaf(const WsExpr *e)
{
    return e->op == WS_EXPR_NAME || e->op == WS_EXPR_TOTAL || e->op == WS_EXPR_VAR ||
           e->op == WS_EXPR_INDEX;
}

/* A new reference, or NULL with `problem` set. */
static WsExpr *map_node(const WsExpr *e, WsExprMap map, gpointer data, GError **problem)
{
    WsExpr *node = NULL;
    if (e->n_args) {
        g_autofree WsExpr **arg = g_new0(WsExpr *, e->n_args);
        gboolean same = TRUE;
        for (guint i = 0; i < e->n_args; i++) {
            arg[i] = map_node(e->arg[i], map, data, problem);
            if (!arg[i]) {
                while (i-- > 0)
                    ws_expr_unref(arg[i]);
                return NULL;
            }
            same = same && arg[i] == e->arg[i];
        }
        if (!same) {
            node = e->op == WS_EXPR_NEG ? ws_expr_op(WS_EXPR_NEG, arg[0], NULL)
                                        : ws_expr_with_args(e, arg);
        } else {
            for (guint i = 0; i < e->n_args; i++)
                ws_expr_unref(arg[i]);
        }
    }
    if (!node)
        node = ws_expr_ref(e);
    if (node->height > WS_EXPR_MAX_HEIGHT) {
        g_set_error(problem, WS_EXPR_ERROR, WS_EXPR_ERROR_DEPTH,
                    "the expression grows beyond %d levels", WS_EXPR_MAX_HEIGHT);
        ws_expr_unref(node);
        return NULL;
    }
    if (!is_leaf(node))
        return node;
    WsExpr *put = map(node, data, problem);
    if (!put && !*problem)
        return node;
    ws_expr_unref(node);
    if (put && *problem)
        g_clear_pointer(&put, ws_expr_unref);
    return put;
}

WsExpr *ws_expr_map(const WsExpr *e, WsExprMap map, gpointer data, GError **error)
{
    GError *problem = NULL;
    WsExpr *result = map_node(e, map, data, &problem);
    if (problem)
        g_propagate_error(error, problem);
    return result;
}

void ws_expr_visit(const WsExpr *e, WsExprVisit visit, gpointer data)
{
    if (!e)
        return;
    visit(e, data);
    for (guint i = 0; i < e->n_args; i++)
        ws_expr_visit(e->arg[i], visit, data);
}

typedef struct {
    const char *name; /* NULL: the variable */
    gint var;
    gboolean found;
} Sought;

static void seek(const WsExpr *e, gpointer data)
{
    Sought *s = data;
    s->found |= s->name != NULL ? e->name != NULL && strcmp(e->name, s->name) == 0
                                : e->op == WS_EXPR_VAR && e->var == s->var;
}

gboolean ws_expr_mentions(const WsExpr *e, const char *name)
{
    Sought s = { .name = name };
    if (e != NULL && name != NULL)
        ws_expr_visit(e, seek, &s);
    return s.found;
}

gboolean ws_expr_mentions_var(const WsExpr *e, gint var)
{
    Sought s = { .var = var };
    if (e != NULL)
        ws_expr_visit(e, seek, &s);
    return s.found;
}
