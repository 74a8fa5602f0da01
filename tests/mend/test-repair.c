/* What the check says of a design with one known mistake, and what it makes of it. Right designs
 * get one mistake each (tests/oracle/draw/mutate.h), so the truth is known: which step was changed,
 * and that the design as it was is the repair. Per kind of mistake: how many designs are refuted,
 * how many have a first finding that names the changed step or its barrier, how many a remedy that
 * belongs to the mistake, how many `check --fix` (safe fixes only) ends proved, and how many are
 * then the original again. A sample is judged here; `test-mend-repair all` takes every mutant
 * (`./dev soak`), `test-mend-repair all N` every Nth, and prints what was missed. */
#include "../check/design.h"
#include "../check/words.h"
#include "../oracle/draw/mutate.h"
#include "check/witness/witness.h"
#include "mend/fix.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <stdio.h>
#include <stdlib.h>

/* --- kinds of mistakes ------------------------------------------------------------------------ */
/* `how`, `step`: parts of what mutate.h says. `words`: one of them must stand in the remedy. */
typedef struct {
    const char *kind, *how, *step, *words[6];
} Kind;

static const Kind kinds[] = {
    { "wait left out", ": left out: ", "{ \"wait\"", { "wait for", "waits for" } },
    { "arrive left out", ": left out: ", "{ \"arrive\"", { "arrive", "arrival", "release" } },
    { "expect left out", ": left out: ", "{ \"expect\"", { "expect" } },
    { "fence left out", ": left out: ", "{ \"fence\"", { "fence" } },
    { "mma_wait left out", ": left out: ", "{ \"mma_wait\"", { "mma_wait" } },
    { "store_wait left out", ": left out: ", "{ \"store_wait\"", { "store_wait" } },
    { "load_wait left out", ": left out: ", "{ \"load_wait\"", { "load_wait", "load group" } },
    { "sync left out", ": left out: ", "{ \"sync\"", { "sync", "meet" } },
    { "cluster left out", ": left out: ", "{ \"cluster\"", { "cluster" } },
    { "doubled",
      ": doubled: ",
      NULL,
      { "twice", "too many", "second", "remove", "once", "order" } },
    { "moved",
      ": after its successor: ",
      NULL,
      { "before", "after", "after", "order", "between" } },
    { "moved",
      ": to the head of its list: ",
      NULL,
      { "before", "after", "after", "order", "between" } },
    { "moved",
      ": to the end of its list: ",
      NULL,
      { "before", "after", "after", "order", "between" } },
    { "parity", ": parity flipped: ", NULL, { "parity", "phase", "`use`" } },
    { "use", ": use one ", NULL, { "use" } },
    { "use", ": \"use\":", NULL, { "use", ".total" } },
    { "when", ": \"when\":", NULL, { "round", "when", "`when`" } },
    { "groups left",
      ": one group more may be left: ",
      NULL,
      { "mma_wait", "store_wait", "load_wait" } },
    { "count", ": counts 2: ", NULL, { "count", "arrive once", "arrivals" } },
    { "count", ": count: ", NULL, { "count", "arrivals" } },
    { "init", ": \"pending\" for ", NULL, { "ready", "begin" } },
    { "init", ": ready: ", NULL, { "ready", "begin" } },
    { "bytes", ": 16 bytes ", NULL, { "bytes" } },
    { "depth", ": one more: ", "{ \"name\"", { "slots", "stages" } },
    { "depth", ": one fewer: ", "{ \"name\"", { "slots", "stages" } },
    { "rounds", ": one more: ", "\"for\"", { "rounds" } },
    { "rounds", ": one fewer: ", "\"for\"", { "rounds" } },
};

/* Steps whose loss no check can know: what was loaded, computed, stored. */
static gboolean is_data(const char *step)
{
    static const char *const data[] = { "load",  "gather",  "mma",  "read",      "write", "store",
                                        "claim", "compute", "copy", "transpose", "let",   "take" };
    for (guint i = 0; i < G_N_ELEMENTS(data); i++) {
        g_autofree char *word = g_strdup_printf("{ \"%s\"", data[i]);
        if (g_str_has_prefix(step, word))
            return TRUE;
    }
    return FALSE;
}

