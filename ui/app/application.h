/* The application: one process, several windows. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_APPLICATION ws_application_get_type()
G_DECLARE_FINAL_TYPE(WsApplication, ws_application, WS, APPLICATION, GtkApplication)

/* `unique` FALSE: does not talk to a running studio (tests, benchmark). */
WsApplication *ws_application_new(gboolean unique);

G_END_DECLS
