/* Commands of the score: zoom, pan, moving along steps and edges, selection. */
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "trace/op_kind.h"
#include "ui/app/actions.h"
#include "ui/timeline/timeline_gap.h"
#include "ui/timeline/timeline_private.h"

#include <math.h>
#include <string.h>

/* --- finding executions in the trace
 * --------------------------------------------------------------
 */

static const WsTraceRecord *record_at(WsTimeline *t, guint64 i)
{
    return &g_array_index(t->main_trace->record, WsTraceRecord, i);
}

static const WsTraceLane *lane_of(WsTimeline *t, guint agent)
{
    return ws_trace_lane(t->main_trace, ws_timeline_cta_of(t, t->main_trace), agent);
}

static gboolean is_of(WsTimeline *t, const WsTraceRecord *r, const WsFocus *f)
{
    return !g_strcmp0(t->main_trace->op_id->pdata[r->op], f->step) &&
           (f->tile < 0 || r->tile == f->tile) && (f->round < 0 || r->round == f->round);
}

/* The execution that the focus names, or the one of its step nearest to `near`. */
static const WsTraceRecord *find_record(WsTimeline *t, const WsFocus *f, double near)
{
    const WsTraceRecord *best = NULL;
    double least = G_MAXDOUBLE;
    if (!f->step || !t->main_trace)
        return NULL;
    for (guint a = 0; a < t->main_trace->agent_name->len; a++) {
        const WsTraceLane *lane = lane_of(t, a);
        if (!lane || (f->agent != G_MAXUINT && f->agent != a))
            continue;
        for (guint64 i = lane->first; i < lane->first + lane->n; i++) {
            const WsTraceRecord *r = record_at(t, i);
            double far = fabs((double)r->start - near);
            if (far < least && is_of(t, r, f)) {
                least = far;
                best = r;
            }
        }
    }
    return best;
}

static double middle_cycle(WsTimeline *t)
{
    return ws_timeline_cycle_of_x(t, t->view.width / 2);
}

static const WsTraceRecord *focus_record(WsTimeline *t)
{
    return find_record(t, ws_document_focus(t->document), middle_cycle(t));
}

static void select_record(WsTimeline *t, const WsTraceRecord *r)
{
    WsFocus f = { t->main_trace->op_id->pdata[r->op], r->agent, r->tile, r->round };
    ws_document_select(t->document, &f, WS_SELECT_REPLACE, TRUE);
}

static gboolean is_drawn(WsTimeline *t, const WsTraceRecord *r)
{
    return ws_item_kind_of(ws_trace_op_kind(t->main_trace, r->op)) != WS_ITEM_OTHER;
}

/* First execution in the window, of the first agent that has one. */
static const WsTraceRecord *first_in_view(WsTimeline *t)
{
    double from, to;
    ws_timeline_get_view(t, &from, &to);
    for (guint a = 0; a < t->main_trace->agent_name->len; a++) {
        const WsTraceLane *lane = lane_of(t, a);
        for (guint64 i = lane ? lane->first : 0; lane && i < lane->first + lane->n; i++)
            if ((double)record_at(t, i)->start >= from && is_drawn(t, record_at(t, i)))
                return record_at(t, i);
    }
    return NULL;
}

void ws_timeline_step_along(WsTimeline *t, gint by)
{
    if (!t->main_trace)
        return;
    const WsTraceRecord *r = focus_record(t);
    if (!r) {
        r = first_in_view(t);
        if (r)
            select_record(t, r);
        return;
    }
    const WsTraceLane *lane = lane_of(t, r->agent);
    gint64 i = r - record_at(t, 0);
    do
        i += by;
    while (i >= (gint64)lane->first && i < (gint64)(lane->first + lane->n) &&
           !is_drawn(t, record_at(t, (guint64)i)));
    if (i >= (gint64)lane->first && i < (gint64)(lane->first + lane->n))
        select_record(t, record_at(t, (guint64)i));
}

/* --- following edges
 * ------------------------------------------------------------------------------
 */

static gboolean item_is(const WsSceneItem *item, const WsFocus *f, gboolean agent)
{
    return item && !g_strcmp0(item->step, f->step) && (f->tile < 0 || item->tile == f->tile) &&
           (f->round < 0 || item->round == f->round) &&
           (!agent || f->agent == G_MAXUINT || item->agent == f->agent);
}

