/* The hint form of a loop: `num_stages` and straight-line groups with a stage, an order and an
 * executor each. What follows from it (pipes, waits, releases, rounds ahead, bodies of executors)
 * is made here as ordinary steps, once: elaboration takes those, and "make explicit" writes them.
 */
#pragma once

#include "model/design.h"

G_BEGIN_DECLS

gboolean ws_hint_in(const WsDesign *design); /* some loop has `num_stages` */
/* The same kernel without hints. With `places` each step's id is the place that it has in `design`
 * (what is made: the place of its group, # and a word), so that findings lead there; such a design
 * is for elaboration alone. NULL: a hint is not possible, and `findings` says why. Transfer full.
 */
WsDesign *ws_hint_explicit(const WsDesign *design, gboolean places, WsFindings *findings);

G_END_DECLS
