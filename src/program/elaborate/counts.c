#include "program/elaborate/elab.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/program.h"
#include "target/target.h"

/* Arrival counts and threads of named barriers (LANGUAGE section 8), hardware ids (section 14). */

typedef struct {
    guint list;
    const WsOp *first;
    const WsExpr *use, *slot;
    gboolean strided;
    gint64 weight[WS_MAX_CLUSTER][WS_MAX_CLUSTER]; /* from rank, to rank */
} Entry;

static gboolean touches(const WsOp *op, guint barrier, guint element)
{
    gint64 e;
    if (op->barrier != (gint)barrier)
        return FALSE;
    return !ws_elab_is_int(op->element, &e) || e == element;
}

static Entry *entry_of(WsElab *E, GArray *entries, const WsOp *op)
{
    const WsExpr *use = op->use ? op->use : op->slot;
    for (guint i = 0; i < entries->len; i++) {
        Entry *e = &g_array_index(entries, Entry, i);
        if (e->list == WS_BUILD(op)->list && ws_expr_equal(e->use, use) &&
            ws_expr_equal(e->slot, op->slot) && !ws_elab_changes(E, use, e->first, op))
            return e;
    }
    Entry fresh = { .list = WS_BUILD(op)->list,
                    .first = op,
                    .use = use,
                    .slot = op->slot,
                    .strided = WS_BUILD(op)->strided };
    g_array_append_val(entries, fresh);
    return &g_array_index(entries, Entry, entries->len - 1);
}

static void collect(WsElab *E, guint agent, guint barrier, guint element, GArray *entries)
{
    g_array_set_size(entries, 0);
    for (guint i = 0; i < E->ops->len; i++) {
        const WsOp *op = g_ptr_array_index(E->ops, i);
        if (op->agent != (gint)agent || !touches(op, barrier, element) || !ws_op_arrives(op->kind))
            continue;
        Entry *e = entry_of(E, entries, op);
        for (guint c = 0; c < E->p->cluster; c++) {
            guint16 mask = WS_BUILD(op)->ranks >> c & 1 ? ws_ctas_mask(E, &op->ctas, c) : 0;
            for (guint r = 0; r < E->p->cluster; r++)
                e->weight[c][r] += mask >> r & 1 ? op->count : 0;
        }
    }
}

/* Weight of one agent (all ranks of it) in rank r: the largest sum over lists and uses. */
static gint64 agent_weight(WsElab *E, const GArray *entries, guint rank, gboolean strided)
{
    gint64 total = 0;
    for (guint c = 0; c < E->p->cluster; c++) {
        gint64 largest = 0;
        for (guint i = 0; i < entries->len; i++) {
            const Entry *e = &g_array_index(entries, Entry, i);
            if (e->strided == strided)
                largest = MAX(largest, e->weight[c][rank]);
        }
        total += largest;
    }
    return total;
}

static gint64 derived_arrivals(WsElab *E, guint barrier, guint element, GArray *entries)
{
    WsProgram *p = E->p;
    gint64 count[WS_MAX_CLUSTER] = { 0 }, largest = 0;
    for (guint g = 0; g < p->n_groups; g++) {
        gint64 sum[WS_MAX_CLUSTER] = { 0 }, most[WS_MAX_CLUSTER] = { 0 };
        for (guint a = 0; a < p->n_agents; a++) {
            if (p->agent[a].group != g)
                continue;
            collect(E, a, barrier, element, entries);
            for (guint r = 0; r < p->cluster; r++) {
                sum[r] += agent_weight(E, entries, r, FALSE);
                most[r] = MAX(most[r], agent_weight(E, entries, r, TRUE));
            }
        }
        for (guint r = 0; r < p->cluster; r++)
            count[r] += MAX(sum[r], most[r]);
    }
    for (guint r = 0; r < p->cluster; r++)
        largest = MAX(largest, count[r]);
    return largest;
}

static guint override(WsElab *E, const WsNode *node, WsFieldId field, const char *path,
                      guint element, guint derived)
{
    if (!node || !ws_node_has(node, field))
        return derived;
    const char *what = field == WS_F_arrivals ? "arrivals" : "threads";
    guint given =
        (guint)ws_elab_constant_in(E, ws_elab_field_expr(E, node, field), 1, 1 << 20, what, path);
    if (element == 0 && given == derived)
        ws_elab_note(E, WS_RULE_L_OVERRIDE, path, "Drop the override.",
                     "%s %u is what would be derived", what, given);
    else if (given != derived)
        ws_elab_note(E, WS_RULE_L_OVERRIDE, path, "Restore the derived value.",
                     "%s is %u, but %u follows from the steps", what, given, derived);
    return given;
}

static void mbarrier(WsElab *E, guint index, GArray *entries)
{
    WsBarrier *b = &g_array_index(E->barriers, WsBarrier, index);
    const WsNode *node = g_ptr_array_index(E->barrier_node, index);
    gint64 most = E->hw->sync.arrivals;
    for (guint e = 0; e < b->array; e++) {
        /* one queue sets a flag, by all lanes that stand for it at once */
        gint64 derived = b->flag ? (gint64)E->hw->lanes : derived_arrivals(E, index, e, entries);
        if (derived > most)
            ws_elab_note(E, WS_RULE_B_COUNT, b->path, NULL,
                         "%s would need %" G_GINT64_FORMAT
                         " arrivals; an mbarrier counts to %" G_GINT64_FORMAT,
                         b->name, derived, most);
        b->arrivals_derived[e] = (guint)CLAMP(derived, 0, most);
        b->arrivals[e] = override(E, node, WS_F_arrivals, b->path, e, b->arrivals_derived[e]);
        b->arrivals[e] = MAX(b->arrivals[e], 1);
    }
    gboolean remote = FALSE;
    for (guint i = 0; i < E->ops->len; i++) {
        const WsOp *op = g_ptr_array_index(E->ops, i);
        if (op->barrier != (gint)index)
            continue;
        if (ws_op_expects(op->kind))
            b->expected_bytes = MAX(b->expected_bytes, (guint64)op->bytes);
        remote = remote || (op->kind == WS_OP_MBAR_ARRIVE && op->scope == WS_SCOPE_CLUSTER);
    }
    for (guint i = 0; remote && i < E->ops->len; i++) {
        WsOp *op = g_ptr_array_index(E->ops, i);
        if (op->barrier == (gint)index && ws_op_waits_phase(op->kind))
            op->scope = WS_SCOPE_CLUSTER;
    }
}

