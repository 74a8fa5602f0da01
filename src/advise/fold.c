/* Three periods compared, and the last of them folded. */
#include "advise/fold.h"

#include <math.h>

#define TIGHT 1e-6 /* cycles */

static guint of_hash(gconstpointer key)
{
    const WsEventOf *o = key;
    return (((((guint)o->agent * 31u) + o->cta) * 4099u + o->op) * 1021u + o->part) * 37u + o->sub;
}

static gboolean of_equal(gconstpointer a, gconstpointer b)
{
    const WsEventOf *x = a, *y = b;
    return x->agent == y->agent && x->cta == y->cta && x->op == y->op && x->part == y->part &&
           x->sub == y->sub;
}

static const WsClockEvent *event_at(const WsEvents *e, guint i)
{
    return &g_array_index(e->event, WsClockEvent, i);
}

WsFold *ws_fold_new(const WsEvents *e)
{
    WsFold *f = g_new0(WsFold, 1);
    g_autoptr(GHashTable) ids = g_hash_table_new(of_hash, of_equal);
    g_autoptr(GPtrArray) lists = g_ptr_array_new();
    f->of = g_array_new(FALSE, FALSE, sizeof(WsEventOf));
    f->arc = g_array_new(FALSE, FALSE, sizeof(WsFoldArc));
    f->id = g_new0(guint, e->event->len);
    f->number = g_new0(guint, e->event->len);
    for (guint i = 1; i < e->event->len; i++) {
        const WsEventOf *of = &event_at(e, i)->of;
        gpointer known = g_hash_table_lookup(ids, of);
        if (!known) {
            g_ptr_array_add(lists, g_array_new(FALSE, FALSE, sizeof(guint)));
            known = GUINT_TO_POINTER(lists->len);
            g_hash_table_insert(ids, (gpointer)of, known);
        }
        f->id[i] = GPOINTER_TO_UINT(known) - 1;
        GArray *list = lists->pdata[f->id[i]];
        f->number[i] = list->len;
        g_array_append_val(list, i);
    }
    f->n_ids = lists->len;
    f->events = (GArray **)g_ptr_array_free(g_steal_pointer(&lists), FALSE);
    return f;
}

void ws_fold_free(WsFold *f)
{
    if (!f)
        return;
    for (guint i = 0; i < f->n_ids; i++)
        g_array_unref(f->events[i]);
    g_free(f->events);
    g_array_unref(f->of);
    g_array_unref(f->arc);
    g_free(f->id);
    g_free(f->number);
    g_free(f);
}

/* Of what executions are: the first of the first period, and how many a period has. */
typedef struct {
    guint base, count, node;
} Share;

typedef struct {
    WsFold *f;
    const WsEvents *e;
    Share *share; /* by id */
} Fold;

