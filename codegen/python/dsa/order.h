/* The trees of all queues as the one stream that they were made of: steps by their paths. */
#pragma once

#include "program/forward.h"

#include <glib.h>

G_BEGIN_DECLS

/* Path of the step it comes from, "" for none. Borrowed. */
const char *ws_dsa_step(const WsTree *t);
/* Something in it touches a buffer. */
gboolean ws_dsa_works(const WsTree *t);
/* Compares two const WsTree **: by their places in the stream. */
int ws_dsa_in_order(gconstpointer a, gconstpointer b);
/* Adds what a sequence holds; sequences in it are opened. */
void ws_dsa_collect(GPtrArray *into, const WsTree *seq);
/* The bodies of one loop, or one side of one branch, in all agents that have it. Caller frees. */
GPtrArray *ws_dsa_bodies(GPtrArray *same, guint side);

G_END_DECLS
