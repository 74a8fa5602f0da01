/* Processor time for tests that hold code to a cost: what other processes of the machine do is not
 * in it, as it is in a clock on the wall. */
#ifndef TESTS_CPUTIME_H
#define TESTS_CPUTIME_H

#include <glib.h>
#include <pthread.h>
#include <time.h>

/* Microseconds that `clock` has counted. */
static inline gint64 cputime_read(clockid_t clock)
{
    struct timespec t;
    g_assert_cmpint(clock_gettime(clock, &t), ==, 0);
    return (gint64)t.tv_sec * G_USEC_PER_SEC + t.tv_nsec / 1000;
}

/* Microseconds of processor that the calling thread has used. */
static inline gint64 cputime_mine(void)
{
    return cputime_read(CLOCK_THREAD_CPUTIME_ID);
}

/* The clock of the calling thread's processor time, which other threads may read, too. */
static inline clockid_t cputime_clock(void)
{
    clockid_t clock;
    g_assert_cmpint(pthread_getcpuclockid(pthread_self(), &clock), ==, 0);
    return clock;
}

#endif
