/* Headers that take most of the time of compiling a file of the studio: with -Dpch=true they are
 * read once. What a file needs it includes itself. */
#ifndef UI_GTK_PCH_H
#define UI_GTK_PCH_H

#include <gtk/gtk.h>
#include <gtksourceview/gtksource.h>

#endif
