#include "cli/kernels.h"
#include "model/findings.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "target/target.h"

#include "cli/adversary.h"
#ifdef WS_HAVE_CODEGEN
#include "codegen/amdgpu/amdgpu.h"
#include "codegen/generate.h"
#include "codegen/nvptx/ptxas/ptxas_steps.h"
#endif
#include "launch/bundle.h"

#include <stdio.h>
#include <string.h>

enum { RECORDS = 160 }; /* of a step in an inner loop, unless --rounds says otherwise */

void ws_bundle_options_init(WsBundleOptions *o)
{
    *o = (WsBundleOptions){ .seed = 1, .rounds = -1, .every = 1, .tiles = 4, .sustained = 1 };
}

void ws_bundle_options_clear(WsBundleOptions *o)
{
    g_strfreev(o->set);
    g_strfreev(o->size);
    g_strfreev(o->shape);
    g_free(o->ctas);
}

#ifdef WS_HAVE_CODEGEN

/* The texts of one bundle. */
typedef struct {
    char *timed, *traced, *debug;
    GPtrArray *reference; /* per tensor, NULL entries for inputs */
    GBytes *timed_cubin, *traced_cubin;
    GBytes *object;              /* of gfx950, in place of all of these */
    GPtrArray *reference_object; /* likewise */
    WsRecorder *recorder;
} Kernels;

static void kernels_clear(Kernels *k)
{
    g_free(k->timed);
    g_free(k->traced);
    g_free(k->debug);
    g_clear_pointer(&k->reference, g_ptr_array_unref);
    g_clear_pointer(&k->timed_cubin, g_bytes_unref);
    g_clear_pointer(&k->object, g_bytes_unref);
    g_clear_pointer(&k->reference_object, g_ptr_array_unref);
    g_clear_pointer(&k->traced_cubin, g_bytes_unref);
    g_clear_pointer(&k->recorder, ws_recorder_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Kernels, kernels_clear)

/* SMs of the largest sm_90a: where a launch has a CTA for each SM, how many those may be. */
enum { MOST_SMS = 144, MOST_CTAS = 4096 };

/* CTAs of the largest launch of the cases. */
static gint64 most_ctas(const WsProgram *p, const GArray *cases)
{
    gint64 most = 0;
    for (guint i = 0; i < cases->len; i++) {
        const WsBundleCase *c = &g_array_index(cases, WsBundleCase, i);
        g_autoptr(WsFindings) findings = ws_findings_new(); /* the bundle says what is wrong */
        g_autoptr(WsLaunchValues) v = ws_launch_values(p, c->size, c->n_size, FALSE, findings);
        most = MAX(most, v ? ws_launch_grid(v, MOST_SMS) : 0);
    }
    return most;
}

/* Not given: CTAs that deal out their tiles wait for the slowest, so the one with least to do. */
static gboolean parse_ctas(const WsProgram *p, const char *text, const GArray *cases, GArray *ctas)
{
    const guint last = WS_RECORD_LAST_CTA;
    const gboolean dealt = p->tiles->launch == WS_LAUNCH_PERSISTENT && !p->mesh;
    if (g_strcmp0(text, "last") == 0 || (!text && dealt)) {
        g_array_append_val(ctas, last);
        return TRUE;
    }
    if (g_strcmp0(text, "all") == 0) {
        const gint64 most = most_ctas(p, cases);
        if (most > MOST_CTAS)
            fprintf(stderr, "--ctas all: the first %d of %" G_GINT64_FORMAT " CTAs\n", MOST_CTAS,
                    most);
        for (guint i = 0; i < CLAMP(most, 1, MOST_CTAS); i++)
            g_array_append_val(ctas, i);
        return TRUE;
    }
    g_auto(GStrv) words = g_strsplit(text ? text : "0", ",", -1);
    for (guint i = 0; words[i]; i++) {
        guint64 value;
        if (!g_ascii_string_to_unsigned(words[i], 10, 0, 1 << 20, &value, NULL))
            return FALSE;
        guint cta = (guint)value;
        g_array_append_val(ctas, cta);
    }
    return ctas->len > 0 && ctas->len <= 256;
}

/* Clean, or an error that lays what is not at steps of the design. `text`: PTX, "" from CUDA C++.
 */
static gboolean accept(const WsProgram *p, const char *text, WsPtxasReport *report, GError **error)
{
    if (!report)
        return FALSE;
    gboolean clean = ws_ptxas_report_clean(report);
    if (!clean) {
        g_autoptr(GPtrArray) notes = ws_ptxas_notes(p, text, report);
        g_autofree char *where = ws_ptxas_notes_print(notes);
        g_set_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_PTXAS,
                    "ptxas reported a problem:\n%s%s", where, report->log);
    }
    ws_ptxas_report_free(report);
    return clean;
}

static gboolean assemble(const WsProgram *p, const char *ptx, GBytes **cubin, GError **error)
{
    return accept(p, ptx, ws_ptxas_run(ptx, cubin, error), error);
}

