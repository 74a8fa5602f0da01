/* The findings of a run as text for people and as results.json (version 1; README.md). */
#include "runner/hip_driver.h"
#include "runner/session.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *case_state_text(WsCaseState state)
{
    static const char *const text[] = {
        "not run", "nothing to launch", "right", "not judged", "wrong", "failed", "hung", "died"
    };
    return text[state];
}

int ws_exit_status(const WsResults *r)
{
    if (r->status)
        return r->status;
    for (int i = 0; i < r->n_cases; i++)
        if (r->case_[i].told ? r->case_[i].told == WS_TOLD_OTHER
                             : r->case_[i].state >= WS_CASE_WRONG)
            return WS_EXIT_NO;
    return WS_EXIT_YES;
}

/* --- text ------------------------------------------------------------------------------------- */

/* The clock that turns a time into cycles: the kernel's own, or NVML's where the launches lasted
 * long enough for it to be true. 0: there is none. */
static double clock_of(const WsTimeResult *t)
{
    return t->kernel_mhz > 0 ? t->kernel_mhz : t->seconds > 0 ? t->mhz : 0;
}

static void text_time(FILE *out, const char *what, const WsRunCase *c, const WsTimeResult *t,
                      double rate, int sms)
{
    if (!t->n)
        return;
    double mhz = clock_of(t);
    fprintf(out, "  %-10s %10.2f us median of %d (min %.2f, max %.2f", what, t->median, t->n,
            t->min, t->max);
    if (t->n >= WS_TIMES_FOR_PERCENTILES)
        fprintf(out, ", p10-p90 %.2f %%", 100 * (t->p90 - t->p10) / t->median);
    fputc(')', out);
    if (c->flops > 0)
        fprintf(out, ", %.1f TF/s", c->flops / t->median * 1e-6);
    if (mhz > 0) {
        double cycles = t->median * mhz;
        fprintf(out, ", %.0f cycles at %.0f MHz (%s)", cycles, mhz,
                t->kernel_mhz > 0 ? "clock of the traced kernel" : "NVML");
        const double floor = c->flops > 0 && rate > 0 ? c->flops / rate / sms : 0;
        if (floor > 0)
            fprintf(out, ", tensor floor %.0f", floor);
        if (floor > cycles)
            fputs(" CANNOT BE: operations, rate or clock are not those of this kernel", out);
        else if (floor > 0)
            fprintf(out, " = %.1f %%", 100 * floor / cycles);
    } else if (t->mhz > 0) {
        fprintf(out, ", NVML %.0f MHz between launches", t->mhz);
    }
    if (t->watt > 0 && t->seconds > 0)
        fprintf(out, ", %.0f W", t->watt);
    fputc('\n', out);
}

static void text_output(FILE *out, const WsManifest *m, const WsResults *r, int which, int t)
{
    const WsOutputResult *o = &r->case_[which].output[t];
    if (!o->checked)
        return;
    fprintf(out, "  %s: ", m->tensor[t].name);
    if (o->nonfinite)
        fprintf(out,
                "%" PRId64 " elements are not finite or were never written (first: %" PRId64 "); ",
                o->nonfinite, o->first_nonfinite);
    if (o->open)
        fprintf(out,
                "whether they are right its float64 reference did not say within %g s "
                "(--judge); ",
                r->judge);
    if (o->infinite)
        fprintf(out,
                "%" PRId64 " elements are infinite, as the reference is in all %" PRId64
                " of them that were compared; ",
                o->infinite, o->infinite_samples);
    if (o->anything)
        fprintf(out, "%" PRId64 " elements hold no number, where any is right; ", o->anything);
    if (!o->judged && o->late)
        fprintf(out, "not judged: its float64 reference did not end within %g s (--judge)",
                r->judge);
    else if (!o->judged)
        fprintf(out, "no reference to judge by");
    else if (o->wrong)
        fprintf(out, "%" PRId64 " of %" PRId64 " samples wrong, first %s", o->wrong, o->samples,
                o->first_wrong);
    else
        fprintf(out, "%" PRId64 " of %" PRId64 " elements agree, worst error %.3g of %.3g allowed",
                o->samples, o->elements, o->worst_error, o->worst_allowed);
    if (o->judged && !o->wrong && o->zeros_agree)
        fputs("; SAYS LITTLE: zeros would agree too", out);
    if (o->judged && o->samples < o->wanted)
        fprintf(out, " (of %" PRId64 " asked for: more would not have ended within %g s)",
                o->wanted, r->judge);
    if (o->repeat_hash)
        fprintf(out, "; second run %s", o->repeats ? "bit-identical" : "DIFFERS");
    if (o->traced_hash)
        fprintf(out, ", traced build %s", o->traced_same ? "bit-identical" : "DIFFERS");
    fprintf(out, " (hash %016" PRIx64 ")\n", o->hash);
}

