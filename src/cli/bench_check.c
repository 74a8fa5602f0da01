/* How long the check of one design takes: what an editor waits for after every movement. */
#include "cli/bench_check.h"
#include "check/check.h"
#include "check/title.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 200 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of this thread, in ms: on a busy machine the wall clock counts others' work, too. */
static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* FALSE: the goal is missed. */
static gboolean print_times(const char *title, double *ms, double goal)
{
    qsort(ms, RUNS, sizeof *ms, by_value);
    double half = ms[RUNS / 2], most = ms[RUNS * 99 / 100];
    printf("  %-22s p50 %7.3f ms  p99 %7.3f ms", title, half, most);
    if (goal > 0)
        printf("  goal %g ms: %s", goal, half <= goal ? "met" : "MISSED");
    printf("\n");
    return goal <= 0 || half <= goal;
}

int ws_cli_bench_check(const WsProgram *p, const char *title, double goal)
{
    double proof[RUNS], check[RUNS], processor[RUNS];
    g_autoptr(WsVerdict) last = NULL;
    for (guint i = 0; i <= RUNS; i++) { /* the first one warms up */
        g_clear_pointer(&last, ws_verdict_free);
        g_autoptr(WsFindings) findings = ws_findings_new();
        double start = processor_time();
        last = ws_check(p, NULL, findings);
        if (i == 0)
            continue;
        processor[i - 1] = processor_time() - start;
        proof[i - 1] = last->proof_seconds * 1e3;
        check[i - 1] = last->seconds * 1e3;
    }
    printf("%s: %s, %u states, %.1f MB, one thread, %d runs\n", title, ws_verdict_title(last->kind),
           last->states, (double)last->proof_bytes / (1 << 20), RUNS);
    const gboolean proved_in_time = print_times("proof", proof, goal);
    print_times("check", check, 0);
    /* the proof's own time is the wall clock's, which counts the machine's other work, too */
    const gboolean in_time = print_times("check, processor time", processor, goal);
    if (last->kind != WS_VERDICT_PROVED)
        return ws_cli_fail(last->kind == WS_VERDICT_OUTSIDE ? WS_EXIT_OUTSIDE : WS_EXIT_NO,
                           "it is not proved");
    return in_time || proved_in_time ? WS_EXIT_YES : ws_cli_fail(WS_EXIT_NO, "the goal is missed");
}
