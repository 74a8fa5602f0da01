/* Witnesses against the oracle: every wrong design of the catalogue is refuted, its witness is
 * followed by the oracle move by move with the same phases, pending arrivals, bytes and named
 * barriers at every position, it ends where the oracle says that something is wrong, and no case
 * with fewer tiles and rounds goes wrong at all. */
#include "check/witness/witness.h"
#include "follow.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "refuted.h"

#include <string.h>

static WsLaunchValues *values(const WsProgram *p, gint64 n, guint t)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsSize size[2];
    guint n_size = 0;
    if (ws_program_find_var(p, "N") >= 0)
        size[n_size++] = (WsSize){ "N", n };
    if (ws_program_find_var(p, "T") >= 0)
        size[n_size++] = (WsSize){ "T", t };
    return ws_launch_values(p, size, n_size, FALSE, findings);
}

/* The N that a witness says; it is the design's own where it says none. */
static gint64 rounds_of(const WsWitness *w)
{
    gint var = ws_program_find_var(w->program, "N");
    if (g_str_has_prefix(w->sizes, "N = "))
        return g_ascii_strtoll(w->sizes + 4, NULL, 10);
    return var >= 0 ? w->program->var[var].rehearse : 0;
}

/* Nothing with fewer tiles and rounds goes wrong in any interleaving. */
static void minimal(const WsWitness *w)
{
    gboolean tiles = ws_program_find_var(w->program, "T") >= 0;
    const gboolean rounds = w->rounds >= 0; /* else they decide nothing: fewer are no smaller */
    gint64 own = w->tiles + (rounds ? w->tiles * rounds_of(w) : 0);
    for (guint t = 1; t <= (tiles ? 3 : 1u); t++)
        for (gint64 n = rounds ? 0 : rounds_of(w); t + (rounds ? t * n : 0) < own; n++) {
            g_autoptr(WsLaunchValues) v = values(w->program, n, t);
            OracleOptions options = { .tiles = t, .cap = 200000, .stop = TRUE };
            if (!v)
                continue;
            OracleResult r = oracle_run(w->program, v, &options);
            if (!r.verdict)
                continue;
            g_autofree char *say = oracle_text(&r);
            g_test_message("goes wrong with %d rounds, %u tiles already: %s", (int)n, t, say);
            g_test_fail();
        }
}

static void test_design(gconstpointer data)
{
    const Refuted *r = data;
    const WsProgram *p = r->program;
    const WsFinding *first = r->first;
    g_autoptr(GError) error = NULL;
    g_autoptr(WsWitness) w = ws_witness_new(r->program, first, &error);
    g_assert_no_error(error);
    g_autofree char *text = ws_witness_text(w, TRUE);
    g_test_message("%s", text);
    g_assert_true(w->confirmed);
    g_assert_cmpint(w->rule, ==, first->rule);
    g_autoptr(WsWitness) again = ws_witness_new(r->program, first, NULL);
    g_autofree char *same = ws_witness_text(again, TRUE);
    g_assert_cmpstr(same, ==, text);
    const char *studio = ws_node_text(ws_design_root(r->design), WS_F_studio);
    if (strstr(studio, "\"oracle\"") || (*w->sizes && !g_str_has_prefix(w->sizes, "N = ")))
        return; /* not in the oracle's reach; rounds that differ from tile to tile */
    g_autoptr(WsLaunchValues) v = values(p, rounds_of(w), w->tiles);
    if (!v)
        return g_test_fail();
    g_autofree char *differs = follow(w);
    if (differs) {
        g_test_message("%s", differs);
        g_test_fail();
    }
    minimal(w);
}

/* Of designs of every kind: the moves are possible, with the same states, and at the end, or in the
 * lanes at those sizes, something is wrong. What no order of agents shows says so. */
static void test_run(gconstpointer data)
{
    const Refuted *r = data;
    const WsFinding *first = r->first;
    g_autoptr(GError) error = NULL;
    g_autoptr(WsWitness) w = ws_witness_new(r->program, first, &error);
    if (!w) { /* no run of its own shows what stands in the text for all of them */
        g_test_message("%s", error->message);
        g_assert_null(first->agent);
        return;
    }
    g_autofree char *text = ws_witness_text(w, TRUE);
    g_test_message("%s", text);
    g_assert_true(w->confirmed == (w->why == NULL));
    g_autofree char *differs = follow(w);
    /* LANGUAGE section 13 asks for the same layout where the lanes of a warp have met */
    const gboolean stricter = strstr(r->file, "cols-of-a-tile-shifted") != NULL;
    if (differs && !stricter) {
        g_test_message("%s", differs);
        g_test_fail();
    }
}

enum { LEAST_OTHERS = 20, LEAST_CATALOGUE = 50 };

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    static const char *const folders[] = { "broken", "memory", "once-proved" };
    const WsCheckOptions protocol = { .protocol_only = TRUE };
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(refuted_free);
    for (guint k = 0; k < G_N_ELEMENTS(folders); k++) {
        g_autofree char *prefix = g_strdup_printf("/run/%s", folders[k]);
        refuted_add(all, folders[k], 0, &protocol, NULL, prefix, test_run);
    }
    const guint others = all->len;
    refuted_add(all, "catalogue", 'B', NULL, NULL, "/witness", test_design);
    return others >= LEAST_OTHERS && all->len - others >= LEAST_CATALOGUE ? g_test_run() : 1;
}
