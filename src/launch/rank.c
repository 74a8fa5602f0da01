#include "launch/rank.h"

#include <math.h>

static void ranks(const double *x, guint n, double *rank)
{
    for (guint i = 0; i < n; i++) {
        double below = 0, same = 0;
        for (guint k = 0; k < n; k++) {
            below += x[k] < x[i];
            same += x[k] == x[i];
        }
        rank[i] = below + (same + 1) / 2;
    }
}

double ws_rank_correlation(const double *x, const double *y, guint n)
{
    if (n < 3)
        return NAN;
    g_autofree double *a = g_new(double, n), *b = g_new(double, n);
    ranks(x, n, a);
    ranks(y, n, b);
    const double mean = (n + 1) / 2.0;
    double ab = 0, aa = 0, bb = 0;
    for (guint i = 0; i < n; i++) {
        ab += (a[i] - mean) * (b[i] - mean);
        aa += (a[i] - mean) * (a[i] - mean);
        bb += (b[i] - mean) * (b[i] - mean);
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
}
