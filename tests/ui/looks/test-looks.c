/* A mesh of devices, all SMs, and the causes of idle units, each in light, dark and high contrast,
 * in German and Chinese, in small windows and with large text: nothing is cut off or hangs over the
 * edge, nothing is left in English. */
#include "../../whole.h"
#include "scenario/hands.h"

#include "ui/document/document_idle.h"
#include "ui/panels/idle_panel.h"
#include "ui/timeline/timeline_private.h"

#include <libintl.h>
#include <string.h>

#ifdef __GLIBC__
extern int _nl_msg_cat_cntr; /* gettext looks again at LANGUAGE when this changes */
#endif

typedef struct {
    const char *name, *theme, *language;
    int width, height;
    double text;
} Dress;

static const Dress dresses[] = {
    { "light", "theme-light", "en", 1600, 960, 1 },
    { "dark", "theme-dark", "en", 1600, 960, 1 },
    { "contrast", "theme-contrast", "en", 1600, 960, 1 },
    { "de", "theme-light", "de", 1600, 960, 1 },
    { "zh", "theme-dark", "zh_CN", 1600, 960, 1 },
    { "1280", "theme-light", "en", 1280, 720, 1 },
    { "de-1280", "theme-light", "de", 1280, 720, 1 },
    { "900", "theme-light", "en", 900, 700, 1 },
    { "de-900", "theme-light", "de", 900, 700, 1 },
    { "200", "theme-light", "en", 1600, 960, 2 },
    { "de-200", "theme-light", "de", 1600, 960, 2 },
};

static gboolean speak(const char *language)
{
    g_setenv("LANGUAGE", language, TRUE);
#ifdef __GLIBC__
    _nl_msg_cat_cntr++;
#endif
    return !strcmp(language, "en") || strcmp(dgettext("warpstave", "Rehearse"), "Rehearse") != 0;
}

/* Labels of what one presses or goes by; texts of lists may be cut, they have tips. */
static gboolean is_cut(GtkWidget *w, gconstpointer data)
{
    if (!GTK_IS_LABEL(w) || !gtk_widget_get_mapped(w) ||
        !pango_layout_is_ellipsized(gtk_label_get_layout(GTK_LABEL(w))))
        return FALSE;
    for (GtkWidget *p = gtk_widget_get_parent(w); p; p = gtk_widget_get_parent(p))
        if (GTK_IS_BUTTON(p) || GTK_IS_STACK_SIDEBAR(p) || GTK_IS_MENU_BUTTON(p) ||
            !strcmp(G_OBJECT_TYPE_NAME(p), "GtkColumnViewTitle"))
            return TRUE;
    return FALSE;
}

static gboolean hangs_over(GtkWidget *w, gconstpointer window)
{
    graphene_rect_t r;
    if (w == window || !gtk_widget_get_mapped(w) ||
        gtk_widget_get_ancestor(w, GTK_TYPE_SCROLLED_WINDOW) ||
        gtk_widget_get_ancestor(w, WS_TYPE_TIMELINE) ||
        gtk_widget_get_ancestor(w, GTK_TYPE_POPOVER) ||
        gtk_widget_get_ancestor(w, GTK_TYPE_NOTEBOOK) ||
        !gtk_widget_compute_bounds(w, GTK_WIDGET(window), &r))
        return FALSE;
    return r.origin.x + r.size.width > (float)gtk_widget_get_width(GTK_WIDGET(window)) + 1 ||
           r.origin.y + r.size.height > (float)gtk_widget_get_height(GTK_WIDGET(window)) + 1;
}

/* A text that holds a word of English which no name of a step or an object is. */
static gboolean is_english(GtkWidget *w, gconstpointer data)
{
    static const char *const word[] = { " of ",  " the ", " is ",    " and ",   " not ", " at ",
                                        " was ", " idle", "device ", " waits ", " its " };
    g_autofree char *text =
        GTK_IS_LABEL(w) && gtk_widget_get_mapped(w) ? scenario_own_text(w) : NULL;
    if (text && data && strstr(text, data)) /* what the design's author wrote */
        return FALSE;
    for (guint i = 0; text && i < G_N_ELEMENTS(word); i++)
        if (strstr(text, word[i]))
            return TRUE;
    return FALSE;
}

