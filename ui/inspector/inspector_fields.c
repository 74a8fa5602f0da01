#include "ui/inspector/inspector_fields.h"

#include "edit/entry.h"
#include "ui/inspector/derived.h"
#include "ui/inspector/name_completion.h"
#include "ui/parts/labels.h"
#include "ui/parts/words.h"

#include <glib/gi18n.h>
#include <string.h>

typedef struct {
    WsFields *fields;
    const WsFieldRow *row;
    const char *key;
    GtkWidget *input; /* GtkEntry, GtkDropDown or GtkTextView */
    GtkLabel *error;
    char *shown;    /* text of the value as it is in the design */
    gboolean wrong; /* the label says what is wrong with what was typed */
    gboolean own;   /* set by us, not by the person */
} Field;

struct _WsFields {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *grid;
    GPtrArray *field; /* Field */
    GArray *nodes;    /* guint64: what is edited, all of one kind */
    WsNodeKind kind;
};

G_DEFINE_FINAL_TYPE(WsFields, ws_fields, GTK_TYPE_WIDGET)

static void free_field(gpointer data)
{
    Field *f = data;
    g_free(f->shown);
    g_free(f);
}

/* --- what is shown ---------------------------------------------------------------------------- */

static const WsNode *node_at(WsFields *self, guint i)
{
    WsDesign *latest = ws_document_latest(self->document);
    return latest ? ws_design_by_identity(latest, g_array_index(self->nodes, guint64, i)) : NULL;
}

/* Text of the field in all that is selected; `mixed` if they differ. Caller frees. */
static char *value_text(WsFields *self, const WsFieldRow *row, gboolean *mixed)
{
    g_autofree char *text = NULL;
    *mixed = FALSE;
    for (guint i = 0; i < self->nodes->len; i++) {
        const WsNode *node = node_at(self, i);
        char *own = node ? ws_entry_text(row, ws_node_get(node, row->field)) : NULL;
        if (!own)
            continue;
        if (text && strcmp(text, own))
            *mixed = TRUE;
        g_free(text);
        text = own;
    }
    return *mixed || !text ? g_strdup("") : g_steal_pointer(&text);
}

static char *default_text(const WsFieldRow *row)
{
    if (row->required)
        return g_strdup(_("required"));
    if (!row->fallback || !*row->fallback)
        return g_strdup(_("none"));
    g_autofree char *bare = g_strdup(row->fallback);
    const gsize n = strlen(bare);
    if (n > 1 && *bare == '"') {
        bare[n - 1] = '\0';
        return g_strdup(bare + 1);
    }
    return g_steal_pointer(&bare);
}

/* What holds where the field is left out: what the program derived, if it did. */
static char *left_out_text(Field *f)
{
    WsFields *self = f->fields;
    WsDesign *design = ws_document_design(self->document);
    if (!ws_derived_is(self->kind, f->row->field))
        return default_text(f->row);
    const WsNode *node = design && self->nodes->len == 1
                             ? ws_design_by_identity(design, g_array_index(self->nodes, guint64, 0))
                             : NULL;
    g_autofree char *text =
        ws_derived_text(ws_document_program(self->document), design, node, f->row->field);
    /* Translators: the value that a field has by itself while nothing is typed into it */
    return text ? g_strdup_printf(_("derived: %s"), text) : g_strdup(_("derived"));
}

static void toggle_class(gpointer widget, const char *css, gboolean on)
{
    if (on)
        gtk_widget_add_css_class(widget, css);
    else
        gtk_widget_remove_css_class(widget, css);
}

