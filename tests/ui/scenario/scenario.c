#include "scenario.h"
#include "../../whole.h"

#include "ui/app/application.h"
#include "ui/app/settings.h"

#include <gdk/x11/gdkx.h>
#include <string.h>

#define DESIGN  "projects/gemm-bf16/design.wstave"
#define SECONDS G_GINT64_CONSTANT(1000000)

static GtkApplication *application;
char scenario_clicked[128]; /* what was picked under the last click */

/* --- time ---------------------------------------------------------------------------------------
 */

gboolean scenario_is_popover(GtkWidget *w, gconstpointer unused)
{
    return GTK_IS_POPOVER(w) && gtk_widget_get_mapped(w);
}

static gboolean nothing(gpointer data)
{
    return G_SOURCE_REMOVE;
}

void scenario_turn(void)
{
    guint wake = g_timeout_add(5, nothing, NULL);
    g_main_context_iteration(NULL, TRUE);
    GSource *source = g_main_context_find_source_by_id(NULL, wake);
    if (source)
        g_source_destroy(source);
}

/* What a failed wait saw: each open window with its focus, and the popovers that are up. */
void scenario_say(void)
{
    GListModel *all = gtk_window_get_toplevels();
    for (guint i = 0; i < g_list_model_get_n_items(all); i++) {
        g_autoptr(GtkWidget) window = g_list_model_get_item(all, i);
        GtkWidget *focus = gtk_root_get_focus(GTK_ROOT(window));
        g_autoptr(GPtrArray) popovers = scenario_find_all(window, scenario_is_popover, NULL);
        g_printerr("# %s%s, focus %s\n", G_OBJECT_TYPE_NAME(window),
                   gtk_window_is_active(GTK_WINDOW(window)) ? ", active" : "",
                   focus ? G_OBJECT_TYPE_NAME(focus) : "nowhere");
        for (guint k = 0; k < popovers->len; k++) {
            g_autofree char *text = scenario_text(popovers->pdata[k]);
            g_printerr("#   %s in %s: %s\n", G_OBJECT_TYPE_NAME(popovers->pdata[k]),
                       G_OBJECT_TYPE_NAME(gtk_widget_get_parent(popovers->pdata[k])), text);
        }
    }
    if (scenario_clicked[0])
        g_printerr("# the last click was on %s\n", scenario_clicked);
}

gboolean scenario_late(gint64 since, const char *what, const char *file, int line)
{
    if (g_get_monotonic_time() - since < 180 * SECONDS)
        return FALSE;
    scenario_say();
    g_autofree char *text = g_strdup_printf("waited 180 s for: %s", what);
    g_assertion_message(G_LOG_DOMAIN, file, line, "scenario", text);
    return TRUE;
}

static void painted(GdkFrameClock *clock, guint *frames)
{
    (*frames)++;
}

void scenario_settle(GtkWidget *widget)
{
    GdkFrameClock *clock = gtk_widget_get_frame_clock(widget);
    guint frames = 0;
    g_assert_nonnull(clock);
    gulong id = g_signal_connect(clock, "after-paint", G_CALLBACK(painted), &frames);
    for (guint i = 1; i <= 2; i++) {
        gdk_frame_clock_request_phase(clock, GDK_FRAME_CLOCK_PHASE_PAINT);
        WAIT_FOR(frames >= i);
    }
    g_signal_handler_disconnect(clock, id);
}

/* GTK 4.8 warns when a widget comes into sight between the layout and the painting of one frame,
 * which a loaded machine brings about; the next frame draws it. All other warnings end a test. */
static GLogWriterOutput write_log(GLogLevelFlags level, const GLogField *fields, gsize n,
                                  gpointer unused)
{
    for (gsize i = 0; i < n; i++) {
        const char *text = fields[i].length < 0 ? fields[i].value : NULL;
        if (text && strcmp(fields[i].key, "MESSAGE") == 0 &&
            g_str_has_prefix(text, "Trying to snapshot Gtk") &&
            g_str_has_suffix(text, "without a current allocation")) {
            g_printerr("# Gtk-WARNING: %s\n", text);
            return G_LOG_WRITER_HANDLED;
        }
    }
    return g_log_writer_default(level, fields, n, NULL);
}

void scenario_log(void)
{
    g_log_set_writer_func(write_log, NULL, NULL);
}

/* --- windows -------------------------------------------------------------------------------------
 */

GtkApplication *scenario_application(void)
{
    if (application)
        return application;
    g_autoptr(GError) error = NULL;
    ws_ui_setup();
    gtk_init();
    application = GTK_APPLICATION(ws_application_new(FALSE));
    g_assert_true(g_application_register(G_APPLICATION(application), NULL, &error));
    g_assert_no_error(error);
    return application;
}

