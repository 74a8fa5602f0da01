/* Steps that lie too close to be pointed at one by one: a click shows a list of them to choose
 * from. The one that is chosen can then be grabbed, whatever lies beside it; where executions are
 * merged the view goes to it. */
#include "ui/document/document_names.h"
#include "ui/parts/format.h"
#include "ui/timeline/timeline_private.h"

#include <glib/gi18n.h>
#include <math.h>

#define REACH 14.0 /* units on either side of the pointer */
#define MOST  24   /* rows of the list */
#define SHOWN 20   /* of a merged execution that is chosen: lengths of it in the window */

typedef struct {
    WsFocus focus;
    char *step, *name;
    gint64 start, end; /* of a merged one; else -1 */
    double apart;
} Choice;

static void free_choice(gpointer p)
{
    Choice *c = p;
    g_free(c->step);
    g_free(c->name);
    g_free(c);
}

static void add(GPtrArray *list, const WsFocus *focus, char *name, double apart)
{
    Choice *c = g_new0(Choice, 1);
    c->step = g_strdup(focus->step);
    c->focus = *focus;
    c->focus.step = c->step;
    c->name = name;
    c->start = c->end = -1;
    c->apart = apart;
    g_ptr_array_add(list, c);
}

/* x: in the scene */
static void add_narrow(WsTimeline *t, const WsSceneItem *item, double x, GPtrArray *list)
{
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *each = ws_timeline_item(t, i);
        const double apart = fabs(each->x + each->w / 2 - x);
        WsFocus focus;
        if (each->row != item->row || !ws_scene_narrow(each) ||
            !ws_scene_zone(t->scene, each)->shared || (apart > REACH && each != item))
            continue;
        ws_timeline_focus_of(each, &focus);
        add(list, &focus, each->tip ? g_strdup(each->tip) : g_strdup(each->step),
            each == item ? -1 : apart);
    }
}

/* "wait full, mma, k 29: 12 cycles from 4 301 on" */
static char *name_of(WsTimeline *t, const WsTrace *trace, const WsTraceRecord *r)
{
    g_autofree char *step =
        ws_name_of_step(ws_document_program(t->document), trace->op_id->pdata[r->op]);
    g_autofree char *start = ws_format_int(r->start);
    return r->round < 0
               ? g_strdup_printf(_("%s, from cycle %s on"), step, start)
               : g_strdup_printf(_("%s, round %d, from cycle %s on"), step, r->round, start);
}

static void add_merged(WsTimeline *t, const WsSceneItem *item, double x, GPtrArray *list)
{
    const WsTrace *trace = item->measured ? t->scene->measured : t->scene->predicted;
    const gint64 shift = item->measured && t->scene->predicted ? t->scene->shift : 0;
    const gint64 from = ws_scene_time(t->scene, x - REACH) - shift,
                 to = ws_scene_time(t->scene, x + REACH) - shift,
                 at = ws_scene_time(t->scene, x) - shift;
    const WsTraceLane *lane =
        trace ? ws_trace_lane(trace, ws_timeline_cta_of(t, trace), item->agent) : NULL;
    for (guint64 i = 0; lane && i < lane->n; i++) {
        const WsTraceRecord *r = &g_array_index(trace->record, WsTraceRecord, lane->first + i);
        const gint64 end = MAX(MAX(r->issued, r->done), r->start);
        if (end < from || r->start > to || !trace->op_id->pdata[r->op] || !ws_scene_draws(trace, r))
            continue;
        const WsFocus focus = { trace->op_id->pdata[r->op], r->agent, r->tile, r->round };
        add(list, &focus, name_of(t, trace, r), fabs((double)(r->start - at)));
        Choice *c = g_ptr_array_index(list, list->len - 1);
        c->start = r->start + shift;
        c->end = end + shift;
    }
}

static gint nearest_first(gconstpointer pa, gconstpointer pb)
{
    const Choice *a = *(Choice *const *)pa, *b = *(Choice *const *)pb;
    return a->apart < b->apart ? -1 : a->apart > b->apart;
}

