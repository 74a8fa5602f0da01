/* Exports whose remarks say something else than their lines: the line counts, and is not called
 * proved by what the remark says. A row changes the text that an export wrote: `to` instead of the
 * first `from`. */
#include "codegen/python/python.h"
#include "judge/judge.h"
#include "judged.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>

static const struct {
    const char *name, *design;
    WsImportFrom language;
    const char *from, *to;
    gboolean proved;
} rows[] = {
#define GLUON WS_IMPORT_GLUON
#define TLE   WS_IMPORT_TLE
#define TLX   WS_IMPORT_TLX
#include "remarks.def"
};

/* What is listed where a remark, or the line without it, says what is not known: the line is read
 * by its own words, or its values are not. */
static const struct {
    const char *name, *design;
    WsImportFrom language;
    const char *from, *to, *listed;
} named[] = {
#define OF_REMARK "a remark `# at:` whose tensor, coordinates or extents are not known"
#define OF_STRIDE "strides that do not follow from the shape and that nobody hands over"
#define NO_REMARK ")  # not at:"
    { "coordinate", OWN, TLE, "# at: [", "# at: [nosuch + ", OF_REMARK },
    { "extent", OWN, TLE, "tn * BN], [64, 256]", "tn * BN], [64, nosuch]", OF_REMARK },
    { "no-extents", OWN, TLE, "tn * BN], [64, 256]", "tn * BN]", OF_REMARK },
    { "coordinate-gluon", GROUPS, GLUON, "# at: [t * 64, 0]", "# at: [nosuch, 0]", OF_REMARK },
    { "stride-of-rows", OWN, TLE, "(at_row[:, None] * N", "(at_row[:, None] * M", OF_STRIDE },
    { "stride-of-another", OWN, TLE, "(at_row[:, None] * N", "(at_row[:, None] * K", OF_STRIDE },
};

static char *export(const char *path, WsImportFrom language)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, path, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    g_assert_nonnull(design);
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autoptr(GError) error = NULL;
    char *text = language == GLUON ? ws_generate_gluon(p, FALSE, NULL, &error)
                 : language == TLE ? ws_generate_tle(p, FALSE, NULL, &error)
                                   : ws_generate_tlx(p, FALSE, NULL, &error);
    g_assert_no_error(error);
    return text;
}

static void test_row(gconstpointer data)
{
    static char *text;
    static guint of;
    const guint i = GPOINTER_TO_UINT(data);
    if (!text || strcmp(rows[i].design, rows[of].design) || rows[i].language != rows[of].language) {
        g_free(text);
        text = export(rows[i].design, rows[i].language);
    }
    of = i;
    const char *at = strstr(text, rows[i].from);
    if (!at)
        g_test_message("%s", text);
    g_assert_nonnull(at);
    g_autofree char *head = g_strndup(text, (gsize)(at - text));
    g_autofree char *all = g_strconcat(head, rows[i].to, at + strlen(rows[i].from), NULL);
    const WsVerdictKind kind = verdict_of(all, rows[i].language);
    if ((kind == WS_VERDICT_PROVED) == rows[i].proved)
        return;
    g_test_message("%s", all);
    g_test_fail();
}

static void test_named(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    const gboolean stride = !strcmp(named[i].listed, OF_STRIDE);
    g_autofree char *text = export(named[i].design, named[i].language);
    g_autoptr(GString) all = g_string_new(text);
    g_assert_cmpuint(g_string_replace(all, named[i].from, named[i].to, 1), ==, 1);
    if (stride)
        g_assert_cmpuint(g_string_replace(all, ")  # at:", NO_REMARK, 0), >, 0);
    g_auto(Judged) j = judge_kernel(all->str, named[i].language);
    gboolean found = FALSE;
    for (guint k = 0; k < j.import->unread->len; k++)
        found |=
            strstr(((const WsUnread *)j.import->unread->pdata[k])->what, named[i].listed) != NULL;
    g_assert_true(found);
}

/* What a compiler puts between the words of one partition is said with the proof, and with its line
 * where the words have none. */
static void test_compilers(void)
{
    static const struct {
        WsImportFrom language;
        const char *fence; /* the author's own: taken out */
        const char *granted;
    } row[] = {
        { GLUON, NULL, "the compiler puts a barrier of the partition before line" },
        { GLUON, "fence_async_shared()\n",
          "the compiler puts a fence of the async proxy before line" },
        { TLX, "tlx.fence(\"async_shared\")\n",
          "the compiler puts a fence of the async proxy before line" },
        { TLE, NULL, "the compiler puts a fence of the async proxy where one is derived" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++)
        for (guint out = 0; out < (row[i].fence ? 2 : 1); out++) {
            g_autofree char *text = export("projects/gemm-bf16/design.wstave", row[i].language);
            g_autoptr(GString) all = g_string_new(text);
            if (out)
                g_assert_cmpuint(g_string_replace(all, row[i].fence, "\n", 0), ==, 1);
            g_auto(WsJudged) k = { 0 };
            g_autoptr(GError) error = NULL;
            g_assert_true(
                ws_judge_text(all->str, all->len, "k.py", row[i].language, NULL, NULL, &k, &error));
            g_assert_cmpint(k.verdict->kind, ==, WS_VERDICT_PROVED);
            gboolean said = FALSE;
            for (guint g = 0; g < k.verdict->assumed->len; g++)
                said |= g_str_has_prefix(k.verdict->assumed->pdata[g], row[i].granted);
            g_test_message("row %u, taken out %u: %d", i, out, said);
            g_assert_true(said == (!row[i].fence || out));
        }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strconcat("/import/remarks/", rows[i].name, NULL);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_row);
    }
    g_test_add_func("/import/remarks/compilers", test_compilers);
    for (guint i = 0; i < G_N_ELEMENTS(named); i++) {
        g_autofree char *path = g_strconcat("/import/remarks/named/", named[i].name, NULL);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_named);
    }
    return g_test_run();
}
