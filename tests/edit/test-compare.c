/* Two designs object by object: states of one document, and the same designs read as two files. */
#include "../edit_line.h"
#include "edit/compare.h"
#include "edit/edit.h"
#include "model/findings.h"

#include <string.h>

#define LOADS "groups/load/body/0/do/0/do/"

static WsDesign *shipped(void)
{
    g_autofree char *full =
        g_build_filename(WS_SOURCE_ROOT, "projects/gemm-bf16/design.wstave", NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design = ws_design_load(full, findings);
    g_assert_nonnull(design);
    return design;
}

/* The same text, other nodes. */
static WsDesign *read_again(const WsDesign *design)
{
    g_autofree char *text = ws_design_print(design);
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *again = ws_design_parse(text, strlen(text), "again", findings);
    g_assert_nonnull(again);
    return again;
}

/* "- load A load": sign, object, group, by row. */
static char *rows_text(const WsCompare *c)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < c->row->len; i++) {
        const WsCompareRow *r = c->row->pdata[i];
        g_string_append_printf(s, "%c %s %s\n", r->sign, r->what, r->where);
    }
    return g_string_free(s, FALSE);
}

static const struct {
    const char *name, *script;
    const char *same;  /* rows where nodes are known by identity */
    const char *files; /* where they are matched as texts; NULL: the same */
} cases[] = {
    { "nothing", NULL, "", NULL },
    { "depth", "set buffers/a stages 3\n", "~ buffer a \n", NULL },
    { "removed", "remove " LOADS "1\n", "- load A load\n", NULL },
    { "barrier", "remove barriers/empty\n", "- barrier empty \n", NULL },
    { "name", "set . name \"other\"\n", "~  \n", NULL },
};

static void compare_table(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsDesign) a = shipped();
        g_autoptr(WsDraft) draft = ws_draft_new(a);
        g_auto(GStrv) lines = g_strsplit(cases[i].script ? cases[i].script : "", "\n", -1);
        for (guint k = 0; lines[k]; k++)
            if (*lines[k] && !draft_line(draft, lines[k]))
                g_error("%s: %s", cases[i].name, draft->why);
        g_autoptr(WsDesign) read = read_again(draft->design);
        g_autoptr(WsCompare) states = ws_compare_new(a, draft->design);
        g_autoptr(WsCompare) files = ws_compare_new(a, read);
        g_autofree char *x = rows_text(states), *y = rows_text(files);
        g_test_message("%s", cases[i].name);
        g_assert_cmpstr(x, ==, cases[i].same);
        g_assert_cmpstr(y, ==, cases[i].files ? cases[i].files : cases[i].same);
    }
}

/* A reordered step is moved, and the one it was moved past is not; both have partners. */
static void moved_step(void)
{
    g_autoptr(WsDesign) a = shipped();
    g_autoptr(WsDraft) draft = ws_draft_new(a);
    const guint64 step = ws_design_find(a, LOADS "2")->identity;
    g_assert_true(ws_edit_nudge(draft, &step, 1, -1));
    g_autoptr(WsDesign) read = read_again(draft->design);
    for (guint pass = 0; pass < 2; pass++) {
        g_autoptr(WsCompare) c = ws_compare_new(a, pass ? read : draft->design);
        g_assert_cmpuint(c->row->len, ==, 1);
        const WsCompareRow *r = c->row->pdata[0];
        g_assert_cmpint(r->sign, ==, '>');
        g_assert_nonnull(strstr(r->was, "place load, "));
        const char *other = !strcmp(r->path_b, LOADS "1") ? LOADS "2" : LOADS "1";
        g_assert_cmpint(ws_compare_sign(c, r->path_b, TRUE), ==, '>');
        g_assert_cmpint(ws_compare_sign(c, other, TRUE), ==, 0);
        g_assert_cmpstr(ws_compare_partner(c, r->path_b, TRUE), ==, r->path_a);
        g_assert_cmpstr(ws_compare_partner(c, r->path_a, FALSE), ==, r->path_b);
    }
}

