/* Edits worth a trial: depths, other constants, steps earlier or later, fewer waits. */
#include "advise/advise.h"
#include "advise/gather.h"
#include "base/phrase.h"

#include <string.h>

static void candidate_free(WsCandidate *c)
{
    g_free(c->title);
    g_free(c->words);
    g_free(c->step);
    ws_design_unref(c->design);
    g_ptr_array_unref(c->edits);
    g_clear_pointer(&c->moved, g_ptr_array_unref);
    g_free(c);
}

WsDraft *ws_gather_draft(const WsDesign *design)
{
    WsDraft *d = ws_draft_new(design);
    d->parts = TRUE;
    return d;
}

/* Takes the draft; `done`: the edit was possible. */
void ws_gather_take(WsGather *g, WsDraft *d, gboolean done, const WsNode *node, char *words)
{
    g_autofree char *script = done && ws_draft_whole(d) ? ws_draft_script(d) : g_strdup("");
    if (*script && !g_hash_table_contains(g->seen, script)) {
        g_hash_table_add(g->seen, g_steal_pointer(&script));
        WsCandidate *c = g_new0(WsCandidate, 1);
        c->title = ws_phrase_text(words, NULL, NULL);
        c->words = g_steal_pointer(&words);
        c->step = node ? ws_design_path(g->design, node) : g_strdup(".");
        c->design = ws_design_ref(d->design);
        c->edits = g_ptr_array_ref(d->edits);
        g_ptr_array_add(g->list, c);
    }
    g_free(words);
    ws_draft_free(d);
}

void ws_gather_moved(WsGather *g, guint from, const guint64 *node, guint n)
{
    for (guint i = from; i < g->list->len; i++) {
        WsCandidate *c = g->list->pdata[i];
        c->moved = g_ptr_array_new_with_free_func(g_free);
        for (guint k = 0; k < n; k++)
            g_ptr_array_add(c->moved,
                            ws_design_path(g->design, ws_design_by_identity(g->design, node[k])));
    }
}

/* --- depths and constants ----------------------------------------------------------------------
 */
static void add_depths(WsGather *g, WsFieldId list)
{
    const WsNode *root = ws_design_root(g->design);
    for (guint i = 0; i < ws_node_n_children(root, list); i++) {
        const WsNode *object = ws_node_child(root, list, i);
        gint64 depth = ws_edit_depth_of(g->design, object);
        for (gint64 more = 1; depth > 0 && more <= 2; more++) {
            WsDraft *d = ws_gather_draft(g->design);
            gboolean done = ws_edit_depth(d, object->identity, depth + more);
            ws_gather_take(g, d, done, object,
                           ws_phrase("Ring of %s: %" G_GINT64_FORMAT
                                     " stages instead of %" G_GINT64_FORMAT,
                                     ws_node_name(object), depth + more, depth));
        }
    }
}

static gboolean set_constant(WsDraft *d, const char *name, gint64 value)
{
    g_autoptr(WsDesign) with = ws_design_with_constant(d->design, name, value);
    if (!with)
        return FALSE;
    const WsNode *root = ws_design_root(with);
    return ws_draft_set(d, ws_design_root(d->design)->identity, WS_F_constants,
                        ws_json_of_field(root, WS_F_constants));
}

/* A ring whose depth the constant gives, and whose bytes are another ring's, too: that one would
 * not follow. */
static gboolean cuts_ring(const WsDesign *design, const char *name)
{
    const WsNode *root = ws_design_root(design);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_buffers); i++) {
        const WsNode *buffer = ws_node_child(root, WS_F_buffers, i);
        const WsExpr *stages = ws_node_expr(buffer, WS_F_stages);
        if (stages != NULL && ws_expr_mentions(stages, name) &&
            ws_edit_laid_over(design, buffer, FALSE) != NULL)
            return TRUE;
    }
    return FALSE;
}

