/* The tables say each fact once and do not contradict each other. */
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "target/target.h"

#include <string.h>

static void test_steps(void)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, "LANGUAGE.md", NULL), *language = NULL;
    g_assert_true(g_file_get_contents(path, &language, NULL, NULL));
    for (WsNodeKind k = 0; k < WS_NODE_KIND_COUNT; k++) {
        g_assert_cmpstr(ws_node_kind_help(k), !=, "");
        if (!ws_node_kind_is_step(k)) {
            g_assert_null(ws_step_info(k));
            continue;
        }
        g_assert_cmpint(ws_step_find(ws_node_kind_keyword(k)), ==, k);
        g_autofree char *word = g_strdup_printf("`%s`", ws_node_kind_keyword(k));
        if (!strstr(language, word))
            g_error("LANGUAGE.md says nothing of the step %s", word);
        const WsStepInfo *info = ws_step_info(k);
        gboolean somewhere = FALSE;
        for (guint i = 0; ws_target_at(i); i++)
            somewhere = somewhere || ws_target_has_step(ws_target_at(i), ws_node_kind_keyword(k));
        g_assert_true(somewhere);
        const char *const lists[] = { info->reads, info->writes };
        for (guint i = 0; i < G_N_ELEMENTS(lists); i++) {
            g_auto(GStrv) names = g_strsplit(lists[i], " ", -1);
            for (guint j = 0; names[j] != NULL && *names[j] != '\0'; j++) {
                gboolean known = FALSE;
                guint n;
                const WsFieldRow *rows = ws_node_rows(k, &n);
                for (guint f = 0; f < n; f++)
                    known = known || strcmp(ws_field_name(rows[f].field), names[j]) == 0;
                g_assert_true(known);
            }
        }
    }
    g_assert_cmpint(ws_step_find("frob"), ==, WS_NODE_KIND_COUNT);
}

/* Targets: the words of `target` are the rows in their order, every step and queue of a row is a
 * step of the language, and a lens either knows a target or says what is missing. */
static void test_targets(void)
{
    g_auto(GStrv) word = g_strsplit(WS_TARGET_NAMES, " ", -1);
    for (guint i = 0; i < g_strv_length(word); i++)
        g_assert_cmpstr(word[i], ==, ws_target_at(i) ? ws_target_at(i)->name : NULL);
    g_assert_null(ws_target_at(g_strv_length(word)));
    g_assert_null(ws_target_find("sm_80"));
    g_assert_null(ws_target_find(NULL));
    for (guint i = 0; ws_target_at(i); i++) {
        const WsTarget *t = ws_target_at(i);
        g_assert_true(ws_target_find(t->name) == t);
        g_auto(GStrv) step = g_strsplit(t->steps, " ", -1);
        for (guint k = 0; step[k]; k++)
            g_assert_cmpint(ws_step_find(step[k]), !=, WS_NODE_KIND_COUNT);
        for (guint q = 0; q < t->n_queues; q++) {
            g_auto(GStrv) start = g_strsplit(t->queue[q].steps, " ", -1);
            for (guint k = 0; start[k]; k++)
                g_assert_true(ws_target_has_step(t, start[k]));
            const char *wait = t->queue[q].wait;
            g_assert_true((wait == NULL) == (t->queue[q].end == WS_ENDS_AT_BARRIER));
            g_assert_true(!wait ||
                          (ws_target_has_step(t, wait) && ws_target_waited(t, wait)->most > 0));
        }
        for (guint l = 0; l < WS_LENS_COUNT; l++) {
            g_autofree char *refusal = ws_target_refusal(t->name, (WsLens)l);
            /* sm_90a is whole; gfx950 has a program, its check, its clock, its code and its Gluon,
             * ascend a program, its check, its clock, its rehearsal and its TLE-DSA */
            const gboolean known =
                i == 0 ||
                (t == &ws_target_gfx950 &&
                 (l == WS_LENS_ELABORATE || l == WS_LENS_CHECK || l == WS_LENS_SIMULATE ||
                  l == WS_LENS_GENERATE || l == WS_LENS_BUNDLE || l == WS_LENS_REHEARSE ||
                  l == WS_LENS_GLUON)) ||
                (t->core && (l == WS_LENS_ELABORATE || l == WS_LENS_CHECK ||
                             l == WS_LENS_SIMULATE || l == WS_LENS_REHEARSE || l == WS_LENS_TLE));
            g_assert_true((refusal == NULL) == known);
            g_assert_true(!refusal ||
                          (strstr(refusal, t->name) && strstr(refusal, ws_lens_name((WsLens)l))));
        }
    }
    g_autofree char *nobody = ws_target_refusal("sm_80", WS_LENS_CHECK);
    g_assert_nonnull(strstr(nobody, "no such target"));
}

