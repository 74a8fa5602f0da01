/* The pointer of a scenario: where it goes, what it presses. */
#include "scenario.h"

#include <gdk/x11/gdkx.h>

#define SECONDS G_USEC_PER_SEC

void scenario_on_screen(GtkWidget *widget, double x, double y, int *sx, int *sy)
{
    GtkNative *native = gtk_widget_get_native(widget);
    GdkSurface *surface = gtk_native_get_surface(native);
    GdkDisplay *display = gdk_surface_get_display(surface);
    graphene_point_t in = GRAPHENE_POINT_INIT((float)x, (float)y), out;
    double tx, ty;
    int rx, ry;
    Window child;
    g_assert_true(gtk_widget_compute_point(widget, GTK_WIDGET(native), &in, &out));
    gtk_native_get_surface_transform(native, &tx, &ty);
    G_GNUC_BEGIN_IGNORE_DEPRECATIONS
    Display *x11 = gdk_x11_display_get_xdisplay(display);
    XTranslateCoordinates(x11, gdk_x11_surface_get_xid(surface),
                          gdk_x11_display_get_xrootwindow(display), 0, 0, &rx, &ry, &child);
    G_GNUC_END_IGNORE_DEPRECATIONS
    *sx = rx + (int)(out.x + tx + 0.5);
    *sy = ry + (int)(out.y + ty + 0.5);
}

void scenario_point(GtkWidget *widget, double x, double y)
{
    int sx, sy;
    scenario_on_screen(widget, x, y, &sx, &sy);
    scenario_xdo("mousemove %d %d", sx, sy);
}

/* The pointer is there before a button goes down, as a hand's is: the tooltip of where it was,
 * which may lie over the place, is gone then. A press in the same instant would be the tooltip's.
 */
static void arrive(GtkWidget *widget, int sx, int sy)
{
    scenario_xdo("mousemove %d %d", sx, sy);
    scenario_settle(widget);
    /* A hand is never still: what was laid out anew under the pointer hears of it by a motion. */
    scenario_xdo("mousemove %d %d mousemove %d %d", sx + 1, sy, sx, sy);
}

void scenario_press(GtkWidget *widget, double x, double y, const char *how)
{
    int sx, sy;
    g_autoptr(GtkWidget) root = g_object_ref(GTK_WIDGET(gtk_widget_get_native(widget)));
    scenario_on_screen(widget, x, y, &sx, &sy);
    arrive(root, sx, sy); /* the widget may be taken away meanwhile */
    scenario_xdo("%s", how);
}

static char *held(const char *modifier, const char *how)
{
    return modifier ? g_strdup_printf("%s %s ", how, modifier) : g_strdup("");
}

static void move_held(int ax, int ay, int bx, int by, int steps)
{
    for (int i = 1; i <= steps; i++)
        scenario_xdo("mousemove %d %d", ax + (bx - ax) * i / steps, ay + (by - ay) * i / steps);
}

void scenario_drag(GtkWidget *widget, double x0, double y0, double x1, double y1, int button,
                   const char *modifier)
{
    int ax, ay, bx, by;
    g_autofree char *down = held(modifier, "keydown"), *up = held(modifier, " keyup");
    g_autofree char *how = g_strdup_printf("%smousedown %d", down, button);
    scenario_on_screen(widget, x0, y0, &ax, &ay);
    scenario_on_screen(widget, x1, y1, &bx, &by);
    scenario_press(widget, x0, y0, how);
    move_held(ax, ay, bx, by, 8);
    scenario_settle(widget);
    g_strchomp(up);
    scenario_xdo("mouseup %d%s", button, up);
    scenario_settle(widget);
}

void scenario_drag_onto(GtkWidget *from, double x0, double y0, GtkWidget *to, double x1, double y1)
{
    int ax, ay, bx, by;
    scenario_on_screen(from, x0, y0, &ax, &ay);
    scenario_on_screen(to, x1, y1, &bx, &by);
    scenario_press(from, x0, y0, "mousedown 1");
    move_held(ax, ay, bx, by, 12);
    scenario_settle(GTK_WIDGET(gtk_widget_get_root(to)));
    scenario_xdo("mouseup 1");
}

static void note_click(GtkWidget *widget, double x, double y)
{
    GtkWidget *root = GTK_WIDGET(gtk_widget_get_native(widget)), *hit = NULL;
    double rx = 0, ry = 0;
    if (gtk_widget_translate_coordinates(widget, root, x, y, &rx, &ry))
        hit = gtk_widget_pick(root, rx, ry, GTK_PICK_DEFAULT);
    g_snprintf(scenario_clicked, sizeof scenario_clicked, "%s at %d, %d where %s was",
               G_OBJECT_TYPE_NAME(widget), (int)rx, (int)ry,
               hit ? G_OBJECT_TYPE_NAME(hit) : "nothing");
}

