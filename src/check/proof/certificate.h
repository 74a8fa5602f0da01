/* Inside src/check: the certificate of a proof, in the form of docs/soundness.md section 8. The
 * search says what it meets; the states are told in terms of the program. */
#pragma once

#include "check/proof/bits/bits.h"

G_BEGIN_DECLS

WsCertificate *ws_certificate_new(void);
void ws_certificate_free(WsCertificate *c);
/* The search begins (again): all that was said is forgotten. */
void ws_certificate_begin(WsCertificate *c, WsBits *b);
/* The state at hand is node `number` and asks about `asked`; said again, nothing happens. */
void ws_certificate_node(WsCertificate *c, WsBits *b, guint number, const WsInstance *asked);
/* The answer leads from node `from` (-1: the beginning) to node `to` (-1: the end). */
void ws_certificate_edge(WsCertificate *c, const WsBits *b, gint from, WsAsk ask,
                         const WsInstance *asked, gint64 answer, gint to);
/* The whole text once the search has closed, NULL if it has no such form. Caller frees. */
char *ws_certificate_text(const WsCertificate *c, const WsBits *b);

G_END_DECLS
