/* Names of TLE-DSA text: which there are, what is known of their values, where they can be read. */
#pragma once

#include "codegen/interval.h"
#include "program/forward.h"

G_BEGIN_DECLS

typedef struct {
    const WsProgram *p;
    GPtrArray *loop; /* const WsTree *: the loops that are open in the text; owned */
} WsDsaScope;

/* The innermost loop that is open, or NULL; that one of this name, or NULL. */
const WsTree *ws_dsa_innermost(const WsDsaScope *s);
const WsTree *ws_dsa_open(const WsDsaScope *s, const char *name);
/* Phrase: why the names of the program cannot stand in the text beside each other and beside the
 * names that the text itself uses. NULL: they can. Caller frees. */
char *ws_dsa_clash(const WsProgram *p);
/* The variable has the same value in the text at this place as in the design. */
gboolean ws_dsa_readable(const WsDsaScope *s, const WsExpr *e);
/* What a uniform integer expression may come to; of what is not known here nothing is. */
WsInterval ws_dsa_interval(const WsDsaScope *s, const WsExpr *e);
/* Division that rounds towards 0 is the design's, which rounds down. */
gboolean ws_dsa_floors(const WsDsaScope *s, const WsExpr *dividend, const WsExpr *divisor);
/* The value may differ from round to round of `loop`; total counts always may. */
gboolean ws_dsa_varies(const WsExpr *e, const WsTree *loop);

G_END_DECLS