static void test_target_words(void)
{
    const WsTarget *t = &ws_target_sm_90a;
    g_assert_true(ws_target_has_step(t, "mma_wait") && !ws_target_has_step(t, "stage"));
    g_assert_false(ws_target_has_step(t, "") || ws_target_has_step(t, "mm") ||
                   ws_target_has_step(t, "wai"));
    g_assert_true(ws_target_has_step(&ws_target_gfx950, "stage"));
    g_assert_false(ws_target_has_step(&ws_target_sm_100a, "mma_wait"));
    g_assert_true(ws_target_has_cluster(t, 8) && !ws_target_has_cluster(t, 3) &&
                  !ws_target_has_cluster(t, 0) && !ws_target_has_cluster(&ws_target_gfx950, 2));
    g_assert_true(ws_target_has_product(t, "e4m3", "e5m2", "f16"));
    g_assert_true(ws_target_has_product(t, "u8", "i8", "i32"));
    g_assert_false(ws_target_has_product(t, "bf16", "f16", "f32"));
    g_assert_false(ws_target_has_product(t, "bf16", "bf16", "f16"));
    g_assert_false(ws_target_has_product(t, "f32", "f32", "f32"));
    g_assert_true(ws_target_has_product(&ws_target_gfx950, "bf16", "bf16", "f32"));
    g_assert_true(ws_target_has_product(&ws_target_gfx950, "e4m3", "e5m2", "f32"));
    g_assert_false(ws_target_has_product(&ws_target_gfx950, "e4m3", "f16", "f32"));
    g_assert_cmpuint(ws_target_product_k(&ws_target_gfx950, "bf16", 2, 32), ==, 16);
    g_assert_cmpuint(ws_target_product_k(&ws_target_gfx950, "e5m2", 1, 16), ==, 128);
}

/* No step has a field whose key is a step keyword: keywords tell steps apart. */
static void test_keys(void)
{
    for (WsNodeKind k = 0; k < WS_NODE_KIND_COUNT; k++) {
        guint n;
        const WsFieldRow *rows = ws_node_rows(k, &n);
        g_assert_cmpuint(n, >, 0);
        for (guint i = 0; i < n; i++) {
            g_assert_true(ws_node_row(k, rows[i].field) == &rows[i]);
            g_assert_nonnull(ws_field_kind_help(rows[i].kind));
            g_assert_cmpstr(rows[i].help, !=, "");
            const char *key = ws_node_key(k, rows[i].field);
            if (ws_node_kind_is_step(k) && rows[i].field != WS_F_keyword)
                g_assert_cmpint(ws_step_find(key), ==, WS_NODE_KIND_COUNT);
            for (guint j = 0; j < i; j++)
                g_assert_cmpstr(ws_node_key(k, rows[j].field), !=, key);
            /* what is required has no default */
            g_assert_false(rows[i].required && rows[i].fallback != NULL);
        }
    }
}

/* Words for element types are those of the program's table. */
static void test_dtypes(void)
{
    GString *words = g_string_new(NULL);
#define WS_DTYPE(id, text, bytes, real) g_string_append_printf(words, "%s ", text);
#include "program/dtype.def"
#undef WS_DTYPE
    g_auto(GStrv) want = g_strsplit(words->str, " ", -1);
    const char *got = ws_node_row(WS_NODE_BUFFER, WS_F_dtype)->words;
    g_auto(GStrv) have = g_strsplit(got, " ", -1);
    for (guint i = 0; have[i] != NULL; i++)
        g_assert_true(g_strv_contains((const gchar *const *)want, have[i]));
    g_assert_cmpuint(g_strv_length(have), ==, g_strv_length(want) - 1);
    g_string_free(words, TRUE);
}

