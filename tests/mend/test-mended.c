/* Every design of tests/designs that is refuted: what is said first, what shows it, what `check
 * --fix` makes of it. Asserted of each: a fix that is saved is proved and takes no drawn order
 * away, no text speaks of a completion before the first, and the finding has a remedy. Printed: how
 * many have a witness that the semantics of the hardware confirm, how many end proved, and how many
 * of the known bugs of real kernels become what their authors made of them. `test-mend-mended
 * report [PART OF NAME]` prints all of it, `steps` only what was done. */
#include "../check/design.h"
#include "../oracle/draw/mutate.h"
#include "../whole.h"
#include "check/witness/witness.h"
#include "kept.h"
#include "mend/fix.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "repairs.h"

#include <stdio.h>

static const char *const folders[] = { "broken", "catalogue",   "memory",
                                       "global", "once-proved", "waits" };

typedef struct {
    guint refuted, dumb, refused, shown, silent, budget, proved, offered, nothing, removed;
    gboolean verbose;
    const char *only;
} Count;

/* --- known bugs of real kernels, and what their authors made of them -------------------------- */
typedef struct {
    const char *file;
    Edit edit[MAX_EDITS];
} Author;

#include "../check/words.h"
#include "authors.h"

static gint author_of(const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(authors); i++)
        if (strcmp(authors[i].file, name) == 0)
            return (gint)i;
    return -1;
}

/* What a design does, step by step: a count that is drawn and one that is derived are the same.
 * Caller frees. */
static char *program_text(const WsDesign *design)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    GString *s = g_string_new(NULL);
    if (!p)
        return g_string_free(s, FALSE);
    for (guint i = 0; i < p->n_barriers; i++) {
        const WsBarrier *b = &p->barrier[i];
        g_string_append_printf(s, "%s %d %u %u", b->name, b->kind, b->slots, b->array);
        for (guint k = 0; b->arrivals && k < MAX(b->array, 1); k++)
            g_string_append_printf(s, " %u", b->arrivals[k]);
        g_string_append_c(s, '\n');
    }
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        g_autofree char *use = op->use ? ws_expr_print(op->use) : NULL;
        g_string_append_printf(s, "%d %d %d %s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT, op->agent,
                               op->kind, op->barrier, use ? use : "", op->count, op->per);
        for (const WsTree *t = op->tree; t; t = t->parent) {
            g_autofree char *when = t->cond ? ws_expr_print(t->cond) : NULL,
                            *count = t->count ? ws_expr_print(t->count) : NULL;
            g_string_append_printf(s, " %d %s %s", t->kind, when ? when : "", count ? count : "");
        }
        g_string_append_c(s, '\n');
    }
    return g_string_free(s, FALSE);
}

/* --- one design ------------------------------------------------------------------------------- */
static const WsFinding *first_error(const WsFindings *f)
{
    for (guint i = 0; i < f->list->len; i++)
        if (((WsFinding *)f->list->pdata[i])->severity == WS_SEVERITY_ERROR)
            return f->list->pdata[i];
    return NULL;
}

/* "confirmed", "refused" (no program), or why there is none. Caller frees. */
static char *shown(const WsDesign *design, const WsFindings *said)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR))
        return g_strdup("refused");
    const WsClass klass = ws_rule(first_error(said)->rule)->klass;
    if ((klass != WS_CLASS_P && klass != WS_CLASS_G) ||
        (klass == WS_CLASS_P && !first_error(said)->agent))
        return g_strdup("static");
    g_autoptr(GError) error = NULL;
    g_autoptr(WsWitness) w = ws_witness_of(p, said, &error);
    if (!w)
        return g_strdup_printf("NONE: %s", error->message);
    g_autofree char *text = ws_witness_text(w, FALSE);
    g_assert_null(strstr(text, "completion -"));
    g_assert_true(w->confirmed || w->why);
    return w->confirmed ? g_strdup_printf("confirmed, %u moves", w->n_moves)
                        : g_strdup_printf("NOT CONFIRMED: %s", w->ending);
}

