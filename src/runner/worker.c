/* The body of a worker process: the only one that touches the GPU. It works through the cases from
 * `first` on and leaves everything it learns in the shared results. */
#include "runner/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t ws_case_grid(const WsSession *s, const WsRunCase *c)
{
    int64_t grid = c->grid;
    if (c->grid_sms) {
        int64_t sms = s->results->sms / s->m->cluster * s->m->cluster;
        grid = sms < grid ? sms : grid;
    }
    return (uint32_t)grid;
}

static bool judged(const WsSession *s)
{
    for (int t = 0; t < s->m->n_tensors; t++)
        if (ws_run_is_output(&s->m->tensor[t]) && (!s->r->output[t].judged || s->r->output[t].open))
            return false;
    return true;
}

static bool run_case(WsSession *s)
{
    bool right = true;
    if (!ws_case_open(s))
        return false;
    if (s->options->check) {
        if (!ws_check_case(s, &right) || !ws_trace_same(s, &right) ||
            (right && !ws_check_again(s, &right)))
            return false;
    }
    /* A wrong kernel is not timed: its figures would mean nothing. */
    if (right && s->options->runs > 0 && (!ws_time_case(s) || !ws_trace_case(s)))
        return false;
    if (s->mesh && !ws_mesh_flags_right(s))
        return false;
    s->r->state = !right                           ? WS_CASE_WRONG
                  : s->options->check && judged(s) ? WS_CASE_RIGHT
                                                   : WS_CASE_UNJUDGED;
    return true;
}

/* Without a tile nothing is launched. That is right only where nothing was to be written. */
static void no_launch(WsSession *s)
{
    s->r->state = WS_CASE_NOTHING;
    for (int t = 0; t < s->m->n_tensors; t++) {
        const WsRunTensor *tensor = &s->m->tensor[t];
        const int64_t elements = ws_run_elements(tensor, &s->c->tensor[t]);
        if (tensor->access != WS_RUN_WRITE || elements == 0)
            continue;
        s->r->state = WS_CASE_WRONG;
        ws_session_fail(s, "there is no tile, and nobody writes the %lld elements of %s",
                        (long long)elements, tensor->name);
        return;
    }
}

static void fault(WsSession *s)
{
    s->r->state = WS_CASE_FAILED;
}

/* The cases from `first` on, until one is lost with its context. */
static void run_cases(WsSession *s, const WsManifest *m, int first)
{
    WsResults *results = s->results;
    const WsRunOptions *options = s->options;
    for (int i = first; i < m->n_cases; i++) {
        if (options->only_case >= 0 && options->only_case != i)
            continue;
        s->c = &m->case_[i];
        s->r = &results->case_[i];
        s->error = s->r->error;
        s->r->overhead = NAN;
        s->r->restart = false;
        s->error[0] = 0;
        results->current = i;
        double start = ws_seconds();
        s->grid = s->r->grid = ws_case_grid(s, s->c);
        if (s->grid == 0)
            no_launch(s);
        else if (m->adversary)
            ws_adversary_case(s);
        else if (!run_case(s))
            fault(s);
        s->r->seconds = ws_seconds() - start;
        if (s->r->restart)
            return; /* the reference still runs: only the end of this process ends it */
        if (s->r->state == WS_CASE_HUNG)
            return; /* its context is gone */
        if (s->r->state == WS_CASE_FAILED && s->last != 0 && s->last != WS_CU_OUT_OF_MEMORY)
            return; /* the context may be lost: the supervisor starts a fresh worker */
        ws_case_close(s);
    }
    results->current = m->n_cases;
    results->deadline_ns = 0;
}

void ws_work(const WsManifest *m, const WsRunOptions *options, WsResults *results, int first)
{
    static WsSession s;
    static WsRunMesh mesh;
    s = (WsSession){ .m = m, .options = options, .results = results, .error = results->error };
    const bool open = m->mesh ? ws_mesh_open(&s, &mesh, m)
                              : ws_session_open(&s) && ws_session_load(&s, m->adversary);
    if (open && options->rank > 0)
        ws_mesh_serve(&s, &mesh, m);
    else if (open)
        run_cases(&s, m, first);
    if (!open && options->ranks > 1 && !results->status)
        results->status = WS_EXIT_NO;
    ws_mesh_end(&s, &mesh);
}

void ws_work_debug(const WsManifest *m, const WsRunOptions *options, WsResults *results, int which)
{
    static WsSession s;
    static char error[WS_TEXT]; /* the hang itself stays the case's error */
    s = (WsSession){ .m = m, .options = options, .results = results, .error = error };
    s.c = &m->case_[which];
    s.r = &results->case_[which];
    if (!ws_session_open(&s) || !ws_session_load(&s, true)) {
        snprintf(s.r->stuck, WS_TEXT, "the debug build could not be loaded: %.400s", error);
        results->status = 0;
        return;
    }
    s.grid = s.r->grid;
    bool launched = ws_case_open(&s) && ws_case_poison(&s);
    ws_session_phase(&s, 2 * options->timeout + 10, "launch of the debug build");
    launched = launched && ws_session_launch(&s, WS_MODULE_DEBUG);
    if (!launched) {
        snprintf(s.r->stuck, WS_TEXT, "the debug build did not start: %.400s", error);
        return;
    }
    ws_session_wait(&s, 2 * options->timeout); /* an error is what a trap looks like */
    ws_stuck_read(&s);
}
