/* A tile that is staged and stored whole, in slabs of 128 bytes a row instead: two slabs of shared
 * memory stand for the whole tile, one is written while the other is stored, and the last ones
 * leave under the next tile. Only where the staging is written and stored once. */
#include "edit/look.h"

#include <string.h>

/* The steps from `write` to the wait behind the store, in one list. */
typedef struct {
    const WsNode *owner, *write, *store, *buffer;
    WsFieldId list;
    guint first, end;
    gint64 columns;     /* of a slab */
    const char *across; /* columns of the tile, as text */
} Slabs;

/* The buffer of "c" or "c.rows(…)"; NULL: it is another reference, or one of a round. */
static const WsNode *staging(const WsDesign *design, const WsNode *step, WsFieldId field)
{
    const WsRef *ref = ws_node_refv(step, field);
    if (!ref || ref->element || ref->use)
        return NULL;
    for (guint i = 0; i < ref->n_views; i++)
        if (ref->view[i].kind != WS_VIEW_ROWS)
            return NULL;
    const WsNode *buffer = ws_edit_object(design, ref->name);
    return buffer && buffer->kind == WS_NODE_BUFFER ? buffer : NULL;
}

/* As it is written; caller frees. */
static char *text_of(const WsNode *step, WsFieldId field)
{
    return ws_value_words(ws_node_row(step->kind, field), ws_node_get(step, field));
}

static const WsNode *value_of(const WsNode *group, const char *name)
{
    for (guint i = 0; i < ws_node_n_children(group, WS_F_values); i++)
        if (g_strcmp0(ws_node_name(ws_node_child(group, WS_F_values, i)), name) == 0)
            return ws_node_child(group, WS_F_values, i);
    return NULL;
}

/* Columns of a tile of two dimensions, as text; NULL: it has others. Caller frees. */
static char *columns_of(const WsNode *node)
{
    const WsValue *tile = ws_node_get(node, WS_F_tile);
    return tile && tile->kind == WS_VALUE_LIST && tile->n == 2 && tile->item[1].expr
               ? ws_expr_print(tile->item[1].expr)
               : NULL;
}

static const WsNode *step_at(const Slabs *s, guint index)
{
    return index < ws_node_n_children(s->owner, s->list) ? ws_node_child(s->owner, s->list, index)
                                                         : NULL;
}

static gboolean is_meeting(const WsNode *step)
{
    static const WsFieldId may[] = { WS_F_keyword, WS_F_id, WS_F_note };
    return step && step->kind == WS_STEP_SYNC && ws_edit_has_only(step, may, G_N_ELEMENTS(may)) &&
           g_strcmp0(ws_node_text(step, WS_F_keyword), "group") == 0;
}

static gboolean is_wait(const WsNode *step)
{
    static const WsFieldId may[] = { WS_F_keyword, WS_F_id, WS_F_note };
    return step && step->kind == WS_STEP_STORE_WAIT &&
           ws_edit_has_only(step, may, G_N_ELEMENTS(may)) &&
           ws_node_int(step, WS_F_keyword, -1) == 0;
}

/* write; sync group; store; store_wait 0; sync group. */
static gboolean find_steps(Slabs *s)
{
    static const WsFieldId writes[] = { WS_F_keyword, WS_F_to, WS_F_id, WS_F_note };
    static const WsFieldId stores[] = { WS_F_keyword, WS_F_at,   WS_F_from,
                                        WS_F_open,    WS_F_note, WS_F_id };
    const guint at = s->first;
    s->store = step_at(s, at + 2);
    s->end = at + 4;
    if (!ws_edit_has_only(s->write, writes, G_N_ELEMENTS(writes)) ||
        !is_meeting(step_at(s, at + 1)) || !s->store || s->store->kind != WS_STEP_STORE ||
        !ws_edit_has_only(s->store, stores, G_N_ELEMENTS(stores)) ||
        ws_node_bool(s->store, WS_F_open, FALSE) || !is_wait(step_at(s, at + 3)))
        return FALSE;
    if (is_meeting(step_at(s, at + 4)))
        s->end++;
    const WsValue *place = ws_node_get(s->store, WS_F_at);
    g_autofree char *to = text_of(s->write, WS_F_to), *from = text_of(s->store, WS_F_from);
    return place->kind == WS_VALUE_LIST && place->n == 2 && strcmp(from, to) == 0;
}

