/* Which elements a mask lets through is data: that each is written once is stated, or nothing is
 * shown. How many rows are written is counted in other bits than kernels have. */
#include "base/phrase.h"
#include "check/global/judge.h"
#include "design.h"

#define STATED ", \"covers\": \"an element is above 0, or it is not\""

static WsProgram *program_of(const char *text, WsFindings *findings)
{
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "masked", findings);
    g_assert_nonnull(design);
    WsProgram *p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    return p;
}

static WsVerdict *verdict_of(const Edit *edit, WsFindings *findings)
{
    char *own = NULL;
    g_assert_true(g_file_get_contents(WS_SOURCE_ROOT "/tests/designs/moves/masked-store.wstave",
                                      &own, NULL, NULL));
    g_autofree char *text = edited(own, "masked-store", edit, 1);
    g_autoptr(WsProgram) p = program_of(text, findings);
    return ws_check(p, NULL, findings);
}

static void test_stated(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) v = verdict_of(NULL, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_PROVED);
    g_autofree char *words = ws_verdict_text(v);
    g_assert_nonnull(strstr(words, "every element of Y is written once (an element is above 0"));
}

static void test_open(void)
{
    static const Edit bare = { STATED, "" };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) v = verdict_of(&bare, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_OUTSIDE);
    g_autofree char *said = ws_findings_print(findings, "masked");
    g_assert_nonnull(strstr(said, "a mask says which elements"));
}

/* What kernels count in 32 bits and the proof in 64 is said where no launch can be asked about it.
 */
static void test_rows(void)
{
    static const struct {
        const char *rows;
        gboolean named; /* beside row0 and left, which the tiles' names hold */
    } cases[] = {
        { "left", TRUE },
        { "min(left, 9)", FALSE },
        { "left - tm", TRUE },
        { "M*N", FALSE },
        { "M - tm*BM - 1", FALSE },
        { "kt", FALSE },
        { "7", FALSE },
        { "tm*tn", FALSE },
        { "M + N - tm*BM", FALSE },
        { "M + 1 - tm*BM", FALSE },
        { "2*M - tm*BM", FALSE },
        { "8*BM - tm*BM", FALSE },
    };
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(WS_SOURCE_ROOT "/tests/designs/moves/rows-end.wstave", &text,
                                      NULL, NULL));
    g_auto(GStrv) part = g_strsplit(text, "\"rows\": \"left\"", -1);
    g_assert_cmpuint(g_strv_length(part), ==, 2);
    g_autoptr(WsFindings) findings = ws_findings_new();
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *rows = g_strdup_printf("\"rows\": \"%s\"", cases[i].rows);
        g_autofree char *with = g_strjoinv(rows, part);
        g_autoptr(WsProgram) p = program_of(with, findings);
        g_autoptr(GPtrArray) said = g_ptr_array_new_with_free_func(g_free);
        ws_global_narrow(p, said);
        g_test_message("%s", cases[i].rows);
        ws_global_narrow(p, said);
        g_assert_cmpuint(said->len, ==, 1);
        g_autofree char *words = ws_phrase_text(said->pdata[0], NULL, NULL);
        g_auto(GStrv) name = g_strsplit(words, " stay", 2);
        g_auto(GStrv) names = g_strsplit(name[0], "; ", -1);
        g_assert_true(g_strv_contains((const char *const *)names, "row0"));
        g_assert_true(g_strv_contains((const char *const *)names, cases[i].rows) == cases[i].named);
    }
    g_autoptr(WsProgram) p = program_of(text, findings);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_autofree char *words = ws_verdict_text(v);
    g_assert_nonnull(strstr(words, "given that row0; left stay within 2^29 either way"));
}

/* Elements of which the reference says `any` need not be written: an absence refutes nothing, and
 * what has to be written is stated. */
