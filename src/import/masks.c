#include "import/recognise.h"

/* A store to shared memory under a mask leaves bytes as they were. Nothing is said of masks, so it
 * is read only where all that ever reads the buffer are loads under a mask, of which it is noted
 * that they leave out the same bytes. */

static gint root_of(const WsRead *r, gint buffer)
{
    for (guint i = 0; i < r->buffers->len && buffer >= 0 && (guint)buffer < r->buffers->len; i++) {
        const gint over = g_array_index(r->buffers, WsReadBuffer, buffer).over;
        if (!over)
            break;
        buffer = over - 1;
    }
    return buffer;
}

static gboolean names(const WsRead *r, const WsPlace *p, gint root)
{
    return !p->in_value && p->object >= 0 && root_of(r, p->object) == root;
}

static gboolean touches(const WsRead *r, const WsReadStep *s, gint root)
{
    const WsReadPlaces places = ws_read_row(s->kind)->places;
    const gboolean two = places == WS_READ_PLACES_A_B || places == WS_READ_PLACES_A_BUFFER,
                   tile = s->kind == WS_READ_CLAIM || s->kind == WS_READ_TAKE;
    gboolean is = (places == WS_READ_PLACES_BUFFER || places == WS_READ_PLACES_A_BUFFER || tile) &&
                  names(r, &s->buffer, root);
    is |= two && names(r, &s->a, root);
    is |= places == WS_READ_PLACES_A_B && names(r, &s->b, root);
    for (guint k = 0; s->places && k < s->places->len; k++)
        is |= names(r, &g_array_index(s->places, WsPlace, k), root);
    return is;
}

/* The first step that uses the buffer, but for stores and loads under a mask; NULL: there is none.
 */
static const WsReadStep *other_use(const WsRead *r, const GPtrArray *list, gint root)
{
    const WsReadStep *found = NULL;
    for (guint i = 0; list && i < list->len && !found; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        const gboolean apart = s->off || (s->kind == WS_READ_WRITE && !s->reduce && !s->where) ||
                               (s->kind == WS_READ_READ && s->masked);
        found = !apart && touches(r, s, root) ? s : other_use(r, s->body, root);
        found = found ? found : other_use(r, s->other, root);
    }
    return found;
}

static void judge(WsRead *r, const WsReadStep *store)
{
    const gint root = root_of(r, store->buffer.object);
    const WsReadStep *use = NULL;
    for (guint g = 0; g < r->groups->len && !use; g++)
        use = other_use(r, ((WsReadGroup *)g_ptr_array_index(r->groups, g))->body, root);
    const guint line = store->line;
    if (!use)
        ws_source_granted(r, ws_source_format(r,
                                              "what the store of line %u leaves out under its mask "
                                              "is left out by all loads of it, too",
                                              line));
    else
        ws_source_unread(
            r, line, store->column, store->end_line,
            ws_source_format(r, "a store under a mask, of bytes that line %u uses without one,",
                             use->line),
            line && line <= r->n_lines ? r->line[line - 1] : "");
}

static void each(WsRead *r, const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (s->kind == WS_READ_WRITE && s->masked && !s->off && !s->reduce &&
            !s->where) /* places leave out what its mask does */
            judge(r, s);
        each(r, s->body);
        each(r, s->other);
    }
}

void ws_source_masks(WsRead *r)
{
    for (guint g = 0; g < r->groups->len; g++)
        each(r, ((WsReadGroup *)g_ptr_array_index(r->groups, g))->body);
}
