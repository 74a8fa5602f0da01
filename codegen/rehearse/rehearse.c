/* ws_rehearsal_run: inputs, host code of the kernel, its clusters one after another, and the
 * comparison of every output element with the reference. */
#include "base/phrase.h"
#include "codegen/generate.h"
#include "program/parts/agent.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/value.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "target/target.h"

#include "codegen/prim.h"
#include "codegen/reference/reference.h"
#include "codegen/rehearse/host.h"
#include "codegen/rehearse/jit.h"
#include "codegen/rehearse/symbols.h"
#include "codegen/rehearse/values.h"
#include "program/agree.h"
#include "program/elaborate.h"
#include "program/inputs.h"
#include "program/walk/walk.h"

#include <math.h>

typedef struct {
    const WsProgram *p;
    WsLaunchValues *values;
    void **tensor;
    gint64 *size;
    double *scalar;
    WsHostMap *map;
    guint64 *param;
    guint32 counter; /* launch dynamic */
} Case;

void ws_rehearse_result_free(WsRehearseResult *r)
{
    if (!r)
        return;
    g_free(r->first_wrong);
    g_free(r->first_race);
    g_free(r->first_violation);
    g_free(r->stuck);
    g_clear_pointer(&r->waits, g_array_unref);
    g_free(r);
}

/* --- inputs ----------------------------------------------------------------------------------- */
#define MOST_ELEMENTS                                                                              \
    ((gint64)1 << 28) /* of a tensor: seconds to fill, half a gigabyte of bf16                     \
                       */

/* Elements between the first and the last of a tensor, in memory; -1 if they are too many. */
static gint64 extent(const Case *c, guint tensor)
{
    const WsTensor *t = &c->p->tensor[tensor];
    gint64 n = 1, step;
    guint i;
    for (i = 0; i < t->rank; i++) {
        gint64 shape = ws_launch_shape(c->values, tensor, i);
        if (shape <= 0)
            return 0;
        if (__builtin_mul_overflow(shape - 1, ws_launch_stride(c->values, tensor, i), &step) ||
            __builtin_add_overflow(n, step, &n) || n <= 0 || n > MOST_ELEMENTS)
            return -1;
    }
    return n;
}

/* An integer parameter of `data`, over sizes and run names; 0 if there is none. */
static gboolean parameter(const Case *c, const WsExpr *e, gint64 *out, GError **error)
{
    WsExprEnv env = ws_launch_env(c->values);
    *out = 0;
    return !e || ws_expr_eval(e, &env, out, error);
}

static gboolean fill(Case *c, guint tensor, guint64 seed, GError **error)
{
    const WsTensor *t = &c->p->tensor[tensor];
    gint64 n = extent(c, tensor);
    gsize bytes = (gsize)MAX(n, 0) * ws_dtype_bytes(t->dtype);
    if (n >= 0)
        c->tensor[tensor] = g_try_malloc(bytes + 16);
    if (!c->tensor[tensor]) {
        g_autofree char *why = ws_phrase("tensor %s is too large to rehearse", t->name);
        g_autofree char *place = g_strdup_printf("tensors/%s", t->name);
        ws_generate_refuse(error, "rehearse", NULL, place, why, "give smaller sizes");
        return FALSE;
    }
    if (t->access == WS_ACCESS_READ) {
        WsInputFill f = { .kind = (gint32)t->data,
                          .dtype = (gint32)t->dtype,
                          .key = ws_input_key(seed, tensor),
                          .last = t->rank ? ws_launch_shape(c->values, tensor, t->rank - 1) : 1,
                          .x = t->data_x,
                          .y = t->data_y };
        if (!parameter(c, t->data_a, &f.a, error) || !parameter(c, t->data_b, &f.b, error))
            return FALSE;
        ws_input_fill(c->tensor[tensor], &f, (guint64)n);
    } else {
        memset(c->tensor[tensor], t->access == WS_ACCESS_WRITE ? 0xff : 0, bytes);
    }
    return TRUE;
}

