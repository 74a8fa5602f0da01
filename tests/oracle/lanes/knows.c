/* What lanes know: bases that are shared, and what each did itself. */
#include "lanes.h"

#include <string.h>

enum { MOST_BASES = 8 }; /* that are told apart at once; more cost time */

/* Its clocks hold anything. */
static Base *base_new(Lab *L)
{
    Base *b = L->pool;
    if (b) {
        L->pool = b->next;
    } else {
        b = lanes_alloc(L, sizeof *b);
        b->c = clocks_new(L);
    }
    b->users = 1;
    b->id = ++L->n_ids;
    return b;
}

static void base_leave(Lab *L, Base *b)
{
    if (--b->users)
        return;
    b->next = L->pool;
    L->pool = b;
}

void lanes_know_nothing(Lab *L, Lanes *a)
{
    Base *b = base_new(L);
    clocks_clear(L, &b->c);
    b->users = a->n_lanes;
    a->lane = lanes_alloc(L, sizeof(Lane) * a->n_lanes);
    for (guint l = 0; l < a->n_lanes; l++) {
        a->lane[l].base = b;
        a->lane[l].who[0] = a->first + l;
        a->lane[l].who[1] = a->rows >= 0 ? (guint)a->rows + l : NOBODY;
    }
}

/* --- questions */

gboolean lane_knows_all(const Lane *by, const GArray *moments, guint64 *memo)
{
    const Clock *base = by->base->c.of[ORDER];
    gboolean alone = TRUE; /* the base does */
    if (*memo == by->base->id)
        return TRUE;
    for (guint i = 0; i < moments->len; i++) {
        const Moment *m = &g_array_index(moments, Moment, i);
        if (!lane_knows(by, ORDER, m->who, m->when))
            return FALSE;
        alone = alone && base[m->who] >= m->when;
    }
    if (alone)
        *memo = by->base->id;
    return TRUE;
}

static void joins_own(const Lane *lane, guint kind, Clock *into)
{
    for (guint i = 0; i < 2 && lane->who[i] != NOBODY; i++)
        into[lane->who[i]] = MAX(into[lane->who[i]], lane->own[i][kind]);
}

void lane_joins(const Lab *L, const Lane *lane, guint kind, Clock *into)
{
    clock_join(L, into, lane->base->c.of[kind]);
    joins_own(lane, kind, into);
}

void lane_joins_all(const Lab *L, const Lane *lane, Clocks *into, guint64 *memo)
{
    if (*memo != lane->base->id)
        clocks_join(L, into, &lane->base->c);
    *memo = lane->base->id;
    for (guint k = 0; k < N_CLOCKS; k++)
        joins_own(lane, k, into->of[k]);
}

void lanes_any(const Lab *L, const Lanes *a, guint step, guint kind, Clock *into)
{
    const Base *last = NULL;
    for (guint l = 0; l < a->n_lanes; l += step) {
        if (a->lane[l].base != last)
            clock_join(L, into, a->lane[l].base->c.of[kind]);
        last = a->lane[l].base;
        joins_own(&a->lane[l], kind, into);
    }
}

/* --- what all know */

static void meet(const Lab *L, Clocks *into, const Clocks *from)
{
    for (guint i = 0; i < L->width * N_CLOCKS; i++)
        into->of[0][i] = MIN(into->of[0][i], from->of[0][i]);
}

/* Of its own clocks a lane knows more than its base: what all others know of them counts. */
static Clock least_of(const Lanes *a, guint step, guint l, guint i, guint kind)
{
    const Lane *lane = &a->lane[l];
    const guint who = lane->who[i];
    const Base *last = NULL;
    Clock least = MAX(lane->own[i][kind], lane->base->c.of[kind][who]);
    for (guint m = 0; m < a->n_lanes; m += step) {
        const Base *b = a->lane[m].base;
        if (m != l && b != last)
            least = MIN(least, b->c.of[kind][who]);
        last = m != l ? b : last;
    }
    return least;
}

Lane lanes_common(Lab *L, const Lanes *a, guint step)
{
    Lane all = { .base = base_new(L), .who = { NOBODY, NOBODY } };
    Clocks *c = &all.base->c;
    const Base *last = a->lane[0].base;
    clocks_copy(L, c, &last->c);
    for (guint l = step; l < a->n_lanes; l += step) {
        if (a->lane[l].base != last)
            meet(L, c, &a->lane[l].base->c);
        last = a->lane[l].base;
    }
    for (guint l = 0; l < a->n_lanes; l += step) {
        const Lane *lane = &a->lane[l];
        if (lane->base->users > 1 && step < 32) /* another lane knows no more of it than the base */
            continue;
        for (guint i = 0; i < 2 && lane->who[i] != NOBODY; i++)
            for (guint k = 0; k < N_CLOCKS; k++)
                c->of[k][lane->who[i]] = least_of(a, step, l, i, k);
    }
    return all;
}

void lanes_common_free(Lab *L, Lane *common)
{
    base_leave(L, common->base);
}

/* --- changes */

typedef struct {
    Base *from[MOST_BASES], *to[MOST_BASES];
    guint n;
} Changed;

static Base *changed(Lab *L, Changed *all, Base *from, LaneChange change, gconstpointer data)
{
    for (guint i = 0; i < all->n; i++)
        if (all->from[i] == from)
            return all->to[i];
    Base *to = base_new(L);
    clocks_copy(L, &to->c, &from->c);
    change(L, &to->c, data);
    for (guint i = 0; i < all->n; i++) /* those that know the same now go on together */
        if (memcmp(to->c.of[0], all->to[i]->c.of[0], sizeof(Clock) * L->width * N_CLOCKS) == 0) {
            base_leave(L, to);
            to = all->to[i];
            to->users++;
            break;
        }
    if (all->n == MOST_BASES) {
        base_leave(L, all->from[--all->n]);
        base_leave(L, all->to[all->n]);
    }
    from->users++; /* or it could be another one meanwhile */
    all->from[all->n] = from;
    all->to[all->n++] = to;
    return to;
}

void lanes_change(Lab *L, Lanes *a, guint from, guint to, guint step, LaneChange change,
                  gconstpointer data)
{
    Changed all = { .n = 0 };
    for (guint l = from; l < to; l += step) {
        Base *old = a->lane[l].base, *new = changed(L, &all, old, change, data);
        new->users++;
        a->lane[l].base = new;
        base_leave(L, old);
    }
    for (guint i = 0; i < all.n; i++) {
        base_leave(L, all.from[i]);
        base_leave(L, all.to[i]);
    }
}

static void learn(const Lab *L, Clocks *c, gconstpointer what)
{
    clocks_join(L, c, what);
}

void lanes_learn(Lab *L, Lanes *a, guint from, guint to, guint step, const Clocks *what)
{
    lanes_change(L, a, from, to, step, learn, what);
}