static void test_rules(void)
{
    for (WsRuleId i = 0; i < WS_RULE_COUNT; i++) {
        const WsRule *rule = ws_rule(i);
        g_assert_cmpint(ws_rule_find(rule->text), ==, i); /* unique */
        g_assert_cmpint(rule->text[0], ==, "VSNTLBPGFR"[rule->klass]);
        g_assert_cmpuint(strlen(rule->title), >, 3);
        g_assert_cmpuint(strlen(rule->explain), >, 20);
        g_assert_cmpuint(strlen(rule->fix), >, 3);
    }
    g_assert_cmpint(ws_rule_find("s-key"), ==, WS_RULE_S_KEY);
    g_assert_cmpint(ws_rule_find("S-KE"), ==, WS_RULE_COUNT);
}

static void test_names(void)
{
    static const char *const good[] = { "a", "_", "A9_z", "total", "load", "rows", "t", "sum" };
    for (guint i = 0; i < G_N_ELEMENTS(good); i++)
        g_assert_true(ws_name_is_identifier(good[i]) && !ws_name_is_reserved(good[i]));
    static const char *const bad[] = { "", "9a", "a-b", "a b", "é", "a." };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++)
        g_assert_false(ws_name_is_identifier(bad[i]));
    static const char *const reserved[] = { "replica", "tiles", "cdiv",   "exp2", "bf16",
                                            "f16",     "ln2",   "select", "tanh", "i32" };
    for (guint i = 0; i < G_N_ELEMENTS(reserved); i++)
        g_assert_true(ws_name_is_reserved(reserved[i]));
    g_autofree char *longest = g_strnfill(63, 'x'), *longer = g_strnfill(64, 'x');
    g_assert_true(ws_name_is_identifier(longest));
    g_assert_false(ws_name_is_identifier(longer));
}

/* Exit codes: the lowest class wins, warnings count only when strict. */
static void test_exit_codes(void)
{
    g_autoptr(WsFindings) f = ws_findings_new();
    g_assert_cmpint(ws_findings_exit_code(f, TRUE), ==, 0);
    WsFinding *w = ws_findings_add(f, WS_RULE_P_DEADLOCK, "a", "x %d", 1);
    w->severity = WS_SEVERITY_WARNING;
    g_assert_cmpint(ws_findings_exit_code(f, FALSE), ==, 0);
    g_assert_cmpint(ws_findings_exit_code(f, TRUE), ==, 1);
    ws_findings_add(f, WS_RULE_P_DEADLOCK, "a", "x");
    g_assert_cmpint(ws_findings_exit_code(f, FALSE), ==, 1);
    ws_findings_add(f, WS_RULE_S_KEY, "a", "x");
    g_assert_cmpint(ws_findings_exit_code(f, FALSE), ==, 2);
    g_assert_cmpuint(ws_findings_count(f, WS_SEVERITY_ERROR), ==, 2);
    g_assert_cmpuint(ws_findings_count(f, WS_SEVERITY_HINT), ==, 3);
}

/* LANGUAGE.md names every step and every key of objects and steps. */
static void test_reference(void)
{
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(WS_SOURCE_ROOT "/LANGUAGE.md", &text, NULL, NULL));
    for (WsNodeKind k = 0; k < WS_NODE_KIND_COUNT; k++) {
        guint n;
        const WsFieldRow *rows = ws_node_rows(k, &n);
        if (ws_node_kind_is_step(k)) {
            g_autofree char *step = g_strdup_printf("`%s`", ws_node_kind_keyword(k));
            if (!strstr(text, step))
                g_error("LANGUAGE.md: no step %s", step);
        }
        for (guint i = 0; i < n; i++) {
            g_autofree char *plain = g_strdup_printf("`%s`", ws_node_key(k, rows[i].field));
            g_autofree char *quoted = g_strdup_printf("\"%s\"", ws_node_key(k, rows[i].field));
            if (!strstr(text, plain) && !strstr(text, quoted))
                g_error("LANGUAGE.md: no key %s of %s", plain, ws_node_kind_keyword(k));
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/model/table/steps", test_steps);
    g_test_add_func("/model/table/targets", test_targets);
    g_test_add_func("/model/table/target-words", test_target_words);
    g_test_add_func("/model/table/keys", test_keys);
    g_test_add_func("/model/table/dtypes", test_dtypes);
    g_test_add_func("/model/table/rules", test_rules);
    g_test_add_func("/model/table/names", test_names);
    g_test_add_func("/model/table/exit-codes", test_exit_codes);
    g_test_add_func("/model/table/reference", test_reference);
    return g_test_run();
}