static void say(const char *name, const WsFixState *before, const char *how, const char *run,
                const GPtrArray *steps, const GPtrArray *offers)
{
    const WsFinding *f = first_error(before->findings);
    g_autofree char *story = ws_finding_story(f, "#        ", 0);
    printf("# %s: %u errors; fix: %s; run: %s\n#    %s at %s: %s\n%s\n#    remedy: %s\n", name,
           before->errors, how, run, ws_rule(f->rule)->text, f->at, f->message, story,
           f->remedy ? f->remedy : "NONE");
    for (guint i = 0; i < steps->len; i++)
        printf("#    did %s\n", (char *)steps->pdata[i]);
    for (guint i = 0; i < offers->len; i++)
        printf("#    offers %s\n", (char *)offers->pdata[i]);
}

/* What a person asks for is one offer; warnings stay as they are. */
static gboolean is_error(const WsFinding *f, gpointer data)
{
    (void)data;
    return f->severity == WS_SEVERITY_ERROR;
}

/* Where a proof expands many names each of a hundred proposals takes a quarter of a second: looked
 * at in the report alone. */
static gboolean takes_long(const char *name)
{
    return strcmp(name, "rank-behind-many-lets.wstave") == 0;
}

static void judge(Count *c, const char *folder, const char *name, guint *same, guint *known)
{
    g_autofree char *file = g_strdup_printf("%s/%s", folder, name), *text = edited_text(file, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), file, findings);
    if (!design || (c->only && !strstr(file, c->only)) || (!c->verbose && takes_long(name)))
        return;
    /* these say nothing of what is written to global memory */
    const gboolean protocol = strcmp(folder, "memory") == 0 || strcmp(folder, "once-proved") == 0;
    const WsCheckOptions options = { .protocol_only = protocol };
    g_autoptr(WsFixState) before = ws_fix_state_new(design, NULL, 0, &options);
    const WsFinding *first = first_error(before->findings);
    if (!first || (before->verdict && before->verdict->kind == WS_VERDICT_OUTSIDE))
        return;
    c->refuted++;
    g_autofree char *run = shown(design, before->findings);
    c->refused += strcmp(run, "refused") == 0;
    c->budget += strcmp(run, "static") == 0;
    c->shown += g_str_has_prefix(run, "confirmed");
    c->silent += g_str_has_prefix(run, "NO");
    c->dumb += !first->remedy || !*first->remedy;
    for (guint i = 0; i < before->findings->list->len; i++) {
        const WsFinding *f = before->findings->list->pdata[i];
        g_autofree char *story = ws_finding_story(f, "", 0);
        g_assert_null(strstr(f->message, "completion -"));
        g_assert_null(strstr(story, "completion -"));
    }
    if (!c->verbose && !test_takes(c->refuted, 3, 12))
        return; /* a search for fixes takes a hundred proofs */
    g_autoptr(GPtrArray) steps = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) offers = g_ptr_array_new_with_free_func(g_free);
    const WsFixAsk ask = { .options = &options },
                   any = { .any = TRUE, .wanted = is_error, .options = &options };
    g_autoptr(WsFixState) after = ws_fix_repair(before, &ask, steps, offers);
    if (after) { /* what is written is proved, and what was drawn stands */
        g_assert_cmpuint(after->errors, ==, 0);
        g_assert_nonnull(after->verdict);
        g_assert_cmpint(after->verdict->kind, ==, WS_VERDICT_PROVED);
        const Gone g = order_gone(design, after->design);
        g_assert_cmpuint(g.gone, ==, g.twins);
        c->removed += g.gone;
    }
    g_autoptr(WsFixState) chosen =
        after || offers->len == 0 ? NULL : ws_fix_repair(before, &any, NULL, NULL);
    g_autofree char *lost = after    ? sum_lost(design, after->design)
                            : chosen ? sum_lost(design, chosen->design)
                                     : NULL;
    g_assert_cmpstr(lost, ==, NULL);
    const char *how = after         ? "proved"
                      : chosen      ? "offered"
                      : offers->len ? "OFFERED AND NOT DONE"
                                    : "NONE";
    c->proved += after != NULL;
    c->offered += chosen != NULL;
    c->nothing += !after && !chosen;
    const gint author = strcmp(folder, "catalogue") == 0 ? author_of(name) : -1;
    gboolean equal = FALSE;
    if (author >= 0) {
        g_autofree char *meant = edited_text(file, authors[author].edit);
        g_autoptr(WsDesign) theirs = ws_design_parse(meant, strlen(meant), file, findings);
        g_assert_nonnull(theirs);
        g_autoptr(WsFixState) right = ws_fix_state_new(theirs, NULL, 0, NULL);
        g_assert_cmpuint(right->errors, ==, 0);
        const WsDesign *ours = after ? after->design : chosen ? chosen->design : design;
        g_autofree char *x = ws_design_print(theirs), *y = ws_design_print(ours),
                        *m = program_text(theirs), *n = program_text(ours);
        equal = strcmp(x, y) == 0 || (*m && strcmp(m, n) == 0);
        ++*known;
        *same += equal;
    }
    if (c->verbose) {
        g_autofree char *full = g_strdup_printf("%s%s", how,
                                                author < 0 ? ""
                                                : equal    ? ", as its author"
                                                           : ", NOT AS ITS AUTHOR");
        say(file, before, full, run, steps, offers);
    }
}

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void all(Count *total, guint *same, guint *known)
{
    if (!total->verbose && !g_test_slow())
        printf("# fixes of a share of the refuted designs alone\n");
    printf("# %-12s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", "folder", "refuted", "refused",
           "static", "run", "no run", "proved", "offered", "no fix", "twins");
    for (guint i = 0; i < G_N_ELEMENTS(folders); i++) {
        g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, "tests/designs", folders[i], NULL);
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        g_assert_nonnull(dir);
        g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
        for (const char *name; (name = g_dir_read_name(dir)) != NULL;)
            if (g_str_has_suffix(name, ".wstave"))
                g_ptr_array_add(files, g_strdup(name));
        g_ptr_array_sort(files, by_name);
        Count c = { .verbose = total->verbose, .only = total->only };
        for (guint k = 0; k < files->len; k++)
            judge(&c, folders[i], files->pdata[k], same, known);
        printf("# %-12s %8u %8u %8u %8u %8u %8u %8u %8u %8u\n", folders[i], c.refuted, c.refused,
               c.budget, c.shown, c.silent, c.proved, c.offered, c.nothing, c.removed);
        total->refuted += c.refuted, total->dumb += c.dumb, total->refused += c.refused,
            total->budget += c.budget;
        total->shown += c.shown, total->silent += c.silent, total->proved += c.proved;
        total->offered += c.offered, total->nothing += c.nothing, total->removed += c.removed;
    }
    printf("# %u refuted: %u run, %u without; %u proved, %u offered, %u without a fix; %u without "
           "a remedy; %u of %u known "
           "bugs as their authors mended them\n",
           total->refuted, total->shown, total->silent, total->proved, total->offered,
           total->nothing, total->dumb, *same, *known);
}

