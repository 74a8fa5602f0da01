/* Counters that owe rounds of tiles to come (docs/soundness.md, OWED): ping-pong GEMMs of two and
 * three consumers and deep rings are proved in few states, and what goes wrong in them is not. */
#include "design.h"
#include "model/findings.h"

typedef struct {
    const char *title;
    WsVerdictKind verdict;
    guint most_states; /* of a proof; 0: any */
    gboolean three;    /* consumers, with twelve stages */
    Edit edit[MAX_EDITS];
} Row;

#define ADVANCE "\"by\": \"(replicas - 1)*kt\""
#define START   "\"start\": \"replica*kt\""
#define WAIT    "{ \"wait\": \"full\", \"use\": \"ring\" }"
#define COUNT   "{ \"for\": \"k\", \"count\": \"kt\", \"split\": [1]"

static const Row rows[] = {
    { "two by four", WS_VERDICT_PROVED, 60, FALSE, { { NULL } } },
    { "two by sixteen",
      WS_VERDICT_PROVED,
      200,
      FALSE,
      { { "\"BK\": 64, \"STAGES\": 4", "\"BK\": 16, \"STAGES\": 16" } } },
    { "three by twelve", WS_VERDICT_PROVED, 4000, TRUE, { { NULL } } },
    { "two launches names",
      WS_VERDICT_PROVED,
      0,
      FALSE,
      { { ADVANCE, "\"by\": \"cdiv(K, BK)\"" } } },
    /* twins */
    { "a round less", WS_VERDICT_REFUTED, 0, FALSE, { { ADVANCE, "\"by\": \"kt - 1\"" } } },
    { "a round more", WS_VERDICT_REFUTED, 0, FALSE, { { ADVANCE, "\"by\": \"kt + 1\"" } } },
    { "the rounds of two tiles",
      WS_VERDICT_REFUTED,
      0,
      FALSE,
      { { ADVANCE, "\"by\": \"2*kt\"" } } },
    { "of no tile", WS_VERDICT_REFUTED, 0, FALSE, { { ADVANCE, "\"by\": \"0\"" } } },
    { "both begin after the first tile",
      WS_VERDICT_REFUTED,
      0,
      FALSE,
      { { START, "\"start\": \"kt\"" } } },
    { "the second begins a round late",
      WS_VERDICT_REFUTED,
      0,
      FALSE,
      { { START, "\"start\": \"replica*kt + replica\"" } } },
    { "the second begins a lap late",
      WS_VERDICT_REFUTED,
      0,
      FALSE,
      { { START, "\"start\": \"replica*kt + 4*replica\"" } } },
    { "the next use is waited for",
      WS_VERDICT_REFUTED,
      0,
      FALSE,
      { { WAIT, "{ \"wait\": \"full\", "
                "\"use\": \"ring + 1\" }" } } },
    { "rounds of each tile, and the counter adds those of its own",
      WS_VERDICT_REFUTED,
      0,
      FALSE,
      { { "\"let\": { \"kt\": \"cdiv(K, BK)\" },", "" },
        { "\"order\": \"grouped(tm, 8)\"",
          "\"order\": \"grouped(tm, 8)\", \"let\": { \"kt\": \"cdiv(K, BK) + tm % 2\" }" },
        { START, "\"start\": \"replica*cdiv(K, BK)\"" } } },
    { "three, and the counter skips one tile",
      WS_VERDICT_REFUTED,
      0,
      TRUE,
      { { ADVANCE, "\"by\": \"kt\"" } } },
    { "three, and the third begins where the second does",
      WS_VERDICT_REFUTED,
      0,
      TRUE,
      { { START, "\"start\": \"min(replica, 1)*kt\"" } } },
};

static char *text_of(const Row *row)
{
    static const Edit small[] = {
        { "\"BN\": 128, \"BK\": 64, \"STAGES\": 4", "\"BN\": 64, \"BK\": 16, \"STAGES\": 12" },
    };
    static const char file[] = "gemm-pingpong.wstave";
    char *text = edited_text(file, row->three ? three_consumers : NULL);
    text = edited(text, file, small, row->three ? G_N_ELEMENTS(small) : 0);
    return edited(text, file, row->edit, MAX_EDITS);
}

static void verdict_of(gconstpointer data)
{
    const Row *row = data;
    g_autofree char *text = text_of(row);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = right_program(text, row->title, findings);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_autofree char *words = ws_verdict_text(v);
    g_test_message("%s, %u states", words, v->states);
    g_assert_cmpstr(ws_verdict_word(v->kind), ==, ws_verdict_word(row->verdict));
    if (row->most_states)
        g_assert_cmpuint(v->states, <=, row->most_states);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *name = g_strdup_printf("/owed/%s", rows[i].title);
        g_test_add_data_func(name, &rows[i], verdict_of);
    }
    return g_test_run();
}
