#include "ui/stages/stages_panel.h"

#include "edit/edit.h"
#include "model/design.h"
#include "ui/parts/labels.h"
#include "ui/parts/words.h"
#include "ui/stages/stages_round.h"

#include <glib/gi18n.h>

struct _WsStagesPanel {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *box, *say, *explicit, *scroll;
    GtkWidget *held;     /* words beside the pointer while a group is dragged */
    WsDesign *shown;     /* what the page is filled of */
    GPtrArray *loops;    /* WsHintLoop*: of `shown` */
    GPtrArray *matrices; /* WsStagesMatrix*, one for each loop; NULL: has no form */
    GtkWidget *body;
};

G_DEFINE_FINAL_TYPE(WsStagesPanel, ws_stages_panel, GTK_TYPE_WIDGET)

/* --- filling ------------------------------------------------------------------------------------
 */

static const char *rest(WsStagesPanel *self)
{
    if (!self->shown)
        return _("Nothing to look at yet.");
    return self->loops->len
               ? _("A group runs in its stage: the earlier, the more rounds ahead. What follows "
                   "from that is derived, and proved: slanted steps are made of the hint.")
               : _("No loop of this design has num_stages: nothing here is derived of a hint.");
}

/* Beside the pointer, below it or, where there is no room, above: no row moves for them. */
static void say_held(WsStagesPanel *self, WsStagesMatrix *m, const char *text, double x, double y)
{
    graphene_point_t at;
    GtkRequisition size;
    gtk_label_set_text(GTK_LABEL(self->held), text);
    gtk_widget_set_visible(self->held, *text);
    if (!*text || !gtk_widget_compute_point(GTK_WIDGET(m), self->box,
                                            &GRAPHENE_POINT_INIT((float)x, (float)y), &at))
        return;
    gtk_widget_set_margin_start(self->held, 0);
    gtk_widget_set_margin_top(self->held, 0);
    gtk_widget_get_preferred_size(self->held, NULL, &size);
    const int width = gtk_widget_get_width(self->box), height = gtk_widget_get_height(self->box);
    const int right = (int)at.x + 16, below = (int)at.y + 20;
    gtk_widget_set_margin_start(self->held, MAX(MIN(right, width - size.width), 0));
    gtk_widget_set_margin_top(
        self->held, below + size.height <= height ? below : MAX((int)at.y - 14 - size.height, 0));
}

static void on_said(WsStagesMatrix *m, const char *text, WsStagesPanel *self)
{
    double x, y;
    if (ws_stages_matrix_pointer(m, &x, &y)) {
        say_held(self, m, text, x, y);
        return;
    }
    gtk_widget_set_visible(self->held, FALSE);
    gtk_label_set_text(GTK_LABEL(self->say), *text ? text : rest(self));
}

static GtkWidget *derived(const WsDesign *design, const WsHintLoop *loop)
{
    g_autofree char *markup = ws_stages_rounds(design, loop, TRUE);
    GtkWidget *label = ws_label_wrapped("", NULL);
    gtk_label_set_markup(GTK_LABEL(label), markup ? markup : "");
    gtk_label_set_selectable(GTK_LABEL(label), TRUE);
    gtk_label_set_width_chars(GTK_LABEL(label), 40);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 80);
    gtk_widget_set_valign(label, GTK_ALIGN_START);
    gtk_widget_add_css_class(label, "ws-stages-rounds");
    return label;
}

static void add_loop(WsStagesPanel *self, const WsHintLoop *loop)
{
    g_autofree char *place = ws_edit_label(loop->loop);
    g_autofree char *head =
        loop->why ? g_strdup(place)
                  : g_strdup_printf(
                        ngettext("%s in %s, %d stage", "%s in %s, %d stages", (gulong)loop->stages),
                        place, ws_node_name(loop->home), (int)loop->stages);
    gtk_box_append(GTK_BOX(self->body), ws_label_wrapped(head, "ws-stages-head"));
    if (loop->why) {
        g_autofree char *why = ws_words(loop->why);
        gtk_box_append(GTK_BOX(self->body), ws_label_wrapped(why, "ws-stages-rounds"));
        g_ptr_array_add(self->matrices, NULL);
        return;
    }
    GtkWidget *matrix = ws_stages_matrix_new(self->document, self->shown, loop);
    g_signal_connect(matrix, "said", G_CALLBACK(on_said), self);
    GtkWidget *row = gtk_flow_box_new(); /* one under the other where there is little room */
    gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(row), GTK_SELECTION_NONE);
    gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(row), 2);
    gtk_widget_set_halign(matrix, GTK_ALIGN_START);
    gtk_flow_box_append(GTK_FLOW_BOX(row), matrix);
    gtk_flow_box_append(GTK_FLOW_BOX(row), derived(self->shown, loop));
    for (gint i = 0; i < 2; i++) /* what is in them takes the keyboard */
        gtk_widget_set_focusable(GTK_WIDGET(gtk_flow_box_get_child_at_index(GTK_FLOW_BOX(row), i)),
                                 FALSE);
    gtk_box_append(GTK_BOX(self->body), row);
    g_ptr_array_add(self->matrices, matrix);
}