/* Values of launches are compared where their order does not matter: not of what is added to. */
static bool compared(const WsManifest *m)
{
    for (int t = 0; t < m->n_tensors; t++)
        if (m->tensor[t].access == WS_RUN_WRITE)
            return true;
    return false;
}

void ws_report_case(FILE *out, const WsManifest *m, const WsResults *r, int which)
{
    const WsRunCase *c = &m->case_[which];
    const WsCaseResult *x = &r->case_[which];
    if (x->state == WS_CASE_WAITING)
        return;
    fprintf(out, "%s: %s", c->label, case_state_text(x->state));
    if (x->state == WS_CASE_NOTHING)
        fprintf(out, " (no tile: no kernel was started)\n");
    else
        fprintf(out, ", %u CTAs, %" PRId64 " tiles\n", x->grid, c->tiles);
    if (x->error[0])
        fprintf(out, "  %s\n", x->error);
    if (x->told)
        fprintf(out, "  %s: %s\n",
                x->told == WS_TOLD_SEEN ? "the counterexample is reproduced"
                                        : "the counterexample is NOT reproduced",
                x->seen);
    if (x->stuck[0] && !x->n_stuck)
        fprintf(out, "  stuck wait: %s\n", x->stuck);
    for (int i = 0; i < x->n_stuck; i++) {
        char text[WS_TEXT];
        ws_stuck_text(m, &x->stuck_agent[i], text, sizeof text);
        fprintf(out, "  stuck: %s\n", text);
    }
    for (int t = 0; t < m->n_tensors; t++)
        text_output(out, m, r, which, t);
    if (x->again && compared(m))
        fprintf(out, "  %" PRId64 " launches more: %" PRId64 " with other values\n", x->again,
                x->differ);
    else if (x->again)
        fprintf(out, "  %" PRId64 " launches more came to their end; sums are not compared\n",
                x->again);
    text_time(out, "cold", c, &x->cold, m->rate, r->sms);
    text_time(out, "traced", c, &x->cold_traced, m->rate, r->sms);
    if (x->cold_traced.n)
        fprintf(out, "  recording costs %+.2f %% (p10 %+.2f, p90 %+.2f); records in %s\n",
                100 * x->overhead, 100 * x->overhead_low, 100 * x->overhead_high,
                x->records[0] ? x->records : "no file");
    text_time(out, "sustained", c, &x->sustained, m->rate, r->sms);
    fflush(out);
}

static void text_module(FILE *out, const char *what, const WsModuleResult *x)
{
    if (!x->loaded)
        return;
    fprintf(out, "%s build: %d registers, %d bytes of local memory, loaded in %.0f ms", what,
            x->registers, x->local_bytes, x->load_ms);
    if (x->diagnostics)
        fprintf(out, ", %d C75xx DIAGNOSTICS:\n%s", x->diagnostics, x->log);
    fputc('\n', out);
}

