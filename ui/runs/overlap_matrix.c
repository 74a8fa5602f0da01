#include "ui/runs/overlap_matrix.h"

#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "score/scene.h"
#include "ui/document/document_idle.h"
#include "ui/parts/format.h"

#include <glib/gi18n.h>
#include <math.h>

struct _WsOverlapMatrix {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *box, *say, *scroll, *grid;
    guint64 number;   /* answer that is shown */
    GArray *shown;    /* guint: places in WsOverlap.thing, in order */
    GPtrArray *names; /* char*: of them */
};

G_DEFINE_FINAL_TYPE(WsOverlapMatrix, ws_overlap_matrix, GTK_TYPE_WIDGET)

/* --- what is shown ----------------------------------------------------------------------------
 */

static const WsOverlap *overlap(WsOverlapMatrix *self, gboolean measured)
{
    return ws_document_overlap(self->document, measured);
}

static const char *name_of(const WsProgram *p, const WsOverlapThing *thing)
{
    static const char *const unit[WS_UNITS] = { N_("tensor core"), N_("MUFU"), N_("TMA load"),
                                                N_("TMA store") };
    return thing->is_unit ? _(unit[thing->index]) : p->agent[thing->index].name;
}

static void list_things(WsOverlapMatrix *self, const WsProgram *p)
{
    const WsOverlap *a = overlap(self, FALSE), *b = overlap(self, TRUE), *any = a ? a : b;
    g_array_set_size(self->shown, 0);
    g_ptr_array_set_size(self->names, 0);
    for (guint i = 0; any && i < any->thing->len; i++) {
        const WsOverlapThing *x = &g_array_index(any->thing, WsOverlapThing, i);
        if (!(a && g_array_index(a->thing, WsOverlapThing, i).used) &&
            !(b && g_array_index(b->thing, WsOverlapThing, i).used))
            continue;
        g_array_append_val(self->shown, i);
        g_ptr_array_add(self->names, g_strdup(name_of(p, x)));
    }
}

/* "≤ 61 %"; caller frees, NULL: not known. */
static char *figure(const WsOverlap *o, guint row, guint column)
{
    const double share = o ? ws_overlap_share(o, row, column) : NAN;
    if (isnan(share))
        return NULL;
    const gboolean most = g_array_index(o->thing, WsOverlapThing, column).at_most ||
                          (row == column && g_array_index(o->thing, WsOverlapThing, row).at_most);
    g_autofree char *percent = ws_format_share(share);
    return g_strdup_printf("%s%s", most ? "\xe2\x89\xa4 " : "", percent);
}

static const char *label_of(const WsProgram *p, guint op)
{
    return p->op[op]->label ? p->op[op]->label : p->op[op]->id;
}

/* What a cell says: of whose time, in figures and, where known, which steps overlapped longest. */
static char *words(WsOverlapMatrix *self, guint r, guint c)
{
    const WsProgram *p = ws_document_program(self->document);
    const guint row = g_array_index(self->shown, guint, r);
    const guint column = g_array_index(self->shown, guint, c);
    const char *x = self->names->pdata[r], *y = self->names->pdata[c];
    GString *s = g_string_new(NULL);
    if (r == c)
        g_string_append_printf(s, _("%s in use"), x);
    else
        g_string_append_printf(s, _("while %s is in use: %s, too"), x, y);
    for (guint m = 2; m-- > 0;) {
        g_autofree char *share = figure(overlap(self, m == 1), row, column);
        if (share)
            g_string_append_printf(s, "\n%s: %s", m ? _("measured") : _("predicted"), share);
    }
    const WsOverlap *o = overlap(self, TRUE) ? overlap(self, TRUE) : overlap(self, FALSE);
    const WsOverlapCell *cell = o ? ws_overlap_cell(o, row, column) : NULL;
    if (r != c && cell && cell->first.op < p->n_ops && cell->second.op < p->n_ops) {
        g_autofree char *cycles = ws_format_cycles(cell->longest);
        g_string_append_c(s, '\n');
        g_string_append_printf(s, _("longest: %s, %s of %s beside %s of %s"), cycles,
                               label_of(p, cell->first.op), p->agent[cell->first.agent].name,
                               label_of(p, cell->second.op), p->agent[cell->second.agent].name);
    }
    return g_string_free(s, FALSE);
}

/* --- acting -------------------------------------------------------------------------------------
 */

