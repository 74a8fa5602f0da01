#include "ui/stages/stages_matrix.h"

#include "edit/edit.h"
#include "model/design.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "ui/parts/words.h"
#include "ui/stages/stages_round.h"

#include <glib/gi18n.h>
#include <string.h>

#define THRESHOLD 4 /* pixels before a press is a drag */

/* Where a group stands, or would go. */
typedef struct {
    guint row;    /* in the order of the round */
    gint stage;   /* -1: a column of executors */
    guint runner; /* of those */
} Place;

struct _WsStagesMatrix {
    GtkWidget parent;
    WsDocument *document;
    WsDesign *design;
    const WsHintLoop *loop; /* of the design */
    GArray *order;          /* guint: cell of each row */
    GPtrArray *runners;     /* const WsNode*: groups that may run some of it */
    GtkWidget *grid, *over; /* over: place that is aimed at */
    guint held;             /* cell that is dragged, G_MAXUINT: none */
    gboolean moved;
    double x, y;   /* where it was pressed */
    double dx, dy; /* and how far from there the pointer is */
    WsDraft *draft;
    char *refused, *words; /* why not; all that is said of it */
};

G_DEFINE_FINAL_TYPE(WsStagesMatrix, ws_stages_matrix, GTK_TYPE_WIDGET)

enum { GROUP, ORDER, FIRST };

static guint said;

/* --- places -------------------------------------------------------------------------------------
 */

static const WsHintCell *cell_at(const WsStagesMatrix *m, guint row)
{
    return &m->loop->cell[g_array_index(m->order, guint, row)];
}

static gint column_of(const WsStagesMatrix *m, const Place *p)
{
    return FIRST + (p->stage >= 0 ? p->stage : (gint)m->loop->stages + 1 + (gint)p->runner);
}

static GtkWidget *widget_at(const WsStagesMatrix *m, const Place *p)
{
    return gtk_grid_get_child_at(GTK_GRID(m->grid), column_of(m, p), (gint)p->row + 1);
}

static gboolean place_at(const WsStagesMatrix *m, double x, double y, Place *out)
{
    for (out->row = 0; out->row < m->loop->n; out->row++)
        for (guint c = 0; c < (guint)m->loop->stages + m->runners->len; c++) {
            const gboolean stage = c < (guint)m->loop->stages;
            graphene_rect_t r;
            out->stage = stage ? (gint)c : -1;
            out->runner = stage ? 0 : c - (guint)m->loop->stages;
            GtkWidget *w = widget_at(m, out);
            if (w && gtk_widget_compute_bounds(w, GTK_WIDGET(m), &r) &&
                graphene_rect_contains_point(&r, &GRAPHENE_POINT_INIT((float)x, (float)y)))
                return TRUE;
        }
    return FALSE;
}

static gboolean stands_at(const WsStagesMatrix *m, const Place *p)
{
    const WsHintCell *c = cell_at(m, p->row);
    return p->stage >= 0 ? c->stage == p->stage : c->executor == m->runners->pdata[p->runner];
}

/* --- moving -------------------------------------------------------------------------------------
 */

static void say(WsStagesMatrix *m, const char *text)
{
    g_signal_emit(m, said, 0, text ? text : "");
}

/* The draft of a group at that place; NULL: it stands there. */
static WsDraft *draft_of(WsStagesMatrix *m, guint cell, const Place *p)
{
    const WsHintCell *c = &m->loop->cell[cell];
    const gint64 order = cell_at(m, p->row)->order;
    const WsNode *runner = p->stage < 0 ? m->runners->pdata[p->runner] : NULL;
    const gint64 stage = p->stage >= 0 && p->stage != c->stage ? p->stage : -1;
    if (stage < 0 && order == c->order && (!runner || runner == c->executor))
        return NULL;
    WsDraft *d = ws_draft_new(m->design);
    ws_edit_hint_move(d, c->node->identity, stage, order == c->order ? -1 : order,
                      runner && runner != c->executor ? ws_node_name(runner) : NULL);
    return d;
}

static void mark(WsStagesMatrix *m, GtkWidget *over)
{
    if (m->over) {
        gtk_widget_remove_css_class(m->over, "ws-drop");
        gtk_widget_remove_css_class(m->over, "ws-refused");
    }
    m->over = over;
    if (over)
        gtk_widget_add_css_class(over, m->refused ? "ws-refused" : "ws-drop");
}

