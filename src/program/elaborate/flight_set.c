#include "program/flight.h"

#include <string.h>

#define HEAD (sizeof(WsFlightHead) / sizeof(guint64))

WsFlightHead *ws_flight_head(guint64 *queue)
{
    return (WsFlightHead *)queue;
}

guint64 *ws_flight_open(const WsFlightShape *shape, guint64 *queue)
{
    return queue + HEAD;
}

guint64 *ws_flight_rest(const WsFlightShape *shape, guint64 *queue)
{
    return queue + HEAD + shape->words;
}

guint64 *ws_flight_group(const WsFlightShape *shape, guint64 *queue, guint i)
{
    return queue + HEAD + 2 * shape->words + i * (1 + shape->words);
}

gsize ws_flight_words(const WsFlightShape *shape)
{
    return HEAD + 2 * shape->words + shape->groups * (1 + shape->words);
}

static void unite(const WsFlightShape *shape, guint64 *into, const guint64 *set)
{
    for (guint i = 0; i < shape->words; i++)
        into[i] |= set[i];
}

static void empty(const WsFlightShape *shape, guint64 *set)
{
    memset(set, 0, sizeof(guint64) * shape->words);
}

/* --- operations ------------------------------------------------------------------------------ */

void ws_flight_issue(const WsFlightShape *shape, guint64 *queue, guint op, gboolean step)
{
    WsFlightHead *head = ws_flight_head(queue);
    ws_flight_open(shape, queue)[op / 64] |= G_GUINT64_CONSTANT(1) << op % 64;
    if (step && head->open_steps < WS_FLIGHT_UNTOLD)
        head->open_steps++;
}

void ws_flight_commit(const WsFlightShape *shape, guint64 *queue)
{
    WsFlightHead *head = ws_flight_head(queue);
    guint64 *open = ws_flight_open(shape, queue), *rest = ws_flight_rest(shape, queue);
    if (head->lost || shape->groups == 0) {
        unite(shape, rest, open);
        head->rest = TRUE;
    } else {
        guint64 *newest = ws_flight_group(shape, queue, 0);
        if (head->n_groups == shape->groups) {
            unite(shape, rest, ws_flight_group(shape, queue, shape->groups - 1) + 1);
            head->rest = TRUE;
            head->n_groups--;
        }
        memmove(ws_flight_group(shape, queue, 1), newest,
                sizeof(guint64) * (shape->groups - 1) * (1 + shape->words));
        newest[0] = head->open_steps;
        memcpy(newest + 1, open, sizeof(guint64) * shape->words);
        head->n_groups++;
    }
    head->open_steps = 0;
    empty(shape, open);
}

/* Nothing is known of the order: what is committed may go and may stay. */
static gint64 wait_lost(const WsFlightShape *shape, guint64 *queue, gint64 n, guint64 *retired,
                        guint64 *stays)
{
    WsFlightHead *head = ws_flight_head(queue);
    guint64 *rest = ws_flight_rest(shape, queue);
    unite(shape, retired, rest);
    for (guint i = 0; n > 0 && i < head->n_groups; i++)
        unite(shape, stays, ws_flight_group(shape, queue, i) + 1);
    if (n > 0) {
        unite(shape, stays, rest);
        return -1;
    }
    empty(shape, rest);
    head->rest = head->lost = FALSE;
    return 0;
}

gint64 ws_flight_wait(const WsFlightShape *shape, guint64 *queue, gint64 n, guint64 *retired,
                      guint64 *stays, gboolean *reached)
{
    WsFlightHead *head = ws_flight_head(queue);
    gint64 steps = 0;
    empty(shape, retired);
    empty(shape, stays);
    unite(shape, stays, ws_flight_open(shape, queue));
    *reached = head->rest || (gint64)head->n_groups > n;
    if (head->lost || (head->rest && n > shape->groups))
        return wait_lost(shape, queue, n, retired, stays);
    for (guint i = 0; i < head->n_groups; i++) {
        guint64 *group = ws_flight_group(shape, queue, i);
        unite(shape, i < n ? stays : retired, group + 1);
        if (i < n)
            steps = steps < 0 || group[0] == WS_FLIGHT_UNTOLD ? -1 : steps + (gint64)group[0];
        if (i >= n)
            memset(group, 0, sizeof(guint64) * (1 + shape->words));
    }
    unite(shape, retired, ws_flight_rest(shape, queue));
    empty(shape, ws_flight_rest(shape, queue));
    head->rest = FALSE;
    head->n_groups = MIN(head->n_groups, (guint64)n);
    return steps;
}

