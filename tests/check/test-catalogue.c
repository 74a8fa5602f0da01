/* Faults made by small edits of the shipped designs: which rule, where, at which barrier and round.
 * Correct variations of the same places are in test-clean.c. */
#include "design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"

typedef struct {
    const char *title, *file, *name;
    gint64 value;
    Edit edit[MAX_EDITS];
    const char *rule, *at, *barrier, *round;
} Row;

#define GC      "gemm-cooperative.wstave"
#define W_EMPTY "{ \"wait\": \"empty\", \"use\": \"k.total\" },\n"
#define W_FULL  "{ \"wait\": \"full\", \"use\": \"k.total\" },\n"
#define WRITE                                                                                      \
    "{ \"write\": \"acc.cols(s*SLAB, SLAB)\", \"to\": \"c[replica]\", \"use\": \"s.total\" },\n"
#define MMA_START "{ \"mma\": \"acc\", \"a\": \"a.rows(replica*WM, WM)\""
#define ORDER     "\"order\": \"grouped(tm, 16)\"\n  },\n"
#define DRAWN                                                                                      \
    {                                                                                              \
        ORDER, ORDER "  \"fences\": \"drawn\",\n"                                                  \
    }
#define EXPECT(bytes)                                                                              \
    W_EMPTY "{ \"expect\": \"full\", \"bytes\": \"" bytes "\", \"use\": \"k.total\" },\n"
#define LOOP "groups/mma/body/0/do/0/do/"
#define LOAD "groups/load/body/0/do/0/do/"
#define SLAB "groups/mma/body/0/do/3/do/"

