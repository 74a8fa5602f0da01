/* Quick-fixes that give a place the step that its siblings have: a release that stands in the loop
 * and lacks behind it, a wait that stands before the loop and lacks in it, the other half of a turn
 * that goes round, the wait of a pipe. */
#include "check/mend/fixer.h"

enum { MOST_COPIES = 160, DRAIN = 8 };

/* JSON of a step without its condition. Caller frees. */
static char *bare(const WsNode *step)
{
    g_autofree char *ref = ws_field_json(step, WS_F_keyword), *use = ws_field_json(step, WS_F_use),
                    *by = NULL, *cta = NULL;
    if (step->kind == WS_STEP_ARRIVE) {
        by = ws_field_json(step, WS_F_by);
        cta = ws_field_json(step, WS_F_cta);
    }
    g_autofree char *more = g_strdup_printf("%s%s%s%s", by ? ", \"by\": " : "", by ? by : "",
                                            cta ? ", \"cta\": " : "", cta ? cta : "");
    return ws_with_use(ws_node_kind_keyword(step->kind), ref, use, more);
}

static gboolean is_place(const WsFixer *F, gint i, WsNodeKind kind)
{
    const WsNodeKind here = ws_spot(F, i)->node->kind;
    return kind == WS_STEP_WAIT ? here == WS_STEP_LOAD || here == WS_STEP_MMA ||
                                      here == WS_STEP_READ || here == WS_STEP_WRITE
                                : ws_step_retires(here) || here == WS_STEP_FOR;
}

/* Copies of a step that hands a ring over, at other places of its group: waits before what uses
 * data, arrivals behind what retires and behind loops. */
void ws_fix_copy_step(WsFixer *F)
{
    guint n = 0;
    for (gint s = 0; s < (gint)F->spot->len; s++) {
        const WsSpot *from = ws_spot(F, s);
        const WsNodeKind kind = from->node->kind;
        const char *barrier = ws_step_barrier(from->node);
        if ((kind != WS_STEP_WAIT && kind != WS_STEP_ARRIVE) || !ws_is_mbarrier(F, barrier) ||
            ws_node_has(from->node, WS_F_slot) || ws_node_has(from->node, WS_F_phase))
            continue;
        const gboolean meant = g_strcmp0(barrier, F->finding->object) == 0;
        g_autofree char *json = bare(from->node), *name = ws_step_name(from->node);
        for (gint i = 0; i < (gint)F->spot->len && n < MOST_COPIES; i++) {
            const WsSpot *to = ws_spot(F, i);
            if (to->group != from->group || to->owner == from->owner || !is_place(F, i, kind))
                continue;
            g_autofree char *where = ws_step_name(to->node);
            const gint by = kind == WS_STEP_WAIT ? 0 : 1;
            WsFix *fix = ws_fixer_add(F, "%s %s %s, as elsewhere in %s", name,
                                      by ? WS_WORD("behind") : WS_WORD("before"), where,
                                      ws_node_name(from->group));
            /* a wait once more drains what is left; who loads a round too much should not */
            fix->cost += F->finding->rule == WS_RULE_P_EXIT ? DRAIN : 0;
            fix->cost += (meant ? 0 : 3) + (by && !ws_step_retires(to->node->kind) ? 1 : 0);
            ws_fix_insert(F, fix, i, by, json);
            n++;
        }
    }
}

/* A turn that goes round the replicas: one waits for its own element and gives the next one on. */
static void round_of(WsFixer *F, const WsNode *b, gint i)
{
    const WsNode *step = ws_spot(F, i)->node;
    const char *name = ws_node_name(b);
    const gint64 n = ws_node_int(b, WS_F_array, 0);
    const gboolean waits = step->kind == WS_STEP_WAIT;
    g_autofree char *use = ws_field_json(step, WS_F_use);
    g_autofree char *next = n == 2 ? g_strdup("1 - replica") : g_strdup("(replica + 1) % replicas");
    g_autofree char *ref = g_strdup_printf("\"%s[%s]\"", name, waits ? next : "replica");
    for (guint k = 0; k < ws_node_n_children(ws_spot(F, i)->owner, ws_spot(F, i)->field); k++) {
        const gint by_index = (gint)k - (gint)ws_spot(F, i)->index;
        const gint place = ws_spot_next(F, i, by_index);
        for (guint all = 0; all < (waits ? 2 : 1); all++) {
            g_autofree char *json =
                ws_with_use(waits ? "arrive" : "wait", ref, use, all ? ", \"by\": \"all\"" : "");
            g_autofree char *where = ws_step_name(ws_spot(F, place)->node);
            WsFix *fix = waits ? ws_fixer_add(F, "Give %s on behind %s", name, where)
                               : ws_fixer_add(F, "Wait for the turn of %s before %s", name, where);
            fix->cost += all + (waits == (by_index > 0) ? 0 : 4);
            ws_fix_insert(F, fix, place, waits ? 1 : 0, json);
        }
    }
}

void ws_fix_give_on(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    for (guint k = 0; k < ws_node_n_children(root, WS_F_barriers); k++) {
        const WsNode *b = ws_node_child(root, WS_F_barriers, k);
        const char *name = ws_node_name(b);
        gint first[2] = { -1, -1 }; /* wait, arrive */
        if (!ws_node_has(b, WS_F_array) || !ws_is_mbarrier(F, name))
            continue;
        for (gint i = 0; i < (gint)F->spot->len; i++) {
            const WsNode *step = ws_spot(F, i)->node;
            const gint what = step->kind == WS_STEP_WAIT     ? 0
                              : step->kind == WS_STEP_ARRIVE ? 1
                                                             : -1;
            if (what >= 0 && first[what] < 0 && g_strcmp0(ws_step_barrier(step), name) == 0)
                first[what] = i;
        }
        if ((first[0] < 0) == (first[1] < 0))
            continue;
        const gint i = MAX(first[0], first[1]);
        if (ws_node_has(ws_spot(F, i)->group, WS_F_replicate))
            round_of(F, b, i);
    }
}

/* A group that gives a pipe back and never waits for it. */
void ws_fix_wait_pipe(WsFixer *F)
{
    g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *r = ws_spot(F, i);
        const char *pipe =
            r->node->kind == WS_STEP_RELEASE ? ws_node_text(r->node, WS_F_keyword) : NULL;
        if (!pipe || !g_hash_table_add(done, (gpointer)pipe))
            continue;
        g_autofree char *ref = g_strdup_printf("\"%s\"", pipe);
        for (guint k = 0; k < ws_node_n_children(r->owner, r->field); k++) {
            const gint place = ws_spot_next(F, i, (gint)k - (gint)r->index);
            const WsNode *reader = ws_spot(F, place)->node;
            if (reader->kind != WS_STEP_MMA && reader->kind != WS_STEP_READ)
                continue;
            g_autofree char *use = ws_step_use(reader), *where = ws_step_name(reader),
                            *json = ws_with_use("wait", ref, use, "");
            WsFix *fix = ws_fixer_add(F, "Wait for %s before %s", pipe, where);
            ws_fix_insert(F, fix, place, 0, json);
        }
    }
}
