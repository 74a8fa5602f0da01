/* Completion of names in the inspector: where its list opens, and what choosing from it leaves. */
#include "scenario/hands.h"
#include "scenario/seen.h"
#include "ui/inspector/inspector_fields.h"

#include <gdk/x11/gdkx.h>

static GtkWidget *field(Scenario *s, const char *key)
{
    return ws_fields_entry(WS_FIELDS(scenario_find_type(GTK_WIDGET(s->window), "WsFields")), key);
}

static gboolean is_list(GtkWidget *w, gconstpointer unused)
{
    return GTK_IS_POPOVER(w) && gtk_widget_get_mapped(w);
}

/* Rectangles in pixels of the window's surface. */
static GdkRectangle of_entry(GtkWidget *entry)
{
    GtkNative *native = gtk_widget_get_native(entry);
    graphene_rect_t r;
    double tx, ty;
    g_assert_true(gtk_widget_compute_bounds(entry, GTK_WIDGET(native), &r));
    gtk_native_get_surface_transform(native, &tx, &ty);
    return (GdkRectangle){ (int)(r.origin.x + tx), (int)(r.origin.y + ty), (int)r.size.width,
                           (int)r.size.height };
}

/* What is drawn of it: its contents, without the shadow around. */
static GdkRectangle of_list(GtkWidget *list)
{
    GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(list));
    GtkWidget *inner = gtk_popover_get_child(GTK_POPOVER(list));
    graphene_rect_t r;
    double tx, ty;
    g_assert_true(gtk_widget_compute_bounds(inner, list, &r));
    gtk_native_get_surface_transform(GTK_NATIVE(list), &tx, &ty);
    return (GdkRectangle){ gdk_popup_get_position_x(GDK_POPUP(surface)) + (int)(r.origin.x + tx),
                           gdk_popup_get_position_y(GDK_POPUP(surface)) + (int)(r.origin.y + ty),
                           (int)r.size.width, (int)r.size.height };
}

/* Types into a field until a list opens, which must leave the field free; takes its first name. */
static void complete(Scenario *s, const char *step, const char *key, const char *letters,
                     const char *expected, const char *picture)
{
    hands_select(s, step, FALSE);
    hands_settle(s);
    GtkWidget *entry = NULL;
    WAIT_FOR((entry = field(s, key)));
    hands_scroll_to(s, entry);
    scenario_click_widget(entry, NULL);
    scenario_key("ctrl+a");
    scenario_type(letters);
    WAIT_FOR(scenario_find(entry, is_list, NULL));
    scenario_settle(GTK_WIDGET(s->window));
    GtkWidget *list = scenario_find(entry, is_list, NULL);
    const GdkRectangle e = of_entry(entry), l = of_list(list);
    g_test_message("%s at %d,%d %dx%d: list at %d,%d %dx%d", key, e.x, e.y, e.width, e.height, l.x,
                   l.y, l.width, l.height);
    hands_shot_as_is(s, picture);
    g_assert_cmpint(l.height, >, 10);
    g_assert_false(gdk_rectangle_intersect(&e, &l, NULL));
    g_assert_cmpint(l.x + l.width, >, e.x); /* and it stands at it */
    g_assert_cmpint(l.x, <, e.x + e.width);
    scenario_key("Down");
    scenario_key("Return");
    WAIT_FOR(!scenario_find(entry, is_list, NULL));
    g_assert_cmpstr(gtk_editable_get_text(GTK_EDITABLE(entry)), ==, expected);
    scenario_key("Tab");
    hands_settle(s);
    g_assert_null(
        ws_fields_error(WS_FIELDS(scenario_find_type(GTK_WIDGET(s->window), "WsFields")), key));
}

static void beside_its_field(Scenario *s)
{
    complete(s, "groups/load/body/0/do/0/do/1", "signal", "f", "full", "completion-1");
    complete(s, "groups/mma/body/0/do/0/do/1", "use", "k.", "k.total", "completion-2");
}

/* At the lower edge of the screen there is no room below: it opens above. */
static void at_the_edge(Scenario *s)
{
    int x, y;
    hands_select(s, "groups/load/body/0/do/0/do/1", FALSE);
    hands_settle(s);
    GtkWidget *entry = NULL;
    WAIT_FOR((entry = field(s, "signal")));
    scenario_on_screen(entry, 0, 0, &x, &y);
    g_assert_cmpint(y, <, 700);
    GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(s->window));
    G_GNUC_BEGIN_IGNORE_DEPRECATIONS
    scenario_xdo("windowmove --sync %lu 0 %d", gdk_x11_surface_get_xid(surface), 960 - y);
    G_GNUC_END_IGNORE_DEPRECATIONS
    WAIT_FOR((scenario_on_screen(entry, 0, 0, &x, &y), y > 900));
    complete(s, "groups/load/body/0/do/0/do/1", "signal", "f", "full", "completion-3");
}

static void add(void)
{
    scenario_add("completion/beside-its-field", beside_its_field);
    scenario_add("completion/at-the-edge", at_the_edge);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
