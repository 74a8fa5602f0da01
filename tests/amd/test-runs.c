/* Designs of gfx950 in the rehearsal: right at many sizes and in many orders; changes that the
 * proof refutes go wrong, and what it proves does not. */
#include "amd/designs.h"
#include "check/check.h"
#include "codegen/generate.h"
#include "whole.h"

/* --- right ------------------------------------------------------------------------------------*/

static const struct {
    const char *design;
    WsSetting set[3];
    gint64 size[3];
    guint seeds;
} right[] = {
    /* the fewest rounds first: none in the loop */
    { "gemm-gfx950", { { 0 } }, { 256, 256, 64 }, 2 },
    { "gemm-gfx950", { { 0 } }, { 256, 512, 96 }, 2 },
    { "gemm-gfx950", { { 0 } }, { 512, 256, 320 }, 3 },
    { "gemm-gfx950", { { "BK", 64 }, { "NB", 2 } }, { 256, 256, 256 }, 2 },
    { "gemm-gfx950", { { "BM", 128 }, { "NB", 4 } }, { 256, 256, 256 }, 2 },
    { "gemm-gfx950", { { "BN", 128 }, { "NB", 4 } }, { 256, 256, 224 }, 2 },
    { "gemm-gfx950", { { "BM", 128 }, { "BN", 128 }, { "NB", 2 } }, { 256, 384, 128 }, 2 },
    { "gemm-gfx950-split", { { 0 } }, { 256, 256, 128 }, 2 },
    { "gemm-gfx950-split", { { 0 } }, { 256, 512, 192 }, 2 },
    { "gemm-gfx950-split", { { 0 } }, { 512, 256, 448 }, 3 },
    { "gemm-gfx950-split", { { "BN", 128 } }, { 256, 256, 320 }, 2 },
    { "gemm-gfx950-flat", { { 0 } }, { 256, 256, 64 }, 2 },
    { "gemm-gfx950-flat", { { 0 } }, { 256, 512, 96 }, 3 },
    { "gemm-gfx950-flat-ring", { { 0 } }, { 256, 256, 160 }, 2 },
    { "gemm-gfx950-32", { { 0 } }, { 256, 512, 96 }, 2 },
    { "gemm-gfx950-32", { { "BM", 128 }, { "BN", 128 }, { "NB", 2 } }, { 256, 384, 128 }, 2 },
    { "gemm-gfx950-gap", { { 0 } }, { 256, 256, 256 }, 2 },
    { "gemm-gfx950-gap", { { "BK", 32 }, { "NB", 3 } }, { 256, 512, 96 }, 2 },
    { "gemm-gfx950-gap", { { "BM", 128 }, { "BN", 128 }, { "NB", 3 } }, { 256, 384, 256 }, 1 },
    { "gemm-gfx950-fp8", { { 0 } }, { 256, 512, 192 }, 2 },
    { "gemm-gfx950-fp8", { { "BM", 128 }, { "BN", 128 }, { "NB", 4 } }, { 256, 384, 256 }, 2 },
    { "attention-gfx950", { { 0 } }, { 1, 1, 256 }, 1 },
    { "attention-gfx950", { { "NB", 4 } }, { 1, 1, 256 }, 1 },
    { "attention-gfx950", { { "BN", 128 }, { "NB", 2 } }, { 1, 1, 256 }, 1 },
};

static WsReferenceValues *values; /* attention's reference takes longer than its kernel */

/* NULL: right. */
static char *wrong_in(WsRehearsal *s, const char *design, const gint64 *size, guint64 seed)
{
    static const char *const of_gemm[] = { "M", "N", "K" };
    static const char *const of_attention[] = { "Z", "H", "N_CTX" };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    const WsRehearseOptions o = {
        .seed = seed,
        .size_name = g_str_has_prefix(design, "attention") ? of_attention : of_gemm,
        .size = size,
        .n_size = size ? 3 : 0,
        .values = values,
    };
    WsRehearseResult *r = ws_rehearsal_run(s, &o, findings, &error);
    if (!r)
        g_error("%s: %s", design, error->message);
    const char *what = r->stuck             ? "stuck"
                       : r->first_violation ? r->first_violation
                       : r->first_race      ? r->first_race
                                            : r->first_wrong;
    char *out = r->matches ? NULL : g_strdup(what ? what : "?");
    g_assert_true(!r->matches || r->elements > 0);
    ws_rehearse_result_free(r);
    return out;
}

static void test_right(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    guint n = 0;
    while (n < 3 && right[i].set[n].name)
        n++;
    g_autoptr(WsProgram) p = amd_load(right[i].design, NULL, 0, right[i].set, n);
    g_autoptr(WsRehearsal) s = ws_rehearsal_new(p);
    for (guint64 seed = 0; seed < right[i].seeds; seed++) {
        g_autofree char *wrong = wrong_in(s, right[i].design, right[i].size, seed);
        g_assert_cmpstr(wrong, ==, NULL);
    }
}

/* --- changed ----------------------------------------------------------------------------------*/

#define BOTH_WAITS "{ \"load_wait\": \"2*(NB - 2)\" },"

/* `shows`: the rehearsal finds it, in one of so many orders; else it is not of a kind that it
 * sees, and why. */
