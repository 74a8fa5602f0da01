#include "ui/panels/structure.h"
#include "ui/parts/labels.h"

#include "model/finding.h"
#include "model/findings.h"
#include "ui/app/actions.h"
#include "ui/compose/edit_commands.h"
#include "ui/compose/edit_menu.h"
#include "ui/panels/palette_panel.h"
#include "ui/panels/structure_rows.h"
#include "ui/window/window_private.h"

#include <glib/gi18n.h>
#include <string.h>

struct _WsStructure {
    GtkWidget parent;
    WsDocument *document;
    GListStore *store;
    GtkSelectionModel *selection;
    GtkWidget *list, *scroll, *menu;
    gboolean busy; /* selection is being set from one side to the other */
};

G_DEFINE_FINAL_TYPE(WsStructure, ws_structure, GTK_TYPE_WIDGET)

/* What a row hands over when it is dragged. */
#define DRAG "node:"

static WsStructureRow *row_at(WsStructure *self, guint i)
{
    g_autoptr(WsStructureRow) row = g_list_model_get_item(G_LIST_MODEL(self->store), i);
    return row; /* the store keeps it */
}

/* --- the document's selection and the list's -----------------------------------------------------
 */

static void take_selection(WsStructure *self)
{
    const guint n = g_list_model_get_n_items(G_LIST_MODEL(self->store));
    g_autoptr(GtkBitset) in = gtk_bitset_new_empty(), all = gtk_bitset_new_range(0, n);
    guint focus = G_MAXUINT;
    for (guint i = 0; i < n; i++) {
        const WsStructureRow *row = row_at(self, i);
        if (!row->id || !ws_document_selected(self->document, row->id))
            continue;
        gtk_bitset_add(in, i);
        if (!g_strcmp0(row->id, ws_document_focus(self->document)->step))
            focus = i;
    }
    self->busy = TRUE;
    gtk_selection_model_set_selection(self->selection, in, all);
    self->busy = FALSE;
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(self));
    GtkWidget *has = root ? gtk_root_get_focus(root) : NULL;
    if (focus != G_MAXUINT && gtk_widget_get_mapped(self->list) &&
        !(has && gtk_widget_is_ancestor(has, self->list)))
        gtk_widget_activate_action(self->list, "list.scroll-to-item", "u", focus);
}

static void give_selection(GtkSelectionModel *model, guint at, guint count, WsStructure *self)
{
    if (self->busy)
        return;
    g_autoptr(GtkBitset) in = gtk_selection_model_get_selection(model);
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < g_list_model_get_n_items(G_LIST_MODEL(self->store)); i++)
        if (gtk_bitset_contains(in, i) && row_at(self, i)->id)
            g_ptr_array_add(ids, g_strdup(row_at(self, i)->id));
    self->busy = TRUE;
    if (!ids->len)
        ws_document_select(self->document, NULL, WS_SELECT_REPLACE, FALSE);
    for (guint i = 0; i < ids->len; i++) {
        WsFocus focus = { ids->pdata[i], G_MAXUINT, -1, -1 };
        ws_document_select(self->document, &focus, i ? WS_SELECT_ADD : WS_SELECT_REPLACE,
                           i + 1 == ids->len);
    }
    self->busy = FALSE;
}

/* --- rows ----------------------------------------------------------------------------------------
 */

static GHashTable *wrong_places(WsStructure *self)
{
    WsFindings *findings = ws_document_findings(self->document);
    GHashTable *set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; findings && i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (f->severity != WS_SEVERITY_ERROR || !f->at)
            continue;
        for (char *at = g_strdup(f->at); at && *at;) { /* and all that holds it */
            char *slash = strrchr(at, '/');
            char *up = slash ? g_strndup(at, (gsize)(slash - at)) : NULL;
            g_hash_table_add(set, at);
            at = up;
            if (!slash)
                break;
            if (ws_design_find(ws_document_design(self->document), at) &&
                ws_design_find(ws_document_design(self->document), at)->kind == WS_NODE_GROUP) {
                g_free(at);
                break;
            }
        }
    }
    return set;
}