gboolean ws_cli_timed_kernel(const WsProgram *p, char **ptx, GBytes **cubin, GError **error)
{
    *ptx = ws_generate_ptx(p, NULL, error);
    return *ptx && assemble(p, *ptx, cubin, error);
}

/* The timed build by way of CUDA C++: the second compiler. */
static gboolean from_cuda(const WsProgram *p, GBytes **cubin, GError **error)
{
    g_autofree char *text = ws_generate_cuda(p, FALSE, error);
    return text && accept(p, "", ws_nvcc_run(text, cubin, error), error);
}

static void unref_bytes(gpointer bytes)
{
    if (bytes)
        g_bytes_unref(bytes);
}

/* A code object of gfx950. What the options ask for besides is refused by name. */
static gboolean generate_amd(Kernels *k, const WsProgram *p, const WsBundleOptions *o,
                             const WsHold *hold, GError **error)
{
    const char *lacks = o->traced ? "--traced: the recorder writes no code for gfx950"
                        : o->debug_waits
                            ? "--debug-waits: waits of gfx950 do not tell of themselves"
                        : hold         ? "--adversary: no witness is replayed on gfx950"
                        : o->delays    ? "--delays: no sleeps are written for gfx950"
                        : o->cubin     ? "--cubin: a code object needs no ptxas"
                        : o->from_cuda ? "--from-cuda: CUDA is for NVIDIA"
                                       : NULL;
    if (lacks) {
        g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_LENS,
                    "not in the bundle for gfx950: %s", lacks);
        return FALSE;
    }
    k->object = ws_generate_amd_object(p, WS_CODE_OBJECT_VERSION, error);
    k->reference_object = g_ptr_array_new_with_free_func(unref_bytes);
    for (guint i = 0; k->object && i < p->n_tensors; i++) {
        GBytes *object = NULL;
        if (ws_tensor_is_output(&p->tensor[i]) && p->n_reference) {
            object = ws_generate_reference_amd(p, i, error);
            if (!object)
                return FALSE;
        }
        g_ptr_array_add(k->reference_object, object);
    }
    return k->object != NULL;
}

static gboolean generate_all(Kernels *k, const WsProgram *p, const WsBundleOptions *o,
                             const WsRecordChoice *choice, const WsHold *hold, GError **error)
{
    WsGenerateOptions options = { .delays = (guint32)o->delays };
    if (p->hardware->halves)
        return generate_amd(k, p, o, hold, error);
    if (!o->from_cuda && !(k->timed = ws_generate_ptx(p, &options, error)))
        return FALSE; /* text of the author in CUDA C++ has no PTX of ours */
    options.delays = 0;
    if (o->traced) {
        k->recorder = ws_recorder_new(p, choice);
        options.recorder = k->recorder;
        k->traced = ws_generate_ptx(p, &options, error);
        if (!k->traced)
            return FALSE;
        options.recorder = NULL;
    }
    if (o->debug_waits || hold) {
        options.debug_waits = TRUE;
        options.hold = hold;
        k->debug = ws_generate_ptx(p, &options, error);
        if (!k->debug)
            return FALSE;
    }
    k->reference = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < p->n_tensors; i++) {
        char *text = NULL;
        if (ws_tensor_is_output(&p->tensor[i]) && p->n_reference) {
            text = ws_generate_reference_ptx(p, i, error);
            if (!text)
                return FALSE;
        }
        g_ptr_array_add(k->reference, text);
    }
    if (o->from_cuda ? !from_cuda(p, &k->timed_cubin, error)
                     : o->cubin && !assemble(p, k->timed, &k->timed_cubin, error))
        return FALSE;
    return !o->cubin || !k->traced || assemble(p, k->traced, &k->traced_cubin, error);
}

/* "M=1 N=2" after the sizes common to all cases. */
static int parse_cases(const WsBundleOptions *o, GPtrArray *store, GArray *cases)
{
    char *none[] = { (char *)"", NULL };
    for (char **shape = o->shape ? o->shape : none; *shape; shape++) {
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        for (guint i = 0; o->size && o->size[i]; i++)
            g_strv_builder_add(builder, o->size[i]);
        g_auto(GStrv) words = g_strsplit_set(*shape, " ,", -1);
        for (guint i = 0; words[i]; i++)
            if (*words[i])
                g_strv_builder_add(builder, words[i]);
        char **all = g_strv_builder_end(builder);
        g_ptr_array_add(store, all);
        GArray *sizes = NULL;
        if (!ws_cli_settings(all, o->shape ? "--case" : "--size", &sizes))
            return WS_EXIT_USAGE;
        WsBundleCase c = { .n_size = sizes->len }; /* before the array goes */
        c.size = (const WsSize *)(gpointer)g_array_free(sizes, FALSE);
        g_array_append_val(cases, c);
    }
    return WS_EXIT_YES;
}