static void make_map(Case *c, guint index)
{
    const WsTensorMap *m = &c->p->map[index];
    WsHostMap *h = &c->map[index];
    guint i;
    h->base = c->tensor[m->tensor];
    h->dtype = c->p->tensor[m->tensor].dtype;
    h->rank = m->rank;
    h->swizzle = m->swizzle;
    for (i = 0; i < m->rank; i++) {
        guint dim = c->p->tensor[m->tensor].rank - 1 - i;
        h->dim[i] = ws_launch_shape(c->values, m->tensor, dim);
        h->stride[i] = ws_launch_stride(c->values, m->tensor, dim);
        h->box[i] = m->box[i];
    }
}

/* Kernel parameters in the order of generate.h. */
static void make_params(Case *c)
{
    const WsProgram *p = c->p;
    guint i, n_size = 0, n_scalar = 0, at = 0;
    c->size = g_new0(gint64, p->n_vars + 1);
    c->scalar = g_new0(double, p->n_vars + 1);
    c->param = g_new0(guint64, p->n_maps + p->n_tensors + p->n_vars + 3);
    for (i = 0; i < p->n_maps; i++)
        c->param[at++] = (guint64)(guintptr)&c->map[i];
    for (i = 0; i < p->n_tensors; i++)
        c->param[at++] = (guint64)(guintptr)c->tensor[i];
    for (i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SIZE)
            c->param[at++] = (guint64)(c->size[n_size++] = ws_launch_var(c->values, (gint)i));
    for (i = 0; i < p->n_vars; i++) {
        float value;
        if (p->var[i].kind != WS_VAR_SCALAR)
            continue;
        value = (float)ws_launch_var_real(c->values, (gint)i);
        c->scalar[n_scalar++] = (double)value;
        memcpy(&c->param[at++], &value, 4);
    }
    if (p->tiles->launch == WS_LAUNCH_DYNAMIC)
        c->param[at++] = (guint64)(guintptr)&c->counter;
    if (p->tiles->order == WS_ORDER_HILBERT) {
        gint64 n;
        c->param[at++] = (guint64)(guintptr)ws_launch_hilbert(c->values, &n);
    }
}

static void clear_case(Case *c)
{
    guint i;
    for (i = 0; c->tensor && i < c->p->n_tensors; i++)
        g_free(c->tensor[i]);
    g_free(c->tensor);
    g_free(c->size);
    g_free(c->scalar);
    g_free(c->map);
    g_free(c->param);
    ws_launch_values_free(c->values);
}

static gboolean make_case(Case *c, const WsRehearseOptions *o, WsFindings *findings, GError **error)
{
    g_autofree WsSize *size = g_new0(WsSize, (o ? o->n_size : 0) + 1);
    guint i, n = o ? o->n_size : 0;
    for (i = 0; i < n; i++) {
        size[i].name = o->size_name[i];
        size[i].value = o->size[i];
    }
    c->values = ws_launch_values(c->p, size, n, TRUE, findings);
    if (!c->values) {
        ws_generate_refuse(error, "rehearse", NULL, NULL,
                           WS_WORD("these sizes do not make a launch: see the findings"), NULL);
        return FALSE;
    }
    c->tensor = g_new0(void *, c->p->n_tensors + 1);
    for (i = 0; i < c->p->n_tensors; i++)
        if (!fill(c, i, o ? o->seed : 0, error))
            return FALSE;
    c->map = g_new0(WsHostMap, c->p->n_maps + 1);
    for (i = 0; i < c->p->n_maps; i++)
        make_map(c, i);
    make_params(c);
    return TRUE;
}

/* --- comparison ------------------------------------------------------------------------------- */
static char *element_name(const Case *c, guint tensor, gint64 flat)
{
    const WsTensor *t = &c->p->tensor[tensor];
    gint64 at[WS_MAX_RANK];
    GString *s = g_string_new(t->name);
    guint i;
    for (i = t->rank; i-- > 0;) {
        gint64 shape = ws_launch_shape(c->values, tensor, i);
        at[i] = flat % shape;
        flat /= shape;
    }
    for (i = 0; i < t->rank; i++)
        g_string_append_printf(s, "%s%lld", i ? ", " : "[", (long long)at[i]);
    g_string_append_c(s, ']');
    return g_string_free(s, FALSE);
}

