/* Sums along the columns of values that lie linear in their warps: what the rehearsal of the PTX
 * computes against a reference, for rows that end within warps and between them, fewer elements
 * than threads, one warp and many, and in loops, where the bytes between warps are used again. */
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

static const struct {
    guint warps, rows, cols;
    const char *dtype;
    gboolean loop;
} shape[] = {
    { 1, 1, 8, "i32", FALSE },   { 1, 1, 72, "f32", FALSE },  { 2, 3, 24, "f32", FALSE },
    { 2, 5, 40, "i32", TRUE },   { 8, 1, 1024, "f32", TRUE }, { 8, 2, 1000, "i32", FALSE },
    { 4, 3, 136, "f32", FALSE }, { 4, 21, 8, "i32", FALSE },  { 2, 1, 40, "i32", FALSE },
};

/* %u: columns. `one`: of one row alone, `many`: of at least as many elements as threads. */
static const struct {
    const char *statement, *reference;
    gboolean one, many;
} sum[] = {
    { "cumsum(v)", "sum(k < j + 1, x[i,k])", FALSE, FALSE },
    { "cumsum(v, 1)", "sum(k < j, x[i,k])", FALSE, FALSE },
    { "cumsum(v, 0, 1)", "sum(k < %u - j, x[i,j + k])", FALSE, FALSE },
    { "cumsum(v, 1, 1)", "sum(k < %u - j - 1, x[i,j + k + 1])", FALSE, FALSE },
    { "cumsum(v) + cumsum(v, 1, 1)", "sum(k < %u, x[i,k])", FALSE, FALSE },
    { "v + rowsum(v)", "x[i,j] + sum(k < %u, x[i,k])", TRUE, FALSE },
    { "v - rowmax(v)", "x[i,j] - max(k < %u, x[i,k])", TRUE, TRUE },
};

static WsProgram *program(guint s, const char *statement, const char *reference, const char *more)
{
    const guint rows = shape[s].rows, rounds = shape[s].loop ? 3 : 1, tile = rows * rounds;
    g_autofree char *at =
        shape[s].loop ? g_strdup_printf("%u*k + %u*t", rows, tile) : g_strdup_printf("%u*t", rows);
    g_autofree char *steps = g_strdup_printf(
        "{ \"read\": \"v\", \"from\": \"x\", \"at\": [\"%s\", 0] }, { \"compute\": \"w = %s\"%s }, "
        "{ \"write\": \"w\", \"to\": \"y\", \"at\": [\"%s\", 0] }",
        at, statement, more, at);
    g_autofree char *body =
        shape[s].loop ? g_strdup_printf("{ \"for\": \"k\", \"count\": 3, \"do\": [ %s ] }", steps)
                      : g_strdup(steps);
    g_autofree char *text = g_strdup_printf(
        "{ \"warpstave\": 1, \"name\": \"sums\", \"target\": \"sm_90a\", \"sizes\": { \"N\": %u },"
        "\"tensors\": [ { \"name\": \"x\", \"dtype\": \"%s\", \"shape\": [\"N\", %u] },"
        "{ \"name\": \"y\", \"dtype\": \"%s\", \"shape\": [\"N\", %u], \"access\": \"write\" } ],"
        "\"reference\": \"y[i,j] = %s\","
        "\"tiles\": { \"axes\": { \"t\": \"cdiv(N, %u)\" }, \"launch\": \"persistent\" },"
        "\"groups\": [ { \"name\": \"sum\", \"role\": \"worker\", \"warps\": %u, \"values\": ["
        "{ \"name\": \"v\", \"dtype\": \"%s\", \"tile\": [%u, %u] },"
        "{ \"name\": \"w\", \"dtype\": \"%s\", \"tile\": [%u, %u] } ],"
        "\"body\": [ { \"for\": \"tile\", \"over\": \"tiles\", \"do\": [ %s ] } ] } ] }",
        5 * tile - (tile > 1), shape[s].dtype, shape[s].cols, shape[s].dtype, shape[s].cols,
        reference, tile, shape[s].warps, shape[s].dtype, rows, shape[s].cols, shape[s].dtype, rows,
        shape[s].cols, body);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "sums", findings);
    g_assert_nonnull(design);
    return ws_elaborate(design, NULL, 0, findings);
}

static void test_values(gconstpointer data)
{
    const guint s = GPOINTER_TO_UINT(data);
    const guint elements = shape[s].rows * shape[s].cols;
    for (guint i = 0; i < G_N_ELEMENTS(sum); i++) {
        if ((sum[i].one && shape[s].rows > 1) || (sum[i].many && elements < 32 * shape[s].warps))
            continue;
        g_auto(GStrv) part = g_strsplit(sum[i].reference, "%u", 2);
        g_autofree char *cols = g_strdup_printf("%u", shape[s].cols),
                        *reference = g_strjoinv(cols, part);
        g_autoptr(WsProgram) p = program(s, sum[i].statement, reference, "");
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(GError) error = NULL;
        const WsRehearseOptions options = { .seed = 1 + i, .sms = 2 };
        g_assert_nonnull(p);
        WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
        g_assert_no_error(error);
        g_test_message("%s: %s", sum[i].statement, r->first_wrong ? r->first_wrong : "right");
        g_assert_true(r->ran && r->matches);
        g_assert_cmpuint(r->elements, >, 0);
        ws_rehearse_result_free(r);
        g_autofree char *cuda = ws_generate_cuda(p, FALSE, &error);
        g_assert_no_error(error);
        g_assert_nonnull(strstr(cuda, sum[i].one ? "line_reduce<" : "line_scan<"));
    }
}

/* The order in which fibers run hides a store over what another warp has not read yet: the warps
 * meet twice for each sum, before its stores and before its loads. */
static void test_meetings(void)
{
    g_autoptr(WsProgram) p = program(4, "cumsum(v) + cumsum(v, 1, 1)", "x[i,j]", "");
    g_autoptr(GError) error = NULL;
    g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
    g_assert_no_error(error);
    g_auto(GStrv) part = g_strsplit(ptx, "bar.sync \t1, 256;", -1),
                  other = g_strsplit(ptx, "bar.sync 1, 256;", -1);
    g_assert_cmpuint(g_strv_length(part) + g_strv_length(other) - 2, ==, 4);
}

/* What cannot be said is refused: a warp that stays away while the others wait for it; rows of
 * which a reduction would have to give each its own number. */
static void test_refused(void)
{
    const char *const never = ", \"unless\": \"v == 0\"";
    g_autoptr(WsProgram) none = program(4, "cumsum(v)", "x[i,j]", never);
    g_assert_null(none);
    g_autoptr(WsProgram) alone = program(1, "cumsum(v)", "x[i,j]", never); /* one warp */
    g_assert_nonnull(alone);
    g_autoptr(WsProgram) rows = program(2, "v + rowsum(v)", "x[i,j]", "");
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(rows);
    g_autofree char *ptx = ws_generate_ptx(rows, NULL, &error);
    g_assert_null(ptx);
    g_assert_nonnull(strstr(error->message, "a reduction of linear values"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint s = 0; s < G_N_ELEMENTS(shape); s++) {
        g_autofree char *path = g_strdup_printf("/codegen/lines/%u-%ux%u-%s", shape[s].warps,
                                                shape[s].rows, shape[s].cols, shape[s].dtype);
        g_test_add_data_func(path, GUINT_TO_POINTER(s), test_values);
    }
    g_test_add_func("/codegen/lines/meetings", test_meetings);
    g_test_add_func("/codegen/lines/refused", test_refused);
    return g_test_run();
}
