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
#include "codegen/rehearse/case.h"
#include "codegen/rehearse/devices.h"
#include "codegen/rehearse/host.h"
#include "codegen/rehearse/jit.h"
#include "codegen/rehearse/symbols.h"
#include "codegen/rehearse/values.h"
#include "program/elaborate.h"

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

/* --- comparison ------------------------------------------------------------------------------- */
#define CHUNK 4096
static char *values_key(const WsRehearseCase *c, WsReference *reference)
{
    const WsReferenceInput input = { (const void *const *)c->tensor, c->size, c->scalar };
    g_autofree gsize *bytes = g_new0(gsize, c->p->n_tensors + 1);
    for (guint i = 0; i < c->p->n_tensors; i++)
        bytes[i] = (gsize)MAX(ws_case_bytes(c, i, NULL), 0);
    return ws_reference_values_key(reference, c->p, c->values, &input, bytes);
}

static gboolean compare(WsRehearseResult *r, const WsRehearseCase *c, WsReference *reference,
                        WsReferenceValues *values, GError **error)
{
    g_autofree char *key = values ? values_key(c, reference) : NULL;
    g_autofree double *want = g_new(double, CHUNK);
    const WsReferenceInput input = { (const void *const *)c->tensor, c->size, c->scalar };
    for (guint i = 0; i < c->p->n_tensors; i++) {
        if (!ws_tensor_is_output(&c->p->tensor[i]))
            continue;
        const gint64 n = ws_case_elements(c, i);
        const double *known = key ? ws_reference_values_find(values, key, i, n) : NULL;
        g_autoptr(GArray) made = g_array_new(FALSE, FALSE, sizeof(double));
        for (gint64 first = 0; first < n; first += CHUNK) {
            const guint part = (guint)MIN(CHUNK, n - first);
            if (!known && !ws_reference_eval(reference, i, &input, NULL, first, part, want, error))
                return FALSE;
            for (guint k = 0; k < part; k++)
                ws_case_judge(r, c, i, c->tensor[i], -1, first + k,
                              known ? known[first + k] : want[k]);
            if (key && !known && ws_reference_values_take(values, n))
                g_array_append_vals(made, want, part);
        }
        if (made->len == n && n)
            ws_reference_values_add(values, key, i, g_steal_pointer(&made));
    }
    return TRUE;
}

/* Of a design that writes no tensor nothing is compared. */
static gboolean writes(const WsProgram *p)
{
    gboolean any = FALSE;
    for (guint i = 0; i < p->n_tensors; i++)
        any |= ws_tensor_is_output(&p->tensor[i]);
    return any;
}

/* Where tensors are large, whether the comparison could end: before the kernel runs. */
#define LARGE ((gint64)1 << 22) /* elements: a second or so of the kernel */
static gboolean comparable(const WsRehearseCase *c, WsReference *reference, GError **error)
{
    const WsReferenceInput input = { (const void *const *)c->tensor, c->size, c->scalar };
    gint64 all = 0;
    for (guint i = 0; i < c->p->n_tensors; i++)
        all += MAX(ws_case_bytes(c, i, NULL), 0) / ws_dtype_bytes(c->p->tensor[i].dtype);
    for (guint i = 0; i < c->p->n_tensors && all > LARGE; i++)
        if (ws_tensor_is_output(&c->p->tensor[i]) &&
            !ws_reference_bounded(reference, i, &input, ws_case_elements(c, i), error))
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

static void run_grid(WsRehearseResult *r, const WsRehearseCase *c, const WsRehearseOptions *o,
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
    ws_case_end(r, h);
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
    WsRehearseCase c = { .p = s->p };
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
    fine = fine && ws_case_values(&c, options, s->p->mesh ? 0 : -1, findings, error);
    fine = fine && (s->p->mesh || ws_case_tensors(&c, options ? options->seed : 0, error));
    if (fine && !s->p->mesh)
        ws_case_arguments(&c);
    fine = fine && (hangs || (reference = reference_of(s, error)) != NULL);
    fine = fine && (!reference || s->p->mesh || comparable(&c, reference, error));
    fine = fine && (jit = hold ? (held = compile(s->p, hold, error)) : code_of(s, error)) != NULL;
    fine = fine && (kernel = ws_jit_find(jit, WS_KERNEL_NAME, error)) != NULL;
    if (fine && s->p->mesh) {
        fine = ws_rehearse_devices(r, s->p, options, (void (*)(const guint64 *))kernel, reference,
                                   findings, error);
    } else if (fine) {
        run_grid(r, &c, options, (void (*)(const guint64 *))kernel);
        if (r->ran && reference)
            fine = compare(r, &c, reference, options ? options->values : NULL, error);
        r->matches = r->ran && reference && !r->wrong && !r->async_races && !r->violations;
    }
    r->matches = r->matches && writes(s->p) && (r->elements || !r->anything);
    ws_case_clear(&c);
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
