/* The resources: shared memory, registers, barriers, threads against their limits. */
#pragma once

#include "ui/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_RESOURCES ws_resources_get_type()
G_DECLARE_FINAL_TYPE(WsResources, ws_resources, WS, RESOURCES, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_resources_new(WsDocument *document);

G_END_DECLS
