/* Quick-fixes: of the designs that the check refutes, how many have a fix that makes them right.
 * The broken variants, the catalogue, and mutants of its right designs (synchronisation
 * dropped, steps doubled and swapped; counts, bytes, uses, depths, rounds off by one). The table is
 * printed; its floors are what was reached, so that a change that loses fixes is seen.
 * `test-mend-fix all` takes every mutant and prints those without a fix. */
#include "../check/design.h"
#include "../oracle/draw/mutate.h"
#include "mend/fix.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <stdio.h>
#include <string.h>

typedef enum { FIXED_SAFE, FIXED_ANY, FIXED_NOT, NOT_REFUTED } Outcome;

typedef struct {
    guint refuted, safe, any;
    GHashTable *rule; /* rule -> Tally* of its own */
} Tally;

/* What `check --fix` makes of it; without a safe fix what a person could choose. Nothing is ever
 * handed out that the check does not prove. */
static Outcome mend(const WsDesign *design, char **rule)
{
    g_autoptr(WsFixState) before = ws_fix_state_new(design, NULL, 0, NULL);
    if (before->errors == 0)
        return NOT_REFUTED;
    for (guint i = 0; !*rule; i++) {
        const WsFinding *f = before->findings->list->pdata[i];
        if (f->severity == WS_SEVERITY_ERROR)
            *rule = g_strdup(ws_rule(f->rule)->text);
    }
    for (gint any = 0; any < 2; any++) {
        const WsFixAsk ask = { .any = any };
        g_autoptr(WsFixState) after = ws_fix_repair(before, &ask, NULL, NULL);
        if (!after)
            continue;
        g_assert_cmpuint(after->errors, ==, 0);
        g_assert_cmpint(after->verdict->kind, ==, WS_VERDICT_PROVED);
        return any ? FIXED_ANY : FIXED_SAFE;
    }
    return FIXED_NOT;
}

static void count(Tally *t, const char *rule, Outcome how)
{
    Tally *of = t->rule ? g_hash_table_lookup(t->rule, rule) : NULL;
    if (t->rule && !of) {
        of = g_new0(Tally, 1);
        g_hash_table_insert(t->rule, g_strdup(rule), of);
    }
    t->refuted++;
    t->safe += how == FIXED_SAFE;
    t->any += how == FIXED_SAFE || how == FIXED_ANY;
    if (of)
        count(of, rule, how);
}

/* A load, an mma, a read or a write that is gone: no fix can know what it was. */
static gboolean lost_data(const char *name)
{
    static const char *const steps[] = { "load", "gather", "mma", "read", "write", "store" };
    const char *at = strstr(name, "dropped: { \"");
    for (guint i = 0; at && i < G_N_ELEMENTS(steps); i++) {
        g_autofree char *word = g_strdup_printf("dropped: { \"%s\"", steps[i]);
        if (g_str_has_prefix(at, word))
            return TRUE;
    }
    return FALSE;
}

static void judge(Tally *t, const char *text, const char *name, gboolean verbose)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), name, findings);
    g_autofree char *rule = NULL;
    if (!design)
        return;
    g_autoptr(WsDesign) without = strstr(name, "dropped") ? without_muted(design, findings) : NULL;
    const Outcome how = mend(without ? without : design, &rule);
    if (how == NOT_REFUTED)
        return;
    count(t, rule, how);
    if (verbose && how == FIXED_NOT)
        printf("# no fix: %s: %s\n", rule, name);
}

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static GPtrArray *files_of(const char *folder, char first)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, "tests/designs", folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    g_assert_nonnull(dir);
    GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; (name = g_dir_read_name(dir)) != NULL;)
        if (g_str_has_suffix(name, ".wstave") && (!first || *name == first))
            g_ptr_array_add(files, g_build_filename(path, name, NULL));
    g_ptr_array_sort(files, by_name);
    return files;
}

/* Which of two roles is wrong, what a step should have computed, what atomics should begin with,
 * and who was to use loaded bytes, stands nowhere in these. */
