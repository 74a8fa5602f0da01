#include "ui/window/window_private.h"

#include "ui/app/menus.h"
#include "ui/app/settings.h"
#include "ui/compose/history_popover.h"
#include "ui/document/document_source.h"
#include "ui/document/jobs.h"
#include "ui/gesture/edge_keys.h"
#include "ui/inspector/inspector.h"
#include "ui/panels/code_panel.h"
#include "ui/panels/compare_bar.h"
#include "ui/panels/compare_panel.h"
#include "ui/panels/idle_panel.h"
#include "ui/panels/resources.h"
#include "ui/panels/search_bar.h"
#include "ui/panels/sidebar.h"
#include "ui/problems/problems.h"
#include "ui/problems/witness.h"
#include "ui/runs/measurements.h"
#include "ui/schedules/schedules_panel.h"
#include "ui/stages/stages_panel.h"
#include "ui/timeline/timeline.h"
#include "ui/window/welcome.h"

#include <glib/gi18n.h>

G_DEFINE_FINAL_TYPE(WsWindow, ws_window, GTK_TYPE_APPLICATION_WINDOW)

/* --- what the window remembers ---------------------------------------------------------------- */

static void restore_size(WsWindow *w)
{
    gtk_window_set_default_size(GTK_WINDOW(w), ws_settings_int("window-width", 1600),
                                ws_settings_int("window-height", 960));
    if (ws_settings_boolean("window-maximized", FALSE))
        gtk_window_maximize(GTK_WINDOW(w));
    ws_window_restore_panes(w);
    gtk_widget_set_size_request(w->inspector_box, 180, -1);
    gtk_widget_set_size_request(GTK_WIDGET(w->panels), -1, 120);
}

/* A GtkPaned counts from its start; what a person sets is the size of the end. The size of the
 * window is known only when it has been shown. */
static void restore_panes(WsWindow *w)
{
    int width = gtk_widget_get_width(GTK_WIDGET(w->columns));
    int height = gtk_widget_get_height(GTK_WIDGET(w->rows));
    if (width > 0)
        gtk_paned_set_position(w->columns,
                               MAX(width - ws_settings_int("inspector-width", 340), 200));
    if (height > 0)
        gtk_paned_set_position(w->rows, MAX(height - ws_settings_int("panels-height", 200), 120));
}

static gboolean first_tick(GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
    WsWindow *w = WS_WINDOW(widget);
    if (gtk_widget_get_width(GTK_WIDGET(w->columns)) <= 0)
        return G_SOURCE_CONTINUE;
    restore_panes(w);
    return G_SOURCE_REMOVE;
}

static void remember(WsWindow *w)
{
    GSettings *settings = ws_settings();
    int width, height;
    if (!settings)
        return;
    gtk_window_get_default_size(GTK_WINDOW(w), &width, &height);
    g_settings_set_int(settings, "window-width", CLAMP(width, 400, 32767));
    g_settings_set_int(settings, "window-height", CLAMP(height, 300, 32767));
    g_settings_set_boolean(settings, "window-maximized", gtk_window_is_maximized(GTK_WINDOW(w)));
    int column = gtk_widget_get_width(w->inspector_box);
    int row = gtk_widget_get_height(GTK_WIDGET(w->panels));
    if (column >= 160)
        g_settings_set_int(settings, "inspector-width", MIN(column, 4000));
    if (row >= 80)
        g_settings_set_int(settings, "panels-height", MIN(row, 4000));
}

static void close_safely(WsWindow *w, gboolean safe, gpointer data)
{
    w->closing = safe;
    if (safe)
        gtk_window_close(GTK_WINDOW(w));
}

static gboolean close_request(GtkWindow *window)
{
    WsWindow *w = WS_WINDOW(window);
    if (!w->closing && ws_document_dirty(w->document)) {
        ws_window_when_safe(w, TRUE, close_safely, NULL);
        if (!w->closing)
            return TRUE;
    }
    remember(w);
    return GTK_WINDOW_CLASS(ws_window_parent_class)->close_request(window);
}

/* --- what it shows ---------------------------------------------------------------------------- */

static char *place_of(GFile *file)
{
    g_autoptr(GFile) folder = file ? g_file_get_parent(file) : NULL;
    g_autofree char *name = file ? g_file_get_basename(file) : NULL;
    g_autofree char *path = folder ? g_file_get_parse_name(folder) : NULL;
    if (!name)
        return g_strdup("");
    if (path && g_str_has_prefix(path, g_get_home_dir()) && strlen(g_get_home_dir()) > 1)
        return g_strdup_printf("~%s/%s", path + strlen(g_get_home_dir()), name);
    return path ? g_build_filename(path, name, NULL) : g_strdup(name);
}

