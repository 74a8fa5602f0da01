/* The names of TLE on a GPU: tests/gpu/names.txt has a line for each name that is read, of the very
 * kernel that tle/names.def has today. With WARPSTAVE_NAMES=FOLDER the kernels are written there as
 * designs for tests/gpu/names.sh, with a reference and sizes where the table has one for them. */
#include "codegen/generate.h"
#include "model/finding.h"
#include "model/findings.h"
#include "named.h"
#include "program/elaborate.h"
#include "target/core.h"
#include "target/target.h"

#include <string.h>

#define TABLE WS_SOURCE_ROOT "/tests/gpu/names.txt"

/* What runs besides: the title of its line, the design, how it becomes a bundle. */
static const struct {
    const char *title, *path, *how;
} extra[] = {
    { "template: a ring", "resources/ui/templates/1-ring.wstave", "-" },
    { "template: a pipe of one shot", "resources/ui/templates/5-one-shot-pipe.wstave", "-" },
    { "template: a pipe", "resources/ui/templates/6-pipe.wstave", "-" },
    { "vectors added by PTX of an author, in CUDA C++", "tests/designs/raw-add.wstave", "cuda" },
    { "vectors added by CUDA C++ of an author", "tests/designs/raw-cuda.wstave", "cuda" },
    { "sparse MLA as tle.load(is_async=True) gathers", "tests/designs/sparse-mla-async.wstave",
      "-" },
};

/* Whether a line is due: a design of it runs on a GPU. */
static gboolean is_due(const NamedRow *r)
{
    return r->said == YES && (r->read == YES || (r->design && *r->design));
}

static char *text_of_file(const char *path)
{
    g_autofree char *whole = g_build_filename(WS_SOURCE_ROOT, path, NULL);
    char *text = NULL;
    g_assert_true(g_file_get_contents(whole, &text, NULL, NULL));
    return text;
}

/* Of the TLE text, or of the design that says it. Caller frees. */
static char *text_of(const NamedRow *r)
{
    return r->design && *r->design ? text_of_file(r->design) : named_kernel(r->base, r->edits);
}

static char *key_of(const char *text)
{
    char *key = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
    key[10] = '\0';
    return key;
}

/* --- the table -------------------------------------------------------------------------------- */

/* Lines are "key result error sizes GPU date name", apart by two blanks and more; `#` begins a
 * remark. */
static GHashTable *lines_of(const char *table)
{
    g_auto(GStrv) line = g_strsplit(table, "\n", -1);
    GHashTable *all = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    gboolean missed = TRUE;
    for (guint i = 0; line[i]; i++) {
        if (!*line[i] || *line[i] == '#')
            continue;
        g_auto(GStrv) part = g_regex_split_simple("  +", line[i], 0, 0);
        g_assert_cmpuint(g_strv_length(part), ==, 7);
        const gboolean miss = strcmp(part[1], "right") != 0 && strcmp(part[1], "same bits") != 0 &&
                              strcmp(part[1], "no GPU") != 0;
        g_assert_true(missed || !miss); /* misses come first */
        missed = miss;
        g_assert_true(g_hash_table_insert(all, g_strdup(part[6]), g_strdup(part[0])));
    }
    return all;
}

static void compare(const char *name, const char *key, const char *text)
{
    g_autofree char *own = key_of(text);
    if (key && !strcmp(key, own))
        return;
    g_test_message("%s: the kernel is %s, tests/gpu/names.txt has %s: run tests/gpu/names.sh on a "
                   "GPU",
                   name, own, key ? key : "no line");
    g_test_fail();
}

static void test_table(void)
{
    g_autofree char *table = NULL;
    g_assert_true(g_file_get_contents(TABLE, &table, NULL, NULL));
    g_autoptr(GHashTable) lines = lines_of(table);
    guint due = 0;
    for (guint i = 0; i < named_n_rows; i++) {
        const NamedRow *r = &named_rows[i];
        const char *key = g_hash_table_lookup(lines, r->name);
        if (!is_due(r)) {
            g_assert_null(key); /* nothing ran */
            continue;
        }
        due++;
        g_autofree char *text = text_of(r);
        compare(r->name, key, text);
    }
    for (guint i = 0; i < G_N_ELEMENTS(extra); i++, due++) {
        g_autofree char *text = text_of_file(extra[i].path);
        compare(extra[i].title, g_hash_table_lookup(lines, extra[i].title), text);
    }
    g_assert_cmpuint(g_hash_table_size(lines), ==, due); /* no name that is gone */
}

