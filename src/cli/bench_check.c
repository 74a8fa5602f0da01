/* How long the check of one design takes: what an editor waits for after every movement. */
#include "cli/bench_check.h"
#include "base/median.h"
#include "check/title.h"
#include "model/findings.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { RUNS = 200 };

/* Of this thread, in ms: on a busy machine the wall clock counts others' work, too. */
static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* FALSE: the goal is missed. */
static gboolean print_times(const char *title, double *ms, double goal, WsJsonOut *json)
{
    ws_sort_values(ms, RUNS);
    double half = ms[RUNS / 2], most = ms[RUNS * 99 / 100];
    if (json) {
        ws_cli_bench_put(json, title, RUNS, half, most, goal);
        return goal <= 0 || half <= goal;
    }
    printf("  %-22s p50 %7.3f ms  p99 %7.3f ms", title, half, most);
    if (goal > 0)
        printf("  goal %g ms: %s", goal, half <= goal ? "met" : "MISSED");
    printf("\n");
    return goal <= 0 || half <= goal;
}

void ws_cli_bench_put(WsJsonOut *json, const char *name, guint runs, double median, double p99,
                      double goal)
{
    ws_json_out_open(json, NULL, '{');
    ws_json_out_text(json, "name", name);
    ws_json_out_integer(json, "runs", runs);
    ws_json_out_real(json, "median_ms", median);
    ws_json_out_real(json, "p99_ms", p99);
    ws_json_out_real(json, "goal_ms", goal > 0 ? goal : NAN);
    if (goal > 0)
        ws_json_out_truth(json, "met", median <= goal);
    else
        ws_json_out_text(json, "met", NULL);
    ws_json_out_close(json, '}');
}

void ws_cli_bench_end(WsJsonOut *json)
{
    ws_json_out_close(json, ']');
    ws_cli_json_end(json);
}

int ws_cli_bench_check(const WsProgram *p, const char *title, double goal, WsJsonOut *json)
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
    if (!json)
        printf("%s: %s, %u states, %.1f MB, one thread, %d runs\n", title,
               ws_verdict_title(last->kind), last->states, (double)last->proof_bytes / (1 << 20),
               RUNS);
    const gboolean proved_in_time = print_times("proof", proof, goal, json);
    print_times("check", check, 0, json);
    /* the proof's own time is the wall clock's, which counts the machine's other work, too */
    const gboolean in_time = print_times("check, processor time", processor, goal, json);
    if (json)
        ws_cli_bench_end(json);
    if (last->kind != WS_VERDICT_PROVED)
        return ws_cli_fail(last->kind == WS_VERDICT_OUTSIDE ? WS_EXIT_OUTSIDE : WS_EXIT_NO,
                           "it is not proved");
    return in_time || proved_in_time ? WS_EXIT_YES : ws_cli_fail(WS_EXIT_NO, "the goal is missed");
}