/* Under the title: the design's file, or the kernel that it was read from. */
static char *where_from(WsDocument *document)
{
    const WsSource *source = ws_document_source(document);
    if (ws_document_file(document) || !source)
        return place_of(ws_document_file(document));
    g_autofree char *place = place_of(source->file);
    /* Translators: %s is a file. */
    return g_strdup_printf(_("read from %s, not saved"), place);
}

static void document_changed(WsDocument *document, WsWindow *w)
{
    gboolean any = ws_document_design(document) != NULL;
    g_autofree char *title = ws_document_title(document);
    g_autofree char *place = where_from(document);
    /* Translators: the title of a window; %s is the name of a design. */
    const gboolean dirty = ws_document_dirty(document);
    g_autofree char *full =
        any ? g_strdup_printf(dirty ? _("• %s – Warpstave") : _("%s – Warpstave"), title)
            : g_strdup(_("Warpstave"));
    g_autofree char *shown = g_strdup_printf(dirty ? "• %s" : "%s", title);
    gtk_window_set_title(GTK_WINDOW(w), full);
    gtk_label_set_text(w->title_label, any ? shown : _("Warpstave"));
    gtk_label_set_text(w->subtitle_label, place);
    gtk_widget_set_visible(GTK_WIDGET(w->subtitle_label), *place != '\0');
    gtk_stack_set_visible_child_name(w->pages, any ? "score" : "welcome");
    gtk_widget_set_visible(w->status_box, any);
    ws_window_update_actions(w);
}

static void document_new(WsDocument *document, WsWindow *w)
{
    document_changed(document, w);
    if (!ws_document_was_edited(document) && !ws_document_only_judged(document))
        ws_window_watch_file(w);
}

static void document_trouble(WsDocument *document, const char *text, WsWindow *w)
{
    ws_window_say(w, GTK_MESSAGE_WARNING, text, NULL);
}

static void update_actions(GObject *source, WsWindow *w)
{
    ws_window_update_actions(w);
}

static void busy_changed(GObject *jobs, GParamSpec *spec, WsWindow *w)
{
    ws_window_update_actions(w);
}

/* What a job has made is shown without taking the keyboard away. */
static void code_changed(WsDocument *document, guint kind, WsWindow *w)
{
    if (kind != WS_CODE_PTX || !ws_document_code(document, WS_CODE_PTX))
        return;
    ws_code_panel_show(WS_CODE_PANEL(w->part[WS_PART_CODE]), WS_CODE_PTX);
    ws_window_raise_panel(w, WS_PART_CODE);
}

static void results_changed(WsDocument *document, WsWindow *w)
{
    ws_window_raise_panel(w, WS_PART_MEASUREMENTS);
}

static void follow_document(WsWindow *w)
{
    static const char *const signals[] = { "selection-changed", "range-changed", "compared",
                                           "advised" };
    g_signal_connect_object(w->document, "changed", G_CALLBACK(document_new), w, 0);
    g_signal_connect_object(w->document, "edited", G_CALLBACK(document_changed), w, 0);
    g_signal_connect_object(w->document, "trouble", G_CALLBACK(document_trouble), w, 0);
    for (guint i = 0; i < G_N_ELEMENTS(signals); i++)
        g_signal_connect_object(w->document, signals[i], G_CALLBACK(update_actions), w, 0);
    g_signal_connect_object(w->document, "code-changed", G_CALLBACK(code_changed), w, 0);
    g_signal_connect_object(w->document, "results-changed", G_CALLBACK(results_changed), w, 0);
    g_signal_connect_object(w->part[WS_PART_JOBS], "notify::busy", G_CALLBACK(busy_changed), w, 0);
}

void ws_window_raise_panel(WsWindow *w, WsPart part)
{
    int page = gtk_notebook_page_num(w->panels, w->part[part]);
    if (page >= 0)
        gtk_notebook_set_current_page(w->panels, page);
}

void ws_window_show_panel(WsWindow *w, WsPart part)
{
    int page = gtk_notebook_page_num(w->panels, w->part[part]);
    if (page < 0) {
        ws_window_present_detached(w, w->part[part]);
        return;
    }
    ws_window_want_pane(w, WS_PANE_PANELS, TRUE);
    gtk_notebook_set_current_page(w->panels, page);
    gtk_widget_child_focus(w->part[part], GTK_DIR_TAB_FORWARD);
}

