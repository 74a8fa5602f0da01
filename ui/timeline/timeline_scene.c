/* The scene that belongs to the view, and the blocks that belong to the scene. A scene reaches a
 * window beyond either side, so that panning moves what is there and makes a new one now and
 * then. */
#include "ui/document/document_idle.h"
#include "ui/gesture/gesture.h"
#include "ui/parts/words.h"
#include "ui/timeline/timeline_private.h"

#include <math.h>
#include <string.h>

#define LEAST_BLOCK 6.0 /* pixels; narrower items are painted */

static WsTrace *main_trace(WsTimeline *t)
{
    WsTrace *predicted = ws_document_predicted(t->document);
    return predicted ? predicted : ws_document_measured(t->document);
}

/* A design without a step has no events to be in order. */
static gboolean in_order(const WsTimeline *t)
{
    return t->order && t->knots && t->knots->len;
}

double ws_timeline_unit_of(WsTimeline *t, double cycle)
{
    return in_order(t) ? ws_order_of((const gint64 *)t->knots->data, t->knots->len, cycle) : cycle;
}

double ws_timeline_cycle_of(WsTimeline *t, double unit)
{
    return in_order(t) ? ws_order_time((const gint64 *)t->knots->data, t->knots->len, unit) : unit;
}

double ws_timeline_offset(WsTimeline *t)
{
    if (t->view.at.folded || !t->scene)
        return 0;
    double k = t->page_scale; /* whole pixels: an image between two is a blur */
    return floor((t->scene_unit - t->view.at.from) * t->view.at.scale * k + 0.5) / k;
}

double ws_timeline_ghz(WsTimeline *t)
{
    WsTrace *measured = ws_document_measured(t->document);
    WsClockResult *clock = ws_document_clock(t->document);
    const WsTraceCta *cta = ws_timeline_cta_info(t, t->cta);
    if (measured && cta && cta->ghz > 0)
        return cta->ghz;
    /* What was measured at a clock that nobody knows is not stated in another one's time. */
    return ws_document_predicted(t->document) && clock && clock->ghz > 0 ? clock->ghz : 0;
}

const WsSceneItem *ws_timeline_item(WsTimeline *t, guint i)
{
    return t->scene && i < t->scene->item->len ? &g_array_index(t->scene->item, WsSceneItem, i)
                                               : NULL;
}

const WsSceneItem *ws_timeline_hit(WsTimeline *t, double x, double y)
{
    if (!t->scene || x < WS_TIMELINE_GUTTER || x > WS_TIMELINE_GUTTER + t->view.width ||
        y < t->scene->top)
        return NULL;
    x -= WS_TIMELINE_GUTTER + ws_timeline_offset(t);
    y += t->view.at.y;
    const WsSceneItem *chosen = ws_timeline_chosen_at(t, x, y);
    return chosen ? chosen : ws_scene_hit(t->scene, x, y);
}

void ws_timeline_drop_nodes(WsTimeline *t)
{
    for (guint i = 0; i < G_N_ELEMENTS(t->node); i++)
        g_clear_pointer(&t->node[i], gsk_render_node_unref);
}

/* --- blocks --------------------------------------------------------------------------------------
 */

static gboolean worth_a_block(WsTimeline *t, const WsSceneItem *item, double least)
{
    WsRowKind row = g_array_index(t->scene->row, WsSceneRow, item->row).kind;
    return item->step && item->w >= least && (row == WS_ROW_CONTROL || row == WS_ROW_ASYNC) &&
           item->shape != WS_SHAPE_DENSE;
}

/* Items that become widgets: at most WS_MAX_BLOCKS in one window, the widest. */
static void choose_candidates(WsTimeline *t)
{
    double windows = MAX(t->scene->width / MAX(t->view.width, 1), 1);
    g_array_set_size(t->candidate, 0);
    for (double least = LEAST_BLOCK; least < 1e6; least *= 1.5) {
        g_array_set_size(t->candidate, 0);
        for (guint i = 0; i < t->scene->item->len; i++)
            if (worth_a_block(t, ws_timeline_item(t, i), least))
                g_array_append_val(t->candidate, i);
        if (t->candidate->len <= 0.7 * WS_MAX_BLOCKS * windows)
            break;
    }
}