/* Which matrix had the keyboard, and where. */
static gint focus_of(WsStagesPanel *self, guint64 *group, gboolean *executor)
{
    for (guint i = 0; i < self->matrices->len; i++)
        if (self->matrices->pdata[i] &&
            ws_stages_matrix_focus(self->matrices->pdata[i], group, executor))
            return (gint)i;
    return -1;
}

static void fill(WsStagesPanel *self)
{
    guint64 group = 0;
    gboolean executor = FALSE;
    const gint focus = focus_of(self, &group, &executor);
    WsDesign *design = ws_document_latest(self->document);
    self->body = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    g_ptr_array_set_size(self->matrices, 0);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(self->scroll), self->body);
    g_clear_pointer(&self->loops, g_ptr_array_unref);
    g_clear_pointer(&self->shown, ws_design_unref);
    self->shown = design ? ws_design_ref(design) : NULL;
    self->loops = design ? ws_hint_loops(design) : g_ptr_array_new();
    for (guint i = 0; i < self->loops->len; i++)
        add_loop(self, self->loops->pdata[i]);
    gtk_widget_set_visible(self->held, FALSE);
    gtk_label_set_text(GTK_LABEL(self->say), rest(self));
    gtk_widget_set_sensitive(self->explicit, self->loops->len > 0);
    if (focus >= 0 && (guint)focus < self->matrices->len && self->matrices->pdata[focus])
        ws_stages_matrix_set_focus(self->matrices->pdata[focus], group, executor);
}

static void update(WsStagesPanel *self)
{
    if (!gtk_widget_get_mapped(GTK_WIDGET(self)) ||
        (self->body && self->shown == ws_document_latest(self->document)))
        return;
    fill(self);
}

/* --- acting -------------------------------------------------------------------------------------
 */

static void make_explicit(WsStagesPanel *self)
{
    g_autoptr(WsDraft) draft = self->shown ? ws_draft_new(self->shown) : NULL;
    if (!draft)
        return;
    ws_edit_explicit(draft, 0);
    if (!draft->why) {
        ws_document_commit(self->document, draft, NULL);
        return;
    }
    g_autofree char *why = ws_words(draft->why);
    gtk_label_set_text(GTK_LABEL(self->say), why);
}

char *ws_stages_panel_copy(WsStagesPanel *self)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < self->loops->len; i++) {
        const WsHintLoop *loop = self->loops->pdata[i];
        g_autofree char *name = ws_edit_label(loop->loop);
        g_autofree char *rounds =
            loop->why ? ws_words(loop->why) : ws_stages_rounds(self->shown, loop, FALSE);
        g_string_append_printf(s, "%s\n", name);
        for (guint k = 0; k < loop->n; k++) {
            const WsHintCell *c = &loop->cell[k];
            g_autofree char *made = ws_stages_derived(loop, k);
            g_string_append_printf(s, _("%s: stage %d, order %d, run by %s"), ws_node_name(c->node),
                                   (int)c->stage, (int)c->order, ws_node_name(c->executor));
            g_string_append_printf(s, "%s%s\n", *made ? "; " : "", made);
        }
        g_string_append_printf(s, "%s\n", rounds ? rounds : "");
    }
    return g_string_free(s, FALSE);
}

static void copy(WsStagesPanel *self)
{
    if (!self->loops)
        return;
    g_autofree char *text = ws_stages_panel_copy(self);
    gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(self)), text);
}

/* --- asking -------------------------------------------------------------------------------------
 */

WsStagesMatrix *ws_stages_panel_matrix(WsStagesPanel *self, guint loop)
{
    return loop < self->matrices->len ? self->matrices->pdata[loop] : NULL;
}

