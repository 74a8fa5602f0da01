#include "program/elaborate/elab.h"
#include "program/op.h"

#include <stdarg.h>
#include <string.h>

WsTree *ws_tree_new(WsElab *E, WsTreeKind kind, const char *step)
{
    WsTree *t = ws_arena_new0(E->arena, WsTree, 1);
    t->kind = kind;
    t->step = (char *)step;
    t->index_var = t->total_var = -1;
    return t;
}

void ws_tree_add(WsElab *E, WsTree *parent, WsTree *kid)
{
    gpointer *list = (gpointer *)parent->kid;
    ws_arena_push(E->arena, &list, &parent->n_kids, kid);
    parent->kid = (WsTree **)list;
    if (kid)
        kid->parent = parent;
}

void ws_tree_insert(WsElab *E, WsTree *parent, guint at, WsTree *kid)
{
    ws_tree_add(E, parent, kid);
    memmove(&parent->kid[at + 1], &parent->kid[at], sizeof(WsTree *) * (parent->n_kids - 1 - at));
    parent->kid[at] = kid;
}

guint ws_tree_position(const WsTree *kid)
{
    const WsTree *parent = kid->parent;
    for (guint i = 0; i < parent->n_kids; i++)
        if (parent->kid[i] == kid)
            return i;
    return parent->n_kids;
}

WsTree *ws_tree_op(WsElab *E, WsOp *op)
{
    WsTree *leaf = ws_tree_new(E, WS_TREE_OP, op->step);
    leaf->op = op;
    op->tree = leaf;
    return leaf;
}

WsOp *ws_op_new(WsElab *E, WsOpKind kind, const char *id, const char *step, WsNodeKind step_kind)
{
    WsOpBuild *build = ws_arena_new0(E->arena, WsOpBuild, 1);
    WsOp *op = &build->op;
    build->ranks = E->agent ? E->agent->ranks : (guint16)0xffff;
    build->made = E->ops->len;
    build->strided = E->agent && E->agent->strided_depth > 0;
    op->kind = kind;
    op->id = (char *)id;
    op->step = (char *)step;
    op->step_kind = step_kind;
    op->agent = E->agent ? (gint)E->agent->index : -1;
    const WsOpRow *info = ws_op_row(kind);
    op->proxy = info->proxy;
    op->engine = info->engine;
    op->breadth = info->breadth;
    op->barrier = op->tensor = op->map = op->var = op->line_barrier = -1;
    g_ptr_array_add(E->ops, op);
    return op;
}

/* A key of the step that means nothing where its other side is of that kind is refused, not left
 * out. */
gboolean ws_step_strays(WsStepState *S, const char *where, const WsFieldId *field, guint n)
{
    for (guint i = 0; i < n; i++) {
        if (!ws_node_has(S->node, field[i]))
            continue;
        ws_elab_error(S->E, WS_RULE_S_KEY, S->id, "Remove it.",
                      "a %s step has no \"%s\" where its other side is a %s",
                      ws_node_kind_keyword(S->node->kind), ws_field_name(field[i]), where);
        return TRUE;
    }
    return FALSE;
}

WsOp *ws_step_op(WsStepState *S, WsOpKind kind, const char *suffix)
{
    WsElab *E = S->E;
    const char *id = suffix ? ws_arena_printf(E->arena, "%s#%s", S->id, suffix) : S->id;
    WsOp *op = ws_op_new(E, kind, id, S->id, S->node->kind);
    op->derived = suffix && !g_str_has_prefix(suffix, "box");
    WS_BUILD(op)->list = S->list->number;
    ws_tree_add(E, S->seq, ws_tree_op(E, op));
    return op;
}

void ws_op_label(WsElab *E, WsOp *op, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    op->label = ws_arena_strdup(E->arena, text);
}

void ws_op_access(WsElab *E, WsOp *op, const WsAccess *access)
{
    WsAccess *list = ws_arena_new0(E->arena, WsAccess, op->n_access + 1);
    if (op->n_access)
        memcpy(list, op->access, sizeof(WsAccess) * op->n_access);
    list[op->n_access++] = *access;
    op->access = list;
}
