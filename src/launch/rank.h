/* How alike two orders are. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Spearman's coefficient of two lists, ties at their mean rank: 1 the same order, -1 the reverse;
 * NAN below three, or where one list has one value alone. */
double ws_rank_correlation(const double *x, const double *y, guint n);

G_END_DECLS
