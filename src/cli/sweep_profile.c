/* A sweep on GPUs: bundles are made one after the other, each host takes the next when it is free.
 */
#include "cli/sweep.h"
#include "model/findings.h"

#include "cli/collect.h"

#include "base/folder.h"
#include "base/temporary.h"
#include "launch/collect.h"
#include "launch/history.h"
#include "launch/run.h"

#include <math.h>
#include <stdio.h>

typedef struct {
    const WsSweepPoint *point;
    char *dir;
    const char *host; /* where it ran; NULL: here */
    WsCollected *collected;
    char *problem;   /* why there are no figures */
    gboolean absent; /* because something is not there: GPU, driver, runner, host */
} Run;

typedef struct {
    GAsyncQueue *ready; /* Run*; `no_more` once per host when all are made */
    const char *host;
    GMutex *saying;
} Host;

static Run no_more;

static void free_run(gpointer data)
{
    Run *r = data;
    if (r->dir)
        ws_folder_remove(r->dir);
    g_free(r->dir);
    g_free(r->problem);
    g_clear_pointer(&r->collected, ws_collected_free);
    g_free(r);
}

static void run_one(Run *r, const char *host)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsFindings) findings = ws_findings_new();
    const WsRunSpec spec = { .host = host, .quiet = TRUE, .interrupted = ws_cli_interrupted };
    int status = 0;
    r->host = host;
    if (!ws_run_bundle(r->dir, &spec, &status, &error) ||
        (status != WS_EXIT_ABSENT && !(r->collected = ws_collect(r->dir, findings, &error)))) {
        r->problem = g_strdup(error->message);
        r->absent = g_error_matches(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT);
        return;
    }
    r->absent = status == WS_EXIT_ABSENT;
    if (r->absent)
        r->problem =
            g_strdup_printf("no GPU or driver %s%s", host ? "on " : "here", host ? host : "");
}

static gpointer serve(gpointer data)
{
    Host *h = data;
    Run *r;
    while ((r = g_async_queue_pop(h->ready)) != &no_more) {
        run_one(r, h->host);
        g_mutex_lock(h->saying);
        fprintf(stderr, "%s%s%s: %s\n", r->point->label, h->host ? " on " : "",
                h->host ? h->host : "", r->problem ? r->problem : "ran");
        g_mutex_unlock(h->saying);
    }
    return NULL;
}

/* --- what comes out --------------------------------------------------------------------------- */

static const WsCollectedCase *case_of(const Run *r, guint which)
{
    return r->collected && which < r->collected->cases->len
               ? g_ptr_array_index(r->collected->cases, which)
               : NULL;
}

/* Right ones first, the quickest first. */
static int by_time(gconstpointer pa, gconstpointer pb, gpointer data)
{
    const guint which = GPOINTER_TO_UINT(data);
    const WsCollectedCase *a = case_of(*(Run *const *)pa, which);
    const WsCollectedCase *b = case_of(*(Run *const *)pb, which);
    const double ta = a && a->right && a->cold.n ? a->cold.median_us : HUGE_VAL;
    const double tb = b && b->right && b->cold.n ? b->cold.median_us : HUGE_VAL;
    return (ta > tb) - (ta < tb);
}

static void print_case(const GPtrArray *runs, guint which, const char *label)
{
    g_autoptr(GPtrArray) order = g_ptr_array_new();
    for (guint i = 0; i < runs->len; i++)
        g_ptr_array_add(order, runs->pdata[i]);
    g_ptr_array_sort_with_data(order, by_time, GUINT_TO_POINTER(which));
    printf("%s\n%-28s %10s %10s %10s %8s  %s\n", label, "constants", "cold us", "sust. us", "TF/s",
           "SM MHz", "");
    for (guint i = 0; i < order->len; i++) {
        const Run *r = order->pdata[i];
        const WsCollectedCase *c = case_of(r, which);
        if (!c) {
            printf("%-28s %s\n", r->point->label, r->problem ? r->problem : "did not run");
            continue;
        }
        printf("%-28s %10.2f %10.2f %10.1f %8.0f  %s%s%s\n", r->point->label, c->cold.median_us,
               c->sustained.median_us, c->cold.tflops, c->cold.sm_mhz, c->state,
               r->host ? ", " : "", r->host ? r->host : "");
    }
}

void ws_cli_profile_begin(WsJsonOut *json, const char *file)
{
    ws_cli_json_begin(json);
    ws_json_out_text(json, "file", file);
    ws_json_out_open(json, "points", '[');
}

