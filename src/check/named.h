/* Inside src/check: ids of named barriers. */
#pragma once

#include "program/forward.h"
#include "program/parts/barrier.h"
#include "program/program.h"
#include "target/target.h"

G_BEGIN_DECLS

/* Ids of one CTA; numbers from there on stand for the private `sync group` of an agent. */
static inline guint ws_named_ids(const WsProgram *p)
{
    return p->hardware->sync.named;
}

/* The id of an element of a named barrier: one that is there, whatever the program says. */
static inline guint ws_named_id(const WsProgram *p, const WsBarrier *b, guint element)
{
    return (guint)CLAMP(b->hw_id ? b->hw_id[element] : 0, 0, (gint)ws_named_ids(p) - 1);
}

G_END_DECLS
