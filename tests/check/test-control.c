/* Control that a proof must not simplify: names below zero, counts of indices, counters that come
 * back to where they are compared, several loops over tiles, names asked about twice. Two agents
 * meet again and again (SYNC); where one of them meets once more than the other the design hangs.
 * Those that hang are refuted, or outside where no sizes are found that show it; never proved. */
#include "control.h"
#include "model/findings.h"

static void verdict_of(gconstpointer data)
{
    const Row *row = data;
    g_autofree char *text = design_of(row);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = right_program(text, "control", findings);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_autofree char *words = ws_verdict_text(v);
    g_test_message("%s", words);
    g_assert_cmpstr(ws_verdict_word(v->kind), ==, ws_verdict_word(row->verdict));
    if (v->kind == WS_VERDICT_OUTSIDE)
        g_assert_nonnull(v->reason);
}

/* Four slots for tiles, two of which are ever full: in tile 5 the slot of tile 4 is taken. Nothing
 * races; the number in it is an old one. */
static void an_old_tile(void)
{
    static const Edit edit[MAX_EDITS] = {
        { "\"name\": \"next\", \"dtype\": \"i32\", \"tile\": [1], \"stages\": 2",
          "\"name\": \"next\", \"dtype\": \"i32\", \"tile\": [1], \"stages\": 4" },
        { "\"take\": \"tiles\", \"from\": \"next\", \"use\": \"tile\"",
          "\"take\": \"tiles\", \"from\": \"next\", \"use\": \"tile - (tile == 5)\"" },
    };
    for (guint n = 0; n < 2; n++) { /* four slots are right */
        const Edit some[MAX_EDITS] = { edit[0], n ? edit[1] : (Edit){ NULL, NULL } };
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p =
            edited_program("moves/gemm-dynamic.wstave", some, NULL, 0, findings);
        g_assert_nonnull(p);
        g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
        g_autofree char *words = ws_verdict_text(v);
        g_test_message("%s", words);
        g_assert_cmpint(v->kind, ==, n ? WS_VERDICT_REFUTED : WS_VERDICT_PROVED);
    }
}

/* Groups of no tiles where N < 100. */
static void grouped_by_nothing(void)
{
    static const char *const order[] = { "grouped(tm, N/100)", "grouped(tm, max(1, N/100))" };
    for (guint n = 0; n < 2; n++) {
        const Edit edit[MAX_EDITS] = { { "grouped(tm, 8)", order[n] } };
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = edited_program("gemm-pingpong.wstave", edit, NULL, 0, findings);
        g_assert_nonnull(p);
        g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
        g_assert_cmpint(v->kind, ==, n ? WS_VERDICT_PROVED : WS_VERDICT_OUTSIDE);
        g_assert_true(n || strstr(v->reason, "grouped"));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *name = g_strdup_printf("/control/%s", rows[i].title);
        g_test_add_data_func(name, &rows[i], verdict_of);
    }
    g_test_add_func("/control/an old tile", an_old_tile);
    g_test_add_func("/control/grouped by nothing", grouped_by_nothing);
    return g_test_run();
}
