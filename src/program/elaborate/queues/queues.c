/* Which queue of a core takes a step, and the agents that a group becomes. */
#include "program/elaborate/queues/queues.h"

#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/program.h"
#include "target/core.h"

#include <string.h>

enum { EVERYONE = -1, NOBODY = -2 };

/* The buffer's space; -2: the name is of no buffer. */
static gint space_of(WsElab *E, const WsNode *step, WsFieldId field)
{
    const WsRef *ref = ws_node_refv(step, field);
    const WsElabSymbol *symbol = ref ? ws_elab_lookup(E, ref->name) : NULL;
    if (!symbol || symbol->kind != WS_SYMBOL_BUFFER || symbol->index >= E->buffers->len)
        return -2;
    return g_array_index(E->buffers, WsBuffer, symbol->index).space;
}

static const WsBarrier *flag_of(WsElab *E, const WsNode *step)
{
    const WsRef *ref = ws_node_refv(step, WS_F_keyword);
    const WsElabSymbol *symbol = ref ? ws_elab_lookup(E, ref->name) : NULL;
    if (!symbol || symbol->kind != WS_SYMBOL_BARRIER || symbol->index >= E->barriers->len)
        return NULL;
    const WsBarrier *b = &g_array_index(E->barriers, WsBarrier, symbol->index);
    return b->flag ? b : NULL;
}

static gint of_move(WsElab *E, gint from, gint to, char **why)
{
    const WsTargetCore *core = E->hw->core;
    if (from < -1 || to < -1)
        return EVERYONE; /* another name: said where it is looked up */
    const WsTargetMove *move = ws_core_move(core, from, to);
    if (move)
        return (gint)move->unit;
    *why = ws_phrase("no queue of %s moves from %s to %s", E->p->target,
                     ws_core_space_name(core, from), ws_core_space_name(core, to));
    return NOBODY;
}

static gint of_load(WsElab *E, const WsNode *step, char **why)
{
    return of_move(E, WS_CORE_TENSOR, space_of(E, step, WS_F_into), why);
}

static gint of_store(WsElab *E, const WsNode *step, char **why)
{
    return of_move(E, space_of(E, step, WS_F_from), WS_CORE_TENSOR, why);
}

static gint between(WsElab *E, const WsNode *step, char **why)
{
    return of_move(E, space_of(E, step, WS_F_keyword), space_of(E, step, WS_F_into), why);
}

static gint vector(WsElab *E, const WsNode *step, char **why)
{
    return (gint)E->hw->core->vector;
}

static gint cube(WsElab *E, const WsNode *step, char **why)
{
    return (gint)E->hw->core->cube;
}

static gint of_sync(WsElab *E, const WsNode *step, char **why)
{
    const WsRef *ref = ws_node_refv(step, WS_F_keyword);
    const char *name = ref ? ref->name : "";
    if (strcmp(name, "group") == 0 || strcmp(name, "cta") == 0)
        return EVERYONE;
    const gint unit = ws_core_unit(E->hw->core, name);
    if (unit >= 0 && E->hw->core->unit[unit].drawn)
        return unit;
    *why = ws_phrase("%s is no queue whose steps a barrier orders", name);
    return NOBODY;
}

static gint of_flag(WsElab *E, const WsNode *step, char **why)
{
    const WsBarrier *flag = flag_of(E, step);
    if (flag)
        return (gint)(step->kind == WS_STEP_ARRIVE ? flag->from : flag->to);
    const WsRef *ref = ws_node_refv(step, WS_F_keyword);
    *why = ws_phrase("%s is no flag between two queues", ref ? ref->name : "?");
    return NOBODY;
}

/* Steps that one queue takes; all others are control, or the target has not. */
static const struct {
    WsNodeKind kind;
    gint (*queue)(WsElab *E, const WsNode *step, char **why);
} takers[] = {
    { WS_STEP_LOAD, of_load },  { WS_STEP_STORE, of_store }, { WS_STEP_MOVE, between },
    { WS_STEP_VECTOR, vector }, { WS_STEP_MMA, cube },       { WS_STEP_SYNC, of_sync },
    { WS_STEP_WAIT, of_flag },  { WS_STEP_ARRIVE, of_flag },
};

/* The queue, EVERYONE, or NOBODY with the reason. */
static gint queue_of(WsElab *E, const WsNode *step, char **why)
{
    for (guint i = 0; i < G_N_ELEMENTS(takers); i++)
        if (takers[i].kind == step->kind)
            return takers[i].queue(E, step, why);
    return EVERYONE;
}

