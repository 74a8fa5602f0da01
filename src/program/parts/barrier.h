/* Barriers: mbarriers in shared memory and named ones. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

typedef enum { WS_BARRIER_MBARRIER, WS_BARRIER_NAMED } WsBarrierKind;
struct WsBarrier {
    char *name;
    char *path;
    WsBarrierKind kind;
    gboolean flag;  /* an mbarrier that stands for a flag of a core: one bit for each slot, set by
                       queue `from`, taken away by the wait of queue `to` */
    guint from, to; /* flag: queues of the core (target/core.h) */
    gint first_id;  /* flag: hardware id of element 0 slot 0; -1 otherwise */
    gboolean is_array, derived; /* derived: pipe barriers, sync group / cta ids */
    guint array, slots;
    char *slots_name; /* as stages_name */
    gboolean *ready;  /* [array]: init ready */
    guint *arrivals;  /* [array]: count in force (mbarrier) */
    guint *arrivals_derived;
    guint *threads; /* [array]: threads in force (named) */
    guint *threads_derived;
    gint *hw_id;    /* [array]: named: hardware id; -1 for mbarriers */
    guint64 offset; /* mbarrier: byte offset of element 0 slot 0; slot s of element e lies at
                       offset + 8 * (e * slots + s) */
    guint64 expected_bytes; /* tx bytes of one completion, 0 if none (for display and budgets) */
};

G_END_DECLS
