/* Buffers in the spaces of a core, and flags between its queues. */
#include "program/elaborate/queues/queues.h"

#include "program/parts/buffer.h"
#include "program/program.h"
#include "target/core.h"

#include <string.h>

void ws_queue_buffer(WsElab *E, WsBuffer *b, const WsNode *node, const char *at)
{
    const WsTargetCore *core = E->hw->core;
    b->space = -1;
    if (!core) {
        if (ws_node_has(node, WS_F_space))
            ws_elab_error(E, WS_RULE_L_QUEUE, at, "Remove it.", "%s has no memory spaces to choose",
                          E->p->target);
        return;
    }
    static const WsFieldId layout[] = { WS_F_swizzle, WS_F_pad, WS_F_k_order };
    for (guint i = 0; i < G_N_ELEMENTS(layout); i++)
        if (ws_node_has(node, layout[i]))
            ws_elab_error(E, WS_RULE_L_QUEUE, at, "Remove it.",
                          "a buffer of %s has no `%s`: its rows follow each other", E->p->target,
                          ws_field_name(layout[i]));
    b->space = ws_core_space(core, ws_elab_field_name(E, node, WS_F_space));
    if (b->space < 0) {
        ws_elab_error(E, WS_RULE_L_QUEUE, at, "Add \"space\".",
                      "%s does not say in which memory space of the core it lies", b->name);
        return;
    }
    const WsTargetSpace *space = &core->space[b->space];
    const guint64 row = (guint64)b->cols * ws_dtype_bytes(b->dtype);
    if (row % space->unit != 0)
        ws_elab_error(E, WS_RULE_L_QUEUE, at,
                      ws_arena_phrase(E->arena, "Use rows of a multiple of %u bytes.", space->unit),
                      "rows of %s are %" G_GUINT64_FORMAT " bytes, %s takes multiples of %u",
                      b->name, row, space->name, space->unit);
    b->align = space->align;
}

/* --- flags ------------------------------------------------------------------------------------ */

static gint queue_in(WsElab *E, const WsBarrier *b, const WsNode *node, WsFieldId field)
{
    const char *name = ws_elab_field_name(E, node, field);
    const gint unit = ws_core_unit(E->hw->core, name);
    if (unit < 0)
        ws_elab_error(E, WS_RULE_L_QUEUE, b->path, "Name the queues with `from` and `to`.",
                      "flag %s does not say which queue it goes `%s`", b->name,
                      ws_field_name(field));
    return MAX(unit, 0);
}

static void flag(WsElab *E, WsBarrier *b, const WsNode *node)
{
    const WsTargetCore *core = E->hw->core;
    static const WsFieldId others[] = { WS_F_init, WS_F_arrivals, WS_F_threads, WS_F_hw_id };
    for (guint i = 0; i < G_N_ELEMENTS(others); i++)
        if (ws_node_has(node, others[i]))
            ws_elab_error(
                E, WS_RULE_L_QUEUE, b->path,
                others[i] == WS_F_init ? "Let the queue set it before the loop." : "Remove it.",
                "a flag has no `%s`: %s", ws_field_name(others[i]),
                others[i] == WS_F_init ? WS_WORD("it starts unset")
                                       : WS_WORD("one queue sets it, and its id is derived"));
    b->flag = TRUE;
    b->from = (guint)queue_in(E, b, node, WS_F_from);
    b->to = (guint)queue_in(E, b, node, WS_F_to);
    if (!ws_elab_stop(E) && !ws_core_has_flags(core, b->from, b->to))
        ws_elab_error(E, WS_RULE_L_QUEUE, b->path, NULL, "%s has no flags from %s to %s",
                      E->p->target, core->unit[b->from].name, core->unit[b->to].name);
}

void ws_queue_barrier(WsElab *E, WsBarrier *b, const WsNode *node)
{
    const gboolean is_flag = ws_elab_field_is(E, node, WS_F_kind, "flag");
    b->first_id = -1;
    if (is_flag && E->hw->core) {
        flag(E, b, node);
        return;
    }
    if (is_flag)
        ws_elab_error(E, WS_RULE_L_QUEUE, b->path, "Use an mbarrier.",
                      "%s has no flags between queues", E->p->target);
    else if (E->hw->core)
        ws_elab_error(E, WS_RULE_L_QUEUE, b->path, "Set \"kind\": \"flag\".",
                      "%s is no flag, and %s has no other barriers", b->name, E->p->target);
    else if (ws_node_has(node, WS_F_from) || ws_node_has(node, WS_F_to))
        ws_elab_error(E, WS_RULE_L_QUEUE, b->path, "Remove them.",
                      "`from` and `to` belong to flags; %s is none", b->name);
}

/* --- budgets ---------------------------------------------------------------------------------- */

static guint64 round_up(guint64 n, guint64 to)
{
    return (n + to - 1) / to * to;
}

static void capacity(WsElab *E, guint index)
{
    const WsTargetSpace *space = &E->hw->core->space[index];
    guint64 need = 0;
    const WsBuffer *largest = NULL;
    for (guint i = 0; i < E->buffers->len; i++) {
        const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, i);
        if (b->space != (gint)index || b->over >= 0)
            continue;
        need += round_up(b->bytes, space->align);
        largest = !largest || b->bytes > largest->bytes ? b : largest;
    }
    if (need <= space->bytes)
        return;
    WsFinding *f =
        ws_elab_note(E, WS_RULE_B_SHARED, ws_arena_printf(E->arena, "buffers/%s", largest->name),
                     "Use smaller tiles, or fewer stages.",
                     "%s takes %" G_GUINT64_FORMAT " bytes, a core of %s has %" G_GUINT64_FORMAT,
                     space->name, need, E->p->target, space->bytes);
    if (f)
        f->object = g_strdup(largest->name);
}

/* Over another space would be no sharing of bytes. */
static void overs(WsElab *E)
{
    for (guint i = 0; i < E->buffers->len; i++) {
        const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, i);
        const WsBuffer *base = b->over >= 0 ? &g_array_index(E->buffers, WsBuffer, b->over) : NULL;
        if (base && base->space != b->space)
            ws_elab_error(E, WS_RULE_L_QUEUE, ws_arena_printf(E->arena, "buffers/%s", b->name),
                          NULL, "%s lies in %s, but %s, which it lies over, in %s", b->name,
                          ws_core_space_name(E->hw->core, b->space), base->name,
                          ws_core_space_name(E->hw->core, base->space));
    }
}

static void ids(WsElab *E, guint from, guint to)
{
    const WsTargetCore *core = E->hw->core;
    guint next = 0;
    WsBarrier *last = NULL;
    for (guint i = 0; i < E->barriers->len; i++) {
        WsBarrier *b = &g_array_index(E->barriers, WsBarrier, i);
        if (!b->flag || b->from != from || b->to != to)
            continue;
        b->first_id = (gint)next;
        next += b->array * b->slots;
        last = b;
    }
    if (next > core->ids)
        ws_elab_note(E, WS_RULE_B_BARRIERS, last->path, "Use fewer slots.",
                     "flags from %s to %s: %u ids are needed with %s, the core has %u",
                     core->unit[from].name, core->unit[to].name, next, last->name, core->ids);
}

void ws_queue_budgets(WsElab *E)
{
    const WsTargetCore *core = E->hw->core;
    if (!core)
        return;
    overs(E);
    for (guint i = 0; i < core->n_spaces; i++)
        capacity(E, i);
    for (guint i = 0; i < core->n_flags; i++)
        ids(E, core->flags[i].from, core->flags[i].to);
}
