#include "program/elab.h"

/* Register plan (LANGUAGE section 9): R0 at entry, setmaxnreg, the pool. */

#define FILE_REGISTERS 65536

static gboolean covers(const WsAgent *a, guint warp_group)
{
    return a->warp0 < 4 * (warp_group + 1) && a->warp0 + a->warps > 4 * warp_group;
}

static guint value_registers(const WsAgent *a)
{
    guint n = 0;
    for (guint i = 0; i < a->n_values; i++)
        n += a->value[i].registers;
    return n;
}

/* Derived: groups without values 40, or 24 if the others then lack room; the rest equal shares. */
static void derive(WsElab *E, guint pool)
{
    WsProgram *p = E->p;
    guint groups = p->threads / 128, small = 0, need = 0;
    for (guint w = 0; w < groups; w++) {
        gboolean values = FALSE;
        for (guint a = 0; a < p->n_agents; a++)
            if (covers(&p->agent[a], w)) {
                values = values || p->agent[a].n_values > 0;
                need = MAX(need, value_registers(&p->agent[a]) + 24);
            }
        small += !values;
    }
    if (small == 0 || small == groups)
        return;
    guint low = 40, share = (pool - small * low) / (groups - small) / 8 * 8;
    if (share < need) {
        low = 24;
        share = (pool - small * low) / (groups - small) / 8 * 8;
    }
    share = MIN(share, 256);
    for (guint a = 0; a < p->n_agents; a++) {
        gboolean values = FALSE;
        for (guint w = 0; w < groups; w++)
            for (guint o = 0; o < p->n_agents; o++)
                if (covers(&p->agent[a], w) && covers(&p->agent[o], w))
                    values = values || p->agent[o].n_values > 0;
        p->agent[a].registers = values ? share : low;
    }
}

static void check_agent(WsElab *E, const WsAgent *a)
{
    if (a->registers % 8 != 0 || a->registers < 24 || a->registers > 256)
        ws_elab_note(E, WS_RULE_B_REGISTERS, a->path, "A multiple of 8 in 24..256.",
                     "%s has %u registers per thread", a->name, a->registers);
    guint need = value_registers(a);
    if (need > a->registers)
        ws_elab_note(E, WS_RULE_B_REGISTERS, a->path, "Use smaller tiles, or more registers.",
                     "the values of %s take %u registers per thread, it has %u", a->name, need,
                     a->registers);
}

static void check_pool(WsElab *E, guint pool)
{
    WsProgram *p = E->p;
    guint sum = 0;
    for (guint w = 0; w < p->threads / 128; w++) {
        const WsAgent *first = NULL;
        for (guint a = 0; a < p->n_agents; a++) {
            const WsAgent *agent = &p->agent[a];
            if (!covers(agent, w))
                continue;
            if (first && first->registers != agent->registers)
                ws_elab_note(E, WS_RULE_B_REGISTERS, agent->path, "Give them equal `registers`.",
                             "%s and %s share a warp group", first->name, agent->name);
            first = first ? first : agent;
        }
        sum += first && first->registers ? first->registers : p->entry_registers;
    }
    if (sum > pool)
        ws_elab_note(E, WS_RULE_B_POOL, "groups", "Lower `registers` somewhere.",
                     "the plan takes 128*%u registers, the pool of %u threads holds 128*%u", sum,
                     p->threads, pool);
}

static void setmaxnreg(WsElab *E, WsAgent *a)
{
    if (a->registers == E->p->entry_registers)
        return;
    WsOp *op = ws_op_new(E, WS_OP_SETMAXNREG, ws_arena_printf(E->arena, "%s#registers", a->path),
                         a->path, WS_NODE_GROUP);
    op->agent = (gint)(a - E->p->agent);
    op->derived = TRUE;
    op->n = a->registers;
    op->increase = a->registers > E->p->entry_registers;
    ws_op_label(E, op, "registers %u", a->registers);
    ws_tree_insert(E, a->body, 0, ws_tree_op(E, op));
}

void ws_elab_registers(WsElab *E)
{
    WsProgram *p = E->p;
    if (p->threads == 0)
        return;
    guint set = 0;
    p->entry_registers = MIN(FILE_REGISTERS / p->threads / 8 * 8, 248);
    guint pool = p->threads / 128 * p->entry_registers;
    if (E->gfx)
        return;
    for (guint a = 0; a < p->n_agents; a++)
        set += p->agent[a].registers > 0;
    if (set > 0 && set < p->n_agents)
        ws_elab_note(E, WS_RULE_B_REGISTERS, "groups", "Set it on all groups, or on none.",
                     "some groups set `registers` and others do not");
    if (set == 0)
        derive(E, pool);
    for (guint a = 0; a < p->n_agents; a++) {
        if (p->agent[a].registers == 0)
            continue;
        check_agent(E, &p->agent[a]);
        setmaxnreg(E, &p->agent[a]);
    }
    if (set > 0)
        check_pool(E, pool);
}
