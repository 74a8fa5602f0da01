/* Judges certificates of proofs (docs/soundness.md section 8). Shares with the engine that writes
 * them the reader of designs and the elaboration only, and was written from that page alone. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

typedef enum {
    WS_VERIFIED = 0,
    WS_VERIFY_REJECTED = 1,   /* the certificate, or the program, is wrong */
    WS_VERIFY_UNREADABLE = 2, /* not a certificate */
    WS_VERIFY_REFUSED = 3,    /* something that the verifier does not handle */
} WsVerifyAnswer;

typedef struct {
    WsVerifyAnswer answer;
    char *reason;      /* NULL if verified: where and why */
    char *assumptions; /* "kt >= 1", joined by ", "; "" if there is none */
    char *granted;     /* what the design says that its import took for granted, in the same way */
    guint nodes, n_assumptions, policy;
    gboolean laps; /* uses that names decide are so up to whole pairs of laps */
    gint64 micros; /* time of the verification */
} WsVerification;

/* Judges the text of a certificate of `p`. Transfer full; never NULL. */
WsVerification *ws_verify(const WsProgram *p, const char *certificate);
void ws_verification_free(WsVerification *v);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsVerification, ws_verification_free)
/* One line for people, without LF. Caller frees. */
char *ws_verification_text(const WsVerification *v);

G_END_DECLS
