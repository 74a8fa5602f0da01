/* The player of a document's witness: which finding is shown, at which position, and whether it is
 * running. One per document; panels and scores listen to it. The witness is made in a thread on the
 * immutable program; a new design drops it. */
#pragma once

#include "check/witness/witness.h"
#include "ui/document/document.h"

G_BEGIN_DECLS

#define WS_TYPE_PLAYER ws_player_get_type()
G_DECLARE_FINAL_TYPE(WsPlayer, ws_player, WS, PLAYER, GObject)

/* Signals: "loaded" (another witness, or none, or another list of findings), "moved" (position or
 * running are new). */

WsPlayer *ws_player_of(WsDocument *document); /* borrowed */

/* Findings that may have a witness: errors of class P. */
guint ws_player_n_choices(WsPlayer *p);
const WsFinding *ws_player_choice(WsPlayer *p, guint i); /* borrowed until the document changes */
guint ws_player_chosen(WsPlayer *p);
void ws_player_choose(WsPlayer *p, guint i);
/* Shows the witness of this finding of the document; FALSE if it has none. */
gboolean ws_player_choose_finding(WsPlayer *p, const WsFinding *finding);
/* Nothing is made before somebody looks. */
void ws_player_want(WsPlayer *p);

const WsWitness *ws_player_witness(WsPlayer *p); /* borrowed; NULL: none (yet) */
const char *ws_player_why(WsPlayer *p);          /* why there is none; NULL: none is asked for */
guint ws_player_position(WsPlayer *p);
void ws_player_set_position(WsPlayer *p, guint position); /* stops */
void ws_player_step(WsPlayer *p, gint by);                /* stops */
gboolean ws_player_running(WsPlayer *p);
void ws_player_run(WsPlayer *p, gboolean run); /* from the end: from the start again */

G_END_DECLS
