/* What the person has selected: steps and objects by id, and a range of time. */
#include "program/parts/operation.h"
#include "program/program.h"
#include "ui/document/document_private.h"

#include "ui/timeline/stream.h"

/* --- selection -----------------------------------------------------------------------------------
 */

const WsFocus *ws_document_focus(WsDocument *d)
{
    return &d->focus;
}

static gboolean find_selected(WsDocument *d, const char *step, guint *at)
{
    return step && g_ptr_array_find_with_equal_func(d->selection, step, g_str_equal, at);
}

gboolean ws_document_selected(WsDocument *d, const char *step)
{
    return find_selected(d, step, NULL);
}

GPtrArray *ws_document_selection(WsDocument *d)
{
    return d->selection;
}

static void focus_last(WsDocument *d, const WsFocus *focus)
{
    d->focus = focus ? *focus : (WsFocus){ .agent = G_MAXUINT, .tile = -1, .round = -1 };
    d->focus.step =
        d->selection->len ? g_ptr_array_index(d->selection, d->selection->len - 1) : NULL;
}

void ws_document_select(WsDocument *d, const WsFocus *focus, WsSelectMode mode, gboolean reveal)
{
    const char *step = focus ? focus->step : NULL;
    g_autofree char *id = g_strdup(step); /* may lie in the selection that is about to go */
    WsFocus kept = focus ? *focus : d->focus;
    guint at;
    if (!id || mode == WS_SELECT_REPLACE)
        g_ptr_array_set_size(d->selection, 0);
    if (id && find_selected(d, id, &at)) {
        g_ptr_array_remove_index(d->selection, at);
        if (mode != WS_SELECT_TOGGLE)
            g_ptr_array_add(d->selection, g_strdup(id));
    } else if (id) {
        g_ptr_array_add(d->selection, g_strdup(id));
    }
    focus_last(d, id ? &kept : NULL);
    ws_document_emit(d, WS_SIGNAL_SELECTION);
    if (reveal && id)
        ws_document_emit(d, WS_SIGNAL_REVEAL);
}

void ws_document_select_stream(WsDocument *d, gboolean downstream)
{
    if (!ws_document_program(d) || !d->selection->len)
        return;
    g_autoptr(GPtrArray) found = ws_stream_of(ws_document_program(d), d->selection, downstream);
    for (guint i = 0; i < found->len; i++) /* the focus, last of all, stays */
        g_ptr_array_insert(d->selection, 0, g_strdup(g_ptr_array_index(found, i)));
    if (found->len)
        ws_document_emit(d, WS_SIGNAL_SELECTION);
}

void ws_document_select_all(WsDocument *d)
{
    const WsProgram *p = ws_document_program(d);
    for (guint i = 0; p && i < p->n_ops; i++)
        if (p->op[i]->agent >= 0 && p->op[i]->step && !find_selected(d, p->op[i]->step, NULL))
            g_ptr_array_insert(d->selection, 0, g_strdup(p->op[i]->step));
    focus_last(d, &d->focus);
    ws_document_emit(d, WS_SIGNAL_SELECTION);
}

/* --- range ------------------------------------------------------------------------------------ */

void ws_document_set_range(WsDocument *d, gint64 from, gint64 to)
{
    d->from = from;
    d->to = to;
    ws_document_emit(d, WS_SIGNAL_RANGE);
}

gboolean ws_document_range(WsDocument *d, gint64 *from, gint64 *to)
{
    *from = d->from;
    *to = d->to;
    return d->to > d->from;
}

/* --- from one state of the design to the next ----------------------------------------------------
 */

void ws_document_clear_selection(WsDocument *d)
{
    g_ptr_array_set_size(d->selection, 0);
    d->focus = (WsFocus){ .agent = G_MAXUINT, .tile = -1, .round = -1 };
}

/* Path of the node of `from` that `id` names, in `to`; NULL if it is not there. Caller frees. */
static char *carried(const WsDesign *from, const WsDesign *to, const char *id)
{
    const WsNode *node = ws_design_find(from, id);
    const WsNode *now = node ? ws_design_by_identity(to, node->identity) : NULL;
    return now ? ws_design_path(to, now) : NULL;
}

void ws_document_carry_selection(WsDocument *d, const WsDesign *from, const WsDesign *to,
                                 const GArray *touched)
{
    WsFocus focus = d->focus;
    g_autoptr(GPtrArray) now = g_ptr_array_new_with_free_func(g_free);
    gboolean any = touched && touched->len;
    for (guint i = 0; any && i < touched->len; i++) {
        const WsNode *node = ws_design_by_identity(to, g_array_index(touched, guint64, i));
        if (node)
            g_ptr_array_add(now, ws_design_path(to, node));
    }
    for (guint i = 0; !any && from && i < d->selection->len; i++) {
        char *id = carried(from, to, d->selection->pdata[i]);
        if (id)
            g_ptr_array_add(now, id);
    }
    if (any) /* another step: no execution of it is meant */
        focus.agent = G_MAXUINT, focus.tile = focus.round = -1;
    g_ptr_array_set_size(d->selection, 0);
    for (guint i = 0; i < now->len; i++)
        g_ptr_array_add(d->selection, g_strdup(now->pdata[i]));
    focus_last(d, now->len ? &focus : NULL);
}