static guint count_stores(const WsNode *owner, WsFieldId list)
{
    static const WsFieldId inner[] = { WS_F_do, WS_F_then, WS_F_else };
    guint n = 0;
    for (guint i = 0; i < ws_node_n_children(owner, list); i++) {
        const WsNode *step = ws_node_child(owner, list, i);
        n += step->kind == WS_STEP_STORE || step->kind == WS_STEP_STORE_WAIT;
        for (guint k = 0; k < G_N_ELEMENTS(inner); k++)
            n += count_stores(step, inner[k]);
    }
    return n;
}

/* In loops alone, so that the group's end comes after every store. */
static gboolean in_loops(const WsDesign *design, const WsNode *step, const WsNode *group)
{
    for (const WsNode *at = ws_design_owner(design, step, NULL, NULL); at != group;
         at = ws_design_owner(design, at, NULL, NULL))
        if (at == NULL || at->kind != WS_STEP_FOR)
            return FALSE;
    return TRUE;
}

static gboolean is_staging(const WsDesign *design, const WsNode *buffer)
{
    static const WsFieldId may[] = { WS_F_name, WS_F_dtype, WS_F_tile, WS_F_id, WS_F_note };
    g_autoptr(GArray) mentions = ws_edit_mentions(design, ws_node_name(buffer));
    return ws_edit_has_only(buffer, may, G_N_ELEMENTS(may)) && mentions->len == 2 &&
           ws_edit_laid_over(design, buffer, FALSE) == NULL;
}

WsJson *ws_slabs_loop(const WsSlabs *s)
{
    g_autofree char *use = g_strdup_printf("%s.total", s->loop);
    WsJson *at = ws_json_list(), *steps = ws_json_list();
    ws_json_add(at, ws_json_expr(s->row));
    ws_json_add(at, ws_json_format(strpbrk(s->column, "<>=&|!") ? "(%s) + %s*%s" : "%s + %s*%s",
                                   s->column, s->loop, s->width));
    ws_json_add(steps, WS_MAKE(WS_STEP_STORE_WAIT, { WS_F_keyword, ws_json_int(1) }));
    ws_json_add(steps, WS_MAKE(WS_STEP_SYNC, { WS_F_keyword, ws_json_text("group") }));
    ws_json_add(steps,
                WS_MAKE(WS_STEP_WRITE,
                        { WS_F_keyword, ws_json_format("%s.cols(%s*%s, %s)", s->value, s->loop,
                                                       s->width, s->width) },
                        { WS_F_to, ws_json_text(s->staging) }, { WS_F_use, ws_json_text(use) }));
    ws_json_add(steps, WS_MAKE(WS_STEP_SYNC, { WS_F_keyword, ws_json_text("group") }));
    ws_json_add(steps,
                WS_MAKE(WS_STEP_STORE, { WS_F_keyword, ws_json_text(s->tensor) }, { WS_F_at, at },
                        { WS_F_from, ws_json_text(s->staging) }, { WS_F_use, ws_json_text(use) }));
    return WS_MAKE(WS_STEP_FOR, { WS_F_keyword, ws_json_text(s->loop) },
                   { WS_F_count, ws_json_format("%s/%s", s->columns, s->width) },
                   { WS_F_unroll, ws_json_text("full") }, { WS_F_do, steps });
}

