/* A group whose tile is shared out between two replicas by its rows: each multiplies, writes and
 * stores its half. Only where every step of the group is one of which that can be said; what the
 * barriers then count is for elaboration and the check. */
#include "edit/look.h"

#include <string.h>

typedef struct {
    WsDraft *d;
    char *rows;       /* of every value of the group, as text */
    GArray *multiply; /* guint64: products, writes and stores */
    GArray *write, *store;
} Share;

static gboolean is_name(const char *text)
{
    if (!text || !(g_ascii_isalpha(*text) || *text == '_'))
        return FALSE;
    while (g_ascii_isalnum(*text) || *text == '_')
        text++;
    return *text == '\0';
}

static char *rows_of(const WsNode *node)
{
    const WsValue *tile = ws_node_get(node, WS_F_tile);
    return tile && tile->kind == WS_VALUE_LIST && tile->n == 2 && tile->item[0].expr
               ? ws_expr_print(tile->item[0].expr)
               : NULL;
}

/* A whole buffer, one of its kind, of as many rows. */
static gboolean is_whole(const Share *s, const WsNode *step, WsFieldId field)
{
    const char *text = ws_node_text(step, field);
    const WsNode *buffer = is_name(text) ? ws_edit_object(s->d->design, text) : NULL;
    if (!buffer || buffer->kind != WS_NODE_BUFFER || ws_node_has(buffer, WS_F_array) ||
        ws_node_has(buffer, WS_F_over))
        return FALSE;
    g_autofree char *rows = rows_of(buffer);
    return g_strcmp0(rows, s->rows) == 0;
}

static gboolean is_group(const WsNode *step)
{
    return g_strcmp0(ws_node_text(step, WS_F_keyword), "group") == 0;
}

static gboolean can_multiply(const Share *s, const WsNode *step)
{
    static const WsFieldId may[] = { WS_F_keyword, WS_F_a,    WS_F_b,  WS_F_first, WS_F_use,
                                     WS_F_open,    WS_F_when, WS_F_id, WS_F_note,  WS_F_ahead };
    return is_name(ws_node_text(step, WS_F_keyword)) && is_whole(s, step, WS_F_a) &&
           strcmp(ws_node_text(step, WS_F_a), ws_node_text(step, WS_F_b)) != 0 &&
           ws_edit_has_only(step, may, G_N_ELEMENTS(may));
}

static gboolean can_write(const Share *s, const WsNode *step)
{
    static const WsFieldId may[] = { WS_F_keyword, WS_F_to, WS_F_id, WS_F_note, WS_F_when };
    return is_name(ws_node_text(step, WS_F_keyword)) && is_whole(s, step, WS_F_to) &&
           ws_edit_has_only(step, may, G_N_ELEMENTS(may));
}

static gboolean can_store(const Share *s, const WsNode *step)
{
    static const WsFieldId may[] = { WS_F_keyword, WS_F_at,   WS_F_from, WS_F_open,
                                     WS_F_id,      WS_F_note, WS_F_when };
    const WsValue *at = ws_node_get(step, WS_F_at);
    return is_whole(s, step, WS_F_from) && at->kind == WS_VALUE_LIST && at->n == 2 &&
           ws_edit_has_only(step, may, G_N_ELEMENTS(may));
}

/* Steps that both replicas do alike. */
static gboolean is_alike(const WsNode *step)
{
    static const WsFieldId loops[] = { WS_F_keyword, WS_F_over, WS_F_count,
                                       WS_F_do,      WS_F_id,   WS_F_note };
    static const WsFieldId waits[] = { WS_F_keyword, WS_F_use,  WS_F_when,
                                       WS_F_id,      WS_F_note, WS_F_ahead };
    static const WsNodeKind plain[] = { WS_STEP_WAIT, WS_STEP_ARRIVE, WS_STEP_MMA_WAIT,
                                        WS_STEP_STORE_WAIT };
    if (step->kind == WS_STEP_FOR)
        return ws_edit_has_only(step, loops, G_N_ELEMENTS(loops));
    gboolean waits_alone = step->kind == WS_STEP_SYNC && is_group(step);
    for (guint i = 0; i < G_N_ELEMENTS(plain); i++)
        waits_alone = waits_alone || step->kind == plain[i];
    return waits_alone && ws_edit_has_only(step, waits, G_N_ELEMENTS(waits));
}

