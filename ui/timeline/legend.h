/* The legend in a window of its own: what the shapes, hatches and colours of the score say. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Shows it beside `parent`, or brings it to the front. */
void ws_legend_present(GtkWindow *parent);

G_END_DECLS