GFile *scenario_file(const char *path)
{
    g_autofree char *full = g_build_filename(WS_SOURCE_ROOT, path, NULL);
    return g_file_new_for_path(full);
}

/* There is no window manager to ask; a window may not be viewable yet, so errors do not count. */
void scenario_focus(GtkWidget *window)
{
    GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(window));
    GdkDisplay *display = gdk_surface_get_display(surface);
    WAIT_FOR(gdk_surface_get_mapped(surface));
    G_GNUC_BEGIN_IGNORE_DEPRECATIONS
    for (gint64 since = g_get_monotonic_time(); !gtk_window_is_active(GTK_WINDOW(window));) {
        scenario_late(since, "the window's focus", __FILE__, __LINE__);
        gdk_x11_display_error_trap_push(display);
        XSetInputFocus(gdk_x11_display_get_xdisplay(display), gdk_x11_surface_get_xid(surface),
                       RevertToParent, CurrentTime);
        gdk_display_sync(display);
        gdk_x11_display_error_trap_pop_ignored(display);
        scenario_turn();
    }
    G_GNUC_END_IGNORE_DEPRECATIONS
}

static void begin(Scenario *s)
{
    s->window = ws_window_new(scenario_application());
    s->document = ws_window_document(s->window);
    s->timeline = ws_window_part(s->window, WS_PART_TIMELINE);
    gtk_window_set_default_size(GTK_WINDOW(s->window), 1600, 960);
    scenario_xdo("mousemove 1599 999");
    gtk_window_present(GTK_WINDOW(s->window));
    WAIT_FOR(gtk_widget_get_mapped(GTK_WIDGET(s->window)));
    scenario_focus(GTK_WIDGET(s->window));
}

static void end(Scenario *s)
{
    GListModel *all = gtk_window_get_toplevels();
    guint n = g_list_model_get_n_items(all);
    g_autoptr(GPtrArray) open = g_ptr_array_new_with_free_func(g_object_unref);
    for (guint i = 0; i < n; i++)
        g_ptr_array_add(open, g_list_model_get_item(all, i));
    for (guint i = 0; i < open->len; i++)
        gtk_window_destroy(open->pdata[i]);
    WAIT_FOR(g_list_model_get_n_items(gtk_window_get_toplevels()) == 0);
}

void scenario_open(Scenario *s, const char *path)
{
    g_autoptr(GFile) file = scenario_file(path);
    g_assert_true(ws_window_open(s->window, file));
    scenario_settle(GTK_WIDGET(s->window));
}

void scenario_measure(Scenario *s)
{
    WsTrace *trace = ws_document_predicted(s->document);
    g_autofree char *path = g_build_filename(g_get_user_runtime_dir(), "measured.wtrace", NULL);
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(trace);
    g_assert_true(ws_trace_save(trace, path, &error));
    g_autoptr(WsTrace) copy = ws_trace_load(path, &error);
    g_assert_no_error(error);
    copy->origin = WS_TRACE_MEASURED;
    ws_document_take_measured(s->document, g_steal_pointer(&copy));
    scenario_settle(GTK_WIDGET(s->window));
}

gboolean scenario_needs(const char *program)
{
    g_autofree char *path = g_find_program_in_path(program);
    if (path)
        return TRUE;
    g_autofree char *why = g_strdup_printf("no %s: install %s", program, program);
    g_test_skip(why);
    return FALSE;
}

typedef struct {
    void (*run)(Scenario *s);
    gboolean empty;
} Case;

static void run_case(gconstpointer data)
{
    const Case *c = data;
    Scenario s = { 0 };
    if (!scenario_needs("xdotool"))
        return;
    begin(&s);
    if (!c->empty)
        scenario_open(&s, DESIGN);
    c->run(&s);
    end(&s);
}

/* The quick run of all tests takes every fourth of a program, and its first; CI's run under the
 * sanitizers, where each takes some ten times as long, every eighth, its second. */
static void add(const char *name, void (*run)(Scenario *s), gboolean empty)
{
    static guint n;
    const guint i = n++;
    if (test_short() ? i % 8 != 1 : !test_rest(i, 4))
        return;
    g_autofree char *path = g_strdup_printf("/ui/%s", name);
    Case *c = g_new0(Case, 1);
    *c = (Case){ run, empty };
    g_test_add_data_func_full(path, c, run_case, g_free);
}

void scenario_add(const char *name, void (*run)(Scenario *s))
{
    add(name, run, FALSE);
}

void scenario_add_empty(const char *name, void (*run)(Scenario *s))
{
    add(name, run, TRUE);
}