static const Kind *kind_of(const char *what)
{
    const char *at = strstr(what, ": ");
    const char *step = at ? strstr(at + 2, ": { ") : NULL;
    step = step ? step + 2 : "";
    if ((strstr(what, ": left out: ") || strstr(what, ": doubled: ")) && is_data(step))
        return NULL;
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (strstr(what, kinds[i].how) && (!kinds[i].step || strstr(what, kinds[i].step)))
            return &kinds[i];
    return NULL;
}

typedef struct {
    guint refuted, run, place, remedy, proved, same, offered, same_offered, written;
    double seconds, longest;
} Tally;

/* --- one mutant ------------------------------------------------------------------------------- */
/* What the changed line is about: the name of its barrier, or its keyword. */
static char *subject_of(const char *what)
{
    const char *brace = strchr(what, '{');
    if (!brace)
        return g_strdup("");
    g_auto(GStrv) part = g_strsplit(brace, "\"", 0);
    const guint n = g_strv_length(part);
    if (n > 3 && strcmp(part[1], "name") == 0)
        return g_strdup(part[3]);
    static const char *const named[] = { "wait", "arrive", "expect", "sync" };
    for (guint i = 0; n > 3 && i < G_N_ELEMENTS(named); i++)
        if (strcmp(part[1], named[i]) == 0 && strcmp(part[3], "group") != 0)
            return g_strndup(part[3], strcspn(part[3], "[ "));
    return n > 1 ? g_strdup(part[1]) : g_strdup("");
}

static char *said_by(const WsFinding *f)
{
    g_autofree char *story = ws_finding_story(f, "", 0);
    return g_strdup_printf("%s\n%s\n%s\n%s", f->message, story, f->remedy ? f->remedy : "",
                           f->barrier ? f->barrier : "");
}

static const WsFinding *first_error(const WsFindings *f)
{
    for (guint i = 0; i < f->list->len; i++)
        if (((WsFinding *)f->list->pdata[i])->severity == WS_SEVERITY_ERROR)
            return f->list->pdata[i];
    return NULL;
}

/* A run that ends at what is wrong, with the semantics of the hardware; what is wrong before there
 * is a program has none. */
static gboolean has_run(const WsDesign *design, const WsFindings *said)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) ||
        ws_rule(first_error(said)->rule)->klass != WS_CLASS_P)
        return TRUE;
    g_autoptr(WsWitness) w = ws_witness_of(p, said, NULL);
    for (guint i = 0; w && i < w->n_moves; i++)
        g_assert_null(strstr(w->move[i].words, "completion -"));
    return w && w->confirmed;
}

/* What a person asks for is one offer; warnings stay as they are. */
static gboolean is_error(const WsFinding *f, gpointer data)
{
    (void)data;
    return f->severity == WS_SEVERITY_ERROR;
}

typedef struct {
    Tally of[G_N_ELEMENTS(kinds)], all;
    gboolean verbose;
    const char *folder; /* repairs that are not the original go there; NULL: nowhere */
} Table;

static void count(Table *t, guint kind, const Tally *one)
{
    Tally *to[] = { &t->of[kind], &t->all };
    for (guint i = 0; i < 2; i++) {
        to[i]->refuted += one->refuted;
        to[i]->run += one->run;
        to[i]->place += one->place;
        to[i]->remedy += one->remedy;
        to[i]->proved += one->proved;
        to[i]->same += one->same;
        to[i]->written += one->written;
        to[i]->offered += one->offered;
        to[i]->same_offered += one->same_offered;
        to[i]->seconds += one->seconds;
        to[i]->longest = MAX(to[i]->longest, one->seconds);
    }
}