/* --- designs for a GPU ------------------------------------------------------------------------ */

static gboolean rehearses(const char *design)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) own = ws_design_parse(design, strlen(design), "kernel", findings);
    g_autoptr(WsProgram) p = own ? ws_elaborate(own, NULL, 0, findings) : NULL;
    const WsRehearseOptions options = { .seed = 1, .sms = 2 };
    if (p && !ws_rehearse_supports(p, NULL)) /* PTX of an author: the GPU will say */
        return TRUE;
    WsRehearseResult *r = p ? ws_rehearse(p, &options, findings, NULL) : NULL;
    const gboolean good = r && r->ran && r->matches && r->elements > 0;
    if (r)
        ws_rehearse_result_free(r);
    return good;
}

/* With the reference of the table that the rehearsal finds it to agree with. */
static char *judged_text(const NamedRow *r, const WsDesign *design, const char **sizes)
{
    for (guint pass = 0; pass < 3; pass++) /* its own, its base's, another one of the base */
        for (guint i = 0; i < named_n_values; i++) {
            const NamedValues *v = &named_values[i];
            if (strcmp(v->base, r->base) != 0)
                continue;
            g_autofree char *mine = named_kernel(r->base, r->edits),
                            *its = named_kernel(v->base, v->edits);
            const guint when = !strcmp(mine, its) ? 0 : !*v->edits ? 1 : 2;
            g_autofree char *text = when == pass ? named_judged(design, v) : NULL;
            if (text && rehearses(text)) {
                *sizes = v->sizes;
                return g_steal_pointer(&text);
            }
        }
    *sizes = "";
    return ws_design_print(design);
}

/* "M": 1, "N": 2 as "M=1 N=2". Caller frees. */
static char *case_of(const char *sizes)
{
    g_auto(GStrv) part = g_strsplit(sizes, ", ", -1);
    GString *s = g_string_new(NULL);
    for (guint i = 0; part[i]; i++) {
        g_auto(GStrv) two = g_strsplit(part[i], "\": ", 2);
        g_string_append_printf(s, "%s%s=%s", i ? " " : "", two[0] + 1, two[1]);
    }
    return g_string_free(s, FALSE);
}

static void write_design(const char *folder, const char *key, const char *text)
{
    g_autofree char *path = g_strdup_printf("%s/%s.wstave", folder, key);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void write_designs(const char *folder)
{
    g_autoptr(GHashTable) made = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GString) list = g_string_new(NULL);
    for (guint i = 0; i < named_n_rows; i++) {
        const NamedRow *r = &named_rows[i];
        if (!is_due(r))
            continue;
        g_autofree char *text = text_of(r), *key = key_of(text), *why = NULL;
        const gboolean own = r->design && *r->design;
        if (!g_hash_table_contains(made, key)) {
            g_autoptr(WsDesign) design = NULL;
            g_autoptr(WsProgram) p = own ? named_program_of_file(r->design) : NULL;
            if (!own)
                g_assert_cmpint(named_read(text, &design, &p, &why), ==, YES);
            const char *sizes = "", *where = p->hardware->core ? "core" : "gpu";
            g_autofree char *full = own ? g_strdup(text) : judged_text(r, design, &sizes),
                            *launch = case_of(sizes);
            write_design(folder, key, full);
            if (!own && !*sizes)
                g_printerr("no reference: %s\n", r->name);
            g_hash_table_insert(made, g_strdup(key),
                                g_strdup_printf("%s\t-\t%s", where, *launch ? launch : "-"));
        }
        g_string_append_printf(list, "%s\t%s\t%s\n", key, (char *)g_hash_table_lookup(made, key),
                               r->name);
    }
    for (guint i = 0; i < G_N_ELEMENTS(extra); i++) {
        g_autofree char *text = text_of_file(extra[i].path), *key = key_of(text);
        write_design(folder, key, text);
        g_string_append_printf(list, "%s\tgpu\t%s\t-\t%s\n", key, extra[i].how, extra[i].title);
    }
    g_autofree char *path = g_build_filename(folder, "names.tsv", NULL);
    g_assert_true(g_file_set_contents(path, list->str, -1, NULL));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    if (g_getenv("WARPSTAVE_NAMES")) {
        write_designs(g_getenv("WARPSTAVE_NAMES"));
        return 0;
    }
    g_test_add_func("/import/tle-runs/table", test_table);
    return g_test_run();
}
