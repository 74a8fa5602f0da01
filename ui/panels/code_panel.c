#include "ui/panels/code_panel.h"

#include "ui/document/document_source.h"
#include "ui/panels/code_trouble.h"
#include "ui/problems/opaque_list.h"

#include <glib/gi18n.h>
#include <gtksourceview/gtksource.h>
#include <string.h>

/* Source marks: a line of the primary step, of another selected step; and the first line of each.
 */
#define WS_MARK_PRIMARY  "warpstave-primary"
#define WS_MARK_SELECTED "warpstave-selected"
#define WS_MARK_FIRST    "warpstave-first"
static const char *const of_selection[] = { WS_MARK_PRIMARY, WS_MARK_SELECTED, WS_MARK_FIRST };

struct _WsCodePanel {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *toggle[WS_CODE_COUNT], *stack, *missing, *texts, *aside;
    GtkSourceView *view;
    GtkSourceBuffer *buffer[WS_CODE_COUNT];
    WsCodeKind kind;
    guint source;       /* number of the reading whose text the view holds, 0 none */
    gboolean quiet;     /* the buffer or the selection is being changed from here */
    gboolean following; /* the selection came from the cursor: do not scroll away from it */
    gint first, last;   /* marked for the primary step; -1 none */
    gint shown;         /* line to be brought into view, -1 none */
    guint scroll;       /* idle source */
};

G_DEFINE_FINAL_TYPE(WsCodePanel, ws_code_panel, GTK_TYPE_WIDGET)

/* --- languages and colours ----------------------------------------------------------------------
 */

static void know_languages(void)
{
    static gsize done;
    if (g_once_init_enter(&done)) {
        gtk_source_language_manager_append_search_path(
            gtk_source_language_manager_get_default(),
            "resource:///org/warpstave/Studio/languages");
        g_once_init_leave(&done, 1);
    }
}

static GtkSourceLanguage *language_of(WsDocument *document, WsCodeKind kind)
{
    static const char *const id[] = { "warpstave-program", "ptx", "llvm", "cuda", "json", NULL };
    const WsSource *source = document ? ws_document_source(document) : NULL;
    const char *of_source = !source ? NULL : source->from == WS_IMPORT_PTX ? "ptx" : "python3";
    GtkSourceLanguageManager *manager = gtk_source_language_manager_get_default();
    const char *wanted = kind == WS_CODE_SOURCE ? of_source : id[kind];
    return wanted ? gtk_source_language_manager_get_language(manager, wanted) : NULL;
}

static gboolean is_dark(GtkSettings *settings)
{
    gboolean prefer = FALSE;
    g_autofree char *theme = NULL;
    g_object_get(settings, "gtk-application-prefer-dark-theme", &prefer, "gtk-theme-name", &theme,
                 NULL);
    return prefer || (theme && (strstr(theme, "dark") || strstr(theme, "Inverse")));
}

/* A language takes long to read: that of the text in sight alone. */
static void colour(WsCodePanel *self)
{
    if (gtk_widget_get_mapped(GTK_WIDGET(self->view)))
        gtk_source_buffer_set_language(self->buffer[self->kind],
                                       language_of(self->document, self->kind));
}

static void restyle(WsCodePanel *self)
{
    GtkSourceStyleSchemeManager *manager = gtk_source_style_scheme_manager_get_default();
    GtkSettings *settings = gtk_widget_get_settings(GTK_WIDGET(self));
    gboolean dark = is_dark(settings);
    GtkSourceStyleScheme *scheme =
        gtk_source_style_scheme_manager_get_scheme(manager, dark ? "Adwaita-dark" : "Adwaita");
    static const char *const colour[2][2] = { { "#cfe4f7", "#e9f2fa" }, { "#15344d", "#23303c" } };
    static const char *const category[2] = { WS_MARK_PRIMARY, WS_MARK_SELECTED };
    for (guint i = 0; i < WS_CODE_COUNT; i++)
        gtk_source_buffer_set_style_scheme(self->buffer[i], scheme);
    for (guint i = 0; i < G_N_ELEMENTS(category); i++) {
        GtkSourceMarkAttributes *mark = gtk_source_mark_attributes_new();
        GdkRGBA rgba;
        gdk_rgba_parse(&rgba, colour[dark][i]);
        gtk_source_mark_attributes_set_background(mark, &rgba);
        gtk_source_view_set_mark_attributes(self->view, category[i], mark, 0);
        g_object_unref(mark);
    }
    ws_code_trouble_style(self->view);
}