/* Along an edge that is drawn. */
static gboolean follow_drawn(WsTimeline *t, const WsFocus *f, gboolean forward)
{
    for (guint pass = 0; t->scene && pass < 2; pass++)
        for (guint i = 0; i < t->scene->edge->len; i++) {
            const WsSceneEdge *e = &g_array_index(t->scene->edge, WsSceneEdge, i);
            guint here = forward ? e->from : e->to, there = forward ? e->to : e->from;
            if (!forward && e->origin && here &&
                item_is(ws_timeline_item(t, here - 1), f, pass == 0))
                return ws_timeline_go_to_origin(t, e);
            if (!here || !there || !item_is(ws_timeline_item(t, here - 1), f, pass == 0))
                continue;
            WsFocus next;
            ws_timeline_focus_of(ws_timeline_item(t, there - 1), &next);
            ws_document_select(t->document, &next, WS_SELECT_REPLACE, TRUE);
            return TRUE;
        }
    return FALSE;
}

static gboolean linked(const WsOp *from, const WsOp *to)
{
    return from->barrier >= 0 && from->barrier == to->barrier && from != to &&
           ws_op_waits_at_barrier(to->kind) && ws_op_row(from->kind)->gives != WS_GIVES_NONE;
}

/* Along an edge of the program: the nearest execution of a peer after (before) this one. */
static void follow_program(WsTimeline *t, const WsFocus *f, gboolean forward)
{
    const WsProgram *p = ws_document_program(t->document);
    const WsTraceRecord *here = focus_record(t), *best = NULL;
    double at = here ? (double)here->start : middle_cycle(t), least = G_MAXDOUBLE;
    const char *unrecorded = NULL;
    for (guint i = 0; i < p->n_ops; i++)
        for (guint j = 0; !g_strcmp0(p->op[i]->step, f->step) && j < p->n_ops; j++) {
            const WsOp *a = p->op[i], *b = p->op[j];
            if (!b->step || !(forward ? linked(a, b) : linked(b, a)))
                continue;
            WsFocus peer = { b->step, G_MAXUINT, -1, -1 };
            const WsTraceRecord *r = find_record(t, &peer, at);
            double far = r ? (double)r->start - at : 0;
            unrecorded = b->step;
            if (!r)
                continue;
            far = (forward ? far : -far) < 0 ? fabs(far) * 4 : fabs(far);
            if (far < least) {
                least = far;
                best = r;
            }
        }
    if (best)
        select_record(t, best);
    else if (unrecorded) {
        WsFocus peer = { unrecorded, G_MAXUINT, -1, -1 };
        ws_document_select(t->document, &peer, WS_SELECT_REPLACE, TRUE);
    }
}

void ws_timeline_follow(WsTimeline *t, gboolean forward)
{
    const WsFocus *focus = ws_document_focus(t->document);
    if (!focus->step || !t->main_trace)
        return;
    g_autofree char *step = g_strdup(focus->step);
    WsFocus f = *focus;
    f.step = step;
    if (!follow_drawn(t, &f, forward))
        follow_program(t, &f, forward);
}

/* --- showing
 * --------------------------------------------------------------------------------------
 */

static const WsSceneItem *focus_item(WsTimeline *t, guint *at)
{
    const WsFocus *f = ws_document_focus(t->document);
    for (guint pass = 0; f->step && t->scene && pass < 3; pass++) {
        WsFocus looser = *f;
        if (pass == 2)
            looser.tile = looser.round = -1;
        for (guint i = 0; i < t->scene->item->len; i++) {
            const WsSceneItem *item = ws_timeline_item(t, i);
            if (!item->measured == !(t->main_trace->origin == WS_TRACE_MEASURED) &&
                item->shape != WS_SHAPE_SLOT && item_is(item, &looser, pass == 0)) {
                *at = i;
                return item;
            }
        }
    }
    return NULL;
}

static gboolean has_focus_inside(WsTimeline *t)
{
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(t));
    GtkWidget *focus = root ? gtk_root_get_focus(root) : NULL;
    return focus && (focus == t->canvas || gtk_widget_is_ancestor(focus, t->canvas));
}

