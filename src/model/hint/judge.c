/* What the groups of a loop need of each other, held against their stages and orders. The loop
 * means its groups as they are drawn, one round after the other; stages and orders may not change
 * that. */
#include "model/hint/hint_parts.h"

#include <string.h>

typedef struct {
    const WsHintGroup *group;
    gboolean reads, writes, before; /* before: a read that no write of the same group precedes */
} Use;

typedef struct {
    WsHint *h;
    WsHintGroup *at;
    GHashTable *value, *buffer; /* name -> GArray of Use, in the order of groups */
    const char *place;
} Judge;

static void see(const WsHintTouch *t, gpointer data)
{
    Judge *j = data;
    if (j->h->refused)
        return;
    const WsNode *own = ws_node_child(j->h->root, WS_F_groups, j->at->executor);
    if (t->value && !ws_hint_has(own, WS_F_values, t->name)) {
        ws_hint_refuse(j->h, j->place,
                       "Run the group in the executor that has the value, or pass it through a"
                       " buffer.",
                       "%s is a value of another executor than %s, in which %s runs", t->name,
                       ws_node_name(own), j->at->name);
        return;
    }
    GHashTable *table = t->value ? j->value : j->buffer;
    GArray *uses = g_hash_table_lookup(table, t->name);
    if (!uses) {
        uses = g_array_new(FALSE, FALSE, sizeof(Use));
        g_hash_table_insert(table, (gpointer)t->name, uses);
    }
    Use *last = uses->len ? &g_array_index(uses, Use, uses->len - 1) : NULL;
    if (!last || last->group != j->at) {
        const Use fresh = { j->at, FALSE, FALSE, FALSE };
        g_array_append_val(uses, fresh);
        last = &g_array_index(uses, Use, uses->len - 1);
    }
    last->before |= t->reads && !last->writes;
    last->reads |= t->reads;
    last->writes |= t->writes;
}

/* --- values ----------------------------------------------------------------------------------- */

/* One copy of a value serves two groups, a before b, where a of a round runs before b of that
 * round, and b of a round before a of the next one. */
static gboolean may_share(WsHint *h, const char *name, const WsHintGroup *a, const WsHintGroup *b)
{
    const gint64 later = b->stage - a->stage;
    if (later < 0)
        return ws_hint_refuse(h, b->place, "Give it the same stage or a later one.",
                              "%s comes after %s, which it shares %s with, and has an earlier stage"
                              " (%" G_GINT64_FORMAT " < %" G_GINT64_FORMAT ")",
                              b->name, a->name, name, b->stage, a->stage);
    if (later == 0 && b->order < a->order)
        return ws_hint_refuse(h, b->place, "Exchange their orders, or give it a later stage.",
                              "%s needs %s of %s in the same stage, and has an earlier order: a"
                              " cycle",
                              b->name, name, a->name);
    if (later > 1 || (later == 1 && b->order > a->order))
        return ws_hint_refuse(
            h, b->place,
            later > 1 ? "Bring their stages nearer: one apart at most."
                      : "Give it an order before that group's, or the same stage.",
            "%s of the next round overwrites %s before %s is done with it: a value"
            " has one copy",
            a->name, name, b->name);
    return TRUE;
}

static gboolean judge_values(Judge *j)
{
    GHashTableIter it;
    gpointer name, list;
    g_hash_table_iter_init(&it, j->value);
    while (g_hash_table_iter_next(&it, &name, &list)) {
        const GArray *uses = list;
        for (guint a = 0; a < uses->len; a++)
            for (guint b = a + 1; b < uses->len; b++) {
                const Use *x = &g_array_index(uses, Use, a), *y = &g_array_index(uses, Use, b);
                if (x->group->executor == y->group->executor && (x->writes || y->writes) &&
                    !may_share(j->h, name, x->group, y->group))
                    return FALSE; /* another executor has a value of its own by that name */
            }
    }
    return TRUE;
}

/* --- rings ------------------------------------------------------------------------------------ */

static const WsNode *buffer_of(const WsHint *h, const char *name)
{
    for (guint i = 0; i < ws_node_n_children(h->root, WS_F_buffers); i++)
        if (!g_strcmp0(ws_node_name(ws_node_child(h->root, WS_F_buffers, i)), name))
            return ws_node_child(h->root, WS_F_buffers, i);
    return NULL;
}

static gboolean is_field(const WsHint *h, const char *name)
{
    for (guint i = 0; i < ws_node_n_children(h->root, WS_F_pipes); i++) {
        const WsValue *fields = ws_node_get(ws_node_child(h->root, WS_F_pipes, i), WS_F_fields);
        for (guint k = 0; fields->kind == WS_VALUE_LIST && k < fields->n; k++)
            if (!g_strcmp0(fields->item[k].text, name))
                return TRUE;
    }
    return FALSE;
}

