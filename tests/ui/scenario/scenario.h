/* Scenarios: the real application and its windows in this process, on a display of their own,
 * driven by a real pointer and keyboard (xdotool) and looked at from inside. Nothing waits by the
 * clock: WAIT_FOR turns the main loop until its condition holds, and fails the case after three
 * minutes.
 */
#pragma once

#include "ui/timeline/timeline.h"
#include "ui/window/window.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef struct {
    WsWindow *window;
    WsDocument *document;
    GtkWidget *timeline;
} Scenario;

/* Adds "/ui/NAME"; the case begins with a window on gemm-bf16 and ends with no window. */
void scenario_add(const char *name, void (*run)(Scenario *s));
/* The same with an empty window. */
void scenario_add_empty(const char *name, void (*run)(Scenario *s));
int scenario_main(int argc, char **argv, void (*add)(void));

GtkApplication *scenario_application(void);
/* A file of the source tree. */
GFile *scenario_file(const char *path);
void scenario_open(Scenario *s, const char *path); /* must succeed */
/* Lays the predicted trace of the window under itself as if it had been measured. */
void scenario_measure(Scenario *s);
/* FALSE and a skipped case if this program is not installed. */
gboolean scenario_needs(const char *program);

/* --- time ---------------------------------------------------------------------------------------
 */
void scenario_turn(void);

/* A warning of GTK that says nothing of this program does not end a test; call after g_test_init.
 */
void scenario_log(void);
/* one turn of the main loop, at most 5 ms of waiting */
void scenario_settle(GtkWidget *widget); /* until what was changed is on screen */
/* What there is to see: windows with their focus, popovers, the last click. */
void scenario_say(void);
gboolean scenario_late(gint64 since, const char *what, const char *file, int line);
#define WAIT_FOR(condition)                                                                        \
    for (gint64 since_ = g_get_monotonic_time();                                                   \
         !(condition) && !scenario_late(since_, #condition, __FILE__, __LINE__); scenario_turn())

/* --- pointer and keyboard ------------------------------------------------------------------------
 */
/* Runs xdotool with these words, and turns the main loop until it and its events are through. */
void scenario_xdo(const char *words, ...) G_GNUC_PRINTF(1, 2);
/* What has been sent so far: presses of a button (a double click is one), turns of the wheel (one
 * for all in a row), keys and texts typed. */
typedef struct {
    guint presses, wheel, keys, typed;
} ScenarioCount;
extern ScenarioCount scenario_count;
/* A point of a widget on the screen. */
void scenario_on_screen(GtkWidget *widget, double x, double y, int *sx, int *sy);
/* The one press: arrives at a point of the widget and does this with the pointer: "mousedown 1",
 * "click 1". */
void scenario_press(GtkWidget *widget, double x, double y, const char *how);
void scenario_point(GtkWidget *widget, double x, double y); /* moves the pointer there */
/* Button down at one point, up at another, in steps so that no threshold is jumped over. `modifier`
 * is a key held meanwhile ("shift"), or NULL. */
void scenario_drag(GtkWidget *widget, double x0, double y0, double x1, double y1, int button,
                   const char *modifier);
/* The same from one widget onto another, without waiting for what the drop does. */
void scenario_drag_onto(GtkWidget *from, double x0, double y0, GtkWidget *to, double x1, double y1);
void scenario_click(GtkWidget *widget, double x, double y, int button, const char *modifier);
/* In its middle, once it stands still; if its panel is filled anew meanwhile, what stands in its
 * place. */
void scenario_click_widget(GtkWidget *widget, const char *modifier);
void scenario_key(const char *keys); /* as of "xdotool key", into the focused window */
void scenario_type(const char *text);
void scenario_focus(GtkWidget *window); /* gives a toplevel the keyboard */

extern char scenario_clicked[128]; /* what was picked under the last click */

/* --- looking -------------------------------------------------------------------------------------
 */
typedef gboolean (*ScenarioTest)(GtkWidget *widget, gconstpointer data);
GtkWidget *scenario_find(GtkWidget *root, ScenarioTest test, gconstpointer data);
GPtrArray *scenario_find_all(GtkWidget *root, ScenarioTest test, gconstpointer data);
/* Mapped widgets whose text (of labels, entries, text views) contains `text`. */
GtkWidget *scenario_find_text(GtkWidget *root, const char *text);
GtkWidget *scenario_find_type(GtkWidget *root, const char *type); /* by type name, mapped */
GtkWindow *scenario_toplevel(const char *type);                   /* an open window of this type */
char *scenario_own_text(GtkWidget *w); /* of a label, entry or text view; else NULL; caller frees */
gboolean scenario_is_popover(GtkWidget *w, gconstpointer unused); /* one that is open */
/* All text to be seen under a widget; caller frees. */
char *scenario_text(GtkWidget *root);
void scenario_act(Scenario *s, const char *action); /* a win.* action, which must be enabled */
gboolean scenario_enabled(Scenario *s, const char *action);
/* What a widget looks like, as the cairo renderer draws it. Caller frees. */
cairo_surface_t *scenario_picture(GtkWidget *widget);

G_END_DECLS
