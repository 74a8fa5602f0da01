/* How much a test takes: the quick run a part of the rows that cost seconds, all of them with the
 * sanitizers (CI; WARPSTAVE_WHOLE) and in the slow list (./dev soak). */
#ifndef TESTS_WHOLE_H
#define TESTS_WHOLE_H

#include <glib.h>

static inline gboolean test_whole(void)
{
    return g_test_slow() || g_getenv("WARPSTAVE_WHOLE");
}

/* Whether row i is taken, where the quick run takes one of `every`. */
static inline gboolean test_takes(guint i, guint every)
{
    return test_whole() || i % every == 0;
}

/* As test_takes, and the sanitizers take a part, too: a minute and more of them. */
static inline gboolean test_samples(guint i, guint every)
{
    return g_test_slow() || i % every == 0;
}

#endif
