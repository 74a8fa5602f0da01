/* What a program says of its names before any of it runs. */
#pragma once

#include "program/forward.h"
#include "verify/range.h"

G_BEGIN_DECLS

/* Works out what the texts of the symbols say. */
void assumptions_read(const WsProgram *p, Certificate *c);
/* NULL if all that the certificate assumes of symbols follows from the program (section 8.3); else
 * why not. `of_tile`, `of_cta` and kind of the symbols are judged, too. Caller frees. */
char *assumptions_judge(const WsProgram *p, const Certificate *c);
/* All that is assumed of `s` holds in `r`. */
gboolean symbol_within(const Symbol *s, Range r);
/* What follows for an expression over names of the launch or the tile. */
Range assumptions_range(const WsProgram *p, const WsExpr *e);
/* Something that may be 0, or always is, is divided by. */
gboolean assumptions_divide(const WsProgram *p, const WsExpr *e, gboolean always);
/* What is assumed, for people: "kt >= 1, N % 2 == 0". Caller frees. */
char *assumptions_text(const Certificate *c, guint *n);

G_END_DECLS