/* --- lines of a step ----------------------------------------------------------------------------
 */

static char *line_text(GtkTextBuffer *buffer, guint line)
{
    GtkTextIter a, b;
    if (!gtk_text_buffer_get_iter_at_line(buffer, &a, (gint)line))
        return NULL;
    b = a;
    if (!gtk_text_iter_ends_line(&b))
        gtk_text_iter_forward_to_line_end(&b);
    return gtk_text_buffer_get_text(buffer, &a, &b, FALSE);
}

static guint depth_of(const char *text)
{
    return (guint)strspn(text, " ");
}

/* In CUDA C++ the id ends a comment: what follows up to the next one, or to the end of the block.
 */
static guint statements_end(GtkTextBuffer *buffer, guint line)
{
    g_autofree char *comment = line_text(buffer, line);
    guint last = line;
    for (guint i = line + 1; comment && i < line + 200; i++) {
        g_autofree char *text = line_text(buffer, i);
        if (!text || !*text || depth_of(text) < depth_of(comment) ||
            g_str_has_prefix(text + depth_of(text), "// "))
            break;
        last = i;
    }
    return last;
}

/* In PTX the id stands on the first line of an asm block, which reaches to its end marker. */
static guint block_end(GtkTextBuffer *buffer, WsCodeKind kind, guint line)
{
    if (kind == WS_CODE_CUDA)
        return statements_end(buffer, line);
    for (guint i = line; kind == WS_CODE_PTX && i < line + 64; i++) {
        g_autofree char *text = line_text(buffer, i);
        if (!text)
            break;
        if (strstr(text, "// end inline asm"))
            return i;
    }
    return line;
}

static guint source_end(WsCodePanel *self, const char *step, guint first)
{
    const WsSourceMap *map = ws_document_source_map(self->document);
    const WsSourceSpan *span = map ? ws_source_map_of(map, step) : NULL;
    return span ? span->last : first;
}

static void mark_line(WsCodePanel *self, guint line, const char *category)
{
    GtkTextIter at;
    if (gtk_text_buffer_get_iter_at_line(GTK_TEXT_BUFFER(self->buffer[self->kind]), &at,
                                         (gint)line))
        gtk_source_buffer_create_source_mark(self->buffer[self->kind], NULL, category, &at);
}

/* Lines of a background colour of their own; a sign in the gutter at the first of each block. */
static void mark_step(WsCodePanel *self, const char *step, gboolean primary)
{
    GtkTextBuffer *buffer = GTK_TEXT_BUFFER(self->buffer[self->kind]);
    g_autoptr(GArray) lines = ws_document_code_lines(self->document, self->kind, step);
    for (guint i = 0; i < lines->len; i++) {
        guint first = g_array_index(lines, guint, i);
        guint last = self->kind == WS_CODE_SOURCE ? source_end(self, step, first)
                                                  : block_end(buffer, self->kind, first);
        for (guint line = first; line <= last; line++)
            mark_line(self, line, primary ? WS_MARK_PRIMARY : WS_MARK_SELECTED);
        mark_line(self, first, WS_MARK_FIRST);
        if (primary && self->first < 0) {
            self->first = (gint)first;
            self->last = (gint)last;
        }
    }
}

static void unmark(WsCodePanel *self)
{
    GtkTextIter a, b;
    gtk_text_buffer_get_bounds(GTK_TEXT_BUFFER(self->buffer[self->kind]), &a, &b);
    for (guint i = 0; i < G_N_ELEMENTS(of_selection); i++)
        gtk_source_buffer_remove_source_marks(self->buffer[self->kind], &a, &b, of_selection[i]);
    self->first = self->last = -1;
}

