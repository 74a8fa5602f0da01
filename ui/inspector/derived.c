#include "ui/inspector/derived.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/program.h"

#include <string.h>

/* --- values, each of one object ------------------------------------------------------------------
 */

/* "2", or "2, 3" where they differ. */
static char *joined(const guint *value, guint n)
{
    g_autoptr(GString) s = g_string_new(NULL);
    gboolean same = TRUE;
    for (guint i = 1; i < n; i++)
        same &= value[i] == value[0];
    for (guint i = 0; i < (same ? MIN(n, 1) : n); i++)
        g_string_append_printf(s, "%s%u", i ? ", " : "", value[i]);
    return s->len ? g_strdup(s->str) : NULL;
}

static const WsBarrier *barrier_of(const WsProgram *p, const WsNode *node)
{
    for (guint i = 0; i < p->n_barriers; i++)
        if (!p->barrier[i].derived && !g_strcmp0(p->barrier[i].name, ws_node_name(node)))
            return &p->barrier[i];
    return NULL;
}

static char *arrivals(const WsProgram *p, const WsNode *node, const char *place)
{
    const WsBarrier *b = barrier_of(p, node);
    return b && b->kind == WS_BARRIER_MBARRIER ? joined(b->arrivals_derived, b->array) : NULL;
}

static char *threads(const WsProgram *p, const WsNode *node, const char *place)
{
    const WsBarrier *b = barrier_of(p, node);
    return b && b->kind == WS_BARRIER_NAMED ? joined(b->threads_derived, b->array) : NULL;
}

static char *hardware_id(const WsProgram *p, const WsNode *node, const char *place)
{
    const WsBarrier *b = barrier_of(p, node);
    return b && b->kind == WS_BARRIER_NAMED ? g_strdup_printf("%d", b->hw_id[0]) : NULL;
}

static char *swizzle(const WsProgram *p, const WsNode *node, const char *place)
{
    for (guint i = 0; i < p->n_buffers; i++)
        if (!g_strcmp0(p->buffer[i].name, ws_node_name(node)))
            return g_strdup_printf("%u", p->buffer[i].swizzle);
    return NULL;
}

static char *registers(const WsProgram *p, const WsNode *node, const char *place)
{
    for (guint i = 0; i < p->n_agents; i++)
        if (!g_strcmp0(p->agent[i].path, place))
            return g_strdup_printf("%u", p->agent[i].registers ? p->agent[i].registers
                                                               : p->entry_registers);
    return NULL;
}

static const WsTensor *tensor_of(const WsProgram *p, const WsNode *node)
{
    for (guint i = 0; i < p->n_tensors; i++)
        if (!g_strcmp0(p->tensor[i].name, ws_node_name(node)))
            return &p->tensor[i];
    return NULL;
}

static char *strides(const WsProgram *p, const WsNode *node, const char *place)
{
    const WsTensor *t = tensor_of(p, node);
    g_autoptr(GString) s = g_string_new(NULL);
    for (guint i = 0; t && i < t->rank; i++) {
        g_autofree char *each = ws_expr_print(t->stride[i]);
        g_string_append_printf(s, "%s%s", i ? ", " : "", each);
    }
    return s->len ? g_strdup(s->str) : NULL;
}

static char *tolerance(const WsProgram *p, const WsNode *node, const char *place)
{
    const WsTensor *t = tensor_of(p, node);
    return t ? g_strdup_printf("%g, %g", t->tolerance_abs, t->tolerance_rel) : NULL;
}

/* The expression of the step's first operation that has one. */
static char *expression(const WsProgram *p, const char *place, gsize offset)
{
    for (guint i = 0; i < p->n_ops; i++) {
        const WsExpr *e =
            !g_strcmp0(p->op[i]->step, place) ? G_STRUCT_MEMBER(WsExpr *, p->op[i], offset) : NULL;
        if (e)
            return ws_expr_print(e);
    }
    return NULL;
}

static char *slot(const WsProgram *p, const WsNode *node, const char *place)
{
    return expression(p, place, G_STRUCT_OFFSET(WsOp, slot));
}

static char *phase(const WsProgram *p, const WsNode *node, const char *place)
{
    return expression(p, place, G_STRUCT_OFFSET(WsOp, parity));
}

/* --- which field has which ----------------------------------------------------------------------
 */

static const struct {
    WsNodeKind kind;
    WsFieldId field;
    char *(*text)(const WsProgram *p, const WsNode *node, const char *place);
} derived[] = {
    { WS_NODE_BUFFER, WS_F_swizzle, swizzle },
    { WS_NODE_BARRIER, WS_F_arrivals, arrivals },
    { WS_NODE_BARRIER, WS_F_threads, threads },
    { WS_NODE_BARRIER, WS_F_hw_id, hardware_id },
    { WS_NODE_GROUP, WS_F_registers, registers },
    { WS_NODE_TENSOR, WS_F_strides, strides },
    { WS_NODE_TENSOR, WS_F_tolerance, tolerance },
    { WS_STEP_LOAD, WS_F_slot, slot },
    { WS_STEP_WAIT, WS_F_slot, slot },
    { WS_STEP_WAIT, WS_F_phase, phase },
    { WS_STEP_ARRIVE, WS_F_slot, slot },
    { WS_STEP_EXPECT, WS_F_slot, slot },
};

gboolean ws_derived_is(WsNodeKind kind, WsFieldId field)
{
    for (guint i = 0; i < G_N_ELEMENTS(derived); i++)
        if (derived[i].kind == kind && derived[i].field == field)
            return TRUE;
    return FALSE;
}

char *ws_derived_text(const WsProgram *p, const WsDesign *design, const WsNode *node,
                      WsFieldId field)
{
    const char *id = node ? ws_node_text(node, WS_F_id) : NULL;
    for (guint i = 0; p && node && i < G_N_ELEMENTS(derived); i++)
        if (derived[i].kind == node->kind && derived[i].field == field) {
            g_autofree char *place = id ? g_strdup(id) : ws_design_path(design, node);
            return derived[i].text(p, node, place);
        }
    return NULL;
}