static void chosen(GtkListBox *box, GtkListBoxRow *row, WsTimeline *t)
{
    const Choice *c = g_object_get_data(G_OBJECT(row), "choice");
    ws_document_select(t->document, &c->focus, WS_SELECT_REPLACE, FALSE);
    if (c->start >= 0) {
        const double around = (double)MAX(c->end - c->start, 4) * SHOWN / 2;
        ws_timeline_set_view(t, (double)c->start - around, (double)c->end + around);
    }
    gtk_widget_grab_focus(t->canvas);
    gtk_popover_popdown(GTK_POPOVER(t->crowd));
}

static GtkWidget *row_of(Choice *c)
{
    GtkWidget *row = gtk_list_box_row_new(), *label = gtk_label_new(c->name);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 70);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), label);
    g_object_set_data_full(G_OBJECT(row), "choice", c, free_choice);
    return row;
}

static GtkWidget *list_of(WsTimeline *t, GPtrArray *list)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4), *rows = gtk_list_box_new();
    GtkWidget *scroll = gtk_scrolled_window_new();
    GtkWidget *title = gtk_label_new(_("These lie too close to be pointed at:"));
    gtk_label_set_xalign(GTK_LABEL(title), 0);
    gtk_widget_add_css_class(title, "dim");
    gtk_accessible_update_property(GTK_ACCESSIBLE(rows), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   gtk_label_get_text(GTK_LABEL(title)), -1);
    for (guint i = 0; i < list->len; i++)
        gtk_list_box_append(GTK_LIST_BOX(rows), row_of(list->pdata[i]));
    g_signal_connect(rows, "row-activated", G_CALLBACK(chosen), t);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), rows);
    gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scroll), TRUE);
    gtk_scrolled_window_set_propagate_natural_width(GTK_SCROLLED_WINDOW(scroll), TRUE);
    gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scroll), 320);
    gtk_box_append(GTK_BOX(box), title);
    gtk_box_append(GTK_BOX(box), scroll);
    return box;
}

gboolean ws_timeline_crowd(WsTimeline *t, const WsSceneItem *item, double x, double y)
{
    const double at = x - WS_TIMELINE_GUTTER - ws_timeline_offset(t);
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    if (item->shape == WS_SHAPE_DENSE)
        add_merged(t, item, at, list);
    else if (ws_scene_narrow(item) && ws_scene_zone(t->scene, item)->shared)
        add_narrow(t, item, at, list);
    g_ptr_array_sort(list, nearest_first);
    for (; list->len > MOST; g_ptr_array_set_size(list, (gint)list->len - 1))
        free_choice(list->pdata[list->len - 1]);
    if (list->len < (item->shape == WS_SHAPE_DENSE ? 1 : 2)) {
        g_ptr_array_foreach(list, (GFunc)(void (*)(void))free_choice, NULL);
        return FALSE;
    }
    if (!t->crowd) {
        t->crowd = gtk_popover_new();
        gtk_widget_set_parent(t->crowd, t->canvas);
        gtk_popover_set_position(GTK_POPOVER(t->crowd), GTK_POS_BOTTOM);
    }
    GdkRectangle place;
    ws_timeline_page_area(t, &place, x, y, 1, 1);
    gtk_popover_set_child(GTK_POPOVER(t->crowd), list_of(t, list));
    gtk_popover_set_pointing_to(GTK_POPOVER(t->crowd), &place);
    gtk_popover_popup(GTK_POPOVER(t->crowd));
    return TRUE;
}

/* --- the one that is chosen ----------------------------------------------------------------------
 */

static gboolean is_chosen(WsTimeline *t, const WsSceneItem *item)
{
    const WsFocus *f = ws_document_focus(t->document);
    return f && f->round != -1 && item->step && !g_strcmp0(f->step, item->step) &&
           f->agent == item->agent && f->tile == item->tile && f->round == item->round;
}

const WsSceneItem *ws_timeline_chosen_at(WsTimeline *t, double x, double y)
{
    const WsFocus *f = ws_document_focus(t->document);
    for (guint i = 0; f && f->step && i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        const double middle = item->x + item->w / 2;
        if (ws_scene_narrow(item) && fabs(x - middle) <= WS_SCENE_TARGET / 2 && y >= item->y &&
            y <= item->y + item->h && ws_scene_zone(t->scene, item)->shared && is_chosen(t, item))
            return item;
    }
    return NULL;
}