/* What is wrong with what was typed; else what of the value is only a guess. */
static void say(Field *f, const char *text)
{
    WsDesign *latest = ws_document_latest(f->fields->document);
    const WsNode *node = f->fields->nodes->len == 1 ? node_at(f->fields, 0) : NULL;
    g_autofree char *guess = node ? ws_edit_guessed(latest, node, f->row->field) : NULL;
    g_autofree char *guessed = guess ? g_strdup_printf(_("guessed: %s"), guess) : NULL;
    f->wrong = text && *text;
    gtk_label_set_text(f->error, f->wrong ? text : guessed ? guessed : "");
    gtk_widget_set_visible(GTK_WIDGET(f->error), f->wrong || guessed);
    toggle_class(f->error, "ws-field-error", f->wrong);
    toggle_class(f->error, "dim-label", !f->wrong);
    toggle_class(f->input, "ws-wrong", f->wrong);
    gtk_accessible_update_state(
        GTK_ACCESSIBLE(f->input), GTK_ACCESSIBLE_STATE_INVALID,
        f->wrong ? GTK_ACCESSIBLE_INVALID_TRUE : GTK_ACCESSIBLE_INVALID_FALSE, -1);
}

/* --- choices
 * --------------------------------------------------------------------------------------- The first
 * is the default where the field may be left out. */

static gboolean is_choice(const WsFieldRow *row)
{
    return (row->kind == WS_FIELD_ENUM || row->kind == WS_FIELD_BOOL) ||
           (row->kind == WS_FIELD_INT && row->words);
}

static char **choices(const WsFieldRow *row)
{
    g_autoptr(GStrvBuilder) b = g_strv_builder_new();
    g_auto(GStrv) words =
        g_strsplit(row->kind == WS_FIELD_BOOL ? "false true" : row->words, " ", -1);
    if (!row->required) {
        g_autofree char *fallback = default_text(row);
        g_autofree char *text = g_strdup_printf(_("default (%s)"), fallback);
        g_strv_builder_add(b, text);
    }
    for (guint i = 0; words[i]; i++)
        g_strv_builder_add(b, words[i]);
    return g_strv_builder_end(b);
}

static char *typed_text(Field *f)
{
    if (GTK_IS_EDITABLE(f->input))
        return g_strdup(gtk_editable_get_text(GTK_EDITABLE(f->input)));
    if (GTK_IS_DROP_DOWN(f->input)) {
        const guint at = gtk_drop_down_get_selected(GTK_DROP_DOWN(f->input));
        GtkStringList *list = GTK_STRING_LIST(gtk_drop_down_get_model(GTK_DROP_DOWN(f->input)));
        if (at == GTK_INVALID_LIST_POSITION || (at == 0 && !f->row->required))
            return g_strdup("");
        return g_strdup(gtk_string_list_get_string(list, at));
    }
    GtkTextIter from, to;
    GtkTextBuffer *buffer = gtk_text_view_get_buffer(GTK_TEXT_VIEW(f->input));
    gtk_text_buffer_get_bounds(buffer, &from, &to);
    return gtk_text_buffer_get_text(buffer, &from, &to, FALSE);
}

static void show_choice(Field *f, const char *text)
{
    GtkStringList *list = GTK_STRING_LIST(gtk_drop_down_get_model(GTK_DROP_DOWN(f->input)));
    guint at = f->row->required ? GTK_INVALID_LIST_POSITION : 0;
    for (guint i = f->row->required ? 0 : 1;
         *text && i < g_list_model_get_n_items(G_LIST_MODEL(list)); i++)
        if (!strcmp(gtk_string_list_get_string(list, i), text))
            at = i;
    gtk_drop_down_set_selected(GTK_DROP_DOWN(f->input), at);
}

/* A text view knows how high its lines are once it has been given a width, and does not ask again:
 * for the first frames in which it has one, it is asked to. */
