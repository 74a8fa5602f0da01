/* Correct designs and correct variations that look like faults: nothing may be said against them,
 * under any schedule. */
#include "base/phrase.h"
#include "design.h"
#include "model/findings.h"
#include "program/elaborate.h"

typedef struct {
    const char *title, *file, *name;
    gint64 value;
    Edit edit[MAX_EDITS];
} Row;

#define GC      "gemm-cooperative.wstave"
#define W_EMPTY "{ \"wait\": \"empty\", \"use\": \"k.total\" },\n"
#define W_FULL  "{ \"wait\": \"full\", \"use\": \"k.total\" },\n"
#define WRITE                                                                                      \
    "{ \"write\": \"acc.cols(s*SLAB, SLAB)\", \"to\": \"c[replica]\", \"use\": \"s.total\" },\n"
#define MMA_START "{ \"mma\": \"acc\", \"a\": \"a.rows(replica*WM, WM)\""
#define ORDER     "\"order\": \"grouped(tm, 16)\"\n  },\n"

static const Row rows[] = {
    { "cooperative", GC },
    { "cooperative, 2 stages", GC, "STAGES", 2 },
    { "cooperative, 3 stages", GC, "STAGES", 3 },
    { "cooperative, narrow tile", GC, "BN", 128 },
    { "aliased", "gemm-aliased.wstave" },
    { "aliased, narrow tile", "gemm-aliased.wstave", "BN", 128 },
    { "ping-pong", "gemm-pingpong.wstave" },
    { "ping-pong, 2 stages", "gemm-pingpong.wstave", "STAGES", 2 },
    { "cluster", "gemm-cluster.wstave" },
    { "cluster, 3 stages", "gemm-cluster.wstave", "STAGES", 3 },
    { "attention, causal", "attention-fa3-causal.wstave" },
    { "attention, dynamic tiles", "attention-fa3-dynamic.wstave" },
    { "attention, ping-pong", "attention-tle-pingpong.wstave" },
    { "sparse attention, pipes", "sparse-mla-pipes.wstave" },
    { "sparse attention, see-saw", "sparse-mla-seesaw.wstave" },
    { "scaled fp8", "gemm-fp8-block.wstave" },
    { "cluster of four",
      "gemm-cluster.wstave",
      NULL,
      0,
      { { "\"cluster\": 2", "\"cluster\": 4" } } },
    { "waits two rounds ahead",
      GC,
      NULL,
      0,
      { { W_FULL, "{ \"wait\": \"full\", \"use\": \"k.total\", \"ahead\": 2 },\n" } } },
    { "cluster, drawn bytes of both halves",
      "gemm-cluster.wstave",
      NULL,
      0,
      { { W_EMPTY, W_EMPTY "{ \"expect\": \"full\", \"bytes\": \"(BM + BN)*BK*2\", \"use\": "
                           "\"k.total\" },\n" } } },
    { "cluster, the producer waits for every slot at the end",
      "gemm-cluster.wstave",
      NULL,
      0,
      { { "        ] },\n        { \"cluster\": \"sync\" }\n      ] },\n    { \"name\": \"mma\"",
          "        ] },\n        { \"for\": \"q\", \"count\": \"STAGES\", \"do\": [ { \"wait\": "
          "\"empty\", "
          "\"use\": \"k.total + q\" } ] }\n      ] },\n    { \"name\": \"mma\"" },
        { "        { \"store_wait\": 0 },\n        { \"cluster\": \"sync\" }\n",
          "        { \"store_wait\": 0 }\n" } } },
    { "eight stages of half the depth", GC, "STAGES", 8, { { "\"BK\": 64", "\"BK\": 32" } } },
    { "one stage, retired at once",
      GC,
      "STAGES",
      1,
      { { "{ \"mma_wait\": 1 },\n            { \"arrive\": \"empty\", \"use\": \"k.total - 1\", "
          "\"when\": "
          "\"k > 0\" }",
          "{ \"mma_wait\": 0 },\n            { \"arrive\": \"empty\", \"use\": \"k.total\" }" },
        { "          { \"mma_wait\": 0 },\n          { \"arrive\": \"empty\", \"use\": \"k.total - "
          "1\" },\n",
          "" } } },
    { "waited for twice", GC, NULL, 0, { { W_FULL, W_FULL W_FULL } } },
    { "drawn bytes that are right",
      GC,
      NULL,
      0,
      { { W_EMPTY, W_EMPTY
          "{ \"expect\": \"full\", \"bytes\": \"(BM + BN)*BK*2\", \"use\": \"k.total\" },\n" } } },
    { "drawn bytes in two parts",
      GC,
      NULL,
      0,
      { { W_EMPTY, W_EMPTY
          "{ \"expect\": \"full\", \"bytes\": \"BM*BK*2\", \"count\": 0, \"use\": \"k.total\" },\n"
          "{ \"expect\": \"full\", \"bytes\": \"BN*BK*2\", \"use\": \"k.total\" },\n" } } },
    { "drawn slot and parity that are right",
      GC,
      NULL,
      0,
      { { W_FULL, "{ \"wait\": \"full\", \"slot\": \"k.total % STAGES\", \"phase\": "
                  "\"k.total/STAGES % 2\" },\n" } } },
    { "drawn count that is right",
      GC,
      NULL,
      0,
      { { "\"init\": \"ready\" }", "\"init\": \"ready\", \"arrivals\": 2 }" } } },
    { "every lane arrives",
      GC,
      NULL,
      0,
      { { "\"use\": \"k.total - 1\", \"when\": \"k > 0\" }",
          "\"by\": \"warp\", \"use\": \"k.total - 1\", \"when\": \"k > 0\" }" },
        { "{ \"arrive\": \"empty\", \"use\": \"k.total - 1\" }",
          "{ \"arrive\": \"empty\", \"by\": \"warp\", \"use\": \"k.total - 1\" }" } } },
    { "stores waited for at once",
      GC,
      NULL,
      0,
      { { "{ \"store_wait\": 1 }", "{ \"store_wait\": 0 }" } } },
    { "three slabs, two stores in flight",
      GC,
      NULL,
      0,
      { { "\"array\": 2, \"stages\": 2", "\"array\": 2, \"stages\": 3" },
        { "{ \"store_wait\": 1 }", "{ \"store_wait\": 2 }" },
        { "\"STAGES\": 4", "\"STAGES\": 3" } } },
    { "drawn fences, by whoever stores, after the sync",
      GC,
      NULL,
      0,
      { { ORDER, ORDER "  \"fences\": \"drawn\",\n" },
        { MMA_START, "{ \"fence\": \"mma\" },\n" MMA_START },
        { "{ \"store\": \"C\"", "{ \"fence\": \"async\" },\n{ \"store\": \"C\"" } } },
    { "drawn fences, all there",
      GC,
      NULL,
      0,
      { { ORDER, ORDER "  \"fences\": \"drawn\",\n" },
        { MMA_START, "{ \"fence\": \"mma\" },\n" MMA_START },
        { WRITE, WRITE "{ \"fence\": \"async\" },\n" } } },
};