static gboolean judge_ring(WsHint *h, const char *name, const GArray *uses)
{
    WsHintGroup *from = NULL;
    guint readers = 0;
    for (guint i = 0; i < uses->len; i++) {
        const Use *u = &g_array_index(uses, Use, i);
        readers += u->reads;
        if (!u->writes)
            continue;
        if (from)
            return ws_hint_refuse(h, u->group->place, "Fill it in one group, or use two buffers.",
                                  "buffer %s is filled by %s and by %s", name, from->name,
                                  u->group->name);
        from = (WsHintGroup *)u->group;
    }
    if (!from)
        return TRUE; /* filled before the loop */
    const WsNode *buffer = buffer_of(h, name);
    if (ws_node_has(buffer, WS_F_stages) || ws_node_has(buffer, WS_F_over) ||
        ws_node_has(buffer, WS_F_array) || is_field(h, name))
        return ws_hint_refuse(h, from->place,
                              "Leave out its stages, array and over, and take it out of pipes.",
                              "buffer %s is filled by %s: its depth is derived, so that it has no"
                              " stages, array, over or pipe of its own",
                              name, from->name);
    const WsNode *executor = ws_node_child(h->root, WS_F_groups, from->executor);
    if (ws_node_int(executor, WS_F_replicate, ws_node_has(executor, WS_F_replicate) ? 0 : 1) != 1)
        return ws_hint_refuse(h, from->place, "Give the group an executor without replicas.",
                              "%s fills buffer %s in %s, which has replicas: each would fill it",
                              from->name, name, ws_node_name(executor));
    if (!readers)
        return ws_hint_refuse(h, from->place, "Leave it out, or read it in a group.",
                              "buffer %s is filled by %s, and no group reads it", name, from->name);
    for (guint i = 0; i < uses->len; i++) {
        const Use *u = &g_array_index(uses, Use, i);
        const WsHintGroup *g = u->group;
        if (u->before && g <= from)
            return ws_hint_refuse(h, g->place, "Put the group that fills it before it.",
                                  "%s reads buffer %s before %s has filled it", g->name, name,
                                  from->name);
        if (g == from)
            continue;
        if (g->stage < from->stage)
            return ws_hint_refuse(h, g->place, "Give it the same stage or a later one.",
                                  "%s reads buffer %s in stage %" G_GINT64_FORMAT
                                  ", before %s fills it in stage %" G_GINT64_FORMAT,
                                  g->name, name, g->stage, from->name, from->stage);
        if (g->stage == from->stage && g->executor == from->executor && g->order < from->order)
            return ws_hint_refuse(h, g->place, "Exchange their orders, or give it a later stage.",
                                  "%s needs buffer %s of %s in the same stage, and has an earlier"
                                  " order: a cycle",
                                  g->name, name, from->name);
    }
    g_ptr_array_add(from->fills, (gpointer)name);
    g_hash_table_insert(h->ring, (gpointer)name, from);
    return TRUE;
}

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static gboolean judge_rings(Judge *j)
{
    GHashTableIter it;
    gpointer name, list;
    g_hash_table_iter_init(&it, j->buffer);
    while (g_hash_table_iter_next(&it, &name, &list))
        if (!judge_ring(j->h, name, list))
            return FALSE;
    for (guint i = 0; i < j->h->n; i++) /* a table has no order */
        g_ptr_array_sort(j->h->group[i].fills, by_name);
    return TRUE;
}

/* A ring of the loop that something outside of it touches: at which round nobody says. */
static gboolean outside(WsHint *h, const WsNode *node)
{
    if (node == h->loop)
        return TRUE;
    for (guint i = 0; i < node->n_values; i++) {
        const WsValue *v = &node->value[i];
        const char *name = v->kind == WS_VALUE_REF ? v->ref->name : NULL;
        for (guint c = 0; (v->kind == WS_VALUE_NODES || v->kind == WS_VALUE_NODE) && c < v->n; c++)
            if (!outside(h, v->node[c]))
                return FALSE;
        const WsHintGroup *g = name ? g_hash_table_lookup(h->ring, name) : NULL;
        if (g) {
            g_autofree char *place = ws_design_place(h->design, node);
            return ws_hint_refuse(h, place, "Use a buffer of its own there.",
                                  "buffer %s is a ring of loop %s, and used outside of it", name,
                                  ws_node_name(h->loop));
        }
    }
    return TRUE;
}

gboolean ws_hint_judge(WsHint *h)
{
    Judge j = { .h = h };
    j.value = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_array_unref);
    j.buffer = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_array_unref);
    h->ring = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < h->n && !h->refused; i++) {
        j.at = &h->group[i];
        for (guint s = 0; s < ws_node_n_children(j.at->node, WS_F_do) && !h->refused; s++) {
            const WsNode *step = ws_node_child(j.at->node, WS_F_do, s);
            g_autofree char *place = g_strdup_printf("%s/do/%u", j.at->place, s);
            j.place = place;
            if (!ws_node_bool(step, WS_F_muted, FALSE))
                ws_hint_touches(h, j.at, step, see, &j);
        }
    }
    const gboolean ok = !h->refused && judge_values(&j) && judge_rings(&j) && outside(h, h->root);
    g_hash_table_unref(j.value);
    g_hash_table_unref(j.buffer);
    return ok;
}
