/* How long does it take? Two figures, never mixed: *cold* launches, each after a 256 MB memset that
 * empties the L2 (and rests the tensor cores), timed by events; and *sustained*, back to back for
 * the given time, of which the last two thirds count. Where a traced build exists it takes turns
 * with the timed one within the same rounds, order alternating. */
#include "runner/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SAMPLES = 16384 };

typedef struct {
    double us[MAX_SAMPLES];
    int n;
    double mhz, mhz_min, mhz_max, watt;
    int n_clock, n_power;
    double kernel_mhz[MAX_SAMPLES];
    int n_kernel;
} Figures;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double quantile(const double *sorted, int n, double q)
{
    double at = q * (n - 1);
    int i = (int)at;
    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

static void sample_device(const WsSession *s, Figures *f)
{
    unsigned v;
    if (!s->nvml.device)
        return;
    if (s->nvml.clock(s->nvml.device, 1 /* SM */, &v) == 0) {
        f->mhz += v;
        f->mhz_min = f->n_clock ? fmin(f->mhz_min, v) : v;
        f->mhz_max = fmax(f->mhz_max, v);
        f->n_clock++;
    }
    if (s->nvml.power(s->nvml.device, &v) == 0) {
        f->watt += v / 1000.0;
        f->n_power++;
    }
}

static void finish(Figures *f, WsTimeResult *out)
{
    out->n = f->n;
    if (!f->n)
        return;
    qsort(f->us, (size_t)f->n, sizeof *f->us, by_value);
    out->median = quantile(f->us, f->n, 0.5);
    out->min = f->us[0];
    out->max = f->us[f->n - 1];
    out->p10 = quantile(f->us, f->n, 0.1);
    out->p90 = quantile(f->us, f->n, 0.9);
    out->mhz = f->n_clock ? f->mhz / f->n_clock : 0;
    out->mhz_min = f->mhz_min;
    out->mhz_max = f->mhz_max;
    out->watt = f->n_power ? f->watt / f->n_power : 0;
    qsort(f->kernel_mhz, (size_t)f->n_kernel, sizeof *f->kernel_mhz, by_value);
    out->kernel_mhz = f->n_kernel ? quantile(f->kernel_mhz, f->n_kernel, 0.5) : 0;
}

/* The SM clock during the traced launch that has just ended, from the header of the first recorded
 * CTA (trace/recorder.h): %globaltimer and %clock64 at its start and end. */
static bool sample_kernel_clock(WsSession *s, Figures *f)
{
    uint64_t head[5]; /* SM and CTA, timer start, end, clock start, end */
    if (!ws_cu(s, s->cu.copy_to_host(head, s->records, sizeof head), "cuMemcpyDtoH"))
        return false;
    uint64_t ns = head[2] - head[1], cycles = head[4] - head[3];
    if (head[0] != UINT64_MAX && ns > 2000 && ns < 1ull << 40 && cycles < 1ull << 42)
        f->kernel_mhz[f->n_kernel++] = (double)cycles * 1e3 / (double)ns;
    return true;
}

/* One cold launch; *us = microseconds between the events around it. */
static bool cold_launch(WsSession *s, WsModuleKind kind, Figures *f, double *us)
{
    float ms = 0;
    if (s->mesh)
        return ws_mesh_cold(s, kind, us);
    if (!ws_case_zero_reductions(s) ||
        !ws_cu(s, s->cu.memset32(s->flush, 0, WS_FLUSH_BYTES / 4, s->stream), "cuMemsetD32Async") ||
        !ws_cu(s, s->cu.event_record(s->event[0], s->stream), "cuEventRecord") ||
        !ws_session_launch(s, kind) ||
        !ws_cu(s, s->cu.event_record(s->event[1], s->stream), "cuEventRecord"))
        return false;
    sample_device(s, f); /* while the GPU works */
    if (!ws_cu(s, s->cu.event_synchronize(s->event[1]), "cuEventSynchronize") ||
        !ws_cu(s, s->cu.event_elapsed(&ms, s->event[0], s->event[1]), "cuEventElapsedTime"))
        return false;
    *us = ms * 1e3;
    return ms > 0 || ws_session_fail(s, "the driver's events are %g ms apart around a launch", ms);
}

/* SM clock right now, by a kernel that compares %clock64 with the nanosecond timer for 0.2 ms. */
static bool probe(WsSession *s, double *mhz)
{
    uint64_t ns = 200000, v[2] = { 0, 0 };
    void *parameter[] = { &ns, &s->scratch };
    *mhz = 0;
    if (!s->probe.function)
        return true;
    if (!ws_session_small(s, &s->probe, 1, parameter) || !ws_session_synchronize(s) ||
        !ws_cu(s, s->cu.copy_to_host(v, s->scratch, 16), "cuMemcpyDtoH"))
        return false;
    *mhz = v[1] ? (double)v[0] * 1e3 / (double)v[1] : 0;
    return true;
}

enum { WARM_ROUNDS = 3 };

static bool cold_rounds(WsSession *s, Figures *timed, Figures *traced, double *ratio)
{
    bool both = s->build[WS_MODULE_TRACED].function != NULL;
    /* clocks of an earlier case, whose grid was another, are none of this one */
    if (both && !ws_trace_clear(s))
        return false;
    int rounds = (int)s->options->runs;
    for (int i = -WARM_ROUNDS; i < rounds; i++) {
        double us[2] = { 0, 0 };
        ws_session_phase(s, s->options->timeout, "cold round %d of %d", i + 1, rounds);
        for (int turn = 0; turn < 1 + both; turn++) {
            int which = both && ((turn + i) & 1);
            Figures *f = which ? traced : timed;
            if (!cold_launch(s, which ? WS_MODULE_TRACED : WS_MODULE_TIMED, f, &us[which]))
                return false;
            if (i >= 0)
                f->us[f->n++] = us[which];
            if (i >= 0 && which && !sample_kernel_clock(s, f))
                return false;
        }
        if (i >= 0 && both)
            ratio[i] = us[1] / us[0] - 1;
    }
    return probe(s, &s->r->probe_mhz);
}

/* Batches of about 20 ms, the next one queued before the last one is waited for. */
static bool sustained(WsSession *s, Figures *f, double *measured)
{
    double cold = s->r->cold.median;
    int batch = cold > 0 ? (int)(20000 / cold) : 100;
    batch = batch < 1 ? 1 : batch > 2000 ? 2000 : batch;
    double begin = ws_seconds(), want = s->options->sustained;
    for (int i = 0; f->n < MAX_SAMPLES; i++) {
        void *from = s->event[2 * (i & 1)], *to = s->event[2 * (i & 1) + 1];
        double age = ws_seconds() - begin;
        bool more = age < want;
        ws_session_phase(s, s->options->timeout + batch * cold * 1e-5, "sustained launches");
        if (more) {
            if (!ws_cu(s, s->cu.event_record(from, s->stream), "cuEventRecord"))
                return false;
            for (int k = 0; k < batch; k++)
                if (!ws_session_launch(s, WS_MODULE_TIMED))
                    return false;
            if (!ws_cu(s, s->cu.event_record(to, s->stream), "cuEventRecord"))
                return false;
        }
        if (i > 0) {
            void *last_from = s->event[2 * ((i - 1) & 1)],
                 *last_to = s->event[2 * ((i - 1) & 1) + 1];
            float ms = 0;
            if (!ws_cu(s, s->cu.event_synchronize(last_to), "cuEventSynchronize") ||
                !ws_cu(s, s->cu.event_elapsed(&ms, last_from, last_to), "cuEventElapsedTime"))
                return false;
            if (age > want / 3) {
                if (!(ms > 0))
                    return ws_session_fail(s, "the driver's events are %g ms apart around launches",
                                           ms);
                f->us[f->n++] = ms * 1e3 / batch;
                *measured += ms * 1e-3;
                if (more)
                    sample_device(s, f);
            }
        }
        if (!more)
            break;
    }
    return ws_session_synchronize(s);
}

static void finish_overhead(WsSession *s, double *ratio)
{
    int n = (int)s->options->runs;
    qsort(ratio, (size_t)n, sizeof *ratio, by_value);
    s->r->overhead = quantile(ratio, n, 0.5);
    s->r->overhead_low = quantile(ratio, n, 0.1);
    s->r->overhead_high = quantile(ratio, n, 0.9);
}

bool ws_time_case(WsSession *s)
{
    static Figures timed, traced, steady;
    static double ratio[MAX_SAMPLES];
    memset(&timed, 0, sizeof timed);
    memset(&traced, 0, sizeof traced);
    memset(&steady, 0, sizeof steady);
    if (!cold_rounds(s, &timed, &traced, ratio))
        return false;
    finish(&timed, &s->r->cold);
    if (traced.n) {
        finish(&traced, &s->r->cold_traced);
        s->r->cold.kernel_mhz = s->r->cold_traced.kernel_mhz; /* same rounds, by turns */
        finish_overhead(s, ratio);
    }
    if (s->options->sustained > 0 && !s->mesh) { /* devices would run apart */
        if (!sustained(s, &steady, &s->r->sustained.seconds))
            return false;
        finish(&steady, &s->r->sustained);
    }
    return true;
}