static gboolean nobody_knows(const char *path)
{
    static const char *const names[] = { "19-expert-of-none", "20-else-reads-what-then-defines",
                                         "38-list-never-cleared",
                                         "39-in-flight-among-those-that-go-on" };
    for (guint i = 0; i < G_N_ELEMENTS(names); i++)
        if (strstr(path, names[i]))
            return TRUE;
    return FALSE;
}

static void judge_files(Tally *t, const char *folder, char first, guint every, gboolean verbose)
{
    g_autoptr(GPtrArray) files = files_of(folder, first);
    guint n = 0;
    for (guint i = 0; i < files->len; i++) {
        g_autofree char *text = NULL;
        g_assert_true(g_file_get_contents(files->pdata[i], &text, NULL, NULL));
        if (every == 0) {
            if (!nobody_knows(files->pdata[i]))
                judge(t, text, files->pdata[i], verbose);
            continue;
        }
        g_autoptr(WsFindings) none = ws_findings_new();
        g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "x", none);
        g_autoptr(WsProgram) program = design ? ws_elaborate(design, NULL, 0, none) : NULL;
        if (!program)
            continue;
        g_autoptr(GPtrArray) mutants = mutants_of(text, design, program);
        for (guint m = 0; m < mutants->len; m++) {
            const Mutant *mutant = mutants->pdata[m];
            g_autofree char *name =
                g_strdup_printf("%s %s", strrchr(files->pdata[i], '/') + 1, mutant->what);
            if (!lost_data(name) && n++ % every == 0)
                judge(t, mutant->text, name, verbose);
        }
    }
}

static void print_row(const char *name, const Tally *t)
{
    printf("# %-12s %7u %7u %7u  %3u %%\n", name, t->refuted, t->safe, t->any,
           t->refuted ? 100 * t->any / t->refuted : 0);
}

static void print_table(const char *title, const Tally *t)
{
    printf("# %s\n# %-12s %7s %7s %7s\n", title, "rule", "refuted", "safe", "any fix");
    g_autoptr(GList) rules = g_list_sort(g_hash_table_get_keys(t->rule), (GCompareFunc)strcmp);
    for (GList *r = rules; r; r = r->next)
        print_row(r->data, g_hash_table_lookup(t->rule, r->data));
    print_row("all", t);
}

static void run(const char *title, const char *folder, char first, guint every, guint percent,
                gboolean verbose)
{
    Tally t = { .rule = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free) };
    judge_files(&t, folder, first, every, verbose);
    print_table(title, &t);
    g_assert_cmpuint(t.refuted, >, 0);
    g_assert_cmpuint(100 * t.any / t.refuted, >=, percent);
    g_hash_table_unref(t.rule);
}

static void broken(void)
{
    run("broken variants of the GEMM", "broken", 0, 0, 100, TRUE);
}

static void catalogue(void)
{
    run("catalogue of faults", "catalogue", 'B', 0, 90, TRUE);
}

static void mutants(void)
{
    run("mutants of right designs (a sample)", "catalogue", 'C', 31, 90, FALSE);
}

/* A fix is one thing: the finding is gone, nothing else is worse, and the rest of the text stands.
 */
static void one_step(void)
{
    g_autofree char *text = edited_text("broken/05-early-release.wstave", NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "x", findings);
    g_autoptr(WsFixState) now = ws_fix_state_new(design, NULL, 0, NULL);
    g_assert_cmpuint(now->errors, >, 0);
    g_autoptr(WsFix) fix = NULL;
    g_autoptr(WsFixState) after =
        ws_fix_best(now, now->findings->list->pdata[0], FALSE, NULL, 0, NULL, &fix);
    g_assert_nonnull(after);
    g_assert_cmpstr(fix->kind, ==, "release-later");
    g_assert_cmpuint(fix->draft->edits->len, ==, 1);
    g_assert_cmpuint(after->errors + after->warnings, ==, 0);
    g_autofree char *a = ws_design_print(design), *b = ws_design_print(after->design);
    g_assert_cmpuint(strlen(a), ==, strlen(b)); /* moved, nothing else */
}

/* Without its `assume` the GEMM fails where there is no round at all: that there is one is offered,
 * never made unasked, and is what the shipped design says. */
