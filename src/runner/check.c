/* Is the result right? Outputs are poisoned, the kernel runs, then: nothing may be left poisoned or
 * non-finite where the reference is finite, sampled elements must agree with the float64 reference
 * kernel, and a second run must give the same bits. */
#include "program/agree.h"
#include "runner/session.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t rank, extent[5], stride[5];
} Layout; /* as in kernels.cu */

static Layout layout_of(const WsSession *s, int t)
{
    Layout l = { .rank = s->m->tensor[t].rank };
    for (int d = 0; d < 5; d++) {
        l.extent[d] = d < l.rank ? s->c->tensor[t].extent[d] : 1;
        l.stride[d] = d < l.rank ? s->c->tensor[t].stride[d] : 0;
    }
    return l;
}

bool ws_hash_output(WsSession *s, int t, uint64_t *hash)
{
    int64_t bytes = (int64_t)s->bytes[t];
    void *parameter[] = { &s->tensor[t], &bytes, &s->scratch };
    *hash = 0;
    return ws_cu(s, s->cu.memset8(s->scratch, 0, 64, s->stream), "cuMemsetD8Async") &&
           ws_session_small(s, &s->hash, (bytes + 3) / 4, parameter) && ws_session_synchronize(s) &&
           ws_cu(s, s->cu.copy_to_host(hash, s->scratch, 8), "cuMemcpyDtoH");
}

static bool scan(WsSession *s, int t, WsOutputResult *o)
{
    int dtype = s->m->tensor[t].dtype;
    Layout l = layout_of(s, t);
    uint64_t found[2] = { 0, UINT64_MAX };
    void *parameter[] = { &s->tensor[t], &dtype, &l, &o->elements, &s->scratch };
    if (!ws_cu(s, s->cu.copy_to_device(s->scratch, found, 16), "cuMemcpyHtoD") ||
        !ws_session_small(s, &s->scan, o->elements, parameter) || !ws_session_synchronize(s) ||
        !ws_cu(s, s->cu.copy_to_host(found, s->scratch, 16), "cuMemcpyDtoH"))
        return false;
    o->nonfinite = (int64_t)found[0];
    o->first_nonfinite = found[0] ? (int64_t)found[1] : -1;
    return true;
}

/* Flat indices to look at: all if they are few, else the corners, then by turns anywhere, at the
 * end of some dimension, and beside a multiple of 64 (where tiles and chunks meet). */
static int64_t choose(const WsSession *s, int t, int64_t elements, int64_t want, int64_t *at)
{
    Layout l = layout_of(s, t);
    int64_t n = 0;
    if (elements <= want) {
        for (; n < elements; n++)
            at[n] = n;
        return n;
    }
    for (int corner = 0; corner < 1 << l.rank && n < want; corner++) {
        int64_t flat = 0;
        for (int d = 0; d < l.rank; d++)
            flat = flat * l.extent[d] + (corner >> d & 1 ? l.extent[d] - 1 : 0);
        at[n++] = flat;
    }
    uint64_t key = ws_input_key(s->m->seed ^ 0x5a5a, (uint32_t)t);
    for (int64_t i = 0; n < want; i++) {
        int64_t flat = 0, edge = (int64_t)(ws_input_word(key, (uint64_t)i, 3) % (uint64_t)l.rank);
        for (int d = 0; d < l.rank; d++) {
            uint64_t w = ws_input_word(key, (uint64_t)i * 8 + (uint64_t)d, 0);
            int64_t x = (int64_t)(w % (uint64_t)l.extent[d]);
            if (i % 4 == 1 && d == edge && l.extent[d] > 8)
                x = l.extent[d] - 1 - (int64_t)(w >> 32 & 7);
            if (i % 4 == 3 && d == edge) {
                x = x / 64 * 64 - (int64_t)(w >> 40 & 1);
                x = x < 0 ? 0 : x;
            }
            flat = flat * l.extent[d] + x;
        }
        at[n++] = flat;
    }
    return n;
}

