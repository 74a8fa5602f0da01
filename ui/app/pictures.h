/* The pictures of the manual and of the READMEs, drawn by the studio itself: light and dark. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Writes NAME.png and NAME-dark.png into `folder` for each picture; prints what it made. 0, or 3 if
 * something is missing (as the command line tool's "outside what can be done here"). */
int ws_pictures_run(GtkApplication *application, const char *folder);

G_END_DECLS
