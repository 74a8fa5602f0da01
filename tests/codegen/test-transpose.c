/* 8-bit tiles transposed in shared memory, in linear order and in that of an accumulator (operands
 * in registers): exact products of small integers over types, tiles and warps, and what is refused.
 */
#include "../whole.h"
#include "check/check.h"
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

#define DESIGN "tests/designs/moves/transpose.wstave"

typedef struct {
    const char *from, *to;
} Change;

/* A through registers. */
static const Change registers[] = {
    { "\"tile\": [\"BN\", \"BK\"], \"stages\": \"STAGES\"",
      "\"tile\": [\"BN\", \"BK\"], \"stages\": \"STAGES\", \"k_order\": \"accumulator\"" },
    { "\"tile\": [\"BM\", \"BN\"] }", "\"tile\": [\"BM\", \"BN\"] },\n"
                                      "{ \"name\": \"p\", \"dtype\": \"e4m3\", \"tile\": "
                                      "[\"BM\", \"BK\"] }" },
    { "{ \"mma\": \"acc\", \"a\": \"a\"",
      "{ \"read\": \"p\", \"from\": \"a\", \"use\": \"k.total\" }, { \"mma\": \"acc\", \"a\": "
      "\"p\"" },
    { "{ \"arrive\": \"empty\",", "{ \"arrive\": \"empty\", \"by\": \"warp\"," },
    { NULL, NULL },
};

static const Change linear[] = { { NULL, NULL } };
static const Change float8[] = { { "e4m3", "e5m2" }, { NULL, NULL } };
static const Change integer[] = {
    { "e4m3", "i8" }, { "\"f32\"", "\"i32\"" }, { ", \"tolerance\": [0, 0]", "" }, { NULL, NULL }
};
static const Change natural[] = { { "e4m3", "u8" },
                                  { "\"f32\"", "\"i32\"" },
                                  { "integers(-4, 5)", "integers(0, 9)" },
                                  { ", \"tolerance\": [0, 0]", "" },
                                  { NULL, NULL } };

static void change(GString *text, const Change *by)
{
    for (; by->from; by++)
        g_assert_cmpuint(g_string_replace(text, by->from, by->to, 0), >, 0);
}

static WsProgram *read_as(const char *text, const WsSetting *set, guint n, WsFindings *findings)
{
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "transpose", findings);
    return design ? ws_elaborate(design, set, n, findings) : NULL;
}

static GString *text_of(const Change *form, const Change *more)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, DESIGN, NULL), *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    GString *out = g_string_new(text);
    change(out, form);
    change(out, more);
    return out;
}

static void right(const WsProgram *p)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    WsRehearseOptions options = { .seed = 3, .sms = 2 };
    WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(r->first_wrong, ==, NULL);
    g_assert_cmpstr(r->first_race, ==, NULL);
    g_assert_cmpstr(r->first_violation, ==, NULL);
    g_assert_cmpuint(r->elements, >, 0);
    g_assert_true(r->matches);
    ws_rehearse_result_free(r);
}