gboolean ws_queue_takes(WsElab *E, const WsNode *step, const char *at)
{
    if (!E->hw->core)
        return TRUE;
    g_autofree char *why = NULL;
    const gint queue = queue_of(E, step, &why);
    if (queue == NOBODY) {
        if (E->agent->index == 0)
            ws_elab_error(E, WS_RULE_L_QUEUE, at, NULL, "%s", why);
        return FALSE;
    }
    if (queue != EVERYONE)
        return queue == E->agent->out->queue;
    /* what is refused in any case is said once */
    return E->agent->index == 0 || ws_target_has_step(E->hw, ws_node_kind_keyword(step->kind));
}

/* --- agents ----------------------------------------------------------------------------------- */

static void find_queues(WsElab *E, const WsNode *owner, WsFieldId field, gboolean *used)
{
    static const WsFieldId inside[] = { WS_F_do, WS_F_then, WS_F_else };
    for (guint i = 0; i < ws_node_n_children(owner, field); i++) {
        const WsNode *step = ws_node_child(owner, field, i);
        if (ws_node_bool(step, WS_F_muted, FALSE))
            continue;
        g_autofree char *why = NULL;
        const gint queue = queue_of(E, step, &why);
        if (queue >= 0)
            used[queue] = TRUE;
        for (guint k = 0; k < G_N_ELEMENTS(inside); k++)
            find_queues(E, step, inside[k], used);
    }
}

/* Cube and vector work on cores of their own, each with a stream of its own. */
static void one_half(WsElab *E, const char *path, const gboolean *used)
{
    const WsTargetCore *core = E->hw->core;
    gint first = -1;
    for (guint i = 0; i < core->n_units; i++) {
        if (!used[i] || !core->unit[i].half)
            continue;
        if (first >= 0 && strcmp(core->unit[first].half, core->unit[i].half) != 0) {
            ws_elab_error(E, WS_RULE_L_QUEUE, path, "Make two designs of it.",
                          "queue %s is of the %s core, queue %s of the %s core: %s has a stream "
                          "for each of them",
                          core->unit[first].name, core->unit[first].half, core->unit[i].name,
                          core->unit[i].half, E->p->target);
            return;
        }
        first = (gint)i;
    }
}

static void refuse_fields(WsElab *E, const WsNode *node, const char *path)
{
    static const WsFieldId warps[] = { WS_F_registers, WS_F_replicate, WS_F_one_code, WS_F_values };
    for (guint i = 0; i < G_N_ELEMENTS(warps); i++)
        if (ws_node_has(node, warps[i]))
            ws_elab_error(E, WS_RULE_L_QUEUE, path, "Remove it.",
                          "a core of %s has no warps, so a group has no `%s`", E->p->target,
                          ws_field_name(warps[i]));
    gint64 n =
        ws_elab_constant_in(E, ws_elab_field_expr(E, node, WS_F_warps), 1, 64, "warps", path);
    if (n != 1)
        ws_elab_error(E, WS_RULE_L_QUEUE, path, "Set \"warps\": 1.",
                      "a group is the stream of one core of %s: its `warps` is 1", E->p->target);
}

void ws_queue_agents(WsElab *E, const WsNode *node, const char *path, guint group, GArray *agents)
{
    const WsTargetCore *core = E->hw->core;
    gboolean used[WS_CORE_UNITS] = { FALSE }, any = FALSE;
    const char *name = ws_node_name(node);
    if (group > 0) {
        ws_elab_error(E, WS_RULE_L_QUEUE, path, "Put all steps into one group.",
                      "a core of %s has one stream of steps: only one group is elaborated for it",
                      E->p->target);
        return;
    }
    refuse_fields(E, node, path);
    find_queues(E, node, WS_F_body, used);
    one_half(E, path, used);
    for (guint i = 0; i < core->n_units; i++)
        any |= used[i];
    used[0] |= !any; /* a stream without work has an agent, too */
    for (guint i = 0; i < core->n_units; i++) {
        if (!used[i])
            continue;
        WsAgent a = { .name = ws_arena_printf(E->arena, "%s.%s", name, core->unit[i].name),
                      .path = (char *)path,
                      .group = group,
                      .replicas = 1,
                      .half = -1,
                      .queue = (gint)i,
                      .role = WS_ROLE_WORKER,
                      .warp0 = agents->len,
                      .warps = 1,
                      .threads = E->hw->lanes };
        g_array_append_val(agents, a);
    }
}
