/* Tiles of 8-bit floats that become f16 in shared memory: lanes hold columns of their own choice
 * where nobody tells them apart, and those of the accumulator layout everywhere else. */
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

static const char plain[] =
    "{ \"warpstave\": 1, \"name\": \"quads\", \"target\": \"sm_90a\","
    "\"constants\": { \"C\": 128 },\"sizes\": { \"N\": 256 },"
    "\"tensors\": ["
    "{ \"name\": \"A\", \"dtype\": \"e4m3\", \"shape\": [\"N\", 128] },"
    "{ \"name\": \"S\", \"dtype\": \"f32\", \"shape\": [\"N\"], \"data\": \"uniform(-2, 2)\" },"
    "{ \"name\": \"O\", \"dtype\": \"f16\", \"shape\": [\"N\", 128], \"access\": \"write\" }],"
    "\"reference\": [\"O[i,j] = A[i,j]*S[i]\"],"
    "\"tiles\": { \"axes\": { \"m\": \"cdiv(N, 64)\" }, \"launch\": \"single\" },"
    "\"buffers\": [{ \"name\": \"raw\", \"dtype\": \"e4m3\", \"tile\": [64, 128] },"
    "{ \"name\": \"out\", \"dtype\": \"f16\", \"tile\": [64, 128] }],"
    "\"barriers\": [{ \"name\": \"full\" }],"
    "\"groups\": [{ \"name\": \"w\", \"role\": \"worker\", \"warps\": 4, \"values\": ["
    "{ \"name\": \"x\", \"dtype\": \"e4m3\", \"tile\": [64, \"C\"] },"
    "{ \"name\": \"y\", \"dtype\": \"f16\", \"tile\": [64, \"C\"] },"
    "{ \"name\": \"s\", \"dtype\": \"f32\", \"tile\": [64, 1] },"
    "{ \"name\": \"u\", \"dtype\": \"f16\", \"tile\": [64, 1] }], \"body\": ["
    "{ \"load\": \"A\", \"at\": [\"m*64\", 0], \"into\": \"raw\", \"signal\": \"full\", \"use\": 0 "
    "},"
    "{ \"read\": \"s\", \"from\": \"S\", \"at\": [\"m*64\"] },"
    "{ \"compute\": \"u = f16(s)\" },"
    "{ \"wait\": \"full\", \"use\": 0 },"
    "{ \"read\": \"x\", \"from\": \"raw\" },"
    "{ \"compute\": \"y = f16(x*u)\" },"
    "{ \"write\": \"y\", \"to\": \"out\" },"
    "{ \"sync\": \"group\" },"
    "{ \"store\": \"O\", \"at\": [\"m*64\", 0], \"from\": \"out\" },"
    "{ \"store_wait\": 0 }] }] }";

typedef struct {
    const char *from, *to, *from2, *to2;
    guint words, halves; /* reads of four 8-bit floats; products of two f16 */
} Case;

#define PART(at)                                                                                   \
    "{ \"read\": \"x\", \"from\": \"raw.cols(" at ", C)\" }, { \"compute\": \"y = f16(x*u)\" },"   \
    "{ \"write\": \"y\", \"to\": \"out.cols(" at ", C)\" }"
#define IN_HALVES_FROM(one, two) PART(one) "," PART(two)
#define IN_HALVES(two)           IN_HALVES_FROM("0", two)
#define WHOLE                                                                                      \
    "{ \"read\": \"x\", \"from\": \"raw\" },{ \"compute\": \"y = f16(x*u)\" },"                    \
    "{ \"write\": \"y\", \"to\": \"out\" }"
#define ALL 16 /* words of 64 x 128 bytes for each of 128 threads */