static void index_text(const WsSession *s, int t, int64_t flat, char *text, size_t size)
{
    Layout l = layout_of(s, t);
    int64_t x[5];
    for (int d = (int)l.rank - 1; d >= 0; d--) {
        x[d] = flat % l.extent[d];
        flat /= l.extent[d];
    }
    int n = snprintf(text, size, "%s[", s->m->tensor[t].name);
    for (int d = 0; d < l.rank; d++)
        n += snprintf(text + n, size - (size_t)n, d ? ", %" PRId64 : "%" PRId64, x[d]);
    snprintf(text + n, size - (size_t)n, "]");
}

static void compare(const WsSession *s, int t, WsOutputResult *o, const int64_t *at,
                    const double *got, const double *want, int64_t n)
{
    const WsRunTensor *tensor = &s->m->tensor[t];
    double worst = -1;
    o->samples = n;
    o->zeros_agree = n > 0;
    for (int64_t i = 0; i < n; i++) {
        if (ws_is_any(want[i])) { /* compared with nothing */
            o->samples--;
            o->wanted--;
            continue;
        }
        const WsAgreement a =
            ws_agree(got[i], want[i], tensor->tolerance_abs, tensor->tolerance_rel);
        o->zeros_agree = o->zeros_agree &&
                         ws_agree(0, want[i], tensor->tolerance_abs, tensor->tolerance_rel).agrees;
        double share = a.allowed > 0 ? a.error / a.allowed : a.error > 0 ? INFINITY : 0;
        if (!a.agrees) {
            if (!o->wrong++) {
                char where[128];
                index_text(s, t, at[i], where, sizeof where);
                snprintf(o->first_wrong, sizeof o->first_wrong,
                         "%s = %.9g, reference %.9g (error %.3g, allowed %.3g)", where, got[i],
                         want[i], a.error, a.allowed);
            }
        }
        if (share > worst || (share == INFINITY && a.error > o->worst_error)) {
            worst = share;
            o->worst_error = a.error;
            o->worst_allowed = a.allowed;
        }
    }
}

enum { FIRST_SAMPLES = 64, GROWTH = 8 };

/* out[i] = the kernel's value at flat index at[i], both on the GPU; not waited for. */
static bool gather(WsSession *s, int t, uint64_t at, uint64_t out, int64_t n)
{
    int dtype = s->m->tensor[t].dtype;
    Layout l = layout_of(s, t);
    void *parameter[] = { &s->tensor[t], &dtype, &l, &at, &out, &n };
    return ws_session_small(s, &s->gather, n, parameter);
}

/* got = the kernel's values, want = the reference kernel's, at the n flat indices `at`. The GPU is
 * waited for until `until` (ws_seconds): *ended says whether it was done. */
static bool evaluate(WsSession *s, int t, const int64_t *at, double *got, double *want, int64_t n,
                     double until, bool *ended)
{
    uint64_t memory;
    size_t part = (size_t)n * 8;
    if (!ws_cu(s, s->cu.mem_alloc(&memory, 3 * part), "cuMemAlloc"))
        return false;
    uint64_t got_at = memory + part, want_at = memory + 2 * part;
    void *reference[WS_MANIFEST_TENSORS + WS_MANIFEST_SIZES + WS_MANIFEST_SCALARS + 3 +
                    WS_MANIFEST_TENSORS + 1];
    int k = 0;
    for (int i = 0; i < s->m->n_tensors; i++)
        reference[k++] = &s->tensor[i];
    for (int i = 0; i < s->m->n_sizes; i++)
        reference[k++] = (void *)&s->c->size[i];
    for (int i = 0; i < s->m->n_scalars; i++)
        reference[k++] = (void *)&s->m->scalar_value[i];
    for (int i = 0; s->mesh && i <= s->m->n_tensors; i++)
        reference[k++] = (void *)&s->pitch[i];
    reference[k++] = &memory;
    reference[k++] = &want_at;
    reference[k++] = &n;
    bool ok = ws_cu(s, s->cu.copy_to_device(memory, at, part), "cuMemcpyHtoD") &&
              gather(s, t, memory, got_at, n) &&
              ws_session_small(s, &s->reference[t], n, reference);
    int done = ok ? ws_session_wait(s, until - ws_seconds()) : -1;
    *ended = done != 0;
    if (done == 0)
        return true; /* the kernel still writes to `memory`: the context goes, and it with it */
    ok = ok && done == 1 && ws_cu(s, s->cu.copy_to_host(got, got_at, part), "cuMemcpyDtoH") &&
         ws_cu(s, s->cu.copy_to_host(want, want_at, part), "cuMemcpyDtoH");
    s->cu.mem_free(memory);
    return ok;
}

