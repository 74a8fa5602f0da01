/* The manual: F1 opens it, every page and picture is there, every link leads somewhere, and every
 * key it names is a key of the studio. */
#include "scenario/scenario.h"

#include "ui/app/actions.h"
#include "ui/app/help_page.h"
#include "ui/app/help_window.h"
#include "ui/app/theme.h"

#include <string.h>

static WsHelpWindow *manual(void)
{
    return (WsHelpWindow *)scenario_toplevel("WsHelpWindow");
}

static void opens(Scenario *s)
{
    scenario_key("F1");
    WAIT_FOR(manual() && gtk_widget_get_mapped(GTK_WIDGET(manual())));
    scenario_settle(GTK_WIDGET(manual()));
    WAIT_FOR(scenario_find_text(GTK_WIDGET(manual()), "First steps"));
    g_assert_cmpstr(ws_help_window_page(manual()), ==, "index");
    scenario_focus(GTK_WIDGET(manual()));
    /* A page by the list, by the keyboard alone, and back. */
    GtkWidget *row = scenario_find_text(GTK_WIDGET(manual()), "Reading the score");
    g_assert_nonnull(row);
    scenario_click_widget(row, NULL);
    WAIT_FOR(!g_strcmp0(ws_help_window_page(manual()), "score"));
    scenario_key("alt+Left");
    WAIT_FOR(!g_strcmp0(ws_help_window_page(manual()), "index"));
    scenario_key("Escape");
    WAIT_FOR(!manual());
}

static gboolean is_picture(GtkWidget *w, gconstpointer unused)
{
    return GTK_IS_PICTURE(w) && gtk_widget_get_mapped(w);
}

/* Pictures are as wide as the page and keep their shape; the dark desktop has its own. */
static void pictures(Scenario *s)
{
    ws_help_show(scenario_application(), "score");
    for (guint dark = 0; dark < 2; dark++) {
        ws_theme_choose(dark ? WS_CHOICE_DARK : WS_CHOICE_LIGHT);
        scenario_settle(GTK_WIDGET(manual()));
        g_autoptr(GPtrArray) all = scenario_find_all(GTK_WIDGET(manual()), is_picture, NULL);
        g_assert_cmpuint(all->len, ==, 2);
        for (guint i = 0; i < all->len; i++) {
            GtkWidget *p = all->pdata[i];
            g_autofree char *name = g_file_get_basename(gtk_picture_get_file(GTK_PICTURE(p)));
            g_assert_true(g_str_has_suffix(name, "-dark.png") == (dark != 0));
            g_assert_cmpint(gtk_widget_get_width(p), >, 500);
            g_assert_cmpint(gtk_widget_get_height(p), >, gtk_widget_get_width(p) / 3);
        }
    }
    ws_theme_choose(WS_CHOICE_SYSTEM);
}

static void every_page(Scenario *s)
{
    g_autofree char *folder = ws_help_folder();
    g_assert_nonnull(folder);
    g_autoptr(GPtrArray) pages = ws_help_pages(folder);
    g_assert_cmpuint(pages->len, >=, 8);
    ws_help_show(scenario_application(), NULL);
    for (guint i = 0; i < pages->len; i++) {
        const char *id = g_ptr_array_index(pages, i);
        g_assert_true(ws_help_window_go(manual(), id));
        scenario_settle(GTK_WIDGET(manual()));
        g_assert_cmpstr(ws_help_window_page(manual()), ==, id);
        g_autofree char *text = scenario_text(GTK_WIDGET(manual()));
        g_assert_cmpuint(strlen(text), >, 300);
    }
    g_assert_false(ws_help_window_go(manual(), "no-such-page"));
    /* The table of keys holds every command that has one. */
    g_assert_true(ws_help_window_go(manual(), "keyboard"));
    scenario_settle(GTK_WIDGET(manual()));
    g_autofree char *text = scenario_text(GTK_WIDGET(manual()));
    guint n;
    const WsAction *action = ws_actions(&n);
    for (guint i = 0; i < n; i++) {
        g_autofree char *keys = ws_action_keys_text(&action[i]);
        if (*keys)
            g_assert_nonnull(strstr(text, keys));
    }
}

typedef struct {
    const char *folder, *page;
    guint figures, links, keys;
} Look;

static void check_figure(Look *look, const char *src)
{
    g_autofree char *stem = g_strndup(src, strlen(src) - strlen(".png"));
    g_autofree char *light = g_strdup_printf("%s/%s.png", look->folder, stem);
    g_autofree char *dark = g_strdup_printf("%s/%s-dark.png", look->folder, stem);
    g_assert_true(g_file_test(light, G_FILE_TEST_IS_REGULAR));
    g_assert_true(g_file_test(dark, G_FILE_TEST_IS_REGULAR));
    look->figures++;
}