static const Row rows[] = {
    /* waits, phases, parity */
    { "no wait for full",
      GC,
      NULL,
      0,
      { { W_FULL, "" } },
      "P-RACE",
      LOOP "0",
      NULL,
      "tile 0, k 0" },
    { "parity flipped",
      GC,
      NULL,
      0,
      { { W_FULL, "{ \"wait\": \"full\", \"slot\": \"k.total % STAGES\", \"phase\": "
                  "\"(k.total/STAGES + 1) % 2\" },\n" } },
      "P-RACE",
      LOOP "1",
      NULL,
      "tile 0, k 0" },
    { "parity toggles every round",
      GC,
      NULL,
      0,
      { { W_FULL, "{ \"wait\": \"full\", \"slot\": \"k.total % STAGES\", \"phase\": \"k.total % "
                  "2\" },\n" } },
      "P-RACE",
      LOOP "1",
      NULL,
      "tile 0, k 1" },
    { "use restarts with the tile",
      GC,
      NULL,
      0,
      { { W_FULL, "{ \"wait\": \"full\", \"use\": \"k\" },\n" } },
      "P-RACE",
      LOOP "1",
      NULL,
      "tile 1, k.total 1" },
    { "one stage and a release that lags",
      GC,
      "STAGES",
      1,
      { { NULL, NULL } },
      "P-DL",
      NULL,
      NULL,
      NULL },
    { "order barrier gone",
      "gemm-pingpong.wstave",
      NULL,
      0,
      { { "{ \"wait\": \"main_turn[replica]\", \"use\": \"tile.total\" },\n", "" } },
      "P-EARLY",
      NULL,
      NULL,
      NULL },
    /* counts and bytes */
    { "count too low",
      GC,
      NULL,
      0,
      { { "\"init\": \"ready\" }", "\"init\": \"ready\", \"arrivals\": 1 }" } },
      "P-CNT",
      NULL,
      "empty slot 0",
      NULL },
    { "bytes too many",
      GC,
      NULL,
      0,
      { { W_EMPTY, EXPECT("(BM + BN)*BK*2 + 16") } },
      "P-TX",
      LOOP "0",
      "full slot 0",
      "tile 0, k 0" },
    { "bytes of one load only",
      GC,
      NULL,
      0,
      { { W_EMPTY, EXPECT("BM*BK*2") } },
      "P-TX",
      NULL,
      "full slot 0",
      NULL },
    { "expect without arrival",
      GC,
      NULL,
      0,
      { { W_EMPTY, W_EMPTY "{ \"expect\": \"full\", \"bytes\": \"(BM + BN)*BK*2\", \"count\": 0, "
                           "\"use\": \"k.total\" },\n" },
        { "{ \"name\": \"full\", \"slots\": \"STAGES\" }",
          "{ \"name\": \"full\", \"slots\": \"STAGES\", \"arrivals\": 1 }" } },
      "P-DL",
      LOOP "0",
      "full slot 0",
      "tile 0, k 0" },
    /* lifetimes */
    { "last mma never waited for",
      GC,
      NULL,
      0,
      { { "          { \"mma_wait\": 0 },\n", "" } },
      "P-ASYNC",
      NULL,
      NULL,
      NULL },
    { "one slab, one store in flight",
      GC,
      NULL,
      0,
      { { "\"array\": 2, \"stages\": 2", "\"array\": 2, \"stages\": 1" } },
      "P-ASYNC",
      SLAB "2",
      NULL,
      NULL },
    { "two slabs, two stores in flight",
      GC,
      NULL,
      0,
      { { "{ \"store_wait\": 1 }", "{ \"store_wait\": 2 }" } },
      "P-ASYNC",
      SLAB "2",
      NULL,
      NULL },
    { "last store never waited for",
      GC,
      NULL,
      0,
      { { "        ] },\n        { \"store_wait\": 0 }\n", "        ] }\n" } },
      "P-EXIT",
      SLAB "4",
      NULL,
      NULL },
    { "no sync after store_wait",
      GC,
      NULL,
      0,
      { { "{ \"store_wait\": 1 },\n            { \"sync\": \"group\" },\n",
          "{ \"store_wait\": 1 },\n" } },
      "P-ASYNC",
      SLAB "1",
      NULL,
      "tile 0, s 2" },
    { "staging over the ring, producer does not wait",
      "gemm-aliased.wstave",
      NULL,
      0,
      { { "{ \"wait\": \"c_free\", \"use\": \"tile.total\", \"when\": \"k == 0\" },\n", "" } },
      NULL,
      "groups/mma/body/0/do/3",
      NULL,
      NULL },
    { "staging over the ring, stored at once",
      "gemm-aliased.wstave",
      NULL,
      0,
      { { "{ \"sync\": \"group\" },\n", "" } },
      "P-RACE",
      NULL,
      NULL,
      "tile 0" },
    /* fences */
    { "fence before the write",
      GC,
      NULL,
      0,
      { DRAWN,
        { MMA_START, "{ \"fence\": \"mma\" },\n" MMA_START },
        { WRITE, "{ \"fence\": \"async\" },\n" WRITE } },
      "P-PROXY",
      SLAB "5",
      NULL,
      "tile 0, s 0" },
    { "no mma fence",
      GC,
      NULL,
      0,
      { DRAWN, { WRITE, WRITE "{ \"fence\": \"async\" },\n" } },
      "P-FENCE",
      LOOP "1",
      NULL,
      "tile 0, k 0" },
    /* values and uses */
    { "sum never started",
      GC,
      NULL,
      0,
      { { "\"first\": \"k == 0\", ", "" } },
      "P-UNDEF",
      LOOP "1",
      NULL,
      "tile 0, k 0" },
    { "negative use",
      GC,
      NULL,
      0,
      { { ", \"when\": \"k > 0\" }", " }" } },
      "P-UNDEF",
      LOOP "3",
      NULL,
      "tile 0, k 0" },
    /* trip counts */
    { "producer makes a round more",
      GC,
      NULL,
      0,
      { { "{ \"for\": \"k\", \"count\": \"cdiv(K, BK)\", \"do\"",
          "{ \"for\": \"k\", \"count\": \"cdiv(K, BK) + 1\", \"do\"" } },
      "P-EXIT",
      NULL,
      NULL,
      NULL },
    { "consumers make a round less",
      GC,
      NULL,
      0,
      { { "\"count\": \"cdiv(K, BK)\", \"split\"", "\"count\": \"cdiv(K, BK) - 1\", \"split\"" } },
      NULL,
      NULL,
      NULL,
      NULL },
    /* named barriers, breadth, tiles */
    { "too few threads",
      "attention-fa3-causal.wstave",
      NULL,
      0,
      { { "\"name\": \"v_left\", \"kind\": \"named\"",
          "\"name\": \"v_left\", \"kind\": \"named\", \"threads\": 128" } },
      NULL,
      NULL,
      NULL,
      NULL },
    { "too many threads",
      "attention-fa3-causal.wstave",
      NULL,
      0,
      { { "\"name\": \"v_left\", \"kind\": \"named\"",
          "\"name\": \"v_left\", \"kind\": \"named\", \"threads\": 384" } },
      "P-DL",
      NULL,
      "v_left",
      "tile 0" },
    { "both groups give the first turn",
      "attention-fa3-causal.wstave",
      NULL,
      0,
      { { "{ \"arrive\": \"turn[0]\", \"when\": \"replica == replicas - 1\",",
          "{ \"arrive\": \"turn[0]\"," } },
      "P-NB",
      NULL,
      NULL,
      NULL },
    { "leader releases what all lanes read",
      "attention-fa3-dynamic.wstave",
      NULL,
      0,
      { { "{ \"arrive\": \"next_empty\", \"by\": \"warp\",", "{ \"arrive\": \"next_empty\"," } },
      "P-RACE",
      "groups/load/body/0/do/7",
      NULL,
      NULL },
    { "a consumer takes no tile",
      "attention-fa3-dynamic.wstave",
      NULL,
      0,
      { { "{ \"take\": \"tiles\", \"from\": \"next\", \"use\": \"tile.total\" },\n", "" } },
      "P-TILE",
      NULL,
      NULL,
      NULL },
    { "bytes that nobody wrote",
      "attention-fa3-causal.wstave",
      NULL,
      0,
      { { "\"b\": \"v.t\", \"first\": \"nb == 1\", \"use\": \"kv + nb - 1\"",
          "\"b\": \"v.t\", \"first\": \"nb == 1\", \"use\": \"kv + nb\"" } },
      "P-UNDEF",
      NULL,
      NULL,
      NULL },
    { "waits further ahead than the ring allows",
      GC,
      NULL,
      0,
      { { W_FULL, "{ \"wait\": \"full\", \"use\": \"k.total\", \"ahead\": 3 },\n" } },
      "P-DL",
      LOAD "0",
      "empty slot 0",
      NULL },
    /* clusters */
    { "slots freed in the own CTA only",
      "gemm-cluster.wstave",
      NULL,
      0,
      { { "{ \"arrive\": \"empty\", \"cta\": \"all\", \"use\": \"k.total - 1\", \"when\": \"k > "
          "0\" }",
          "{ \"arrive\": \"empty\", \"use\": \"k.total - 1\", \"when\": \"k > 0\" }" },
        { "{ \"arrive\": \"empty\", \"cta\": \"all\", \"use\": \"k.total - 1\" }",
          "{ \"arrive\": \"empty\", \"use\": \"k.total - 1\" }" } },
      NULL,
      "groups/load/body/0/do/0/do/2",
      NULL,
      NULL },
    { "bytes of the own half only",
      "gemm-cluster.wstave",
      NULL,
      0,
      { { W_EMPTY, EXPECT("(BM + BN/2)*BK*2") } },
      "P-TX",
      NULL,
      "full slot 0 of CTA 0",
      "tile 0, k 0" },
    { "cluster ends without a meeting",
      "gemm-cluster.wstave",
      NULL,
      0,
      { { "        ] },\n        { \"cluster\": \"sync\" }\n      ] },\n    { \"name\": \"mma\"",
          "        ] }\n      ] },\n    { \"name\": \"mma\"" },
        { "        { \"store_wait\": 0 },\n        { \"cluster\": \"sync\" }\n",
          "        { \"store_wait\": 0 }\n" } },
      "P-CLU",
      NULL,
      NULL,
      NULL },
};

