/* ptxas, where it is installed: assembles, and its report is read back. */
#include "base/temporary.h"
#include "codegen/generate.h"
#include "codegen/nvptx/ptxas/ptxas_tool.h"

#include <gio/gio.h>
#include <glib/gstdio.h>

#include <string.h>

void ws_ptxas_report_free(WsPtxasReport *r)
{
    if (!r)
        return;
    g_ptr_array_unref(r->diagnostics);
    g_free(r->log);
    g_free(r);
}

/* Path of a tool of the CUDA toolkit: $PATH, $CUDA_HOME, the usual place. */
static char *find_tool(const char *name)
{
    char *found = g_find_program_in_path(name);
    if (found)
        return found;
    const char *home[] = { g_getenv("CUDA_HOME"), g_getenv("CUDA_PATH"), "/usr/local/cuda" };
    for (guint i = 0; i < G_N_ELEMENTS(home); i++) {
        if (!home[i])
            continue;
        g_autofree char *path = g_build_filename(home[i], "bin", name, NULL);
        if (g_file_test(path, G_FILE_TEST_IS_EXECUTABLE))
            return g_steal_pointer(&path);
    }
    return NULL;
}

char *ws_ptxas_path(void)
{
    return find_tool("ptxas");
}

gboolean ws_ptxas_available(void)
{
    g_autofree char *path = ws_ptxas_path();
    return path != NULL;
}

gboolean ws_nvcc_available(void)
{
    g_autofree char *path = find_tool("nvcc");
    return path != NULL;
}

/* The number before `unit` on this line ("0 bytes stack frame"), or `otherwise`. */
static guint number_before(const char *line, const char *unit, guint otherwise)
{
    const char *at = strstr(line, unit);
    if (!at)
        return otherwise;
    while (at > line && at[-1] == ' ')
        at--;
    while (at > line && g_ascii_isdigit(at[-1]))
        at--;
    return g_ascii_isdigit(*at) ? (guint)g_ascii_strtoull(at, NULL, 10) : otherwise;
}

static gboolean is_diagnostic(const char *line)
{
    const char *c = line;
    while ((c = strstr(c, "C7"))) {
        if (g_ascii_isdigit(c[2]) && g_ascii_isdigit(c[3]) && g_ascii_isdigit(c[4]))
            return TRUE;
        c++;
    }
    return strstr(line, "warning") || strstr(line, "Warning") || strstr(line, "serialized");
}

static void parse_log(WsPtxasReport *r)
{
    g_auto(GStrv) line = g_strsplit(r->log, "\n", -1);
    for (guint i = 0; line[i]; i++) {
        r->registers = number_before(line[i], "registers", r->registers);
        r->barriers = number_before(line[i], "barriers", r->barriers);
        r->stack = number_before(line[i], "bytes stack frame", r->stack);
        r->spill_stores = number_before(line[i], "bytes spill stores", r->spill_stores);
        r->spill_loads = number_before(line[i], "bytes spill loads", r->spill_loads);
        if (is_diagnostic(line[i]))
            g_ptr_array_add(r->diagnostics, g_strdup(line[i]));
    }
}

gboolean ws_ptxas_report_clean(const WsPtxasReport *r)
{
    return !r->stack && !r->spill_stores && !r->spill_loads && !r->diagnostics->len;
}

/* A compiler of the toolkit: `argv` with places for the output and the input. */
typedef struct {
    const char *name, *input;
    const char *argv[10];
    guint out, in;
} Tool;
static const Tool ptxas = { "ptxas", "kernel.ptx", { NULL, "-arch=sm_90a", "-v", "-o" }, 4, 5 };
/* The same target and report as ptxas's own. */
static const Tool nvcc = { "nvcc",
                           "kernel.cu",
                           { NULL, "-std=c++17", "-gencode=arch=compute_90a,code=sm_90a", "-cubin",
                             "-DWARPSTAVE_BUNDLE", "-Xptxas=-v", "-o" },
                           7,
                           8 };

static WsPtxasReport *compile(const Tool *tool, const char *path, const char *dir, const char *text,
                              GBytes **cubin, GError **error)
{
    g_autofree char *in = g_build_filename(dir, tool->input, NULL);
    g_autofree char *out = g_build_filename(dir, "kernel.cubin", NULL);
    if (!g_file_set_contents(in, text, -1, error))
        return NULL;
    const char *argv[10];
    memcpy(argv, tool->argv, sizeof argv);
    argv[0] = path;
    argv[tool->out] = out;
    argv[tool->in] = in;
    g_autofree char *text_out = NULL, *text_err = NULL;
    int status = 0;
    /* Open descriptors are closed on exec where they were made; told so, GLib need not fork a
     * process that holds all of LLVM. */
    gboolean ran = g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_LEAVE_DESCRIPTORS_OPEN, NULL,
                                NULL, &text_out, &text_err, &status, error);
    WsPtxasReport *r = NULL;
    if (ran && status != 0) {
        g_set_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_PTXAS, "%s refused: %s%s",
                    tool->name, text_out, text_err);
    } else if (ran) {
        r = g_new0(WsPtxasReport, 1);
        r->diagnostics = g_ptr_array_new_with_free_func(g_free);
        r->log = g_strconcat(text_out, text_err, NULL);
        parse_log(r);
        gsize n = 0;
        char *bytes = NULL;
        if (cubin && g_file_get_contents(out, &bytes, &n, error)) {
            *cubin = g_bytes_new_take(bytes, n);
        } else if (cubin) {
            ws_ptxas_report_free(r);
            r = NULL;
        }
    }
    g_unlink(in);
    g_unlink(out);
    return r;
}

static WsPtxasReport *run(const Tool *tool, const char *text, GBytes **cubin, GError **error)
{
    g_autofree char *path = find_tool(tool->name);
    if (!path) {
        g_set_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_ABSENT,
                    "%s is not installed (looked in PATH, CUDA_HOME, /usr/local/cuda)", tool->name);
        return NULL;
    }
    g_autofree char *dir = ws_temporary_folder(error);
    if (!dir)
        return NULL;
    WsPtxasReport *r = compile(tool, path, dir, text, cubin, error);
    g_rmdir(dir);
    ws_temporary_end(dir);
    return r;
}

WsPtxasReport *ws_ptxas_run(const char *ptx, GBytes **cubin, GError **error)
{
    return run(&ptxas, ptx, cubin, error);
}

WsPtxasReport *ws_nvcc_run(const char *cuda, GBytes **cubin, GError **error)
{
    return run(&nvcc, cuda, cubin, error);
}
