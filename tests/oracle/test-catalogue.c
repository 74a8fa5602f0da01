/* The catalogue: small designs, each a text file with one idea, in tests/designs/catalogue (Bnn
 * wrong, Cnn right). Its `studio` field says what must come out: "verdict" right or refuted, "rule"
 * the rules of which one must be reported, "round" the round, "oracle" where the oracle has no
 * answer. Check and oracle are held against it, and so against each other. */
#include "check/check.h"
#include "lanes/lanes.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

/* The text of a member of a flat JSON object; NULL if it has none. */
static char *member(const char *json, const char *key)
{
    g_autofree char *quoted = g_strdup_printf("\"%s\"", key);
    const char *at = json ? strstr(json, quoted) : NULL;
    if (!at)
        return NULL;
    const char *from = strchr(at + strlen(quoted), '"');
    const char *to = from ? strchr(from + 1, '"') : NULL;
    return to ? g_strndup(from + 1, (gsize)(to - from - 1)) : NULL;
}

typedef struct {
    gint64 n, element, step; /* rounds; elements of integer tensors, how much more odd ones are */
    guint tiles;
} Case;

static guint oracle_case(const WsProgram *p, const Case *c, char **text)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsSize size[2] = { { "N", c->n }, { "T", c->tiles } };
    gboolean tiles = ws_program_find_var(p, "T") >= 0;
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, size, tiles ? 2 : 1, FALSE, findings);
    OracleOptions options = { .tiles = c->tiles, .cap = 300000, .stop = TRUE };
    options.element = c->element;
    options.element_step = c->step;
    if (!v || (c->tiles > 1 && !tiles))
        return 0;
    OracleResult r = lanes_run(p, v, &options);
    if (!(r.verdict & ORACLE_BAD) && c->element == 0 && c->step == 0)
        r = oracle_run(p, v, &options);
    if (r.verdict && !*text) {
        g_autofree char *say = oracle_text(&r);
        *text = g_strdup_printf("N = %d, %u tiles: %s", (int)c->n, c->tiles, say);
    }
    return r.verdict;
}

static guint oracle_of(const WsProgram *p, char **text)
{
    static const gint64 element[] = { 0, 1, 0, 1 }, step[] = { 0, 0, 1, -1 };
    guint verdict = 0;
    for (guint e = 0; e < G_N_ELEMENTS(element); e++)
        for (guint t = 1; t <= 3; t++)
            for (gint64 n = 0; n <= 6 && !(verdict & ORACLE_BAD); n++) {
                Case c = { .n = n, .element = element[e], .step = step[e], .tiles = t };
                verdict |= oracle_case(p, &c, text);
            }
    return verdict;
}

static void test_design(gconstpointer data)
{
    const char *file = data;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(file, findings);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    const char *studio = strstr(text, "\"studio\""); /* some are not even read as a design */
    g_autofree char *verdict = member(studio, "verdict"), *rules = member(studio, "rule"),
                    *round = member(studio, "round"), *modelled = member(studio, "oracle"),
                    *warns = member(studio, "warns");
    g_assert_nonnull(verdict);
    gboolean refuted = strcmp(verdict, "refuted") == 0, found = FALSE, at_round = !round,
             warned = !warns;
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (p && ws_findings_count(findings, WS_SEVERITY_ERROR) == 0) {
        g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
        g_assert_nonnull(v);
    }
    g_auto(GStrv) rule = g_strsplit(rules ? rules : "", " ", -1);
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(findings->list, i);
        gboolean named = g_strv_contains((const char *const *)rule, ws_rule(f->rule)->text);
        found = found || named;
        warned = warned || strcmp(ws_rule(f->rule)->text, warns) == 0;
        at_round = at_round || (named && f->round && strstr(f->round, round));
    }
    g_autofree char *all = ws_findings_print(findings, file), *say = NULL;
    guint oracle = p && !modelled ? oracle_of(p, &say) : 0;
    g_test_message("want %s %s %s\noracle: %s\n%s", verdict, rules ? rules : "", round ? round : "",
                   modelled ? modelled
                   : say    ? say
                            : "right",
                   all);
    int code = ws_findings_exit_code(findings, FALSE); /* 2: not even read */
    g_assert_true(refuted ? code == 1 || code == 2 : code == 0);
    g_assert_true(found == refuted);
    g_assert_true(warned);
    g_assert_true(!refuted || at_round);
    if (p && !modelled) {
        g_assert_cmpuint(oracle & (ORACLE_OUTSIDE | ORACLE_EXHAUSTED), ==, 0);
        g_assert_true(((oracle & ORACLE_BAD) != 0) == refuted);
    }
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
        if (g_str_has_suffix(name, ".wstave"))
            g_ptr_array_add(files, g_build_filename(folder, name, NULL));
    for (guint i = 0; i < files->len; i++) {
        const char *file = g_ptr_array_index(files, i);
        g_autofree char *base = g_path_get_basename(file), *path = NULL;
        path = g_strdup_printf("/catalogue/%s", base);
        g_test_add_data_func(path, file, test_design);
    }
    g_test_message("%u designs", files->len);
    return files->len >= 70 ? g_test_run() : 1;
}
