/* I51-I55: several windows, appearance, text size. Also that nothing warns on the way. */
#include "scenario/scenario.h"
#include "scenario/seen.h"

#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/window/card_picture.h"

#include <math.h>
#include <string.h>

/* I51: two windows, each with a document of its own. */
static void several(Scenario *s)
{
    GListModel *all = gtk_window_get_toplevels();
    guint before = g_list_model_get_n_items(all);
    scenario_act(s, "new-window");
    WAIT_FOR(g_list_model_get_n_items(all) == before + 1);
    g_autoptr(GtkWindow) a = g_list_model_get_item(all, 0), b = g_list_model_get_item(all, 1);
    WsWindow *other = WS_WINDOW(GTK_WIDGET(a) == GTK_WIDGET(s->window) ? b : a);
    g_assert_true(ws_window_document(other) != s->document);
    g_assert_null(ws_document_design(ws_window_document(other)));
    g_autoptr(GFile) file = scenario_file("tests/designs/gemm-cluster.wstave");
    g_assert_true(ws_window_open(other, file));
    g_assert_true(ws_document_design(ws_window_document(other)) != ws_document_design(s->document));
    gtk_window_close(GTK_WINDOW(other));
    WAIT_FOR(g_list_model_get_n_items(all) == before);
    g_assert_nonnull(ws_document_design(s->document));
}