void ws_report_text(FILE *out, const WsManifest *m, const WsResults *r)
{
    const bool hip = ws_hip_target(m);
    fprintf(out, "%s on %s, %d %s, driver %d.%d%s\n", m->name, r->device[0] ? r->device : "?",
            r->sms, hip ? "CUs" : "SMs", r->driver_version / 1000, r->driver_version % 1000 / 10,
            r->nvml ? ""
            : hip   ? ", clock and power unknown"
                    : ", no NVML (clock and power unknown)");
    if (hip)
        fputs(
            "HIP: untested on a GPU until one is available; the runner was tried on a stand-in of "
            "its "
            "library\n",
            out);
    for (int d = 0; d < r->n_devices; d++)
        fprintf(out, "%s%d%s", d ? ", " : "devices of the mesh: GPU ", r->ordinal[d],
                d + 1 < r->n_devices ? "" : "\n");
    text_module(out, "timed", &r->module[WS_MODULE_TIMED]);
    text_module(out, "traced", &r->module[WS_MODULE_TRACED]);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void js_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < 32 || *p >= 127)
            fprintf(out, "\\u%04x", *p); /* driver logs need not be UTF-8 */
        else
            fputc(*p, out);
    }
    fputc('"', out);
}

static void js_real(FILE *out, double v)
{
    if (isfinite(v))
        fprintf(out, "%.9g", v);
    else
        fputs("null", out);
}

static void js_member(FILE *out, const char *name, double v)
{
    fprintf(out, ", \"%s\": ", name);
    js_real(out, v);
}

static void js_time(FILE *out, const char *what, const WsRunCase *c, const WsTimeResult *t,
                    double rate, int sms)
{
    if (!t->n)
        return;
    double mhz = clock_of(t);
    fprintf(out, ",\n      \"%s\": {\"n\": %d", what, t->n);
    js_member(out, "median_us", t->median);
    js_member(out, "min_us", t->min);
    js_member(out, "max_us", t->max);
    js_member(out, "p10_us", t->p10);
    js_member(out, "p90_us", t->p90);
    if (t->seconds > 0)
        js_member(out, "seconds", t->seconds);
    if (c->flops > 0)
        js_member(out, "tflops", c->flops / t->median * 1e-6);
    if (mhz > 0) {
        js_member(out, "sm_mhz", mhz);
        fprintf(out, ", \"clock_source\": \"%s\"", t->kernel_mhz > 0 ? "kernel" : "nvml");
        js_member(out, "cycles", mhz * t->median);
    }
    if (c->flops > 0 && rate > 0)
        js_member(out, "tensor_floor_cycles", c->flops / rate / sms);
    if (t->mhz > 0) {
        js_member(out, "nvml_mhz", t->mhz);
        js_member(out, "nvml_mhz_min", t->mhz_min);
        js_member(out, "nvml_mhz_max", t->mhz_max);
    }
    if (t->watt > 0)
        js_member(out, "nvml_watt", t->watt);
    fputc('}', out);
}

static void js_output(FILE *out, const WsManifest *m, const WsOutputResult *o, int t, bool first)
{
    fprintf(out, "%s\n        {\"tensor\": ", first ? "" : ",");
    js_text(out, m->tensor[t].name);
    fprintf(out,
            ", \"elements\": %" PRId64 ", \"nonfinite\": %" PRId64 ", \"judged\": %s"
            ", \"late\": %s, \"samples\": %" PRId64 ", \"wanted\": %" PRId64
            ", \"wrong\": %" PRId64,
            o->elements, o->nonfinite, o->judged ? "true" : "false", o->late ? "true" : "false",
            o->samples, o->wanted, o->wrong);
    if (o->infinite)
        fprintf(out, ", \"infinite\": %" PRId64 ", \"infinite_samples\": %" PRId64, o->infinite,
                o->infinite_samples);
    if (o->anything)
        fprintf(out, ", \"anything\": %" PRId64, o->anything);
    if (o->open)
        fprintf(out, ", \"open\": %" PRId64, o->open);
    if (o->zeros_agree)
        fputs(", \"zeros_agree\": true", out);
    js_member(out, "worst_error", o->worst_error);
    js_member(out, "worst_allowed", o->worst_allowed);
    if (o->first_wrong[0]) {
        fputs(", \"first_wrong\": ", out);
        js_text(out, o->first_wrong);
    }
    fprintf(out, ", \"hash\": \"%016" PRIx64 "\"", o->hash);
    if (o->repeat_hash) /* else there was no second run */
        fprintf(out, ", \"repeats\": %s", o->repeats ? "true" : "false");
    if (o->traced_hash)
        fprintf(out, ", \"traced_same\": %s", o->traced_same ? "true" : "false");
    fputc('}', out);
}

