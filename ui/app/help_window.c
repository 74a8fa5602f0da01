#include "ui/app/help_window.h"

#include "ui/app/actions.h"
#include "ui/app/help_page.h"
#include "ui/app/theme.h"

#include <glib/gi18n.h>
#include <string.h>

struct _WsHelpWindow {
    GtkWindow parent;
    char *folder, *page;
    GPtrArray *pages;   /* char* ids */
    GPtrArray *history; /* char* ids: pages left by a link */
    GtkWidget *list, *content, *scroll, *back;
    gboolean quiet;
};

G_DEFINE_FINAL_TYPE(WsHelpWindow, ws_help_window, GTK_TYPE_WINDOW)

static void build(WsHelpWindow *self, const WsHelpNode *node, GtkBox *box, guint level);

/* --- blocks -------------------------------------------------------------------------------------
 */

static gboolean follow_link(GtkLabel *label, const char *uri, WsHelpWindow *self)
{
    if (!g_str_has_prefix(uri, "page:"))
        return FALSE;
    ws_help_window_go(self, uri + strlen("page:"));
    return TRUE;
}

static GtkWidget *paragraph(WsHelpWindow *self, const char *markup, const char *style)
{
    GtkWidget *label = gtk_label_new(NULL);
    gtk_label_set_markup(GTK_LABEL(label), markup);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 84);
    gtk_label_set_width_chars(GTK_LABEL(label), 30);
    if (style)
        gtk_widget_add_css_class(label, style);
    g_signal_connect(label, "activate-link", G_CALLBACK(follow_link), self);
    return label;
}

static void add_text(WsHelpWindow *self, const WsHelpNode *node, GtkBox *box, const char *style)
{
    g_autofree char *markup = ws_help_markup(node);
    gtk_box_append(box, paragraph(self, markup, style));
}

static void build_kids(WsHelpWindow *self, const WsHelpNode *node, GtkBox *box, guint level)
{
    for (guint i = 0; i < node->kid->len; i++)
        build(self, node->kid->pdata[i], box, level);
}

static GtkBox *indented(GtkBox *box, const char *sign)
{
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10);
    GtkWidget *inner = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6), *mark = gtk_label_new(sign);
    gtk_widget_set_valign(mark, GTK_ALIGN_START);
    gtk_label_set_xalign(GTK_LABEL(mark), 1);
    gtk_label_set_width_chars(GTK_LABEL(mark), 3);
    gtk_widget_add_css_class(mark, "dim");
    gtk_box_append(GTK_BOX(row), mark);
    gtk_box_append(GTK_BOX(row), inner);
    gtk_box_append(box, row);
    return GTK_BOX(inner);
}

static void build_list(WsHelpWindow *self, const WsHelpNode *node, GtkBox *box, guint level)
{
    gboolean steps = !g_strcmp0(node->name, "steps"), terms = !g_strcmp0(node->name, "terms");
    guint n = 0;
    for (guint i = 0; i < node->kid->len; i++) {
        const WsHelpNode *item = node->kid->pdata[i];
        if (g_strcmp0(item->name, "item"))
            continue;
        g_autofree char *number = g_strdup_printf("%u.", ++n);
        const WsHelpNode *title = terms ? ws_help_child(item, "title") : NULL;
        if (title)
            add_text(self, title, box, "ws-help-term");
        GtkBox *inner = indented(box, steps ? number : terms ? "" : "•");
        for (guint k = 0; k < item->kid->len; k++)
            if (item->kid->pdata[k] != title)
                build(self, item->kid->pdata[k], inner, level);
    }
}

/* figures/score.png, or figures/score-dark.png on a dark desktop. */
static char *figure_file(WsHelpWindow *self, const char *src)
{
    g_autofree char *stem =
        g_str_has_suffix(src, ".png") ? g_strndup(src, strlen(src) - 4) : g_strdup(src);
    g_autofree char *name =
        g_strdup_printf("%s%s.png", stem, ws_theme_dark(ws_theme_current()) ? "-dark" : "");
    return g_build_filename(self->folder, name, NULL);
}

