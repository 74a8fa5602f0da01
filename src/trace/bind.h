/* Slots, uses and turns of the executions of one CTA of a trace: which arrival or transfer ended
 * which wait. One walk of each agent evaluates the operations' own expressions; nothing is derived
 * a second time. */
#pragma once

#include "program/walk/walk.h"
#include "trace/trace.h"

G_BEGIN_DECLS

/* What an operation's expressions come to in one round. */
typedef struct {
    guint op;
    gint32 round;
    gint64 element, use, slot, turn; /* of its barrier; -1 unknown */
    guint n_access;
    struct {
        gint64 element, stage, use;
    } access[]; /* n_access of them, 4 at most */
} WsBound;

typedef struct {
    guint agent, op;
    gint32 round;
} WsTracePlace; /* an execution */

typedef struct WsBind WsBind;

/* Values of the operations' expressions in the tiles [tile0, tile1] of the CTA `cta` (index) of the
 * trace; NULL if they cannot be told. Borrows both until it is freed. */
WsBind *ws_bind_new(const WsProgram *p, const WsTrace *t, guint cta, gint32 tile0, gint32 tile1);
/* The same of what is on barriers alone, without accesses: less than half of it, where every round
 * of a long trace is asked for. */
WsBind *ws_bind_new_barriers(const WsProgram *p, const WsTrace *t, guint cta, gint32 tile0,
                             gint32 tile1);
/* The same of the rounds [lo, hi] of each operation alone, by its index: of the rest nothing is
 * told. */
WsBind *ws_bind_new_within(const WsProgram *p, const WsTrace *t, guint cta, gint32 tile0,
                           gint32 tile1, const gint32 *lo, const gint32 *hi);
/* The same of what notifies and awaits flags of devices alone, of all tiles: element and, as `use`,
 * how much; `slot` is the device that is notified, -1 all. Of what depends on data nothing. */
WsBind *ws_bind_new_flags(const WsProgram *p, const WsTrace *t, guint cta);
guint ws_bind_size(const WsBind *bind); /* executions that it tells of */
void ws_bind_free(WsBind *bind);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsBind, ws_bind_free)
const WsBound *ws_bind_get(const WsBind *bind, guint op, gint32 round);
/* Executions that contribute to completion `turn` of a barrier's slot; NULL if none. For arrivals,
 * which the GPU does not record, the place of the last recorded operation before them too. */
const GArray *ws_bind_contributors(const WsBind *bind, guint barrier, gint64 element, gint64 slot,
                                   gint64 turn);

G_END_DECLS
