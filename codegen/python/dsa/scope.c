#include "codegen/python/dsa/scope.h"

#include "base/phrase.h"
#include "codegen/sizes.h"
#include "model/reserved.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

/* --- names ------------------------------------------------------------------------------------ */

/* What the text says beside the names of the design and Python's own (model/reserved.h). */
static gboolean is_own(const char *name)
{
    static const char *const own[] = { "cores", "kernel", "launch", "tile", "tl", "tle", "triton" };
    for (guint i = 0; i < G_N_ELEMENTS(own); i++)
        if (strcmp(own[i], name) == 0)
            return TRUE;
    return ws_reserved(WS_RESERVED_PYTHON, name);
}

/* `name` is from now on a name of the text. Phrase if it was one before, NULL if not. */
static char *take(GHashTable *taken, const char *name)
{
    if (is_own(name))
        return ws_phrase("the name %s, which the text itself uses", name);
    if (!g_hash_table_add(taken, g_strdup(name)))
        return ws_phrase("two objects of the name %s", name);
    return NULL;
}

/* A name of loops, too: loops behind each other share one. Loops over tiles have none in the
 * text. */
static char *loops(const WsTree *t, GHashTable *taken, const GPtrArray *outer)
{
    g_autoptr(GPtrArray) here = g_ptr_array_new();
    char *why = NULL;
    for (guint i = 0; i < outer->len; i++)
        g_ptr_array_add(here, outer->pdata[i]);
    if (t->kind == WS_TREE_LOOP && t->name && t->over != WS_OVER_TILES) {
        if (is_own(t->name))
            return ws_phrase("the name %s, which the text itself uses", t->name);
        gboolean twice = g_hash_table_contains(taken, t->name);
        for (guint i = 0; i < outer->len; i++)
            twice |= strcmp(outer->pdata[i], t->name) == 0;
        if (twice)
            return ws_phrase("two objects of the name %s", t->name);
        g_ptr_array_add(here, t->name);
    }
    for (guint i = 0; i < t->n_kids && !why; i++)
        why = t->kid[i] ? loops(t->kid[i], taken, here) : NULL;
    return why;
}

char *ws_dsa_clash(const WsProgram *p)
{
    g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) none = g_ptr_array_new();
    char *why = NULL;
    for (guint i = 0; i < p->n_tensors && !why; i++) {
        g_autofree char *pointer = g_strdup_printf("%s_ptr", p->tensor[i].name);
        why = take(taken, pointer);
    }
    for (guint i = 0; i < p->n_buffers && !why; i++)
        why = take(taken, p->buffer[i].name);
    for (guint i = 0; i < p->n_vars && !why; i++)
        if (p->var[i].kind == WS_VAR_SIZE || p->var[i].kind == WS_VAR_RUN ||
            p->var[i].kind == WS_VAR_AXIS)
            why = take(taken, p->var[i].name);
    for (guint a = 0; a < p->n_agents && !why; a++)
        why = loops(p->agent[a].body, taken, none);
    return why;
}

/* --- values ----------------------------------------------------------------------------------- */

const WsTree *ws_dsa_innermost(const WsDsaScope *s)
{
    return s->loop->len ? s->loop->pdata[s->loop->len - 1] : NULL;
}

const WsTree *ws_dsa_open(const WsDsaScope *s, const char *name)
{
    for (guint i = s->loop->len; name && i-- > 0;) {
        const WsTree *t = s->loop->pdata[i];
        if (t->name && strcmp(t->name, name) == 0)
            return t;
    }
    return NULL;
}

static gboolean in_tile(const WsDsaScope *s)
{
    for (guint i = 0; i < s->loop->len; i++)
        if (((const WsTree *)s->loop->pdata[i])->over == WS_OVER_TILES)
            return TRUE;
    return s->p->tiles->launch == WS_LAUNCH_SINGLE;
}

static const WsVar *variable(const WsDsaScope *s, const WsExpr *e)
{
    return e->op == WS_EXPR_VAR && e->var >= 0 && (guint)e->var < s->p->n_vars ? &s->p->var[e->var]
                                                                               : NULL;
}