static void release(WsTimeline *t, WsBlock *b)
{
    if (gtk_widget_has_focus(GTK_WIDGET(b)))
        gtk_widget_grab_focus(t->canvas);
    b->used = FALSE;
    gtk_widget_set_child_visible(GTK_WIDGET(b), FALSE);
    gtk_accessible_update_state(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_STATE_HIDDEN, TRUE, -1);
}

static WsBlock *spare(WsTimeline *t, guint *from)
{
    for (; *from < t->block->len; ++*from) {
        WsBlock *b = t->block->pdata[*from];
        if (!b->used)
            return b;
    }
    if (t->block->len >= WS_MAX_BLOCKS)
        return NULL;
    WsBlock *b = WS_BLOCK(ws_block_new(t));
    gtk_widget_set_parent(GTK_WIDGET(b), t->canvas);
    g_ptr_array_add(t->block, b);
    return b;
}

static gboolean in_view(WsTimeline *t, const WsSceneItem *item)
{
    double x = item->x + ws_timeline_offset(t), y = item->y - t->view.at.y;
    return x + item->w > -40 && x < t->view.width + 40 && y + item->h > t->scene->top - 40 &&
           y < t->scene->top + t->view.height + 40;
}

static void use(WsBlock *b, const WsSceneItem *item)
{
    if (!b->used) {
        b->used = TRUE;
        gtk_widget_set_child_visible(GTK_WIDGET(b), TRUE);
        gtk_accessible_update_state(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_STATE_HIDDEN, FALSE, -1);
    }
    ws_block_take(b, item);
}

/* Blocks enter and leave with the view. */
static void follow_view(WsTimeline *t)
{
    guint from = 0;
    for (guint pass = 0; pass < 2; pass++)
        for (guint i = 0; i < t->candidate->len; i++) {
            guint at = g_array_index(t->candidate, guint, i);
            const WsSceneItem *item = ws_timeline_item(t, at);
            gboolean in = in_view(t, item);
            if (pass == 0 && !in && t->block_of[at]) {
                release(t, t->block_of[at]);
                t->block_of[at] = NULL;
            } else if (pass == 1 && in && !t->block_of[at]) {
                WsBlock *b = spare(t, &from);
                if (!b)
                    continue;
                use(b, item);
                t->block_of[at] = b;
            }
        }
}

static guint hash_item(gconstpointer p)
{
    const WsSceneItem *i = p;
    return (i->op * 31u + i->agent) * 65599u ^ (guint)i->round * 2654435761u ^
           (guint)i->shape * 97u;
}

static gboolean same_item(gconstpointer pa, gconstpointer pb)
{
    const WsSceneItem *a = pa, *b = pb;
    return a->op == b->op && a->agent == b->agent && a->round == b->round && a->tile == b->tile &&
           a->shape == b->shape;
}

/* Widgets go on standing for the execution they stood for: the focus and names stay. */
static void hand_over(WsTimeline *t)
{
    g_autoptr(GHashTable) old = g_hash_table_new(hash_item, same_item);
    for (guint i = 0; i < t->block->len; i++) {
        WsBlock *b = t->block->pdata[i];
        if (b->used)
            g_hash_table_insert(old, &b->item, b);
    }
    for (guint i = 0; i < t->candidate->len; i++) {
        guint at = g_array_index(t->candidate, guint, i);
        const WsSceneItem *item = ws_timeline_item(t, at);
        WsBlock *b = g_hash_table_lookup(old, item);
        if (!b || !in_view(t, item))
            continue;
        g_hash_table_remove(old, item);
        ws_block_take(b, item);
        t->block_of[at] = b;
    }
    GHashTableIter iter;
    gpointer b;
    g_hash_table_iter_init(&iter, old);
    while (g_hash_table_iter_next(&iter, NULL, &b)) {
        g_hash_table_iter_remove(&iter);
        release(t, b);
    }
}

gboolean ws_timeline_mark(WsTimeline *t)
{
    GPtrArray *selection = ws_document_selection(t->document);
    gboolean any = selection->len > 0;
    if (!t->scene)
        return FALSE;
    g_autoptr(GHashTable) set = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < selection->len; i++)
        g_hash_table_add(set, selection->pdata[i]);
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        gboolean selected = any && item->step && g_hash_table_contains(set, item->step);
        t->how[i] = selected ? WS_PAINT_STRONG : any && item->step ? WS_PAINT_DIM : WS_PAINT;
        if (t->block_of[i])
            ws_block_mark(t->block_of[i], selected);
    }
    return any;
}

