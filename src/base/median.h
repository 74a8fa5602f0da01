/* Middle and quantiles of what was measured. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Sorts them; of an even number the mean of the two in the middle; NAN of none. */
double ws_median(double *value, guint n);
/* Sorts them, the smallest first. */
void ws_sort_values(double *value, guint n);

G_END_DECLS