static gboolean look(Share *s, const WsNode *owner, WsFieldId list)
{
    for (guint i = 0; i < ws_node_n_children(owner, list); i++) {
        const WsNode *step = ws_node_child(owner, list, i);
        GArray *found = step->kind == WS_STEP_MMA     ? s->multiply
                        : step->kind == WS_STEP_WRITE ? s->write
                        : step->kind == WS_STEP_STORE ? s->store
                                                      : NULL;
        const gboolean can = found == s->multiply && found ? can_multiply(s, step)
                             : found == s->write && found  ? can_write(s, step)
                             : found                       ? can_store(s, step)
                                                           : is_alike(step);
        if (!can) {
            g_autofree char *label = ws_edit_label(step);
            return ws_draft_refuse(s->d, "%s cannot be shared out by rows", label);
        }
        if (found)
            g_array_append_val(found, step->identity);
        if (step->kind == WS_STEP_FOR && !look(s, step, WS_F_do))
            return FALSE;
    }
    return TRUE;
}

static gboolean narrow(const Share *s, guint64 step, WsFieldId field)
{
    const char *name = ws_node_text(ws_draft_node(s->d, step), field);
    return ws_draft_set(
        s->d, step, field,
        ws_json_format("%s.rows(replica*((%s)/2), (%s)/2)", name, s->rows, s->rows));
}

static gboolean halve(const Share *s, guint64 value)
{
    WsJson *tile = ws_json_list();
    g_autofree char *half = g_strdup_printf("(%s)/2", s->rows);
    const WsValue *was = ws_node_get(ws_draft_node(s->d, value), WS_F_tile);
    g_autofree char *columns = ws_expr_print(was->item[1].expr);
    ws_json_add(tile, ws_json_expr(half));
    ws_json_add(tile, ws_json_expr(columns));
    return ws_draft_set(s->d, value, WS_F_tile, tile);
}

static gboolean shift(const Share *s, guint64 step)
{
    WsJson *at = ws_json_list();
    const WsValue *was = ws_node_get(ws_draft_node(s->d, step), WS_F_at);
    g_autofree char *row = ws_expr_print(was->item[0].expr);
    g_autofree char *column = ws_expr_print(was->item[1].expr);
    g_autofree char *now = g_strdup_printf("(%s) + replica*((%s)/2)", row, s->rows);
    ws_json_add(at, ws_json_expr(now));
    ws_json_add(at, ws_json_expr(column));
    return ws_draft_set(s->d, step, WS_F_at, at);
}

static gboolean share(const Share *s, const WsNode *group)
{
    const guint64 identity = group->identity;
    g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (guint i = 0; i < ws_node_n_children(group, WS_F_values); i++)
        g_array_append_val(values, ws_node_child(group, WS_F_values, i)->identity);
    gboolean ok = ws_draft_set(s->d, identity, WS_F_replicate, ws_json_int(2));
    for (guint i = 0; ok && i < values->len; i++)
        ok = halve(s, g_array_index(values, guint64, i));
    for (guint i = 0; ok && i < s->multiply->len; i++)
        ok = narrow(s, g_array_index(s->multiply, guint64, i), WS_F_a);
    for (guint i = 0; ok && i < s->write->len; i++)
        ok = narrow(s, g_array_index(s->write, guint64, i), WS_F_to);
    for (guint i = 0; ok && i < s->store->len; i++)
        ok = narrow(s, g_array_index(s->store, guint64, i), WS_F_from) &&
             shift(s, g_array_index(s->store, guint64, i));
    return ok;
}

/* The rows of all values of the group; NULL: they differ. Caller frees. */
static char *rows_of_values(const WsNode *group)
{
    g_autofree char *rows = NULL;
    for (guint i = 0; i < ws_node_n_children(group, WS_F_values); i++) {
        g_autofree char *own = rows_of(ws_node_child(group, WS_F_values, i));
        if (!own || (rows && strcmp(rows, own) != 0))
            return NULL;
        g_free(rows);
        rows = g_steal_pointer(&own);
    }
    return g_steal_pointer(&rows);
}

gboolean ws_edit_share_rows(WsDraft *d, guint64 node)
{
    const WsNode *group = ws_draft_node(d, node);
    group = group ? ws_edit_group(d->design, group) : NULL;
    g_autofree char *rows = group ? rows_of_values(group) : NULL;
    if (!rows || ws_edit_replicas(group) != 1)
        return ws_draft_refuse(d,
                               "select a group of one replica, all values of which have the same "
                               "rows");
    g_autoptr(GArray) multiply = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_autoptr(GArray) write = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_autoptr(GArray) store = g_array_new(FALSE, FALSE, sizeof(guint64));
    Share s = { d, rows, multiply, write, store };
    if (!look(&s, group, WS_F_body))
        return FALSE;
    if (multiply->len == 0)
        return ws_draft_refuse(d, "the group has no product whose rows could be shared out");
    g_autofree char *name = g_strdup(ws_node_name(group));
    ws_draft_touch(d, group->identity);
    ws_draft_name(d, "Share the rows of %s out between two replicas", name);
    return share(&s, group);
}