static void judge(Table *t, const char *file, const char *original, const Mutant *mutant)
{
    const Kind *kind = kind_of(mutant->what);
    if (!kind)
        return;
    g_autoptr(WsFindings) none = ws_findings_new();
    g_autoptr(WsDesign) parsed = ws_design_parse(mutant->text, strlen(mutant->text), file, none);
    if (!parsed)
        return;
    g_autoptr(WsDesign) without =
        strstr(mutant->what, ": left out: ") ? without_muted(parsed, none) : NULL;
    const WsDesign *design = without ? without : parsed;
    g_autoptr(WsFixState) before = ws_fix_state_new(design, NULL, 0, NULL);
    const WsFinding *first = first_error(before->findings);
    if (!first)
        return;
    Tally one = { .refuted = 1 };
    g_autofree char *said = said_by(first), *subject = subject_of(mutant->what);
    g_assert_null(strstr(said, "completion -"));
    one.run = has_run(design, before->findings);
    one.place = has_word(said, subject);
    for (guint i = 0; first->remedy && i < G_N_ELEMENTS(kind->words) && kind->words[i]; i++)
        one.remedy |= strstr(first->remedy, kind->words[i]) != NULL;
    g_autoptr(GPtrArray) steps = g_ptr_array_new_with_free_func(g_free);
    const gint64 start = g_get_monotonic_time();
    const WsFixAsk ask = { 0 };
    g_autoptr(GPtrArray) offers = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(WsFixState) after = ws_fix_repair(before, &ask, steps, offers);
    one.seconds = (double)(g_get_monotonic_time() - start) * 1e-6;
    g_autofree char *text = ws_design_print(after ? after->design : before->design);
    one.written = after != NULL;
    one.proved =
        after && after->errors == 0 && after->verdict && after->verdict->kind == WS_VERDICT_PROVED;
    one.same = after && strcmp(text, original) == 0;
    one.offered = offers->len > 0;
    if (t->folder && one.proved && !one.same) {
        g_autofree char *base = g_path_get_basename(file),
                        *name = g_strndup(base, strcspn(base, ".")),
                        *out = g_strdup_printf("%s/%04u-%s.proved.wstave", t->folder,
                                               t->all.refuted, name);
        g_assert_true(g_file_set_contents(out, text, -1, NULL));
    }
    if (!after && offers->len > 0) { /* asked for, is it the original? */
        const WsFixAsk all = { .any = TRUE, .wanted = is_error };
        g_autoptr(WsFixState) chosen = ws_fix_repair(before, &all, NULL, NULL);
        g_autofree char *then = chosen ? ws_design_print(chosen->design) : NULL;
        one.same_offered = then && strcmp(then, original) == 0;
    }
    if (t->verbose && (!one.same || !one.place || !one.remedy || !one.run)) {
        printf("# [%s%s%s%s] %s %s\n#     said: %s at %s: %s\n", one.run ? "" : "run ",
               one.place ? "" : "place ", one.remedy ? "" : "remedy ",
               !one.proved ? (one.written ? "stays wrong" : "no fix")
               : one.same  ? ""
                           : "other",
               file, mutant->what, ws_rule(first->rule)->text, first->at, first->message);
        if (!one.remedy)
            printf("#     remedy: %s\n", first->remedy);
        for (guint i = 0; !one.same && i < steps->len; i++)
            printf("#     did: %s\n", (char *)steps->pdata[i]);
        for (guint i = 0; i < offers->len; i++)
            printf("#     offers: %s\n", (char *)offers->pdata[i]);
    }
    count(t, (guint)(kind - kinds), &one);
}