static void select_place(WsDocument *d, const WsProgram *p, const WsIdlePlace *x)
{
    if (x->op >= p->n_ops || !p->op[x->op]->step)
        return;
    const WsFocus focus = { p->op[x->op]->step, x->agent, x->tile, x->round };
    ws_document_select(d, &focus, WS_SELECT_ADD, TRUE);
}

/* The executions that were beside each other longest, on the score. */
static void on_cell(GtkWidget *button, WsOverlapMatrix *self)
{
    const guint at = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(button), "cell"));
    const guint n = self->shown->len, r = n ? at / n : 0, c = n ? at % n : 0;
    const WsProgram *p = ws_document_program(self->document);
    const WsOverlap *o = overlap(self, TRUE) ? overlap(self, TRUE) : overlap(self, FALSE);
    if (!p || !o || r >= n)
        return;
    const WsOverlapCell *cell = ws_overlap_cell(o, g_array_index(self->shown, guint, r),
                                                g_array_index(self->shown, guint, c));
    ws_document_select(self->document, NULL, WS_SELECT_REPLACE, FALSE);
    if (r != c)
        select_place(self->document, p, &cell->second);
    select_place(self->document, p, &cell->first);
}

/* --- filling ------------------------------------------------------------------------------------
 */

static GtkWidget *heading(const char *text, float xalign)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), xalign);
    gtk_widget_add_css_class(label, "ws-name");
    return label;
}

static GtkWidget *line(const char *text, const char *css)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_widget_add_css_class(label, css);
    gtk_widget_add_css_class(label, "numeric");
    return label;
}

static GtkWidget *make_cell(WsOverlapMatrix *self, guint r, guint c)
{
    const guint row = g_array_index(self->shown, guint, r);
    const guint column = g_array_index(self->shown, guint, c);
    const WsOverlap *a = overlap(self, FALSE), *b = overlap(self, TRUE);
    g_autofree char *x = figure(b, row, column), *y = figure(a, row, column);
    g_autofree char *tip = words(self, r, c);
    const double share = ws_overlap_share(b ? b : a, row, column);
    g_autofree char *shade =
        g_strdup_printf("ws-share-%d", isnan(share) ? 0 : (int)lround(CLAMP(share, 0, 1) * 5));
    GtkWidget *button = gtk_button_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    if (b)
        gtk_box_append(GTK_BOX(box), line(x ? x : WS_NO_FIGURE, "ws-strong"));
    if (a)
        gtk_box_append(GTK_BOX(box), line(y ? y : WS_NO_FIGURE, b ? "ws-below" : "ws-strong"));
    gtk_button_set_child(GTK_BUTTON(button), box);
    gtk_widget_add_css_class(button, "ws-cell");
    gtk_widget_add_css_class(button, shade);
    if (r == c)
        gtk_widget_add_css_class(button, "ws-own");
    gtk_widget_set_tooltip_text(button, tip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, tip, -1);
    g_object_set_data(G_OBJECT(button), "cell", GUINT_TO_POINTER(r * self->shown->len + c));
    g_signal_connect(button, "clicked", G_CALLBACK(on_cell), self);
    return button;
}

static void fill(WsOverlapMatrix *self)
{
    const WsProgram *p = ws_document_program(self->document);
    GtkWidget *grid = gtk_grid_new();
    gtk_widget_add_css_class(grid, "ws-matrix");
    g_array_set_size(self->shown, 0);
    if (p)
        list_things(self, p);
    for (guint i = 0; i < self->shown->len; i++) {
        gtk_grid_attach(GTK_GRID(grid), heading(self->names->pdata[i], 0.5), (int)i + 1, 0, 1, 1);
        gtk_grid_attach(GTK_GRID(grid), heading(self->names->pdata[i], 0), 0, (int)i + 1, 1, 1);
        for (guint c = 0; c < self->shown->len; c++)
            gtk_grid_attach(GTK_GRID(grid), make_cell(self, i, c), (int)c + 1, (int)i + 1, 1, 1);
    }
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(self->scroll), grid);
    self->grid = grid;
    gtk_label_set_text(GTK_LABEL(self->say),
                       ws_document_between(self->document) ? _(ws_document_between(self->document))
                       : !self->shown->len                 ? _("Nothing to look at yet.")
                       : overlap(self, TRUE)
                           ? _("Of the time in which the row was in use, the "
                               "share in which the column was, too: measured, and "
                               "predicted beneath it. A cell shows where both were "
                               "beside each other longest.")
                           : _("Of the time in which the row was in use, the "
                               "share in which the column was, too, as predicted. "
                               "A cell shows where both were beside each other "
                               "longest."));
}