static void assumes_a_round(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) shipped =
        ws_design_load(WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave", findings);
    g_autoptr(WsDraft) d = ws_draft_new(shipped);
    g_assert_true(ws_draft_set(d, ws_design_root(shipped)->identity, WS_F_assume, NULL));
    g_autoptr(WsFixState) now = ws_fix_state_new(d->design, NULL, 0, NULL);
    g_assert_cmpuint(now->errors, >, 0);
    g_autofree char *wanted = ws_design_print(shipped);
    guint offered = 0;
    for (guint i = 0; i < now->findings->list->len; i++) {
        const WsFinding *f = now->findings->list->pdata[i];
        g_autoptr(GPtrArray) fixes = ws_fixes_of(now->design, f);
        for (guint k = 0; k < fixes->len; k++) {
            WsFix *fix = fixes->pdata[k];
            if (strcmp(fix->kind, "some-round") != 0)
                continue;
            g_autoptr(WsFixState) after = ws_fix_try(now, f, fix, NULL, 0, NULL);
            g_assert_nonnull(after);
            g_assert_cmpint(after->verdict->kind, ==, WS_VERDICT_PROVED);
            g_autofree char *text = ws_design_print(after->design);
            g_assert_cmpstr(text, ==, wanted);
            g_assert_false(fix->safe);
            offered++;
        }
    }
    g_assert_cmpuint(offered, >, 0);
}

/* Who remembers what was tried gets the same answers for every finding and proposal, by fewer
 * checks. */
static void remembered(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) read =
        ws_design_load(WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave", findings);
    g_autofree char *text = ws_design_print(read);
    const char *wait = "{ \"wait\": \"empty\", \"use\": \"k.total\" },", *at = strstr(text, wait);
    g_assert_nonnull(at);
    g_autofree char *less = g_strdup_printf("%.*s%s", (int)(at - text), text, at + strlen(wait));
    g_autoptr(WsDesign) design = ws_design_parse(less, strlen(less), "less", findings);
    const WsCheckOptions options = { .verdict_only = TRUE };
    g_autoptr(WsFixState) plain = ws_fix_state_new(design, NULL, 0, &options);
    g_autoptr(WsFixState) keeps = ws_fix_state_new(design, NULL, 0, &options);
    guint tried = 0, hold = 0;
    ws_fix_state_remember(keeps);
    for (guint i = 0; i < plain->findings->list->len; i++) {
        const WsFinding *f = plain->findings->list->pdata[i];
        g_autoptr(GPtrArray) list = ws_fixes_of(design, f);
        for (guint k = 0; k < MIN(list->len, WS_FIX_TRIED); k++, tried++) {
            WsFix *fix = list->pdata[k];
            g_autoptr(WsFixState) a = ws_fix_try(plain, f, fix, NULL, 0, &options);
            g_autoptr(WsFixState) b = ws_fix_try(keeps, f, fix, NULL, 0, &options);
            g_assert_true((a == NULL) == (b == NULL));
            hold += a != NULL;
            if (a) {
                g_assert_cmpuint(a->errors, ==, b->errors);
                g_assert_cmpuint(a->warnings, ==, b->warnings);
                g_assert_cmpint(a->verdict->kind, ==, b->verdict->kind);
            }
        }
    }
    g_test_message("%u proposals of %u findings, %u hold, %u checks", tried,
                   plain->findings->list->len, hold, g_hash_table_size(keeps->tried));
    g_assert_cmpuint(hold, >, 0);
    g_assert_cmpuint(g_hash_table_size(keeps->tried), <, tried);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "all") == 0) {
        run("broken variants of the GEMM", "broken", 0, 0, 0, TRUE);
        run("catalogue of faults", "catalogue", 'B', 0, 0, TRUE);
        run("mutants of right designs", "catalogue", 'C', 1, 0, TRUE);
        return 0;
    }
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mend/fix/one", one_step);
    g_test_add_func("/mend/fix/assumes-a-round", assumes_a_round);
    g_test_add_func("/mend/fix/remembered", remembered);
    g_test_add_func("/mend/fix/broken", broken);
    g_test_add_func("/mend/fix/catalogue", catalogue);
    g_test_add_func("/mend/fix/mutants", mutants);
    return g_test_run();
}
