#include "package/package.h"
#include "base/file.h"
#include "cli/kernels.h"
#include "cli/package/pair.h"
#include "cli/package/rule.h"
#include "cli/package/text.h"
#include "launch/collect.h"
#include "model/findings.h"
#include "package/hip.h"
#include "package/mesh.h"
#include "program/parts/tensor.h"
#include "program/program.h"
#include "target/target.h"
#ifdef WS_HAVE_CODEGEN
#include "codegen/amdgpu/amdgpu.h"
#include "codegen/generate.h"
#endif

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_FIGURES_BYTES (1 << 20)

#ifdef WS_HAVE_CODEGEN

/* Figures of a bundle that was run with this very design, as a table; NULL with an error printed.
 */
static char *figures_of_bundle(const WsProgram *p, const char *dir)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(WsCollected) c = ws_collect(dir, findings, &error);
    if (!c) {
        ws_cli_fail(WS_EXIT_USAGE, "%s: %s", dir, error->message);
        return NULL;
    }
    if (!c->program || g_strcmp0(c->program->design_hash, p->design_hash) != 0) {
        ws_cli_fail(WS_EXIT_USAGE, "%s was run with another design; bundle and run this one", dir);
        return NULL;
    }
    GString *out = g_string_new(NULL);
    g_string_append_printf(
        out,
        "%s, by warpstave-runner: inputs from a seed, outputs compared with a float64 "
        "reference.\n\n"
        "| sizes | outputs | cold, median of launches | sustained |\n|---|---|---|---|\n",
        c->device ? c->device : "unknown device");
    for (guint i = 0; i < c->cases->len; i++) {
        const WsCollectedCase *x = c->cases->pdata[i];
        const WsCollectedTime *time[] = { &x->cold, &x->sustained };
        g_string_append_printf(out, "| %s | %s |", x->label, x->state);
        for (guint k = 0; k < 2; k++) {
            if (time[k]->n)
                g_string_append_printf(out, " %.2f us (%u)", time[k]->median_us, time[k]->n);
            if (time[k]->n && isfinite(time[k]->tflops) && time[k]->tflops > 0)
                g_string_append_printf(out, ", %.1f TF/s", time[k]->tflops);
            g_string_append(out, " |");
        }
        g_string_append_c(out, '\n');
    }
    return g_string_free(out, FALSE);
}

/* What is known of the speed: a text, a bundle that was run, or measured/figures.md beside the
 * design. FALSE with the error printed. */
static gboolean find_figures(const WsProgram *p, const char *file, const char *text,
                             const char *bundle, char **out)
{
    g_autoptr(GError) error = NULL;
    gsize length;
    *out = NULL;
    if (bundle)
        return (*out = figures_of_bundle(p, bundle)) != NULL;
    if (text && !ws_file_read(text, MAX_FIGURES_BYTES, out, &length, &error)) {
        ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
        return FALSE;
    }
    g_autofree char *dir = g_path_get_dirname(file);
    g_autofree char *beside = g_build_filename(dir, "measured", "figures.md", NULL);
    if (!text)
        ws_file_read(beside, MAX_FIGURES_BYTES, out, &length, NULL);
    if (*out && !g_utf8_validate(*out, -1, NULL)) {
        ws_cli_fail(WS_EXIT_USAGE, "%s is not UTF-8 text", text ? text : beside);
        return FALSE;
    }
    return TRUE;
}

static int write_hip(WsCliInput *in, const WsPackageSpec *known, const char *dir,
                     const char *wheels)
{
    g_autoptr(GError) error = NULL;
    if (wheels)
        return ws_cli_fail(WS_EXIT_OUTSIDE,
                           "target %s: not supported by package --wheel (its package "
                           "is C; leave --wheel out)",
                           in->program->target);
    g_autoptr(GBytes) object = ws_generate_amd_object(in->program, WS_CODE_OBJECT_VERSION, &error);
    if (!object)
        return ws_cli_fail_with(ws_cli_kernel_failure(error), error);
    WsPackageSpec spec = *known;
    spec.cubin = object;
    return ws_package_hip_write(&spec, dir, &error) ? WS_EXIT_YES
                                                    : ws_cli_package_failure(error, dir);
}

static int write_package(WsCliInput *in, const WsPackageSpec *known, const char *dir,
                         const char *wheels, char **wheel)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *ptx = NULL;
    g_autoptr(GBytes) cubin = NULL;
    if (in->program->hardware->halves)
        return write_hip(in, known, dir, wheels);
    if (!ws_cli_timed_kernel(in->program, &ptx, &cubin, &error))
        return ws_cli_fail_with(ws_cli_kernel_failure(error), error);
    WsPackageSpec spec = *known;
    spec.ptx = ptx, spec.cubin = cubin;
    if (in->program->mesh && !wheels)
        return ws_package_mesh_write(&spec, dir, &error) ? WS_EXIT_YES
                                                         : ws_cli_package_failure(error, dir);
    if (ws_package_write(&spec, dir, &error) &&
        (!wheels || (*wheel = ws_package_wheel(&spec, wheels, &error))))
        return WS_EXIT_YES;
    return ws_cli_package_failure(error, dir);
}

/* Files of a package besides README.md, by what its code is for; NULL: none. `%s` is its name. */
static const char *const files_of[3][7] = {
    { "kernel.cubin", "%s.h", "%s.c", "%s_kernel.c", "%s_python.c", "%s.py", "bench.py" },
    { "kernel.hsaco", "%s.h", "%s.c", "%s_kernel.c" },
    { "kernel.cubin", "%s.py" },
};