static void mended(void)
{
    Count total = { 0 };
    guint same = 0, known = 0;
    all(&total, &same, &known);
}

/* --- designs with a mistake that a person wrote in, and what a person would do -----------------
 */
static gboolean has_all(const char *text, char *const *words)
{
    for (guint i = 0; words && words[i]; i++)
        if (!has_word(text, words[i]))
            return FALSE;
    return TRUE;
}

static gboolean has_any(const char *text, char *const *words)
{
    for (guint i = 0; words && words[i]; i++)
        if (strstr(text, words[i]))
            return TRUE;
    return !words;
}

typedef struct {
    guint all, refuted, rule, place, remedy, proved, offered, equal, open;
    const char *only;
    gboolean verbose;
} Judged;

static gboolean equals(const WsDesign *ours, const char *text, const char *name)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) theirs = ws_design_parse(text, strlen(text), name, findings);
    g_assert_nonnull(theirs);
    g_autofree char *x = ws_design_print(theirs), *y = ws_design_print(ours),
                    *m = program_text(theirs), *n = program_text(ours);
    return strcmp(x, y) == 0 || (*m && strcmp(m, n) == 0);
}

/* A proof of these takes milliseconds, a search a thousand of them: of a sample alone. */
static gboolean is_large(const Repair *r)
{
    return strstr(r->of, "attention") || strstr(r->of, "mla");
}