/* --- the scene -----------------------------------------------------------------------------------
 */

static void make_scene(WsTimeline *t, const WsSceneOptions *o)
{
    gint64 before = g_get_monotonic_time();
    WsScene *scene =
        ws_scene_new(ws_document_program(t->document), ws_document_predicted(t->document),
                     ws_document_measured(t->document), o);
    g_clear_pointer(&t->scene, ws_scene_free);
    t->scene = scene;
    t->build_cost = g_get_monotonic_time() - before;
    g_free(t->how);
    g_free(t->block_of);
    t->how = g_new0(guint8, scene->item->len + 1);
    t->block_of = g_new0(WsBlock *, scene->item->len + 1);
    t->view.content = scene->bottom - scene->top + 12;
    t->view.height = MAX(gtk_widget_get_height(t->canvas) / t->page_scale - scene->top, 1);
    g_array_set_size(t->candidate, 0);
    if (!t->loose) {
        choose_candidates(t);
        hand_over(t);
    }
    ws_timeline_drop_nodes(t);
}

/* After the last movement: what was left out of hasty scenes. */
static gboolean settle(gpointer data)
{
    WsTimeline *t = data;
    t->settle = 0;
    t->loose = FALSE;
    if (t->scene && t->scene->partial) {
        /* At once: until the next frame, which may be long in coming, the pointer would find no
         * score and what asks for an item nothing to ask. */
        g_clear_pointer(&t->scene, ws_scene_free);
        ws_timeline_sync(t);
    }
    return G_SOURCE_REMOVE;
}

static gboolean covers(WsTimeline *t, double from, double to)
{
    if (!t->scene || t->scene_scale <= 0 || fabs(t->scene_scale / t->view.at.scale - 1) > 1e-9)
        return FALSE;
    double end = t->scene_unit + t->scene->width / t->scene_scale;
    return MAX(from, 0) >= t->scene_unit - 1e-6 && MIN(to, t->view.length) <= end + 1e-6;
}

static void choose_cta(WsTimeline *t, WsSceneOptions *o)
{
    WsTrace *measured = ws_document_measured(t->document);
    o->cta = ws_timeline_cta_of(t, t->main_trace);
    o->overlay_cta = measured ? ws_timeline_cta_of(t, measured) : 0;
    o->special = t->special;
}

static void ensure_plain(WsTimeline *t)
{
    WsPane *v = &t->view;
    double from = v->at.from, to = from + v->width / v->at.scale, air = to - from;
    if (covers(t, from, to))
        return;
    /* While one zooms every frame needs a scene of its own: of the window alone, and without what
     * takes long. */
    gboolean zooming = t->scene && t->scene_scale > 0 && t->scene_scale != v->at.scale &&
                       g_get_monotonic_time() - t->zoomed < 400000;
    gboolean hasty = (zooming || t->settle != 0) && t->full_cost > 6000;
    t->loose = zooming;
    if (t->loose)
        air = 0;
    double low = CLAMP(from - air, 0, v->length), high = CLAMP(to + air, 0, v->length);
    gint64 t0 = (gint64)floor(MAX(ws_timeline_cycle_of(t, low), 0));
    gint64 t1 = MAX((gint64)ceil(ws_timeline_cycle_of(t, high)), t0 + 1);
    double u0 = ws_timeline_unit_of(t, (double)t0), u1 = ws_timeline_unit_of(t, (double)t1);
    WsSceneOptions o = { .width = (u1 - u0) * v->at.scale,
                         .from = t0,
                         .to = t1,
                         .bare = TRUE,
                         .cache = t->cache,
                         .translate = ws_words_translate,
                         .hasty = hasty,
                         .no_tips = t->loose,
                         .no_units = TRUE,
                         .later = { t->later[0], t->later[0] },
                         .no_edges = t->no_edges };
    if (t->loose) { /* a scene for a moment: of what is in sight, and a little more */
        o.sight0 = t->scene->top + v->at.y - v->height / 2;
        o.sight1 = t->scene->top + v->at.y + 1.5 * v->height;
    }
    choose_cta(t, &o);
    if (t->order && t->knots && t->knots->len > 1) {
        o.knot = (const gint64 *)t->knots->data;
        o.n_knots = t->knots->len;
    }
    make_scene(t, &o);
    t->scene->partial |= t->loose;
    if (!hasty && !t->loose)
        t->full_cost = t->build_cost;
    t->scene_unit = u0;
    t->scene_scale = v->at.scale;
}