/* --- making it -------------------------------------------------------------------------------- */

/* A panel is not asked how wide it must be for a height: the pane divides one by its handle, and a
 * text that wraps would want to be as wide as it takes to stand in that part. */
static void measure_panel(GtkWidget *panel, GtkOrientation o, int for_size, int *least,
                          int *natural, int *a, int *n)
{
    GtkWidget *child = gtk_widget_get_first_child(panel);
    if (child)
        gtk_widget_measure(child, o, o == GTK_ORIENTATION_HORIZONTAL ? -1 : for_size, least,
                           natural, NULL, NULL);
}

static void allocate_panel(GtkWidget *panel, int width, int height, int baseline)
{
    GtkWidget *child = gtk_widget_get_first_child(panel);
    if (child)
        gtk_widget_allocate(child, width, height, baseline, NULL);
}

static GtkSizeRequestMode mode_of_panel(GtkWidget *panel)
{
    return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void add_panel(WsWindow *w, WsPart part, GtkWidget *panel, const char *label)
{
    w->part[part] = panel;
    GtkWidget *child = gtk_widget_get_first_child(panel);
    if (GTK_IS_BIN_LAYOUT(gtk_widget_get_layout_manager(panel)) && child &&
        !gtk_widget_get_next_sibling(child))
        gtk_widget_set_layout_manager(
            panel, gtk_custom_layout_new(mode_of_panel, measure_panel, allocate_panel));
    gtk_widget_set_vexpand(panel, TRUE);
    ws_window_add_panel(w, panel, label);
}

/* A notebook asks every page for its size, those behind the shown one too: a third of the time to
 * the first frame. Its stack is its own child, there is no property for it. */
static void measure_shown_page(GtkNotebook *notebook)
{
    GtkWidget *child = gtk_widget_get_first_child(GTK_WIDGET(notebook));
    for (; child; child = gtk_widget_get_next_sibling(child)) {
        if (!GTK_IS_STACK(child))
            continue;
        gtk_stack_set_hhomogeneous(GTK_STACK(child), FALSE);
        gtk_stack_set_vhomogeneous(GTK_STACK(child), FALSE);
    }
}

static void make_parts(WsWindow *w)
{
    WsDocument *d = w->document;
    w->part[WS_PART_SELF] = GTK_WIDGET(w);
    w->part[WS_PART_SEARCH] = ws_search_bar_new(d);
    gtk_box_append(GTK_BOX(w->score_box), w->part[WS_PART_SEARCH]);
    gtk_box_append(GTK_BOX(w->score_box), ws_compare_bar_new(d));
    w->part[WS_PART_TIMELINE] = ws_timeline_new(d);
    gtk_widget_set_hexpand(w->part[WS_PART_TIMELINE], TRUE);
    gtk_widget_set_vexpand(w->part[WS_PART_TIMELINE], TRUE);
    gtk_box_append(GTK_BOX(w->score_box), w->part[WS_PART_TIMELINE]);
    w->toast = GTK_LABEL(g_object_new(GTK_TYPE_LABEL, "accessible-role", GTK_ACCESSIBLE_ROLE_STATUS,
                                      "wrap", TRUE, "xalign", 0.0, "visible", FALSE, NULL));
    gtk_widget_add_css_class(GTK_WIDGET(w->toast), "ws-toast");
    gtk_box_append(GTK_BOX(w->score_box), GTK_WIDGET(w->toast));
    w->sidebar = ws_sidebar_new(w);
    gtk_paned_set_start_child(w->side, w->sidebar);
    w->part[WS_PART_INSPECTOR] = ws_inspector_new(d);
    gtk_widget_set_hexpand(w->part[WS_PART_INSPECTOR], TRUE);
    gtk_box_append(GTK_BOX(w->inspector_box), w->part[WS_PART_INSPECTOR]);
    add_panel(w, WS_PART_PROBLEMS, ws_problems_new(d), _("Problems"));
    add_panel(w, WS_PART_WITNESS, ws_witness_panel_new(d), _("Witness"));
    add_panel(w, WS_PART_CODE, ws_code_panel_new(d), _("Code"));
    add_panel(w, WS_PART_MEASUREMENTS, ws_measurements_new(d), _("Measurements"));
    add_panel(w, WS_PART_IDLE, ws_idle_panel_new(d), _("Idle"));
    add_panel(w, WS_PART_SCHEDULES, ws_schedules_panel_new(d), _("Schedules"));
    add_panel(w, WS_PART_STAGES, ws_stages_panel_new(d), _("Stages"));
    add_panel(w, WS_PART_RESOURCES, ws_resources_new(d), _("Resources"));
    add_panel(w, WS_PART_COMPARE, ws_compare_panel_new(d), _("Differences"));
    measure_shown_page(w->panels);
    w->part[WS_PART_JOBS] = ws_jobs_new(d);
    gtk_box_append(GTK_BOX(w->jobs_box), w->part[WS_PART_JOBS]);
    gtk_box_append(GTK_BOX(w->welcome_box), ws_welcome_new());
}

static void add_work_button(WsWindow *w, const char *name, const char *icon)
{
    const WsAction *action = ws_action_find(name);
    g_autofree char *target = g_strdup_printf("win.%s", name);
    g_autofree char *tip = ws_action_tooltip(action);
    GtkWidget *button = gtk_button_new();
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *image = gtk_image_new_from_icon_name(icon);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   ws_action_label(action), -1);
    gtk_box_append(GTK_BOX(box), image);
    gtk_box_append(GTK_BOX(box), gtk_label_new(ws_action_label(action)));
    gtk_button_set_child(GTK_BUTTON(button), box);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), target);
    gtk_widget_set_tooltip_text(button, tip);
    gtk_widget_add_css_class(button, "work");
    gtk_box_append(GTK_BOX(w->work_box), button);
}

