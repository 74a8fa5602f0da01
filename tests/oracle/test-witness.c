/* Witnesses against the oracle: every wrong design of the catalogue is refuted, its witness is
 * followed by the oracle move by move with the same phases, pending arrivals, bytes and named
 * barriers at every position, it ends where the oracle says that something is wrong, and no case
 * with fewer tiles and rounds goes wrong at all. */
#include "check/witness/witness.h"
#include "follow.h"
#include "model/design.h"

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
    const char *file = data;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(file, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR)) {
        g_test_skip("refused before the check");
        return;
    }
    g_autoptr(WsVerdict) verdict = ws_check(p, NULL, findings);
    const WsFinding *first = NULL;
    for (guint i = 0; i < findings->list->len && !first; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (f->severity == WS_SEVERITY_ERROR && ws_rule(f->rule)->klass == WS_CLASS_P)
            first = f;
    }
    if (!first) {
        g_test_skip("no error of class P");
        return;
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(WsWitness) w = ws_witness_new(p, first, &error);
    g_assert_no_error(error);
    g_autofree char *text = ws_witness_text(w, TRUE);
    g_test_message("%s", text);
    g_assert_true(w->confirmed);
    g_assert_cmpint(w->rule, ==, first->rule);
    g_autoptr(WsWitness) again = ws_witness_new(p, first, NULL);
    g_autofree char *same = ws_witness_text(again, TRUE);
    g_assert_cmpstr(same, ==, text);
    const char *studio = ws_node_text(ws_design_root(d), WS_F_studio);
    if (strstr(studio, "\"oracle\"") || (*w->sizes && !g_str_has_prefix(w->sizes, "N = ")))
        return; /* not in the oracle's reach; rounds that differ from tile to tile */
    g_autoptr(WsLaunchValues) v = values(p, rounds_of(w), w->tiles);
    if (!v)
        return g_test_fail();
    /* Lanes that are not in step: the oracle of agents knows nothing of them, lanes.h does. */
    OracleOptions options = { .tiles = w->tiles, .cap = 200000, .stop = TRUE };
    OracleResult whole = oracle_run(p, v, &options);
    if (!whole.verdict)
        return g_test_skip("beyond the oracle of agents");
    g_autofree char *differs = follow(w, first);
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
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(data, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR))
        return g_test_skip("refused before the check");
    const WsCheckOptions options = { .protocol_only = TRUE };
    g_autoptr(WsVerdict) verdict = ws_check(p, &options, findings);
    const WsFinding *first = NULL;
    for (guint i = 0; i < findings->list->len && !first; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (f->severity == WS_SEVERITY_ERROR && ws_rule(f->rule)->klass == WS_CLASS_P)
            first = f;
    }
    if (verdict->kind != WS_VERDICT_REFUTED || !first)
        return g_test_skip("not refuted");
    g_autoptr(GError) error = NULL;
    g_autoptr(WsWitness) w = ws_witness_new(p, first, &error);
    if (!w) {
        g_assert_null(first->agent); /* it stands in the text */
        return g_test_skip(error->message);
    }
    g_autofree char *text = ws_witness_text(w, TRUE);
    g_test_message("%s", text);
    g_assert_true(w->confirmed == (w->why == NULL));
    g_autofree char *differs = follow(w, first);
    /* LANGUAGE section 13 asks for the same layout where the lanes of a warp have met */
    if (differs && strstr(data, "cols-of-a-tile-shifted"))
        return g_test_skip("stricter than what happens");
    if (differs) {
        g_test_message("%s", differs);
        g_test_fail();
    }
}

static GPtrArray *designs_in(const char *folder, char first)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, "tests/designs", folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; dir && (name = g_dir_read_name(dir)) != NULL;)
        if ((!first || *name == first) && g_str_has_suffix(name, ".wstave"))
            g_ptr_array_add(files, g_build_filename(path, name, NULL));
    return files;
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    static const char *const folders[] = { "broken", "memory", "once-proved" };
    g_autoptr(GPtrArray) files = designs_in("catalogue", 'B');
    g_autoptr(GPtrArray) others = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
    for (guint k = 0; k < G_N_ELEMENTS(folders); k++) {
        GPtrArray *list = designs_in(folders[k], 0);
        g_ptr_array_add(others, list);
        for (guint i = 0; i < list->len; i++) {
            g_autofree char *base = g_path_get_basename(list->pdata[i]);
            g_autofree char *path = g_strdup_printf("/run/%s/%s", folders[k], base);
            g_test_add_data_func(path, list->pdata[i], test_run);
        }
    }
    for (guint i = 0; i < files->len; i++) {
        g_autofree char *base = g_path_get_basename(files->pdata[i]);
        g_autofree char *path = g_strdup_printf("/witness/%s", base);
        g_test_add_data_func(path, files->pdata[i], test_design);
    }
    return files->len >= 50 ? g_test_run() : 1;
}
