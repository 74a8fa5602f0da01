#include "seen.h"

#include "ui/document/document_private.h"
#include "ui/gesture/gesture_private.h"
#include "ui/timeline/timeline_private.h"

gboolean seen_gesture_active(WsTimeline *t)
{
    return t->gesture != NULL;
}

const char *seen_gesture_words(WsTimeline *t)
{
    return t->gesture ? t->gesture->words : NULL;
}

gboolean seen_gesture_ring_handle(WsTimeline *t, const char *ring, double *x, double *y)
{
    for (guint i = 0; t->scene && i < t->scene->staff->len; i++) {
        const WsSceneStaff *staff = &g_array_index(t->scene->staff, WsSceneStaff, i);
        if (g_strcmp0(staff->name, ring) || !ws_gesture_handle(t->scene, staff, x, y))
            continue;
        *y += 2.5 - t->view.at.y;
        return TRUE;
    }
    return FALSE;
}

gboolean seen_timeline_folded(WsTimeline *t)
{
    return t->view.at.folded;
}

void seen_timeline_origin(WsTimeline *t, double *x, double *y)
{
    double k = t->page_scale;
    gtk_widget_translate_coordinates(t->canvas, GTK_WIDGET(t), WS_TIMELINE_GUTTER * k,
                                     t->scene ? t->scene->top * k : 0, x, y);
}

gboolean seen_timeline_item_place(WsTimeline *t, guint item, double *x, double *y, double *w,
                                  double *h)
{
    const WsSceneItem *i = ws_timeline_item(t, item);
    if (!i || !i->step)
        return FALSE;
    *x = i->x + ws_timeline_offset(t);
    *y = i->y - t->view.at.y - t->scene->top;
    *w = i->w;
    *h = i->h;
    return TRUE;
}

gboolean seen_timeline_select_item(WsTimeline *t, guint item)
{
    const WsSceneItem *i = ws_timeline_item(t, item);
    if (!i || !i->step)
        return FALSE;
    WsFocus focus;
    ws_timeline_focus_of(i, &focus);
    ws_document_select(t->document, &focus, WS_SELECT_REPLACE, FALSE);
    return TRUE;
}

void seen_document_settle(WsDocument *d)
{
    while (ws_document_pending(d))
        g_main_context_iteration(NULL, TRUE);
}

void seen_document_crash(WsDocument *d)
{
    ws_journal_abandon(g_steal_pointer(&d->journal));
}
