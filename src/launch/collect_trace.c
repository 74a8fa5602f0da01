/* The measured trace of one case of a bundle that was run: the records of its traced build. */
#include "base/file.h"
#include "launch/collect.h"
#include "model/findings.h"
#include "program/parts/tensor.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include "launch/devices.h"
#include "launch/measure.h"
#include "runner/manifest.h"

#include <string.h>

/* Of a device of a mesh, which has a number of its own. */
static WsLaunchValues *values_of(const WsCollected *c, const WsManifest *m, guint which,
                                 guint device, GError **error)
{
    WsSize size[WS_MANIFEST_SIZES];
    for (int i = 0; i < m->n_sizes; i++)
        size[i] =
            (WsSize){ m->size[i], m->mesh && i == m->rank ? device : m->case_[which].size[i] };
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsLaunchValues *v = ws_launch_values(c->program, size, (guint)m->n_sizes, FALSE, findings);
    if (!v) {
        g_autofree char *why = ws_findings_print(findings, NULL);
        g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT, "case %u of %s: %s", which,
                    c->dir, why);
    }
    return v;
}

/* `note`: what is said first. */
static void describe(WsTrace *t, const WsCollected *c, const WsCollectedCase *x, guint64 missing,
                     GString *note)
{
    t->device = g_strdup(c->device);
    t->overhead = x->overhead;
    t->missing = missing;
    if (x->cold.n && x->cold.floor_cycles > 0.75 * x->cold.cycles &&
        x->cold.floor_cycles <= x->cold.cycles)
        t->bound = g_strdup("tensor pipe");
    if (x->cold.n)
        g_string_append_printf(note, "%scold %.2f us", note->len ? ", " : "", x->cold.median_us);
    if (x->sustained.n)
        g_string_append_printf(note, "%ssustained %.2f us", note->len ? ", " : "",
                               x->sustained.median_us);
    if (missing)
        g_string_append_printf(note, "%s%" G_GUINT64_FORMAT " records were never written",
                               note->len ? ", " : "", missing);
    t->note = g_strdup(note->str);
}

typedef struct {
    const WsRunCase *of;
    const WsProgram *p;
    const WsLaunchValues *v;
} Inputs;

/* What the runner filled an integer tensor with, by offset in memory as there (runner/inputs.c). */
static gboolean input_element(gpointer data, gint tensor, const gint64 *at, gint64 *value)
{
    const Inputs *x = data;
    gint64 offset = 0;
    for (guint d = 0; d < x->p->tensor[tensor].rank; d++)
        offset += at[d] * ws_launch_stride(x->v, (guint)tensor, d);
    *value = (gint64)ws_input_value(&x->of->tensor[tensor].fill, (guint64)offset);
    return TRUE;
}

/* What one device recorded, or the only one. */
static WsTrace *part_trace(const WsCollected *c, const WsManifest *m, guint which,
                           const WsRecorder *plan, guint device, const guint8 *data, gsize size,
                           guint64 *missing, GError **error)
{
    const WsCollectedCase *x = c->cases->pdata[which];
    g_autofree WsRunCase *of = g_memdup2(&m->case_[which], sizeof(WsRunCase));
    g_autoptr(WsLaunchValues) v = values_of(c, m, which, device, error);
    guint64 lost = 0;
    if (!v)
        return NULL;
    for (int t = 0; m->mesh && t < m->n_tensors; t++)
        of->tensor[t].fill.key = ws_run_device_key(m, (int)device, t);
    Inputs inputs = { of, c->program, v };
    WsTrace *t =
        ws_measure(c->program, v, plan, x->grid, data, size, input_element, &inputs, &lost, error);
    *missing += lost;
    return t;
}

