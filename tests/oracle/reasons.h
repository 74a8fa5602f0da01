/* Why designs stay outside though they are right: the reasons of a run by how often they are met.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Reasons of the check are phrases; names and numbers in them do not make a difference. */
gboolean reasons_same(const char *a, const char *b);
void reasons_count(const char *reason, guint seed);
/* The most frequent ones with some seeds; NULL: none. Caller frees. */
char *reasons_text(guint most);

G_END_DECLS