int ws_cli_kernel_failure(const GError *error)
{
    if (g_error_matches(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP) ||
        g_error_matches(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_LENS))
        return WS_EXIT_OUTSIDE;
    if (g_error_matches(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_ABSENT))
        return WS_EXIT_ABSENT;
    if (g_error_matches(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_PTXAS))
        return WS_EXIT_NO;
    return error->domain == WS_GENERATE_ERROR ? WS_EXIT_DEFECT : WS_EXIT_USAGE;
}

static int write_bundle(const WsProgram *p, const WsBundleOptions *o, const WsHold *hold,
                        const char *dir)
{
    g_autoptr(GPtrArray) store = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    g_autoptr(GArray) cases = g_array_new(FALSE, TRUE, sizeof(WsBundleCase));
    g_autoptr(GArray) ctas = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_auto(Kernels) k = { 0 };
    int code = parse_cases(o, store, cases);
    if (code == WS_EXIT_YES && !parse_ctas(p, o->ctas, cases, ctas))
        code = ws_cli_fail(WS_EXIT_USAGE,
                           "--ctas %s: write last, all, or CTA numbers, such as 0,1,66", o->ctas);
    if (o->every < 1 || !ws_record_every_possible(o->every))
        return ws_cli_fail(WS_EXIT_USAGE, "--every takes a power of two from 1 to %d",
                           WS_RECORD_MAX_EVERY);
    WsRecordChoice choice = { .first_round = o->first_round,
                              .rounds = o->rounds < 0 ? RECORDS * o->every : o->rounds,
                              .every = o->every,
                              .first_tile = o->first_tile,
                              .tiles = o->tiles,
                              .n_ctas = ctas->len,
                              .cta = (const guint *)(gpointer)ctas->data };
    if (code == WS_EXIT_YES && !generate_all(&k, p, o, &choice, hold, &error))
        code = ws_cli_fail_with(ws_cli_kernel_failure(error), error);
    const WsBundleCase held = { .size = hold ? (const WsSize *)(gpointer)hold->size->data : NULL,
                                .n_size = hold ? hold->size->len : 0 };
    if (code == WS_EXIT_YES) {
        WsBundleSpec spec = {
            .program = p,
            .hold = hold,
            .timed_ptx = k.timed,
            .traced_ptx = k.traced,
            .debug_ptx = k.debug,
            .timed_cubin = k.timed_cubin,
            .traced_cubin = k.traced_cubin,
            .reference_ptx = k.reference ? (const char *const *)k.reference->pdata : NULL,
            .timed_object = k.object,
            .reference_object =
                k.reference_object ? (GBytes *const *)k.reference_object->pdata : NULL,
            .choice = &choice,
            .cases = hold ? &held : (const WsBundleCase *)(gpointer)cases->data,
            .n_cases = hold ? 1 : cases->len,
            .seed = (guint64)o->seed,
            .runs = (guint)MAX(o->runs, 0),
            .sustained = o->sustained,
            .timeout = o->timeout,
        };
        if (!ws_bundle_write(&spec, dir, findings, &error)) {
            ws_cli_print_findings(findings, p->file);
            code = ws_cli_fail_with(ws_cli_kernel_failure(error), error);
        }
    }
    if (code == WS_EXIT_YES && k.object)
        fprintf(stderr, "%s: for HIP, which is untested on a GPU until one is available\n", dir);
    for (guint i = 0; i < cases->len; i++)
        g_free((gpointer)g_array_index(cases, WsBundleCase, i).size);
    return code;
}

int ws_cli_bundle(const char *file, const WsBundleOptions *o, const char *dir)
{
    if (o->adversary && (o->from_cuda || o->delays || o->traced || o->shape || o->size))
        return ws_cli_fail(WS_EXIT_USAGE,
                           "--adversary takes sizes and build from the witness: leave "
                           "--from-cuda, --delays, --traced, --case, --size away");
    if (o->from_cuda && o->delays)
        return ws_cli_fail(WS_EXIT_USAGE, "--delays is of the LLVM build: leave --from-cuda away");
    g_auto(WsCliInput) in = { 0 };
    g_auto(GStrv) set = g_strdupv(o->set);
    g_auto(WsCliAdversary) a = { 0 };
    int code = ws_cli_load(&in, file, set);
    if (code == WS_EXIT_YES)
        code =
            o->adversary ? ws_cli_adversary(&in, &a) : ws_cli_refuse_refuted(&in, file, o->force);
    if (a.seen)
        fprintf(stderr, "%s: rehearsed: %s: %s\n", file,
                a.shown ? "the counterexample is reproduced"
                        : "the counterexample is NOT reproduced",
                a.seen);
    return code == WS_EXIT_YES ? write_bundle(in.program, o, a.hold, dir) : code;
}

#else

int ws_cli_bundle(const char *file, const WsBundleOptions *o, const char *dir)
{
    return ws_cli_fail(WS_EXIT_ABSENT, "bundles need code generation: build with LLVM 22 "
                                       "(apt-get install llvm-22-dev)");
}

#endif