/* Executions of an id until a time. */
static guint until(const Fold *x, guint id, double time)
{
    const GArray *list = x->f->events[id];
    guint low = 0, high = list->len;
    while (low < high) {
        const guint middle = (low + high) / 2;
        if (event_at(x->e, g_array_index(list, guint, middle))->at > time)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static gboolean count_all(Fold *x, const double time[4])
{
    for (guint id = 0; id < x->f->n_ids; id++) {
        Share *s = &x->share[id];
        s->base = until(x, id, time[0]);
        s->count =
            (until(x, id, time[3]) - s->base + 1) / 3; /* one at a border belongs to either */
        if (s->count && s->base + 3 * s->count > x->f->events[id]->len)
            return FALSE;
    }
    return TRUE;
}

/* Causes that are of the period; *count of them in `kept`, at most `most`. FALSE: one that is not
 * decides when the event is. */
static gboolean causes_of(const Fold *x, guint event, const WsEventCause **kept, guint most,
                          guint *count)
{
    const WsClockEvent *v = event_at(x->e, event);
    *count = 0;
    for (guint i = 0; i < v->n; i++) {
        const WsEventCause *c = &g_array_index(x->e->cause, WsEventCause, v->first + i);
        if (x->share[x->f->id[c->from]].count) {
            if (*count == most)
                return FALSE;
            kept[(*count)++] = c;
        } else if (event_at(x->e, c->from)->at + c->weight > v->at - TIGHT) {
            return FALSE;
        }
    }
    return TRUE;
}

#define MOST_CAUSES 64

static gint floor_div(gint64 a, gint64 b)
{
    return (gint)(a >= 0 ? a / b : -((-a + b - 1) / b));
}

static void note_shift(Fold *x, guint event, guint before)
{
    const double shift = event_at(x->e, event)->at - event_at(x->e, before)->at;
    x->f->shift_least = MIN(x->f->shift_least, shift);
    x->f->shift_most = MAX(x->f->shift_most, shift);
}

/* The execution `number` of an id in the third period, with those before it; its arcs. */
static gboolean fold_event(Fold *x, guint id, guint number)
{
    const WsEventCause *kept[3][MOST_CAUSES];
    guint n[3];
    const Share *own = &x->share[id];
    for (guint k = 0; k < 3; k++) {
        const guint event = g_array_index(x->f->events[id], guint, number - (2 - k) * own->count);
        if (k > 0)
            note_shift(x, event,
                       g_array_index(x->f->events[id], guint, number - (3 - k) * own->count));
        if (!causes_of(x, event, kept[k], MOST_CAUSES, &n[k]) || n[k] != n[0])
            return FALSE;
    }
    for (guint i = 0; i < n[2]; i++) {
        const guint from = x->f->id[kept[2][i]->from], at = x->f->number[kept[2][i]->from];
        const Share *s = &x->share[from];
        WsFoldArc arc = { 0,
                          own->node + (number - own->base) % own->count,
                          kept[2][i]->kind,
                          kept[2][i]->weight,
                          kept[2][i]->weight,
                          0 };
        for (guint k = 0; k < 2; k++) {
            const WsEventCause *c = kept[k][i];
            if (x->f->id[c->from] != from || c->kind != arc.kind ||
                x->f->number[c->from] + (2 - k) * s->count != at)
                return FALSE;
            arc.least = MIN(arc.least, c->weight);
            arc.most = MAX(arc.most, c->weight);
        }
        const gint period = floor_div((gint64)at - s->base, s->count);
        arc.from = s->node + (guint)((gint64)at - s->base - (gint64)period * s->count);
        arc.tokens = 2 - period;
        g_array_append_val(x->f->arc, arc);
    }
    return TRUE;
}

typedef struct {
    guint event, id, number;
} Ordered;

static gint by_event(gconstpointer a, gconstpointer b)
{
    const Ordered *x = a, *y = b;
    return (x->event > y->event) - (x->event < y->event);
}

gboolean ws_fold_try(WsFold *f, const WsEvents *e, const double time[4])
{
    g_autofree Share *share = g_new0(Share, f->n_ids + 1);
    g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(Ordered));
    Fold x = { f, e, share };
    f->n = 0;
    f->shift_least = INFINITY;
    f->shift_most = -INFINITY;
    g_array_set_size(f->of, 0);
    g_array_set_size(f->arc, 0);
    if (!count_all(&x, time))
        return FALSE;
    for (guint id = 0; id < f->n_ids; id++) {
        share[id].node = f->n;
        f->n += share[id].count;
        for (guint i = 0; i < share[id].count; i++) {
            const guint number = share[id].base + 2 * share[id].count + i;
            const Ordered one = { g_array_index(f->events[id], guint, number), id, number };
            g_array_append_val(order, one);
            g_array_append_val(f->of, event_at(e, one.event)->of);
        }
    }
    /* In the order of being caused: longest paths are found in few passes. */
    g_array_sort(order, by_event);
    for (guint i = 0; i < order->len; i++) {
        const Ordered *one = &g_array_index(order, Ordered, i);
        if (!fold_event(&x, one->id, one->number))
            return FALSE;
    }
    return f->n > 0;
}
