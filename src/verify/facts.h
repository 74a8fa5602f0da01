/* What `assume` and definitions say of names, and what holds in one case of several. */
#pragma once

#include "program/forward.h"
#include "verify/range.h"

G_BEGIN_DECLS

typedef struct {
    RangeEnv env;
    const WsProgram *p;
    GHashTable *given;    /* text of a sum -> Range* */
    const WsExpr *inside; /* its parts are asked for, not it */
} Facts;

void facts_init(Facts *f, const WsProgram *p);
void facts_copy(Facts *f, const Facts *of);
void facts_clear(Facts *f);
/* The comparison `e` holds; FALSE: that contradicts what is known. */
gboolean facts_give(Facts *f, const WsExpr *e);
Range facts_range(Facts *f, const WsExpr *e);
/* Both have one value, whatever the names are worth (lemma SAME). */
gboolean facts_equal(const Facts *f, const WsExpr *a, const WsExpr *b);

G_END_DECLS
