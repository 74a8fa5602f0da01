/* The meters: what the design takes of the machine's shared memory, registers, threads, barriers.
 */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_RESOURCES ws_resources_get_type()
G_DECLARE_FINAL_TYPE(WsResources, ws_resources, WS, RESOURCES, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_resources_new(WsDocument *document);

typedef enum { WS_METER_FREE, WS_METER_NEAR, WS_METER_OVER } WsMeterState;
typedef struct {
    char *name; /* "Shared memory" */
    char *text; /* "196 672 of 232 448 bytes" */
    char *help; /* one line */
    gint64 used, limit;
    WsMeterState state;
} WsMeter;
/* The meters of a program; a meter is NEAR above nine tenths of its limit (a full file of registers
 * is meant to be full: there NEAR is never said). GPtrArray of WsMeter*, frees them. */
GPtrArray *ws_meters_new(const WsProgram *p);

G_END_DECLS
