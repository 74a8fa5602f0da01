#include "launch/collect.h"
#include "base/file.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include "runner/manifest.h"

#include <json-c/json.h>
#include <math.h>
#include <string.h>

#define MAX_RESULTS (16 << 20)

static void case_free(gpointer data)
{
    WsCollectedCase *c = data;
    g_free(c->label);
    g_free(c->state);
    g_free(c->error);
    g_free(c->stuck);
    g_array_unref(c->stuck_agents);
    g_free(c->seen);
    g_free(c->wrong);
    g_free(c->records);
    g_array_unref(c->timers);
    g_free(c);
}

void ws_collected_free(WsCollected *c)
{
    if (!c)
        return;
    g_free(c->dir);
    g_free(c->name);
    g_free(c->device);
    g_free(c->error);
    g_ptr_array_unref(c->cases);
    if (c->program)
        ws_program_unref(c->program);
    g_free(c);
}

/* --- JSON accessors: absent or of another type gives the default -------------------------------
 */

static struct json_object *member(struct json_object *o, const char *name, enum json_type type)
{
    struct json_object *v = NULL;
    if (!o || !json_object_is_type(o, json_type_object) ||
        !json_object_object_get_ex(o, name, &v) || !json_object_is_type(v, type))
        return NULL;
    return v;
}

static char *text(struct json_object *o, const char *name)
{
    struct json_object *v = member(o, name, json_type_string);
    return v ? g_utf8_make_valid(json_object_get_string(v), -1) : NULL;
}

static double real(struct json_object *o, const char *name)
{
    struct json_object *v = member(o, name, json_type_double);
    v = v ? v : member(o, name, json_type_int);
    return v ? json_object_get_double(v) : NAN;
}

static gint64 integer(struct json_object *o, const char *name)
{
    struct json_object *v = member(o, name, json_type_int);
    return v ? json_object_get_int64(v) : 0;
}

static WsCollectedTime time_of(struct json_object *o, const char *name)
{
    struct json_object *t = member(o, name, json_type_object);
    WsCollectedTime r = { .n = (guint)CLAMP(integer(t, "n"), 0, G_MAXINT) };
    r.median_us = real(t, "median_us");
    r.min_us = real(t, "min_us");
    r.max_us = real(t, "max_us");
    r.p10_us = real(t, "p10_us");
    r.p90_us = real(t, "p90_us");
    r.tflops = real(t, "tflops");
    r.cycles = real(t, "cycles");
    r.floor_cycles = real(t, "tensor_floor_cycles");
    r.sm_mhz = real(t, "sm_mhz");
    r.nvml_mhz = real(t, "nvml_mhz");
    r.watt = real(t, "nvml_watt");
    g_autofree char *source = text(t, "clock_source");
    r.kernel_clock = g_strcmp0(source, "kernel") == 0;
    return r;
}

static gboolean unknown_or_positive(double v)
{
    return isnan(v) || (isfinite(v) && v > 0);
}

/* Could a clock have given these figures? */
static gboolean time_possible(const WsCollectedTime *t, double flops)
{
    const double order[] = { 0, t->min_us, t->p10_us, t->median_us, t->p90_us, t->max_us };
    if (!t->n)
        return TRUE;
    if (!(t->min_us > 0) || !isfinite(t->max_us))
        return FALSE;
    for (guint i = 1; i < G_N_ELEMENTS(order); i++) /* each has been rounded */
        if (!(order[i] >= order[i - 1] * (1 - 1e-8)))
            return FALSE;
    const double cycles = t->median_us * t->sm_mhz, rate = flops / t->median_us * 1e-6;
    return unknown_or_positive(t->tflops) && unknown_or_positive(t->cycles) &&
           unknown_or_positive(t->floor_cycles) && unknown_or_positive(t->sm_mhz) &&
           unknown_or_positive(t->nvml_mhz) && unknown_or_positive(t->watt) &&
           (isnan(t->cycles) || fabs(t->cycles - cycles) <= 1e-6 * cycles) &&
           (isnan(t->tflops) || isnan(rate) || fabs(t->tflops - rate) <= 1e-6 * rate);
}