static const Case cases[] = {
    { NULL, NULL, NULL, NULL, ALL, 2 * ALL },
    { "\"C\": 128", "\"C\": 64", WHOLE, IN_HALVES("64"), ALL, 2 * ALL },
    { "f16(x*u)", "f16(u*x)", NULL, NULL, ALL, 2 * ALL },
    { "64", "128", NULL, NULL, 2 * ALL, 4 * ALL }, /* rows */
    { "e4m3", "e5m2", NULL, NULL, ALL, 2 * ALL },
    { "\"uniform(-2, 2)\"", "\"uniform(-0.00003, 0.00003)\"", NULL, NULL, ALL, 2 * ALL },
    { "\"N\": 256", "\"N\": 100", NULL, NULL, ALL, 2 * ALL },
    /* columns that somebody tells apart, or that have no neighbours to change places with */
    { "\"C\": 128", "\"C\": 32", WHOLE, IN_HALVES("32") "," IN_HALVES_FROM("64", "96"), 0,
      2 * ALL },
    { "\"C\": 128", "\"C\": 64", WHOLE,
      "{ \"for\": \"n\", \"count\": 2, \"do\": [{ \"read\": \"x\", \"from\": \"raw.cols(n*C, C)\" "
      "},"
      "{ \"compute\": \"y = f16(x*u)\" }, { \"write\": \"y\", \"to\": \"out.cols(n*C, C)\" }] }",
      0, ALL }, /* where it begins is no constant */
    { "f16(x*u)", "f16(x*u + 0*col)", NULL, NULL, 0, 0 },
    { "f16(x*u)", "f16(x*s)", NULL, NULL, 0, 0 }, /* more bits than f16 has */
    { "f16(x*u)\" }", "f16(x*u)\" }, { \"compute\": \"y = f16(y + 0*col)\" }", NULL, NULL, 0,
      2 * ALL },
    { "[64, 128] },{", "[64, 128], \"swizzle\": 64 },{", NULL, NULL, 0, 2 * ALL },
    { "[64, 128] },{", "[64, 128], \"swizzle\": 32 },{", NULL, NULL, 0, 2 * ALL },
    { "[64, 128] },{", "[64, 128], \"swizzle\": 0 },{", NULL, NULL, 0, 2 * ALL },
    { "{ \"write\": \"y\", \"to\": \"out\" }",
      "{ \"write\": \"y.cols(0, 64)\", \"to\": \"out.cols(0, 64)\" },"
      "{ \"write\": \"y.cols(64, 64)\", \"to\": \"out.cols(64, 64)\" }",
      NULL, NULL, 0, 2 * ALL },
    /* what was written is read again, by the lanes of the accumulator layout */
    { "{ \"sync\": \"group\" }",
      "{ \"read\": \"z\", \"from\": \"out\" }, { \"compute\": \"z = f16(z*u + z*(1 - u))\" },"
      "{ \"write\": \"z\", \"to\": \"out\" }, { \"sync\": \"group\" }",
      "{ \"name\": \"s\", \"dtype\"",
      "{ \"name\": \"z\", \"dtype\": \"f16\", \"tile\": [64, 128] }, { \"name\": \"s\", \"dtype\"",
      0, 2 * ALL },
    { "\"compute\": \"y = f16(x*u)\"", "\"compute\": \"y = f16(x*u)\", \"unless\": \"u == inf\"",
      NULL, NULL, 0, 2 * ALL },
};

static guint times(const char *text, const char *word)
{
    guint n = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        n++;
    return n;
}

static WsProgram *program_of(const Case *c)
{
    GString *s = g_string_new(plain);
    if (c->from)
        g_assert_cmpuint(g_string_replace(s, c->from, c->to, 0), >, 0);
    if (c->from2)
        g_assert_cmpuint(g_string_replace(s, c->from2, c->to2, 0), ==, 1);
    g_autofree char *text = g_string_free(s, FALSE);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "quads", findings);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_autofree char *said = ws_findings_print(findings, "quads");
    g_test_message("%s", said);
    g_assert_nonnull(p);
    return p;
}

static void test_columns(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const Case *c = &cases[i];
        g_test_message("%s", c->to ? c->to : "as it stands");
        g_autoptr(WsProgram) p = program_of(c);
        g_autoptr(GError) error = NULL;
        g_autofree char *ptx = ws_generate_ptx(p, &(WsGenerateOptions){ 0 }, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(times(ptx, "ld.shared.b32"), ==, c->words);
        g_assert_cmpuint(times(ptx, "mul.rn.f16x2"), ==, c->halves);
        g_assert_cmpuint(times(ptx, "st.shared.v2.b32"), ==, c->words);
        g_autoptr(WsFindings) findings = ws_findings_new();
        WsRehearseOptions options = { .seed = 3 };
        WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
        g_assert_no_error(error);
        g_test_message("%s", r->first_wrong ? r->first_wrong : "right");
        g_assert_true(r->matches && !r->stuck && !r->first_violation && !r->first_race);
        g_assert_cmpuint(r->elements, >, 0);
        ws_rehearse_result_free(r);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/codegen/quads/columns", test_columns);
    return g_test_run();
}