static double stored(const Case *c, guint tensor, gint64 flat)
{
    const WsTensor *t = &c->p->tensor[tensor];
    gint64 offset = 0;
    guint i;
    for (i = t->rank; i-- > 0;) {
        gint64 shape = ws_launch_shape(c->values, tensor, i);
        offset += flat % shape * ws_launch_stride(c->values, tensor, i);
        flat /= shape;
    }
    return ws_input_decode((gint32)t->dtype,
                           ws_input_get(c->tensor[tensor], (gint32)t->dtype, (guint64)offset));
}

static void judge(WsRehearseResult *r, const Case *c, guint tensor, gint64 flat, double want)
{
    const WsTensor *t = &c->p->tensor[tensor];
    const double got = stored(c, tensor, flat);
    const WsAgreement a = ws_agree(got, want, t->tolerance_abs, t->tolerance_rel);
    r->elements++;
    if (!a.agrees && !isfinite(a.error)) {
        r->worst_error = INFINITY;
        r->worst_tolerance = a.allowed;
    } else if (r->elements == 1 || a.error * r->worst_tolerance > r->worst_error * a.allowed) {
        r->worst_error = a.error;
        r->worst_tolerance = a.allowed;
    }
    if (a.agrees)
        return;
    if (r->wrong++ == 0) {
        g_autofree char *name = element_name(c, tensor, flat);
        r->first_wrong = isnan(got) ? g_strdup_printf("%s = NaN, reference %g", name, want)
                                    : g_strdup_printf("%s = %g, reference %g", name, got, want);
    }
}

static gint64 elements(const Case *c, guint tensor)
{
    gint64 n = 1;
    for (guint d = 0; d < c->p->tensor[tensor].rank; d++)
        n *= MAX(ws_launch_shape(c->values, tensor, d), 0);
    return n;
}

#define CHUNK 4096
static char *values_key(const Case *c, WsReference *reference)
{
    const WsReferenceInput input = { (const void *const *)c->tensor, c->size, c->scalar };
    g_autofree gsize *bytes = g_new0(gsize, c->p->n_tensors + 1);
    for (guint i = 0; i < c->p->n_tensors; i++)
        bytes[i] = (gsize)MAX(extent(c, i), 0) * ws_dtype_bytes(c->p->tensor[i].dtype);
    return ws_reference_values_key(reference, c->p, c->values, &input, bytes);
}

static gboolean compare(WsRehearseResult *r, const Case *c, WsReference *reference,
                        WsReferenceValues *values, GError **error)
{
    g_autofree char *key = values ? values_key(c, reference) : NULL;
    g_autofree double *want = g_new(double, CHUNK);
    const WsReferenceInput input = { (const void *const *)c->tensor, c->size, c->scalar };
    for (guint i = 0; i < c->p->n_tensors; i++) {
        if (c->p->tensor[i].access == WS_ACCESS_READ)
            continue;
        const gint64 n = elements(c, i);
        const double *known = key ? ws_reference_values_find(values, key, i, n) : NULL;
        g_autoptr(GArray) made = g_array_new(FALSE, FALSE, sizeof(double));
        for (gint64 first = 0; first < n; first += CHUNK) {
            const guint part = (guint)MIN(CHUNK, n - first);
            if (!known && !ws_reference_eval(reference, i, &input, NULL, first, part, want, error))
                return FALSE;
            for (guint k = 0; k < part; k++)
                judge(r, c, i, first + k, known ? known[first + k] : want[k]);
            if (key && !known && ws_reference_values_take(values, n))
                g_array_append_vals(made, want, part);
        }
        if (made->len == n && n)
            ws_reference_values_add(values, key, i, g_steal_pointer(&made));
    }
    return TRUE;
}