static void build_media(WsHelpWindow *self, const WsHelpNode *node, GtkBox *box)
{
    const WsHelpNode *caption = ws_help_child(node, "p");
    g_autofree char *file = figure_file(self, node->src ? node->src : "");
    g_autofree char *said = ws_help_plain(caption);
    if (g_file_test(file, G_FILE_TEST_IS_REGULAR)) {
        GtkWidget *picture = gtk_picture_new_for_filename(file);
        gtk_picture_set_alternative_text(GTK_PICTURE(picture), said);
        gtk_picture_set_can_shrink(GTK_PICTURE(picture), TRUE);
        gtk_widget_add_css_class(picture, "ws-help-figure");
        gtk_box_append(box, picture);
    }
    if (caption)
        add_text(self, caption, box, "dim");
}

/* The table of commands itself, so that no key is missing and none is wrong. */
static void build_keys(WsHelpWindow *self, GtkBox *box)
{
    guint n;
    const WsAction *action = ws_actions(&n);
    for (guint section = 0; section < WS_SECTION_COUNT; section++) {
        GtkWidget *grid = gtk_grid_new();
        gtk_grid_set_column_spacing(GTK_GRID(grid), 24);
        gtk_grid_set_row_spacing(GTK_GRID(grid), 4);
        int row = 0;
        for (guint i = 0; i < n; i++) {
            g_autofree char *keys = ws_action_keys_text(&action[i]);
            if (action[i].section != section || !*keys)
                continue;
            g_autofree char *bold = g_markup_printf_escaped("<b><tt>%s</tt></b>", keys);
            g_autofree char *name = g_markup_printf_escaped("%s", ws_action_label(&action[i]));
            GtkWidget *label = paragraph(self, name, NULL), *key = paragraph(self, bold, NULL);
            gtk_label_set_wrap(GTK_LABEL(key), FALSE);
            gtk_label_set_width_chars(GTK_LABEL(label), 34);
            gtk_widget_set_tooltip_text(label, ws_action_help(&action[i]));
            gtk_grid_attach(GTK_GRID(grid), label, 0, row, 1, 1);
            gtk_grid_attach(GTK_GRID(grid), key, 1, row++, 1, 1);
        }
        if (!row) {
            g_object_ref_sink(grid);
            g_object_unref(grid);
            continue;
        }
        g_autofree char *title = g_markup_escape_text(ws_section_label((WsSection)section), -1);
        gtk_box_append(box, paragraph(self, title, "ws-help-heading"));
        gtk_box_append(box, grid);
    }
}

static void build_note(WsHelpWindow *self, const WsHelpNode *node, GtkBox *box, guint level)
{
    GtkWidget *note = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    gtk_widget_add_css_class(note, "ws-help-note");
    gtk_widget_set_halign(note, GTK_ALIGN_START);
    gtk_box_append(box, note);
    build_kids(self, node, GTK_BOX(note), level);
}

static void build(WsHelpWindow *self, const WsHelpNode *node, GtkBox *box, guint level)
{
    const char *name = node->name;
    if (!name || !strcmp(name, "info"))
        return;
    if (!strcmp(name, "title"))
        add_text(self, node, box, level ? "ws-help-heading" : "ws-help-title");
    else if (!strcmp(name, "p"))
        add_text(self, node, box, NULL);
    else if (!strcmp(name, "section"))
        build_kids(self, node, box, level + 1);
    else if (!strcmp(name, "list") || !strcmp(name, "steps") || !strcmp(name, "terms"))
        build_list(self, node, box, level);
    else if (!strcmp(name, "media"))
        build_media(self, node, box);
    else if (!strcmp(name, "note"))
        build_note(self, node, box, level);
    else if (!strcmp(name, "comment"))
        build_keys(self, box);
    else
        build_kids(self, node, box, level);
}

/* --- going about --------------------------------------------------------------------------------
 */