/* --- sets ------------------------------------------------------------------------------------ */

static WsFlightSet set_new(const WsFlightShape *shape, guint n)
{
    return (WsFlightSet){
        .shape = shape,
        .word = g_array_sized_new(FALSE, TRUE, sizeof(guint64), (guint)shape->size * n),
    };
}

void ws_flight_set_clear(WsFlightSet *s)
{
    g_clear_pointer(&s->word, g_array_unref);
    s->n = 0;
}

WsFlightSet ws_flight_set_copy(const WsFlightSet *s)
{
    WsFlightSet copy = *s;
    copy.word = g_array_copy(s->word);
    return copy;
}

guint64 *ws_flight_at(const WsFlightSet *s, guint i)
{
    return &g_array_index(s->word, guint64, i * s->shape->size);
}

/* Where the queue stands in the table, or would stand. */
static guint8 *slot_of(WsFlightSet *s, const guint64 *queue)
{
    const guint mask = G_N_ELEMENTS(s->slot) - 1;
    guint64 hash = 0;
    for (gsize i = 0; i < s->shape->size; i++)
        hash = (hash ^ queue[i]) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15), hash ^= hash >> 29;
    for (guint at = hash & mask;; at = (at + 1) & mask) {
        if (!s->slot[at] ||
            memcmp(ws_flight_at(s, s->slot[at] - 1u), queue, sizeof *queue * s->shape->size) == 0)
            return &s->slot[at];
    }
}

/* `slot`: where slot_of() says that it would stand. */
static void append(WsFlightSet *s, const guint64 *queue, guint8 *slot)
{
    *slot = (guint8)++s->n;
    g_array_append_vals(s->word, queue, (guint)s->shape->size);
}

void ws_flight_set_init(WsFlightSet *s, const WsFlightShape *shape)
{
    g_autofree guint64 *none = g_new0(guint64, shape->size);
    *s = set_new(shape, 1);
    append(s, none, slot_of(s, none));
}

/* All queues of the set as one whose groups are the rest. How many steps its open group has can be
 * told where they agree; a count that only grew would take a round of every loop for each step. */
static void lose(WsFlightSet *s)
{
    const WsFlightShape *shape = s->shape;
    g_autofree guint64 *all = g_new0(guint64, shape->size);
    WsFlightHead *head = ws_flight_head(all);
    for (guint i = 0; i < s->n; i++) {
        guint64 *queue = ws_flight_at(s, i);
        head->open_steps = i == 0 || head->open_steps == ws_flight_head(queue)->open_steps
                               ? ws_flight_head(queue)->open_steps
                               : WS_FLIGHT_UNTOLD;
        unite(shape, ws_flight_open(shape, all), ws_flight_open(shape, queue));
        unite(shape, ws_flight_rest(shape, all), ws_flight_rest(shape, queue));
        for (guint k = 0; k < ws_flight_head(queue)->n_groups; k++)
            unite(shape, ws_flight_rest(shape, all), ws_flight_group(shape, queue, k) + 1);
    }
    head->rest = head->lost = TRUE;
    g_array_set_size(s->word, 0);
    memset(s->slot, 0, sizeof s->slot);
    s->n = 0;
    append(s, all, slot_of(s, all));
}

static gboolean is_lost(const WsFlightSet *s)
{
    return s->n == 1 && ws_flight_head(ws_flight_at(s, 0))->lost;
}

static gboolean add(WsFlightSet *s, const guint64 *queue)
{
    const gsize size = s->shape->size;
    gboolean was_lost = is_lost(s);
    guint8 *slot = slot_of(s, queue);
    if (*slot)
        return FALSE;
    g_autofree guint64 *before = was_lost ? g_memdup2(ws_flight_at(s, 0), size * 8) : NULL;
    gboolean lost = was_lost || ((const WsFlightHead *)queue)->lost || s->n == WS_FLIGHT_STATES;
    append(s, queue, slot);
    if (lost)
        lose(s);
    return !was_lost || memcmp(before, ws_flight_at(s, 0), size * 8) != 0;
}

gboolean ws_flight_join(WsFlightSet *s, const WsFlightSet *other)
{
    gboolean more = FALSE;
    for (guint i = 0; i < other->n; i++)
        more = add(s, ws_flight_at(other, i)) || more;
    return more;
}

void ws_flight_tidy(WsFlightSet *s)
{
    WsFlightSet each = set_new(s->shape, s->n);
    ws_flight_join(&each, s);
    ws_flight_set_clear(s);
    *s = each;
}