static void forget(WsStagesMatrix *m)
{
    g_clear_pointer(&m->draft, ws_draft_free);
    g_clear_pointer(&m->refused, g_free);
    g_clear_pointer(&m->words, g_free);
}

/* Shows what would come of it. */
static void aim(WsStagesMatrix *m, const Place *p)
{
    GtkWidget *over = p ? widget_at(m, p) : NULL;
    if (over == m->over && over) {
        say(m, m->words); /* that goes with the pointer */
        return;
    }
    forget(m);
    WsDraft *draft = p ? draft_of(m, m->held, p) : NULL;
    if (draft && draft->why) {
        g_autofree char *why = ws_words(draft->why);
        m->refused = g_strdup_printf("\xe2\x9c\x96 %s", why);
        g_clear_pointer(&draft, ws_draft_free);
    }
    m->draft = draft;
    mark(m, over);
    g_autofree char *name =
        draft ? ws_edit_name_text(draft->verb, draft->what ? draft->what : "") : NULL;
    m->words = m->refused ? g_strdup(m->refused) : g_steal_pointer(&name);
    say(m, m->words);
    ws_document_try(m->document, draft ? draft->design : NULL);
}

static void let_go(WsStagesMatrix *m, gboolean take)
{
    WsDraft *draft = g_steal_pointer(&m->draft);
    WsDocument *d = g_object_ref(m->document);
    g_object_ref(m); /* what was edited is drawn anew */
    mark(m, NULL);
    forget(m);
    m->held = G_MAXUINT;
    m->moved = FALSE;
    gtk_widget_set_cursor(GTK_WIDGET(m), NULL);
    say(m, NULL);
    if (take && draft)
        ws_document_commit(d, draft, NULL);
    else
        ws_document_try(d, NULL);
    g_clear_pointer(&draft, ws_draft_free);
    g_object_unref(m);
    g_object_unref(d);
}

/* While a group is held nothing scrolls for the keyboard's place: it stays below the pointer. */
static void follow_focus(WsStagesMatrix *m, gboolean on)
{
    GtkWidget *viewport = gtk_widget_get_ancestor(GTK_WIDGET(m), GTK_TYPE_VIEWPORT);
    if (viewport)
        gtk_viewport_set_scroll_to_focus(GTK_VIEWPORT(viewport), on);
}

static void pressed(GtkGestureDrag *drag, double x, double y, WsStagesMatrix *m)
{
    Place p;
    m->held = G_MAXUINT;
    m->moved = FALSE;
    if (!place_at(m, x, y, &p) || !stands_at(m, &p)) {
        gtk_gesture_set_state(GTK_GESTURE(drag), GTK_EVENT_SEQUENCE_DENIED);
        return;
    }
    m->held = g_array_index(m->order, guint, p.row);
    follow_focus(m, FALSE);
    m->x = x;
    m->y = y;
}

static void dragged(GtkGestureDrag *drag, double dx, double dy, WsStagesMatrix *m)
{
    Place p;
    m->dx = dx;
    m->dy = dy;
    if (m->held == G_MAXUINT || (!m->moved && ABS(dx) < THRESHOLD && ABS(dy) < THRESHOLD))
        return;
    if (!m->moved) {
        m->moved = TRUE;
        gtk_gesture_set_state(GTK_GESTURE(drag), GTK_EVENT_SEQUENCE_CLAIMED);
        gtk_widget_set_cursor_from_name(GTK_WIDGET(m), "grabbing");
    }
    aim(m, place_at(m, m->x + dx, m->y + dy, &p) ? &p : NULL);
}

static void released(GtkGestureDrag *drag, double dx, double dy, WsStagesMatrix *m)
{
    (void)drag, (void)dx, (void)dy;
    follow_focus(m, TRUE);
    if (m->moved)
        let_go(m, TRUE);
    else
        m->held = G_MAXUINT;
}

static void cancelled(GtkGesture *drag, GdkEventSequence *sequence, WsStagesMatrix *m)
{
    (void)drag, (void)sequence;
    follow_focus(m, TRUE);
    if (m->moved)
        let_go(m, FALSE);
}

