/* What an import writes is a design: saved and read again it is judged as the kernel was. */
#include "judged.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "whole.h"

#include <string.h>

#define EDITS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define AS_IT_IS   ((const char *const[]){ NULL })

/* Every kernel of the names of TLE, right and wrong. */
static const struct {
    const char *base;
    const char *const *edits;
} kernels[] = {
#define WS_TLE_NAME(name, base, edits, ...)    { base, edits },
#define WS_TLE_KIN(base, edits, rule, line)    { base, edits },
#define WS_TLE_VALUES(base, edits, ref, sizes) { base, edits },
#define WS_TLE_MADE(...)
#include "tle/names.def"
#undef WS_TLE_NAME
#undef WS_TLE_KIN
#undef WS_TLE_VALUES
#undef WS_TLE_MADE
};

static char *text_of(const char *path)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, "tests/import", path, NULL);
    char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    return text;
}

static char *with_edits(const char *base, const char *const *edits)
{
    g_autofree char *path = g_strdup_printf("tle/names/%s.py", base);
    char *text = text_of(path);
    for (; *edits; edits += 2) {
        g_auto(GStrv) part = g_strsplit(text, edits[0], -1);
        g_free(text);
        text = g_strjoinv(edits[1], part);
    }
    return text;
}

/* No design: its text breaks a rule of the language. */
static gboolean breaks(const WsFindings *findings)
{
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(findings->list, i);
        const WsClass klass = ws_rule(f->rule)->klass;
        if (f->severity == WS_SEVERITY_ERROR && (klass == WS_CLASS_V || klass == WS_CLASS_S ||
                                                 klass == WS_CLASS_N || klass == WS_CLASS_T))
            return TRUE;
    }
    return FALSE;
}

static void compare(const char *text, WsImportFrom language, const char *what)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsImport) import =
        ws_import_text(text, strlen(text), language == WS_IMPORT_PTX ? "kernel.ptx" : "kernel.py",
                       language, &error);
    if (!import)
        return; /* refused, with its place */
    g_autofree char *saved = ws_design_print(import->design);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(saved, strlen(saved), "saved", findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    const WsCheckOptions options = { .verdict_only = TRUE };
    g_autoptr(WsVerdict) v = p ? ws_check(p, &options, findings) : NULL;
    const gboolean proved = verdict_of(text, language) == WS_VERDICT_PROVED,
                   again = v && v->kind == WS_VERDICT_PROVED &&
                           !ws_findings_count(findings, WS_SEVERITY_ERROR);
    if (!breaks(findings) && proved == again)
        return;
    g_autofree char *all = ws_findings_print(findings, "saved");
    g_test_message("%s: %s, saved %s\n%s", what, proved ? "proved" : "not proved",
                   again ? "proved" : "not proved", all);
    g_test_fail();
}

static void test_names(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++) {
        g_autofree char *text =
            kernels[i].base ? with_edits(kernels[i].base, kernels[i].edits) : NULL;
        g_autofree char *what = g_strdup_printf("kernel %u of tle/names.def", i);
        if (text && test_takes(i, 1, 2))
            compare(text, WS_IMPORT_TLE, what);
    }
}

static gint by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void test_folder(gconstpointer data)
{
    const char *folder = data;
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, "tests/import", folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if (g_str_has_suffix(name, ".ptx") || g_str_has_suffix(name, ".py"))
            g_ptr_array_add(names, g_strdup(name));
    g_ptr_array_sort(names, by_text);
    guint n = 0;
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        const gboolean ptx = g_str_has_suffix(name, ".ptx");
        if (!test_takes(i, 1, 2))
            continue;
        g_autofree char *file = g_build_filename(folder, name, NULL), *text = text_of(file);
        compare(text,
                ptx                               ? WS_IMPORT_PTX
                : g_str_has_prefix(folder, "tle") ? WS_IMPORT_TLE
                : g_str_has_prefix(folder, "tlx") ? WS_IMPORT_TLX
                                                  : WS_IMPORT_GLUON,
                file);
        n++;
    }
    g_assert_cmpuint(n, >, 0);
}

/* Forms that once gave a text that is no design. */
static void test_conditions(void)
{
    static const char *const forms[] = {
        "    if steps:\n        tile = tile * 3.0\n    doubled = tile * 2.0",
        "    if steps:\n        tile = tile.to(tl.float32)\n    doubled = tile * 2.0",
        "    doubled = tl.where(steps, tile, tile * 2.0)",
        "    doubled = tl.where(steps & 1, tile, tile * 2.0)",
        "    for k in range(4):\n        if steps:\n            tile = tile.to(tl.float32)\n"
        "    doubled = tile * 2.0",
    };
    for (guint i = 0; i < G_N_ELEMENTS(forms); i++) {
        g_autofree char *text = with_edits(
            "scale", EDITS("    doubled = tile * 2.0", forms[i], "y_desc, 1,", "y_desc, N,"));
        compare(text, WS_IMPORT_TLE, forms[i]);
    }
}

int main(int argc, char **argv)
{
    static const char *const folders[] = { "amd", "gluon", "tlx", "tle", "ptx", "ptx/flow" };
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import/saved/names", test_names);
    g_test_add_func("/import/saved/conditions", test_conditions);
    for (guint i = 0; i < G_N_ELEMENTS(folders); i++) {
        g_autofree char *name = g_strdelimit(g_strdup(folders[i]), "/", '-');
        g_autofree char *path = g_strdup_printf("/import/saved/%s", name);
        g_test_add_data_func(path, folders[i], test_folder);
    }
    return g_test_run();
}
