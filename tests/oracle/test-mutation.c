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

/* A design and the sizes it is tried with: rounds of K and a number of tiles. */
typedef struct {
    const char *file;
    WsSetting set;              /* smaller rings for the oracle; name NULL: none */
    const char *rounds, *tiles; /* sizes that count rounds and tiles, NULL: none */
    gint64 per_round, per_tile; /* of these sizes */
    gint64 max_rounds, max_tiles;
    WsSize fixed[2];
} Subject;

static const Subject shipped[] = {
    { "gemm-cooperative.wstave", { "STAGES", 2 }, "K", "M", 64, 128, 4, 2, { { "N", 256 } } },
    { "gemm-aliased.wstave", { "STAGES", 4 }, "K", "M", 64, 128, 4, 2, { { "N", 256 } } },
    { "gemm-pingpong.wstave", { "STAGES", 2 }, "K", "M", 64, 128, 3, 3, { { "N", 128 } } },
    { "gemm-cluster.wstave", { "STAGES", 2 }, "K", "M", 64, 256, 3, 1, { { "N", 256 } } },
};

static guint oracle_of(const Subject *s, const WsProgram *p, char **text)
{
    guint verdict = 0;
    gboolean tiles = s->tiles && ws_program_find_var(p, s->tiles) >= 0;
    for (gint64 t = 1; t <= (tiles ? s->max_tiles : 1); t++)
        for (gint64 n = 0; n <= s->max_rounds; n++) {
            g_autoptr(WsFindings) findings = ws_findings_new();
            WsSize size[4] = { { s->rounds, n * s->per_round } };
            guint n_size = 1;
            if (tiles)
                size[n_size++] = (WsSize){ s->tiles, t * s->per_tile };
            for (guint i = 0; i < G_N_ELEMENTS(s->fixed) && s->fixed[i].name; i++)
                size[n_size++] = s->fixed[i];
            g_autoptr(WsLaunchValues) v = ws_launch_values(p, size, n_size, FALSE, findings);
            OracleOptions options = { .tiles = (guint)t, .cap = 100000, .stop = TRUE };
            if (!v)
                continue;
            OracleResult r = oracle_run(p, v, &options);
            verdict |= r.verdict;
            if (r.verdict & ~(guint)ORACLE_EXHAUSTED) {
                g_autofree char *say = oracle_text(&r);
                *text = g_strdup_printf("%d rounds, %d tiles: %s", (int)n, (int)t, say);
                return verdict;
            }
        }
    return verdict;
}

static void judge(const Subject *s, const Mutant *m, Tally *tally)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(m->text, strlen(m->text), "mutant", findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, &s->set, s->set.name ? 1 : 0, findings) : NULL;
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
    guint oracle = oracle_of(s, p, &say);
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
    const Subject *s = data;
    g_autofree char *text = NULL;
    Tally tally = { 0 };
    g_assert_true(g_file_get_contents(s->file, &text, NULL, NULL));
    g_autoptr(GPtrArray) mutants = mutants_of(text);
    for (guint i = 0; i < mutants->len; i++)
        judge(s, g_ptr_array_index(mutants, i), &tally);
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

static void add(GPtrArray *subjects, const Subject *s, const char *folder, const char *name)
{
    Subject *own = g_new(Subject, 1);
    *own = *s;
    own->file = g_build_filename(WS_SOURCE_ROOT, folder, name, NULL);
    g_ptr_array_add(subjects, own);
    g_autofree char *path = g_strdup_printf("/mutation/%s", name);
    g_test_add_data_func(path, own, test_design);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    g_autofree char *folder = g_build_filename(WS_SOURCE_ROOT, "tests/designs/catalogue", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) subjects = g_ptr_array_new();
    static const Subject small = {
        .rounds = "N", .tiles = "T", .per_round = 1, .per_tile = 1, .max_rounds = 5, .max_tiles = 2
    };
    const char *name;
    while (dir && (name = g_dir_read_name(dir)))
        if (name[0] == 'C' && g_str_has_suffix(name, ".wstave"))
            add(subjects, &small, "tests/designs/catalogue", name);
    for (guint i = 0; i < G_N_ELEMENTS(shipped); i++)
        add(subjects, &shipped[i], "tests/designs", shipped[i].file);
    int failed = g_test_run();
    g_test_message("all: %u refuted or refused, %u do no harm, %u not exhausted, %u not modelled, "
                   "%u survived",
                   total.killed, total.equivalent, total.capped, total.not_modelled,
                   total.survived);
    for (guint i = 0; i < subjects->len; i++) {
        Subject *s = g_ptr_array_index(subjects, i);
        g_free((char *)s->file);
        g_free(s);
    }
    return failed || total.survived > 0 || total.killed < total.equivalent;
}