static void take_outputs(WsCollectedCase *c, struct json_object *o)
{
    struct json_object *list = member(o, "outputs", json_type_array);
    for (size_t i = 0; list && i < json_object_array_length(list); i++) {
        struct json_object *x = json_object_array_get_idx(list, i);
        double error = real(x, "worst_error"), allowed = real(x, "worst_allowed");
        c->samples += integer(x, "samples");
        c->n_wrong += integer(x, "wrong");
        c->zeros_agree |= member(x, "zeros_agree", json_type_boolean) != NULL;
        if (!c->wrong)
            c->wrong = text(x, "first_wrong");
        if (isfinite(error) && !(error <= c->worst_error)) {
            c->worst_error = error;
            c->worst_allowed = allowed;
        }
    }
}

static void stuck_clear(gpointer data)
{
    WsCollectedStuck *s = data;
    g_free(s->agent);
    g_free(s->step);
    g_free(s->barrier);
}

static guint small(struct json_object *o, const char *name)
{
    return (guint)CLAMP(integer(o, name), 0, G_MAXINT);
}

#define MOST_STUCK 1024

static void take_stuck(WsCollectedCase *c, struct json_object *o)
{
    struct json_object *list = member(o, "stuck_agents", json_type_array);
    c->stuck_agents = g_array_new(FALSE, TRUE, sizeof(WsCollectedStuck));
    g_array_set_clear_func(c->stuck_agents, stuck_clear);
    for (size_t i = 0; list && i < MIN(json_object_array_length(list), MOST_STUCK); i++) {
        struct json_object *x = json_object_array_get_idx(list, i);
        struct json_object *round = member(x, "rounds", json_type_array);
        WsCollectedStuck s = { .agent = text(x, "agent"),
                               .step = text(x, "step"),
                               .barrier = text(x, "barrier"),
                               .cta = small(x, "cta"),
                               .op = small(x, "op"),
                               .slot = small(x, "slot"),
                               .parity = small(x, "awaited"),
                               .pending = small(x, "pending") };
        g_autofree char *waits = text(x, "waits");
        s.sync = g_strcmp0(waits, "sync") == 0;
        for (; round && s.n_rounds < MIN(json_object_array_length(round), 3u); s.n_rounds++)
            s.round[s.n_rounds] =
                json_object_get_int64(json_object_array_get_idx(round, s.n_rounds));
        if (!s.agent || !s.step || !s.barrier)
            stuck_clear(&s);
        else
            g_array_append_val(c->stuck_agents, s);
    }
}

static void take_adversary(WsCollectedCase *c, struct json_object *o)
{
    struct json_object *x = member(o, "adversary", json_type_object);
    struct json_object *told = member(x, "as_told", json_type_boolean);
    c->held = x != NULL;
    c->as_told = told && json_object_get_boolean(told);
    c->seen = text(x, "seen");
}

/* Times of a kernel that is wrong, fails or hangs mean nothing, and are not taken. */
static void take_times(WsCollectedCase *c, struct json_object *o)
{
    const gboolean means = c->right || g_strcmp0(c->state, "not judged") == 0;
    struct json_object *from = means ? o : NULL;
    c->cold = time_of(from, "cold");
    c->cold_traced = time_of(from, "cold_traced");
    c->sustained = time_of(from, "sustained");
    c->overhead = real(from, "overhead");
}

static void take_timers(WsCollectedCase *c, struct json_object *o)
{
    struct json_object *list = member(o, "timers", json_type_array);
    c->timers = g_array_new(FALSE, FALSE, sizeof(WsCollectedTimer));
    for (size_t i = 0; list && i < json_object_array_length(list); i++) {
        struct json_object *x = json_object_array_get_idx(list, i);
        WsCollectedTimer t = { FALSE, real(x, "ahead_ns"), real(x, "error_ns") };
        t.known = fabs(t.ahead_ns) < 1e15 && t.error_ns >= 0 && t.error_ns < 1e15;
        g_array_append_val(c->timers, t);
    }
}