static void js_stuck(FILE *out, const WsManifest *m, const WsStuckAgent *a, bool first)
{
    fprintf(out, "%s\n        {\"cta\": %u, \"agent\": ", first ? "" : ",", a->cta);
    js_text(out, ws_stuck_agent(m, a));
    fputs(", \"step\": ", out);
    js_text(out, ws_stuck_step(m, a));
    fputs(", \"barrier\": ", out);
    js_text(out, ws_stuck_barrier(m, a));
    fprintf(out, ", \"op\": %u, \"waits\": \"%s\"", a->op,
            a->state == WS_DEBUG_MBARRIER ? "mbarrier" : "sync");
    if (a->state == WS_DEBUG_MBARRIER)
        fprintf(out, ", \"slot\": %u, \"awaited\": %u, \"seen\": %u, \"pending\": %u", a->slot,
                a->parity, a->parity, a->pending);
    fputs(", \"rounds\": [", out);
    for (int i = 0; i < 3 && a->round[i] >= 0; i++)
        fprintf(out, "%s%d", i ? ", " : "", a->round[i]);
    fputs("]}", out);
}

static void js_hang(FILE *out, const WsManifest *m, const WsCaseResult *x)
{
    if (x->n_stuck) {
        fputs(",\n      \"stuck_agents\": [", out);
        for (int i = 0; i < x->n_stuck; i++)
            js_stuck(out, m, &x->stuck_agent[i], i == 0);
        fputc(']', out);
    }
    if (!x->told)
        return;
    fprintf(out,
            ",\n      \"adversary\": {\"moves\": %u, \"of\": %u, \"gave_up\": %s, \"as_told\": %s, "
            "\"seen\": ",
            x->moves, m->moves, x->gave_up ? "true" : "false",
            x->told == WS_TOLD_SEEN ? "true" : "false");
    js_text(out, x->seen);
    fputs(", \"told\": ", out);
    js_text(out, m->told);
    fputc('}', out);
}

/* null: its timer and that of the first device did not meet. */
static void js_timers(FILE *out, const WsRunCase *c, const WsCaseResult *x)
{
    for (int d = 0; d < c->devices; d++) {
        fputs(d ? ", " : ", \"timers\": [", out);
        if (x->timer[d].known)
            fprintf(out, "{\"ahead_ns\": %.1f, \"error_ns\": %.1f}", x->timer[d].ahead_ns,
                    x->timer[d].error_ns);
        else
            fputs("null", out);
    }
    if (c->devices)
        fputc(']', out);
}

static void js_case(FILE *out, const WsManifest *m, const WsResults *r, int which)
{
    const WsRunCase *c = &m->case_[which];
    const WsCaseResult *x = &r->case_[which];
    fputs("    {\"label\": ", out);
    js_text(out, c->label);
    fputs(", \"sizes\": {", out);
    for (int i = 0; i < m->n_sizes; i++)
        fprintf(out, "%s\"%s\": %" PRId64, i ? ", " : "", m->size[i], c->size[i]);
    fputs("}, \"state\": ", out);
    js_text(out, case_state_text(x->state));
    fprintf(out, ", \"grid\": %u, \"tiles\": %" PRId64, x->grid, c->tiles);
    js_member(out, "flops", c->flops);
    js_member(out, "seconds", x->seconds);
    if (x->error[0]) {
        fputs(",\n      \"error\": ", out);
        js_text(out, x->error);
    }
    if (x->stuck[0]) {
        fputs(",\n      \"stuck\": ", out);
        js_text(out, x->stuck);
    }
    js_hang(out, m, x);
    if (x->again)
        fprintf(out, ",\n      \"again\": %" PRId64 ", \"differ\": %" PRId64, x->again, x->differ);
    fputs(",\n      \"outputs\": [", out);
    bool first = true;
    for (int t = 0; t < m->n_tensors; t++)
        if (x->output[t].checked) {
            js_output(out, m, &x->output[t], t, first);
            first = false;
        }
    fputc(']', out);
    js_time(out, "cold", c, &x->cold, m->rate, r->sms);
    js_time(out, "cold_traced", c, &x->cold_traced, m->rate, r->sms);
    js_time(out, "sustained", c, &x->sustained, m->rate, r->sms);
    if (x->probe_mhz > 0)
        js_member(out, "probe_mhz", x->probe_mhz);
    if (x->cold_traced.n) {
        js_member(out, "overhead", x->overhead);
        js_member(out, "overhead_p10", x->overhead_low);
        js_member(out, "overhead_p90", x->overhead_high);
    }
    if (x->records[0]) {
        fputs(", \"records\": ", out);
        js_text(out, x->records);
        js_timers(out, c, x);
    }
    fputc('}', out);
}

