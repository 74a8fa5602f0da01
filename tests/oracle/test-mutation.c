/* Mutation: every small change of every right design (the catalogue's, the shipped ones, the
 * projects') is either refuted, or the oracle finds it right in every interleaving of every small
 * size of the reduced design (the change does no harm). What neither says is a survivor, and there
 * must be none. Where the oracle meets its cap the mutant is named.
 *
 * Arguments: `all` takes every mutant (./dev soak), else a sample; then a part of a design's name.
 */
#include "check/check.h"
#include "draw/mutate.h"
#include "lanes/lanes.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/tiles.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "subjects.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    guint killed, equivalent, refused, survived, capped, outside;
} Tally;

static Tally total;
static gboolean every; /* mutant, else a sample that is quick */
static const char *wanted;

static OracleResult one_case(const Subject *s, const WsProgram *p, gint64 n, gint64 t,
                             gboolean *there)
{
    g_autoptr(WsLaunchValues) v = subject_values(s, p, n, t);
    guint cap = every ? s->cap ? s->cap : 100000 : s->small ? 60000 : 5000;
    OracleOptions options = { .tiles = (guint)t, .cap = cap, .stop = TRUE };
    options.element = subject_element(s, n);
    *there = v != NULL;
    if (!v)
        return (OracleResult){ 0 };
    OracleResult lanes = lanes_run(p, v, &options);
    return lanes.verdict & ORACLE_BAD ? lanes : oracle_run(p, v, &options);
}

static guint oracle_of(const Subject *s, const WsProgram *p, char **text)
{
    guint verdict = 0, seen = 0;
    gint64 full_tiles = G_MAXINT64, full_rounds = 0;
    gboolean tiles = p->tiles->launch != WS_LAUNCH_SINGLE;
    for (gint64 t = 1; t <= (tiles ? s->max_tiles : 1); t++)
        for (gint64 n = 0; n <= s->max_rounds; n++) {
            gboolean there;
            if ((t >= full_tiles && n >= full_rounds) || (s->max_work && t * n > s->max_work))
                continue; /* larger than one that was too large */
            OracleResult r = one_case(s, p, n, t, &there);
            if (!there)
                continue;
            seen++;
            verdict |= r.verdict;
            if (r.verdict == ORACLE_EXHAUSTED)
                full_tiles = t, full_rounds = n;
            if (r.verdict && !*text) {
                g_autofree char *say = oracle_text(&r);
                *text = g_strdup_printf("%d rounds, %d tiles: %s", (int)n, (int)t, say);
            }
            if (r.verdict & ORACLE_BAD)
                return r.verdict;
        }
    if (!seen) { /* the mutant allows none of these sizes */
        *text = g_strdup("no size is allowed");
        return ORACLE_EXHAUSTED;
    }
    return verdict;
}

static void judge(const Subject *s, const Mutant *m, Tally *tally)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(m->text, strlen(m->text), "mutant", findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, s->set, subject_n_set(s), findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) {
        tally->refused++; /* before the check: killed as well */
        return;
    }
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    if (ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) {
        tally->killed++;
        return;
    }
    g_autofree char *say = NULL;
    guint oracle = oracle_of(s, p, &say);
    if (oracle & ORACLE_BAD) {
        tally->survived++;
        g_test_message("SURVIVED (%s) %s\n%s", ws_verdict_word(v->kind), m->what, say);
        g_test_fail();
    } else if (oracle & ORACLE_OUTSIDE) {
        tally->outside++;
        g_test_message("not modelled: %s\n%s", m->what, say);
        g_test_fail();
    } else if (oracle) {
        tally->capped++;
        g_test_message("not exhausted (%s): %s\n%s", ws_verdict_word(v->kind), m->what, say);
    } else {
        tally->equivalent++;
    }
}

static void test_design(gconstpointer data)
{
    const Subject *s = data;
    g_autofree char *text = NULL;
    Tally tally = { 0 };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(s->file, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, s->set, subject_n_set(s), findings) : NULL;
    g_assert_nonnull(p);
    g_assert_true(g_file_get_contents(s->file, &text, NULL, NULL));
    g_autoptr(GPtrArray) mutants = mutants_of(text, d, p);
    guint stride = every ? 1 : s->small ? 11 : 150;
    for (guint i = 0; i < mutants->len; i += stride)
        judge(s, g_ptr_array_index(mutants, i), &tally);
    g_test_message("%u mutants, every %u. taken: %u refuted, %u refused, %u do no harm, %u not "
                   "exhausted, %u not modelled, %u survived",
                   mutants->len, stride, tally.killed, tally.refused, tally.equivalent,
                   tally.capped, tally.outside, tally.survived);
    g_assert_cmpuint(mutants->len, >, 0);
    if (s->small) /* small ones are always exhausted */
        g_assert_cmpuint(tally.capped, ==, 0);
    total.killed += tally.killed + tally.refused;
    total.equivalent += tally.equivalent;
    total.survived += tally.survived;
    total.capped += tally.capped;
    total.outside += tally.outside;
}

static void add(GPtrArray *subjects, const Subject *s, const char *file)
{
    Subject *own = g_new(Subject, 1);
    *own = *s;
    own->file = g_build_filename(WS_SOURCE_ROOT, file, NULL);
    g_ptr_array_add(subjects, own);
    g_autofree char *path = g_strdup_printf("/mutation/%s", file);
    if (!wanted || strstr(file, wanted))
        g_test_add_data_func(path, own, test_design);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    if (argc > 1 && strcmp(argv[1], "all") == 0)
        every = TRUE;
    wanted = argc > 2 ? argv[2] : NULL;
    g_autofree char *folder = g_build_filename(WS_SOURCE_ROOT, "tests/designs/catalogue", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) subjects = g_ptr_array_new();
    const char *name;
    while (dir && (name = g_dir_read_name(dir)))
        if (name[0] == 'C' && g_str_has_suffix(name, ".wstave")) {
            g_autofree char *file = g_build_filename("tests/designs/catalogue", name, NULL);
            add(subjects, &subject_small, file);
        }
    for (guint i = 0; i < subject_n_shipped(); i++)
        if (every ||
            !g_str_has_prefix(subject_shipped[i].file, "projects/")) /* as large, and like these */
            add(subjects, &subject_shipped[i], subject_shipped[i].file);
    int failed = g_test_run();
    g_test_message("all: %u refuted or refused, %u do no harm, %u not exhausted, %u not modelled, "
                   "%u survived",
                   total.killed, total.equivalent, total.capped, total.outside, total.survived);
    for (guint i = 0; i < subjects->len; i++) {
        Subject *s = g_ptr_array_index(subjects, i);
        g_free((char *)s->file);
        g_free(s);
    }
    return failed || total.survived > 0;
}
