#include "cli/launches.h"
#include "base/folder.h"
#include "base/temporary.h"
#include "launch/collect.h"
#include "model/findings.h"
#include "trace/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COLD = 5 };
#define MOST_COST 0.01

/* Of a bundle of its own: the timed build is the same, so that few launches of it will do. */
static WsTrace *by_turns(const char *file, const WsBundleOptions *options, const WsRunSpec *run,
                         guint launches, const char *dir, GError **error)
{
    WsBundleOptions o = *options; /* its texts are borrowed */
    int status = 0;
    o.launches = launches;
    o.runs = COLD;
    o.sustained = 0;
    o.proved = TRUE; /* a moment ago */
    if (ws_cli_bundle(file, &o, dir) != WS_EXIT_YES) {
        g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_LENS, "there is no bundle for it");
        return NULL;
    }
    if (!ws_run_bundle(dir, run, &status, error))
        return NULL;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsCollected) collected = ws_collect(dir, findings, error);
    return collected ? ws_collected_trace(collected, 0, error) : NULL;
}

/* "OUT-one-launch.wtrace". Caller frees. */
static char *beside(const char *trace)
{
    const gsize length = strlen(trace);
    const gboolean named = g_str_has_suffix(trace, ".wtrace");
    g_autofree char *stem = g_strndup(trace, named ? length - strlen(".wtrace") : length);
    return g_strconcat(stem, WS_ONE_LAUNCH, NULL);
}

static int fail_save(const GError *error)
{
    return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
}

int ws_cli_launches(const char *file, const WsBundleOptions *options, const WsRunSpec *run,
                    const char *trace, gboolean quiet)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsTrace) one = ws_trace_load(trace, &error);
    if (one && ws_trace_has_devices(one)) /* of a mesh: recorded in one launch */
        return WS_EXIT_YES;
    const guint turns = one ? ws_trace_turns(one) : 1;
    g_autofree char *dir = turns > 1 ? ws_temporary_folder(&error) : NULL;
    g_autoptr(WsTrace) merged = dir ? by_turns(file, options, run, turns, dir, &error) : NULL;
    if (dir)
        ws_folder_remove(dir);
    const double cost = merged ? ws_trace_round_cost(one, merged) : NAN;
    if (isnan(cost)) {
        ws_cli_fail(WS_EXIT_YES,
                    "%s: what recording costs its rounds is not known: %s (--launches 1 does not "
                    "ask)",
                    trace,
                    error ? error->message
                          : "no tile has enough of them for launches that take "
                            "turns");
        return WS_EXIT_YES;
    }
    g_autofree char *other = beside(trace);
    one->round_cost = merged->round_cost = cost;
    if (!ws_trace_save(one, cost > MOST_COST ? other : trace, &error) ||
        (cost > MOST_COST && !ws_trace_save(merged, trace, &error)))
        return fail_save(error);
    if (quiet)
        return WS_EXIT_YES;
    printf("where one launch records all rounds they are %.1f %% longer", 100 * cost);
    if (cost > MOST_COST)
        printf(": %s is merged from %u launches that take turns; what lies between two rounds, "
               "idle units and overlap are in %s\n",
               trace, turns, other);
    else
        printf(": %s is of one launch\n", trace);
    return WS_EXIT_YES;
}