static void mark_selection(WsCodePanel *self)
{
    unmark(self);
    if (!ws_document_code(self->document, self->kind))
        return;
    const WsFocus *focus = ws_document_focus(self->document);
    GPtrArray *all = ws_document_selection(self->document);
    for (guint i = 0; i < all->len && i < 256; i++) {
        const char *step = all->pdata[i];
        if (g_strcmp0(step, focus->step))
            mark_step(self, step, FALSE);
    }
    if (focus->step)
        mark_step(self, focus->step, TRUE);
}

/* In an idle call: a text that has just been set has no line heights yet. */
static gboolean scroll_now(gpointer data)
{
    WsCodePanel *self = data;
    GtkTextBuffer *buffer = GTK_TEXT_BUFFER(self->buffer[self->kind]);
    GtkTextIter at;
    const gint line = self->shown >= 0 ? self->shown : self->first;
    self->scroll = 0;
    self->shown = -1;
    if (line < 0 || !gtk_text_buffer_get_iter_at_line(buffer, &at, line))
        return G_SOURCE_REMOVE;
    self->quiet = TRUE;
    gtk_text_buffer_place_cursor(buffer, &at);
    self->quiet = FALSE;
    gtk_text_view_scroll_to_mark(GTK_TEXT_VIEW(self->view), gtk_text_buffer_get_insert(buffer), 0.1,
                                 TRUE, 0.0, 0.25);
    return G_SOURCE_REMOVE;
}

static void scroll_to_marked(WsCodePanel *self)
{
    if ((self->first >= 0 || self->shown >= 0) && !self->following && !self->scroll)
        self->scroll = g_idle_add_full(G_PRIORITY_LOW, scroll_now, self, NULL);
}

gboolean ws_code_panel_marked(WsCodePanel *self, guint *first, guint *last)
{
    if (self->first < 0)
        return FALSE;
    *first = (guint)self->first;
    *last = (guint)self->last;
    return TRUE;
}

/* --- what the document says ------------------------------------------------------------------- */

static void mark_trouble(WsCodePanel *self)
{
    ws_code_trouble_mark(self->document, self->kind, self->buffer[self->kind]);
}

static void refresh(WsCodePanel *self)
{
    gboolean design = ws_document_design(self->document) != NULL;
    const char *text = ws_document_code(self->document, self->kind);
    gtk_label_set_text(GTK_LABEL(self->missing), design ? _("Not generated yet: Generate makes it.")
                                                        : _("Open a design to see its code."));
    gtk_stack_set_visible_child_name(GTK_STACK(self->stack), text ? "text" : "missing");
    gtk_widget_set_visible(self->aside, self->kind == WS_CODE_SOURCE);
    mark_selection(self);
    mark_trouble(self);
    scroll_to_marked(self);
}

static void fill(WsCodePanel *self, WsCodeKind kind)
{
    const char *text = ws_document_code(self->document, kind);
    self->quiet = TRUE;
    gtk_text_buffer_set_text(GTK_TEXT_BUFFER(self->buffer[kind]), text ? text : "", -1);
    self->quiet = FALSE;
    if (kind == self->kind) {
        refresh(self);
        colour(self);
    }
}

static gboolean begins_object(const WsSourceMap *map, guint line)
{
    for (guint i = 0; i < ws_source_map_n(map); i++) {
        const WsSourceSpan *span = ws_source_map_span(map, i);
        if (!span->step && span->first == line)
            return TRUE;
    }
    return FALSE;
}

/* The first line that is a step, past imports, declarations and heads of functions. */
static gint first_step(WsCodePanel *self)
{
    const WsSourceMap *map = ws_document_source_map(self->document);
    guint first = G_MAXINT;
    for (guint i = 0; map && i < ws_source_map_n(map); i++) {
        const WsSourceSpan *span = ws_source_map_span(map, i);
        if (span->step && span->first < first && !begins_object(map, span->first))
            first = span->first;
    }
    return first < G_MAXINT ? (gint)first : -1;
}

static void on_changed(WsCodePanel *self)
{
    const WsSource *source = ws_document_source(self->document);
    const guint number = source ? source->number : 0, had = self->source;
    self->source = number;
    for (guint i = 0; i < WS_CODE_COUNT; i++)
        if (i != WS_CODE_SOURCE || number != had)
            fill(self, i);
    gtk_widget_set_visible(self->toggle[WS_CODE_SOURCE], source != NULL);
    if (number && number != had)
        self->shown = first_step(self);
    if (!number != !had)
        ws_code_panel_show(self, source ? WS_CODE_SOURCE : WS_CODE_PROGRAM);
    else if (self->kind == WS_CODE_SOURCE)
        refresh(self);
}