static void mark_row(WsHelpWindow *self)
{
    guint at;
    if (!g_ptr_array_find_with_equal_func(self->pages, self->page, g_str_equal, &at))
        return;
    self->quiet = TRUE;
    gtk_list_box_select_row(GTK_LIST_BOX(self->list),
                            gtk_list_box_get_row_at_index(GTK_LIST_BOX(self->list), (int)at));
    self->quiet = FALSE;
}

static gboolean show_page(WsHelpWindow *self, const char *id)
{
    g_autofree char *file = g_strdup_printf("%s/%s.page", self->folder, id);
    g_autoptr(GError) error = NULL;
    g_autoptr(WsHelpNode) page = ws_help_page_load(file, &error);
    GtkWidget *child;
    if (!page) {
        g_message("%s", error->message);
        return FALSE;
    }
    while ((child = gtk_widget_get_first_child(self->content)))
        gtk_box_remove(GTK_BOX(self->content), child);
    build_kids(self, page, GTK_BOX(self->content), 0);
    g_autofree char *title = ws_help_plain(ws_help_child(page, "title"));
    g_autofree char *full = g_strdup_printf(_("%s – Help"), title);
    gtk_window_set_title(GTK_WINDOW(self), full);
    if (self->page != id) {
        g_free(self->page);
        self->page = g_strdup(id);
    }
    mark_row(self);
    gtk_widget_set_sensitive(self->back, self->history->len > 0);
    gtk_adjustment_set_value(gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(self->scroll)),
                             0);
    return TRUE;
}

gboolean ws_help_window_go(WsHelpWindow *self, const char *page)
{
    g_autofree char *left = g_strdup(self->page), *id = g_strdup(page);
    if (!g_strcmp0(left, id))
        return TRUE;
    if (left)
        g_ptr_array_add(self->history, g_strdup(left));
    if (show_page(self, id))
        return TRUE;
    if (left)
        g_ptr_array_set_size(self->history, (int)self->history->len - 1);
    return FALSE;
}

const char *ws_help_window_page(WsHelpWindow *self)
{
    return self->page;
}

static void go_back(GtkWidget *widget, const char *name, GVariant *parameter)
{
    WsHelpWindow *self = WS_HELP_WINDOW(widget);
    if (!self->history->len)
        return;
    g_autofree char *id = g_strdup(g_ptr_array_index(self->history, self->history->len - 1));
    g_ptr_array_set_size(self->history, (int)self->history->len - 1);
    show_page(self, id);
}

static void close_window(GtkWidget *widget, const char *name, GVariant *parameter)
{
    gtk_window_close(GTK_WINDOW(widget));
}

static void row_selected(GtkListBox *list, GtkListBoxRow *row, WsHelpWindow *self)
{
    if (row && !self->quiet)
        ws_help_window_go(self,
                          g_ptr_array_index(self->pages, (guint)gtk_list_box_row_get_index(row)));
}

static void theme_changed(GObject *theme, WsHelpWindow *self)
{
    if (self->page)
        show_page(self, self->page);
}

/* --- window -------------------------------------------------------------------------------------
 */

static void finalize(GObject *object)
{
    WsHelpWindow *self = WS_HELP_WINDOW(object);
    g_free(self->folder);
    g_free(self->page);
    g_clear_pointer(&self->pages, g_ptr_array_unref);
    g_ptr_array_unref(self->history);
    G_OBJECT_CLASS(ws_help_window_parent_class)->finalize(object);
}

static void ws_help_window_class_init(WsHelpWindowClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->finalize = finalize;
    gtk_widget_class_install_action(widget, "help.back", NULL, go_back);
    gtk_widget_class_install_action(widget, "help.close", NULL, close_window);
    gtk_widget_class_add_binding_action(widget, GDK_KEY_Left, GDK_ALT_MASK, "help.back", NULL);
    gtk_widget_class_add_binding_action(widget, GDK_KEY_Escape, 0, "help.close", NULL);
    gtk_widget_class_add_binding_action(widget, GDK_KEY_w, GDK_CONTROL_MASK, "help.close", NULL);
}

