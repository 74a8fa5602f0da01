/* A verdict as a phrase (base/phrase.h), for those who show it in another language. `reason` and
 * `weakest` of a verdict are phrases, too: ws_phrase_text() makes their English. */
#pragma once

#include "check/check.h"

G_BEGIN_DECLS

char *ws_verdict_said(const WsVerdict *v); /* its English is ws_verdict_text(); caller frees */

/* It is proved no longer: the proof was of less than is asked. */
void ws_verdict_drop_proof(WsVerdict *v);

/* OUTSIDE, whatever the check found but budgets, if `p` holds lines of a kernel that an import did
 * not understand: they may do what is missed here, or undo what is shown. A proof of one whose
 * values were not read says so. */
void ws_verdict_unread(const WsProgram *p, WsVerdict *v, WsFindings *findings);

G_END_DECLS