static void clean(gconstpointer data)
{
    const Row *row = data;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = edited_program(row->file, row->edit, row->name, row->value, findings);
    if (!p) {
        g_autofree char *why = ws_findings_print(findings, row->file);
        g_test_message("%s does not elaborate: %s", row->title, why);
        g_test_fail();
        return;
    }
    WsCheckOptions all = { .schedules = WS_SCHEDULE_COUNT };
    g_autoptr(WsVerdict) v = ws_check(p, &all, findings);
    g_autofree char *text = ws_findings_print(findings, row->file);
    g_autofree char *verdict = ws_verdict_text(v);
    g_test_message("%s: %s%s", row->title, text, verdict);
    if (v->kind != WS_VERDICT_PROVED || v->played->len == 0 ||
        ws_findings_count(findings, WS_SEVERITY_WARNING))
        g_test_fail();
}

/* What was played is said: rounds around the ring depth, 0 to 3 tiles, what an assumption forbids.
 */
static void says_what_was_played(void)
{
    static const gint64 rounds[] = { 1, 2, 3, 4, 5, 9 };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = edited_program(GC, NULL, NULL, 0, findings);
    g_assert_nonnull(p);
    const WsCheckOptions options = { .play_only = TRUE };
    g_autoptr(WsVerdict) v = ws_check(p, &options, findings);
    g_autofree char *text = ws_verdict_text(v);
    for (guint t = 1; t <= 3; t++)
        for (guint r = 0; r < G_N_ELEMENTS(rounds); r++) {
            gboolean found = FALSE;
            for (guint i = 0; i < v->played->len; i++) {
                const WsPlayed *one = &g_array_index(v->played, WsPlayed, i);
                found |= one->tiles == t && one->rounds == rounds[r];
            }
            g_assert_true(found);
        }
    g_assert_cmpuint(g_array_index(v->played, WsPlayed, 0).tiles, ==, 0);
    g_assert_cmpuint(v->skipped->len, ==, 1);
    g_autofree char *skipped = ws_phrase_text(v->skipped->pdata[0], NULL, NULL);
    g_assert_nonnull(strstr(skipped, "K >= 1"));
    g_assert_true(g_str_has_prefix(text, "simulated: rounds 1 2 3 4 5 9 over up to 3 tiles"));
    g_assert_cmpuint(v->ops, >, 1000);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/check/clean/says what was played", says_what_was_played);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/check/clean/%s", rows[i].title);
        g_test_add_data_func(path, &rows[i], clean);
    }
    return g_test_run();
}
