#include "codegen/wave_roles.h"
#include "program/array.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "program/waves.h"

static void see(const WsArray *node, gpointer data)
{
    WsWaveRoles *r = data;
    r->role[node->index].math = TRUE;
}

static void join(WsWaveRoles *r, guint x, guint y)
{
    const guint from = r->role[y].klass, to = r->role[x].klass;
    for (guint i = 0; i < r->n; i++)
        if (r->role[i].klass == from)
            r->role[i].klass = to;
}

static void look(WsWaveRoles *r, const WsOp *op)
{
    if (op->mma && op->n_value == 3) {
        r->role[op->value[0].value].sum = TRUE;
        r->role[op->value[1].value].a = TRUE;
        r->role[op->value[2].value].b = TRUE;
        join(r, op->value[1].value, op->value[2].value);
    }
    for (guint i = 0; i < op->n_math; i++) {
        const WsAssign *s = &op->assign[i];
        if (s->value >= 0)
            r->role[s->value].math = TRUE;
        if (s->array)
            ws_array_visit(s->array, see, r);
    }
}

WsWaveRoles ws_wave_roles(const WsProgram *p)
{
    WsWaveRoles r = { .n = p->agent[0].n_values };
    r.role = g_new0(WsWaveRole, r.n + 1);
    for (guint i = 0; i < r.n; i++)
        r.role[i].klass = i;
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->agent == 0)
            look(&r, p->op[i]);
    ws_waves_grid(p, &r.waves_m, &r.waves_n);
    return r;
}

void ws_wave_roles_clear(WsWaveRoles *r)
{
    g_clear_pointer(&r->role, g_free);
}

gboolean ws_wave_by_statements(const WsWaveRoles *r, guint klass)
{
    for (guint i = 0; i < r->n; i++)
        if (r->role[i].klass == klass && (r->role[i].math || r->role[i].sum))
            return TRUE;
    return FALSE;
}