static WsCollectedCase *take_case(struct json_object *o)
{
    WsCollectedCase *c = g_new0(WsCollectedCase, 1);
    take_stuck(c, o);
    take_adversary(c, o);
    c->label = text(o, "label");
    c->state = text(o, "state");
    c->error = text(o, "error");
    c->stuck = text(o, "stuck");
    c->grid = integer(o, "grid");
    c->right = g_strcmp0(c->state, "right") == 0 || g_strcmp0(c->state, "nothing to launch") == 0;
    take_outputs(c, o);
    take_times(c, o);
    c->records = text(o, "records");
    take_timers(c, o);
    return c;
}

static gboolean bad(GError **error, WsBundleError code, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
static gboolean bad(GError **error, WsBundleError code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    g_autofree char *message = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error_literal(error, WS_BUNDLE_ERROR, code, message);
    return FALSE;
}

/* Each output says that it has no elements. */
static gboolean empty(struct json_object *o)
{
    struct json_object *list = member(o, "outputs", json_type_array);
    const size_t n = list ? json_object_array_length(list) : 0;
    gboolean all = n > 0;
    for (size_t i = 0; i < n; i++) {
        struct json_object *x = json_object_array_get_idx(list, i);
        all &= member(x, "elements", json_type_int) && integer(x, "elements") == 0;
    }
    return all;
}

/* Cases are those of the bundle, by their sizes, and their figures are possible ones. */
static gboolean check_case(const WsCollected *c, const WsManifest *m, guint which,
                           struct json_object *o, GError **error)
{
    const WsCollectedCase *x = c->cases->pdata[which];
    struct json_object *sizes = member(o, "sizes", json_type_object);
    const double flops = real(o, "flops");
    for (int i = 0; i < m->n_sizes; i++) {
        struct json_object *v = member(sizes, m->size[i], json_type_int);
        if (!v || json_object_get_int64(v) != m->case_[which].size[i])
            return bad(error, WS_BUNDLE_ERROR_FORMAT,
                       "%s: case %u of results.json is not of the sizes %s of the bundle; run the "
                       "bundle again",
                       c->dir, which, m->case_[which].label);
    }
    if (!time_possible(&x->cold, flops) || !time_possible(&x->cold_traced, flops) ||
        !time_possible(&x->sustained, flops) || isinf(x->overhead) || x->overhead <= -1)
        return bad(error, WS_BUNDLE_ERROR_FORMAT,
                   "%s: results.json holds times that no clock gives; run the bundle again",
                   c->dir);
    if (g_strcmp0(x->state, "right") == 0 && x->samples <= 0 && !empty(o))
        return bad(error, WS_BUNDLE_ERROR_FORMAT,
                   "%s: results.json says that case %u is right and compared nothing", c->dir,
                   which);
    return (!x->right || x->n_wrong == 0) ||
           bad(error, WS_BUNDLE_ERROR_FORMAT,
               "%s: results.json says that case %u is right and that samples of it are wrong",
               c->dir, which);
}

/* The answer of one case; one that held agents to a witness is right where it did as that tells. */
static WsCollectedAnswer answer_of(const WsCollectedCase *x)
{
    static const struct {
        const char *state;
        WsCollectedAnswer answer;
    } states[] = {
        { "right", WS_COLLECTED_RIGHT },      { "nothing to launch", WS_COLLECTED_RIGHT },
        { "not judged", WS_COLLECTED_RIGHT }, /* nothing is wrong; it says so */
        { "not run", WS_COLLECTED_NOT_RUN },  { "wrong", WS_COLLECTED_WRONG },
        { "failed", WS_COLLECTED_WRONG },     { "hung", WS_COLLECTED_WRONG },
        { "died", WS_COLLECTED_WRONG }
    };
    for (guint i = 0; i < G_N_ELEMENTS(states); i++)
        if (g_strcmp0(states[i].state, x->state) == 0)
            return x->held ? x->as_told ? WS_COLLECTED_RIGHT : WS_COLLECTED_WRONG
                           : states[i].answer;
    return WS_COLLECTED_UNKNOWN;
}

/* What the cases say, not what the file says of them. Where nothing ran there is only the latter:
 * it has to be one of the ends of a runner that ran nothing. */
static gboolean judge_cases(WsCollected *c, GError **error)
{
    static const int ends[] = { 1, 2, 4, 5 }; /* src/runner/main.c */
    c->answer = WS_COLLECTED_NOT_RUN;
    for (guint i = 0; i < c->cases->len; i++) {
        const WsCollectedCase *x = c->cases->pdata[i];
        const WsCollectedAnswer one = answer_of(x);
        if (one == WS_COLLECTED_UNKNOWN)
            return bad(error, WS_BUNDLE_ERROR_FORMAT,
                       "%s: case %u of results.json is in no state that the runner knows; run the "
                       "bundle again",
                       c->dir, i);
        c->answer = MAX(c->answer, one);
    }
    for (guint i = 0; i < G_N_ELEMENTS(ends); i++)
        if (c->answer != WS_COLLECTED_NOT_RUN || c->claimed == ends[i])
            return TRUE;
    return bad(error, WS_BUNDLE_ERROR_FORMAT,
               "%s: no case of results.json was run, and it does not say why; run the bundle again",
               c->dir);
}

static gboolean check_cases(WsCollected *c, const WsManifest *m, struct json_object *o,
                            GError **error)
{
    struct json_object *cases = member(o, "cases", json_type_array);
    if (c->cases->len != (guint)m->n_cases)
        return bad(error, WS_BUNDLE_ERROR_FORMAT,
                   "%s: results.json has %u cases, the bundle %d; run the bundle again", c->dir,
                   c->cases->len, m->n_cases);
    for (guint i = 0; i < c->cases->len; i++)
        if (!check_case(c, m, i, json_object_array_get_idx(cases, i), error))
            return FALSE;
    return judge_cases(c, error);
}

/* *results: what results.json holds; the caller puts it back. */
static gboolean take_results(WsCollected *c, struct json_object **results, GError **error)
{
    g_autofree char *path = g_build_filename(c->dir, "results.json", NULL);
    g_autofree char *data = NULL;
    gsize length;
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return bad(error, WS_BUNDLE_ERROR_ABSENT,
                   "%s holds no results yet: run warpstave-runner on it", c->dir);
    if (!ws_file_read(path, MAX_RESULTS, &data, &length, error))
        return FALSE;
    struct json_tokener *parser = json_tokener_new();
    struct json_object *o = json_tokener_parse_ex(parser, data, (int)length);
    enum json_tokener_error how = json_tokener_get_error(parser);
    json_tokener_free(parser);
    gint64 version = integer(o, "warpstave_results");
    if (!o || how != json_tokener_success || version != 1) {
        json_object_put(o);
        return how != json_tokener_success
                   ? bad(error, WS_BUNDLE_ERROR_FORMAT, "%s: %s", path,
                         how == json_tokener_continue ? "it ends too early"
                                                      : json_tokener_error_desc(how))
                   : bad(error, WS_BUNDLE_ERROR_FORMAT,
                         "%s has results version %" G_GINT64_FORMAT "; this program reads 1", path,
                         version);
    }
    struct json_object *device = member(o, "device", json_type_object);
    struct json_object *timed =
        member(member(o, "modules", json_type_object), "timed", json_type_object);
    c->claimed = (int)CLAMP(integer(o, "status"), 0, G_MAXINT);
    c->name = text(o, "name");
    c->error = text(o, "error");
    c->device = text(device, "name");
    c->sms = (guint)integer(device, "sms");
    c->driver = (guint)integer(device, "driver");
    c->registers = (guint)integer(timed, "registers");
    c->local_bytes = (guint)integer(timed, "local_bytes");
    c->diagnostics = (guint)integer(timed, "diagnostics");
    struct json_object *cases = member(o, "cases", json_type_array);
    for (size_t i = 0; cases && i < json_object_array_length(cases); i++)
        g_ptr_array_add(c->cases, take_case(json_object_array_get_idx(cases, i)));
    *results = o;
    return TRUE;
}

static gboolean take_program(WsCollected *c, WsFindings *findings, GError **error)
{
    g_autofree char *path = g_build_filename(c->dir, "design.wstave", NULL);
    g_autoptr(WsDesign) design = ws_design_load(path, findings);
    c->program = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    return c->program ||
           bad(error, WS_BUNDLE_ERROR_FORMAT, "the design in %s cannot be read back", c->dir);
}

/* Design, manifest and results say what they are of: figures of another kernel are none of this. */
static gboolean of_one_design(WsCollected *c, struct json_object *results, GError **error)
{
    g_autofree char *ran = text(results, "design_hash");
    g_autofree WsManifest *m = g_new0(WsManifest, 1);
    char why[512];
    if (!ws_manifest_load(c->dir, m, why, sizeof why))
        return bad(error, WS_BUNDLE_ERROR_FORMAT, "%s: %s", c->dir, why);
    if (g_strcmp0(m->hash, c->program->design_hash) != 0)
        return bad(error, WS_BUNDLE_ERROR_FORMAT,
                   "%s: design.wstave is not the design that the bundle was made of; bundle and "
                   "run it again",
                   c->dir);
    if (g_strcmp0(ran, m->hash) != 0)
        return bad(error, WS_BUNDLE_ERROR_FORMAT,
                   "%s: results.json is of another design than the bundle; run the bundle again",
                   c->dir);
    return check_cases(c, m, results, error);
}

WsCollected *ws_collect(const char *dir, WsFindings *findings, GError **error)
{
    g_autoptr(WsCollected) c = g_new0(WsCollected, 1);
    c->dir = g_strdup(dir);
    c->cases = g_ptr_array_new_with_free_func(case_free);
    g_autofree char *manifest = g_build_filename(dir, WS_MANIFEST_FILE, NULL);
    if (!g_file_test(manifest, G_FILE_TEST_EXISTS)) {
        bad(error, WS_BUNDLE_ERROR_FORMAT, "%s is not a bundle: no %s", dir, WS_MANIFEST_FILE);
        return NULL;
    }
    struct json_object *results = NULL;
    const gboolean ok = take_results(c, &results, error) && take_program(c, findings, error) &&
                        of_one_design(c, results, error);
    json_object_put(results);
    return ok ? g_steal_pointer(&c) : NULL;
}

/* --- trace ------------------------------------------------------------------------------------ */

/* --- text ------------------------------------------------------------------------------------- */

static void print_time(GString *s, const char *what, const WsCollectedTime *t)
{
    if (!t->n)
        return;
    g_string_append_printf(s, "  %-10s %10.2f us median of %u (min %.2f, max %.2f", what,
                           t->median_us, t->n, t->min_us, t->max_us);
    if (t->n >= WS_TIMES_FOR_PERCENTILES)
        g_string_append_printf(s, ", p10-p90 %.2f %%",
                               100 * (t->p90_us - t->p10_us) / t->median_us);
    g_string_append_c(s, ')');
    if (isfinite(t->tflops))
        g_string_append_printf(s, ", %.1f TF/s", t->tflops);
    if (isfinite(t->cycles)) {
        g_string_append_printf(s, ", %.0f cycles at %.0f MHz (%s)", t->cycles, t->sm_mhz,
                               t->kernel_clock ? "clock of the traced kernel" : "NVML");
        if (isfinite(t->floor_cycles))
            g_string_append_printf(s, ", tensor floor %.0f", t->floor_cycles);
        if (t->floor_cycles > t->cycles)
            g_string_append(s,
                            " CANNOT BE: operations, rate or clock are not those of this kernel");
        else if (isfinite(t->floor_cycles))
            g_string_append_printf(s, " = %.1f %%", 100 * t->floor_cycles / t->cycles);
    } else if (isfinite(t->nvml_mhz)) {
        g_string_append_printf(s, ", NVML %.0f MHz between launches", t->nvml_mhz);
    }
    if (isfinite(t->watt) && !t->kernel_clock && isfinite(t->cycles))
        g_string_append_printf(s, ", %.0f W", t->watt);
    g_string_append_c(s, '\n');
}

static void print_stuck(GString *s, const WsCollectedStuck *x)
{
    g_string_append_printf(s, "  stuck: agent %s waits at %s on %s %s", x->agent, x->step,
                           x->sync ? "sync" : "barrier", x->barrier);
    if (!x->sync)
        g_string_append_printf(s, " slot %u for parity %u (seen %u, %u arrivals missing)", x->slot,
                               x->parity, x->parity, x->pending);
    g_string_append_printf(s, ", CTA %u", x->cta);
    for (guint i = 0; i < x->n_rounds; i++)
        g_string_append_printf(s, "%s%" G_GINT64_FORMAT, i ? "." : ", round ", x->round[i]);
    g_string_append_c(s, '\n');
}

static void print_case(GString *s, const WsCollectedCase *x)
{
    g_string_append_printf(s, "%s: %s", x->label ? x->label : "?", x->state ? x->state : "?");
    if (x->samples)
        g_string_append_printf(s,
                               ", %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                               " samples agree, worst error %.3g of %.3g allowed",
                               x->samples - x->n_wrong, x->samples, x->worst_error,
                               x->worst_allowed);
    if (x->zeros_agree && !x->n_wrong)
        g_string_append(s, "; SAYS LITTLE: zeros would agree too");
    g_string_append_c(s, '\n');
    if (x->error)
        g_string_append_printf(s, "  %s\n", x->error);
    if (x->held)
        g_string_append_printf(s, "  %s: %s\n",
                               x->as_told ? "the counterexample is reproduced"
                                          : "the counterexample is NOT reproduced",
                               x->seen ? x->seen : "");
    if (x->stuck && !x->stuck_agents->len)
        g_string_append_printf(s, "  stuck wait: %s\n", x->stuck);
    for (guint i = 0; i < x->stuck_agents->len; i++)
        print_stuck(s, &g_array_index(x->stuck_agents, WsCollectedStuck, i));
    if (x->wrong)
        g_string_append_printf(s, "  first wrong: %s\n", x->wrong);
    print_time(s, "cold", &x->cold);
    print_time(s, "traced", &x->cold_traced);
    if (isfinite(x->overhead))
        g_string_append_printf(s, "  recording costs %+.2f %%\n", 100 * x->overhead);
    print_time(s, "sustained", &x->sustained);
}

char *ws_collected_print(const WsCollected *c)
{
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, "%s on %s, %u SMs, driver %u.%u\n", c->name ? c->name : "?",
                           c->device && *c->device ? c->device : "no GPU", c->sms, c->driver / 1000,
                           c->driver % 1000 / 10);
    if (c->registers)
        g_string_append_printf(s,
                               "timed build: %u registers, %u bytes of local memory, %u C75xx "
                               "diagnostics\n",
                               c->registers, c->local_bytes, c->diagnostics);
    if (c->error)
        g_string_append_printf(s, "%s\n", c->error);
    for (guint i = 0; i < c->cases->len; i++)
        print_case(s, c->cases->pdata[i]);
    return g_string_free(s, FALSE);
}