void ws_cli_profile_point(WsJsonOut *json, const char *constants, const char *host,
                          const char *problem)
{
    ws_json_out_open(json, NULL, '{');
    ws_json_out_text(json, "constants", constants);
    ws_json_out_text(json, "host", host);
    ws_json_out_text(json, "problem", problem);
    if (problem)
        ws_json_out_text(json, "result", NULL);
    else
        ws_json_out_open(json, "result", '{');
}

static void put_all(const char *file, const GPtrArray *runs)
{
    WsJsonOut j;
    ws_cli_profile_begin(&j, file);
    for (guint i = 0; i < runs->len; i++) {
        const Run *r = runs->pdata[i];
        const char *problem = r->collected ? NULL : r->problem ? r->problem : "did not run";
        ws_cli_profile_point(&j, r->point->label, r->host, problem);
        if (!problem) {
            ws_cli_put_collected(&j, r->collected);
            ws_json_out_close(&j, '}');
        }
        ws_json_out_close(&j, '}');
    }
    ws_json_out_close(&j, ']');
    ws_cli_json_end(&j);
}

static int print_all(const char *file, const GPtrArray *runs, gboolean json)
{
    const WsCollected *first = NULL;
    gboolean right = FALSE, absent = FALSE;
    for (guint i = 0; i < runs->len; i++) {
        const Run *r = runs->pdata[i];
        absent |= r->absent;
        for (guint k = 0; r->collected && k < r->collected->cases->len; k++)
            right |= case_of(r, k)->right;
        if (!first)
            first = r->collected;
    }
    if (json)
        put_all(file, runs);
    else if (!first)
        print_case(runs, 0, "no point ran");
    for (guint k = 0; first && !json && k < first->cases->len; k++)
        print_case(runs, k, ((WsCollectedCase *)g_ptr_array_index(first->cases, k))->label);
    return right ? WS_EXIT_YES : absent && !first ? WS_EXIT_ABSENT : WS_EXIT_NO;
}

static void keep(const GPtrArray *runs)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsRunStore) history = ws_history_open(NULL, &error);
    for (guint i = 0; history && !error && i < runs->len; i++) {
        const Run *r = runs->pdata[i];
        if (r->collected)
            ws_history_add(history, r->collected, r->host, NULL, &error);
    }
    if (error && !g_error_matches(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT))
        ws_cli_fail(WS_EXIT_YES, "not kept in the run history: %s", error->message);
}

/* --- the sweep -------------------------------------------------------------------------------- */

static void make_bundle(Run *r, const char *file, const WsBundleOptions *options)
{
    g_autoptr(GError) error = NULL;
    WsBundleOptions own = *options;
    own.set = r->point->set;
    r->dir = ws_temporary_folder(&error);
    if (!r->dir)
        r->problem = g_strdup(error->message);
    else if (ws_cli_bundle(file, &own, r->dir) != WS_EXIT_YES)
        r->problem = g_strdup("no kernel for these constants (see above)");
}

static void run_all(GPtrArray *runs, const char *file, const WsBundleOptions *options, char **hosts)
{
    char *here[] = { NULL, NULL };
    const guint n = hosts && hosts[0] ? g_strv_length(hosts) : 1;
    char **name = hosts && hosts[0] ? hosts : here;
    g_autofree Host *host = g_new0(Host, n);
    g_autofree GThread **thread = g_new(GThread *, n);
    g_autoptr(GAsyncQueue) ready = g_async_queue_new();
    GMutex saying;
    g_mutex_init(&saying);
    for (guint i = 0; i < n; i++) {
        host[i] = (Host){ .ready = ready, .host = name[i], .saying = &saying };
        thread[i] = g_thread_new("sweep", serve, &host[i]);
    }
    for (guint i = 0; i < runs->len && !ws_cli_interrupted(); i++) {
        Run *r = runs->pdata[i];
        make_bundle(r, file, options);
        if (!r->problem)
            g_async_queue_push(ready, r);
    }
    for (guint i = 0; i < n; i++)
        g_async_queue_push(ready, &no_more);
    for (guint i = 0; i < n; i++)
        g_thread_join(thread[i]);
    g_mutex_clear(&saying);
}

int ws_sweep_profile(const char *file, const WsBundleOptions *options, char **range, char **hosts,
                     gboolean json)
{
    g_autoptr(GPtrArray) points = ws_sweep_points(range, options->set);
    if (!points)
        return WS_EXIT_USAGE;
    g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func(free_run);
    for (guint i = 0; i < points->len; i++) {
        Run *r = g_new0(Run, 1);
        r->point = points->pdata[i];
        g_ptr_array_add(runs, r);
    }
    run_all(runs, file, options, hosts);
    const int code = print_all(file, runs, json);
    keep(runs);
    return ws_cli_interrupted() ? WS_EXIT_INTERRUPTED : code;
}