static const struct {
    const char *name, *design;
    AmdChange change[3];
    gboolean proved, shows;
} changed[] = {
    { "one wait too late", "refuted-gemm-gfx950-late-wait", { { 0 } }, FALSE, TRUE },
    { "no wait before the loop", "gemm-gfx950", { { BOTH_WAITS, "" } }, FALSE, TRUE },
    { "both waits leave a tile more",
      "gemm-gfx950",
      { { "all " BOTH_WAITS, "{ \"load_wait\": \"2*(NB - 1)\" }," } },
      FALSE,
      TRUE },
    { "waits leave half a tile more",
      "gemm-gfx950",
      { { "all " BOTH_WAITS, "{ \"load_wait\": \"2*(NB - 2) + 1\" }," } },
      FALSE,
      TRUE },
    { "the last wait leaves two",
      "gemm-gfx950",
      { { "{ \"load_wait\": 0 }", "{ \"load_wait\": 2 }" } },
      FALSE,
      TRUE },
    { "no sync before the last rounds",
      "gemm-gfx950",
      { { "{ \"sync\": \"group\" },", "" } },
      FALSE,
      TRUE },
    { "loads into the slot that is read",
      "gemm-gfx950",
      { { "\"into\": \"a\", \"use\": \"k + NB - 1\"", "\"into\": \"a\", \"use\": \"k + NB\"" } },
      FALSE,
      TRUE },
    { "a ring of two, waits of three",
      "gemm-gfx950",
      { { "\"NB\": 3", "\"NB\": 2" }, { "all " BOTH_WAITS, "{ \"load_wait\": 2 }," } },
      FALSE,
      TRUE },
    { "stricter waits",
      "gemm-gfx950",
      { { "all " BOTH_WAITS, "{ \"load_wait\": 0 }," } },
      TRUE,
      FALSE },
    { "an empty stage more",
      "gemm-gfx950",
      { { "{ \"stage\": \"mfma\", \"do\": [",
          "{ \"stage\": \"turn\", \"do\": [] },\n{ \"stage\": \"mfma\", \"do\": [" } },
      TRUE,
      FALSE },
    { "waits leave four",
      "gemm-gfx950-split",
      { { "all { \"load_wait\": 3 }", "{ \"load_wait\": 4 }" } },
      FALSE,
      TRUE },
    { "no wait before the loop",
      "gemm-gfx950-split",
      { { "{ \"load_wait\": 3 },", "" } },
      FALSE,
      TRUE },
    { "B too early",
      "gemm-gfx950-split",
      { { "{ \"load\": \"B\", \"at\": [\"(k + 2)*BK\", \"tn*BN\"], \"into\": \"b\", \"use\": \"k + "
          "2\" },",
          "" },
        { "{ \"read\": \"fb\", \"from\": \"b.t\", \"use\": \"k\" },",
          "{ \"read\": \"fb\", \"from\": \"b.t\", \"use\": \"k\" },\n"
          "{ \"load\": \"B\", \"at\": [\"(k + 2)*BK\", \"tn*BN\"], \"into\": \"b\", \"use\": \"k + "
          "2\" }," } },
      FALSE,
      TRUE },
    { "waits leave a tile more",
      "attention-gfx950",
      { { "all " BOTH_WAITS, "{ \"load_wait\": \"2*(NB - 1)\" }," } },
      FALSE,
      TRUE },
    { "V is read from the next slot",
      "attention-gfx950",
      { { "\"from\": \"v.t\", \"use\": \"j\"", "\"from\": \"v.t\", \"use\": \"j + 1\"" } },
      FALSE,
      TRUE },
};

static void test_changed(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    const gint64 attention[] = { 1, 1, 256 }, gemm[] = { 256, 256, 320 };
    const gboolean is_attention = g_str_has_prefix(changed[i].design, "attention");
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = amd_load(changed[i].design, changed[i].change, 3, NULL, 0);
    g_autoptr(WsVerdict) v =
        ws_check(p, &(WsCheckOptions){ .verdict_only = TRUE, .max_findings = 1 }, findings);
    if ((v->kind == WS_VERDICT_PROVED) != changed[i].proved)
        g_error("%s is %s", changed[i].name,
                v->kind == WS_VERDICT_PROVED ? "proved" : "not proved");
    g_autoptr(WsRehearsal) s = ws_rehearsal_new(p);
    const guint seeds = changed[i].shows ? 12 : is_attention ? 1 : 3;
    char *wrong = NULL;
    guint64 seed = 0;
    for (; seed < seeds && !wrong; seed++)
        wrong = wrong_in(s, changed[i].design, is_attention ? attention : gemm, seed);
    g_test_message("%s: %s in %u orders", changed[i].name, wrong ? wrong : "right", (guint)seed);
    if ((wrong != NULL) != changed[i].shows)
        g_error("%s of %s: %s in %u orders", changed[i].name, changed[i].design,
                wrong ? wrong : "right", (guint)seed);
    g_free(wrong);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(right); i++) {
        g_autofree char *path = g_strdup_printf("/amd/runs/right/%s/%u", right[i].design, i);
        if (test_takes(i, test_quick() ? 5 : 1, 8))
            g_test_add_data_func(path, GUINT_TO_POINTER(i), test_right);
    }
    for (guint i = 0; i < G_N_ELEMENTS(changed); i++) {
        g_autofree char *path = g_strdup_printf("/amd/runs/changed/%u", i);
        if (test_takes(i, test_quick() ? 5 : 1, 8))
            g_test_add_data_func(path, GUINT_TO_POINTER(i), test_changed);
    }
    values = ws_reference_values_new();
    const int code = g_test_run();
    ws_reference_values_free(values);
    return code;
}
