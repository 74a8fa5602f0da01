/* Differences of designs: what is said of small changes, and that the edits lead from one design to
 * the other, for all shipped designs against each other. */
#include "../whole.h"
#include "document.h"
#include "model/design.h"
#include "model/diff.h"
#include "model/findings.h"

static WsDesign *parse(const char *text)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design = ws_design_parse(text, strlen(text), "x.wstave", findings);
    g_autofree char *all = ws_findings_print(findings, NULL);
    g_assert_cmpstr(all, ==, "");
    return design;
}

/* Applies the edits of the difference, through their text, and compares. */
static void leads_to(const WsDesign *a, const WsDesign *b, const GPtrArray *list)
{
    g_autoptr(WsDesign) now = ws_design_ref(a);
    for (guint i = 0; i < list->len; i++) {
        const WsDifference *d = list->pdata[i];
        g_autofree char *text = ws_edit_print(d->edit);
        g_autoptr(WsEdit) edit = ws_edit_parse(text, NULL);
        g_autoptr(WsFindings) findings = ws_findings_new();
        WsDesign *next = ws_design_apply(now, edit, findings);
        g_assert_nonnull(next);
        ws_design_unref(now);
        now = next;
    }
    g_autofree char *got = ws_design_print(now), *want = ws_design_print(b);
    g_assert_cmpstr(got, ==, want);
}

static char *said(const GPtrArray *list)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < list->len; i++) {
        const WsDifference *d = list->pdata[i];
        g_string_append_printf(s, "%s%c %s", i ? "\n" : "", d->sign, d->words);
    }
    return g_string_free(s, FALSE);
}

/* Edits of the small document, and the difference that is found again. */
static void test_small(void)
{
    static const struct {
        const char *edit[3], *said;
    } cases[] = {
        { { "set buffers/a stages 3" }, "~ buffers/a: stages \"STAGES\" -> 3" },
        { { "unset buffers/a stages" }, "~ buffers/a: stages \"STAGES\" -> 1" },
        { { "set . name \"other\"" }, "~ .: name \"small\" -> \"other\"" },
        { { "insert groups/mma body 0 {\"mma_wait\":0}" },
          "+ groups/mma/body/0: {\"mma_wait\":0}" },
        { { "remove groups/mma/body/0" }, "- groups/mma/body/0: {\"compute\":\"acc = 0\"}" },
        { { "move groups/load . groups 1" }, "> groups/load: place 0 -> 1 of its list" },
        { { "set first wait \"empty\"", "remove groups/mma/body/0", "set tiles launch \"single\"" },
          "- groups/mma/body/0: {\"compute\":\"acc = 0\"}\n"
          "~ tiles: launch \"persistent\" -> \"single\"\n"
          "~ groups/mma/body/0: wait \"full\" -> \"empty\"" },
    };
    g_autoptr(WsDesign) a = parse(document);
    g_autoptr(GPtrArray) same = ws_design_diff(a, a);
    g_assert_cmpuint(same->len, ==, 0);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsDesign) b = ws_design_ref(a);
        for (guint k = 0; k < 3 && cases[i].edit[k] != NULL; k++) {
            g_test_message("%s", cases[i].edit[k]);
            g_autoptr(WsEdit) edit = ws_edit_parse(cases[i].edit[k], NULL);
            g_autoptr(WsFindings) findings = ws_findings_new();
            WsDesign *next = ws_design_apply(b, edit, findings);
            g_assert_nonnull(next);
            ws_design_unref(b);
            b = next;
        }
        g_autoptr(GPtrArray) list = ws_design_diff(a, b);
        g_autofree char *text = said(list);
        g_assert_cmpstr(text, ==, cases[i].said);
        leads_to(a, b, list);
        g_autoptr(GPtrArray) back = ws_design_diff(b, a);
        leads_to(b, a, back);
    }
}

/* Any two designs, however unlike. */
static void test_every_pair(void)
{
    g_autofree char *folder = g_build_filename(WS_SOURCE_ROOT, "tests", "designs", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) designs = g_ptr_array_new_with_free_func((GDestroyNotify)ws_design_unref);
    const char *name;
    while ((name = g_dir_read_name(dir)) != NULL) {
        if (!g_str_has_suffix(name, ".wstave"))
            continue;
        g_autofree char *file = g_build_filename(folder, name, NULL);
        g_autoptr(WsFindings) findings = ws_findings_new();
        WsDesign *design = ws_design_load(file, findings);
        g_assert_nonnull(design);
        g_ptr_array_add(designs, design);
    }
    g_assert_cmpuint(designs->len, >, 5);
    guint whole = 0;
    for (guint i = 0; i < designs->len; i++)
        for (guint j = 0; j < designs->len; j++) {
            if (!test_takes(i + j, 1, 4))
                continue;
            g_autoptr(GPtrArray) list = ws_design_diff(designs->pdata[i], designs->pdata[j]);
            leads_to(designs->pdata[i], designs->pdata[j], list);
            g_assert_true((list->len == 0) == (i == j));
            for (guint k = 0; k < list->len; k++)
                whole += !strcmp(((WsDifference *)list->pdata[k])->words, ".: another design");
        }
    g_test_message("%u pairs are unlike as wholes", whole);
    g_assert_cmpuint(whole, <, designs->len * designs->len / 10);
}

/* Lists too long to be aligned, and too many differences to be told one by one. */
enum { LONG = 3000 };

static WsDesign *long_design(guint every, guint added, gboolean backward, const char *more)
{
    GString *list = g_string_new(NULL);
    for (guint k = 0; k < LONG; k++) {
        const guint i = backward ? LONG - 1 - k : k;
        if (every == 0 || i % every != 0)
            g_string_append_printf(list, "{ \"name\": \"long%u\"%s },\n", i, more);
        if (added != 0 && i % (LONG / added) == 0)
            g_string_append_printf(list, "{ \"name\": \"new%u\" },\n", i);
    }
    const char *place = strstr(document, "\"barriers\": [");
    g_assert_nonnull(place);
    place += strlen("\"barriers\": [");
    g_autofree char *text =
        g_strdup_printf("%.*s%s%s", (int)(place - document), document, list->str, place);
    g_string_free(list, TRUE);
    return parse(text);
}

static void test_long(void)
{
    static const struct {
        guint every, added;
        gboolean backward;
        const char *more;
        guint edits; /* 0: the list as one value */
    } cases[] = {
        { 0, 2, FALSE, "", 2 }, { 1000, 0, FALSE, "", 3 }, { 1000, 3, FALSE, "", 6 },
        { 2, 0, FALSE, "", 0 }, { 0, 0, TRUE, "", 0 },     { 0, 0, FALSE, ", \"slots\": 2", 0 },
    };
    g_autoptr(WsDesign) a = long_design(0, 0, FALSE, "");
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsDesign) b =
            long_design(cases[i].every, cases[i].added, cases[i].backward, cases[i].more);
        g_autoptr(GPtrArray) list = ws_design_diff(a, b);
        g_autofree char *text = said(list);
        g_test_message("%u: %u edits: %.200s", i, list->len, text);
        g_assert_cmpuint(list->len, ==, MAX(cases[i].edits, 1));
        if (cases[i].edits == 0)
            g_assert_true(g_str_has_prefix(text, "~ .: barriers 300"));
        leads_to(a, b, list);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/model/diff/small", test_small);
    g_test_add_func("/model/diff/every-pair", test_every_pair);
    g_test_add_func("/model/diff/long", test_long);
    return g_test_run();
}
