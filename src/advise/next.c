/* ws_next_new(): prediction, edges, path, edits. */
#include "advise/advise.h"
#include "program/program.h"

void ws_next_free(WsNext *n)
{
    if (!n)
        return;
    g_clear_pointer(&n->predicted, ws_clock_result_free);
    g_array_unref(n->edge);
    g_array_unref(n->path);
    g_array_unref(n->part);
    g_ptr_array_unref(n->edit);
    g_free(n->note);
    g_free(n);
}

static char *note(const WsNext *n, const WsTrace *measured, const WsProgram *p)
{
    if (measured && ws_trace_rounds_unknown(p, measured))
        return g_strdup("CTAs of this launch claim tiles of different numbers of rounds, and the "
                        "trace does not hold which ones a CTA got: edges and path are not known.");
    if (measured && measured->every > 1)
        return g_strdup("Of the rounds of inner loops only some were recorded: edges and path are "
                        "not known.");
    if (measured && n->path->len == 0)
        return g_strdup("The trace was not recorded from this version of the design: edges and "
                        "path are not known.");
    if (measured && p->cluster > 1)
        return g_strdup("Causes in other CTAs of the cluster are not followed.");
    return NULL;
}

WsDesign *ws_advise_settled(const WsDesign *design, const WsSetting *set, guint n_set)
{
    WsDesign *with = ws_design_ref(design);
    for (guint i = 0; i < n_set; i++) {
        WsDesign *next = ws_design_with_constant(with, set[i].name, set[i].value);
        if (next) {
            ws_design_unref(with);
            with = next;
        }
    }
    return with;
}

WsNext *ws_next_new(const WsDesign *design, const WsSetting *set, guint n_set, const WsProgram *p,
                    const WsLaunchValues *v, const WsMachine *m, const WsTrace *measured,
                    const WsNextOptions *options, WsFindings *findings)
{
    WsClockResult *predicted = ws_clock_run(p, v, m, NULL, findings);
    if (!predicted)
        return NULL;
    WsNext *n = g_new0(WsNext, 1);
    const WsTrace *t = measured ? measured : predicted->trace;
    guint cta = options ? options->cta : 0;
    n->predicted = predicted;
    n->edge = ws_next_edges(p, t, cta);
    n->path = ws_next_path(p, t, cta);
    n->part = ws_next_parts(n->path);
    n->edit = g_ptr_array_new_with_free_func((GDestroyNotify)ws_next_edit_free);
    n->note = note(n, measured, p);
    if (options && options->no_edits)
        return n;
    g_autoptr(WsDesign) start = ws_advise_settled(design, set, n_set);
    g_autoptr(GPtrArray) candidates = ws_candidates_new(start);
    const WsTrial trial = { p, v, m, options };
    if (!ws_trial_run(&trial, candidates, n))
        g_clear_pointer(&n, ws_next_free);
    return n;
}