static void named(WsElab *E, guint index)
{
    WsBarrier *b = &g_array_index(E->barriers, WsBarrier, index);
    const WsNode *node = g_ptr_array_index(E->barrier_node, index);
    for (guint e = 0; e < b->array; e++) {
        guint threads = b->derived ? b->threads_derived[e] : 0;
        for (guint a = 0; !b->derived && a < E->p->n_agents; a++)
            for (guint i = 0; i < E->ops->len; i++) {
                const WsOp *op = g_ptr_array_index(E->ops, i);
                if (op->agent == (gint)a && touches(op, index, e)) {
                    threads += E->p->agent[a].threads;
                    break;
                }
            }
        b->threads_derived[e] = threads;
        b->threads[e] = override(E, node, WS_F_threads, b->path, e, threads);
    }
    for (guint i = 0; i < E->ops->len; i++) {
        WsOp *op = g_ptr_array_index(E->ops, i);
        gint64 e = 0;
        if (op->barrier == (gint)index && op->agent >= 0 && ws_elab_is_int(op->element, &e))
            op->count = b->threads[e];
    }
}

/* The barrier before number `n` that has been given the id by its author; NULL. */
static const WsBarrier *has_id(const WsElab *E, guint n, gint64 id)
{
    for (guint i = 0; i < n; i++) {
        const WsBarrier *b = &g_array_index(E->barriers, WsBarrier, i);
        const WsNode *node = g_ptr_array_index(E->barrier_node, i);
        const gboolean named = b->kind == WS_BARRIER_NAMED && node && ws_node_has(node, WS_F_hw_id);
        for (guint e = 0; named && e < b->array; e++)
            if (b->hw_id[e] == id)
                return b;
    }
    return NULL;
}

static void hardware_ids(WsElab *E)
{
    const gint ids = (gint)E->hw->sync.named;
    gint next = (gint)E->hw->sync.named_reserved;
    g_autofree gboolean *taken = g_new0(gboolean, ids + 1);
    for (gint i = 0; i < next; i++)
        taken[i] = TRUE;
    gboolean full = FALSE;
    for (guint i = 0; i < E->barriers->len; i++) {
        WsBarrier *b = &g_array_index(E->barriers, WsBarrier, i);
        const WsNode *node = g_ptr_array_index(E->barrier_node, i);
        if (b->kind != WS_BARRIER_NAMED || !node || !ws_node_has(node, WS_F_hw_id))
            continue;
        for (guint e = 0; e < b->array; e++) {
            gint64 id = ws_node_int(node, WS_F_hw_id, 1) + e;
            b->hw_id[e] = (gint)id;
            const WsBarrier *whose = has_id(E, i, id);
            if (whose)
                ws_elab_note(E, WS_RULE_B_BARRIERS, b->path, "Drop `hw_id`.",
                             "hardware id %" G_GINT64_FORMAT " of %s is that of %s, too", id,
                             b->name, whose->name);
            else if (id >= ids || id < 0 || taken[id])
                ws_elab_note(E, WS_RULE_B_BARRIERS, b->path, "Drop `hw_id`.",
                             "hardware id %" G_GINT64_FORMAT " of %s is not free", id, b->name);
            else
                taken[id] = TRUE;
        }
    }
    for (guint i = 0; i < E->barriers->len; i++) {
        WsBarrier *b = &g_array_index(E->barriers, WsBarrier, i);
        if (b->kind != WS_BARRIER_NAMED || (gint)i == E->cta_barrier)
            continue;
        for (guint e = 0; e < b->array; e++) {
            while (next < ids && taken[next])
                next++;
            if (b->hw_id[e] >= 0)
                continue;
            full = full || next >= ids;
            b->hw_id[e] = MIN(next, ids - 1);
            if (next < ids)
                taken[next] = TRUE;
        }
    }
    if (full)
        ws_elab_note(E, WS_RULE_B_BARRIERS, "barriers", "Use fewer named barriers, or mbarriers.",
                     "more than %u hardware barriers are needed, `sync` group included",
                     E->hw->sync.named - E->hw->sync.named_reserved);
}

void ws_elab_counts(WsElab *E)
{
    g_autoptr(GArray) entries = g_array_new(FALSE, TRUE, sizeof(Entry));
    WsBarrier *cta = &g_array_index(E->barriers, WsBarrier, E->cta_barrier);
    guint threads = 0;
    for (guint a = 0; a < E->p->n_agents; a++)
        threads += E->p->agent[a].threads;
    cta->threads_derived[0] = threads;
    cta->hw_id[0] = 0;
    for (guint i = 0; i < E->barriers->len; i++) {
        if (g_array_index(E->barriers, WsBarrier, i).kind == WS_BARRIER_MBARRIER)
            mbarrier(E, i, entries);
        else
            named(E, i);
    }
    hardware_ids(E);
}