/* Tiles of one and two chunks in each swizzle, on both sides; one, two and four warps. */
static void test_exact(void)
{
    static const struct {
        const Change *form, *type;
        const char *warps;
        gint64 bn, bk;
    } cases[] = {
        { linear, linear, "4", 64, 64 },      { registers, linear, "4", 128, 96 },
        { linear, float8, "2", 32, 32 },      { registers, float8, "2", 256, 128 },
        { linear, integer, "1", 32, 160 },    { registers, integer, "1", 96, 192 },
        { linear, natural, "4", 192, 256 },   { registers, natural, "2", 160, 64 },
        { registers, linear, "4", 256, 256 }, { linear, linear, "2", 96, 128 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        if (!test_takes(i, 2, 4))
            continue;
        g_autoptr(GString) text = text_of(cases[i].form, cases[i].type);
        g_autofree char *warps =
            g_strdup_printf("\"worker\", \"warps\": %s, \"registers\": 40", cases[i].warps);
        g_string_replace(text, "\"worker\", \"warps\": 4, \"registers\": 40", warps, 0);
        const WsSetting set[] = { { "BN", cases[i].bn }, { "BK", cases[i].bk }, { "STAGES", 1 } };
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = read_as(text->str, set, G_N_ELEMENTS(set), findings);
        g_autofree char *said = ws_findings_print(findings, "transpose");
        g_test_message("%u: %s", i, said);
        g_assert_nonnull(p);
        g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
        right(p);
    }
}

/* The check on the program, and the words of what it says. */
static void test_refused(void)
{
    static const struct {
        const Change *form;
        const char *from, *to, *rule, *says;
    } cases[] = {
        /* rows of the contraction in another order than the operand's */
        { registers, ", \"k_order\": \"accumulator\"", "", "L-MMA", "needs rows of bt" },
        { linear, "\"tile\": [\"BN\", \"BK\"], \"stages\": \"STAGES\"",
          "\"tile\": [\"BN\", \"BK\"], \"stages\": \"STAGES\", \"k_order\": \"accumulator\"",
          "L-MMA", "bt is in accumulator order" },
        /* filled by something that knows no order */
        { linear, "\"tile\": [\"BK\", \"BN\"], \"stages\": \"STAGES\"",
          "\"tile\": [\"BK\", \"BN\"], \"stages\": \"STAGES\", \"k_order\": \"accumulator\"",
          "L-MMA", "b is in accumulator order" },
        /* read by something that knows none */
        { registers, "\"from\": \"a\"", "\"from\": \"bt\"", "L-MMA", "bt is in accumulator order" },
        { registers, "\"name\": \"p\", \"dtype\": \"e4m3\"", "\"name\": \"p\", \"dtype\": \"bf16\"",
          "L-MMA", "has no bf16 x e4m3" },
        { linear, "\"name\": \"bt\", \"dtype\": \"e4m3\"", "\"name\": \"bt\", \"dtype\": \"e5m2\"",
          "T-DTYPE", "equal 8-bit dtypes" },
        { linear, "\"into\": \"bt\"", "\"into\": \"bt.rows(0, 32)\"", "T-SHAPE", "is 32 x 64" },
        { linear, "\"into\": \"bt\"", "\"into\": \"b\"", "P-RACE", "other lanes" },
        { linear, "\"arrive\": \"turned\", \"by\": \"warp\"", "\"arrive\": \"turned\"", "P-RACE",
          "knows only what it did itself" },
        { linear, "{ \"wait\": \"turned\", \"use\": \"k.total\" },\n", "", "P-RACE", "bt stage" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) text = text_of(cases[i].form, linear);
        change(text, (const Change[]){ { cases[i].from, cases[i].to }, { NULL, NULL } });
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = read_as(text->str, NULL, 0, findings);
        if (p && ws_findings_count(findings, WS_SEVERITY_ERROR) == 0) {
            g_autoptr(WsVerdict) verdict = ws_check(p, NULL, findings);
            g_assert_cmpint(verdict->kind, ==, WS_VERDICT_REFUTED);
        }
        g_autofree char *said = ws_findings_print(findings, "transpose");
        g_test_message("%u: %s", i, said);
        g_assert_nonnull(strstr(said, cases[i].rule));
        g_assert_nonnull(strstr(said, cases[i].says));
    }
}

/* What the check proves and no code is made for, by the step's name. */
static void test_not_generated(void)
{
    static const struct {
        gint64 bn;
        const char *from, *to;
    } cases[] = {
        { 32, "\"BM\": 64", "\"BM\": 64" }, /* two blocks of 16 columns for four warps */
        { 64, "\"transpose\": \"b\", \"into\": \"bt\"",
          "\"transpose\": \"b.t\", \"into\": \"bt.t\"" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) text = text_of(linear, linear);
        change(text, (const Change[]){ { cases[i].from, cases[i].to }, { NULL, NULL } });
        const WsSetting set[] = { { "BN", cases[i].bn } };
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(GError) error = NULL;
        g_autoptr(WsProgram) p = read_as(text->str, set, 1, findings);
        g_assert_nonnull(p);
        g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
        g_assert_null(ptx);
        g_assert_nonnull(error);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, "transposition"));
        g_assert_nonnull(strstr(error->message, "groups/turn"));
    }
}

/* CUDA C++ has no transposition, and says which step that is. */
static void test_other_text(void)
{
    g_autoptr(GString) text = text_of(linear, linear);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(WsProgram) p = read_as(text->str, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autofree char *cuda = ws_generate_cuda(p, FALSE, &error);
    g_assert_null(cuda);
    g_assert_nonnull(error);
    g_assert_nonnull(strstr(error->message, "transpose at groups/turn"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/transpose/exact", test_exact);
    g_test_add_func("/transpose/refused", test_refused);
    g_test_add_func("/transpose/not-generated", test_not_generated);
    g_test_add_func("/transpose/other-text", test_other_text);
    return g_test_run();
}
