/* The measurements: the bound first, then figures of the traces, the range and the results. */
#pragma once

#include "ui/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_MEASUREMENTS ws_measurements_get_type()
G_DECLARE_FINAL_TYPE(WsMeasurements, ws_measurements, WS, MEASUREMENTS, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_measurements_new(WsDocument *document);

G_END_DECLS