static gboolean is_sampled_out(const Judged *c, const Repair *r)
{
    if (c->verbose)
        return FALSE;
    return is_large(r) ? c->all % (g_test_slow() ? 4 : 12) || test_sanitized()
                       : !test_takes(c->all, 4, 16);
}

static void judge_repair(Judged *c, const Repair *r)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(r->wrong, strlen(r->wrong), r->name, findings);
    if (!design || (c->only && !strstr(r->name, c->only)))
        return;
    c->all++;
    g_autoptr(WsFixState) before = ws_fix_state_new(design, NULL, 0, NULL);
    const WsFinding *first = first_error(before->findings);
    const gboolean right = strcmp(r->rules[0], "none") == 0;
    g_assert_true(first || right);
    g_assert_true(!first || !right || before->verdict->kind == WS_VERDICT_OUTSIDE);
    if (!first || right) {
        if (c->verbose || (first != NULL) != (strcmp(r->rules[0], "none") != 0))
            printf("# %s: %s\n", r->name, first ? first->message : "NOT REFUTED");
        return;
    }
    c->refuted++;
    g_autofree char *story = ws_finding_story(first, "#        ", 0),
                    *said = g_strdup_printf("%s\n%s\n%s\n%s", first->message, story,
                                            first->remedy ? first->remedy : "",
                                            first->barrier ? first->barrier : "");
    const gboolean rule =
                       g_strv_contains((const char *const *)r->rules, ws_rule(first->rule)->text),
                   place = has_all(said, r->says),
                   remedy = first->remedy && has_any(first->remedy, r->remedy);
    g_autoptr(GPtrArray) steps = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) offers = g_ptr_array_new_with_free_func(g_free);
    const WsFixAsk ask = { 0 }, any = { .any = TRUE, .wanted = is_error };
    const gint64 start = g_get_monotonic_time();
    g_autoptr(WsFixState) after =
        is_sampled_out(c, r) ? NULL : ws_fix_repair(before, &ask, steps, offers);
    g_autoptr(WsFixState) chosen =
        after || offers->len == 0 ? NULL : ws_fix_repair(before, &any, NULL, NULL);
    const double seconds = (double)(g_get_monotonic_time() - start) * 1e-6;
    const WsDesign *now = after ? after->design : chosen ? chosen->design : NULL;
    gboolean equal = now && equals(now, r->right, r->name);
    for (guint i = 0; now && i < r->also->len; i++)
        equal |= equals(now, r->also->pdata[i], r->name);
    g_autofree char *other = after ? work_differs(design, after->design) : NULL;
    g_autofree char *lost = now ? sum_lost(design, now) : NULL;
    g_assert_cmpstr(lost, ==, NULL);
    const gboolean holds[] = { rule, place, remedy, after != NULL, after || chosen, equal };
    static const char *const words[] = { "rule", "place", "remedy", "proved", "offered", "equal" };
    for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
        const gboolean held =
            r->answer && g_strv_contains((const char *const *)r->answer, words[i]);
        if (held && !holds[i] && (i < 3 || !is_sampled_out(c, r)))
            g_error("%s: %s held once", r->name, words[i]);
        if (c->verbose)
            printf("%s%s", holds[i] ? words[i] : "-", i + 1 < G_N_ELEMENTS(words) ? " " : "\n");
    }
    c->rule += rule, c->place += place, c->remedy += remedy, c->proved += after != NULL;
    c->offered += chosen != NULL, c->equal += equal, c->open += now && r->open;
    if (!c->verbose) {
        if (after) {
            const Gone g = order_gone(design, after->design);
            g_assert_cmpuint(g.gone, ==, g.twins);
            g_assert_cmpstr(other, ==, NULL);
        }
        return;
    }
    printf(
        "# [%s%s%s%s%s] %s of %s: %s\n#    %.1f s, %u errors; %s at %s: %s\n%s\n#    remedy: %s\n",
        rule ? "" : "RULE ", place ? "" : "PLACE ", remedy ? "" : "REMEDY ",
        after    ? ""
        : chosen ? "offered "
                 : "NO FIX ",
        equal || r->open ? "" : "OTHER ", r->name, r->of, r->cause, seconds, before->errors,
        ws_rule(first->rule)->text, first->at, first->message, story,
        first->remedy ? first->remedy : "NONE");
    for (guint i = 0; i < steps->len; i++)
        printf("#    did %s\n", (char *)steps->pdata[i]);
    for (guint i = 0; i < offers->len; i++)
        printf("#    offers %s\n", (char *)offers->pdata[i]);
    if (other)
        printf("#    DOES SOMETHING ELSE: %s\n", other);
}