static void found(gconstpointer data)
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
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_autofree char *text = ws_findings_print(findings, row->file);
    g_test_message("%s", text);
    gboolean said = FALSE;
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        said |= f->severity == WS_SEVERITY_ERROR &&
                finding_is(f, row->rule ? row->rule : ws_rule(f->rule)->text, row->at, row->barrier,
                           row->round);
    }
    if (!said || v->kind != WS_VERDICT_REFUTED) {
        g_test_message("%s: not said as expected", row->title);
        g_test_fail();
    }
}

/* Rows of the rule table that the check owns have an explanation with an example and a remedy. */
static void rules_explain(void)
{
    static const char *const ids[] = {
        "P-RACE",  "P-ASYNC", "P-EARLY", "P-ABA",   "P-CNT",  "P-TX",
        "P-PROXY", "P-FENCE", "P-NB",    "P-UNDEF", "P-EXIT", "P-CLU"
    };
    for (guint i = 0; i < G_N_ELEMENTS(ids); i++) {
        WsRuleId id = ws_rule_find(ids[i]);
        g_assert_cmpint(id, !=, WS_RULE_COUNT);
        g_assert_nonnull(strstr(ws_rule(id)->explain, "Example"));
        g_assert_cmpuint(strlen(ws_rule(id)->fix), >, 10);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/check/catalogue/rules", rules_explain);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/check/catalogue/%s", rows[i].title);
        g_test_add_data_func(path, &rows[i], found);
    }
    return g_test_run();
}
