/* Inside src/check/play: launches in which some CTA has a wanted number of tiles. */
#pragma once

#include "check/play/case.h"

G_BEGIN_DECLS

/* Launches of a program that were looked at: the same sizes are asked for again and again. */
typedef struct WsLaunches WsLaunches;
WsLaunches *ws_launches_new(const WsProgram *p);
void ws_launches_free(WsLaunches *l);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsLaunches, ws_launches_free)
/* Values of a launch at these sizes ([vars]), a new reference; NULL and the reason in `why` (may be
 * NULL): its assumptions do not allow them. */
WsLaunchValues *ws_values_at(WsLaunches *l, const gint64 *now, char **why);
/* [vars]: the sizes of the rehearsal. Caller frees. */
gint64 *ws_rehearsal_sizes(const WsProgram *p);
/* The nth grid and CTA of a launch in which the CTA has `tiles` tiles, few CTAs first; FALSE past
 * the last that is looked at. */
gboolean ws_place(const WsProgram *p, const WsLaunchValues *values, guint tiles, guint nth,
                  gint64 *grid, gint64 *cta);
/* A case with `tiles` tiles at the sizes `now`. Where they give no CTA so many, sizes that are not
 * `locked` ([vars], may be NULL) are changed, in `now` too. One CTA that has all tiles is best.
 * NULL: none was found, and `why` (caller frees) may say the reason. */
WsCase *ws_case_with(WsLaunches *l, gint64 *now, const gboolean *locked, guint tiles, char **why);

G_END_DECLS
