#include "import/python/dialect/pyread_terms.h"
#include "import/python/loops/pyread_loop.h"
#include "import/python/pyread_object.h"

#include <string.h>

/* `while not x.is_closed:` with x from `reader.wait(…)`: a loop over a pipe, whose number of rounds
 * its writer alone knows (LANGUAGE section 15). The use of the slot that x holds is carried through
 * the rounds like any integer. Where the waits and the release of the last slot stand is judged
 * when all is read (dialect/tle_close.c). */

/* A variable that the source has not. */
static const char *variable_for(PyRead *p, const char *name)
{
    const char *own = ws_source_format(p->r, "%s_use", name);
    while (py_path(p, own))
        own = ws_source_format(p->r, "%s_", own);
    return own;
}

static void run_round(PyRead *p, PyLoop *l)
{
    const Val *use = py_path(p, l->next);
    l->head = use && use->kind == VAL_INT ? use->e : NULL;
    const Val *slot = l->head ? py_tle_slot(p, l->slot, l->head) : py_opaque(p);
    py_assign(p, l->use, slot);
    py_run(p, l->body);
    const Val *next = py_path(p, l->use);
    const gboolean follows = next && next != slot && next->kind == VAL_SLOT && !next->depth &&
                             next->place.object == l->slot->place.object;
    l->left = follows ? next->place.use : NULL;
    py_assign(p, l->next, py_int(p, l->left));
}

typedef struct {
    const char *name;
    gboolean found;
} Index;

static void seek_index(const WsExpr *e, gpointer data)
{
    Index *i = data;
    i->found |= e->op == WS_EXPR_NAME && !strcmp(e->name, i->name);
}

/* It may count rounds that were ever made, which the next wait counts on. */
static gboolean is_of_rounds(const WsExpr *e, const char *loop)
{
    Index i = { .name = loop };
    ws_expr_visit(e, seek_index, &i);
    return i.found;
}

gboolean py_loop_over_pipe(PyRead *p, const WsPyNode *node)
{
    const WsPyNode *c = node->kid[0], *closed = c->kind == WS_PY_UNARY ? c->kid[0] : NULL;
    if (!p->group || !closed || strcmp(c->text, "not") || closed->kind != WS_PY_ATTR ||
        strcmp(closed->text, "is_closed") || closed->kid[0]->kind != WS_PY_NAME)
        return FALSE;
    const char *name = closed->kid[0]->text;
    const Val *slot = py_lookup(p, name);
    if (slot->kind != VAL_SLOT || slot->depth || slot->index < 0 || !slot->place.use)
        return FALSE;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    py_assigned_names(node->kid[1], names);
    for (guint i = names->len; i-- > 0;)
        if (!strcmp(names->pdata[i], name))
            g_ptr_array_remove_index(names, i);
    PyLoop l = { .node = node,
                 .body = node->kid[1],
                 .name = py_group_name(p, "r"),
                 .names = names,
                 .slot = slot,
                 .use = name,
                 .run = run_round };
    l.next = variable_for(p, name);
    g_ptr_array_add(names, (gpointer)l.next);
    py_assign(p, l.next, py_int(p, slot->place.use));
    const guint before = p->to->len;
    if (!py_walk(p, &l))
        return TRUE;
    const Val *behind = py_path(p, l.next);
    WsReadStep *s = NULL;
    for (guint i = before; i < p->to->len; i++)
        if (((WsReadStep *)p->to->pdata[i])->kind == WS_READ_FOR)
            s = p->to->pdata[i];
    g_hash_table_remove(p->frame->vars, l.next);
    py_assign(p, name, py_opaque(p)); /* what the last slot holds nobody wrote */
    if (!s)
        return TRUE;
    if (!l.head || !l.left || is_of_rounds(l.head, l.name))
        py_unread(p, node, "a loop over a pipe whose slots are not followed");
    s->barrier.object = slot->place.object;
    s->barrier.use = l.head ? l.head : ws_x_int(p->r, 0);
    s->barrier.index = ws_x_mod(p->r, s->barrier.use, slot->at);
    s->a.use = slot->place.use;
    s->b.use = l.left;
    s->parity = behind && behind->kind == VAL_INT ? behind->e : NULL;
    return TRUE;
}