gboolean ws_dsa_readable(const WsDsaScope *s, const WsExpr *e)
{
    const WsVar *v = variable(s, e);
    const WsTree *loop = v && v->kind == WS_VAR_INDEX ? ws_dsa_open(s, e->name) : NULL;
    if (!v || !e->name || strchr(e->name, '.'))
        return FALSE;
    return v->kind == WS_VAR_SIZE || (v->kind == WS_VAR_RUN && !v->real) ||
           (v->kind == WS_VAR_AXIS && in_tile(s)) || (loop && loop->over == WS_OVER_COUNT);
}

static WsInterval value(const WsDsaScope *s, const WsExpr *e)
{
    const WsVar *v = variable(s, e);
    const WsTree *loop = v && v->kind == WS_VAR_INDEX ? ws_dsa_open(s, e->name) : NULL;
    gint64 by;
    if (v && v->kind == WS_VAR_SIZE)
        return ws_fact_size(s->p, e->var);
    if (v && v->kind == WS_VAR_RUN && !v->real && v->value)
        return ws_dsa_interval(s, v->value);
    if (v && v->kind == WS_VAR_AXIS)
        return ws_interval(0, G_MAXINT32);
    if (loop && loop->over == WS_OVER_TILES)
        return ws_interval(0, G_MAXINT32);
    if (loop && loop->over == WS_OVER_COUNT && ws_expr_is_int(loop->step_by, &by) && by > 0)
        return ws_interval(ws_dsa_interval(s, loop->from).lo, G_MAXINT32);
    return WS_INTERVAL_ANY;
}

gboolean ws_dsa_floors(const WsDsaScope *s, const WsExpr *dividend, const WsExpr *divisor)
{
    return ws_dsa_interval(s, dividend).lo >= 0 && ws_dsa_interval(s, divisor).lo > 0;
}

static WsInterval call(const WsDsaScope *s, const WsExpr *e)
{
    if (e->n_args != 2)
        return WS_INTERVAL_ANY;
    const WsInterval a = ws_dsa_interval(s, e->arg[0]), b = ws_dsa_interval(s, e->arg[1]);
    if (e->func == WS_FUNC_MIN)
        return ws_interval_min(a, b);
    if (e->func == WS_FUNC_MAX)
        return ws_interval_max(a, b);
    /* What is above 0 needs a first part of it at least. */
    return e->func == WS_FUNC_CDIV && a.lo >= 0 && b.lo > 0 ? ws_interval(a.lo > 0, a.hi)
                                                            : WS_INTERVAL_ANY;
}

WsInterval ws_dsa_interval(const WsDsaScope *s, const WsExpr *e)
{
    if (!e)
        return WS_INTERVAL_ANY;
    if (e->op == WS_EXPR_INT)
        return ws_interval(e->i, e->i);
    if (e->op == WS_EXPR_VAR)
        return value(s, e);
    if (e->op == WS_EXPR_CALL)
        return call(s, e);
    if (e->n_args != 2)
        return WS_INTERVAL_ANY;
    const WsInterval a = ws_dsa_interval(s, e->arg[0]), b = ws_dsa_interval(s, e->arg[1]);
    const gboolean floors = a.lo >= 0 && b.lo > 0;
    if (e->op == WS_EXPR_ADD)
        return ws_interval_add(a, b);
    if (e->op == WS_EXPR_SUB)
        return ws_interval_sub(a, b);
    if (e->op == WS_EXPR_MUL)
        return ws_interval_mul(a, b);
    if (e->op == WS_EXPR_DIV && floors)
        return ws_interval_div(a, b, TRUE);
    if (e->op == WS_EXPR_MOD && floors)
        return ws_interval_mod(a, b, TRUE);
    return WS_INTERVAL_ANY;
}

typedef struct {
    const WsTree *loop;
    gboolean found;
} Varies;

static void look(const WsExpr *node, gpointer data)
{
    Varies *v = data;
    if (node->op == WS_EXPR_INT)
        return;
    if (node->op == WS_EXPR_VAR && node->name)
        v->found |= strchr(node->name, '.') != NULL ||
                    (v->loop->name && strcmp(node->name, v->loop->name) == 0) ||
                    v->loop->over == WS_OVER_TILES;
    else
        v->found |= node->n_args == 0;
}

gboolean ws_dsa_varies(const WsExpr *e, const WsTree *loop)
{
    Varies v = { loop, FALSE };
    ws_expr_visit(e, look, &v);
    return v.found;
}