static double luminance(guint32 rgb)
{
    double sum = 0;
    static const double weight[] = { 0.2126, 0.7152, 0.0722 };
    for (int i = 0; i < 3; i++) {
        double c = ((rgb >> (16 - 8 * i)) & 255) / 255.0;
        sum += weight[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static double contrast(guint32 a, guint32 b)
{
    double x = luminance(a), y = luminance(b);
    return (MAX(x, y) + 0.05) / (MIN(x, y) + 0.05);
}

/* Mean brightness of what is on screen, 0..255. */
static double brightness(GtkWidget *widget)
{
    cairo_surface_t *surface = scenario_picture(widget);
    cairo_surface_flush(surface);
    const guint8 *data = cairo_image_surface_get_data(surface);
    int w = cairo_image_surface_get_width(surface), h = cairo_image_surface_get_height(surface);
    int stride = cairo_image_surface_get_stride(surface);
    double sum = 0;
    for (int y = 0; y < h; y += 4)
        for (int x = 0; x < w; x += 4) {
            const guint8 *p = data + y * stride + x * 4;
            sum += (p[0] + p[1] + p[2]) / 3.0;
        }
    cairo_surface_destroy(surface);
    return sum / ((w + 3) / 4) / ((h + 3) / 4);
}

/* I52: every colour scheme, on screen; the choice is kept. */
static void themes(Scenario *s)
{
    scenario_act(s, "theme-light");
    g_assert_cmpint(ws_theme_current(), ==, WS_THEME_LIGHT);
    g_assert_cmpfloat(brightness(GTK_WIDGET(s->window)), >, 160);
    scenario_act(s, "theme-dark");
    g_assert_cmpint(ws_theme_current(), ==, WS_THEME_DARK);
    g_assert_cmpint(ws_theme_choice(), ==, WS_CHOICE_DARK);
    g_assert_cmpfloat(brightness(GTK_WIDGET(s->window)), <, 90);
    scenario_act(s, "theme-contrast");
    g_assert_true(ws_theme_high_contrast());
    scenario_act(s, "theme-system");
    g_assert_false(ws_theme_high_contrast());
    scenario_act(s, "theme-light");
}

/* I53: shapes 3:1 against their ground (or an outline that is), text 4.5:1. */
static void contrasts(Scenario *s)
{
    for (int t = WS_THEME_LIGHT; t <= WS_THEME_DARK_CONTRAST; t++) {
        const WsPalette *p = ws_palette((WsTheme)t);
        const double least = ws_theme_contrast((WsTheme)t) ? 7 : 4.5;
        g_assert_cmpfloat(contrast(p->text, p->page), >=, least);
        g_assert_cmpfloat(contrast(p->text, p->panel), >=, 4.5);
        g_assert_cmpfloat(contrast(p->text, p->band_a), >=, 4.5);
        g_assert_cmpfloat(contrast(p->text, p->band_b), >=, 4.5);
        g_assert_cmpfloat(contrast(p->muted, p->page), >=, least);
        g_assert_cmpfloat(contrast(p->edge, p->panel), >=, 3);
        for (int k = 0; k < WS_ITEM_KIND_COUNT; k++) {
            guint32 colour = ws_palette_item((WsTheme)t, (WsItemKind)k);
            g_test_message("theme %d, %s: %.2f on the panel", t, ws_item_kind_text((WsItemKind)k),
                           contrast(colour, p->panel));
            /* A light bar on white needs its dark outline; text stands on every bar. */
            g_assert_true(contrast(colour, p->panel) >= 3 || contrast(p->text, p->panel) >= 3);
            g_assert_cmpfloat(contrast(ws_palette_ink((WsTheme)t, (WsItemKind)k), colour), >=, 4.5);
            if (ws_theme_contrast((WsTheme)t)) /* what is written on a bar, and the bar itself */
                g_assert_cmpfloat(MIN(contrast(p->on_bar, colour), contrast(colour, p->panel)), >=,
                                  4.5);
        }
    }
}

static void owned(GDBusConnection *bus, const char *name, gpointer is)
{
    *(GDBusConnection **)is = bus;
}

static void say_scheme(GDBusConnection *bus, const char *key, guint32 value)
{
    g_autoptr(GError) error = NULL;
    g_dbus_connection_emit_signal(
        bus, NULL, "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Settings",
        "SettingChanged",
        g_variant_new("(ssv)", "org.freedesktop.appearance", key, g_variant_new_uint32(value)),
        &error);
    g_assert_no_error(error);
}

/* I52: what the desktop says holds until the person says otherwise. This test is the desktop. */
static void follows_system(Scenario *s)
{
    GDBusConnection *bus = NULL;
    guint id = g_bus_own_name(G_BUS_TYPE_SESSION, "org.freedesktop.portal.Desktop",
                              G_BUS_NAME_OWNER_FLAGS_NONE, NULL, owned, NULL, &bus, NULL);
    WAIT_FOR(bus);
    scenario_act(s, "theme-system");
    say_scheme(bus, "color-scheme", 1);
    WAIT_FOR(ws_theme_current() == WS_THEME_DARK);
    say_scheme(bus, "contrast", 1);
    WAIT_FOR(ws_theme_high_contrast());
    scenario_act(s, "theme-light"); /* the person's word is stronger */
    g_assert_true(ws_theme_current() == WS_THEME_LIGHT);
    say_scheme(bus, "color-scheme", 1);
    scenario_settle(GTK_WIDGET(s->window));
    g_assert_true(ws_theme_current() == WS_THEME_LIGHT);
    scenario_act(s, "theme-system");
    WAIT_FOR(ws_theme_current() == WS_THEME_DARK_CONTRAST);
    say_scheme(bus, "color-scheme", 2);
    say_scheme(bus, "contrast", 0);
    WAIT_FOR(ws_theme_current() == WS_THEME_LIGHT && !ws_theme_high_contrast());
    g_bus_unown_name(id);
}

/* The text is wider than the room of its label. */
static gboolean clipped(GtkWidget *w, gconstpointer data)
{
    int text;
    if (!GTK_IS_LABEL(w) || !gtk_widget_get_mapped(w) ||
        gtk_label_get_ellipsize(GTK_LABEL(w)) != PANGO_ELLIPSIZE_NONE)
        return FALSE;
    pango_layout_get_pixel_size(gtk_label_get_layout(GTK_LABEL(w)), &text, NULL);
    return text > gtk_widget_get_width(w) + 1;
}

/* I54: text at 200 % is not cut off anywhere. */
static void large_text(Scenario *s)
{
    GtkSettings *settings = gtk_settings_get_default();
    int dpi;
    g_object_get(settings, "gtk-xft-dpi", &dpi, NULL);
    g_object_set(settings, "gtk-xft-dpi", 2 * (dpi > 0 ? dpi : 96 * 1024), NULL);
    static const char *const panels[] = { "show-problems", "show-code", "show-measurements",
                                          "show-resources" };
    for (guint i = 0; i < G_N_ELEMENTS(panels); i++) {
        scenario_act(s, panels[i]);
        GtkWidget *bad = scenario_find(GTK_WIDGET(s->window), clipped, NULL);
        if (bad)
            g_test_message("clipped in %s: %s", panels[i], gtk_label_get_text(GTK_LABEL(bad)));
        g_assert_null(bad);
        g_assert_cmpint(gtk_widget_get_width(GTK_WIDGET(s->window)), <=, 1600);
    }
    g_object_set(settings, "gtk-xft-dpi", dpi, NULL);
    scenario_settle(GTK_WIDGET(s->window));
}

static void set_text_scale(Scenario *s, double scale)
{
    static int before;
    GtkSettings *settings = gtk_settings_get_default();
    if (!before)
        g_object_get(settings, "gtk-xft-dpi", &before, NULL);
    g_object_set(settings, "gtk-xft-dpi", (int)((before > 0 ? before : 96 * 1024) * scale), NULL);
    for (guint i = 0; i < 3; i++) /* measured, allocated, drawn anew */
        scenario_settle(GTK_WIDGET(s->window));
}

/* I54: the score grows with the text, and the pointer finds in it what it shows: a click, a zoom
 * about the pointer and a drag land where the bars are. */
static void large_score(Scenario *s)
{
    WsTimeline *t = WS_TIMELINE(s->timeline);
    double scale[] = { 1.25, 2 }, ox, oy, x, y, w, h, from, to;
    for (guint i = 0; i < G_N_ELEMENTS(scale); i++) {
        set_text_scale(s, scale[i]);
        g_assert_cmpfloat_with_epsilon(ws_timeline_page_scale(t), scale[i], 0.01);
        double k = ws_timeline_page_scale(t);
        double middle = ws_timeline_length(t) / 2;
        ws_timeline_set_view(t, middle, middle + 6000);
        scenario_settle(s->timeline);
        guint item = 0;
        for (; item < ws_timeline_n_items(t); item++)
            if (seen_timeline_item_place(t, item, &x, &y, &w, &h) && x > 4 && w > 8 && y >= 0 &&
                y < 120 && x + w < 320)
                break;
        g_assert_cmpuint(item, <, ws_timeline_n_items(t));
        seen_timeline_origin(t, &ox, &oy);
        g_assert_cmpfloat(ox, >=, 184 * k - 1);
        ws_document_select(s->document, NULL, WS_SELECT_REPLACE, FALSE);
        scenario_click(s->timeline, ox + k * (x + w / 2), oy + k * (y + h / 2), 1, NULL);
        g_assert_cmpuint(ws_document_selection(s->document)->len, ==, 1);
        ws_timeline_set_view(t, middle, middle + 4000);
        scenario_settle(s->timeline);
        double at = 200, cycle = ws_timeline_cycle_of_x(t, at);
        scenario_point(s->timeline, ox + k * at, oy + 20);
        scenario_xdo("keydown ctrl click 4 keyup ctrl");
        WAIT_FOR((ws_timeline_get_view(t, &from, &to), to - from < 3900));
        g_assert_cmpfloat(fabs(ws_timeline_x_of_cycle(t, cycle) - at) * k, <, 1.5);
        cycle = ws_timeline_cycle_of_x(t, 250);
        scenario_drag(s->timeline, ox + k * 250, oy + 30, ox + k * 250 - 100, oy + 30, 2, NULL);
        g_assert_cmpfloat(fabs(ws_timeline_x_of_cycle(t, cycle) * k - (250 * k - 100)), <, 2);
    }
    set_text_scale(s, 1);
    g_assert_cmpfloat_with_epsilon(ws_timeline_page_scale(t), 1, 0.01);
}

static void count_frames(GdkFrameClock *clock, guint *frames)
{
    (*frames)++;
}

/* I55: without animations a zoom is one frame, not many. */
static void no_animation(Scenario *s)
{
    GdkFrameClock *clock = gtk_widget_get_frame_clock(s->timeline);
    guint frames = 0;
    g_object_set(gtk_settings_get_default(), "gtk-enable-animations", FALSE, NULL);
    scenario_act(s, "zoom-in");
    scenario_settle(s->timeline);
    double from, to, from2, to2;
    gulong id = g_signal_connect(clock, "after-paint", G_CALLBACK(count_frames), &frames);
    scenario_act(s, "zoom-in");
    ws_timeline_get_view(WS_TIMELINE(s->timeline), &from, &to);
    scenario_settle(s->timeline);
    scenario_settle(s->timeline);
    ws_timeline_get_view(WS_TIMELINE(s->timeline), &from2, &to2);
    g_assert_cmpfloat_with_epsilon(from, from2, 1e-6);
    g_assert_cmpfloat_with_epsilon(to, to2, 1e-6);
    g_assert_cmpuint(frames, <=, 12);
    g_signal_handler_disconnect(clock, id);
    g_object_set(gtk_settings_get_default(), "gtk-enable-animations", TRUE, NULL);
}

static gboolean is_card(GtkWidget *w, gconstpointer data)
{
    return GTK_IS_BUTTON(w) && gtk_widget_has_css_class(w, "ws-card");
}

static gboolean is_drawn(GtkWidget *w, gconstpointer data)
{
    return GTK_IS_PICTURE(w) && gtk_picture_get_paintable(GTK_PICTURE(w));
}

static int from_top(GtkWidget *root, const char *text)
{
    graphene_rect_t r;
    GtkWidget *found = scenario_find_text(root, text);
    return found && gtk_widget_compute_bounds(found, root, &r) ? (int)r.origin.y : -1;
}

/* The first window shows where to begin: New and Open, and each shipped design with its picture and
 * what it is for; a click opens it. */
static void welcome(Scenario *s)
{
    GtkWidget *window = GTK_WIDGET(s->window);
    g_autofree char *text = scenario_text(window);
    g_assert_nonnull(strstr(text, "Open"));
    g_assert_true(scenario_enabled(s, "open"));
    g_assert_true(scenario_enabled(s, "new"));
    g_assert_false(scenario_enabled(s, "generate"));
    g_assert_false(scenario_enabled(s, "zoom-in"));
    g_assert_nonnull(scenario_find_text(window, "New Design…"));
    g_autoptr(GPtrArray) card = scenario_find_all(window, is_card, NULL);
    g_assert_cmpuint(card->len, >=, 18);
    for (guint i = 0; i < card->len; i++) { /* all have a purpose: welcome.def names them */
        GtkWidget *last = gtk_widget_get_last_child(gtk_button_get_child(card->pdata[i]));
        g_assert_cmpuint(strlen(gtk_label_get_text(GTK_LABEL(last))), >, 10);
    }
    GtkWidget *drawn = NULL;
    WAIT_FOR((drawn = scenario_find(card->pdata[2], is_drawn, NULL)));
    GdkPaintable *light = gtk_picture_get_paintable(GTK_PICTURE(drawn));
    scenario_act(s, "theme-dark"); /* pictures follow the colours */
    WAIT_FOR(gtk_picture_get_paintable(GTK_PICTURE(drawn)) != light);
    scenario_act(s, "theme-light");
    g_autoptr(GdkTexture) none = ws_card_draw("/nowhere/design.wstave", 1);
    g_assert_null(none);
    scenario_click_widget(scenario_find_text(window, "gemm-bf16-pingpong"), NULL);
    WAIT_FOR(ws_document_design(s->document) != NULL);
    g_assert_nonnull(strstr(gtk_window_get_title(GTK_WINDOW(s->window)), "ping-pong"));
}

/* What was opened lately comes before what is shipped; in a narrow window cards take fewer columns.
 */
static void welcome_again(Scenario *s)
{
    g_autoptr(GFile) file = scenario_file("tests/designs/gemm-cluster.wstave");
    g_assert_true(ws_window_open(s->window, file));
    WsWindow *w = ws_window_new(scenario_application());
    gtk_window_set_default_size(GTK_WINDOW(w), 900, 700);
    gtk_window_present(GTK_WINDOW(w));
    scenario_settle(GTK_WIDGET(w));
    g_assert_cmpint(gtk_widget_get_width(GTK_WIDGET(w)), <=, 900);
    int recent = -1, shipped = -1;
    WAIT_FOR((recent = from_top(GTK_WIDGET(w), "Recent")) >= 0);
    shipped = from_top(GTK_WIDGET(w), "Designs that come with Warpstave");
    g_assert_cmpint(recent, <, shipped);
    gtk_window_destroy(GTK_WINDOW(w)); /* while pictures are still being drawn */
}

static void narrow(Scenario *s)
{
    gtk_window_set_default_size(GTK_WINDOW(s->window), 800, 600);
    scenario_settle(GTK_WIDGET(s->window));
    WAIT_FOR(gtk_widget_get_width(GTK_WIDGET(s->window)) < 1600);
    g_assert_cmpint(gtk_widget_get_width(GTK_WIDGET(s->window)), <=, 1100);
    gtk_window_set_default_size(GTK_WINDOW(s->window), 1600, 960);
    WAIT_FOR(gtk_widget_get_width(GTK_WIDGET(s->window)) >= 1590);
}

static void panes(Scenario *s)
{
    GtkWidget *inspector = ws_window_part(s->window, WS_PART_INSPECTOR);
    GtkWidget *problems = ws_window_part(s->window, WS_PART_PROBLEMS);
    scenario_key("F9");
    WAIT_FOR(!gtk_widget_get_mapped(inspector));
    scenario_key("F9");
    WAIT_FOR(gtk_widget_get_mapped(inspector));
    scenario_key("alt+1");
    WAIT_FOR(gtk_widget_get_mapped(problems));
    scenario_key("ctrl+F9");
    WAIT_FOR(!gtk_widget_get_mapped(problems));
    scenario_key("alt+1");
    WAIT_FOR(gtk_widget_get_mapped(problems));
}

static void add(void)
{
    scenario_add("I51/several-windows", several);
    scenario_add("I52/themes", themes);
    scenario_add("I52/follows-the-system", follows_system);
    scenario_add("I53/contrast", contrasts);
    scenario_add("I54/text-200-percent", large_text);
    scenario_add("I54/score-200-percent", large_score);
    scenario_add("I55/no-animation", no_animation);
    scenario_add_empty("windows/welcome", welcome);
    scenario_add_empty("windows/welcome-again", welcome_again);
    scenario_add("windows/narrow", narrow);
    scenario_add("windows/panes-by-keyboard", panes);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