int scenario_main(int argc, char **argv, void (*add_all)(void))
{
    g_test_init(&argc, &argv, NULL);
    scenario_log();
    add_all();
    int status = g_test_run();
    if (application) {
        while (g_main_context_iteration(NULL, FALSE))
            ;
        g_object_unref(application);
    }
    return status;
}

/* --- looking -------------------------------------------------------------------------------------
 */

char *scenario_own_text(GtkWidget *w)
{
    if (GTK_IS_LABEL(w))
        return g_strdup(gtk_label_get_text(GTK_LABEL(w)));
    if (GTK_IS_EDITABLE(w))
        return g_strdup(gtk_editable_get_text(GTK_EDITABLE(w)));
    if (!GTK_IS_TEXT_VIEW(w))
        return NULL;
    GtkTextIter from, to;
    GtkTextBuffer *buffer = gtk_text_view_get_buffer(GTK_TEXT_VIEW(w));
    gtk_text_buffer_get_bounds(buffer, &from, &to);
    return gtk_text_buffer_get_text(buffer, &from, &to, FALSE);
}

static void walk(GtkWidget *root, ScenarioTest test, gconstpointer data, GPtrArray *found)
{
    if (test(root, data))
        g_ptr_array_add(found, root);
    for (GtkWidget *c = gtk_widget_get_first_child(root); c; c = gtk_widget_get_next_sibling(c))
        walk(c, test, data, found);
}

GPtrArray *scenario_find_all(GtkWidget *root, ScenarioTest test, gconstpointer data)
{
    GPtrArray *found = g_ptr_array_new();
    walk(root, test, data, found);
    return found;
}

GtkWidget *scenario_find(GtkWidget *root, ScenarioTest test, gconstpointer data)
{
    g_autoptr(GPtrArray) all = scenario_find_all(root, test, data);
    return all->len ? all->pdata[0] : NULL;
}

static gboolean has_text(GtkWidget *w, gconstpointer wanted)
{
    g_autofree char *text = gtk_widget_get_mapped(w) ? scenario_own_text(w) : NULL;
    return text && strstr(text, wanted);
}

GtkWidget *scenario_find_text(GtkWidget *root, const char *text)
{
    return scenario_find(root, has_text, text);
}

static gboolean has_type(GtkWidget *w, gconstpointer type)
{
    return gtk_widget_get_mapped(w) && !strcmp(G_OBJECT_TYPE_NAME(w), type);
}

GtkWidget *scenario_find_type(GtkWidget *root, const char *type)
{
    return scenario_find(root, has_type, type);
}

GtkWindow *scenario_toplevel(const char *type)
{
    GListModel *all = gtk_window_get_toplevels();
    for (guint i = 0; i < g_list_model_get_n_items(all); i++) {
        g_autoptr(GtkWindow) w = g_list_model_get_item(all, i);
        if (!strcmp(G_OBJECT_TYPE_NAME(w), type))
            return w;
    }
    return NULL;
}

static void collect_text(GtkWidget *root, GString *all)
{
    g_autofree char *text = gtk_widget_get_mapped(root) ? scenario_own_text(root) : NULL;
    if (text && *text)
        g_string_append_printf(all, "%s\n", text);
    for (GtkWidget *c = gtk_widget_get_first_child(root); c; c = gtk_widget_get_next_sibling(c))
        collect_text(c, all);
}

char *scenario_text(GtkWidget *root)
{
    GString *all = g_string_new(NULL);
    collect_text(root, all);
    return g_string_free(all, FALSE);
}

gboolean scenario_enabled(Scenario *s, const char *action)
{
    GAction *a = g_action_map_lookup_action(G_ACTION_MAP(s->window), action);
    return a && g_action_get_enabled(a);
}

void scenario_act(Scenario *s, const char *action)
{
    if (!scenario_enabled(s, action))
        g_test_message("action %s is absent or disabled", action);
    g_assert_true(scenario_enabled(s, action));
    g_action_group_activate_action(G_ACTION_GROUP(s->window), action, NULL);
    scenario_settle(GTK_WIDGET(s->window));
}

cairo_surface_t *scenario_picture(GtkWidget *widget)
{
    int width = gtk_widget_get_width(widget), height = gtk_widget_get_height(widget);
    g_autoptr(GdkPaintable) paintable = gtk_widget_paintable_new(widget);
    GtkSnapshot *snapshot = gtk_snapshot_new();
    gdk_paintable_snapshot(paintable, snapshot, width, height);
    GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
    cairo_t *cr = cairo_create(surface);
    if (node) {
        gsk_render_node_draw(node, cr);
        gsk_render_node_unref(node);
    }
    cairo_destroy(cr);
    return surface;
}
