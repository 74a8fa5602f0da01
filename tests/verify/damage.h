/* Certificates (docs/soundness.md section 8) damaged on purpose: for the test that the verifier
 * rejects them. Knows the form of the text only. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

enum { WS_DAMAGE_KINDS = 14 };

/* The text with one fault, chosen by the seed; another seed may choose the same one. Every fault is
 * one that no verifier may accept: what could leave the meaning as it is (the order of lines of one
 * kind, the policy, what is said of a symbol that no node names, knowledge that no answer needs, an
 * answer that an assumption rules out, an edge to a node whose instances stand at the same places)
 * is not done. NULL if this text has no such fault of the chosen kind.
 * `what` says what was done. Caller frees both. */
char *ws_damage(const char *text, guint32 seed, char **what);
const char *ws_damage_kind(guint32 seed);

G_END_DECLS
