/* What a play hangs on: the steps along one path of causes back from its end. Whatever leaves the
 * operations of that path and their order as they are cannot make the play shorter, as long as its
 * units serve requests in the same order. From the events that the clock wrote down. */
#pragma once

#include "clock/clock.h"

G_BEGIN_DECLS

typedef struct WsCritical WsCritical;

/* `r` is a play of `p` with all its events. NULL: it has none, or more than were kept. */
WsCritical *ws_critical_new(const WsProgram *p, const WsClockResult *r);
void ws_critical_free(WsCritical *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsCritical, ws_critical_free)

/* Whether an operation of a step of the design ("groups/mma/body/0") is on it, or stands between
 * two that follow each other on it in the time of one agent. */
gboolean ws_critical_has(const WsCritical *c, const char *step);

G_END_DECLS
