/* Sets of holders: docs/soundness.md section 4. */
#include "verify/know.h"

#include <string.h>

Set set_of(guint n, const guint *h)
{
    Set s = { 0 };
    for (guint i = 0; i < n; i++)
        put_bit(s.bit, h[i], TRUE);
    return s;
}

Set know_of(guint inst, gboolean leader)
{
    return set_of(leader ? 1 : 2, (const guint[]){ holder(inst, LEAD), holder(inst, LANES) });
}

Set all_of(guint inst)
{
    return set_of(4, (const guint[]){ holder(inst, LEAD), holder(inst, LANES), holder(inst, DID),
                                      holder(inst, BACK) });
}

static gboolean contains(const Plan *plan, const guint64 *set, const Set *all)
{
    for (guint w = 0; w < plan->words; w++)
        if (all->bit[w] & ~set[w])
            return FALSE;
    return TRUE;
}

static gboolean meets(const Plan *plan, const guint64 *set, const Set *some)
{
    for (guint w = 0; w < plan->words; w++)
        if (some->bit[w] & set[w])
            return TRUE;
    return FALSE;
}

gboolean knows(const Plan *plan, const State *s, guint item, const Set *all)
{
    return contains(plan, s->k + (gsize)item * plan->words, all);
}

gboolean knows_some(const Plan *plan, const State *s, guint item, const Set *some)
{
    return meets(plan, s->k + (gsize)item * plan->words, some);
}

gboolean fenced(const Plan *plan, const State *s, guint item, const Set *all)
{
    return contains(plan, s->q + (gsize)item * plan->words, all);
}

void learn(const Plan *plan, State *s, const Set *from, const Set *from_q, guint n, const guint *to)
{
    for (guint item = 0; item < plan->n_items; item++) {
        guint64 *k = s->k + (gsize)item * plan->words, *q = s->q + (gsize)item * plan->words;
        const gboolean in_k = meets(plan, k, from), in_q = meets(plan, q, from_q);
        for (guint i = 0; i < n; i++) {
            if (in_k)
                put_bit(k, to[i], TRUE);
            if (in_q)
                put_bit(q, to[i], TRUE);
        }
    }
}

void happen(const Plan *plan, State *s, guint item, const Set *by, gboolean generic)
{
    guint64 *k = s->k + (gsize)item * plan->words, *q = s->q + (gsize)item * plan->words;
    for (guint w = 0; w < plan->words; w++) {
        k[w] = by ? by->bit[w] : 0;
        q[w] = generic ? 0 : ~(guint64)0;
    }
    s->flight[item] = 0;
}

void make_known(const Plan *plan, State *s, guint item, const Set *to)
{
    for (guint w = 0; w < plan->words; w++)
        s->k[(gsize)item * plan->words + w] |= to->bit[w];
}

void forget_holder(const Plan *plan, State *s, guint from, guint to)
{
    for (guint item = 0; item < plan->n_items; item++) {
        guint64 *both[] = { s->k + (gsize)item * plan->words, s->q + (gsize)item * plan->words };
        for (guint i = 0; i < 2; i++) {
            put_bit(both[i], to, has_bit(both[i], from));
            put_bit(both[i], from, FALSE);
        }
    }
}

void fence_proxy(const Plan *plan, State *s, guint inst, gboolean leader)
{
    for (guint item = 0; item < plan->n_items; item++) {
        const guint64 *k = s->k + (gsize)item * plan->words;
        for (guint which = LEAD; which <= (leader ? LEAD : DID); which++)
            if (has_bit(k, holder(inst, which)))
                put_bit(s->q + (gsize)item * plan->words, holder(inst, which), TRUE);
    }
}
