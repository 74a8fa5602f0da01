/* Whether a GPU takes a launch: what CUDA and its tensor maps refuse. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* CTAs of one launch at most: below 2^31, whole clusters. */
gint64 ws_launch_most(const WsProgram *p);
#define WS_LAUNCH_FLAGS_MOST (1 << 20) /* elements of a flag */
/* Adds a finding (R-LAUNCH) for everything that the launch of `grid` CTAs would be refused for:
 * their number, sizes and tiles that leave the 32 bits in which kernels count, extents and strides
 * that no tensor map takes. Nothing is launched with no CTA. */
void ws_launchable(const WsProgram *p, const WsLaunchValues *v, gint64 grid, WsFindings *findings);

G_END_DECLS