static void judge_repairs(Judged *c, const char *under)
{
    g_autoptr(GPtrArray) list = repairs_read(under);
    for (guint i = 0; i < list->len; i++)
        judge_repair(c, list->pdata[i]);
    printf("# %u designs with a mistake of a person, %u refuted: rule %u, place %u, remedy %u; %u "
           "proved by the fix, %u offered, %u as a person would (%u open)\n",
           c->all, c->refuted, c->rule, c->place, c->remedy, c->proved, c->offered, c->equal,
           c->open);
}

static void repairs(void)
{
    Judged c = { 0 };
    judge_repairs(&c, "repairs");
    g_assert_cmpuint(c.refuted, >=, 80);
    g_assert_cmpuint(c.rule, ==, c.refuted);
    g_assert_cmpuint(c.place + 2, >=, c.refuted);
    g_assert_cmpuint(c.remedy + 2, >=, c.refuted);
}

/* Mistakes that were written down, and asked for once, before anything was mended for them: what
 * held then holds still. */
static void blind(void)
{
    Judged c = { 0 };
    judge_repairs(&c, "repairs/blind");
    g_assert_cmpuint(c.all, ==, 113);
}

/* --- sums that begin nowhere ------------------------------------------------------------------ */
#define MMA                                                                                        \
    "{ \"mma\": \"acc\", \"a\": \"a\", \"b\": \"a\", \"first\": \"k == 0\", \"use\": \"k.total\" " \
    "}"
#define MORE "{ \"mma\": \"acc\", \"a\": \"a\", \"b\": \"a\", \"use\": \"k.total\" }"
#define ONCE                                                                                       \
    "{ \"mma\": \"acc\", \"a\": \"a\", \"b\": \"a\", \"first\": true, \"use\": \"k.total\", "      \
    "\"when\": "                                                                                   \
    "\"k == 2\" }"
#define MMA_WAIT "{ \"mma_wait\": 0 },"

