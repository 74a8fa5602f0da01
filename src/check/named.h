/* Inside src/check: ids of named barriers. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* Ids of one CTA; numbers from there on stand for the private `sync group` of an agent. */
guint ws_named_ids(const WsProgram *p);
/* The id of an element of a named barrier: one that is there, whatever the program says. */
guint ws_named_id(const WsProgram *p, const WsBarrier *b, guint element);

G_END_DECLS