void ws_report_json(FILE *out, const WsManifest *m, const WsRunOptions *o, const WsResults *r,
                    int status)
{
    static const char *const kinds[] = { "timed", "traced", "debug" };
    fprintf(out, "{\"warpstave_results\": 1, \"runner\": \"%s\", \"status\": %d,\n  \"name\": ",
            WARPSTAVE_VERSION, status);
    js_text(out, m->name);
    fputs(", \"design_hash\": ", out);
    js_text(out, m->hash);
    fputs(",\n  \"device\": {\"name\": ", out);
    js_text(out, r->device);
    fprintf(
        out,
        ", \"sms\": %d, \"compute\": \"%d.%d\", \"l2_bytes\": %d, \"driver\": %d, \"nvml\": %s}",
        r->sms, r->major, r->minor, r->l2_bytes, r->driver_version, r->nvml ? "true" : "false");
    for (int d = 0; d < r->n_devices; d++)
        fprintf(out, "%s%d%s", d ? ", " : ",\n  \"devices\": [", r->ordinal[d],
                d + 1 < r->n_devices ? "" : "]");
    fprintf(out, ",\n  \"seed\": %" PRIu64 ", \"runs\": %u", m->seed, o->runs);
    if (r->error[0]) {
        fputs(",\n  \"error\": ", out);
        js_text(out, r->error);
    }
    fputs(",\n  \"modules\": {", out);
    bool first = true;
    for (int k = 0; k < WS_MODULE_COUNT; k++) {
        const WsModuleResult *x = &r->module[k];
        if (!x->loaded && !x->log[0])
            continue;
        fprintf(out,
                "%s\n    \"%s\": {\"registers\": %d, \"local_bytes\": %d, \"load_ms\": %.1f, "
                "\"diagnostics\": %d, \"log\": ",
                first ? "" : ",", kinds[k], x->registers, x->local_bytes, x->load_ms,
                x->diagnostics);
        js_text(out, x->log);
        fputc('}', out);
        first = false;
    }
    fputs("},\n  \"cases\": [\n", out);
    for (int i = 0; i < m->n_cases; i++) {
        js_case(out, m, r, i);
        fputs(i + 1 < m->n_cases ? ",\n" : "\n", out);
    }
    fputs("  ]\n}\n", out);
}

bool ws_report_save(const char *dir, const WsManifest *m, const WsRunOptions *o, const WsResults *r,
                    int status, char *error, size_t size)
{
    char path[4096], part[4200];
    snprintf(path, sizeof path, "%s/results.json", dir);
    snprintf(part, sizeof part, "%s.part", path);
    FILE *f = fopen(part, "wb");
    if (!f) {
        snprintf(error, size, "cannot write %s: %s", part, strerror(errno));
        return false;
    }
    ws_report_json(f, m, o, r, status);
    bool ok = !ferror(f) && fflush(f) == 0 && fsync(fileno(f)) == 0;
    ok = fclose(f) == 0 && ok;
    if (!ok || rename(part, path) != 0) {
        snprintf(error, size, "cannot write %s: %s", path, strerror(errno));
        unlink(part);
        return false;
    }
    return true;
}