void ws_timeline_reveal(WsTimeline *t)
{
    if (!t->main_trace || !ws_document_focus(t->document)->step)
        return;
    gtk_stack_set_visible_child_name(GTK_STACK(t->stack), "score");
    ws_timeline_sync(t);
    guint at = 0;
    const WsTraceRecord *r = focus_record(t);
    const WsSceneItem *item = focus_item(t, &at);
    /* Any execution will do where none is asked for: the rounds that are folded stay so. */
    const WsFocus *f = ws_document_focus(t->document);
    const gboolean any = f->tile < 0 && f->round < 0;
    const gboolean there = item && t->view.at.folded && r && (any || item->start == r->start);
    if (r && !there) {
        WsPanePlace before = t->view.at;
        if (t->view.at.folded)
            ws_timeline_unfold(t, t->view.width / 2);
        double u0 = ws_timeline_unit_of(t, (double)r->start);
        double u1 = ws_timeline_unit_of(t, (double)ws_trace_record_end(r));
        double from = t->view.at.from, shown = t->view.width / t->view.at.scale;
        if (u0 < from || u1 > from + shown) { /* a leap: the way back is kept */
            WsPanePlace after = t->view.at;
            t->view.at = before;
            ws_pane_push(&t->view, g_get_monotonic_time(), 700000);
            t->view.at = after;
        }
        ws_pane_reveal(&t->view, u0, u1);
        ws_timeline_sync(t);
        item = focus_item(t, &at);
    }
    if (item) {
        ws_pane_reveal_y(&t->view, item->y - t->scene->top, item->h);
        ws_timeline_sync(t);
        if (t->block_of[at] && has_focus_inside(t))
            gtk_widget_grab_focus(GTK_WIDGET(t->block_of[at]));
    }
    g_object_notify(G_OBJECT(t), "zoom");
}

static void leap(WsTimeline *t)
{
    ws_pane_push(&t->view, g_get_monotonic_time(), 0);
}

static void fit_all(WsTimeline *t)
{
    leap(t);
    ws_pane_show(&t->view, -0.01 * t->view.length, 1.01 * t->view.length);
    ws_timeline_refresh(t);
}

/* Zooms to the selected executions nearest to what is shown. */
static void focus_selection(WsTimeline *t)
{
    GPtrArray *selection = ws_document_selection(t->document);
    double from = G_MAXDOUBLE, to = -G_MAXDOUBLE, near = middle_cycle(t);
    const WsFocus *focus = ws_document_focus(t->document);
    const WsTraceRecord *main = focus_record(t);
    if (main)
        near = (double)main->start;
    for (guint i = 0; i < selection->len; i++) {
        WsFocus f = { selection->pdata[i], G_MAXUINT, -1, -1 };
        if (!g_strcmp0(f.step, focus->step))
            f = *focus;
        const WsTraceRecord *r = find_record(t, &f, near);
        if (!r)
            continue;
        from = MIN(from, (double)r->start);
        to = MAX(to, (double)ws_trace_record_end(r));
    }
    if (to < from || t->fitted) {
        t->fitted = FALSE;
        fit_all(t);
        return;
    }
    leap(t);
    double u0 = ws_timeline_unit_of(t, from), u1 = ws_timeline_unit_of(t, MAX(to, from + 1));
    double air = MAX((u1 - u0) * 0.6, t->order ? 4 : 100);
    ws_pane_show(&t->view, u0 - air, u1 + air);
    ws_timeline_sync(t);
    guint at;
    const WsSceneItem *item = focus_item(t, &at);
    if (item)
        ws_pane_reveal_y(&t->view, item->y - t->scene->top, item->h);
    ws_timeline_refresh(t);
    t->fitted = TRUE;
}

static void zoom_normal(WsTimeline *t)
{
    leap(t);
    t->view.at.folded = TRUE;
    /* As it was opened: what unfolded on the way folds again. */
    ws_score_cache_free(t->cache);
    t->cache = ws_score_cache_new();
    g_clear_pointer(&t->scene, ws_scene_free);
    ws_timeline_refresh(t);
}

static void zoom_by(WsTimeline *t, double factor)
{
    double x =
        t->pointer_x >= WS_TIMELINE_GUTTER ? t->pointer_x - WS_TIMELINE_GUTTER : t->view.width / 2;
    ws_timeline_zoom_at(t, MIN(x, t->view.width), factor);
}