/* A text that was asked for is shown: PTX, when Generate has made it. */
static void on_code(WsCodePanel *self, guint kind)
{
    if (kind >= WS_CODE_COUNT)
        return;
    fill(self, kind);
    if (kind == WS_CODE_PTX && ws_document_code(self->document, kind))
        ws_code_panel_show(self, kind);
}

static void on_selection(WsCodePanel *self)
{
    self->shown = -1; /* the selection is what is to be seen now */
    mark_selection(self);
    scroll_to_marked(self);
}

/* Everything that begins on that line: the same statement may be a step of several groups. The one
 * of the group that was looked at is primary. */
static void select_source(WsCodePanel *self, guint line)
{
    const WsSourceMap *map = ws_document_source_map(self->document);
    g_autoptr(GPtrArray) spans = map ? ws_source_map_at(map, line) : g_ptr_array_new();
    g_autofree char *before = g_strdup(ws_document_focus(self->document)->step);
    guint primary = 0;
    for (guint i = spans->len; before && i-- > 0;) {
        const char *id = ((const WsSourceSpan *)spans->pdata[i])->id;
        const char *group = g_str_has_prefix(id, "groups/") ? strchr(id + 7, '/') : NULL;
        if (!strcmp(id, before))
            return; /* it is selected already */
        if (group && !strncmp(id, before, (gsize)(group - id) + 1))
            primary = i;
    }
    self->following = TRUE;
    for (guint k = 1; k <= spans->len; k++) {
        const guint i = (primary + k) % spans->len; /* the primary one comes last */
        const WsFocus focus = { ((const WsSourceSpan *)spans->pdata[i])->id, G_MAXUINT, -1, -1 };
        ws_document_select(self->document, &focus, k == 1 ? WS_SELECT_REPLACE : WS_SELECT_ADD,
                           k == spans->len);
    }
    self->following = FALSE;
}

/* The person moved the cursor: the step of that line becomes the selection. */
static void on_cursor(WsCodePanel *self, GParamSpec *spec, GtkTextBuffer *buffer)
{
    if (self->quiet || !self->document || !gtk_widget_has_focus(GTK_WIDGET(self->view)) ||
        buffer != GTK_TEXT_BUFFER(self->buffer[self->kind]) ||
        gtk_text_buffer_get_has_selection(buffer))
        return;
    GtkTextIter at;
    gtk_text_buffer_get_iter_at_mark(buffer, &at, gtk_text_buffer_get_insert(buffer));
    if (self->kind == WS_CODE_SOURCE) {
        select_source(self, (guint)gtk_text_iter_get_line(&at));
        return;
    }
    g_autofree char *step =
        ws_document_code_step(self->document, self->kind, (guint)gtk_text_iter_get_line(&at));
    if (!step || !g_strcmp0(step, ws_document_focus(self->document)->step))
        return;
    WsFocus focus = { .step = step, .agent = G_MAXUINT, .tile = -1, .round = -1 };
    self->following = TRUE;
    ws_document_select(self->document, &focus, WS_SELECT_REPLACE, TRUE);
    self->following = FALSE;
}

void ws_code_panel_show(WsCodePanel *self, WsCodeKind kind)
{
    unmark(self);
    self->kind = kind;
    gtk_text_view_set_buffer(GTK_TEXT_VIEW(self->view), GTK_TEXT_BUFFER(self->buffer[kind]));
    colour(self);
    if (!gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(self->toggle[kind])))
        gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(self->toggle[kind]), TRUE);
    if (self->document)
        refresh(self);
}

WsCodeKind ws_code_panel_kind(WsCodePanel *self)
{
    return self->kind;
}

static void on_toggled(GtkToggleButton *button, WsCodePanel *self)
{
    for (guint i = 0; i < WS_CODE_COUNT; i++) {
        if (self->toggle[i] == GTK_WIDGET(button) && gtk_toggle_button_get_active(button) &&
            self->kind != i)
            ws_code_panel_show(self, i);
    }
}

