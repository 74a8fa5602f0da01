/* Proposals become edits: what is not looked at is never drawn. */
#include "mend/fixer.h"

static gboolean draw(WsDraft *d, const WsMendDeed *one, guint64 *made)
{
    const guint64 owner = one->owner ? one->owner : *made;
    guint64 inserted;
    switch (one->what) {
    case WS_MEND_SET:
        return ws_draft_set(d, one->node, one->field, one->value);
    case WS_MEND_REPLACE:
        return ws_draft_replace(d, one->node, one->value);
    case WS_MEND_REMOVE:
        return ws_draft_remove(d, one->node);
    case WS_MEND_MOVE:
        return ws_draft_move(d, one->node, owner, one->field, one->index);
    case WS_MEND_INSERT:
        inserted = one->index == G_MAXUINT
                       ? ws_draft_append(d, owner, one->field, one->value)
                       : ws_draft_insert(d, owner, one->field, one->index, one->value);
        *made = *made ? *made : inserted;
        return inserted != 0;
    }
    return FALSE;
}

gboolean ws_fix_draw(WsFix *fix)
{
    guint64 made = 0;
    for (guint i = 0; i < fix->deeds->len; i++) /* each takes its value, whether it fits or not */
        draw(fix->draft, &g_array_index(fix->deeds, WsMendDeed, i), &made);
    g_array_set_size(fix->deeds, 0);
    return !fix->draft->why && fix->draft->edits->len > 0;
}

char *ws_fix_deeds(const WsFix *fix)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < fix->deeds->len; i++) {
        const WsMendDeed *one = &g_array_index(fix->deeds, WsMendDeed, i);
        g_autofree char *value = one->value ? ws_json_print(one->value) : NULL;
        g_string_append_printf(s, "%d %" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER "x %d %u %s\n",
                               (int)one->what, one->node, one->owner, (int)one->field, one->index,
                               value ? value : "");
    }
    return g_string_free(s, FALSE);
}

void ws_fix_free(WsFix *fix)
{
    if (!fix)
        return;
    for (guint i = 0; i < fix->deeds->len; i++)
        ws_json_free(g_array_index(fix->deeds, WsMendDeed, i).value);
    g_array_unref(fix->deeds);
    g_free(fix->title);
    g_free(fix->said);
    ws_draft_free(fix->draft);
    g_free(fix);
}