/* Computes samples in parts, each alone on the GPU and larger than the one before, as long as the
 * next one can be hoped to end within the bound; *n becomes how many were computed. A few samples
 * take as long as many do until the SMs are full, so a part may take longer by its growth at most.
 */
static bool evaluate_parts(WsSession *s, int t, const int64_t *at, double *got, double *want,
                           int64_t *n)
{
    WsOutputResult *o = &s->r->output[t];
    double until = ws_seconds() + s->options->judge, last = 0;
    int64_t done = 0, all = *n, part = FIRST_SAMPLES;
    if (o->late)
        all = o->most < all ? o->most : all;
    while (done < all && (done == 0 || ws_seconds() + last * GROWTH < until)) {
        bool ended;
        double start = ws_seconds();
        part = part < all - done ? part : all - done;
        ws_session_phase(s, s->options->judge + 30,
                         "computing %" PRId64 " samples of %s in float64", part,
                         s->m->tensor[t].name);
        if (!evaluate(s, t, at + done, got + done, want + done, part,
                      o->late ? start + 2 * s->options->judge : until, &ended))
            return false;
        if (!ended) {
            o->most = o->late ? 0 : done;
            o->late = s->r->restart = true;
            return ws_session_fail(s, "the float64 reference of %s did not end",
                                   s->m->tensor[t].name);
        }
        done += part;
        last = ws_seconds() - start;
        part *= GROWTH;
    }
    *n = done;
    return true;
}

static bool sample(WsSession *s, int t, WsOutputResult *o)
{
    int64_t want_n = s->options->samples;
    int64_t *at = calloc((size_t)want_n, sizeof *at);
    double *got = calloc((size_t)want_n, sizeof *got), *want = calloc((size_t)want_n, sizeof *want);
    bool ok = at && got && want;
    if (!ok)
        ws_session_fail(s, "out of memory for %" PRId64 " samples", want_n);
    if (ok) {
        int64_t n = choose(s, t, o->elements, want_n, at);
        o->wanted = n;
        ok = evaluate_parts(s, t, at, got, want, &n);
        if (ok && n > 0)
            compare(s, t, o, at, got, want, n);
        o->judged = ok && n > 0;
    }
    free(at);
    free(got);
    free(want);
    return ok;
}

/* --- infinite elements -------------------------------------------------------------------------
 */

enum { PART = 1 << 18 }; /* elements that are read back at a time */

/* got = the kernel's values from flat index `first` on. */
static bool read_back(WsSession *s, int t, int64_t first, int64_t *at, double *got, int64_t n)
{
    uint64_t memory;
    const size_t part = (size_t)n * 8;
    if (!ws_cu(s, s->cu.mem_alloc(&memory, 2 * part), "cuMemAlloc"))
        return false;
    for (int64_t i = 0; i < n; i++)
        at[i] = first + i;
    const bool ok = ws_cu(s, s->cu.copy_to_device(memory, at, part), "cuMemcpyHtoD") &&
                    gather(s, t, memory, memory + part, n) && ws_session_synchronize(s) &&
                    ws_cu(s, s->cu.copy_to_host(got, memory + part, part), "cuMemcpyDtoH");
    s->cu.mem_free(memory);
    return ok;
}

/* Flat indices of infinite elements, at most `room` of them and as far apart as that asks for. One
 * that is not a number ends it: *n = 0. */