static gboolean ask_again(GtkWidget *view, GdkFrameClock *clock, gpointer data)
{
    guint *frames = data;
    if (gtk_widget_get_width(view) <= 0)
        return G_SOURCE_CONTINUE;
    gtk_widget_queue_resize(view);
    return ++*frames < 3 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static void show_text(Field *f, const char *text)
{
    f->own = TRUE;
    if (GTK_IS_EDITABLE(f->input)) {
        gtk_editable_set_text(GTK_EDITABLE(f->input), text);
    } else if (GTK_IS_DROP_DOWN(f->input)) {
        show_choice(f, text);
    } else {
        gtk_text_buffer_set_text(gtk_text_view_get_buffer(GTK_TEXT_VIEW(f->input)), text, -1);
        gtk_widget_add_tick_callback(f->input, ask_again, g_new0(guint, 1), g_free);
    }
    f->own = FALSE;
}

/* What stands there while nothing is given: it follows the program, also while one types. */
static void show_left_out(Field *f, gboolean mixed)
{
    g_autofree char *text = mixed ? g_strdup(_("several values")) : left_out_text(f);
    if (GTK_IS_ENTRY(f->input)) {
        const char *old = gtk_entry_get_placeholder_text(GTK_ENTRY(f->input));
        if (g_strcmp0(old, text))
            gtk_entry_set_placeholder_text(GTK_ENTRY(f->input), text);
    } else if (GTK_IS_DROP_DOWN(f->input) && !mixed &&
               ws_derived_is(f->fields->kind, f->row->field)) {
        GtkStringList *list = GTK_STRING_LIST(gtk_drop_down_get_model(GTK_DROP_DOWN(f->input)));
        const guint at = gtk_drop_down_get_selected(GTK_DROP_DOWN(f->input));
        const char *first[] = { text, NULL };
        if (!g_strcmp0(gtk_string_list_get_string(list, 0), text))
            return;
        f->own = TRUE;
        gtk_string_list_splice(list, 0, 1, first);
        gtk_drop_down_set_selected(GTK_DROP_DOWN(f->input), at);
        f->own = FALSE;
    }
}

static void refresh(Field *f)
{
    gboolean mixed;
    g_autofree char *now = value_text(f->fields, f->row, &mixed);
    g_autofree char *typed = typed_text(f);
    show_left_out(f, mixed);
    /* What is being typed is not taken away, unless the value itself is another one. */
    if (f->shown && !strcmp(now, f->shown) && strcmp(typed, f->shown))
        return;
    if (!f->shown || strcmp(typed, now))
        show_text(f, now);
    g_free(f->shown);
    f->shown = g_strdup(now);
    say(f, NULL);
}

/* --- committing ------------------------------------------------------------------------------- */

/* `value` NULL: the field is left out. */
static WsDraft *draft_of(Field *f, const char *text, const WsJson *value)
{
    WsFields *self = f->fields;
    WsDraft *d = ws_draft_new(ws_document_latest(self->document));
    g_autofree char *label = ws_edit_label(node_at(self, 0));
    g_autofree char *what = g_strdup_printf("%s: %s", label, f->key);
    if (f->row->field == ws_node_name_field(f->fields->kind) && self->nodes->len == 1 && value) {
        ws_edit_rename(d, g_array_index(self->nodes, guint64, 0), text);
        return d;
    }
    for (guint i = 0; i < self->nodes->len && !d->why; i++)
        ws_draft_set(d, g_array_index(self->nodes, guint64, i), f->row->field,
                     value ? ws_json_copy(value) : NULL);
    if (f->row->field == WS_F_reference && !d->why)
        ws_edit_declare(d); /* what it names and nobody has declared */
    ws_draft_name(d, "Set %s", what);
    for (guint i = 0; i < self->nodes->len; i++)
        ws_draft_touch(d, g_array_index(self->nodes, guint64, i));
    return d;
}

static void commit(Field *f)
{
    WsFields *self = f->fields;
    if (f->own)
        return;
    g_autoptr(GError) error = NULL;
    g_autofree char *text = typed_text(f);
    if (!self->nodes->len || !node_at(self, 0) || (f->shown && !strcmp(text, f->shown)))
        return;
    g_strstrip(text);
    g_autoptr(WsJson) value = ws_entry_json(f->row, text, &error);
    if (error) {
        g_autofree char *words = ws_words(error->message);
        say(f, words);
        return;
    }
    g_autoptr(WsDraft) d = draft_of(f, text, value);
    if (d->why) {
        g_autofree char *why = ws_words(d->why);
        say(f, why);
        return;
    }
    /* The value may be written in another way than it was typed: what is shown follows the design.
     */
    g_free(f->shown);
    f->shown = NULL;
    say(f, NULL);
    ws_document_commit(self->document, d, NULL);
    refresh(f);
}

/* A value that is entered again as it is shown is no guess. */
static void confirm(Field *f)
{
    WsFields *self = f->fields;
    g_autofree char *text = typed_text(f);
    const WsNode *node = self->nodes->len == 1 ? node_at(self, 0) : NULL;
    if (node && f->shown && !strcmp(text, f->shown)) {
        g_autoptr(WsDraft) d = ws_draft_new(ws_document_latest(self->document));
        g_autofree char *label = ws_edit_label(node);
        g_autofree char *what = g_strdup_printf("%s: %s", label, f->key);
        ws_edit_confirm(d, node->identity, f->row->field);
        ws_draft_name(d, "Set %s", what);
        ws_document_commit(self->document, d, NULL);
        say(f, NULL);
    }
    commit(f);
}

static void left(GtkEventControllerFocus *c, Field *f)
{
    commit(f);
}

static void activated(GtkEntry *entry, Field *f)
{
    confirm(f);
    gtk_editable_set_position(GTK_EDITABLE(entry), -1);
}

static void chosen(GObject *drop, GParamSpec *spec, Field *f)
{
    if (!f->own)
        commit(f);
}

static gboolean key(GtkEventControllerKey *c, guint value, guint code, GdkModifierType state,
                    Field *f)
{
    g_autofree char *typed = typed_text(f);
    if (value == GDK_KEY_Return && state & GDK_CONTROL_MASK && GTK_IS_TEXT_VIEW(f->input)) {
        confirm(f);
        return TRUE;
    }
    if (value != GDK_KEY_Escape || !f->shown || !strcmp(typed, f->shown))
        return FALSE;
    show_text(f, f->shown);
    say(f, NULL);
    return TRUE;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void setup_word(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
    GtkWidget *label = gtk_label_new(NULL);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_label_set_width_chars(GTK_LABEL(label), 4);
    gtk_list_item_set_child(item, label);
}

static void bind_word(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
    gtk_label_set_text(GTK_LABEL(gtk_list_item_get_child(item)),
                       gtk_string_object_get_string(gtk_list_item_get_item(item)));
}

/* Words may be longer than a narrow inspector. */
static GtkWidget *new_choice(Field *f)
{
    g_auto(GStrv) words = choices(f->row);
    g_autoptr(GtkListItemFactory) factory = gtk_signal_list_item_factory_new();
    GtkWidget *drop = gtk_drop_down_new_from_strings((const char *const *)words);
    g_signal_connect(factory, "setup", G_CALLBACK(setup_word), NULL);
    g_signal_connect(factory, "bind", G_CALLBACK(bind_word), NULL);
    gtk_drop_down_set_factory(GTK_DROP_DOWN(drop), factory);
    g_signal_connect(drop, "notify::selected", G_CALLBACK(chosen), f);
    return drop;
}

static GtkWidget *new_input(WsFields *self, Field *f)
{
    if (is_choice(f->row))
        return new_choice(f);
    if (ws_entry_lines(f->row)) {
        GtkWidget *view = gtk_text_view_new();
        gtk_text_view_set_wrap_mode(GTK_TEXT_VIEW(view), GTK_WRAP_WORD_CHAR);
        gtk_text_view_set_accepts_tab(GTK_TEXT_VIEW(view), FALSE);
        gtk_text_view_set_monospace(GTK_TEXT_VIEW(view), TRUE);
        gtk_text_view_set_left_margin(GTK_TEXT_VIEW(view), 6);
        gtk_widget_add_css_class(view, "ws-lines");
        return view;
    }
    GtkWidget *entry = gtk_entry_new();
    gtk_entry_set_has_frame(GTK_ENTRY(entry), TRUE);
    gtk_editable_set_width_chars(GTK_EDITABLE(entry), 3);
    g_signal_connect(entry, "activate", G_CALLBACK(activated), f);
    if (f->row->kind != WS_FIELD_TEXT && f->row->field != ws_node_name_field(f->fields->kind))
        ws_name_completion_attach(GTK_ENTRY(entry), self->document,
                                  g_array_index(self->nodes, guint64, 0), f->row);
    return entry;
}

static void add_field(WsFields *self, const WsFieldRow *row, int line)
{
    Field *f = g_new0(Field, 1);
    GtkWidget *name = gtk_label_new(ws_node_key(self->kind, row->field));
    GtkWidget *error = gtk_label_new(NULL);
    *f = (Field){ .fields = self,
                  .row = row,
                  .key = ws_node_key(self->kind, row->field),
                  .error = GTK_LABEL(error) };
    g_ptr_array_add(self->field, f);
    f->input = new_input(self, f);
    g_object_set_data_full(G_OBJECT(f->input), "field", f, free_field); /* as long as its signals */
    gtk_label_set_xalign(GTK_LABEL(name), 0);
    gtk_label_set_yalign(GTK_LABEL(name), 0);
    gtk_label_set_mnemonic_widget(GTK_LABEL(name), f->input);
    gtk_label_set_width_chars(GTK_LABEL(name), 8);
    gtk_label_set_ellipsize(GTK_LABEL(name), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(name, "ws-name");
    ws_tip_set(name, _(row->help));
    ws_tip_set(f->input, _(row->help));
    gtk_widget_set_hexpand(f->input, TRUE);
    gtk_label_set_wrap(GTK_LABEL(error), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(error), PANGO_WRAP_WORD_CHAR);
    gtk_label_set_xalign(GTK_LABEL(error), 0);
    gtk_widget_set_visible(error, FALSE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(f->input), GTK_ACCESSIBLE_PROPERTY_LABEL, f->key,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, _(row->help), -1);
    GtkEventController *focus = gtk_event_controller_focus_new();
    g_signal_connect(focus, "leave", G_CALLBACK(left), f);
    gtk_widget_add_controller(f->input, focus);
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(key), f);
    gtk_widget_add_controller(f->input, keys);
    gtk_grid_attach(GTK_GRID(self->grid), name, 0, 2 * line, 1, 1);
    gtk_grid_attach(GTK_GRID(self->grid), f->input, 1, 2 * line, 1, 1);
    gtk_grid_attach(GTK_GRID(self->grid), error, 1, 2 * line + 1, 1, 1);
}

static gboolean is_shown(const WsFieldRow *row)
{
    return row->kind != WS_FIELD_STEPS && row->kind != WS_FIELD_NODES &&
           row->kind != WS_FIELD_NODE && row->kind != WS_FIELD_JSON &&
           row->field != WS_F_warpstave && row->field != WS_F_source; /* of the import alone */
}

static void rebuild(WsFields *self)
{
    GtkWidget *child;
    guint n = 0;
    const WsFieldRow *rows = ws_node_rows(self->kind, &n);
    for (guint i = 0; i < self->field->len; i++) /* losing the focus with its entry is no edit */
        ((Field *)self->field->pdata[i])->own = TRUE;
    while ((child = gtk_widget_get_first_child(self->grid)))
        gtk_grid_remove(GTK_GRID(self->grid), child);
    g_ptr_array_set_size(self->field, 0);
    for (guint i = 0; self->nodes->len && i < n; i++)
        if (is_shown(&rows[i]))
            add_field(self, &rows[i], (int)i);
}

/* The selected nodes of the focus' kind; the document itself if nothing is selected. */
static GArray *wanted(WsFields *self, WsNodeKind *kind)
{
    WsDesign *latest = ws_document_latest(self->document);
    GArray *nodes = g_array_new(FALSE, FALSE, sizeof(guint64));
    const guint64 focus = ws_document_node(self->document, ws_document_focus(self->document)->step);
    const WsNode *primary = latest && focus ? ws_design_by_identity(latest, focus) : NULL;
    if (!latest)
        return nodes;
    if (!primary)
        primary = ws_design_root(latest);
    *kind = primary->kind;
    g_array_append_val(nodes, primary->identity);
    g_autoptr(GArray) all = ws_document_selected_nodes(self->document);
    for (guint i = 0; i < all->len; i++) {
        const guint64 id = g_array_index(all, guint64, i);
        const WsNode *node = ws_design_by_identity(latest, id);
        if (id != primary->identity && node->kind == *kind)
            g_array_append_val(nodes, id);
    }
    return nodes;
}

void ws_fields_update(WsFields *self)
{
    WsNodeKind kind = WS_NODE_DESIGN;
    GArray *nodes = wanted(self, &kind);
    const gboolean same = nodes->len && nodes->len == self->nodes->len && kind == self->kind &&
                          !memcmp(nodes->data, self->nodes->data, nodes->len * sizeof(guint64));
    if (!same) {
        for (guint i = 0; i < self->field->len; i++) /* what was typed into the old ones counts */
            if (gtk_widget_has_focus(((Field *)self->field->pdata[i])->input))
                commit(self->field->pdata[i]);
        g_array_unref(self->nodes);
        self->nodes = nodes;
        self->kind = kind;
        rebuild(self);
    } else {
        g_array_unref(nodes);
    }
    for (guint i = 0; i < self->field->len; i++)
        refresh(self->field->pdata[i]);
}

/* --- the widget ------------------------------------------------------------------------------- */

static void dispose(GObject *object)
{
    WsFields *self = WS_FIELDS(object);
    GtkWidget *child;
    for (guint i = 0; i < self->field->len; i++)
        ((Field *)self->field->pdata[i])->own = TRUE;
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(self))))
        gtk_widget_unparent(child);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_fields_parent_class)->dispose(object);
}

