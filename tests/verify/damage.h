/* Certificates (docs/soundness.md section 8) damaged on purpose: for the test that the verifier
 * rejects them. Knows the form of the text only. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

enum { WS_DAMAGE_KINDS = 17 };

/* The text with one fault, chosen by the seed; another seed may choose the same one. What leaves
 * the meaning as it is (the order of lines of one kind, the policy, what is said of a symbol that
 * no node names, an edge to a node that is much alike, or from the end) is not done. NULL if
 * this text has no such fault of the chosen kind. `what` says what was done. Caller frees both. */
char *ws_damage(const char *text, guint32 seed, char **what);
const char *ws_damage_kind(guint32 seed);

/* TRUE if a damaged text may be accepted: it says the same but that its nodes know less of names,
 * or that an answer leads to a node that asks the same as the one before and goes on as that does.
 * An inductive set stays one when it is made larger so, as long as every answer still leads into
 * it. */
gboolean ws_damage_is_harmless(const char *text, const char *damaged);

G_END_DECLS