/* What is asked for, and what `first` of the product at the finding becomes; NULL: no such fix. */
static const struct {
    const char *what;
    Edit edit[3];
    const char *first;
} sums[] = {
    { "from 1", { { NULL } }, "\"k == 1\"" },
    { "from a negative number",
      { { "\"from\": 1", "\"from\": -2" }, { "\"first\": \"k == 0\"", "\"first\": \"k == 5\"" } },
      "\"k == -2\"" },
    { "from a size", { { "\"from\": 1", "\"from\": \"N - 1\"" } }, "\"k == N - 1\"" },
    { "no first", { { ", \"first\": \"k == 0\"", "" } }, "\"k == 1\"" },
    { "two products in a round", { { MMA, MORE ", " MORE } }, "\"k == 1\"" },
    { "a loop in the loop",
      { { MMA, "{ \"for\": \"h\", \"count\": 3, \"do\": [" MORE "] }" } },
      "\"k == 1 && h == 0\"" },
    { "read in every round of the inner loop",
      { { MMA, "{ \"for\": \"h\", \"count\": 3, \"do\": [" MORE
               ", { \"mma_wait\": 0 }, { \"compute\": \"seen = "
               "acc\" }] }" },
        { "\"values\": [",
          "\"values\": [{ \"name\": \"seen\", \"dtype\": \"f32\", \"tile\": [64, 64] }," } },
      "true" },
    { "scaled in every round",
      { { MMA_WAIT, MMA_WAIT "{ \"compute\": \"acc = acc*2\" }," } },
      "\"k == 1\"" },
    { "in a branch",
      { { MMA, "{ \"if\": \"t == 0\", \"then\": [" MORE "], \"else\": [" MMA "] }" } },
      "\"k == 1\"" },
    { "begun on some ways alone", { { MMA, ONCE ", " MORE } }, NULL },
};

/* Asked for by name a fix begins a sum, too; never one that holds products. */
static void begins(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(sums); i++) {
        g_autofree char *text =
            edited(edited_text("broken/28-sum-from-the-second-round.wstave", NULL), sums[i].what,
                   sums[i].edit, G_N_ELEMENTS(sums[i].edit));
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), sums[i].what, findings);
        g_assert_nonnull(design);
        g_autoptr(WsFixState) before = ws_fix_state_new(design, NULL, 0, NULL);
        const WsFinding *f = first_error(before->findings);
        g_test_message("%s: %s", sums[i].what, f ? f->message : "not refuted");
        g_assert_nonnull(f);
        g_assert_cmpstr(ws_rule(f->rule)->text, ==, "P-UNDEF");
        const WsNode *at = ws_design_find(design, f->at);
        g_autoptr(GPtrArray) all = ws_fixes_of(design, f);
        guint begun = 0;
        for (guint k = 0; k < all->len; k++) {
            const WsFix *fix = all->pdata[k];
            g_autofree char *lost = sum_lost(design, fix->draft->design);
            g_assert_cmpstr(lost, ==, NULL);
            begun += strcmp(fix->kind, "start-sum") == 0;
        }
        const WsFixAsk any = { .any = TRUE, .wanted = is_error };
        g_autoptr(WsFixState) after = ws_fix_repair(before, &any, NULL, NULL);
        /* begun in every round each sum is one product, unless somebody reads it there */
        g_autofree char *worse = g_strdup_printf("set %s first true", f->at);
        g_autoptr(WsEdit) edit = ws_edit_parse(worse, NULL);
        g_autoptr(WsDesign) anew = ws_design_apply(design, edit, findings);
        g_autofree char *caught = sum_lost(design, anew);
        g_assert_true((caught == NULL) == (g_strcmp0(sums[i].first, "true") == 0));
        g_assert_cmpuint(begun, ==, sums[i].first ? 1 : 0);
        g_assert_true(after || !sums[i].first);
        const WsNode *now = after ? ws_design_by_identity(after->design, at->identity) : NULL;
        g_autofree char *first =
            now ? ws_value_print(ws_node_row(WS_STEP_MMA, WS_F_first), ws_node_get(now, WS_F_first))
                : NULL;
        if (sums[i].first)
            g_assert_cmpstr(first, ==, sums[i].first);
    }
}

/* --- two mistakes at once --------------------------------------------------------------------- */
static WsProgram *read_design(const char *text, WsDesign **design)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    *design = ws_design_parse(text, strlen(text), "x", findings);
    WsProgram *p = *design ? ws_elaborate(*design, NULL, 0, findings) : NULL;
    if (p && ws_findings_count(findings, WS_SEVERITY_ERROR))
        g_clear_pointer(&p, ws_program_unref);
    return p;
}