static void test_spared(void)
{
    static const char bare[] =
        "{ \"warpstave\": 1, \"name\": \"spared\", \"target\": \"sm_90a\", \"sizes\": { \"M\": 256 "
        "},"
        "  \"tensors\": [ { \"name\": \"N\", \"dtype\": \"i32\", \"shape\": [1] },"
        "    { \"name\": \"C\", \"dtype\": \"f32\", \"shape\": [\"M\"], \"access\": \"write\"%s } "
        "],"
        "  \"reference\": \"C[m] = select(m < N[0], 1, %s)\","
        "  \"tiles\": { \"axes\": { \"t\": \"cdiv(M, 64)\" }, \"launch\": \"single\","
        "    \"let\": { \"n\": \"N[0]\" } },"
        "  \"groups\": [ { \"name\": \"all\", \"role\": \"worker\", \"warps\": 4,"
        "    \"values\": [ { \"name\": \"x\", \"dtype\": \"f32\", \"tile\": [1, 64] } ],"
        "    \"body\": [ { \"compute\": \"x = 1\" },"
        "      { \"write\": \"x\", \"to\": \"C\", \"at\": [\"t*64\"], \"when\": \"%s\" } ] } ] }";
    static const struct {
        const char *covers, *rest, *when;
        WsVerdictKind kind;
        const char *part;
    } row[] = {
        { ", \"covers\": \"blocks below N\"", "any", "t*64 < n", WS_VERDICT_PROVED,
          "every element of C is written once, or may hold anything (blocks below N)" },
        { "", "any", "t*64 < n", WS_VERDICT_OUTSIDE, "says `any` of some elements of C" },
        { "", "any", "1", WS_VERDICT_PROVED, "proved" }, /* all are written */
        { "", "0", "t*64 < n", WS_VERDICT_REFUTED, "refuted" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        g_autofree char *text = g_strdup_printf(bare, row[i].covers, row[i].rest, row[i].when);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = program_of(text, findings);
        g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
        g_autofree char *words = ws_verdict_text(v);
        g_test_message("%u: %s", i, words);
        g_assert_cmpint(v->kind, ==, row[i].kind);
        g_assert_nonnull(strstr(words, row[i].part));
    }
}

/* Twice is not once: with `any` in the reference a second write of an element is not refuted, for
 * it may be one of those, but nothing is proved either. */
static void test_spared_twice(void)
{
    static const char bare[] =
        "{ \"warpstave\": 1, \"name\": \"twice\", \"target\": \"sm_90a\", \"sizes\": { \"M\": 256 "
        "},"
        "  \"rehearse\": { \"M\": 320 }, \"tensors\": [ { \"name\": \"C\", \"dtype\": \"f32\","
        "    \"shape\": [\"M\"], \"access\": \"write\", \"covers\": \"blocks below N\" } ],"
        "  \"reference\": \"C[m] = select(m < M, 1, any)\","
        "  \"tiles\": { \"axes\": { \"t\": \"cdiv(M, 64)\" }, \"launch\": \"single\" },"
        "  \"groups\": [ { \"name\": \"all\", \"role\": \"worker\", \"warps\": 4,"
        "    \"values\": [ { \"name\": \"x\", \"dtype\": \"f32\", \"tile\": [1, 64] } ],"
        "    \"body\": [ { \"compute\": \"x = 1\" },"
        "      { \"write\": \"x\", \"to\": \"C\", \"at\": [\"t*64\"] }%s ] } ] }";
    static const struct {
        const char *more;
        WsVerdictKind kind;
        const char *part;
    } row[] = {
        { "", WS_VERDICT_PROVED, "proved" },
        { ", { \"write\": \"x\", \"to\": \"C\", \"at\": [\"0\"] }", WS_VERDICT_OUTSIDE,
          "an element is written twice [M = 320]" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        g_autofree char *text = g_strdup_printf(bare, row[i].more);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = program_of(text, findings);
        g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
        g_autofree char *words = ws_verdict_text(v);
        g_test_message("%u: %s", i, words);
        g_assert_cmpint(v->kind, ==, row[i].kind);
        g_assert_nonnull(strstr(words, row[i].part));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/check/mask/stated", test_stated);
    g_test_add_func("/check/mask/open", test_open);
    g_test_add_func("/check/mask/spared", test_spared);
    g_test_add_func("/check/mask/spared-twice", test_spared_twice);
    g_test_add_func("/check/mask/rows", test_rows);
    return g_test_run();
}