static void toggle_axis(WsTimeline *t)
{
    double cycle = middle_cycle(t);
    t->order = !t->order;
    g_clear_pointer(&t->scene, ws_scene_free);
    g_array_set_size(t->view.history, 0); /* places of the other axis mean nothing here */
    t->view.now = 0;
    t->view.at.folded = !t->order;
    ws_timeline_sync(t);
    if (t->order) {
        t->view.at.scale = 40;
        t->view.at.from = ws_timeline_unit_of(t, cycle) - t->view.width / 2 / 40;
    }
    ws_timeline_refresh(t);
}

/* --- selecting
 * ------------------------------------------------------------------------------------
 */

void ws_timeline_select_range(WsTimeline *t, const WsFocus *to)
{
    const WsTraceRecord *a = t->anchor_step ? find_record(t, &t->anchor, middle_cycle(t)) : NULL;
    const WsTraceRecord *b = find_record(t, to, middle_cycle(t));
    if (!a || !b || a->agent != b->agent) {
        ws_document_select(t->document, to, WS_SELECT_ADD, FALSE);
        return;
    }
    const WsTraceRecord *low = MIN(a, b), *high = MAX(a, b);
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    ws_document_select(t->document, NULL, WS_SELECT_REPLACE, FALSE);
    for (const WsTraceRecord *r = low; r <= high; r++) {
        char *step = t->main_trace->op_id->pdata[r->op];
        WsFocus f = { step, r->agent, r->tile, r->round };
        if (is_drawn(t, r) && g_hash_table_add(known, step))
            ws_document_select(t->document, &f, WS_SELECT_ADD, FALSE);
    }
    WsFocus last = { t->main_trace->op_id->pdata[b->op], b->agent, b->tile, b->round };
    ws_document_select(t->document, &last, WS_SELECT_ADD, FALSE);
}

static void invert(WsTimeline *t)
{
    g_autoptr(GPtrArray) old = g_ptr_array_new_with_free_func(g_free);
    GPtrArray *selection = ws_document_selection(t->document);
    for (guint i = 0; i < selection->len; i++)
        g_ptr_array_add(old, g_strdup(selection->pdata[i]));
    ws_document_select_all(t->document);
    for (guint i = 0; i < old->len; i++) {
        WsFocus f = { old->pdata[i], G_MAXUINT, -1, -1 };
        if (ws_document_selected(t->document, f.step))
            ws_document_select(t->document, &f, WS_SELECT_TOGGLE, FALSE);
    }
}

static void toggle_table(WsTimeline *t)
{
    gboolean table = !g_strcmp0(gtk_stack_get_visible_child_name(GTK_STACK(t->stack)), "table");
    gtk_stack_set_visible_child_name(GTK_STACK(t->stack), table ? "score" : "table");
    gtk_widget_child_focus(table ? t->canvas : t->table, GTK_DIR_TAB_FORWARD);
}

static void open_menu(WsTimeline *t)
{
    guint at;
    const WsSceneItem *item = focus_item(t, &at);
    double x = WS_TIMELINE_GUTTER + t->view.width / 2, y = t->scene ? t->scene->top : 0;
    if (item) {
        x = WS_TIMELINE_GUTTER + CLAMP(item->x + ws_timeline_offset(t), 0, t->view.width);
        y = item->y + item->h - t->view.at.y;
    }
    ws_timeline_popup(t, x, y);
}

/* --- the table of commands
 * ------------------------------------------------------------------------
 */

static void zoom_in(WsTimeline *t)
{
    zoom_by(t, 1.25);
}

static void zoom_out(WsTimeline *t)
{
    zoom_by(t, 0.8);
}

static void toggle_edges(WsTimeline *t)
{
    t->no_edges = !t->no_edges;
    g_clear_pointer(&t->scene, ws_scene_free);
    ws_timeline_refresh(t);
}

static void clear_range(WsTimeline *t)
{
    ws_document_set_range(t->document, 0, 0);
}

static void next_step(WsTimeline *t)
{
    ws_timeline_step_along(t, 1);
}

static void previous_step(WsTimeline *t)
{
    ws_timeline_step_along(t, -1);
}

static void edge_forward(WsTimeline *t)
{
    ws_timeline_follow(t, TRUE);
}

