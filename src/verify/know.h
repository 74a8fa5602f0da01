/* What is known by whom: the table of docs/soundness.md section 4. */
#pragma once

#include "verify/state.h"

G_BEGIN_DECLS

typedef struct {
    guint64 bit[MAX_WORDS];
} Set;

Set set_of(guint n, const guint *holder);
Set know_of(guint inst, gboolean leader); /* who has to know for an access of `inst` */
Set all_of(guint inst);
gboolean knows(const Plan *plan, const State *s, guint item, const Set *all);
gboolean knows_some(const Plan *plan, const State *s, guint item, const Set *some);
gboolean fenced(const Plan *plan, const State *s, guint item, const Set *all);
void learn(const Plan *plan, State *s, const Set *from, const Set *from_q, guint n,
           const guint *to);
/* An event of `item`, known to `by` (NULL: nobody yet); `generic`: others need a proxy fence. */
void happen(const Plan *plan, State *s, guint item, const Set *by, gboolean generic);
void make_known(const Plan *plan, State *s, guint item, const Set *to); /* K gains */
void forget_holder(const Plan *plan, State *s, guint from, guint to);   /* acc moves to done */
void fence_proxy(const Plan *plan, State *s, guint inst, gboolean leader);

static inline guint holder(guint inst, guint which)
{
    return HOLDERS * inst + which;
}
static inline void put_bit(guint64 *set, guint i, gboolean on)
{
    set[i / 64] = on ? set[i / 64] | (guint64)1 << i % 64 : set[i / 64] & ~((guint64)1 << i % 64);
}
static inline gboolean has_bit(const guint64 *set, guint i)
{
    return (set[i / 64] >> i % 64) & 1;
}

G_END_DECLS