/* Onto another staff: moved where nodes are known, else gone and come. */
static void other_staff(void)
{
    g_autoptr(WsDesign) a = shipped();
    g_autoptr(WsDraft) draft = ws_draft_new(a);
    const guint64 step = ws_design_find(a, LOADS "2")->identity;
    g_assert_true(ws_edit_other_group(draft, &step, 1, 1));
    g_autoptr(WsCompare) states = ws_compare_new(a, draft->design);
    const WsCompareRow *r = states->row->pdata[0];
    g_assert_cmpuint(states->row->len, ==, 1);
    g_assert_cmpint(r->sign, ==, '>');
    g_assert_cmpstr(r->where, ==, "mma");
    g_assert_cmpstr(r->path_a, ==, LOADS "2");
    g_autoptr(WsDesign) read = read_again(draft->design);
    g_autoptr(WsCompare) files = ws_compare_new(a, read);
    g_autofree char *text = rows_text(files);
    g_assert_nonnull(strstr(text, "+ load B mma\n"));
    g_assert_nonnull(strstr(text, "- load B load\n"));
}

/* What was added or removed as a whole is one row; the steps in it are marked all the same. */
static void whole_group(void)
{
    g_autoptr(WsDesign) a = shipped();
    g_autoptr(WsDraft) draft = ws_draft_new(a);
    const guint64 group = ws_design_find(a, "groups/load")->identity;
    g_assert_true(ws_edit_remove(draft, &group, 1));
    g_autoptr(WsCompare) gone = ws_compare_new(a, draft->design);
    g_autoptr(WsCompare) came = ws_compare_new(draft->design, a);
    g_assert_cmpint(ws_compare_sign(gone, LOADS "1", FALSE), ==, '-');
    g_assert_cmpint(ws_compare_sign(came, LOADS "1", TRUE), ==, '+');
    for (guint i = 0; i < came->row->len; i++) {
        const WsCompareRow *r = came->row->pdata[i];
        g_assert_true(!r->path_b || !g_str_has_prefix(r->path_b, "groups/load/"));
    }
    g_autofree char *text = rows_text(gone);
    g_assert_nonnull(strstr(text, "- group load"));
}

/* The shipped design, with what an import would have taken for granted. */
static WsDesign *granted(const char *what)
{
    g_autoptr(WsDesign) a = shipped();
    g_autofree char *text = ws_design_print(a);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_auto(GStrv) part = g_strsplit(text, "\n", 2);
    g_autofree char *with =
        g_strdup_printf("%s\n  \"granted\": [\"%s\"],\n%s", part[0], what, part[1]);
    WsDesign *design = ws_design_parse(with, strlen(with), "granted", findings);
    g_assert_nonnull(design);
    return design;
}

/* That lines of a source moved is no difference; any other number, and any word, is one. */
static void moved_lines(void)
{
    static const struct {
        const char *a, *b;
        guint rows;
    } row[] = { { "a barrier before lines 47, 50 and 52", "a barrier before lines 48, 51 and 53",
                  0 },
                { "line 3: a store", "line 14: a store", 0 },
                { "line 3: a store", "line 3: a load", 1 },
                { "line 3: a store of 16 bytes", "line 3: a store of 32 bytes", 1 },
                { "K is 64 before line 3", "K is 65 before line 3", 1 } };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        g_autoptr(WsDesign) a = granted(row[i].a);
        g_autoptr(WsDesign) b = granted(row[i].b);
        g_autoptr(WsCompare) c = ws_compare_new(a, b);
        g_assert_cmpuint(c->row->len, ==, row[i].rows);
    }
}

/* Designs that have little in common end in rows, not in trouble. */
static void strangers(void)
{
    static const char *const other[] = { "attention-d128", "gemm-fp8", NULL };
    g_autoptr(WsDesign) a = shipped();
    for (guint i = 0; other[i]; i++) {
        g_autofree char *path =
            g_build_filename(WS_SOURCE_ROOT, "projects", other[i], "design.wstave", NULL);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) b = ws_design_load(path, findings);
        if (!b)
            continue;
        g_autoptr(WsCompare) c = ws_compare_new(a, b);
        g_assert_cmpuint(c->row->len, >, 3);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/edit/compare/table", compare_table);
    g_test_add_func("/edit/compare/moved-step", moved_step);
    g_test_add_func("/edit/compare/other-staff", other_staff);
    g_test_add_func("/edit/compare/whole-group", whole_group);
    g_test_add_func("/edit/compare/moved-lines", moved_lines);
    g_test_add_func("/edit/compare/strangers", strangers);
    return g_test_run();
}