static void try_constant(WsGather *g, const char *name, gint64 was, gint64 value)
{
    if (value < 1 || value == was || cuts_ring(g->design, name))
        return;
    WsDraft *d = ws_gather_draft(g->design);
    gboolean done = set_constant(d, name, value);
    ws_gather_take(
        g, d, done, NULL,
        ws_phrase("%s = %" G_GINT64_FORMAT " instead of %" G_GINT64_FORMAT, name, value, was));
}

static void add_constants(WsGather *g)
{
    const WsValue *map = ws_node_get(ws_design_root(g->design), WS_F_constants);
    for (guint i = 0; map->kind == WS_VALUE_MAP && i < map->n; i++) {
        gint64 value = 0;
        if (!ws_expr_is_int(map->item[i].expr, &value) || value < 1)
            continue;
        const gint64 other[] = { value + 1,
                                 value - 1,
                                 value * 2,
                                 value / 2,
                                 value % 32 == 0 ? value * 3 / 4 : 0,
                                 value % 32 == 0 ? value * 3 / 2 : 0 };
        for (guint k = value > 8 ? 2 : 0; k < G_N_ELEMENTS(other); k++)
            try_constant(g, map->key[i], value, other[k]);
    }
}

/* --- steps --------------------------------------------------------------------------------------
 */
/* Steps whose place only the synchronisation decides, which the check judges; what computes is left
 * alone: its order is its meaning. */
static gboolean may_move(WsNodeKind kind)
{
    return kind == WS_STEP_WAIT || kind == WS_STEP_ARRIVE || kind == WS_STEP_LOAD ||
           kind == WS_STEP_STORE || kind == WS_STEP_MMA_WAIT || kind == WS_STEP_STORE_WAIT;
}

static void try_nudge(WsGather *g, const WsNode *step, gint by)
{
    if (!ws_edit_keeps_counters(g->design, step, by))
        return;
    WsDraft *d = ws_gather_draft(g->design);
    g_autofree char *label = ws_edit_label(step);
    const guint from = g->list->len;
    gboolean done = ws_edit_nudge(d, &step->identity, 1, by);
    ws_gather_take(g, d, done, step,
                   by < 0 ? ws_phrase("%s one place earlier", label)
                          : ws_phrase("%s one place later", label));
    ws_gather_moved(g, from, &step->identity, 1);
}

static void try_ahead(WsGather *g, const guint64 *node, guint n, const WsNode *step)
{
    for (guint i = 0; i < n; i++)
        if (!ws_edit_keeps_counters(g->design, ws_design_by_identity(g->design, node[i]), 0))
            return;
    WsDraft *d = ws_gather_draft(g->design);
    g_autofree char *label = ws_edit_label(step);
    const guint from = g->list->len;
    gboolean done = ws_edit_ahead(d, node, n, 1);
    ws_gather_take(g, d, done, step,
                   n > 1 ? ws_phrase("%s, with the steps before it, one round ahead", label)
                         : ws_phrase("%s one round ahead", label));
    if (step->kind != WS_STEP_MMA)
        ws_gather_moved(g, from, node, n);
}

static void try_fewer(WsGather *g, const WsNode *step)
{
    gint64 n = ws_node_int(step, WS_F_keyword, -1);
    if (n < 0)
        return;
    WsDraft *d = ws_gather_draft(g->design);
    g_autofree char *label = ws_edit_label(step);
    const guint from = g->list->len;
    gboolean done = ws_draft_set(d, step->identity, WS_F_keyword, ws_json_int(n + 1));
    ws_gather_take(g, d, done, step,
                   ws_phrase("%s leaves %" G_GINT64_FORMAT " in flight", label, n + 1));
    ws_gather_moved(g, from, &step->identity, 1);
}