const char *ws_stages_panel_says(WsStagesPanel *self)
{
    return gtk_label_get_text(
        GTK_LABEL(gtk_widget_get_visible(self->held) ? self->held : self->say));
}

/* --- widget -------------------------------------------------------------------------------------
 */

static void dispose(GObject *object)
{
    WsStagesPanel *self = WS_STAGES_PANEL(object);
    GtkWidget *overlay = gtk_widget_get_first_child(GTK_WIDGET(self));
    g_clear_pointer(&overlay, gtk_widget_unparent);
    g_ptr_array_set_size(self->matrices, 0);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_stages_panel_parent_class)->dispose(object);
}

static void finalize(GObject *object)
{
    WsStagesPanel *self = WS_STAGES_PANEL(object);
    g_ptr_array_unref(self->matrices);
    g_clear_pointer(&self->loops, g_ptr_array_unref);
    g_clear_pointer(&self->shown, ws_design_unref);
    G_OBJECT_CLASS(ws_stages_panel_parent_class)->finalize(object);
}

static void ws_stages_panel_class_init(WsStagesPanelClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    G_OBJECT_CLASS(class)->finalize = finalize;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(class), GTK_ACCESSIBLE_ROLE_GROUP);
}

static GtkWidget *make_bar(WsStagesPanel *self)
{
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *copy_button = gtk_button_new_with_label(_("Copy"));
    self->say = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(self->say), 0);
    gtk_label_set_wrap(GTK_LABEL(self->say), TRUE);
    gtk_widget_set_hexpand(self->say, TRUE);
    self->explicit = gtk_button_new_with_label(_("Make Explicit"));
    gtk_widget_set_tooltip_text(self->explicit,
                                _("Write the steps that the hints of all loops mean, to be changed "
                                  "by hand; one step that can be undone"));
    gtk_widget_set_tooltip_text(copy_button, _("Copy this page as text"));
    GtkWidget *part[] = { self->say, self->explicit, copy_button };
    for (guint i = 0; i < G_N_ELEMENTS(part); i++) {
        gtk_widget_set_valign(part[i], GTK_ALIGN_CENTER);
        gtk_box_append(GTK_BOX(bar), part[i]);
    }
    g_signal_connect_swapped(self->explicit, "clicked", G_CALLBACK(make_explicit), self);
    g_signal_connect_swapped(copy_button, "clicked", G_CALLBACK(copy), self);
    gtk_widget_add_css_class(bar, "ws-bar");
    return bar;
}

static void ws_stages_panel_init(WsStagesPanel *self)
{
    self->matrices = g_ptr_array_new();
    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    self->scroll = gtk_scrolled_window_new();
    gtk_widget_set_vexpand(self->scroll, TRUE);
    gtk_box_append(GTK_BOX(self->box), make_bar(self));
    gtk_box_append(GTK_BOX(self->box), self->scroll);
    self->held = gtk_label_new(NULL);
    gtk_label_set_wrap(GTK_LABEL(self->held), TRUE);
    gtk_label_set_max_width_chars(GTK_LABEL(self->held), 56);
    gtk_label_set_xalign(GTK_LABEL(self->held), 0);
    gtk_widget_set_halign(self->held, GTK_ALIGN_START);
    gtk_widget_set_valign(self->held, GTK_ALIGN_START);
    gtk_widget_set_can_target(self->held, FALSE);
    gtk_widget_set_visible(self->held, FALSE);
    gtk_widget_add_css_class(self->held, "ws-held");
    GtkWidget *overlay = gtk_overlay_new();
    gtk_overlay_set_child(GTK_OVERLAY(overlay), self->box);
    gtk_overlay_add_overlay(GTK_OVERLAY(overlay), self->held);
    gtk_widget_set_parent(overlay, GTK_WIDGET(self));
    g_signal_connect(self, "map", G_CALLBACK(update), NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Stages of loops"), -1);
}

GtkWidget *ws_stages_panel_new(WsDocument *document)
{
    WsStagesPanel *self = g_object_new(WS_TYPE_STAGES_PANEL, NULL);
    self->document = g_object_ref(document);
    g_signal_connect_object(document, "changed", G_CALLBACK(update), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(document, "edited", G_CALLBACK(update), self, G_CONNECT_SWAPPED);
    return GTK_WIDGET(self);
}