static void finalize(GObject *object)
{
    WsFields *self = WS_FIELDS(object);
    g_ptr_array_unref(self->field);
    g_array_unref(self->nodes);
    G_OBJECT_CLASS(ws_fields_parent_class)->finalize(object);
}

static void ws_fields_class_init(WsFieldsClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    G_OBJECT_CLASS(class)->finalize = finalize;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_css_name(GTK_WIDGET_CLASS(class), "fields");
}

static void ws_fields_init(WsFields *self)
{
    self->field = g_ptr_array_new();
    self->nodes = g_array_new(FALSE, FALSE, sizeof(guint64));
    self->kind = WS_NODE_DESIGN;
    self->grid = gtk_grid_new();
    gtk_grid_set_column_spacing(GTK_GRID(self->grid), 10);
    gtk_grid_set_row_spacing(GTK_GRID(self->grid), 1);
    gtk_widget_set_parent(self->grid, GTK_WIDGET(self));
}

GtkWidget *ws_fields_new(WsDocument *document)
{
    WsFields *self = g_object_new(WS_TYPE_FIELDS, NULL);
    ws_fields_set_document(self, document);
    return GTK_WIDGET(self);
}

void ws_fields_set_document(WsFields *self, WsDocument *document)
{
    g_set_object(&self->document, document);
}

static Field *find(WsFields *self, const char *name)
{
    for (guint i = 0; i < self->field->len; i++)
        if (!strcmp(((Field *)self->field->pdata[i])->key, name))
            return self->field->pdata[i];
    return NULL;
}

GtkWidget *ws_fields_entry(WsFields *self, const char *name)
{
    Field *f = find(self, name);
    return f ? f->input : NULL;
}

const char *ws_fields_error(WsFields *self, const char *name)
{
    Field *f = find(self, name);
    return f && f->wrong ? gtk_label_get_text(f->error) : NULL;
}