static void add_steps(WsGather *g, const WsNode *owner, WsFieldId list)
{
    static const WsFieldId inner[] = { WS_F_do, WS_F_then, WS_F_else };
    g_autoptr(GArray) run = g_array_new(FALSE, FALSE, sizeof(guint64)); /* a wait and its loads */
    for (guint i = 0; i < ws_node_n_children(owner, list); i++) {
        const WsNode *step = ws_node_child(owner, list, i);
        gboolean counted = owner->kind == WS_STEP_FOR;
        if (may_move(step->kind)) {
            try_nudge(g, step, -1);
            try_nudge(g, step, 1);
            if (counted)
                try_ahead(g, &step->identity, 1, step);
        }
        if (step->kind == WS_STEP_WAIT)
            g_array_set_size(run, 0);
        if (step->kind == WS_STEP_WAIT || (step->kind == WS_STEP_LOAD && run->len))
            g_array_append_val(run, step->identity);
        if (counted && run->len > 1)
            try_ahead(g, (const guint64 *)run->data, run->len, step);
        if (step->kind == WS_STEP_MMA_WAIT || step->kind == WS_STEP_STORE_WAIT)
            try_fewer(g, step);
        for (guint k = 0; k < G_N_ELEMENTS(inner); k++)
            add_steps(g, step, inner[k]);
    }
}

/* --- what computes ------------------------------------------------------------------------------
 */

static void mark(WsGather *g, guint from)
{
    for (guint i = from; i < g->list->len; i++)
        ((WsCandidate *)g->list->pdata[i])->reorders = TRUE;
}

/* Loads of a buffer, in loops, wherever they stand. */
static void find_loads(const WsNode *owner, WsFieldId list, const char *buffer, GArray *found)
{
    static const WsFieldId inner[] = { WS_F_do, WS_F_then, WS_F_else };
    for (guint i = 0; i < ws_node_n_children(owner, list); i++) {
        const WsNode *step = ws_node_child(owner, list, i);
        if (step->kind == WS_STEP_LOAD && owner->kind == WS_STEP_FOR &&
            g_strcmp0(ws_node_text(step, WS_F_into), buffer) == 0)
            g_array_append_val(found, step->identity);
        for (guint k = 0; k < G_N_ELEMENTS(inner); k++)
            find_loads(step, inner[k], buffer, found);
    }
}

/* "k.rows(0, 64) @ j" is of "k". Caller frees. */
static char *buffer_of(const char *operand)
{
    gsize n = 0;
    while (operand && (g_ascii_isalnum(operand[n]) || operand[n] == '_'))
        n++;
    return g_strndup(operand ? operand : "", n);
}

/* A product a round ahead finds its operand there only if that is loaded a round ahead, too. */
static void try_ahead_with_load(WsGather *g, const WsNode *product, WsFieldId operand)
{
    g_autofree char *buffer = buffer_of(ws_node_text(product, operand));
    g_autofree char *label = ws_edit_label(product);
    g_autoptr(GArray) loads = g_array_new(FALSE, FALSE, sizeof(guint64));
    const WsNode *root = ws_design_root(g->design);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_groups); i++)
        find_loads(ws_node_child(root, WS_F_groups, i), WS_F_body, buffer, loads);
    if (loads->len != 1)
        return;
    const guint64 load = g_array_index(loads, guint64, 0);
    WsDraft *d = ws_gather_draft(g->design);
    gboolean done = ws_edit_ahead(d, &product->identity, 1, 1) && ws_edit_ahead(d, &load, 1, 1);
    ws_gather_take(g, d, done, product,
                   ws_phrase("%s and the load of %s one round ahead", label, buffer));
}

static void add_computing(WsGather *g, const WsNode *owner, WsFieldId list)
{
    static const WsFieldId inner[] = { WS_F_do, WS_F_then, WS_F_else };
    for (guint i = 0; i < ws_node_n_children(owner, list); i++) {
        const WsNode *step = ws_node_child(owner, list, i);
        const guint from = g->list->len;
        if (step->kind == WS_STEP_MMA && owner->kind == WS_STEP_FOR) {
            try_ahead(g, &step->identity, 1, step);
            try_ahead_with_load(g, step, WS_F_a);
            try_ahead_with_load(g, step, WS_F_b);
            WsDraft *d = ws_gather_draft(g->design);
            g_autofree char *label = ws_edit_label(step);
            gboolean done = ws_edit_ahead(d, &step->identity, 1, -1);
            ws_gather_take(g, d, done, step, ws_phrase("%s one round later", label));
        }
        mark(g, from);
        for (guint k = 0; k < G_N_ELEMENTS(inner); k++)
            add_computing(g, step, inner[k]);
    }
}

