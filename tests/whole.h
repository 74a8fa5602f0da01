/* How much of its rows a test takes. Rows whose cases repeat the same code on another design, place
 * or seed cost most of the tests' time, so that each run takes a share of them: the quick one
 * (./dev test, WARPSTAVE_QUICK) one of `quick`, that under the sanitizers (WARPSTAVE_SANITIZERS:
 * tests/meson.build) one of `sanitized`, other rows than the quick one where it leaves some; the
 * slow list (./dev soak) takes all. */
#ifndef TESTS_WHOLE_H
#define TESTS_WHOLE_H

#include <glib.h>

static inline gboolean test_sanitized(void)
{
    return !g_test_slow() && g_getenv("WARPSTAVE_SANITIZERS");
}

/* CI's run under the sanitizers, which has half an hour together with the quick one (both have
 * WARPSTAVE_SHORT): it takes fewer rows than `./dev test --sanitizers` by hand, which is run before
 * an issue is resolved. */
static inline gboolean test_short(void)
{
    return test_sanitized() && g_getenv("WARPSTAVE_SHORT");
}

/* Whether row i is taken. Of a table in which code changes from row to row, sort by it. */
static inline gboolean test_takes(guint i, guint quick, guint sanitized)
{
    if (g_test_slow())
        return TRUE;
    const guint share = test_short() ? 2 * sanitized : sanitized;
    return test_sanitized() ? i % share == (quick > 1 ? 1 % share : 0) : i % quick == 0;
}

/* Whether this is the quick run of all tests, not one of some of them by name or by hand. */
static inline gboolean test_quick(void)
{
    return !g_test_slow() && !test_sanitized() && g_getenv("WARPSTAVE_QUICK");
}

/* Row i in one of two runs: even ones in the quick run of all tests, odd ones under the sanitizers,
 * which cost some seven times as much: of CI's two runs they take one in four and the quick one the
 * others. By name or by hand a run without them takes all. */
static inline gboolean test_either(guint i)
{
    if (test_quick() && g_getenv("WARPSTAVE_SHORT"))
        return i % 4 != 1;
    if (test_short())
        return i % 4 == 1;
    return test_sanitized() ? i % 2 == 1 : !test_quick() || i % 2 == 0;
}

/* Row i of those that every run takes, but for CI's under the sanitizers, which takes every second
 * one: it is for rows whose cost is that of programs that are started, not of what they do. */
static inline gboolean test_often(guint i)
{
    return !test_short() || i % 2 == 0;
}

/* Row i of those that the run under the sanitizers takes whole: the quick run of all tests takes
 * one of `quick`. */
static inline gboolean test_again(guint i, guint quick)
{
    return !test_quick() || i % quick == 0;
}

/* Row i in one of two runs: one of `quick` in the quick run of all tests, the others under the
 * sanitizers (in CI one of `quick` of them). By name or by hand a run without them takes all. */
static inline gboolean test_rest(guint i, guint quick)
{
    if (test_short())
        return i % quick == 1 % quick;
    return test_sanitized() ? i % quick != 0 : !test_quick() || i % quick == 0;
}

/* As test_takes, and of the rows of `quick` each in one of CI's two runs: every second one in the
 * quick run of all tests, the others under the sanitizers beside theirs. */
static inline gboolean test_halves(guint i, guint quick, guint sanitized)
{
    return i % quick ? test_takes(i, quick, sanitized) : test_either(i / quick);
}

/* The least that a count of them must reach, where all rows reach `all`. */
static inline guint test_least(guint all, guint quick, guint sanitized)
{
    if (g_test_slow())
        return all;
    return all / (test_short() ? 2 * sanitized : test_sanitized() ? sanitized : quick);
}

#endif
