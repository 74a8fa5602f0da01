#include "base/median.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void ws_sort_values(double *value, guint n)
{
    if (n)
        qsort(value, n, sizeof *value, by_value);
}

double ws_median(double *value, guint n)
{
    ws_sort_values(value, n);
    return n == 0 ? NAN : n % 2 ? value[n / 2] : (value[n / 2 - 1] + value[n / 2]) / 2;
}