/* Where tensors are large, whether the comparison could end: before the kernel runs. */
#define LARGE ((gint64)1 << 22) /* elements: a second or so of the kernel */
static gboolean comparable(const Case *c, WsReference *reference, GError **error)
{
    const WsReferenceInput input = { (const void *const *)c->tensor, c->size, c->scalar };
    gint64 all = 0;
    for (guint i = 0; i < c->p->n_tensors; i++)
        all += MAX(extent(c, i), 0);
    for (guint i = 0; i < c->p->n_tensors && all > LARGE; i++)
        if (c->p->tensor[i].access != WS_ACCESS_READ &&
            !ws_reference_bounded(reference, i, &input, elements(c, i), error))
            return FALSE;
    return TRUE;
}

/* --- the run ---------------------------------------------------------------------------------- */
static WsJit *compile(const WsProgram *p, const WsHold *hold, GError **error)
{
    const WsJitSymbol *symbol;
    guint n;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = ws_lower_host(p, hold, context, error);
    if (!module) {
        LLVMContextDispose(context);
        return NULL;
    }
    symbol = ws_host_symbols(&n);
    return ws_jit_new(module, context, "function(sroa,early-cse,simplifycfg)", symbol, n, error);
}

typedef struct {
    const WsRehearseOptions *options;
    guint64 done, ctas;
} Progress;

static void show_progress(WsHost *h, gpointer data)
{
    const Progress *p = data;
    p->options->progress(p->done, p->ctas, h->switches, p->options->progress_data);
}

static void run_grid(WsRehearseResult *r, const Case *c, const WsRehearseOptions *o,
                     void (*kernel)(const guint64 *))
{
    const WsProgram *p = c->p;
    gint64 grid = ws_launch_grid(c->values, o && o->sms > 0 ? o->sms : MAX(2, p->cluster)), id;
    guint n_ctas = MAX(1, p->cluster);
    WsHost *h = ws_host_new(p, p->threads, n_ctas, p->shared_bytes, o ? o->seed : 0);
    Progress progress = { o, 0, (guint64)MAX(grid, 0) };
    if (o && o->progress) {
        h->progress = show_progress;
        h->progress_data = &progress;
    }
    r->ran = TRUE;
    h->held = o && o->hold;
    for (id = 0; id + n_ctas <= grid && r->ran; id += n_ctas) {
        r->ran = ws_host_run(h, (guint)id, (guint)grid, kernel, c->param);
        r->fibers += (guint64)n_ctas * p->threads;
        progress.done += n_ctas;
    }
    r->switches = h->switches;
    r->clock = h->clock;
    r->gave_up = h->gave_up;
    r->async_races = h->races;
    r->violations = h->violations;
    r->first_race = g_steal_pointer(&h->first_race);
    r->first_violation = g_steal_pointer(&h->first_violation);
    r->stuck = g_steal_pointer(&h->stuck);
    r->waits = g_steal_pointer(&h->waits);
    ws_host_free(h);
}

/* A program with budget errors may still be asked for; the machine holds what an SM holds. */
static gboolean fits(const WsProgram *p, GError **error)
{
    guint64 registers;
    guint i, k;
    if (p->has_raw) {
        ws_generate_refuse(error, "rehearse", NULL, NULL, WS_WORD("the design has raw steps"),
                           NULL);
        return FALSE;
    }
    if (p->threads == 0 || p->threads > p->hardware->threads ||
        p->shared_bytes > p->hardware->shared.bytes || p->cluster > WS_HOST_MAX_CTAS) {
        g_autofree char *why =
            ws_phrase("%u threads, %" G_GUINT64_FORMAT " bytes of shared memory, cluster of %u: "
                      "more than an SM has",
                      p->threads, p->shared_bytes, p->cluster);
        ws_generate_refuse(error, "rehearse", NULL, NULL, why, NULL);
        return FALSE;
    }
    for (i = 0; i < p->n_agents; i++) {
        for (k = 0, registers = 0; k < p->agent[i].n_values; k++)
            registers += p->agent[i].value[k].registers;
        if (registers > 4096) { /* 16 KiB of a fiber's stack */
            g_autofree char *why = ws_phrase(
                "it holds %" G_GUINT64_FORMAT " registers of values per thread", registers);
            ws_generate_refuse(error, "rehearse", NULL, p->agent[i].path, why, NULL);
            return FALSE;
        }
    }
    return TRUE;
}