static bool find_infinite(WsSession *s, int t, int64_t *found, int64_t room, int64_t *n)
{
    const WsOutputResult *o = &s->r->output[t];
    const int64_t each = (o->nonfinite + room - 1) / room;
    int64_t *at = malloc(PART * sizeof *at), seen = 0;
    double *got = malloc(PART * sizeof *got);
    bool ok = at && got, nan = false;
    *n = 0;
    if (!ok)
        ws_session_fail(s, "out of memory for the elements of %s", s->m->tensor[t].name);
    for (int64_t first = 0; ok && !nan && first < o->elements; first += PART) {
        const int64_t count = o->elements - first < PART ? o->elements - first : PART;
        ok = read_back(s, t, first, at, got, count);
        for (int64_t i = 0; ok && !nan && i < count; i++) {
            nan = isnan(got[i]) && !o->anything;
            if (isinf(got[i]) && seen++ % each == 0 && *n < room)
                found[(*n)++] = first + i;
        }
    }
    if (nan)
        *n = 0;
    free(at);
    free(got);
    return ok;
}

/* An element that is infinite in the reference, too, is right (the log-sum-exp of a row that sees
 * nothing): they are compared like samples, as many as those. What is not a number, and what was
 * never written, is wrong whatever the reference says. */
static bool judge_infinite(WsSession *s, int t, WsOutputResult *o)
{
    const int64_t room = s->options->samples;
    int64_t *at = calloc((size_t)room, sizeof *at), n = 0, same = 0;
    double *got = calloc((size_t)room, sizeof *got), *want = calloc((size_t)room, sizeof *want);
    bool ok = at && got && want;
    if (!ok)
        ws_session_fail(s, "out of memory for %" PRId64 " samples", room);
    ok = ok && find_infinite(s, t, at, room, &n);
    const int64_t found = n;
    if (ok && n > 0)
        ok = evaluate_parts(s, t, at, got, want, &n);
    for (int64_t i = 0; ok && i < n; i++)
        same += got[i] == want[i];
    if (ok && n > 0 && same == n) {
        o->infinite = o->nonfinite;
        o->infinite_samples = n;
        o->nonfinite = 0;
    } else if (ok && found > 0 && n == 0) {
        o->open = o->nonfinite;
    }
    free(at);
    free(got);
    free(want);
    return ok;
}

/* Whether the reference says `any` of the n elements `at`: of the first ones before all. *open: of
 * all that it could be asked about in time, and that is not each. */
static bool all_any(WsSession *s, int t, const int64_t *at, double *got, double *want, int64_t n,
                    bool *any, bool *open)
{
    for (int64_t done = 0, part = FIRST_SAMPLES; done < n && *any && !*open;
         done += part, part = n) {
        int64_t count = part < n - done ? part : n - done, judged = count;
        if (!evaluate_parts(s, t, at + done, got, want, &judged))
            return false;
        for (int64_t i = 0; *any && i < judged; i++)
            *any = ws_is_any(want[i]);
        *open = *any && judged < count;
        part = count;
    }
    return true;
}

/* What holds no number, or was never written, is right where the reference says `any`. All such
 * elements are asked about; one that is not `any` leaves them all wrong. */
static bool judge_anything(WsSession *s, int t, WsOutputResult *o)
{
    int64_t *at = malloc(PART * sizeof *at), *none = malloc(PART * sizeof *none), seen = 0;
    double *got = malloc(PART * sizeof *got), *want = malloc(PART * sizeof *want);
    bool ok = at && none && got && want, any = true, open = false;
    if (!ok)
        ws_session_fail(s, "out of memory for the elements of %s", s->m->tensor[t].name);
    for (int64_t first = 0; ok && any && !open && first < o->elements; first += PART) {
        const int64_t count = o->elements - first < PART ? o->elements - first : PART;
        int64_t n = 0;
        ok = read_back(s, t, first, at, got, count);
        for (int64_t i = 0; ok && i < count; i++)
            if (isnan(got[i]))
                none[n++] = first + i;
        ok = ok && (n == 0 || all_any(s, t, none, got, want, n, &any, &open));
        seen += n;
    }
    if (ok && any && open) {
        o->open = o->nonfinite;
    } else if (ok && any) {
        o->anything = seen;
        o->nonfinite -= seen;
    }
    free(at);
    free(none);
    free(got);
    free(want);
    return ok;
}