/* --- keys ---------------------------------------------------------------------------------------
 */

static gboolean focused(WsStagesMatrix *m, Place *p)
{
    GtkWidget *focus = gtk_widget_get_focus_child(m->grid);
    for (p->row = 0; focus && p->row < m->loop->n; p->row++)
        for (guint k = 0; k < 2; k++) {
            const WsHintCell *c = cell_at(m, p->row);
            guint runner = 0;
            g_ptr_array_find(m->runners, c->executor, &runner);
            *p = (Place){ p->row, k ? -1 : (gint)c->stage, k ? runner : 0 };
            if (widget_at(m, p) == focus)
                return TRUE;
        }
    return FALSE;
}

static gboolean key(GtkEventControllerKey *c, guint value, guint code, GdkModifierType state,
                    WsStagesMatrix *m)
{
    (void)c, (void)code;
    Place p;
    if (value == GDK_KEY_Escape && m->moved) {
        let_go(m, FALSE);
        return TRUE;
    }
    const gint dx = value == GDK_KEY_Left ? -1 : value == GDK_KEY_Right;
    const gint dy = value == GDK_KEY_Up ? -1 : value == GDK_KEY_Down;
    if (!(state & GDK_SHIFT_MASK) || (!dx && !dy) || m->moved || !focused(m, &p))
        return FALSE;
    const guint cell = g_array_index(m->order, guint, p.row);
    const gint row = (gint)p.row + dy, stage = p.stage + dx, runner = (gint)p.runner + dx;
    if (row < 0 || row >= (gint)m->loop->n ||
        (p.stage >= 0 ? stage < 0 || stage >= m->loop->stages
                      : runner < 0 || runner >= (gint)m->runners->len))
        return TRUE;
    p = (Place){ (guint)row, p.stage >= 0 ? stage : -1, p.stage >= 0 ? 0 : (guint)runner };
    WsDraft *draft = draft_of(m, cell, &p);
    if (draft && draft->why) {
        g_autofree char *why = ws_words(draft->why),
                        *text = g_strdup_printf("\xe2\x9c\x96 %s", why);
        say(m, text);
    } else if (draft) {
        g_autoptr(WsDocument) d = g_object_ref(m->document);
        say(m, NULL);
        ws_document_commit(d, draft, NULL);
    }
    g_clear_pointer(&draft, ws_draft_free);
    return TRUE;
}

/* --- selecting ----------------------------------------------------------------------------------
 */

/* Its steps, and what is derived for it, on the score. */
static void on_chip(GtkWidget *chip, WsStagesMatrix *m)
{
    const guint cell = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(chip), "cell"));
    const WsProgram *p = ws_document_program(m->document);
    g_autofree char *place = ws_design_place(m->design, m->loop->cell[cell].node);
    const gsize n = strlen(place);
    gboolean any = FALSE;
    for (guint i = 0; p && i < p->n_ops; i++) {
        const char *step = p->op[i]->step;
        if (!step || strncmp(step, place, n) || (step[n] != '/' && step[n] != '#') ||
            (any && ws_document_selected(m->document, step)))
            continue;
        const WsFocus focus = { step, G_MAXUINT, -1, -1 };
        ws_document_select(m->document, &focus, any ? WS_SELECT_ADD : WS_SELECT_REPLACE, !any);
        any = TRUE;
    }
}

/* --- filling ------------------------------------------------------------------------------------
 */

static gint by_order(gconstpointer a, gconstpointer b, gpointer loop)
{
    const WsHintCell *c = ((const WsHintLoop *)loop)->cell;
    const gint64 x = c[*(const guint *)a].order, y = c[*(const guint *)b].order;
    return x < y ? -1 : x > y;
}

static void list(WsStagesMatrix *m)
{
    const WsNode *root = ws_design_root(m->design);
    for (guint i = 0; i < m->loop->n; i++)
        g_array_append_val(m->order, i);
    g_array_sort_with_data(m->order, by_order, (gpointer)m->loop);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_groups); i++) {
        const WsNode *group = ws_node_child(root, WS_F_groups, i);
        gboolean runs = group == m->loop->home || !ws_node_n_children(group, WS_F_body);
        for (guint k = 0; k < m->loop->n; k++)
            runs |= m->loop->cell[k].executor == group;
        if (runs)
            g_ptr_array_add(m->runners, (gpointer)group);
    }
}