static void ensure_folded(WsTimeline *t)
{
    if (t->scene && t->scene_scale == 0 && t->scene->width == t->view.width)
        return;
    /* Edges of a long trace are found by walking the whole program: after the first picture. */
    const gboolean hasty = t->hurried != t->main_trace && ws_document_is_long(t->main_trace);
    t->hurried = t->main_trace;
    WsSceneOptions o = { .width = t->view.width,
                         .bare = TRUE,
                         .hasty = hasty,
                         .cache = t->cache,
                         .translate = ws_words_translate,
                         .no_units = TRUE,
                         .no_edges = t->no_edges };
    if (t->gesture)
        ws_gesture_hold(t, &o);
    choose_cta(t, &o);
    t->loose = FALSE;
    make_scene(t, &o);
    if (!hasty)
        t->full_cost = t->build_cost;
    t->scene_scale = 0;
    t->scene_unit = 0;
}

static double ws_timeline_scale_of_opening(WsTimeline *t)
{
    return t->unit_of_zoom > 0 ? t->unit_of_zoom : 1;
}

void ws_timeline_unfold(WsTimeline *t, double x)
{
    if (!t->view.at.folded || !t->scene || t->scene_scale != 0)
        return;
    WsPane *v = &t->view;
    double cycle = ws_scene_time(t->scene, x);
    v->at.folded = FALSE;
    v->at.scale = ws_timeline_scale_of_opening(t);
    if (t->order)
        v->at.scale = 40;
    v->at.from = ws_timeline_unit_of(t, cycle) - x / v->at.scale;
}

/* What is tried while something is dragged, and what is left when it is let go, stands in the rows
 * that were there: nothing moves up or down below the pointer. */
static void keep_rows(WsTimeline *t)
{
    g_autoptr(WsScoreCache) old = t->cache;
    t->cache = ws_score_cache_new();
    if (t->gesture || t->rows_held)
        ws_score_cache_keep_rows(t->cache, old, t->gesture != NULL);
    t->rows_held = t->gesture != NULL;
}

/* Another program or trace: nothing of the old scene holds. */
static void take_traces(WsTimeline *t)
{
    WsTrace *trace = main_trace(t);
    if (trace != t->main_trace) {
        g_clear_pointer(&t->main_trace, ws_trace_unref);
        t->main_trace = trace ? ws_trace_ref(trace) : NULL;
        g_clear_pointer(&t->knots, g_array_unref);
    }
    keep_rows(t);
    g_clear_pointer(&t->scene, ws_scene_free);
    ws_timeline_cta_reset(t);
    gboolean any = trace && trace->record->len && ws_document_program(t->document);
    /* A canvas that is hidden loses the pointer that drags on it. */
    gtk_stack_set_visible_child_name(GTK_STACK(t->stack), any || t->gesture ? "score" : "message");
    for (guint i = 0; i < t->block->len; i++)
        if (((WsBlock *)t->block->pdata[i])->used)
            release(t, t->block->pdata[i]);
}

WsScene *ws_timeline_take_scene(WsTimeline *t)
{
    WsScene *scene = g_steal_pointer(&t->scene);
    for (guint i = 0; i < t->block->len; i++) /* their items are the scene's */
        if (((WsBlock *)t->block->pdata[i])->used)
            release(t, t->block->pdata[i]);
    ws_timeline_sync(t);
    return scene;
}

void ws_timeline_retake(WsTimeline *t)
{
    const gboolean table =
        !g_strcmp0(gtk_stack_get_visible_child_name(GTK_STACK(t->stack)), "table");
    take_traces(t);
    if (table && t->main_trace)
        gtk_stack_set_visible_child_name(GTK_STACK(t->stack), "table");
    if (t->gesture)
        ws_gesture_follow(t);
    else
        ws_gesture_return(t);
    ws_timeline_refresh(t);
}