gboolean ws_rehearse_supports(const WsProgram *p, GError **error)
{
    if (!fits(p, error))
        return FALSE;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = ws_lower_host(p, NULL, context, error);
    if (module)
        LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return module != NULL;
}

/* --- what is kept ------------------------------------------------------------------------------
 */
struct WsRehearsal {
    WsProgram *p;
    WsReference *reference; /* NULL until a run needs it */
    WsJit *jit;             /* of the program without a hold; NULL until a run needs it */
};

WsRehearsal *ws_rehearsal_new(const WsProgram *p)
{
    WsRehearsal *s = g_new0(WsRehearsal, 1);
    s->p = ws_program_ref(p);
    return s;
}

void ws_rehearsal_free(WsRehearsal *s)
{
    if (!s)
        return;
    ws_reference_free(s->reference);
    ws_jit_free(s->jit);
    ws_program_unref(s->p);
    g_free(s);
}

static WsReference *reference_of(WsRehearsal *s, GError **error)
{
    if (s->reference)
        ws_reference_restart(s->reference);
    else
        s->reference = ws_reference_new(s->p, error);
    return s->reference;
}

static WsJit *code_of(WsRehearsal *s, GError **error)
{
    if (!s->jit)
        s->jit = compile(s->p, NULL, error);
    return s->jit;
}

WsRehearseResult *ws_rehearsal_run(WsRehearsal *s, const WsRehearseOptions *options,
                                   WsFindings *findings, GError **error)
{
    Case c = { .p = s->p };
    WsRehearseResult *r = g_new0(WsRehearseResult, 1);
    WsReference *reference = NULL;
    const WsHold *hold = options ? options->hold : NULL;
    g_autoptr(WsJit) held = NULL;
    WsJit *jit = NULL;
    gpointer kernel = NULL;
    gboolean fine = fits(s->p, error);
    if (fine && hold && s->p->hardware->core) {
        ws_generate_refuse(error, "rehearse", NULL, NULL,
                           WS_WORD("orders of a witness are not held on a core by queues"), NULL);
        fine = FALSE;
    }
    /* what is held until it hangs has no values to compare */
    const gboolean hangs = hold && hold->hangs;
    fine = fine && make_case(&c, options, findings, error);
    fine = fine && (hangs || (reference = reference_of(s, error)) != NULL);
    fine = fine && (!reference || comparable(&c, reference, error));
    fine = fine && (jit = hold ? (held = compile(s->p, hold, error)) : code_of(s, error)) != NULL;
    fine = fine && (kernel = ws_jit_find(jit, WS_KERNEL_NAME, error)) != NULL;
    if (fine) {
        run_grid(r, &c, options, (void (*)(const guint64 *))kernel);
        if (r->ran && reference)
            fine = compare(r, &c, reference, options ? options->values : NULL, error);
        r->matches = r->ran && reference && !r->wrong && !r->async_races && !r->violations;
    }
    clear_case(&c);
    if (fine)
        return r;
    /* after a failure all is made anew */
    g_clear_pointer(&s->reference, ws_reference_free);
    g_clear_pointer(&s->jit, ws_jit_free);
    ws_rehearse_result_free(r);
    return NULL;
}

WsRehearseResult *ws_rehearse(const WsProgram *p, const WsRehearseOptions *options,
                              WsFindings *findings, GError **error)
{
    g_autoptr(WsRehearsal) s = ws_rehearsal_new(p);
    return ws_rehearsal_run(s, options, findings, error);
}
