#include "program/elaborate/elab.h"
#include "program/elaborate/queues/queues.h"

#include <string.h>

static void allocate(WsElab *E, WsBarrier *b)
{
    b->ready = ws_arena_new0(E->arena, gboolean, b->array);
    b->arrivals = ws_arena_new0(E->arena, guint, b->array);
    b->arrivals_derived = ws_arena_new0(E->arena, guint, b->array);
    b->threads = ws_arena_new0(E->arena, guint, b->array);
    b->threads_derived = ws_arena_new0(E->arena, guint, b->array);
    b->hw_id = ws_arena_new0(E->arena, gint, b->array);
    for (guint i = 0; i < b->array; i++)
        b->hw_id[i] = -1;
}

static void init(WsElab *E, WsBarrier *b, const WsNode *node)
{
    const WsValue *v = ws_node_get(node, WS_F_init);
    guint n = ws_elab_field_count(node, WS_F_init);
    if (v->kind == WS_VALUE_LIST && n != b->array)
        ws_elab_error(E, WS_RULE_T_RANGE, b->path, NULL, "init lists %u elements, but %s has %u", n,
                      b->name, b->array);
    for (guint e = 0; e < b->array && n > 0; e++) {
        const WsValue *word = ws_elab_field_item(node, WS_F_init, MIN(e, n - 1));
        b->ready[e] = word->kind == WS_VALUE_TEXT && strcmp(word->text, "ready") == 0;
    }
}

void ws_elab_barriers(WsElab *E)
{
    guint n = ws_node_n_children(E->root, WS_F_barriers);
    for (guint i = 0; i < n && !ws_elab_stop(E); i++) {
        const WsNode *node = ws_node_child(E->root, WS_F_barriers, i);
        WsBarrier b = { .name = ws_arena_strdup(E->arena, ws_node_name(node)),
                        .array = 1,
                        .slots = 1 };
        b.path = ws_arena_printf(E->arena, "barriers/%s", b.name);
        b.kind =
            ws_elab_field_is(E, node, WS_F_kind, "named") ? WS_BARRIER_NAMED : WS_BARRIER_MBARRIER;
        b.is_array = ws_node_has(node, WS_F_array);
        if (b.is_array)
            b.array = (guint)ws_elab_constant_in(E, ws_elab_field_expr(E, node, WS_F_array), 1,
                                                 1024, "array", b.path);
        if (ws_node_has(node, WS_F_slots))
            b.slots = (guint)ws_elab_constant_in(E, ws_elab_field_expr(E, node, WS_F_slots), 1,
                                                 4096, "slots", b.path);
        gboolean named = b.kind == WS_BARRIER_NAMED;
        static const WsFieldId mbarrier_only[] = { WS_F_slots, WS_F_init, WS_F_arrivals };
        static const WsFieldId named_only[] = { WS_F_threads, WS_F_hw_id };
        for (guint k = 0; named && k < G_N_ELEMENTS(mbarrier_only); k++)
            if (ws_node_has(node, mbarrier_only[k]))
                ws_elab_error(E, WS_RULE_T_KIND, b.path, NULL,
                              "slots, init and arrivals belong to mbarriers; %s is named", b.name);
        for (guint k = 0; !named && k < G_N_ELEMENTS(named_only); k++)
            if (ws_node_has(node, named_only[k]))
                ws_elab_error(E, WS_RULE_T_KIND, b.path, NULL,
                              "threads and hw_id belong to named barriers; %s is an mbarrier",
                              b.name);
        ws_queue_barrier(E, &b, node);
        allocate(E, &b);
        init(E, &b, node);
        g_array_append_val(E->barriers, b);
        g_ptr_array_add(E->barrier_node, (gpointer)node);
    }
}

gint ws_barrier_derived(WsElab *E, const char *name, const char *path, WsBarrierKind kind,
                        guint slots, gboolean ready)
{
    WsBarrier b = { .name = ws_arena_strdup(E->arena, name),
                    .path = ws_arena_strdup(E->arena, path),
                    .kind = kind,
                    .derived = TRUE,
                    .first_id = -1,
                    .array = 1,
                    .slots = slots };
    allocate(E, &b);
    b.ready[0] = ready;
    g_array_append_val(E->barriers, b);
    g_ptr_array_add(E->barrier_node, NULL);
    return (gint)E->barriers->len - 1;
}