static bool holds_nan(WsSession *s, int t, bool *nan)
{
    const WsOutputResult *o = &s->r->output[t];
    int64_t *at = malloc(PART * sizeof *at);
    double *got = malloc(PART * sizeof *got);
    bool ok = at && got;
    if (!ok)
        ws_session_fail(s, "out of memory for the elements of %s", s->m->tensor[t].name);
    *nan = false;
    for (int64_t first = 0; ok && !*nan && first < o->elements; first += PART) {
        const int64_t count = o->elements - first < PART ? o->elements - first : PART;
        ok = read_back(s, t, first, at, got, count);
        for (int64_t i = 0; ok && i < count; i++)
            *nan |= isnan(got[i]);
    }
    free(at);
    free(got);
    return ok;
}

/* Elements that are no finite numbers. Where the reference does not end in time they may be right:
 * infinite ones, and others if it may say `any`. */
static bool judge_nonfinite(WsSession *s, int t, WsOutputResult *o)
{
    bool nan = false;
    if (!o->nonfinite || (!o->judged && !o->late))
        return true;
    if (o->late) {
        const bool ok = s->m->tensor[t].any || holds_nan(s, t, &nan);
        o->open = ok && !nan ? o->nonfinite : 0;
        return ok;
    }
    return judge_anything(s, t, o) && (!o->nonfinite || o->open || judge_infinite(s, t, o));
}

static bool output_right(const WsSession *s, int t)
{
    const WsOutputResult *o = &s->r->output[t];
    bool repeats = o->repeats || s->m->tensor[t].access == WS_RUN_REDUCE;
    return o->nonfinite == o->open && o->wrong == 0 && repeats;
}

static bool judge(WsSession *s, int t)
{
    WsOutputResult *o = &s->r->output[t];
    const WsRunTensor *tensor = &s->m->tensor[t];
    o->elements = ws_run_elements(tensor, &s->c->tensor[t]);
    o->open = 0;
    if (!ws_hash_output(s, t, &o->hash) || !scan(s, t, o) ||
        (tensor->reference[0] && !sample(s, t, o)) || !judge_nonfinite(s, t, o))
        return false;
    o->checked = true;
    return true;
}

bool ws_judge_outputs(WsSession *s, bool *right)
{
    *right = true;
    for (int t = 0; t < s->m->n_tensors; t++) {
        if (!ws_run_is_output(&s->m->tensor[t]))
            continue;
        if (!judge(s, t))
            return false;
        *right =
            *right && s->r->output[t].nonfinite == s->r->output[t].open && !s->r->output[t].wrong;
    }
    return true;
}

bool ws_check_again(WsSession *s, bool *right)
{
    const WsManifest *m = s->m;
    for (int64_t i = 0; i < s->options->again; i++) {
        bool same = true;
        ws_session_phase(s, s->options->timeout, "launch %" PRId64 " of %" PRId64 " more", i + 1,
                         s->options->again);
        if (!ws_case_poison(s) || !ws_session_launch(s, WS_MODULE_TIMED) ||
            !ws_session_synchronize(s))
            return false;
        for (int t = 0; t < m->n_tensors; t++) {
            uint64_t hash;
            if (m->tensor[t].access != WS_RUN_WRITE)
                continue;
            if (!ws_hash_output(s, t, &hash))
                return false;
            same = same && hash == s->r->output[t].hash;
        }
        s->r->again++;
        s->r->differ += !same;
        *right = *right && same;
    }
    return true;
}

bool ws_check_case(WsSession *s, bool *right)
{
    const WsManifest *m = s->m;
    *right = true;
    for (int round = 0; round < 2; round++) {
        ws_session_phase(s, s->options->timeout, "%s launch of the timed build",
                         round ? "second" : "first");
        if (!ws_case_poison(s) || !ws_session_launch(s, WS_MODULE_TIMED) ||
            !ws_session_synchronize(s))
            return false;
        for (int t = 0; t < m->n_tensors; t++) {
            WsOutputResult *o = &s->r->output[t];
            if (!ws_run_is_output(&m->tensor[t]))
                continue;
            ws_session_phase(s, 120, "checking %s", m->tensor[t].name);
            if (round == 1) {
                if (!ws_hash_output(s, t, &o->repeat_hash))
                    return false;
                o->repeats = o->hash == o->repeat_hash;
                *right = *right && output_right(s, t);
                continue;
            }
            if (!judge(s, t))
                return false;
        }
    }
    return true;
}