static void look(Scenario *s, const Dress *d, const char *what)
{
    GtkWidget *window = GTK_WIDGET(s->window);
    const WsNode *root = ws_design_root(ws_document_design(s->document));
    const char *note = ws_node_text(root, WS_F_note);
    for (guint i = 0; i < 4; i++)
        scenario_settle(window);
    g_autofree char *shot = g_strdup_printf("look-%s-%s", what, d->name);
    hands_shot_as_is(s, shot);
    GtkWidget *cut = scenario_find(window, is_cut, NULL);
    GtkWidget *over = scenario_find(window, hangs_over, window);
    GtkWidget *english = strcmp(d->language, "en") ? scenario_find(window, is_english, note) : NULL;
    if (cut)
        g_error("%s: \"%s\" is cut off", shot, gtk_label_get_text(GTK_LABEL(cut)));
    if (over)
        g_error("%s: %s hangs over the edge", shot, gtk_widget_get_css_name(over));
    if (english)
        g_error("%s: \"%s\" is English", shot, gtk_label_get_text(GTK_LABEL(english)));
    g_assert_cmpint(gtk_widget_get_width(window), <=, d->width);
    g_assert_cmpint(gtk_widget_get_height(window), <=, d->height);
    /* Ruler and rows of the first agent are in sight. */
    g_assert_cmpfloat(hands_timeline(s)->view.height, >=, 36);
}

/* A window of its own, as one opened in that language has. */
static void in_dress(Scenario *s, const Dress *d, const char *what, const char *trace)
{
    if (!speak(d->language)) {
        g_test_message("no translation to %s here", d->language);
        speak("en");
        return;
    }
    Scenario own = *s;
    g_object_set(gtk_settings_get_default(), "gtk-xft-dpi", (int)(96 * 1024 * d->text), NULL);
    own.window = ws_window_new(scenario_application());
    own.document = ws_window_document(own.window);
    own.timeline = ws_window_part(own.window, WS_PART_TIMELINE);
    gtk_window_set_default_size(GTK_WINDOW(own.window), d->width, d->height);
    gtk_window_present(GTK_WINDOW(own.window));
    scenario_act(&own, d->theme);
    scenario_open(&own, trace);
    hands_settle(&own);
    WAIT_FOR(hands_timeline(&own)->scene);
    g_assert_nonnull(ws_document_measured(own.document));
    WAIT_FOR(ws_document_idle(own.document, FALSE) || ws_document_idle(own.document, TRUE));
    scenario_act(&own, "show-idle");
    hands_settle(&own);
    look(&own, d, what);
    g_autofree char *text =
        ws_idle_panel_copy(WS_IDLE_PANEL(ws_window_part(own.window, WS_PART_IDLE)));
    g_test_message("%s %s: %s", what, d->name, text);
    gtk_window_destroy(GTK_WINDOW(own.window));
    scenario_act(s, "theme-system");
    g_object_set(gtk_settings_get_default(), "gtk-xft-dpi", 96 * 1024, NULL);
    speak("en");
}

static void all(Scenario *s, const char *what, const char *trace)
{
    for (guint i = 0; i < G_N_ELEMENTS(dresses); i++)
        if (test_either(i))
            in_dress(s, &dresses[i], what, trace);
}

static void devices(Scenario *s)
{
    all(s, "devices", "projects/gemm-rs/measured/gemm-rs.wtrace");
}

static void waves(Scenario *s)
{
    all(s, "waves", "projects/gemm-bf16/measured/waves.wtrace");
}

static void idle(Scenario *s)
{
    all(s, "idle", "projects/attention-d128/measured/causal.wtrace");
}

static void add(void)
{
    scenario_add_empty("looks/devices", devices);
    scenario_add_empty("looks/waves", waves);
    scenario_add_empty("looks/idle", idle);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