/* What several launches recorded by turns: their records lie one behind the other. */
static WsTrace *merged_trace(const WsCollected *c, const WsManifest *m, guint which,
                             WsRecordChoice *choice, const guint8 *data, gsize size, GError **error)
{
    g_autoptr(GPtrArray) part = g_ptr_array_new_with_free_func((GDestroyNotify)ws_trace_unref);
    g_autofree guint *phase = g_new(guint, choice->launches);
    const gsize each = size % choice->launches ? 0 : size / choice->launches;
    guint64 missing = 0;
    for (guint i = 0; i < choice->launches; i++) {
        choice->launch = i;
        phase[i] = (guint)ws_record_phase(choice->every, i);
        g_autoptr(WsRecorder) plan = ws_recorder_new(c->program, choice);
        WsTrace *one = part_trace(c, m, which, plan, 0, data + i * each, each, &missing, error);
        if (!one)
            return NULL;
        g_ptr_array_add(part, one);
    }
    WsTrace *t = ws_trace_merge(part, phase, error);
    g_autoptr(GString) note = g_string_new(NULL);
    g_string_append_printf(note, "merged from %u launches", choice->launches);
    if (t)
        describe(t, c, c->cases->pdata[which], missing, note);
    return t;
}

WsTrace *ws_collected_trace(const WsCollected *c, guint which, GError **error)
{
    if (which >= c->cases->len) {
        g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT, "%s holds %u cases", c->dir,
                    c->cases->len);
        return NULL;
    }
    const WsCollectedCase *x = c->cases->pdata[which];
    if (!x->records || strchr(x->records, '/')) {
        g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT,
                    "case %s of %s was not recorded (bundle --traced)", x->label ? x->label : "?",
                    c->dir);
        return NULL;
    }
    g_autofree WsManifest *m = g_new0(WsManifest, 1);
    char why[512];
    if (!ws_manifest_load(c->dir, m, why, sizeof why) || (guint)m->n_cases != c->cases->len) {
        g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT, "%s: %s", c->dir,
                    (guint)m->n_cases != c->cases->len ? "results and manifest differ" : why);
        return NULL;
    }
    g_autofree char *path = g_build_filename(c->dir, x->records, NULL);
    g_autofree char *data = NULL;
    gsize size;
    if (!ws_file_read(path, WS_MEASURE_MOST_BYTES, &data, &size, error))
        return NULL;
    WsRecordChoice choice = { m->first_round, m->rounds,          m->first_tile,
                              m->tiles,       (guint)m->n_ctas,   m->cta,
                              m->every,       (guint)m->launches, 0 };
    g_autoptr(WsRecorder) plan = ws_recorder_new(c->program, &choice);
    if (m->plan && m->plan != ws_measure_plan_key(plan)) {
        g_set_error(
            error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_PLAN,
            "%s was recorded by another version of Warpstave, whose recorder reads other clocks; "
            "bundle and run it again",
            c->dir);
        return NULL;
    }
    guint64 missing = 0;
    if (m->launches > 1)
        return merged_trace(c, m, which, &choice, (const guint8 *)data, size, error);
    const guint parts = m->mesh ? (guint)m->case_[which].devices : 1;
    const gsize each = size / MAX(parts, 1);
    g_autoptr(GPtrArray) part = g_ptr_array_new_with_free_func((GDestroyNotify)ws_trace_unref);
    for (guint d = 0; d < parts; d++) {
        WsTrace *one = part_trace(c, m, which, plan, d, (const guint8 *)data + d * each,
                                  size % parts ? 0 : each, &missing, error);
        if (!one)
            return NULL;
        g_ptr_array_add(part, one);
    }
    g_autoptr(GString) note = g_string_new(NULL);
    WsTrace *t = m->mesh ? ws_join_devices(c->program, part, plan, x->timers, (const guint8 *)data,
                                           each, note)
                         : ws_trace_ref(part->pdata[0]);
    t->every = plan->rounds ? (gint32)MAX(m->every, 1) : WS_TRACE_NO_ROUNDS;
    describe(t, c, x, missing, note);
    return t;
}
