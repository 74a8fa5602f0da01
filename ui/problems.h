/* The problems: findings of reading, elaboration, check and clock. */
#pragma once

#include "ui/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_PROBLEMS ws_problems_get_type()
G_DECLARE_FINAL_TYPE(WsProblems, ws_problems, WS, PROBLEMS, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_problems_new(WsDocument *document);

G_END_DECLS