static void make_content(WsHelpWindow *self)
{
    GtkWidget *columns = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    GtkWidget *side = gtk_scrolled_window_new();
    self->list = gtk_list_box_new();
    gtk_widget_add_css_class(self->list, "navigation-sidebar");
    gtk_widget_add_css_class(side, "ws-help-side");
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Pages"), -1);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(side), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(side), self->list);
    self->content = gtk_box_new(GTK_ORIENTATION_VERTICAL, 10);
    gtk_widget_add_css_class(self->content, "ws-help");
    self->scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(self->scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(self->scroll), self->content);
    /* Pictures are as high as their width asks for, and not as low as they may be. */
    GtkWidget *port = gtk_widget_get_first_child(self->scroll);
    if (GTK_IS_SCROLLABLE(port))
        gtk_scrollable_set_vscroll_policy(GTK_SCROLLABLE(port), GTK_SCROLL_NATURAL);
    gtk_widget_set_hexpand(self->scroll, TRUE);
    gtk_box_append(GTK_BOX(columns), side);
    gtk_box_append(GTK_BOX(columns), gtk_separator_new(GTK_ORIENTATION_VERTICAL));
    gtk_box_append(GTK_BOX(columns), self->scroll);
    gtk_window_set_child(GTK_WINDOW(self), columns);
}

static void ws_help_window_init(WsHelpWindow *self)
{
    GtkWidget *header = gtk_header_bar_new();
    self->history = g_ptr_array_new_with_free_func(g_free);
    self->back = gtk_button_new_from_icon_name("go-previous-symbolic");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(self->back), "help.back");
    gtk_widget_set_tooltip_text(self->back, _("The page shown before (Alt+Left)"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->back), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Back"), -1);
    gtk_header_bar_pack_start(GTK_HEADER_BAR(header), self->back);
    gtk_window_set_titlebar(GTK_WINDOW(self), header);
    gtk_window_set_default_size(GTK_WINDOW(self), 1060, 760);
    gtk_widget_add_css_class(GTK_WIDGET(self), "ws-studio");
    make_content(self);
    g_signal_connect(self->list, "row-selected", G_CALLBACK(row_selected), self);
    g_signal_connect_object(ws_theme_watch(), "changed", G_CALLBACK(theme_changed), self, 0);
}

static void add_row(WsHelpWindow *self, const char *id)
{
    g_autofree char *file = g_strdup_printf("%s/%s.page", self->folder, id);
    g_autoptr(WsHelpNode) page = ws_help_page_load(file, NULL);
    g_autofree char *title = page ? ws_help_plain(ws_help_child(page, "title")) : g_strdup(id);
    GtkWidget *label = gtk_label_new(title);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_list_box_append(GTK_LIST_BOX(self->list), label);
}

static void fill(WsHelpWindow *self)
{
    self->folder = ws_help_folder();
    if (!self->folder) {
        gtk_box_append(GTK_BOX(self->content),
                       paragraph(self,
                                 _("The pages of the manual are not installed. These are the keys "
                                   "of the studio; every button says what it does."),
                                 NULL));
        build_keys(self, GTK_BOX(self->content));
        gtk_widget_set_sensitive(self->back, FALSE);
        return;
    }
    self->pages = ws_help_pages(self->folder);
    self->quiet = TRUE;
    for (guint i = 0; i < self->pages->len; i++)
        add_row(self, g_ptr_array_index(self->pages, i));
    self->quiet = FALSE;
    ws_help_window_go(self, "index");
}

void ws_help_show(GtkApplication *application, const char *page)
{
    static WsHelpWindow *only; /* a weak pointer */
    if (!only) {
        only = g_object_new(WS_TYPE_HELP_WINDOW, NULL);
        g_object_add_weak_pointer(G_OBJECT(only), (gpointer *)&only);
        gtk_window_set_application(GTK_WINDOW(only), application);
        fill(only);
    }
    if (page && only->folder)
        ws_help_window_go(only, page);
    gtk_window_present(GTK_WINDOW(only));
}
