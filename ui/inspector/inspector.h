/* The inspector: every field of the selected step, and what the program made of it. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_INSPECTOR ws_inspector_get_type()
G_DECLARE_FINAL_TYPE(WsInspector, ws_inspector, WS, INSPECTOR, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_inspector_new(WsDocument *document);

G_END_DECLS