/* "Ctrl", "Shift", "L" -> the accelerator that GTK would parse. */
static char *accelerator(const WsHelpNode *keys)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < keys->kid->len; i++) {
        const WsHelpNode *k = keys->kid->pdata[i];
        if (!k->name)
            continue;
        g_autofree char *key = ws_help_plain(k);
        gboolean modifier = !strcmp(key, "Ctrl") || !strcmp(key, "Shift") || !strcmp(key, "Alt");
        g_autofree char *name = !strcmp(key, "?")             ? g_strdup("question")
                                : !strcmp(key, ".")           ? g_strdup("period")
                                : !strcmp(key, ",")           ? g_strdup("comma")
                                : !strcmp(key, "Page Down")   ? g_strdup("Page_Down")
                                : g_utf8_strlen(key, -1) == 1 ? g_ascii_strdown(key, -1)
                                                              : g_strdup(key);
        g_string_append_printf(s, modifier ? "<%s>" : "%s",
                               modifier && *key == 'C' ? "Control" : name);
    }
    return g_string_free(s, FALSE);
}

static gboolean is_key(const char *wanted)
{
    guint n, key, is;
    GdkModifierType state, is_state;
    const WsAction *action = ws_actions(&n);
    g_assert_true(gtk_accelerator_parse(wanted, &key, &state));
    for (guint i = 0; i < n; i++) {
        g_autofree char *all = g_strdup_printf("%s %s", action[i].accels, action[i].keys);
        g_auto(GStrv) each = g_strsplit(all, " ", -1);
        for (guint k = 0; each[k]; k++)
            if (*each[k] && gtk_accelerator_parse(each[k], &is, &is_state) && is == key &&
                is_state == state)
                return TRUE;
    }
    return FALSE;
}

static void look_at(Look *look, const WsHelpNode *n)
{
    if (!g_strcmp0(n->name, "media"))
        check_figure(look, n->src);
    if (!g_strcmp0(n->name, "link")) {
        g_autofree char *file = g_strdup_printf("%s/%s.page", look->folder, n->xref);
        g_assert_true(g_file_test(file, G_FILE_TEST_IS_REGULAR));
        look->links++;
    }
    if (!g_strcmp0(n->name, "keyseq")) {
        g_autofree char *keys = accelerator(n);
        if (!is_key(keys))
            g_test_message("%s names %s, which no command has", look->page, keys);
        g_assert_true(is_key(keys));
        look->keys++;
    }
    for (guint i = 0; i < n->kid->len; i++)
        look_at(look, n->kid->pdata[i]);
}

static void true_pages(Scenario *s)
{
    g_autofree char *folder = ws_help_folder();
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) pages = ws_help_pages(folder);
    Look look = { .folder = folder };
    const char *name;
    while ((name = g_dir_read_name(dir))) {
        if (!g_str_has_suffix(name, ".page"))
            continue;
        g_autofree char *file = g_build_filename(folder, name, NULL);
        g_autofree char *id = g_strndup(name, strlen(name) - strlen(".page"));
        g_autoptr(GError) error = NULL;
        g_autoptr(WsHelpNode) page = ws_help_page_load(file, &error);
        g_assert_no_error(error);
        g_assert_cmpstr(page->id, ==, id);
        look.page = name;
        look_at(&look, page);
        /* The index leads to it. */
        g_assert_true(g_ptr_array_find_with_equal_func(pages, id, g_str_equal, NULL));
    }
    g_assert_cmpuint(look.figures, >=, 6);
    g_assert_cmpuint(look.links, >=, 14);
    g_assert_cmpuint(look.keys, >=, 15);
}

static void broken_page(Scenario *s)
{
    static const char *const bad[] = { "", "<page>", "<page/><page/>", "<page><p></page>", "\xff" };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *file = g_build_filename(g_get_user_runtime_dir(), "bad.page", NULL);
        g_autoptr(GError) error = NULL;
        g_assert_true(g_file_set_contents(file, bad[i], -1, NULL));
        g_autoptr(WsHelpNode) page = ws_help_page_load(file, &error);
        g_assert_null(page);
        g_assert_nonnull(error);
    }
}

static void add(void)
{
    scenario_add("manual/F1", opens);
    scenario_add("manual/every-page", every_page);
    scenario_add("manual/pictures", pictures);
    scenario_add("manual/links-pictures-keys", true_pages);
    scenario_add_empty("manual/broken-page", broken_page);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
