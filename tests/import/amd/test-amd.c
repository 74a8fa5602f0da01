/* Gluon for AMD as it is read: exports of the gfx950 designs with one thing changed, each with what
 * must become of it (amd/planted.def). What is broken is refuted at its line, or not read by name;
 * never proved. */
#include "judge/judge.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include "codegen/python/python.h"

#include <string.h>

typedef enum { GEMM, ATTENTION, LATE, FLAT, HAND, KERNELS } Kernel;
typedef enum { PROVED, REFUTED, OUTSIDE, NOT_PROVED } Want;

static const struct {
    const char *name;
    Kernel kernel;
    const char *from, *to;
    Want want;
    const char *what, *line;
} plants[] = {
#define PLANT(name, kernel, from, to, want, what, line)                                            \
    { name, kernel, from, to, want, what, line },
#include "planted.def"
#undef PLANT
};

static char *exported(Kernel kernel)
{
    static const char *const path[KERNELS] = {
        [GEMM] = "projects/gemm-gfx950/design.wstave",
        [ATTENTION] = "projects/attention-gfx950/design.wstave",
        [LATE] = "tests/designs/refuted-gemm-gfx950-late-wait.wstave",
        [FLAT] = "tests/designs/gemm-gfx950-flat.wstave",
        [HAND] = "tests/import/amd/hand.py",
    };
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, path[kernel], NULL);
    char *own = NULL;
    if (kernel == HAND) {
        g_assert_true(g_file_get_contents(file, &own, NULL, NULL));
        return own;
    }
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(p);
    char *text = ws_generate_gluon(p, FALSE, NULL, &error);
    g_assert_no_error(error);
    return text;
}

/* Once, where it stands first; several changes are parted by form feeds. */
static char *changed(const char *text, const char *from, const char *to)
{
    g_auto(GStrv) what = g_strsplit(from, "\f", -1), by = g_strsplit(to, "\f", -1);
    GString *s = g_string_new(text);
    for (guint i = 0; what[i]; i++) {
        const char *at = strstr(s->str, what[i]);
        if (!at)
            g_test_message("%s", what[i]);
        g_assert_nonnull(at);
        const gssize place = at - s->str;
        g_string_erase(s, place, (gssize)strlen(what[i]));
        g_string_insert(s, place, by[0] ? by[i] : "");
    }
    return g_string_free(s, FALSE);
}

static gboolean is_on(char **line, guint number, guint last, const char *text)
{
    gboolean found = !*text;
    for (guint i = number; i <= MAX(last, number) && i <= g_strv_length(line); i++)
        found |= i > 0 && strstr(line[i - 1], text) != NULL;
    return found;
}

/* Among what was not read, or what makes it no program, is this, and there. */
static gboolean is_named(const WsJudged *k, char **line, const char *what, const char *where)
{
    gboolean found = FALSE;
    for (guint i = 0; i < k->import->unread->len; i++) {
        const WsUnread *u = g_ptr_array_index(k->import->unread, i);
        g_test_message("%u: %s%s", u->line, u->harmless ? "value: " : "", u->what);
        found |= !u->harmless && strstr(u->what, what) && is_on(line, u->line, u->end_line, where);
    }
    ws_import_locate(k->design, k->findings);
    for (guint i = 0; i < k->findings->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(k->findings->list, i);
        if (f->severity < WS_SEVERITY_WARNING) /* errors of what is outside are warnings */
            continue;
        g_test_message("%u: %s %s", f->line, ws_rule(f->rule)->text, f->message);
        found |= strstr(f->message, what) && is_on(line, f->line, f->line, where);
    }
    return found;
}

static gboolean is_refuted(const WsJudged *k, char **line, const char *rule, const char *where)
{
    gboolean found = FALSE;
    ws_import_locate(k->design, k->findings);
    for (guint i = 0; i < k->findings->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(k->findings->list, i);
        if (f->severity != WS_SEVERITY_ERROR)
            continue;
        g_test_message("%u: %s %s", f->line, ws_rule(f->rule)->text, f->message);
        found |= f->line && g_str_has_prefix(ws_rule(f->rule)->text, rule) &&
                 is_on(line, f->line, f->line, where);
    }
    return found;
}

static char *kernel[KERNELS];

