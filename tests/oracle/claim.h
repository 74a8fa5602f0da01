/* The launch that a finding claims goes wrong: read from its words, and judged there. */
#pragma once

#include "model/finding.h"
#include "oracle.h"

G_BEGIN_DECLS

/* What is wrong with the claim that the launch of the finding goes wrong: no launch, or a right
 * one. NULL: it does go wrong, or the oracle does not know. Caller frees. */
char *claim_wrong(const WsProgram *p, const WsFinding *f);

G_END_DECLS