static const WsNode *turn_end(const WsNode *loop, gboolean last)
{
    const WsNode *found = NULL;
    for (guint i = 0; i < ws_node_n_children(loop, WS_F_do); i++) {
        const WsNode *step = ws_node_child(loop, WS_F_do, i);
        if (step->kind == WS_STEP_MMA && (!found || last))
            found = step;
    }
    return found;
}

/* Replicas that issue the products of a round in turn. */
static void add_turns(WsGather *g, const WsNode *owner, WsFieldId list)
{
    for (guint i = 0; i < ws_node_n_children(owner, list); i++) {
        const WsNode *step = ws_node_child(owner, list, i);
        if (step->kind != WS_STEP_FOR)
            continue;
        const WsNode *first = turn_end(step, FALSE), *last = turn_end(step, TRUE);
        for (gint other = 0; first && other < 2; other++) {
            WsConnection how = { 0 };
            WsDraft *d = ws_gather_draft(g->design);
            gboolean done = ws_edit_turn(d, last->identity, first->identity, other, &how);
            ws_gather_take(g, d, done, step,
                           other
                               ? ws_phrase_word("Replicas take turns, a tile each")
                               : ws_phrase_word("Replicas issue the products of a round in turn"));
        }
        add_turns(g, step, WS_F_do);
    }
}

/* Two replicas for the rows of one: then a larger tile fits their registers. */
static void add_shared_rows(WsGather *g, const WsNode *group)
{
    const guint from = g->list->len;
    WsDraft *d = ws_gather_draft(g->design);
    gboolean done = ws_edit_share_rows(d, group->identity);
    ws_gather_take(g, d, done, group,
                   ws_phrase("Two replicas of %s, half of the rows each", ws_node_name(group)));
    mark(g, from);
}

/* A tile stored in slabs: it needs less shared memory, and its stores run under the next tile. */
static void add_slabs(WsGather *g, const WsNode *owner, WsFieldId list)
{
    for (guint i = 0; i < ws_node_n_children(owner, list); i++) {
        const WsNode *step = ws_node_child(owner, list, i);
        add_slabs(g, step, WS_F_do);
        if (step->kind != WS_STEP_WRITE)
            continue;
        const guint from = g->list->len;
        WsDraft *d = ws_gather_draft(g->design);
        g_autofree char *label = ws_edit_label(step);
        gboolean done = ws_edit_slabs(d, step->identity);
        ws_gather_take(g, d, done, step, ws_phrase("%s and its store in slabs", label));
        mark(g, from);
    }
}

GPtrArray *ws_candidates_deep(const WsDesign *design)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    WsGather g = { design, ws_candidates_new(design), seen };
    const WsNode *root = ws_design_root(design);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_groups); i++) {
        const WsNode *group = ws_node_child(root, WS_F_groups, i);
        add_computing(&g, group, WS_F_body);
        ws_gather_reach(&g, group, WS_F_body);
        add_shared_rows(&g, group);
        add_slabs(&g, group, WS_F_body);
        if (ws_edit_replicas(group) > 1)
            add_turns(&g, group, WS_F_body);
    }
    return g.list;
}

GPtrArray *ws_candidates_new(const WsDesign *design)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    WsGather g = { design, g_ptr_array_new_with_free_func((GDestroyNotify)candidate_free), seen };
    const WsNode *root = ws_design_root(design);
    add_depths(&g, WS_F_buffers);
    add_depths(&g, WS_F_pipes);
    add_constants(&g);
    ws_gather_rotations(&g);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_groups); i++)
        add_steps(&g, ws_node_child(root, WS_F_groups, i), WS_F_body);
    return g.list;
}
