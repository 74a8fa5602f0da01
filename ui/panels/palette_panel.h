/* The palette: what can be added, filtered as one types; Return or a double click picks, and rows
 * can be dragged onto the score and the structure. */
#pragma once

#include "ui/document/document.h"
#include "ui/panels/palette.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef void (*WsPaletteChosen)(const WsPaletteItem *item, gpointer data);

/* A palette for the design of a document (which is watched); `templates`: of these alone. */
GtkWidget *ws_palette_panel_new(WsDocument *document, gboolean templates, WsPaletteChosen chosen,
                                gpointer data);
GtkWidget *ws_palette_panel_entry(GtkWidget *panel);
/* What a row hands over when it is dragged: "palette:load", "palette:templates/ring.wstave". */
#define WS_PALETTE_DRAG "palette:"

G_END_DECLS