static void edge_back(WsTimeline *t)
{
    ws_timeline_follow(t, FALSE);
}

static void pan_left(WsTimeline *t)
{
    ws_timeline_scroll_by(t, -t->view.width / 10, 0);
}

static void pan_right(WsTimeline *t)
{
    ws_timeline_scroll_by(t, t->view.width / 10, 0);
}

static void back(WsTimeline *t)
{
    if (ws_pane_back(&t->view))
        ws_timeline_refresh(t);
}

static void forward(WsTimeline *t)
{
    if (ws_pane_forward(&t->view))
        ws_timeline_refresh(t);
}

static void next_round(WsTimeline *t)
{
    ws_timeline_step_round(t, 1, FALSE);
}

static void previous_round(WsTimeline *t)
{
    ws_timeline_step_round(t, -1, FALSE);
}

static void next_tile(WsTimeline *t)
{
    ws_timeline_step_round(t, 1, TRUE);
}

static void previous_tile(WsTimeline *t)
{
    ws_timeline_step_round(t, -1, TRUE);
}

static void next_cta(WsTimeline *t)
{
    ws_timeline_step_cta(t, 1);
}

static void previous_cta(WsTimeline *t)
{
    ws_timeline_step_cta(t, -1);
}

static void next_gap(WsTimeline *t)
{
    ws_gap_step(t, 1);
}

static void previous_gap(WsTimeline *t)
{
    ws_gap_step(t, -1);
}

static void link_views(WsTimeline *t)
{
    ws_timeline_set_linked(t, !t->linked);
}

static void select_all(WsTimeline *t)
{
    ws_document_select_all(t->document);
}

static void select_none(WsTimeline *t)
{
    ws_document_select(t->document, NULL, WS_SELECT_REPLACE, FALSE);
}

static void select_upstream(WsTimeline *t)
{
    ws_document_select_stream(t->document, FALSE);
}

static void select_downstream(WsTimeline *t)
{
    ws_document_select_stream(t->document, TRUE);
}

static const struct {
    const char *name;
    void (*act)(WsTimeline *t);
} command[] = {
    { "timeline.zoom-in", zoom_in },
    { "timeline.zoom-out", zoom_out },
    { "timeline.zoom-normal", zoom_normal },
    { "timeline.fit-all", fit_all },
    { "timeline.focus-selection", focus_selection },
    { "timeline.toggle-axis", toggle_axis },
    { "timeline.toggle-edges", toggle_edges },
    { "timeline.toggle-table", toggle_table },
    { "timeline.menu", open_menu },
    { "timeline.clear-range", clear_range },
    { "timeline.next-step", next_step },
    { "timeline.previous-step", previous_step },
    { "timeline.edge-forward", edge_forward },
    { "timeline.edge-back", edge_back },
    { "timeline.pan-left", pan_left },
    { "timeline.pan-right", pan_right },
    { "timeline.back", back },
    { "timeline.forward", forward },
    { "timeline.next-round", next_round },
    { "timeline.previous-round", previous_round },
    { "timeline.next-tile", next_tile },
    { "timeline.previous-tile", previous_tile },
    { "timeline.next-cta", next_cta },
    { "timeline.previous-cta", previous_cta },
    { "timeline.next-gap", next_gap },
    { "timeline.previous-gap", previous_gap },
    { "timeline.link-views", link_views },
    { "timeline.select-all", select_all },
    { "timeline.select-none", select_none },
    { "timeline.select-invert", invert },
    { "timeline.select-upstream", select_upstream },
    { "timeline.select-downstream", select_downstream },
};

static void run_command(GtkWidget *widget, const char *name, GVariant *parameter)
{
    WsTimeline *t = WS_TIMELINE(widget);
    if (!ws_document_program(t->document) || !t->main_trace)
        return;
    if (strcmp(name, "timeline.focus-selection") != 0)
        t->fitted = FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(command); i++)
        if (!strcmp(name, command[i].name))
            command[i].act(t);
}

void ws_timeline_install_actions(GtkWidgetClass *class)
{
    for (guint i = 0; i < G_N_ELEMENTS(command); i++)
        gtk_widget_class_install_action(class, command[i].name, NULL, run_command);
    ws_actions_bind_keys(class, WS_PART_TIMELINE);
    ws_actions_bind_keys(class, WS_PART_EDIT);
}