void scenario_click(GtkWidget *widget, double x, double y, int button, const char *modifier)
{
    g_autoptr(GtkWidget) held_on = g_object_ref(widget); /* the click may take it away */
    g_autoptr(GtkWidget) root = g_object_ref(GTK_WIDGET(gtk_widget_get_native(widget)));
    g_autofree char *down = held(modifier, "keydown"), *up = held(modifier, " keyup");
    g_strchomp(up);
    g_autofree char *how = g_strdup_printf("%smousedown %d mouseup %d%s", down, button, button, up);
    note_click(widget, x, y);
    scenario_press(widget, x, y, how);
    GtkWidget *left = gtk_widget_get_frame_clock(widget) ? widget : root;
    if (gtk_widget_get_frame_clock(left))
        scenario_settle(left);
}

static gboolean was_idle(gpointer done)
{
    *(gboolean *)done = TRUE;
    return G_SOURCE_REMOVE;
}

/* Until what waits for an idle moment has run: labels that show or hide their neighbours then. Not
 * for ever, since an animation may leave no such moment. */
static void wait_idle(void)
{
    gboolean done = FALSE;
    guint id = g_idle_add_full(G_PRIORITY_LOW, was_idle, &done, NULL);
    for (gint64 since = g_get_monotonic_time(); !done && g_get_monotonic_time() - since < SECONDS;)
        scenario_turn();
    if (!done)
        g_source_remove(id);
}

/* How a widget is known when its panel has been filled anew: type, text, and the how-manieth. */
typedef struct {
    GType type;
    char *text; /* NULL: none */
    guint nth;
} Known;

static gboolean is_known(GtkWidget *w, gconstpointer data)
{
    const Known *k = data;
    g_autofree char *text = scenario_own_text(w);
    return G_OBJECT_TYPE(w) == k->type && gtk_widget_get_mapped(w) && !g_strcmp0(text, k->text);
}

/* The widget, or what stands in its place since; NULL if nothing does now. */
static GtkWidget *in_place(GtkWidget *root, GtkWidget *widget, const Known *known)
{
    if (gtk_widget_get_mapped(widget))
        return widget;
    g_autoptr(GPtrArray) all = scenario_find_all(root, is_known, known);
    return known->nth < all->len ? all->pdata[known->nth] : NULL;
}

/* A menu that is still closing takes the next click for itself. Not for ever: some clicks are there
 * to close one. */
static void wait_menus(GtkWidget *widget)
{
    GtkWidget *root = GTK_WIDGET(gtk_widget_get_root(widget)); /* which stays */
    for (gint64 since = g_get_monotonic_time(); g_get_monotonic_time() - since < 2 * SECONDS;) {
        g_autoptr(GPtrArray) open = scenario_find_all(root, scenario_is_popover, NULL);
        guint others = 0;
        for (guint i = 0; i < open->len; i++)
            others += !gtk_widget_is_ancestor(widget, open->pdata[i]);
        if (!others)
            return;
        scenario_turn();
    }
}

/* Until two frames and an idle moment leave the widget where it is: what is laid out or filled anew
 * while the pointer is on its way would be missed. */
static GtkWidget *stand_still(GtkWidget *widget)
{
    g_autoptr(GtkWidget) root = g_object_ref(GTK_WIDGET(gtk_widget_get_native(widget)));
    g_autoptr(GtkWidget) at = g_object_ref(widget);
    g_autofree char *text = scenario_own_text(widget);
    Known known = { G_OBJECT_TYPE(widget), text, 0 };
    g_autoptr(GPtrArray) all = scenario_find_all(root, is_known, &known);
    if (!g_ptr_array_find(all, widget, &known.nth))
        g_error("a click on a %s that is not in sight", G_OBJECT_TYPE_NAME(widget));
    wait_menus(at);
    graphene_rect_t was, is;
    gboolean still = FALSE, found = gtk_widget_compute_bounds(at, root, &was);
    for (gint64 since = g_get_monotonic_time();
         !still && !scenario_late(since, "a widget to stand still", __FILE__, __LINE__); was = is) {
        wait_idle();
        scenario_settle(root);
        GtkWidget *now = in_place(root, at, &known);
        gboolean again = now && gtk_widget_compute_bounds(now, root, &is);
        still = found && again && now == at && graphene_rect_equal(&was, &is);
        found = again;
        if (now)
            g_set_object(&at, now);
    }
    return at; /* its parent holds it */
}

void scenario_click_widget(GtkWidget *widget, const char *modifier)
{
    GtkWidget *at = stand_still(widget);
    scenario_click(at, gtk_widget_get_width(at) / 2.0, gtk_widget_get_height(at) / 2.0, 1,
                   modifier);
}
