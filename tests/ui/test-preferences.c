/* Preferences: what is chosen there holds at once, and is kept. */
#include "scenario/hands.h"

#include "ui/app/settings.h"
#include "ui/app/theme.h"
#include "ui/document/document_machine.h"

#include <string.h>

static gboolean is_entry(GtkWidget *w, gconstpointer data)
{
    return GTK_IS_ENTRY(w);
}

static gboolean is_spin(GtkWidget *w, gconstpointer data)
{
    return GTK_IS_SPIN_BUTTON(w);
}

static gboolean is_font(GtkWidget *w, gconstpointer data)
{
    return GTK_IS_FONT_BUTTON(w);
}

static gboolean is_list(GtkWidget *w, gconstpointer data)
{
    return GTK_IS_DROP_DOWN(w);
}

static GtkWindow *find_preferences(void)
{
    GListModel *all = gtk_window_get_toplevels();
    for (guint i = 0; i < g_list_model_get_n_items(all); i++) {
        g_autoptr(GtkWindow) w = g_list_model_get_item(all, i);
        if (!g_strcmp0(gtk_window_get_title(w), "Preferences"))
            return w;
    }
    return NULL;
}

static GtkWidget *begin(Scenario *s)
{
    GtkWindow *w = NULL;
    scenario_key("ctrl+comma");
    WAIT_FOR((w = find_preferences()));
    scenario_settle(GTK_WIDGET(w));
    return GTK_WIDGET(w);
}

static GtkDropDown *list_with(GtkWidget *root, const char *text)
{
    g_autoptr(GPtrArray) all = scenario_find_all(root, is_list, NULL);
    for (guint i = 0; i < all->len; i++) {
        GListModel *model = gtk_drop_down_get_model(all->pdata[i]);
        for (guint k = 0; k < g_list_model_get_n_items(model); k++)
            if (!strcmp(gtk_string_list_get_string(GTK_STRING_LIST(model), k), text))
                return all->pdata[i];
    }
    g_error("no list has %s", text);
}

static void looks(Scenario *s)
{
    if (!ws_settings()) {
        g_test_skip("no schema of the settings here");
        return;
    }
    GtkWidget *w = begin(s);
    GtkDropDown *colours = list_with(w, "Dark Colours");
    gtk_drop_down_set_selected(colours, WS_CHOICE_DARK);
    WAIT_FOR(ws_theme_current() == WS_THEME_DARK);
    gtk_drop_down_set_selected(colours, WS_CHOICE_LIGHT);
    WAIT_FOR(ws_theme_current() == WS_THEME_LIGHT);
    GtkDropDown *language = list_with(w, "Deutsch");
    gtk_drop_down_set_selected(language, 2);
    g_autofree char *said = g_settings_get_string(ws_settings(), "language");
    g_assert_cmpstr(said, ==, "de");
    gtk_drop_down_set_selected(language, 0);
    g_autofree char *again = g_settings_get_string(ws_settings(), "language");
    g_assert_cmpstr(again, ==, "");
    scenario_act(s, "show-code");
    GtkWidget *view = scenario_find_type(GTK_WIDGET(s->window), "GtkSourceView");
    g_assert_nonnull(view);
    const PangoContext *context = gtk_widget_get_pango_context(view);
    const int size = pango_font_description_get_size(
        pango_context_get_font_description((PangoContext *)context));
    gtk_font_chooser_set_font(GTK_FONT_CHOOSER(scenario_find(w, is_font, NULL)),
                              "DejaVu Sans Mono 19");
    WAIT_FOR(pango_font_description_get_size(
                 pango_context_get_font_description(gtk_widget_get_pango_context(view))) > size);
    gtk_window_destroy(GTK_WINDOW(w));
    g_settings_reset(ws_settings(), "code-font");
    ws_theme_restyle();
}

static void predictions(Scenario *s)
{
    if (!ws_settings()) {
        g_test_skip("no schema of the settings here");
        return;
    }
    GtkWidget *w = begin(s);
    const double before = ws_document_clock(s->document)->ghz;
    const gint64 cycles = ws_document_clock(s->document)->cycles;
    GtkSpinButton *spin = GTK_SPIN_BUTTON(scenario_find(w, is_spin, NULL));
    g_assert_cmpfloat(gtk_spin_button_get_value(spin), ==, 0);
    gtk_spin_button_set_value(spin, 1.25);
    g_assert_cmpfloat_with_epsilon(ws_document_clock(s->document)->ghz, 1.25, 1e-9);
    g_assert_false(ws_document_machine_chosen(s->document)); /* the machine is as it was */
    g_assert_cmpfloat_with_epsilon(ws_document_machine_clock(s->document), before, 1e-9);
    WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), "1.25 GHz"));
    gtk_spin_button_set_value(spin, -3); /* 0 at least: the machine's own */
    g_assert_cmpfloat_with_epsilon(ws_document_clock(s->document)->ghz, before, 1e-9);
    g_assert_cmpint(ws_document_clock(s->document)->cycles, ==, cycles);
    /* a machine that is gone stays in no list, and the built-in one is chosen */
    GtkDropDown *machine = list_with(w, "Another file…");
    g_assert_cmpuint(gtk_drop_down_get_selected(machine), ==, 0);
    gtk_drop_down_set_selected(machine, 1);
    g_assert_true(ws_document_machine_chosen(s->document));
    gtk_drop_down_set_selected(machine, 0);
    g_assert_false(ws_document_machine_chosen(s->document));
    GtkWidget *host = scenario_find(w, is_entry, NULL);
    gtk_editable_set_text(GTK_EDITABLE(host), "  gpu1 ");
    g_autofree char *kept = g_settings_get_string(ws_settings(), "run-host");
    g_assert_cmpstr(kept, ==, "gpu1");
    gtk_editable_set_text(GTK_EDITABLE(host), "");
    scenario_key("ctrl+comma"); /* one for a window */
    scenario_settle(w);
    g_assert_true(find_preferences() == GTK_WINDOW(w));
    gtk_window_destroy(GTK_WINDOW(w));
    g_assert_null(find_preferences());
}

static void add(void)
{
    scenario_add("preferences/looks", looks);
    scenario_add("preferences/predictions", predictions);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