static gboolean make(WsDraft *d, const Slabs *s, const WsNode *group)
{
    const guint64 owner = s->owner->identity, buffer = s->buffer->identity;
    const WsValue *at = ws_node_get(s->store, WS_F_at), *tile = ws_node_get(s->buffer, WS_F_tile);
    g_autofree char *loop =
        ws_edit_taken(d->design, group, "s") ? ws_edit_fresh(d->design, "s") : g_strdup("s");
    g_autofree char *to = text_of(s->write, WS_F_to);
    g_autofree char *row = ws_expr_print(at->item[0].expr);
    g_autofree char *column = ws_expr_print(at->item[1].expr);
    g_autofree char *rows = ws_expr_print(tile->item[0].expr);
    g_autofree char *width = g_strdup_printf("%" G_GINT64_FORMAT, s->columns);
    WsJson *slab = ws_json_list();
    ws_json_add(slab, ws_json_expr(rows));
    ws_json_add(slab, ws_json_int(s->columns));
    g_autoptr(GArray) old = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (guint i = s->first; i < s->end; i++)
        g_array_append_val(old, step_at(s, i)->identity);
    const WsSlabs text = { loop, ws_node_text(s->write, WS_F_keyword), s->across, width,
                           to,   ws_node_text(s->store, WS_F_keyword), row,       column };
    const guint64 identity = group->identity;
    const guint64 made = ws_draft_insert(d, owner, s->list, s->first, ws_slabs_loop(&text));
    gboolean ok =
        made != 0 && ws_draft_set(d, buffer, WS_F_tile, slab) &&
        ws_draft_set(d, buffer, WS_F_stages, ws_json_int(2)) &&
        ws_draft_append(d, identity, WS_F_body,
                        WS_MAKE(WS_STEP_STORE_WAIT, { WS_F_keyword, ws_json_int(0) })) != 0;
    for (guint i = 0; ok && i < old->len; i++)
        ok = ws_draft_remove(d, g_array_index(old, guint64, i));
    if (ok)
        ws_draft_touch(d, made);
    return ok;
}

gboolean ws_edit_slabs(WsDraft *d, guint64 write)
{
    Slabs s = { .write = ws_draft_node(d, write) };
    const WsNode *group = s.write ? ws_edit_group(d->design, s.write) : NULL;
    if (!group || s.write->kind != WS_STEP_WRITE)
        return ws_draft_refuse(d, "select the step that writes a tile to be stored");
    s.owner = ws_design_owner(d->design, s.write, &s.list, &s.first);
    g_autofree char *label = ws_edit_label(s.write);
    if (!find_steps(&s) || !in_loops(d->design, s.write, group) ||
        count_stores(group, WS_F_body) != 2)
        return ws_draft_refuse(d,
                               "%s is not followed by a meeting of the group, the only store of "
                               "the group, and a wait for it",
                               label);
    const char *name = ws_node_text(s.write, WS_F_keyword); /* NULL: a part of it */
    const WsNode *value = name ? value_of(group, name) : NULL;
    s.buffer = staging(d->design, s.write, WS_F_to);
    if (!value || !s.buffer || !is_staging(d->design, s.buffer))
        return ws_draft_refuse(
            d, "%s writes no whole tile to a buffer that serves this store alone", label);
    g_autofree char *across = columns_of(s.buffer), *own = columns_of(value);
    s.across = across;
    const guint bytes = ws_edit_element_bytes(s.buffer);
    s.columns = bytes > 0 ? WS_EDIT_ROW_BYTES / bytes : 0;
    const gint64 all = across ? ws_edit_number(d->design, across) : 0;
    if (!across || g_strcmp0(across, own) != 0 || s.columns == 0 || all < 2 * s.columns ||
        all % s.columns != 0)
        return ws_draft_refuse(d, "the columns of %s are not two slabs of %d bytes or more",
                               ws_node_name(s.buffer), WS_EDIT_ROW_BYTES);
    ws_draft_name(d, "Store %s in slabs", ws_node_text(s.store, WS_F_keyword));
    return make(d, &s, group);
}
