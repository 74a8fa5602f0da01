/* The score: staffs, rings, units and edges of the document's program over time. */
#pragma once

#include "ui/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_TIMELINE ws_timeline_get_type()
G_DECLARE_FINAL_TYPE(WsTimeline, ws_timeline, WS, TIMELINE, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_timeline_new(WsDocument *document);

G_END_DECLS
