/* The supervisor. It never touches the driver: each worker is a forked process with a deadline that
 * the worker itself moves before every step. A hung, faulting or dying worker costs only itself and
 * its case; the next worker takes the following case. */
#include "runner/session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    interrupted = number;
}

typedef enum { ENDED, HUNG, DIED, STOPPED } Outcome;

static void pause_ms(int ms)
{
    usleep((useconds_t)ms * 1000);
}

/* Waits up to `seconds` for a killed worker; the driver may need a while to stop the GPU. */
static void reap(pid_t pid, double seconds)
{
    double until = ws_seconds() + seconds;
    while (waitpid(pid, NULL, WNOHANG) == 0 && ws_seconds() < until)
        pause_ms(20);
}

/* What is being done, on one line of a terminal; an empty text clears it. */
static void show_progress(const char *text)
{
    static char shown[80];
    if (!isatty(STDERR_FILENO) || strncmp(shown, text, sizeof shown - 1) == 0)
        return;
    snprintf(shown, sizeof shown, "%s", text);
    fprintf(stderr, "\r\033[K%s", shown);
    fflush(stderr);
}

static Outcome watch(pid_t pid, const WsResults *results, int *how)
{
    for (;;) {
        int status;
        show_progress(results->phase);
        pid_t done = waitpid(pid, &status, WNOHANG);
        if (done == pid) {
            *how = status;
            return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ENDED : DIED;
        }
        if (interrupted) {
            kill(pid, SIGKILL);
            reap(pid, 30);
            return STOPPED;
        }
        uint64_t deadline = results->deadline_ns;
        if (deadline && ws_seconds() * 1e9 > (double)deadline) {
            kill(pid, SIGKILL);
            reap(pid, 30);
            return HUNG;
        }
        pause_ms(10);
    }
}

static pid_t start(const WsManifest *m, const WsRunOptions *o, WsResults *r, int from, bool debug)
{
    fflush(stdout);
    fflush(stderr);
    r->deadline_ns = (uint64_t)((ws_seconds() + 60) * 1e9);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* who is not watched does not go on */
    if (debug)
        ws_work_debug(m, o, r, from);
    else
        ws_work(m, o, r, from);
    _exit(0);
}

static void find_stuck_wait(const WsManifest *m, const WsRunOptions *o, WsResults *r, int which)
{
    int how;
    if (!m->module[WS_MODULE_DEBUG][0]) {
        snprintf(r->case_[which].stuck, WS_TEXT,
                 "the bundle has no debug build (bundle --debug-waits names the stuck wait)");
        return;
    }
    pid_t pid = start(m, o, r, which, true);
    if (pid > 0 && watch(pid, r, &how) == HUNG)
        snprintf(r->case_[which].stuck, WS_TEXT,
                 "the debug build hangs without a stuck wait: %.300s", r->phase);
}

/* Settles the case that was in work when a worker ended badly; returns the case to go on with. */
static int settle(const WsManifest *m, const WsRunOptions *o, WsResults *r, Outcome outcome,
                  int how, int first)
{
    int at = r->current;
    char what[2 * WS_TEXT];
    if (outcome == HUNG)
        snprintf(what, sizeof what, "hung: no progress in time, while: %s", r->phase);
    else
        snprintf(what, sizeof what, "the worker process ended by %s %d, while: %s",
                 WIFSIGNALED(how) ? "signal" : "exit status",
                 WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how), r->phase);
    if (at < first || at >= m->n_cases) {
        snprintf(r->error, WS_TEXT, "%.500s", what);
        r->status = outcome == HUNG ? WS_EXIT_ABSENT : WS_EXIT_DEFECT;
        return m->n_cases;
    }
    WsCaseResult *c = &r->case_[at];
    snprintf(c->error, WS_TEXT, "%.500s", what);
    c->state = outcome == HUNG ? WS_CASE_HUNG : WS_CASE_DIED;
    if (outcome == HUNG)
        find_stuck_wait(m, o, r, at);
    return at + 1;
}

static void report_new(const WsManifest *m, const WsRunOptions *o, const WsResults *r, int *shown,
                       int until)
{
    for (; *shown < until && *shown < m->n_cases; ++*shown)
        if (!o->json && !o->quiet && (o->only_case < 0 || o->only_case == *shown))
            ws_report_case(stdout, m, r, *shown);
}

/* The worker left the case to a fresh one, since a float64 reference did not end in its time. That
 * it took long to go, with the GPU busy, is not a hang of the kernel. */
static bool gave_up_reference(const WsManifest *m, const WsResults *r, Outcome outcome)
{
    return outcome != STOPPED && r->status == 0 && r->current >= 0 && r->current < m->n_cases &&
           r->case_[r->current].restart;
}

/* A worker left cases behind: the case in work is not over, or its context is gone. */
static bool lost(const WsManifest *m, const WsResults *r)
{
    return r->status == 0 && r->current >= 0 && r->current < m->n_cases;
}

/* Of several processes none goes on without the others: no case follows. */
static int end_together(const WsManifest *m, const WsRunOptions *o, WsResults *r, Outcome outcome,
                        int how, int first, int *shown)
{
    if (outcome != ENDED)
        settle(m, o, r, outcome, how, first);
    else if (r->case_[r->current].restart)
        snprintf(r->error, WS_TEXT,
                 "the float64 reference did not end in its time; one process "
                 "(--devices) continues without it");
    if (o->rank == 0)
        report_new(m, o, r, shown, r->current + 1);
    return ws_exit_status(r) ? ws_exit_status(r) : (r->status = WS_EXIT_NO);
}

int ws_watch(const WsManifest *m, const WsRunOptions *options, WsResults *results)
{
    struct sigaction action = { .sa_handler = on_signal };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    results->n_cases = m->n_cases;
    results->judge = options->judge;
    int first = 0, shown = 0;
    if (options->only_case >= 0)
        first = options->only_case;
    while (first < m->n_cases) {
        results->current = -1;
        int how = 0;
        pid_t pid = start(m, options, results, first, false);
        if (pid < 0) {
            snprintf(results->error, WS_TEXT, "fork: %s", strerror(errno));
            return results->status = WS_EXIT_DEFECT;
        }
        Outcome outcome = watch(pid, results, &how);
        show_progress("");
        if (outcome == STOPPED)
            return results->status = WS_EXIT_INTERRUPTED;
        if (options->ranks > 1 && (outcome != ENDED || lost(m, results)))
            return end_together(m, options, results, outcome, how, first, &shown);
        if (gave_up_reference(m, results, outcome))
            first = results->current;
        else if (outcome != ENDED)
            first = settle(m, options, results, outcome, how, first);
        else if (results->status != 0 || results->current < 0)
            break;
        else
            first = results->current + 1;
        if (results->status != 0)
            break;
        if (options->only_case >= 0 && first != results->current)
            first = m->n_cases;
        report_new(m, options, results, &shown, first);
    }
    return ws_exit_status(results);
}