static void test_plant(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = changed(kernel[plants[i].kernel], plants[i].from, plants[i].to);
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    g_auto(WsJudged) k = { 0 };
    g_autoptr(GError) error = NULL;
    ws_judge_text(text, strlen(text), "kernel.py", WS_IMPORT_GLUON, NULL, NULL, &k, &error);
    g_assert_no_error(error);
    const WsVerdictKind is = k.verdict->kind;
    g_autofree char *gap = ws_import_gap(k.import);
    g_test_message("%s", gap ? gap : "all is read");
    if (plants[i].want == PROVED) {
        is_named(&k, line, "", "");
        g_assert_cmpint(is, ==, WS_VERDICT_PROVED);
        g_assert_null(gap);
    } else if (plants[i].want == REFUTED) {
        g_assert_true(is_refuted(&k, line, plants[i].what, plants[i].line));
        g_assert_cmpint(is, ==, WS_VERDICT_REFUTED);
        g_assert_null(gap);
    } else if (plants[i].want == OUTSIDE) {
        g_assert_true(is_named(&k, line, plants[i].what, plants[i].line));
        g_assert_cmpint(is, ==, WS_VERDICT_OUTSIDE);
    } else {
        is_named(&k, line, "", "");
        g_assert_cmpint(is, !=, WS_VERDICT_PROVED);
    }
}

/* --- other people's
 * -----------------------------------------------------------------------------*/

static const struct {
    const char *file, *name, *define, *what;
} upstream[] = {
#define UPSTREAM(file, name, define, what) { file, name, define, what },
#include "upstream.def"
#undef UPSTREAM
};

static const struct {
    const char *file, *helpers, *name;
    Want want;
    const char *what;
} tutorials[] = {
#define UPSTREAM(file, name, define, what)
#define TUTORIAL(file, helpers, name, want, what) { file, helpers, name, want, what },
#include "upstream.def"
#undef UPSTREAM
};

static void test_tutorial(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    const char *root = g_getenv("WARPSTAVE_GFX950_SOURCE");
    if (!root) {
        g_test_skip("WARPSTAVE_GFX950_SOURCE names no checkout of the gfx950 tutorials");
        return;
    }
    g_autofree char *path = g_build_filename(root, tutorials[i].file, NULL), *text = NULL,
                    *folder = g_path_get_dirname(path), *helpers = NULL, *of = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    helpers = tutorials[i].helpers ? g_build_filename(root, tutorials[i].helpers, NULL) : NULL;
    of = helpers ? g_path_get_dirname(helpers) : NULL;
    char *modules[] = { of, NULL };
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    const WsImportOptions how = { .kernel = tutorials[i].name,
                                  .folder = folder,
                                  .modules = modules };
    g_auto(WsJudged) k = { 0 };
    g_autoptr(GError) error = NULL;
    ws_judge_text(text, strlen(text), tutorials[i].file, WS_IMPORT_GLUON, &how, NULL, &k, &error);
    g_assert_no_error(error);
    const gboolean named = is_named(&k, line, tutorials[i].what, "");
    g_assert_cmpint(k.verdict->kind, ==,
                    tutorials[i].want == PROVED ? WS_VERDICT_PROVED : WS_VERDICT_OUTSIDE);
    g_assert_true(named || tutorials[i].want == PROVED);
}

static void test_upstream(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    const char *root = g_getenv("WARPSTAVE_TRITON_SOURCE");
    if (!root) {
        g_test_skip("WARPSTAVE_TRITON_SOURCE names no checkout of Triton");
        return;
    }
    g_autofree char *path =
        g_build_filename(root, "third_party", "amd", "python", upstream[i].file, NULL);
    g_autofree char *text = NULL;
    g_auto(GStrv) define = g_strsplit(upstream[i].define, " ", -1);
    const WsImportOptions how = { .kernel = upstream[i].name, .define = define };
    g_auto(WsJudged) k = { 0 };
    g_autoptr(GError) error = NULL;
    g_file_get_contents(path, &text, NULL, &error);
    g_assert_no_error(error);
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    ws_judge_text(text, strlen(text), upstream[i].file, WS_IMPORT_GLUON, &how, NULL, &k, &error);
    g_assert_no_error(error);
    g_assert_true(is_named(&k, line, upstream[i].what, ""));
    g_assert_cmpint(k.verdict->kind, ==, WS_VERDICT_OUTSIDE);
}

/* Numbers that are 1 at the launch are constants to the compiler, which then counts the rounds: the
 * design is one for other numbers. */
/* Bounds that are taken for granted: none where the host asserts all shapes, else those of the
 * tensors of which it does not. */
