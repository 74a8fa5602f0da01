/* What a fix must leave as it was. */
#pragma once

#include "model/forward.h"

#include <glib.h>

/* Steps that order something and are gone or muted; `twins`: of those the ones beside which the
 * same stands, to the letter, and arrivals that have become syncs. */
typedef struct {
    guint gone, twins;
} Gone;
Gone order_gone(const WsDesign *before, const WsDesign *after);

/* Does the design after move, multiply, compute and write the same as before: the same steps, with
 * the same operands and coordinates, in the same order, under the same conditions and counts? Uses
 * and the barriers that transfers signal may differ. NULL if so, else the first thing that differs;
 * caller frees. */
char *work_differs(const WsDesign *before, const WsDesign *after);

/* Sums of products: does one begin after the fix where it went on before, and held products that
 * nobody had read; or go on where it began? NULL if not, else the first such; caller frees. */
char *sum_lost(const WsDesign *before, const WsDesign *after);
