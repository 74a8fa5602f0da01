/* Light, dark and high contrast. A stored choice wins; without one the desktop's is followed. */
#pragma once

#include "score/scene.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef enum {
    WS_CHOICE_SYSTEM,
    WS_CHOICE_LIGHT,
    WS_CHOICE_DARK,
    WS_CHOICE_CONTRAST,
} WsThemeChoice; /* as in the settings schema */

/* Before GTK starts, while there is one thread: GTK_THEME becomes what the system says. */
void ws_theme_take_environment(void);
/* Once, with a display. Asks the settings portal, loads the style sheets. */
void ws_theme_start(void);
/* Emits "changed" when any of these three is new. */
GObject *ws_theme_watch(void);
WsTheme ws_theme_current(void);
/* A drawing of that size in the middle of its row, drawn again when one of these is new. */
GtkWidget *ws_theme_area_new(int width, int height, GtkDrawingAreaDrawFunc draw, gpointer data);
gboolean ws_theme_high_contrast(void);
WsThemeChoice ws_theme_choice(void);
void ws_theme_choose(WsThemeChoice choice); /* and stores it */
void ws_theme_restyle(void);                /* the font of code is another one */

G_END_DECLS