static void copy_all(GtkWidget *widget, const char *name, GVariant *parameter)
{
    WsCodePanel *self = WS_CODE_PANEL(widget);
    const char *text = ws_document_code(self->document, self->kind);
    if (text)
        gdk_clipboard_set_text(gtk_widget_get_clipboard(widget), text);
}

/* --- construction ----------------------------------------------------------------------------- */

static GtkWidget *make_bar(WsCodePanel *self)
{
    const char *const title[] = { _("Program"),  _("PTX"),    _("LLVM IR"),
                                  _("CUDA C++"), _("Design"), _("Source") };
    const char *const tip[] = {
        _("The elaborated IR: the design operation by operation"),
        _("The kernel for the GPU"),
        _("The kernel before LLVM's passes"),
        _("The same kernel to be read, and to be compiled with nvcc"),
        _("The design in canonical form"),
        _("The kernel that this design was read from"),
    };
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *kinds = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_add_css_class(kinds, "linked");
    for (guint i = 0; i < WS_CODE_COUNT; i++) {
        self->toggle[i] = gtk_toggle_button_new_with_label(title[i]);
        gtk_widget_set_tooltip_text(self->toggle[i], tip[i]);
        if (i)
            gtk_toggle_button_set_group(GTK_TOGGLE_BUTTON(self->toggle[i]),
                                        GTK_TOGGLE_BUTTON(self->toggle[0]));
        g_signal_connect(self->toggle[i], "toggled", G_CALLBACK(on_toggled), self);
        if (i == WS_CODE_SOURCE)
            gtk_box_prepend(GTK_BOX(kinds), self->toggle[i]);
        else
            gtk_box_append(GTK_BOX(kinds), self->toggle[i]);
    }
    gtk_widget_set_visible(self->toggle[WS_CODE_SOURCE], FALSE);
    GtkWidget *space = gtk_label_new(NULL), *copy = gtk_button_new_with_mnemonic(_("_Copy"));
    gtk_widget_set_hexpand(space, TRUE);
    gtk_widget_set_tooltip_text(copy, _("Copy the whole text"));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(copy), "code.copy");
    gtk_box_append(GTK_BOX(bar), kinds);
    gtk_box_append(GTK_BOX(bar), space);
    gtk_box_append(GTK_BOX(bar), copy);
    gtk_widget_add_css_class(bar, "ws-bar");
    return bar;
}

static GtkWidget *make_view(WsCodePanel *self)
{
    for (guint i = 0; i < WS_CODE_COUNT; i++) {
        self->buffer[i] = gtk_source_buffer_new(NULL);
        gtk_source_buffer_set_highlight_matching_brackets(self->buffer[i], FALSE);
        g_signal_connect_swapped(self->buffer[i], "notify::cursor-position", G_CALLBACK(on_cursor),
                                 self);
    }
    self->view = GTK_SOURCE_VIEW(gtk_source_view_new_with_buffer(self->buffer[0]));
    g_signal_connect_swapped(self->view, "map", G_CALLBACK(colour), self);
    gtk_text_view_set_editable(GTK_TEXT_VIEW(self->view), FALSE);
    gtk_text_view_set_monospace(GTK_TEXT_VIEW(self->view), TRUE);
    gtk_source_view_set_show_line_numbers(self->view, TRUE);
    gtk_source_view_set_show_line_marks(self->view, TRUE);
    GtkSourceMarkAttributes *mark = gtk_source_mark_attributes_new();
    gtk_source_mark_attributes_set_icon_name(mark, "go-next-symbolic");
    gtk_source_view_set_mark_attributes(self->view, WS_MARK_FIRST, mark, 1);
    g_object_unref(mark);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Generated code"), -1);
    GtkWidget *scroller = gtk_scrolled_window_new();
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), GTK_WIDGET(self->view));
    self->texts = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_set_hexpand(scroller, TRUE);
    gtk_box_append(GTK_BOX(self->texts), scroller);
    return self->texts;
}

