#include "cli/kernels.h"
#include "base/folder.h"
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
#include "runner/manifest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TILES = 4, RECORDS = 160 }; /* of a step in an inner loop, unless --rounds says otherwise */

#define NO_TIMEOUT (-G_MAXDOUBLE) /* not given */

void ws_bundle_options_init(WsBundleOptions *o)
{
    *o = (WsBundleOptions){ .seed = 1,
                            .first_round = WS_NOT_GIVEN,
                            .rounds = WS_NOT_GIVEN,
                            .tiles = WS_NOT_GIVEN,
                            .every = WS_NOT_GIVEN,
                            .launches = WS_NOT_GIVEN,
                            .delays = WS_NOT_GIVEN,
                            .runs = G_MININT,
                            .sustained = 1,
                            .timeout = NO_TIMEOUT };
}

static gint64 given(gint64 value, gint64 otherwise)
{
    return value == WS_NOT_GIVEN ? otherwise : value;
}

/* The options of the recorder: which is given, and the least that it takes. */
static int check_recorder(const WsBundleOptions *o)
{
    const struct {
        const char *name;
        gint64 value, least, most;
    } number[] = {
        { "--rounds", o->rounds, 0, G_MAXINT32 },
        { "--every", o->every, 1, WS_RECORD_MAX_EVERY },
        { "--launches", o->launches, 1, WS_RECORD_MAX_LAUNCHES },
        { "--first-round", o->first_round, 0, G_MAXINT32 },
        { "--tiles", o->tiles, 1, G_MAXINT32 },
    };
    const char *any = o->ctas ? "--ctas" : NULL;
    for (guint i = 0; i < G_N_ELEMENTS(number); i++) {
        if (number[i].value == WS_NOT_GIVEN)
            continue;
        any = number[i].name;
        if (number[i].value < number[i].least || number[i].value > number[i].most)
            return ws_cli_fail(WS_EXIT_USAGE,
                               "%s takes a number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                               any, number[i].least, number[i].most);
    }
    if (any && !o->traced)
        return ws_cli_fail(WS_EXIT_USAGE,
                           "%s is of the traced build: add --traced, or leave it away", any);
    if (!ws_record_every_possible(given(o->every, 1)))
        return ws_cli_fail(WS_EXIT_USAGE, "--every takes a power of two from 1 to %d",
                           WS_RECORD_MAX_EVERY);
    if (!ws_record_every_possible(given(o->launches, 1)))
        return ws_cli_fail(WS_EXIT_USAGE, "--launches takes a power of two from 1 to %d",
                           WS_RECORD_MAX_LAUNCHES);
    if (given(o->launches, 1) > 1 && (o->every != WS_NOT_GIVEN || o->rounds == 0))
        return ws_cli_fail(WS_EXIT_USAGE, "--launches says which rounds each launch records: leave "
                                          "--every and --rounds 0 away");
    if (o->rounds == 0 && (o->every != WS_NOT_GIVEN || o->first_round != WS_NOT_GIVEN))
        return ws_cli_fail(WS_EXIT_USAGE, "--rounds 0 records no round of inner loops: leave "
                                          "--every and --first-round away");
    return WS_EXIT_YES;
}

int ws_bundle_options_check(const WsBundleOptions *o)
{
    const int code = check_recorder(o);
    if (code != WS_EXIT_YES)
        return code;
    if (o->seed < 0)
        return ws_cli_fail(WS_EXIT_USAGE, "--seed takes a number from 0");
    if (o->delays != WS_NOT_GIVEN && (o->delays < 1 || o->delays > G_MAXUINT32))
        return ws_cli_fail(WS_EXIT_USAGE, "--delays takes a number from 1 to %u", G_MAXUINT32);
    if (o->runs != G_MININT && o->runs < 1)
        return ws_cli_fail(WS_EXIT_USAGE, "--runs takes a number from 1");
    if (!(o->sustained >= 0) || !isfinite(o->sustained))
        return ws_cli_fail(WS_EXIT_USAGE, "--sustained takes seconds, 0 for none");
    if (o->timeout > NO_TIMEOUT && (!(o->timeout > 0) || !isfinite(o->timeout)))
        return ws_cli_fail(WS_EXIT_USAGE, "--timeout takes seconds, more than 0");
    return WS_EXIT_YES;
}

guint ws_cli_devices(const char *list)
{
    g_auto(GStrv) word = g_strsplit(list, ",", -1);
    g_autoptr(GHashTable) named = g_hash_table_new(NULL, NULL);
    for (guint i = 0; word[i]; i++) {
        guint64 number;
        if (!g_ascii_string_to_unsigned(word[i], 10, 0, G_MAXUINT16, &number, NULL) ||
            !g_hash_table_add(named, GUINT_TO_POINTER(number)))
            return 0;
    }
    return g_strv_length(word);
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
        for (guint k = 0; k < ctas->len; k++)
            if (g_array_index(ctas, guint, k) == cta)
                return FALSE;
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
                        : hold                ? "--adversary: no witness is replayed on gfx950"
                        : given(o->delays, 0) ? "--delays: no sleeps are written for gfx950"
                        : o->cubin            ? "--cubin: a code object needs no ptxas"
                        : o->from_cuda        ? "--from-cuda: CUDA is for NVIDIA"
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
    WsGenerateOptions options = { .delays = (guint32)given(o->delays, 0) };
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
    if (!ws_cli_shapes(o->shape))
        return WS_EXIT_USAGE;
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
                           "--ctas %s: write last, all, or CTA numbers, each once, such as 0,1,66",
                           o->ctas);
    const gint64 launches = given(o->launches, 1);
    const gint64 every = launches > 1 ? launches : given(o->every, 1);
    WsRecordChoice choice = { .first_round = given(o->first_round, 0),
                              .rounds = given(o->rounds, RECORDS * every),
                              .every = every,
                              .launches = (guint)launches,
                              .first_tile = o->first_tile,
                              .tiles = given(o->tiles, TILES),
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
            .runs = o->runs == G_MININT ? 0 : (guint)o->runs,
            .sustained = o->sustained,
            .timeout = MAX(o->timeout, 0),
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
    if (o->adversary && (o->from_cuda || given(o->delays, 0) || o->traced || o->shape || o->size))
        return ws_cli_fail(WS_EXIT_USAGE,
                           "--adversary takes sizes and build from the witness: leave "
                           "--from-cuda, --delays, --traced, --case, --size away");
    if (o->from_cuda && given(o->delays, 0))
        return ws_cli_fail(WS_EXIT_USAGE, "--delays is of the LLVM build: leave --from-cuda away");
    g_autoptr(GError) error = NULL;
    g_auto(WsCliInput) in = { 0 };
    g_auto(GStrv) set = g_strdupv(o->set);
    g_auto(WsCliAdversary) a = { 0 };
    int code = ws_bundle_options_check(o);
    if (code == WS_EXIT_YES && !ws_folder_check(dir, WS_MANIFEST_FILE, "a bundle", &error))
        code = ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    if (code == WS_EXIT_YES)
        code = ws_cli_load(&in, file, set);
    if (code == WS_EXIT_YES)
        code = o->adversary ? ws_cli_adversary(&in, &a)
               : o->proved  ? WS_EXIT_YES
                            : ws_cli_refuse_refuted(&in, file, o->force);
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
