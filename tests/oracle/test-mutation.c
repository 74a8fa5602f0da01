/* Mutation: every small change of every right design of the catalogue is either refuted by the
 * check, or the oracle finds it right in every interleaving of every small size (the change does no
 * harm). What neither says is a survivor, and there must be none. */
#include "check/check.h"
#include "model/design.h"
#include "mutate.h"
#include "oracle.h"

#include <string.h>

typedef struct {
    guint killed, equivalent, unreadable, survived, capped, not_modelled;
} Tally;

static Tally total;

static guint oracle_of(const WsProgram *p, char **text)
{
    guint verdict = 0;
    gboolean tiles = ws_program_find_var(p, "T") >= 0;
    for (guint t = 1; t <= (tiles ? 2u : 1u); t++)
        for (gint64 n = 0; n <= 5; n++) {
            g_autoptr(WsFindings) findings = ws_findings_new();
            WsSize size[2] = { { "N", n }, { "T", t } };
            g_autoptr(WsLaunchValues) v = ws_launch_values(p, size, tiles ? 2 : 1, FALSE, findings);
            OracleOptions options = { .tiles = t, .cap = 100000, .stop = TRUE };
            if (!v)
                continue;
            OracleResult r = oracle_run(p, v, &options);
            verdict |= r.verdict;
            if (r.verdict) {
                g_autofree char *say = oracle_text(&r);
                *text = g_strdup_printf("N = %d, %u tiles: %s", (int)n, t, say);
                return verdict;
            }
        }
    return verdict;
}

static void judge(const Mutant *m, Tally *tally)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(m->text, strlen(m->text), "mutant", findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) {
        tally->unreadable++; /* refused before the check: killed as well */
        return;
    }
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    if (ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) {
        tally->killed++;
        return;
    }
    g_autofree char *say = NULL;
    guint oracle = oracle_of(p, &say);
    if (oracle & ORACLE_OUTSIDE) {
        tally->not_modelled++;
    } else if (oracle == ORACLE_EXHAUSTED) {
        tally->capped++;
    } else if (oracle == 0) {
        tally->equivalent++;
    } else {
        tally->survived++;
        g_test_message("SURVIVED %s\n%s", m->what, say);
        g_test_fail();
    }
}

static void test_design(gconstpointer data)
{
    g_autofree char *text = NULL;
    Tally tally = { 0 };
    g_assert_true(g_file_get_contents(data, &text, NULL, NULL));
    g_autoptr(GPtrArray) mutants = mutants_of(text);
    for (guint i = 0; i < mutants->len; i++)
        judge(g_ptr_array_index(mutants, i), &tally);
    g_test_message("%u mutants: %u refuted, %u refused, %u do no harm, %u not exhausted, %u not "
                   "modelled, %u survived",
                   mutants->len, tally.killed, tally.unreadable, tally.equivalent, tally.capped,
                   tally.not_modelled, tally.survived);
    g_assert_cmpuint(mutants->len, >, 0);
    total.killed += tally.killed + tally.unreadable;
    total.equivalent += tally.equivalent;
    total.survived += tally.survived;
    total.capped += tally.capped;
    total.not_modelled += tally.not_modelled;
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    g_autofree char *folder = g_build_filename(WS_SOURCE_ROOT, "tests/designs/catalogue", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)))
        if (name[0] == 'C' && g_str_has_suffix(name, ".wstave"))
            g_ptr_array_add(files, g_build_filename(folder, name, NULL));
    for (guint i = 0; i < files->len; i++) {
        const char *file = g_ptr_array_index(files, i);
        g_autofree char *base = g_path_get_basename(file);
        g_autofree char *path = g_strdup_printf("/mutation/%02u/%s", i, base);
        g_test_add_data_func(path, file, test_design);
    }
    int failed = g_test_run();
    g_test_message("all: %u refuted or refused, %u do no harm, %u not exhausted, %u not modelled, "
                   "%u survived",
                   total.killed, total.equivalent, total.capped, total.not_modelled,
                   total.survived);
    return failed || total.survived > 0 || total.killed < total.equivalent;
}
