/* The measurements: what limits the launch, then predicted beside measured figures, the time range,
 * and the results of rehearsals and runs. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_MEASUREMENTS ws_measurements_get_type()
G_DECLARE_FINAL_TYPE(WsMeasurements, ws_measurements, WS, MEASUREMENTS, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_measurements_new(WsDocument *document);
/* Brings all figures up to date; else it happens when the panel is on screen. Statistics of long
 * traces follow from a thread: see ws_measurements_ready(). */
void ws_measurements_update(WsMeasurements *measurements);
gboolean ws_measurements_ready(WsMeasurements *measurements); /* what is shown is up to date */
/* Goes to "summary", "loops", "steps", "waits", "overlap", "range", "results", "next", "runs" or
 * "two-runs"; FALSE: no such. */
gboolean ws_measurements_show(WsMeasurements *measurements, const char *page);
/* The page that is shown, as text with tabulators. Caller frees. Also "measurements.copy". */
char *ws_measurements_copy(WsMeasurements *measurements);

G_END_DECLS