/* Only what is different is replaced: the list stays where it is scrolled to. */
static void refill(WsStructure *self)
{
    g_autoptr(GHashTable) wrong = wrong_places(self);
    g_autoptr(GPtrArray) now = ws_structure_rows(ws_document_design(self->document), wrong);
    const guint n = g_list_model_get_n_items(G_LIST_MODEL(self->store));
    guint head = 0, tail = 0;
    while (head < n && head < now->len &&
           ws_structure_row_equal(row_at(self, head), now->pdata[head]))
        head++;
    while (tail < n - head && tail < now->len - head &&
           ws_structure_row_equal(row_at(self, n - 1 - tail), now->pdata[now->len - 1 - tail]))
        tail++;
    self->busy = TRUE;
    if (head + tail < n || head + tail < now->len)
        g_list_store_splice(self->store, head, n - head - tail, now->pdata + head,
                            now->len - head - tail);
    self->busy = FALSE;
    take_selection(self);
}

static void changed(WsDocument *document, WsStructure *self)
{
    refill(self);
}

static void selection_changed(WsDocument *document, WsStructure *self)
{
    if (!self->busy)
        take_selection(self);
}

/* --- dragging rows ---------------------------------------------------------------------------- */

static GdkContentProvider *prepare(GtkDragSource *source, double x, double y, GtkListItem *item)
{
    WsStructureRow *row = gtk_list_item_get_item(item);
    if (!row || !row->id)
        return NULL;
    g_autofree char *text = g_strconcat(DRAG, row->id, NULL);
    return gdk_content_provider_new_typed(G_TYPE_STRING, text);
}

static WsWindow *window_of(WsStructure *self)
{
    return WS_WINDOW(gtk_widget_get_root(GTK_WIDGET(self)));
}

/* Before the row in its upper half, behind (or into it, if it is empty or a group) in the lower. */
static WsEditSpot spot_of(const WsDesign *design, const WsNode *node, gboolean upper)
{
    WsEditSpot spot = ws_edit_spot(design, node);
    if (upper && ws_node_kind_is_step(node->kind)) {
        const WsNode *owner = ws_design_owner(design, node, &spot.list, &spot.index);
        spot.owner = owner->identity;
    }
    return spot;
}

static gboolean move_to(WsStructure *self, const char *id, WsEditSpot spot)
{
    WsDesign *latest = ws_document_latest(self->document);
    const guint64 node = ws_document_node(self->document, id);
    g_autoptr(GArray) nodes = ws_document_selected_nodes(self->document);
    if (!ws_document_selected(self->document, id)) {
        g_array_set_size(nodes, 0);
        g_array_append_val(nodes, node);
    }
    WsDraft *d = ws_draft_new(latest);
    ws_edit_move(d, (const guint64 *)(gpointer)nodes->data, nodes->len, spot, 0);
    return ws_edit_commit(window_of(self), d, NULL);
}

static gboolean dropped(GtkDropTarget *target, const GValue *value, double x, double y,
                        GtkListItem *item)
{
    GtkWidget *widget = gtk_event_controller_get_widget(GTK_EVENT_CONTROLLER(target));
    WsStructure *self = WS_STRUCTURE(gtk_widget_get_ancestor(widget, WS_TYPE_STRUCTURE));
    WsStructureRow *row = gtk_list_item_get_item(item);
    WsDesign *latest = ws_document_latest(self->document);
    const WsNode *node = row && latest ? ws_design_by_identity(latest, row->node) : NULL;
    const char *text = g_value_get_string(value);
    if (!text || !latest)
        return FALSE;
    WsEditSpot spot = { 0 };
    if (node)
        spot = spot_of(latest, node, y < gtk_widget_get_height(widget) / 2.0);
    if (g_str_has_prefix(text, DRAG))
        return node && move_to(self, text + strlen(DRAG), spot);
    return ws_window_drop_text(window_of(self), text, spot);
}

/* Files also come as text; they are for the window, which opens them. */
static gboolean accepts(GtkDropTarget *target, GdkDrop *drop, gpointer data)
{
    GdkContentFormats *formats = gdk_drop_get_formats(drop);
    return !gdk_content_formats_contain_gtype(formats, GDK_TYPE_FILE_LIST) &&
           !gdk_content_formats_contain_mime_type(formats, "text/uri-list");
}