/* What is made of a design that has two mistakes holds to the same rules. */
static void two_mistakes_of(const char *file, guint every, guint *refuted, guint *proved)
{
    g_autofree char *text = edited_text(file, NULL);
    g_autoptr(WsDesign) first = NULL;
    g_autoptr(WsProgram) p = read_design(text, &first);
    g_assert_nonnull(p);
    g_autofree char *canonical = ws_design_print(first);
    g_autoptr(GPtrArray) once = mutants_of(canonical, first, p);
    for (guint i = 0; i < once->len; i += every) {
        g_autoptr(WsDesign) wrong = NULL;
        g_autoptr(WsProgram) q = read_design(((Mutant *)once->pdata[i])->text, &wrong);
        if (!q)
            continue;
        g_autofree char *again = ws_design_print(wrong);
        g_autoptr(GPtrArray) twice = mutants_of(again, wrong, q);
        const Mutant *m = twice->len ? twice->pdata[(7 * i + 3) % twice->len] : NULL;
        g_autoptr(WsDesign) worse = NULL;
        g_autoptr(WsProgram) r = m ? read_design(m->text, &worse) : NULL;
        if (!r)
            continue;
        g_autoptr(WsFixState) before = ws_fix_state_new(worse, NULL, 0, NULL);
        if (before->errors == 0)
            continue;
        const WsFixAsk ask = { 0 };
        g_autoptr(WsFixState) after = ws_fix_repair(before, &ask, NULL, NULL);
        ++*refuted;
        if (!after)
            continue;
        ++*proved;
        g_test_message("%s: %s", file, m->what);
        g_assert_cmpuint(after->errors, ==, 0);
        g_assert_cmpint(after->verdict->kind, ==, WS_VERDICT_PROVED);
        g_autofree char *lost = sum_lost(worse, after->design);
        g_assert_cmpstr(lost, ==, NULL);
        const Gone g = order_gone(worse, after->design);
        g_assert_cmpuint(g.gone, ==, g.twins);
    }
}

static void two_mistakes(void)
{
    static const char *const files[] = { "catalogue/C01-plain-ring.wstave",
                                         "catalogue/C16-release-one-round-late.wstave",
                                         "catalogue/C58-fence-by-the-writers.wstave",
                                         "catalogue/C38-cluster-ends-by-a-meeting.wstave",
                                         "consan/gemm-correct.wstave" };
    guint refuted = 0, proved = 0;
    for (guint i = 0; i < G_N_ELEMENTS(files); i++)
        two_mistakes_of(files[i],
                        g_test_slow()      ? 5
                        : test_sanitized() ? 40
                                           : 15,
                        &refuted, &proved);
    printf("# %u designs with two mistakes: %u mended\n", refuted, proved);
    g_assert_cmpuint(refuted, >=, test_least(30, 3, 10));
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "report") == 0) {
        Count total = { .verbose = TRUE, .only = argc > 2 ? argv[2] : NULL };
        guint same = 0, known = 0;
        setvbuf(stdout, NULL, _IOLBF, 0);
        all(&total, &same, &known);
        return 0;
    }
    if (argc >= 2 && strcmp(argv[1], "repairs") == 0) {
        Judged c = { .verbose = TRUE, .only = argc > 2 ? argv[2] : NULL };
        setvbuf(stdout, NULL, _IOLBF, 0);
        judge_repairs(&c, "repairs");
        judge_repairs(&c, "repairs/blind");
        return 0;
    }
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mend/mended/all", mended);
    g_test_add_func("/mend/mended/repairs", repairs);
    g_test_add_func("/mend/mended/blind", blind);
    g_test_add_func("/mend/mended/sums", begins);
    g_test_add_func("/mend/mended/two-mistakes", two_mistakes);
    return g_test_run();
}
