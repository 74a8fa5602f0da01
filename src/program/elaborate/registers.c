#include "program/elaborate/elab.h"
#include "program/parts/agent.h"
#include "program/parts/value.h"
#include "program/pressure.h"
#include "program/program.h"
#include "target/target.h"

/* Register plan (LANGUAGE section 9): R0 at entry, setmaxnreg, the pool. */

static gboolean covers(const WsElab *E, const WsAgent *a, guint warp_group)
{
    const guint n = E->hw->group_warps;
    return a->warp0 < n * (warp_group + 1) && a->warp0 + a->warps > n * warp_group;
}

/* Threads of a warp group. */
static guint group_threads(const WsElab *E)
{
    return E->hw->lanes * E->hw->group_warps;
}

static guint value_registers(const WsAgent *a)
{
    guint n = 0;
    for (guint i = 0; i < a->n_values; i++)
        n += a->value[i].registers;
    return n;
}

/* Derived: groups without values get few, or fewer if the others then lack room; the rest equal
 * shares. */
static void derive(WsElab *E, guint pool)
{
    WsProgram *p = E->p;
    const WsTargetRegisters *r = &E->hw->registers;
    guint groups = p->threads / group_threads(E), small = 0, need = 0;
    for (guint w = 0; w < groups; w++) {
        gboolean values = FALSE;
        for (guint a = 0; a < p->n_agents; a++)
            if (covers(E, &p->agent[a], w)) {
                values = values || p->agent[a].n_values > 0;
                need = MAX(need, value_registers(&p->agent[a]) + r->spare);
            }
        small += !values;
    }
    if (small == 0 || small == groups)
        return;
    guint low = r->idle, share = (pool - small * low) / (groups - small) / r->step * r->step;
    if (share < need) {
        low = r->few;
        share = (pool - small * low) / (groups - small) / r->step * r->step;
    }
    share = MIN(share, r->most);
    for (guint a = 0; a < p->n_agents; a++) {
        gboolean values = FALSE;
        for (guint w = 0; w < groups; w++)
            for (guint o = 0; o < p->n_agents; o++)
                if (covers(E, &p->agent[a], w) && covers(E, &p->agent[o], w))
                    values = values || p->agent[o].n_values > 0;
        p->agent[a].registers = values ? share : low;
    }
}

static void check_agent(WsElab *E, const WsAgent *a)
{
    const WsTargetRegisters *r = &E->hw->registers;
    if (a->registers % r->step != 0 || a->registers < r->least || a->registers > r->most)
        ws_elab_note(
            E, WS_RULE_B_REGISTERS, a->path,
            ws_arena_phrase(E->arena, "A multiple of %u in %u..%u.", r->step, r->least, r->most),
            "%s has %u registers per thread", a->name, a->registers);
    guint need = value_registers(a);
    if (need <= a->registers)
        return;
    guint widest = 0;
    for (guint i = 1; i < a->n_values; i++)
        if (a->value[i].registers > a->value[widest].registers)
            widest = i;
    ws_elab_note(E, WS_RULE_B_REGISTERS, a->path,
                 a->registers < r->most ? "Use smaller tiles, or more registers."
                                        : "Use smaller tiles, or share a tile among more warps.",
                 "the values of %s take %u registers per thread, most of them %s (%u), it has %u",
                 a->name, need, a->value[widest].name, a->value[widest].registers, a->registers);
}

static void check_pool(WsElab *E, guint pool)
{
    WsProgram *p = E->p;
    guint sum = 0;
    for (guint w = 0; w < p->threads / group_threads(E); w++) {
        const WsAgent *first = NULL;
        for (guint a = 0; a < p->n_agents; a++) {
            const WsAgent *agent = &p->agent[a];
            if (!covers(E, agent, w))
                continue;
            if (first && first->registers != agent->registers)
                ws_elab_note(E, WS_RULE_B_REGISTERS, agent->path, "Give them equal `registers`.",
                             "%s and %s share a warp group", first->name, agent->name);
            first = first ? first : agent;
        }
        sum += ws_program_group_registers(p, w);
    }
    if (sum > pool)
        ws_elab_note(E, WS_RULE_B_POOL, "groups", "Lower `registers` somewhere.",
                     "the plan takes %u*%u registers, the pool of %u threads holds %u*%u",
                     group_threads(E), sum, p->threads, group_threads(E), pool);
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
    const WsTargetRegisters *r = &E->hw->registers;
    if (p->threads == 0)
        return;
    guint set = 0;
    p->entry_registers =
        MIN(r->file / (p->threads * p->per_sm) / MAX(r->step, 1) * r->step, r->entry);
    guint pool = p->threads / group_threads(E) * p->entry_registers;
    if (!r->moves)
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
