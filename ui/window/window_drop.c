/* What is dragged onto the score or the structure: a row of the palette, or a design's text. */
#include "ui/compose/edit_commands.h"
#include "ui/panels/palette_panel.h"
#include "ui/window/window_private.h"

#include <string.h>

gboolean ws_window_drop_text(WsWindow *w, const char *text, WsEditSpot spot)
{
    if (!g_str_has_prefix(text, WS_PALETTE_DRAG))
        return ws_edit_insert_text(w, text, FALSE, spot);
    const char *name = text + strlen(WS_PALETTE_DRAG);
    g_autoptr(GPtrArray) items = ws_palette_items(ws_document_design(w->document), FALSE);
    for (guint i = 0; i < items->len; i++) {
        const WsPaletteItem *item = items->pdata[i];
        if (strcmp(item->name, name))
            continue;
        ws_window_add_item(w, item, spot);
        return TRUE;
    }
    return FALSE;
}