/* --- designs ---------------------------------------------------------------------------------- */
static void judge_mutants(Table *t, const char *file, guint every, guint *n)
{
    g_autofree char *text = edited_text(file, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), file, findings);
    g_assert_nonnull(design);
    g_autofree char *canonical = ws_design_print(design);
    g_autoptr(WsDesign) again = ws_design_parse(canonical, strlen(canonical), file, findings);
    g_autoptr(WsProgram) program = ws_elaborate(again, NULL, 0, findings);
    g_assert_nonnull(program);
    g_autoptr(GPtrArray) mutants = mutants_of(canonical, again, program);
    for (guint m = 0; m < mutants->len; m++)
        if ((*n)++ % every == 0)
            judge(t, file, canonical, mutants->pdata[m]);
}

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Right designs: those of the catalogue, and GEMMs and attention as they are shipped. */
static GPtrArray *right_designs(void)
{
    static const char *const shipped[] = { "gemm-cooperative.wstave",   "gemm-aliased.wstave",
                                           "gemm-pingpong.wstave",      "gemm-cluster.wstave",
                                           "gemm-pipe.wstave",          "attention-fa3-full.wstave",
                                           "consan/gemm-correct.wstave" };
    GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) dir = g_dir_open(WS_SOURCE_ROOT "/tests/designs/catalogue", 0, NULL);
    g_assert_nonnull(dir);
    for (const char *name; (name = g_dir_read_name(dir)) != NULL;)
        if (name[0] == 'C' && g_str_has_suffix(name, ".wstave"))
            g_ptr_array_add(files, g_strconcat("catalogue/", name, NULL));
    g_ptr_array_sort(files, by_name);
    for (guint i = 0; i < G_N_ELEMENTS(shipped); i++)
        g_ptr_array_add(files, g_strdup(shipped[i]));
    return files;
}

static void print_row(const char *name, const Tally *t)
{
    printf("# %-20s %7u %7u %7u %7u %7u %7u %7u %7u %7u %9.0f %9.0f\n", name, t->refuted, t->run,
           t->place, t->remedy, t->proved, t->same, t->offered, t->same_offered,
           t->written - t->proved, t->refuted ? t->seconds / t->refuted * 1e3 : 0,
           t->longest * 1e3);
}

static void print_table(const Table *t)
{
    printf("# %-20s %7s %7s %7s %7s %7s %7s %7s %7s %7s %9s %9s\n", "mistake", "refuted", "run",
           "place", "remedy", "proved", "same", "offered", "same", "worse", "ms", "most ms");
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (i > 0 && strcmp(kinds[i].kind, kinds[i - 1].kind) == 0)
            continue;
        Table sum = { 0 };
        for (guint k = i; k < G_N_ELEMENTS(kinds); k++)
            if (strcmp(kinds[k].kind, kinds[i].kind) == 0) {
                count(&sum, 0, &t->of[k]);
                sum.all.longest = MAX(sum.all.longest, t->of[k].longest);
            }
        Tally row = sum.all;
        row.longest = 0;
        for (guint k = i; k < G_N_ELEMENTS(kinds); k++)
            if (strcmp(kinds[k].kind, kinds[i].kind) == 0)
                row.longest = MAX(row.longest, t->of[k].longest);
        if (row.refuted)
            print_row(kinds[i].kind, &row);
    }
    print_row("all", &t->all);
}

static void run(Table *t, guint every, const char *only)
{
    g_autoptr(GPtrArray) files = right_designs();
    guint n = 0;
    for (guint i = 0; i < files->len; i++)
        if (!only || strstr(files->pdata[i], only))
            judge_mutants(t, files->pdata[i], every, &n);
    print_table(t);
}

static void sample(void)
{
    Table t = { .verbose = FALSE };
    run(&t, 61, NULL);
    g_assert_cmpuint(t.all.refuted, >, 20);
    g_assert_cmpuint(t.all.written, ==, t.all.proved); /* nothing wrong is written */
    g_assert_cmpuint(100 * (t.all.proved + t.all.offered), >=, 95 * t.all.refuted);
    g_assert_cmpuint(100 * (t.all.same + t.all.same_offered), >=, 80 * t.all.refuted);
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "all") == 0) {
        Table t = { .verbose = TRUE, .folder = argc > 4 ? argv[4] : NULL };
        setvbuf(stdout, NULL, _IOLBF, 0);
        run(&t, argc > 2 ? MAX(1, (guint)atoi(argv[2])) : 1, argc > 3 ? argv[3] : NULL);
        return 0;
    }
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mend/repair/sample", sample);
    return g_test_run();
}