static GtkWidget *make_missing(WsCodePanel *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
    GtkWidget *button = gtk_button_new_with_mnemonic(_("_Generate"));
    self->missing = gtk_label_new(NULL);
    gtk_label_set_wrap(GTK_LABEL(self->missing), TRUE);
    gtk_widget_add_css_class(self->missing, "dim-label");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.generate");
    gtk_widget_set_halign(button, GTK_ALIGN_CENTER);
    gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
    gtk_box_append(GTK_BOX(box), self->missing);
    gtk_box_append(GTK_BOX(box), button);
    return box;
}

static void dispose(GObject *object)
{
    WsCodePanel *self = WS_CODE_PANEL(object);
    GtkWidget *child;
    if (self->document)
        g_signal_handlers_disconnect_by_data(self->document, self);
    if (self->scroll)
        g_source_remove(self->scroll);
    self->scroll = 0;
    for (guint i = 0; i < WS_CODE_COUNT; i++) {
        if (self->buffer[i])
            g_signal_handlers_disconnect_by_data(self->buffer[i], self);
    }
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(self))))
        gtk_widget_unparent(child);
    for (guint i = 0; i < WS_CODE_COUNT; i++)
        g_clear_object(&self->buffer[i]);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_code_panel_parent_class)->dispose(object);
}

static void ws_code_panel_class_init(WsCodePanelClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(widget, GTK_TYPE_BOX_LAYOUT);
    gtk_widget_class_set_css_name(widget, "codepanel");
    gtk_widget_class_install_action(widget, "code.copy", NULL, copy_all);
}

static void ws_code_panel_init(WsCodePanel *self)
{
    GtkLayoutManager *layout = gtk_widget_get_layout_manager(GTK_WIDGET(self));
    gtk_orientable_set_orientation(GTK_ORIENTABLE(layout), GTK_ORIENTATION_VERTICAL);
    self->first = self->last = self->shown = -1;
    know_languages();
    gtk_widget_set_parent(make_bar(self), GTK_WIDGET(self));
    self->stack = gtk_stack_new();
    gtk_widget_set_vexpand(self->stack, TRUE);
    gtk_stack_add_named(GTK_STACK(self->stack), make_view(self), "text");
    gtk_stack_add_named(GTK_STACK(self->stack), make_missing(self), "missing");
    gtk_widget_set_parent(self->stack, GTK_WIDGET(self));
    GtkSettings *settings = gtk_widget_get_settings(GTK_WIDGET(self));
    g_signal_connect_object(settings, "notify::gtk-application-prefer-dark-theme",
                            G_CALLBACK(restyle), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(settings, "notify::gtk-theme-name", G_CALLBACK(restyle), self,
                            G_CONNECT_SWAPPED);
    restyle(self);
}

/* A place of the list beside the source: its lines, whether or not a step stands for them. */
static void show_lines(guint first, guint last, gpointer data)
{
    WsCodePanel *self = data;
    for (guint line = first; self->first < 0 && line <= MIN(last, first + 40); line++)
        mark_line(self, line, WS_MARK_SELECTED);
    self->shown = (gint)first;
    if (!self->scroll)
        self->scroll = g_idle_add_full(G_PRIORITY_LOW, scroll_now, self, NULL);
}

GtkWidget *ws_code_panel_new(WsDocument *document)
{
    WsCodePanel *self = g_object_new(WS_TYPE_CODE_PANEL, NULL);
    self->document = g_object_ref(document);
    g_signal_connect_swapped(document, "changed", G_CALLBACK(on_changed), self);
    g_signal_connect_swapped(document, "edited", G_CALLBACK(mark_trouble), self);
    g_signal_connect_swapped(document, "code-changed", G_CALLBACK(on_code), self);
    g_signal_connect_swapped(document, "selection-changed", G_CALLBACK(on_selection), self);
    g_signal_connect_swapped(document, "reveal", G_CALLBACK(scroll_to_marked), self);
    self->aside = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_box_append(GTK_BOX(self->aside), ws_opaque_list_new(document, show_lines, self));
    gtk_box_append(GTK_BOX(self->texts), self->aside);
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(self->toggle[WS_CODE_PROGRAM]), TRUE);
    on_changed(self);
    return GTK_WIDGET(self);
}
