/* Designs whose truth was worked out on paper: those of tests/designs/memory and attack say it in
 * their note ("Expected: refuted P-RACE."), those of once-proved and broken are wrong, one class
 * each. The oracle must find the same without help. Further ones, called *.refuted.wstave, lie in
 * the folder that WARPSTAVE_PROOF_CASES names, or in ../shared/cases/proof beside the sources;
 * where neither is there they are skipped by name. */
#include "lanes/lanes.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

/* Sizes of a rehearsal (`times` 0), or those of the design so many times. */
static WsLaunchValues *values(const WsProgram *p, gint64 times)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsSize size[16];
    guint n = 0;
    for (guint i = 0; i < p->n_vars && n < G_N_ELEMENTS(size); i++)
        if (p->var[i].kind == WS_VAR_SIZE)
            size[n++] = (WsSize){ p->var[i].name, p->var[i].preset * times };
    return ws_launch_values(p, size, times ? n : 0, times == 0, findings);
}

static char *found(const WsProgram *p, gboolean far)
{
    static const gint64 element[] = { -1, 0, 1, 30, 60 }, times[] = { 0, 1, 4, 40 };
    static const guint tiles[] = { 1, 2, 7 };
    guint n = G_N_ELEMENTS(element) * G_N_ELEMENTS(tiles);
    for (guint i = 0; i < n * (far ? G_N_ELEMENTS(times) : 2); i++) {
        OracleOptions options = { .tiles = tiles[i % G_N_ELEMENTS(tiles)],
                                  .stop = TRUE,
                                  .element =
                                      element[i / G_N_ELEMENTS(tiles) % G_N_ELEMENTS(element)] };
        g_autoptr(WsLaunchValues) v = values(p, times[i / n]);
        if (!v || (times[i / n] > 1 && options.tiles > 1))
            continue;
        OracleResult r = lanes_run(p, v, &options);
        if (r.verdict & ORACLE_BAD) {
            g_autofree char *say = oracle_text(&r), *sizes = ws_launch_sizes_text(v);
            return g_strdup_printf("%s, %u tiles, elements %d: %s", sizes, options.tiles,
                                   (int)options.element, say);
        }
    }
    return NULL;
}

typedef struct {
    char *file;
    gboolean wrong, untold; /* "Expected: outside" tells what the check says, not what is true */
} Truth;

static void test_design(gconstpointer data)
{
    const Truth *t = data;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(t->file, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) {
        g_autofree char *all = ws_findings_print(findings, t->file);
        g_test_message("refused by elaboration: %s", all);
        g_assert_true(t->wrong);
        return;
    }
    g_autofree char *say = found(p, t->wrong);
    g_test_message("%s", say ? say : "right");
    g_assert_true(t->untold || (say != NULL) == t->wrong);
}

static GPtrArray *truths;

/* Right, because the lanes of a warp that exchange bytes meet: no proof of it may close, for it
 * took them for the same lanes. */
static const char *const right[] = { "cols-of-a-tile-shifted.wstave" };

/* Wrong, but not in what is tried here: tiles of all CTAs together, elements that differ. */
static const char *const beyond[] = { "heads-by-rest-and-quotient.wstave",
                                      "last-tile-shifted-back.wstave",
                                      "cluster-pairs-shifted.wstave" };

/* Is it wrong? "Expected: " in the note, else `wrong`. */
static Truth *truth_new(char *file, gboolean wrong)
{
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    const char *at = wrong ? NULL : strstr(text, "Expected: ");
    Truth *t = g_new0(Truth, 1);
    t->file = file;
    t->wrong = at ? g_str_has_prefix(at, "Expected: refuted") : wrong;
    t->untold = at && g_str_has_prefix(at, "Expected: outside");
    return t;
}

static void add_folder(const char *folder, const char *suffix, gboolean wrong)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    if (!dir)
        g_print("# skipped: no broken designs in %s\n", folder);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        if (!g_str_has_suffix(name, suffix))
            continue;
        g_autofree char *base = g_path_get_basename(folder);
        g_autofree char *path = g_strdup_printf("/truth/%s/%s", base, name);
        Truth *t = truth_new(g_build_filename(folder, name, NULL), wrong);
        for (guint i = 0; i < G_N_ELEMENTS(right); i++)
            t->wrong = t->wrong && strcmp(name, right[i]) != 0;
        for (guint i = 0; i < G_N_ELEMENTS(beyond); i++)
            t->untold = t->untold || strcmp(name, beyond[i]) == 0;
        g_ptr_array_add(truths, t);
        g_test_add_data_func(path, t, test_design);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    truths = g_ptr_array_new();
    static const char *const own[] = { "memory", "attack", "once-proved", "broken" };
    for (guint i = 0; i < G_N_ELEMENTS(own); i++) {
        g_autofree char *folder = g_build_filename(WS_SOURCE_ROOT, "tests/designs", own[i], NULL);
        add_folder(folder, ".wstave", i > 1);
    }
    const char *given = g_getenv("WARPSTAVE_PROOF_CASES");
    g_autofree char *cases =
        given ? g_strdup(given)
              : g_build_filename(WS_SOURCE_ROOT, "..", "shared", "cases", "proof", NULL);
    add_folder(cases, ".refuted.wstave", TRUE);
    if (given) /* repairs (tests/soak.sh) */
        add_folder(cases, ".proved.wstave", FALSE);
    int failed = g_test_run();
    for (guint i = 0; i < truths->len; i++) {
        Truth *t = g_ptr_array_index(truths, i);
        g_free(t->file);
        g_free(t);
    }
    g_ptr_array_free(truths, TRUE);
    return failed;
}
