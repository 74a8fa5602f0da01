/* What the search does to every design before it is played, and what it does not keep. Private to
 * src/search. */
#pragma once

#include "model/design.h"
#include "program/program.h"

G_BEGIN_DECLS

/* The design with every counted loop begun by what runs ahead at its end (ws_edit_roll), where that
 * can be said; *rolled: there was such a loop. Transfer full. */
WsDesign *ws_search_normal(const WsDesign *design, gboolean *rolled);

/* Whether ptxas is known to serialise the products (C7514, C7515): one is in flight where two
 * rounds of a loop meet, something that is no product reads its accumulator in that loop, and it
 * was issued in a branch or is over before one behind it is. Tried with CUDA 13.0. FALSE says
 * nothing. */
gboolean ws_search_serialises(const WsProgram *p);

G_END_DECLS