static void test_bounds(void)
{
    static const struct {
        Kernel kernel;
        const char *from, *to;
        guint granted;
    } cases[] = {
        { GEMM, "", "", 0 },
        { ATTENTION, "", "", 0 },
        { FLAT, "", "", 0 },
        /* rows of B and C; all else is said of A.shape and B.shape */
        { GEMM, "tuple(x.shape) != shape or ", "", 2 },
        { GEMM, "tuple(x.shape) != shape or there", "tuple(x.shape) != shape and there", 2 },
        { GEMM, "def fits(", "def tuple(x):\n    return x\n\n\ndef fits(", 2 },
        { GEMM, "raise ValueError", "return ValueError", 2 },
        { GEMM, "    fits(\"B\"", "    if M > 9999:\n        fits(\"B\"", 1 },
        { GEMM, "(K, N), (N, 1), torch", "[K, N], (N, 1), torch", 1 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(WsJudged) k = { 0 };
        g_autoptr(GError) error = NULL;
        g_autofree char *text = changed(kernel[cases[i].kernel], cases[i].from, cases[i].to);
        ws_judge_text(text, strlen(text), "kernel.py", WS_IMPORT_GLUON, NULL, NULL, &k, &error);
        g_assert_no_error(error);
        guint granted = 0;
        for (guint g = 0; g < k.import->granted->len; g++)
            granted += strstr(k.import->granted->pdata[g], "lie in it") != NULL;
        if (granted != cases[i].granted)
            g_error("%s: %u tensors, not %u", cases[i].from, granted, cases[i].granted);
    }
}

/* Strides: what the kernel counts by extents alone is said to be contiguous, unless the host
 * asserts it. */
static void test_strides(void)
{
    static const struct {
        const char *from, *to, *granted;
    } cases[] = {
        { "", "", "the strides of `A`, `B`, `C` are those of contiguous tensors" },
        { "    programs = n_tiles", "    assert A.is_contiguous()\n    programs = n_tiles",
          "the strides of `B`, `C` are those of contiguous tensors" },
        { "    programs = n_tiles",
          "    if not A.is_contiguous() or not B.is_contiguous():\n        raise ValueError\n"
          "    assert C.is_contiguous() and M\n    programs = n_tiles",
          NULL },
        { "    programs = n_tiles",
          "    if A.is_contiguous():\n        raise ValueError\n    programs = n_tiles",
          "the strides of `A`, `B`, `C` are those of contiguous tensors" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(WsJudged) k = { 0 };
        g_autoptr(GError) error = NULL;
        g_autofree char *text = changed(kernel[GEMM], cases[i].from, cases[i].to);
        ws_judge_text(text, strlen(text), "kernel.py", WS_IMPORT_GLUON, NULL, NULL, &k, &error);
        g_assert_no_error(error);
        g_assert_cmpint(k.verdict->kind, ==, WS_VERDICT_PROVED);
        const char *said = NULL;
        for (guint g = 0; g < k.import->granted->len; g++)
            if (strstr(k.import->granted->pdata[g], "contiguous"))
                said = k.import->granted->pdata[g];
        g_assert_cmpstr(said, ==, cases[i].granted);
    }
}

static void test_assumed(void)
{
    g_auto(WsJudged) k = { 0 };
    g_autoptr(GError) error = NULL;
    ws_judge_text(kernel[GEMM], strlen(kernel[GEMM]), "kernel.py", WS_IMPORT_GLUON, NULL, NULL, &k,
                  &error);
    g_assert_no_error(error);
    g_autofree char *text = ws_design_print(k.design);
    g_assert_nonnull(strstr(text, "\"kt != 1\""));
    g_assert_nonnull(strstr(text, "\"K != 1\""));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < KERNELS; i++)
        kernel[i] = exported((Kernel)i);
    for (guint i = 0; i < G_N_ELEMENTS(plants); i++) {
        g_autofree char *path = g_strdup_printf("/import/amd/%s", plants[i].name);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_plant);
    }
    g_test_add_func("/import/amd/assumed", test_assumed);
    g_test_add_func("/import/amd/bounds", test_bounds);
    g_test_add_func("/import/amd/strides", test_strides);
    for (guint i = 0; i < G_N_ELEMENTS(upstream); i++) {
        g_autofree char *path = g_strdup_printf("/import/amd/upstream/%s/%u", upstream[i].name, i);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_upstream);
    }
    for (guint i = 0; i < G_N_ELEMENTS(tutorials); i++) {
        g_autofree char *path = g_strdup_printf("/import/amd/tutorial/%s/%u", tutorials[i].name, i);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_tutorial);
    }
    const int failed = g_test_run();
    for (guint i = 0; i < KERNELS; i++)
        g_free(kernel[i]);
    return failed;
}
