#include "program/elaborate/elab.h"

#include <string.h>

const WsExpr *ws_elab_value_expr(WsElab *E, const WsValue *v)
{
    switch (v->kind) {
    case WS_VALUE_INT:
        return ws_elab_int(E, v->i);
    case WS_VALUE_BOOL:
        return ws_elab_int(E, v->b ? 1 : 0);
    case WS_VALUE_REAL:
        return ws_arena_expr(E->arena, ws_expr_real(v->r));
    case WS_VALUE_EXPR:
        return v->expr;
    case WS_VALUE_TEXT:
        return ws_arena_expr(E->arena, ws_expr_parse(v->text, NULL));
    case WS_VALUE_LIST:
    case WS_VALUE_MAP:
    case WS_VALUE_NODES:
    case WS_VALUE_NODE:
    case WS_VALUE_NONE:
    case WS_VALUE_REF:
    case WS_VALUE_STATEMENT:
    default:
        return NULL;
    }
}

const WsExpr *ws_elab_field_expr(WsElab *E, const WsNode *n, WsFieldId f)
{
    return ws_elab_value_expr(E, ws_node_get(n, f));
}

const char *ws_elab_field_name(WsElab *E, const WsNode *n, WsFieldId f)
{
    const WsValue *v = ws_node_get(n, f);
    if (v->kind == WS_VALUE_TEXT)
        return v->text;
    if (v->kind == WS_VALUE_REF)
        return v->ref->name;
    if (v->kind == WS_VALUE_EXPR && v->expr->op == WS_EXPR_NAME)
        return v->expr->name;
    return NULL;
}

const WsRef *ws_elab_field_ref(WsElab *E, const WsNode *n, WsFieldId f)
{
    const WsValue *v = ws_node_get(n, f);
    if (v->kind == WS_VALUE_REF)
        return v->ref;
    const char *name = ws_elab_field_name(E, n, f);
    return name ? ws_arena_ref(E->arena, ws_ref_parse(name, NULL)) : NULL;
}

guint ws_elab_field_count(const WsNode *n, WsFieldId f)
{
    const WsValue *v = ws_node_get(n, f);
    switch (v->kind) {
    case WS_VALUE_NONE:
        return 0;
    case WS_VALUE_LIST:
    case WS_VALUE_MAP:
    case WS_VALUE_NODES:
        return v->n;
    case WS_VALUE_BOOL:
    case WS_VALUE_EXPR:
    case WS_VALUE_INT:
    case WS_VALUE_NODE:
    case WS_VALUE_REAL:
    case WS_VALUE_REF:
    case WS_VALUE_STATEMENT:
    case WS_VALUE_TEXT:
    default:
        return 1;
    }
}

const WsValue *ws_elab_field_item(const WsNode *n, WsFieldId f, guint i)
{
    const WsValue *v = ws_node_get(n, f);
    return v->kind == WS_VALUE_LIST || v->kind == WS_VALUE_MAP ? &v->item[i] : v;
}

gboolean ws_elab_field_is(WsElab *E, const WsNode *n, WsFieldId f, const char *word)
{
    const char *name = ws_elab_field_name(E, n, f);
    return name && strcmp(name, word) == 0;
}
