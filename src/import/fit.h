/* Closed forms by values: an integer expression that depends on one unknown, however a compiler
 * wrote it (selects, remainders, complements), as what a ring is made of: base + stride * (u mod
 * n), or a parity (u / n) mod 2. The unknown counts from 0; a form is only taken if it gives the
 * same values for the first WS_FIT_VALUES of it, and if the expression is known to repeat itself,
 * or to rise evenly, by WS_FIT_PERIOD from WS_FIT_PERIOD on: equal there is equal for good. */
#pragma once

#include "import/recognise.h"

G_BEGIN_DECLS

#define WS_FIT_VALUES  512
#define WS_FIT_MODULUS 64
#define WS_FIT_PERIOD                                                                              \
    128 /* at most; with that of a form, twice WS_FIT_MODULUS, below the values                    \
         */

/* The closed form, or e itself. */
const WsExpr *ws_fit(WsRead *r, const WsExpr *e);
/* Does e add `step` to `atom`, modulo n? */
gboolean ws_fit_wraps(const WsExpr *e, const char *atom, gint64 *n, gint64 *step);
/* Does e flip `phase` exactly where `index` + step wraps at n? */
gboolean ws_fit_flips(const WsExpr *e, const char *phase, const char *index, gint64 n, gint64 step);

G_END_DECLS
