/* The proof as a check asks for it: within its work, merged and then exact, under its policy or a
 * stricter one. */
#pragma once

#include "check/check.h"
#include "check/proof/bits/bits.h"

G_BEGIN_DECLS

guint64 ws_prove_work(const WsCheckOptions *o); /* what a proof, and all plays, may take */
WsBitOptions ws_prove_options(const WsCheckOptions *o);
/* An alarm of the merged search is cleared by the exact one, or has its smallest example there.
 * Takes the proof; adds to *work. */
WsProof *ws_prove_exactly(const WsProgram *p, const WsBitOptions *options, WsProof *proof,
                          guint64 *work);
/* Of WsPolicy what the program has operations for: without one it is the same either way. */
guint ws_prove_concerned(const WsProgram *p);
/* Whether what is proved is proved without what these of WsPolicy take as harmless, too: plays find
 * that only where one of the launches played shows it. Adds to *work. */
gboolean ws_proved_under(const WsProgram *p, const WsCheckOptions *o, guint policy, guint64 *work);

G_END_DECLS