static void add_icon_button(WsWindow *w, const char *name, const char *icon)
{
    const WsAction *action = ws_action_find(name);
    g_autofree char *target = g_strdup_printf("win.%s", name);
    g_autofree char *tip = ws_action_tooltip(action);
    GtkWidget *button = gtk_button_new_from_icon_name(icon);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), target);
    gtk_widget_set_tooltip_text(button, tip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   ws_action_label(action), -1);
    gtk_box_append(GTK_BOX(w->work_box), button);
}

static void recent_changed(GtkRecentManager *manager, WsWindow *w)
{
    g_autoptr(GMenuModel) recent = ws_window_recent_menu();
    gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(w->recent_button), recent);
}

static gboolean fill_menus(gpointer window)
{
    WsWindow *w = window;
    if (!gtk_widget_get_realized(window)) /* closed meanwhile */
        return G_SOURCE_REMOVE;
    g_autoptr(GMenuModel) menu = ws_menu_primary();
    g_autoptr(GMenuModel) colours = ws_menu_colours();
    gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(w->menu_button), menu);
    gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(w->theme_button), colours);
    recent_changed(NULL, w);
    return G_SOURCE_REMOVE;
}

/* Popovers of menus make all of their rows at once; the first frame does not wait for them. */
static gboolean menus_after_frame(GtkWidget *window, GdkFrameClock *clock, gpointer data)
{
    g_idle_add_full(G_PRIORITY_LOW, fill_menus, g_object_ref(window), g_object_unref);
    return G_SOURCE_REMOVE;
}

static void fill_header(WsWindow *w)
{
    add_icon_button(w, "undo", "edit-undo-symbolic");
    add_icon_button(w, "redo", "edit-redo-symbolic");
    w->history_button = ws_history_button_new(w);
    gtk_box_append(GTK_BOX(w->work_box), w->history_button);
    add_work_button(w, "generate", "text-x-generic-symbolic");
    add_work_button(w, "rehearse", "emblem-ok-symbolic");
    add_work_button(w, "run", "media-playback-start-symbolic");
    gtk_widget_add_tick_callback(GTK_WIDGET(w), menus_after_frame, NULL, NULL);
    g_autofree char *open = ws_action_tooltip(ws_action_find("open"));
    g_autofree char *search = ws_action_tooltip(ws_action_find("search"));
    gtk_widget_set_tooltip_text(w->open_button, open);
    gtk_widget_set_tooltip_text(w->search_button, search);
}

static void constructed(GObject *object)
{
    WsWindow *w = WS_WINDOW(object);
    G_OBJECT_CLASS(ws_window_parent_class)->constructed(object);
    ws_window_make_detachable(w);
    make_parts(w);
    ws_window_add_actions(w);
    fill_header(w);
    ws_window_accept_drops(w);
    ws_window_follow_status(w);
    follow_document(w);
    restore_size(w);
    g_signal_connect_object(gtk_recent_manager_get_default(), "changed", G_CALLBACK(recent_changed),
                            w, 0);
    ws_window_let_stop_import(w);
    document_changed(w->document, w);
    gtk_widget_add_tick_callback(GTK_WIDGET(w), first_tick, NULL, NULL);
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    WS_WINDOW(object)->document = g_value_dup_object(value);
}

