#include "ui/document/history.h"

#include "model/design.h"

typedef struct {
    WsDesign *design;
    char *name, *coalesce;
    gint64 time;
    gsize bytes;
} State;

struct WsHistory {
    GArray *state; /* State */
    guint now;
    gint saved; /* state that is on disk, -1: none that is kept */
    gsize bytes, max_bytes;
};

/* What a state costs beside its text: the nodes from the root to what changed. */
#define STATE_BYTES 2048

static void clear_state(gpointer data)
{
    State *s = data;
    ws_design_unref(s->design);
    g_free(s->name);
    g_free(s->coalesce);
}

WsHistory *ws_history_new(gsize max_bytes)
{
    WsHistory *h = g_new0(WsHistory, 1);
    h->state = g_array_new(FALSE, TRUE, sizeof(State));
    g_array_set_clear_func(h->state, clear_state);
    h->max_bytes = max_bytes;
    h->saved = -1;
    return h;
}

void ws_history_free(WsHistory *h)
{
    if (!h)
        return;
    g_array_unref(h->state);
    g_free(h);
}

static State *at(const WsHistory *h, guint i)
{
    return &g_array_index(h->state, State, i);
}

void ws_history_reset(WsHistory *h, const WsDesign *design, gboolean dirty)
{
    g_array_set_size(h->state, 0);
    h->now = 0;
    h->saved = dirty ? -1 : 0;
    h->bytes = STATE_BYTES;
    if (!design)
        return;
    State first = { .design = ws_design_ref(design), .bytes = STATE_BYTES };
    g_array_append_val(h->state, first);
}

static void forget_redo(WsHistory *h)
{
    for (guint i = h->now + 1; i < h->state->len; i++)
        h->bytes -= at(h, i)->bytes;
    if (h->now + 1 < h->state->len)
        g_array_set_size(h->state, h->now + 1);
    if (h->saved > (gint)h->now)
        h->saved = -1;
}

static void forget_oldest(WsHistory *h)
{
    while (h->bytes > h->max_bytes && h->state->len > 2 && h->now > 1) {
        h->bytes -= at(h, 0)->bytes;
        g_array_remove_index(h->state, 0);
        h->now--;
        h->saved = h->saved > 0 ? h->saved - 1 : -1;
    }
}

static gboolean joins(const WsHistory *h, const char *coalesce, gint64 now)
{
    const State *last = h->state->len ? at(h, h->now) : NULL;
    return coalesce && last && last->coalesce && h->now > 0 && h->saved != (gint)h->now &&
           !g_strcmp0(coalesce, last->coalesce) && now - last->time < WS_HISTORY_COALESCE;
}

gboolean ws_history_push(WsHistory *h, const WsDesign *design, const char *name,
                         const char *coalesce, gint64 now, gsize bytes)
{
    if (h->state->len)
        forget_redo(h);
    if (joins(h, coalesce, now)) {
        State *last = at(h, h->now);
        ws_design_unref(last->design);
        last->design = ws_design_ref(design);
        last->time = now;
        return TRUE;
    }
    State next = { .design = ws_design_ref(design),
                   .name = g_strdup(name),
                   .coalesce = g_strdup(coalesce),
                   .time = now,
                   .bytes = bytes + STATE_BYTES };
    h->bytes += next.bytes;
    g_array_append_val(h->state, next);
    h->now = h->state->len - 1;
    forget_oldest(h);
    return FALSE;
}

void ws_history_seal(WsHistory *h)
{
    if (h->state->len)
        g_clear_pointer(&at(h, h->now)->coalesce, g_free);
}

WsDesign *ws_history_design(const WsHistory *h)
{
    return h->state->len ? at(h, h->now)->design : NULL;
}

gboolean ws_history_undo(WsHistory *h)
{
    ws_history_seal(h);
    if (h->now == 0)
        return FALSE;
    h->now--;
    return TRUE;
}

gboolean ws_history_redo(WsHistory *h)
{
    if (h->now + 1 >= h->state->len)
        return FALSE;
    h->now++;
    ws_history_seal(h);
    return TRUE;
}

const char *ws_history_undo_name(const WsHistory *h)
{
    return h->now > 0 ? at(h, h->now)->name : NULL;
}

const char *ws_history_redo_name(const WsHistory *h)
{
    return h->now + 1 < h->state->len ? at(h, h->now + 1)->name : NULL;
}

guint ws_history_n(const WsHistory *h)
{
    return h->state->len;
}

guint ws_history_now(const WsHistory *h)
{
    return h->now;
}

const char *ws_history_name(const WsHistory *h, guint state)
{
    return at(h, state)->name;
}

WsDesign *ws_history_state(const WsHistory *h, guint state)
{
    return at(h, state)->design;
}

WsDesign *ws_history_saved(const WsHistory *h)
{
    return h->saved >= 0 && (guint)h->saved < h->state->len ? at(h, (guint)h->saved)->design : NULL;
}

gboolean ws_history_dirty(const WsHistory *h)
{
    return h->state->len && h->saved != (gint)h->now;
}

void ws_history_mark_saved(WsHistory *h)
{
    h->saved = (gint)h->now;
    ws_history_seal(h);
}
