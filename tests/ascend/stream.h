/* All orders of the queues of a core, for one stream at one trip count: an oracle that reads the
 * design and shares no code with elaboration or the check. */
#pragma once

#include "model/design.h"

G_BEGIN_DECLS

/* What goes wrong in some order, NULL if nothing does in any: a step that starts before an earlier
 * one of the stream on the same tile is over, or behind a later one; a flag that is set while it is
 * up, or left up; a wait that stands still. Steps of a queue start in turn and may overlap until a
 * flag is set behind them or a barrier of the queue comes. Tiles are taken whole: views are not
 * told apart. `rounds`: trip count of loops over tiles and of those whose count is a run name;
 * sizes are 64 times as much. The outcome "too large" and "not followed" begin with '?'. Caller
 * frees. */
char *stream_wrong(const WsDesign *design, gint64 rounds);
/* The same where run names after the first have another value, and steps of a tile may be in
 * another order than the stream's if it is one in all orders of the queues. Counters begin at 0. */
char *stream_wrong_of(const WsDesign *design, gint64 rounds, gint64 other);

G_END_DECLS
