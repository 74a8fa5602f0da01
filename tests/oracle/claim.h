/* The launch that a finding claims goes wrong: read from its words, and judged there. */
#pragma once

#include "model/finding.h"
#include "oracle.h"

G_BEGIN_DECLS

typedef enum {
    CLAIM_UNKNOWN, /* the oracle does not know, or only the text of PTX is against it */
    CLAIM_HOLDS,
    CLAIM_WRONG, /* there is no such launch, or it is right */
} ClaimKind;

/* `text`: what goes wrong there, or what is wrong with the claim; NULL if unknown. Caller frees. */
ClaimKind claim_judge(const WsProgram *p, const WsFinding *f, guint *verdict, char **text);
/* The same of the first error that a play has found; what follows it may be its consequence. Its
 * rule and sentence stand before the text. */
ClaimKind claim_judge_first(const WsProgram *p, const WsFindings *findings, char **text);
GArray *claim_elements_new(void); /* OracleElement */
/* The launch of these words ("N = 2, CTA 0 of 2 (tiles 0 2)"), in which a CTA has so many tiles:
 * its sizes, and in `options` its tiles and elements, which are appended to `chosen` and live as
 * long. NULL: there is none. Caller frees. */
WsLaunchValues *claim_launch(const WsProgram *p, const char *sizes, gint64 tiles, GArray *chosen,
                             OracleOptions *options);

G_END_DECLS