static void update(WsOverlapMatrix *self)
{
    if (!gtk_widget_get_mapped(GTK_WIDGET(self)) || ws_document_trying(self->document))
        return;
    ws_document_want_idle(self->document);
    const guint64 number = ws_document_idle_number(self->document);
    if (self->grid && number == self->number)
        return;
    self->number = number;
    fill(self);
}

/* --- asking -------------------------------------------------------------------------------------
 */

static gint place_of(WsOverlapMatrix *self, const char *name)
{
    for (guint i = 0; i < self->names->len; i++)
        if (!g_strcmp0(self->names->pdata[i], name))
            return (gint)i;
    return -1;
}

GtkWidget *ws_overlap_matrix_cell(WsOverlapMatrix *self, const char *row, const char *column)
{
    const gint r = place_of(self, row), c = place_of(self, column);
    return self->grid && r >= 0 && c >= 0
               ? gtk_grid_get_child_at(GTK_GRID(self->grid), c + 1, r + 1)
               : NULL;
}

char *ws_overlap_matrix_copy(WsOverlapMatrix *self)
{
    GString *s = g_string_new(gtk_label_get_text(GTK_LABEL(self->say)));
    for (guint m = 2; m-- > 0;) {
        const WsOverlap *o = overlap(self, m == 1);
        if (!o || !self->shown->len)
            continue;
        g_string_append_printf(s, "\n\n%s", m ? _("measured") : _("predicted"));
        for (guint i = 0; i < self->names->len; i++)
            g_string_append_printf(s, "\t%s", (char *)self->names->pdata[i]);
        for (guint r = 0; r < self->shown->len; r++) {
            g_string_append_printf(s, "\n%s", (char *)self->names->pdata[r]);
            for (guint c = 0; c < self->shown->len; c++) {
                g_autofree char *text = figure(o, g_array_index(self->shown, guint, r),
                                               g_array_index(self->shown, guint, c));
                g_string_append_printf(s, "\t%s", text ? text : WS_NO_FIGURE);
            }
        }
    }
    g_string_append_c(s, '\n');
    return g_string_free(s, FALSE);
}

/* --- widget -------------------------------------------------------------------------------------
 */

static void dispose(GObject *object)
{
    WsOverlapMatrix *self = WS_OVERLAP_MATRIX(object);
    self->grid = NULL;
    g_clear_pointer(&self->box, gtk_widget_unparent);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_overlap_matrix_parent_class)->dispose(object);
}

static void finalize(GObject *object)
{
    WsOverlapMatrix *self = WS_OVERLAP_MATRIX(object);
    g_array_unref(self->shown);
    g_ptr_array_unref(self->names);
    G_OBJECT_CLASS(ws_overlap_matrix_parent_class)->finalize(object);
}

static void ws_overlap_matrix_class_init(WsOverlapMatrixClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    G_OBJECT_CLASS(class)->finalize = finalize;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(class), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void ws_overlap_matrix_init(WsOverlapMatrix *self)
{
    self->shown = g_array_new(FALSE, FALSE, sizeof(guint));
    self->names = g_ptr_array_new_with_free_func(g_free);
    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    self->say = gtk_label_new("");
    self->scroll = gtk_scrolled_window_new();
    gtk_label_set_xalign(GTK_LABEL(self->say), 0);
    gtk_label_set_wrap(GTK_LABEL(self->say), TRUE);
    gtk_widget_add_css_class(self->say, "ws-bar");
    gtk_widget_set_vexpand(self->scroll, TRUE);
    gtk_box_append(GTK_BOX(self->box), self->say);
    gtk_box_append(GTK_BOX(self->box), self->scroll);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
    g_signal_connect(self, "map", G_CALLBACK(update), NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Overlap"), -1);
}

GtkWidget *ws_overlap_matrix_new(WsDocument *document)
{
    WsOverlapMatrix *self = g_object_new(WS_TYPE_OVERLAP_MATRIX, NULL);
    self->document = g_object_ref(document);
    g_signal_connect_object(document, "changed", G_CALLBACK(update), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(document, "idle", G_CALLBACK(update), self, G_CONNECT_SWAPPED);
    return GTK_WIDGET(self);
}
