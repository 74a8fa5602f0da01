/* One or two faults at random, planted in the JSON of right designs: the shipped ones and those of
 * the catalogue. What the check then proves or passes must be right for all lanes at every size
 * that is tried, and what it refutes goes wrong in the launch that it names. (test-mutation takes
 * every small change once; these go further from the design.)
 *
 * Arguments: first seed, number of mutants, folder for what disagrees. Without them a fixed sample.
 */
#include "check/check.h"
#include "claim.h"
#include "draw/fault.h"
#include "lanes/lanes.h"
#include "model/design.h"
#include "program/elaborate.h"
#include "program/parts/tiles.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "subjects.h"
#include "watch.h"

#include <stdlib.h>
#include <string.h>

static guint first_seed = 1, n_mutants = 60;
static const char *folder;

typedef struct {
    char *file, *text;
    const Subject *subject;
} Source;

static GArray *sources; /* Source */

typedef struct {
    guint refused, refuted, outside, right, not_modelled, wrong, shown, lies, internal;
} Tally;

static void add_source(const Subject *s, const char *file)
{
    Source x = { .subject = s };
    x.file = g_build_filename(WS_SOURCE_ROOT, file, NULL);
    g_assert_true(g_file_get_contents(x.file, &x.text, NULL, NULL));
    g_array_append_val(sources, x);
}

static int by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(((const Source *)a)->file, ((const Source *)b)->file);
}

static void add_sources(void)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, "tests/designs/catalogue", NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    sources = g_array_new(FALSE, FALSE, sizeof(Source));
    while (dir && (name = g_dir_read_name(dir)))
        if (name[0] == 'C' && g_str_has_suffix(name, ".wstave")) {
            g_autofree char *file = g_build_filename("tests/designs/catalogue", name, NULL);
            add_source(&subject_small, file);
        }
    g_array_sort(sources, by_name);
    for (guint i = 0; i < subject_n_shipped(); i++)
        add_source(&subject_shipped[i], subject_shipped[i].file);
}

/* The first size at which some lane goes wrong; NULL: none. */
static char *wrong(const Subject *s, const WsProgram *p, gboolean *modelled)
{
    gboolean tiles = p->tiles->launch != WS_LAUNCH_SINGLE;
    g_autoptr(LanesAlike) alike = lanes_alike_new(p);
    *modelled = TRUE;
    for (gint64 t = 1; t <= (tiles ? 2 : 1); t++)
        for (gint64 n = 0; n <= 6; n++) {
            g_autoptr(WsLaunchValues) v = subject_values(s, p, n, t);
            OracleOptions options = { .tiles = (guint)t, .stop = TRUE, .alike = alike };
            options.element = subject_element(s, n);
            if (!v || (t == 2 && n != 1 && n != 3))
                continue;
            OracleResult r = lanes_run(p, v, &options);
            *modelled = *modelled && !(r.verdict & ORACLE_OUTSIDE);
            if (r.verdict & ORACLE_BAD) {
                g_autofree char *say = oracle_text(&r);
                return g_strdup_printf("%d rounds, %d tiles: %s", (int)n, (int)t, say);
            }
        }
    return NULL;
}

static void tell(const Source *x, guint seed, const char *text, const char *say, const char *what)
{
    g_test_message("seed %u, %s: %s\nfaults:%s", seed, x->file, say, what);
    if (folder) {
        g_autofree char *file = g_strdup_printf("%s/fault-%u.wstave", folder, seed);
        g_file_set_contents(file, text, -1, NULL);
    } else {
        g_test_fail();
    }
}

static void judge(const Source *x, guint seed, const char *text, const char *what, Tally *t)
{
    const Subject *s = x->subject;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), "fault", findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, s->set, subject_n_set(s), findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) {
        t->refused++;
        return;
    }
    const WsCheckOptions options = { .verdict_only = TRUE };
    g_autoptr(WsVerdict) v = ws_check(p, &options, findings);
    if (ws_findings_count(findings, WS_SEVERITY_ERROR) > 0 || v->kind == WS_VERDICT_OUTSIDE) {
        g_autofree char *claim = NULL;
        *(v->kind == WS_VERDICT_OUTSIDE ? &t->outside : &t->refuted) += 1;
        const ClaimKind kind =
            v->kind == WS_VERDICT_REFUTED ? claim_judge_first(p, findings, &claim) : CLAIM_UNKNOWN;
        t->shown += kind == CLAIM_HOLDS;
        if (kind == CLAIM_WRONG) {
            t->lies++;
            tell(x, seed, text, claim, what);
        }
        return;
    }
    gboolean modelled;
    g_autofree char *say = wrong(s, p, &modelled);
    if (!say) {
        *(modelled ? &t->right : &t->not_modelled) += 1;
        return;
    }
    t->wrong++;
    g_autofree char *but = g_strdup_printf("%s, but %s", ws_verdict_word(v->kind), say);
    tell(x, seed, text, but, what);
}

static void one(guint seed, Tally *t)
{
    GRand *rand = g_rand_new_with_seed(seed);
    const Source *x =
        &g_array_index(sources, Source, g_rand_int_range(rand, 0, (gint)sources->len));
    g_autofree char *text = g_strdup(x->text);
    GString *faults = g_string_new(NULL);
    for (guint want = g_rand_boolean(rand) ? 1 : 2; want > 0;) {
        g_autofree char *what = NULL;
        char *changed = fault(text, rand, &what);
        if (!changed)
            continue;
        g_free(text);
        text = changed;
        g_string_append_printf(faults, "\n  %s", what);
        want--;
    }
    judge(x, seed, text, faults->str, t);
    g_autofree char *message = watch_take();
    if (message) { /* the program is not what elaboration says it is */
        t->internal++;
        g_test_message("seed %u, %s: internal: %s\nfaults:%s", seed, x->file, message, faults->str);
        if (!folder)
            g_test_fail();
    }
    g_string_free(faults, TRUE);
    g_rand_free(rand);
}

static void test_faults(void)
{
    Tally t = { 0 };
    gint64 begin = g_get_monotonic_time();
    for (guint i = 0; i < n_mutants; i++)
        one(first_seed + i, &t);
    double seconds = (double)(g_get_monotonic_time() - begin) / 1e6;
    g_test_message(
        "all: %u mutants of %u designs from seed %u, %.0f s (%.1f a second): %u refuted (%u by a "
        "launch that goes wrong), %u refused, %u outside, %u do no harm, %u not modelled, %u wrong "
        "though not refuted, %u refuted by a launch that is right, %u internal messages",
        n_mutants, sources->len, first_seed, seconds, n_mutants / seconds, t.refuted, t.shown,
        t.refused, t.outside, t.right, t.not_modelled, t.wrong, t.lies, t.internal);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    watch_begin();
    if (argc > 1)
        first_seed = (guint)atoi(argv[1]);
    if (argc > 2)
        n_mutants = (guint)atoi(argv[2]);
    if (argc > 3)
        folder = argv[3];
    add_sources();
    g_test_add_func("/oracle/faults", test_faults);
    int failed = g_test_run();
    for (guint i = 0; i < sources->len; i++) {
        g_free(g_array_index(sources, Source, i).file);
        g_free(g_array_index(sources, Source, i).text);
    }
    g_array_free(sources, TRUE);
    return failed;
}
