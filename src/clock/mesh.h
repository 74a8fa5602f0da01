/* A launch of all devices of a mesh: their values, and what their CTAs notify. Private to this
 * folder. */
#pragma once

#include "program/forward.h"

#include <glib.h>

G_BEGIN_DECLS

#define WS_CLOCK_DEVICES 16 /* that are played */

/* Launch values of each device: those of `v` but for its number. Free with
 * ws_clock_devices_free(). NULL, with a finding: it is no launch, or has more devices than are
 * played. */
WsLaunchValues **ws_clock_devices_new(const WsProgram *p, const WsLaunchValues *v, guint *n,
                                      WsFindings *findings);
void ws_clock_devices_free(WsLaunchValues **of_device);

/* What all CTAs of every device add to which flags, by the number of the notify in the course of
 * its agent. */
typedef struct WsFlagPlan WsFlagPlan;
/* Walks the agents that notify, of `grid` CTAs of each device. NULL, with an error: there are too
 * many steps, or an expression has no value. */
WsFlagPlan *ws_flag_plan_new(const WsProgram *p, WsLaunchValues *const *of_device, guint n,
                             gint64 grid, GError **error);
void ws_flag_plan_free(WsFlagPlan *plan);

G_END_DECLS