/* --- a row's widgets -------------------------------------------------------------------------- */

static void setup(GtkSignalListItemFactory *factory, GtkListItem *item, WsStructure *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    GtkWidget *name = gtk_label_new(NULL), *detail = gtk_label_new(NULL);
    gtk_label_set_xalign(GTK_LABEL(name), 0);
    gtk_label_set_xalign(GTK_LABEL(detail), 0);
    gtk_label_set_ellipsize(GTK_LABEL(detail), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(detail, "dim");
    gtk_widget_set_hexpand(detail, TRUE);
    gtk_box_append(GTK_BOX(box), name);
    gtk_box_append(GTK_BOX(box), detail);
    gtk_list_item_set_child(item, box);
    GtkDragSource *drag = gtk_drag_source_new();
    gtk_drag_source_set_actions(drag, GDK_ACTION_MOVE | GDK_ACTION_COPY);
    g_signal_connect(drag, "prepare", G_CALLBACK(prepare), item);
    gtk_widget_add_controller(box, GTK_EVENT_CONTROLLER(drag));
    GtkDropTarget *drop = gtk_drop_target_new(G_TYPE_STRING, GDK_ACTION_MOVE | GDK_ACTION_COPY);
    g_signal_connect(drop, "accept", G_CALLBACK(accepts), NULL);
    g_signal_connect(drop, "drop", G_CALLBACK(dropped), item);
    gtk_widget_add_controller(box, GTK_EVENT_CONTROLLER(drop));
}

static void set_class(GtkWidget *widget, const char *name, gboolean on)
{
    if (on)
        gtk_widget_add_css_class(widget, name);
    else
        gtk_widget_remove_css_class(widget, name);
}

static void bind(GtkSignalListItemFactory *factory, GtkListItem *item, WsStructure *self)
{
    WsStructureRow *row = gtk_list_item_get_item(item);
    GtkWidget *box = gtk_list_item_get_child(item);
    GtkWidget *name = gtk_widget_get_first_child(box), *detail = gtk_widget_get_last_child(box);
    const gboolean heading = row->kind == WS_NODE_KIND_COUNT;
    gtk_label_set_text(GTK_LABEL(name), row->label);
    gtk_label_set_text(GTK_LABEL(detail), row->detail ? row->detail : "");
    gtk_widget_set_margin_start(box, (int)(14 * row->depth));
    set_class(name, "ws-heading", heading);
    set_class(name, "ws-group", row->kind == WS_NODE_GROUP);
    set_class(box, "ws-muted", row->muted);
    set_class(name, "ws-wrong", row->wrong);
    g_autofree char *tip = heading ? NULL : g_strjoin(" ", row->label, row->detail, NULL);
    ws_tip_set(box, tip);
    g_object_set_data(G_OBJECT(box), "row", row);
}

static void activated(GtkListView *list, guint at, WsStructure *self)
{
    gtk_widget_activate_action(GTK_WIDGET(self), "win.focus-inspector", NULL);
}

static void pressed(GtkGestureClick *g, int n, double x, double y, WsStructure *self)
{
    GdkEvent *event = gtk_event_controller_get_current_event(GTK_EVENT_CONTROLLER(g));
    if (!event || !gdk_event_triggers_context_menu(event))
        return;
    gtk_gesture_set_state(GTK_GESTURE(g), GTK_EVENT_SEQUENCE_CLAIMED);
    GtkWidget *at = gtk_widget_pick(self->list, x, y, GTK_PICK_DEFAULT);
    for (; at && at != self->list; at = gtk_widget_get_parent(at)) {
        WsStructureRow *row = g_object_get_data(G_OBJECT(at), "row");
        if (!row || !row->id)
            continue;
        if (!ws_document_selected(self->document, row->id)) {
            WsFocus focus = { row->id, G_MAXUINT, -1, -1 };
            ws_document_select(self->document, &focus, WS_SELECT_REPLACE, FALSE);
        }
        break;
    }
    if (!self->menu) {
        g_autoptr(GMenuModel) model = ws_edit_menu();
        self->menu = gtk_popover_menu_new_from_model(model);
        gtk_widget_set_parent(self->menu, self->list);
        gtk_popover_set_has_arrow(GTK_POPOVER(self->menu), FALSE);
        gtk_widget_set_halign(self->menu, GTK_ALIGN_START);
    }
    gtk_popover_set_pointing_to(GTK_POPOVER(self->menu), &(GdkRectangle){ (int)x, (int)y, 1, 1 });
    gtk_popover_popup(GTK_POPOVER(self->menu));
}

/* --- the widget ------------------------------------------------------------------------------- */

/* A list that has just been shown has no rows before it is laid out. */
static gboolean focus_when_laid_out(GtkWidget *list, GdkFrameClock *clock, gpointer frames)
{
    guint *left = frames;
    return gtk_widget_grab_focus(list) || --*left == 0 ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
}

static gboolean grab_focus(GtkWidget *widget)
{
    WsStructure *self = WS_STRUCTURE(widget);
    if (gtk_widget_get_height(self->list) > 0 && gtk_widget_grab_focus(self->list))
        return TRUE;
    guint *frames = g_new(guint, 1);
    *frames = 10;
    gtk_widget_add_tick_callback(self->list, focus_when_laid_out, frames, g_free);
    return TRUE;
}

static void dispose(GObject *object)
{
    WsStructure *self = WS_STRUCTURE(object);
    GtkWidget *child;
    g_clear_pointer(&self->menu, gtk_widget_unparent);
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(self))))
        gtk_widget_unparent(child);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_structure_parent_class)->dispose(object);
}