/* The windows of detached panels hold this one through its actions: they go first. */
static void unrealize(GtkWidget *widget)
{
    WsWindow *w = WS_WINDOW(widget);
    ws_edge_keys_drop(w);
    if (w->detached)
        ws_window_close_detached(w);
    GTK_WIDGET_CLASS(ws_window_parent_class)->unrealize(widget);
}

static void size_allocate(GtkWidget *widget, int width, int height, int baseline)
{
    GTK_WIDGET_CLASS(ws_window_parent_class)->size_allocate(widget, width, height, baseline);
    ws_window_adapt(WS_WINDOW(widget));
}

static void realize(GtkWidget *widget)
{
    ws_window_adapt_first(WS_WINDOW(widget));
    GTK_WIDGET_CLASS(ws_window_parent_class)->realize(widget);
}

static void dispose(GObject *object)
{
    WsWindow *w = WS_WINDOW(object);
    g_clear_handle_id(&w->adapt_source, g_source_remove);
    ws_window_unwatch_file(w);
    ws_window_cancel_import(w);
    ws_window_forget_traces(w);
    g_clear_handle_id(&w->toast_source, g_source_remove);
    if (w->detached)
        ws_window_close_detached(w);
    g_clear_pointer(&w->detached, g_ptr_array_unref);
    g_clear_object(&w->chooser);
    if (w->palette)
        gtk_window_destroy(w->palette);
    /* No gtk_widget_dispose_template(): it takes the header bar away behind GtkWindow's back. */
    g_clear_object(&w->document);
    G_OBJECT_CLASS(ws_window_parent_class)->dispose(object);
}

static void ws_window_class_init(WsWindowClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->constructed = constructed;
    G_OBJECT_CLASS(class)->set_property = set_property;
    g_object_class_install_property(
        G_OBJECT_CLASS(class), 1,
        g_param_spec_object("document", NULL, NULL, WS_TYPE_DOCUMENT,
                            G_PARAM_WRITABLE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS));
    G_OBJECT_CLASS(class)->dispose = dispose;
    GTK_WINDOW_CLASS(class)->close_request = close_request;
    widget->unrealize = unrealize;
    widget->size_allocate = size_allocate;
    widget->realize = realize;
    gtk_widget_class_set_template_from_resource(widget, WS_RESOURCE_PATH "/window.ui");
#define CHILD(name) gtk_widget_class_bind_template_child(widget, WsWindow, name)
    CHILD(header), CHILD(recent_button), CHILD(menu_button), CHILD(theme_button);
    CHILD(work_box), CHILD(open_button), CHILD(search_button);
    CHILD(title_label), CHILD(subtitle_label);
    CHILD(error_bar), CHILD(error_what), CHILD(error_how), CHILD(error_scroll),
        CHILD(reload_button), CHILD(cancel_button), CHILD(compare_button), CHILD(own_button),
        CHILD(error_icon);
    CHILD(pages), CHILD(welcome_box), CHILD(score_box), CHILD(inspector_box), CHILD(jobs_box);
    CHILD(status_box), CHILD(rows), CHILD(columns), CHILD(side), CHILD(panels);
    CHILD(status_fix), CHILD(status_fix_label);
    CHILD(status_verdict_button), CHILD(status_verdict), CHILD(status_selection),
        CHILD(status_device), CHILD(status_zoom);
#undef CHILD
}

static void ws_window_init(WsWindow *w)
{
    gtk_widget_init_template(GTK_WIDGET(w));
    g_signal_connect_swapped(w->error_bar, "response", G_CALLBACK(ws_window_say_nothing), w);
}

WsWindow *ws_window_new_on(GtkApplication *application, WsDocument *document)
{
    return g_object_new(WS_TYPE_WINDOW, "application", application, "document", document, NULL);
}

WsWindow *ws_window_new(GtkApplication *application)
{
    g_autoptr(WsDocument) document = ws_document_new();
    return ws_window_new_on(application, document);
}

WsDocument *ws_window_document(WsWindow *w)
{
    return w->document;
}

GtkWidget *ws_window_part(WsWindow *w, WsPart part)
{
    return w->part[part];
}