static void put(WsStagesMatrix *m, GtkWidget *w, gint column, gint row, const char *css)
{
    gtk_widget_add_css_class(w, css);
    gtk_grid_attach(GTK_GRID(m->grid), w, column, row, 1, 1);
}

static GtkWidget *text(const char *words, float xalign)
{
    GtkWidget *label = gtk_label_new(words);
    gtk_label_set_xalign(GTK_LABEL(label), xalign);
    return label;
}

/* The group where it stands, else a free place. */
static void put_place(WsStagesMatrix *m, const Place *p)
{
    const WsHintCell *c = cell_at(m, p->row);
    const gint column = column_of(m, p), row = (gint)p->row + 1;
    if (!stands_at(m, p)) {
        put(m, text("", 0.5), column, row, "ws-place");
        return;
    }
    GtkWidget *chip = gtk_button_new_with_label(p->stage >= 0 ? ws_node_name(c->node)
                                                              : ws_node_name(c->executor));
    g_autofree char *name =
        g_strdup_printf(_("%s: stage %d, order %d, run by %s"), ws_node_name(c->node),
                        (int)c->stage, (int)c->order, ws_node_name(c->executor));
    g_autofree char *tip = g_strdup_printf(
        "%s\n%s", name,
        p->stage >= 0 ? _("Drag it, or press Shift and an arrow key: another stage, another order")
                      : _("Drag it, or press Shift and an arrow key: another group runs it"));
    gtk_widget_set_tooltip_text(chip, tip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(chip), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    g_object_set_data(G_OBJECT(chip), "cell",
                      GUINT_TO_POINTER(g_array_index(m->order, guint, p->row)));
    g_signal_connect(chip, "clicked", G_CALLBACK(on_chip), m);
    gtk_widget_add_css_class(chip, p->stage >= 0 ? "ws-share-4" : "ws-share-1");
    put(m, chip, column, row, "ws-cell");
}

static void fill(WsStagesMatrix *m)
{
    const gint runners = FIRST + (gint)m->loop->stages + 1;
    const gint last = runners + (gint)m->runners->len;
    put(m, text(_("Group"), 0), GROUP, 0, "ws-name");
    put(m, text(_("Order"), 0.5), ORDER, 0, "ws-name");
    for (gint i = 0; i < m->loop->stages; i++) {
        g_autofree char *name = g_strdup_printf(_("Stage %d"), i);
        put(m, text(name, 0.5), FIRST + i, 0, "ws-name");
    }
    put(m, text(_("Run by"), 1), runners - 1, 0, "ws-name");
    for (guint i = 0; i < m->runners->len; i++)
        put(m, text(ws_node_name(m->runners->pdata[i]), 0.5), runners + (gint)i, 0, "ws-name");
    put(m, text(_("Derived"), 0), last, 0, "ws-name");
    for (guint row = 0; row < m->loop->n; row++) {
        const WsHintCell *c = cell_at(m, row);
        g_autofree char *order = g_strdup_printf("%d", (int)c->order);
        g_autofree char *derived = ws_stages_derived(m->loop, g_array_index(m->order, guint, row));
        put(m, text(ws_node_name(c->node), 0), GROUP, (gint)row + 1, "ws-group");
        put(m, text(order, 0.5), ORDER, (gint)row + 1, "numeric");
        for (gint i = 0; i < m->loop->stages; i++)
            put_place(m, &(Place){ row, i, 0 });
        for (guint i = 0; i < m->runners->len; i++)
            put_place(m, &(Place){ row, -1, i });
        put(m, text(derived, 0), last, (gint)row + 1, "ws-derived");
    }
}

/* --- asking -------------------------------------------------------------------------------------
 */

GtkWidget *ws_stages_matrix_place(WsStagesMatrix *m, const char *group, gint stage,
                                  const char *executor)
{
    for (guint row = 0; row < m->loop->n; row++) {
        if (g_strcmp0(ws_node_name(cell_at(m, row)->node), group))
            continue;
        if (stage >= 0)
            return widget_at(m, &(Place){ row, stage, 0 });
        for (guint i = 0; i < m->runners->len; i++)
            if (!g_strcmp0(ws_node_name(m->runners->pdata[i]), executor))
                return widget_at(m, &(Place){ row, -1, i });
    }
    return NULL;
}

gboolean ws_stages_matrix_holds(WsStagesMatrix *m)
{
    return m->moved;
}

gboolean ws_stages_matrix_pointer(WsStagesMatrix *m, double *x, double *y)
{
    *x = m->x + m->dx;
    *y = m->y + m->dy;
    return m->moved;
}

gboolean ws_stages_matrix_focus(WsStagesMatrix *m, guint64 *group, gboolean *executor)
{
    Place p;
    if (!focused(m, &p))
        return FALSE;
    *group = cell_at(m, p.row)->node->identity;
    *executor = p.stage < 0;
    return TRUE;
}

void ws_stages_matrix_set_focus(WsStagesMatrix *m, guint64 group, gboolean executor)
{
    for (guint row = 0; row < m->loop->n; row++) {
        const WsHintCell *c = cell_at(m, row);
        guint runner = 0;
        g_ptr_array_find(m->runners, c->executor, &runner);
        const Place p = { row, executor ? -1 : (gint)c->stage, executor ? runner : 0 };
        if (c->node->identity == group)
            gtk_widget_grab_focus(widget_at(m, &p));
    }
}

/* --- widget -------------------------------------------------------------------------------------
 */

static void dispose(GObject *object)
{
    WsStagesMatrix *m = WS_STAGES_MATRIX(object);
    m->over = NULL;
    g_clear_pointer(&m->grid, gtk_widget_unparent);
    g_clear_object(&m->document);
    G_OBJECT_CLASS(ws_stages_matrix_parent_class)->dispose(object);
}

static void finalize(GObject *object)
{
    WsStagesMatrix *m = WS_STAGES_MATRIX(object);
    forget(m);
    g_array_unref(m->order);
    g_ptr_array_unref(m->runners);
    g_clear_pointer(&m->design, ws_design_unref);
    G_OBJECT_CLASS(ws_stages_matrix_parent_class)->finalize(object);
}

static void ws_stages_matrix_class_init(WsStagesMatrixClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    G_OBJECT_CLASS(class)->finalize = finalize;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(class), GTK_ACCESSIBLE_ROLE_GROUP);
    said = g_signal_new("said", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                        G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void ws_stages_matrix_init(WsStagesMatrix *m)
{
    m->held = G_MAXUINT;
    m->order = g_array_new(FALSE, FALSE, sizeof(guint));
    m->runners = g_ptr_array_new();
    m->grid = gtk_grid_new();
    gtk_widget_add_css_class(m->grid, "ws-matrix");
    gtk_widget_add_css_class(m->grid, "ws-stages");
    gtk_widget_set_parent(m->grid, GTK_WIDGET(m));
    GtkGesture *drag = gtk_gesture_drag_new();
    gtk_event_controller_set_propagation_phase(GTK_EVENT_CONTROLLER(drag), GTK_PHASE_CAPTURE);
    g_signal_connect(drag, "drag-begin", G_CALLBACK(pressed), m);
    g_signal_connect(drag, "drag-update", G_CALLBACK(dragged), m);
    g_signal_connect(drag, "drag-end", G_CALLBACK(released), m);
    g_signal_connect(drag, "cancel", G_CALLBACK(cancelled), m);
    gtk_widget_add_controller(GTK_WIDGET(m), GTK_EVENT_CONTROLLER(drag));
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(key), m);
    gtk_widget_add_controller(GTK_WIDGET(m), keys);
}

GtkWidget *ws_stages_matrix_new(WsDocument *document, WsDesign *design, const WsHintLoop *loop)
{
    WsStagesMatrix *m = g_object_new(WS_TYPE_STAGES_MATRIX, NULL);
    m->document = g_object_ref(document);
    m->design = ws_design_ref(design);
    m->loop = loop;
    list(m);
    fill(m);
    g_autofree char *name =
        g_strdup_printf(_("Loop %s: groups and stages"), ws_node_name(loop->loop));
    gtk_accessible_update_property(GTK_ACCESSIBLE(m), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    return GTK_WIDGET(m);
}