static void ws_structure_class_init(WsStructureClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->dispose = dispose;
    widget->grab_focus = grab_focus;
    gtk_widget_class_set_layout_manager_type(widget, GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_GROUP);
    gtk_widget_class_set_css_name(widget, "structure");
    ws_actions_bind_keys(widget, WS_PART_EDIT);
}

static void ws_structure_init(WsStructure *self)
{
    GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
    self->store = g_list_store_new(WS_TYPE_STRUCTURE_ROW);
    self->selection = GTK_SELECTION_MODEL(gtk_multi_selection_new(G_LIST_MODEL(self->store)));
    g_signal_connect(factory, "setup", G_CALLBACK(setup), self);
    g_signal_connect(factory, "bind", G_CALLBACK(bind), self);
    self->list = gtk_list_view_new(self->selection, factory);
    g_signal_connect(self->selection, "selection-changed", G_CALLBACK(give_selection), self);
    g_signal_connect(self->list, "activate", G_CALLBACK(activated), self);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Structure"), -1);
    GtkGesture *click = gtk_gesture_click_new();
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(click), 0);
    g_signal_connect(click, "pressed", G_CALLBACK(pressed), self);
    gtk_widget_add_controller(self->list, GTK_EVENT_CONTROLLER(click));
    self->scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(self->scroll), self->list);
    gtk_widget_set_parent(self->scroll, GTK_WIDGET(self));
}

GtkWidget *ws_structure_new(WsDocument *document)
{
    WsStructure *self = g_object_new(WS_TYPE_STRUCTURE, NULL);
    self->document = g_object_ref(document);
    g_signal_connect_object(document, "changed", G_CALLBACK(changed), self, 0);
    g_signal_connect_object(document, "selection-changed", G_CALLBACK(selection_changed), self, 0);
    refill(self);
    return GTK_WIDGET(self);
}

typedef struct {
    const char *label;
    guint nth;
    GtkWidget *found;
} Find;

static void find_row(GtkWidget *at, Find *f)
{
    WsStructureRow *row = g_object_get_data(G_OBJECT(at), "row");
    if (row && gtk_widget_get_mapped(at) && !strcmp(row->label, f->label) && f->nth-- == 0)
        f->found = at;
    for (GtkWidget *c = gtk_widget_get_first_child(at); c && !f->found;
         c = gtk_widget_get_next_sibling(c))
        find_row(c, f);
}

GtkWidget *ws_structure_row_widget(WsStructure *s, const char *label, guint nth)
{
    Find f = { label, nth, NULL };
    find_row(s->list, &f);
    return f.found;
}