static void say_written(const char *file, const char *dir, const char *name, const char *verdict,
                        const char *wheel, const WsProgram *p, gboolean json)
{
    const guint kind = p->hardware->halves ? 1 : p->mesh ? 2 : 0;
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < G_N_ELEMENTS(files_of[kind]) && files_of[kind][i]; i++) {
        g_auto(GStrv) parts = g_strsplit(files_of[kind][i], "%s", 2);
        g_ptr_array_add(files, g_strjoinv(name, parts));
    }
    g_ptr_array_add(files, g_strdup("README.md"));
    if (json) {
        ws_cli_package_json(file, dir, name, verdict, files, wheel);
        return;
    }
    printf("%s: ", dir);
    for (guint i = 0; i < files->len; i++) {
        const char *one = files->pdata[i];
        if (!g_str_has_suffix(one, "_kernel.c") && !g_str_has_suffix(one, "_python.c") &&
            !g_str_equal(one, "bench.py"))
            printf("%s%s", i ? ", " : "", one);
    }
    printf("\n");
    if (wheel)
        printf("%s\n", wheel);
}

static int package(const char *file, char **set, const char *name, gboolean force,
                   const char *figures, const char *bundle, gboolean json, const char *dir,
                   const char *wheels)
{
    g_auto(WsCliInput) in = { 0 };
    g_autofree char *text = NULL, *known = NULL, *wheel = NULL;
    known = name ? g_strdup(name) : ws_cli_package_name(file);
    int code = ws_cli_package_ready(known, dir, wheels);
    if (code == WS_EXIT_YES)
        code = ws_cli_load(&in, file, set);
    if (code == WS_EXIT_YES)
        code = ws_cli_refuse_refuted(&in, file, force);
    if (code != WS_EXIT_YES)
        return code;
    if (!find_figures(in.program, file, figures, bundle, &text))
        return WS_EXIT_USAGE;
    g_autofree char *said = g_strdup_printf("`warpstave check` says: %s.", in.verdict);
    g_autofree char *outcome = ws_cli_package_outcome(in.verdict);
    WsPackageSpec spec = {
        .program = in.program, .name = known, .verdict = said, .outcome = outcome, .figures = text
    };
    code = write_package(&in, &spec, dir, wheels, &wheel);
    if (code == WS_EXIT_YES)
        say_written(file, dir, known, in.verdict, wheel, in.program, json);
    return code;
}

#else

static int package(const char *file, char **set, const char *name, gboolean force,
                   const char *figures, const char *bundle, gboolean json, const char *dir,
                   const char *wheels)
{
    (void)json, (void)file, (void)set, (void)name, (void)force, (void)figures, (void)bundle,
        (void)dir, (void)wheels;
    return ws_cli_fail(WS_EXIT_ABSENT, "packages need code generation: build with LLVM 22 "
                                       "(apt-get install llvm-22-dev)");
}

#endif

int ws_command_package(int argc, char **argv)
{
    g_autofree char *out = NULL, *name = NULL, *figures = NULL, *bundle = NULL, *wheels = NULL;
    g_auto(GStrv) set = NULL, size = NULL, backward = NULL;
    gboolean force = FALSE, json = FALSE;
    const GOptionEntry entries[] = {
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &out, "the folder to write", "DIR" },
        { "wheel", 0, 0, G_OPTION_ARG_FILENAME, &wheels,
          "a wheel too, compiled by cc, in this folder", "DIR" },
        { "size", 0, 0, G_OPTION_ARG_STRING_ARRAY, &size,
          "of a rule (X.pick): a name that is not a size of its designs", "NAME=VALUE" },
        { "backward", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &backward,
          "a design of the gradient; repeatable, in the order of the launches: a Python package "
          "with autograd; its gradient is tried at the sizes that the README names",
          "DESIGN" },
        { "name", 0, 0, G_OPTION_ARG_STRING, &name, "of functions and files", "NAME" },
        { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &set, "override a constant", "NAME=VALUE" },
        { "figures", 0, 0, G_OPTION_ARG_FILENAME, &figures,
          "what was measured, Markdown (default: measured/figures.md beside the design)", "FILE" },
        { "measured", 0, 0, G_OPTION_ARG_FILENAME, &bundle,
          "a bundle of this design that was run: its figures", "BUNDLE" },
        { "force", 0, 0, G_OPTION_ARG_NONE, &force, "pack a refuted design too", NULL },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "print version 1 of the JSON form", NULL },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "package", entries, &file))
        return WS_EXIT_USAGE;
    if (!out)
        return ws_cli_fail(WS_EXIT_USAGE, "package: say where: -o DIR");
    if (figures && bundle)
        return ws_cli_fail(WS_EXIT_USAGE, "--figures or --measured, not both");
#ifdef WS_HAVE_CODEGEN
    if (backward) {
        if (wheels || size || figures || bundle || g_str_has_suffix(file, ".pick"))
            return ws_cli_fail(WS_EXIT_USAGE,
                               "--backward makes a folder that Python imports, of designs: without "
                               "--wheel, --size, --figures, --measured, rules");
        const WsPairOptions o = { file, name, out, backward, set, force, json };
        return ws_cli_package_pair(&o);
    }
    if (g_str_has_suffix(file, ".pick")) {
        if (set || figures || bundle)
            return ws_cli_fail(WS_EXIT_USAGE, "a rule has its own settings: --set, --figures and "
                                              "--measured are of one design");
        const WsPackageRuleOptions o = { file, name, out, wheels, size, force, json };
        return ws_cli_package_rule(&o);
    }
#endif
    if (size)
        return ws_cli_fail(WS_EXIT_USAGE, "--size is of a rule (X.pick)");
    return package(file, set, name, force, figures, bundle, json, out, wheels);
}