/* The score's ends, and what 100 % is. */
void ws_timeline_reset(WsTimeline *t)
{
    take_traces(t);
    t->unit_of_zoom = 0;
    t->view.at.folded = TRUE;
    t->view.at.y = 0;
    g_array_set_size(t->view.history, 0);
    t->view.now = 0;
    ws_minimap_reset(WS_MINIMAP(t->minimap));
    ws_timeline_refresh(t);
}

static double score_length(WsTimeline *t)
{
    if (!t->main_trace || !t->main_trace->cta->len)
        return 1;
    if (t->order) {
        if (!t->knots)
            t->knots = ws_order_knots(t->main_trace, ws_timeline_cta_of(t, t->main_trace));
        return MAX(t->knots->len, 2) - 1;
    }
    guint cta = ws_timeline_cta_of(t, t->main_trace);
    return (double)MAX(g_array_index(t->main_trace->cta, WsTraceCta, cta).cycles, 1);
}

static void adjust(WsTimeline *t)
{
    WsPane *v = &t->view;
    double from, to;
    ws_timeline_get_view(t, &from, &to);
    from = ws_timeline_unit_of(t, from);
    to = ws_timeline_unit_of(t, to);
    t->adjusting = TRUE;
    gtk_adjustment_configure(t->h, from, MIN(from, 0), MAX(to, v->length), (to - from) / 20,
                             (to - from) * 0.9, to - from);
    gtk_adjustment_configure(t->v, v->at.y, 0, MAX(v->content, v->height), 24, v->height * 0.9,
                             v->height);
    t->adjusting = FALSE;
    gtk_widget_set_visible(t->vbar, v->content > v->height + 1);
}

/* What 100 % is stays while a score is edited, but not when it is another one altogether. */
static gboolean zoom_is_of_another(WsTimeline *t)
{
    const double was = t->length_of_zoom, is = t->view.length;
    if (t->unit_of_zoom <= 0 || (is < 2 * was && was < 2 * is))
        return FALSE;
    t->unit_of_zoom = 0;
    return TRUE;
}

void ws_timeline_sync(WsTimeline *t)
{
    if (!ws_document_program(t->document) || !t->main_trace || t->view.width < 16)
        return;
    t->view.length = score_length(t);
    /* While something is dragged the view stays under the pointer, however short what is tried. */
    const gboolean held = t->gesture != NULL;
    const gboolean returned = !held && ws_pane_return(&t->view), zoomed = zoom_is_of_another(t);
    if (t->unit_of_zoom <= 0 || t->view.at.folded) {
        gboolean folded = t->view.at.folded;
        ensure_folded(t);
        const WsSceneSegment *g =
            t->scene->segment->len ? &g_array_index(t->scene->segment, WsSceneSegment, 0) : NULL;
        t->unit_of_zoom = g ? (g->x1 - g->x0) / (double)MAX(g->t1 - g->t0, 1) : 1;
        t->length_of_zoom = t->view.length;
        if (t->order && folded) { /* no folds between events */
            ws_timeline_unfold(t, t->view.width / 2);
            folded = FALSE;
        }
        if (folded && !t->scene->fold->len && t->scene->segment->len == 1 && g->t0 == 0)
            t->view.at.scale = t->unit_of_zoom;
    }
    if (!held)
        ws_pane_clamp(&t->view);
    if (!t->view.at.folded)
        ensure_plain(t);
    if (!held)
        ws_pane_settle(&t->view, returned);
    if (zoomed)
        g_object_notify(G_OBJECT(t), "zoom");
    follow_view(t);
    ws_timeline_mark(t);
    adjust(t);
    ws_timeline_link_moved(t);
    if (t->scene->partial) {
        g_clear_handle_id(&t->settle, g_source_remove);
        t->settle = g_timeout_add(120, settle, t);
    }
    gtk_widget_queue_allocate(t->canvas);
    gtk_widget_queue_draw(t->canvas);
    gtk_widget_queue_draw(t->minimap);
    gtk_widget_queue_draw(t->units);
}

static gboolean on_tick(GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
    WsTimeline *t = data;
    t->tick = 0;
    ws_timeline_sync(t);
    return G_SOURCE_REMOVE;
}

void ws_timeline_refresh(WsTimeline *t)
{
    if (!t->tick)
        t->tick = gtk_widget_add_tick_callback(t->canvas, on_tick, t, NULL);
    g_object_notify(G_OBJECT(t), "zoom");
}
