/* The check against the oracle on random small designs: what the check proves or passes must be
 * right in every interleaving of every small size, what it refutes must go wrong in some, and the
 * smallest case that goes wrong must be the same for both; the check's witness of it must be
 * possible in the oracle, with the same state at every position.
 *
 * Arguments: first seed, number of designs, states the oracle may keep of one size. Without them a
 * fixed sample; `./dev soak` takes more, results.txt says what was run. */
#include "check/check.h"
#include "draw/random.h"
#include "follow.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROUNDS 5
#define MAX_TILES  3
#define MAX_WORK   8 /* rounds of all tiles */

static guint first_seed = 1, n_designs = 300, cap = 60000;

/* Rules about what the oracle looks at; the others concern registers, proxies, undefined values. */
static gboolean judged(const WsFinding *f)
{
    static const char *const rules[] = { "P-DL", "P-RACE", "P-EARLY", "P-ABA", "P-CNT",
                                         "P-TX", "P-NB",   "P-EXIT",  "P-CLU" };
    /* N1 as the check takes it is stricter than need be where one agent joins alone. */
    if (strstr(f->message, "nothing before it says that the earlier one is over"))
        return FALSE;
    /* the oracle has one thread per agent */
    if (strstr(f->message, "lanes") || strstr(f->message, "before every thread"))
        return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++)
        if (strcmp(ws_rule(f->rule)->text, rules[i]) == 0)
            return TRUE;
    return FALSE;
}

/* --- the oracle over all small cases, smallest first --------------------------------------------
 */
typedef struct {
    gint64 rounds;
    guint tiles;
} Case;

static gint64 size_of(Case c)
{
    return c.tiles + c.tiles * c.rounds;
}

static gint by_size(gconstpointer a, gconstpointer b)
{
    const Case *x = a, *y = b;
    gint64 p = size_of(*x), q = size_of(*y);
    if (p != q)
        return p < q ? -1 : 1;
    return x->tiles < y->tiles ? -1 : x->tiles > y->tiles;
}

static GArray *cases_of(gboolean tiles)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(Case));
    for (guint t = tiles ? 0 : 1; t <= (tiles ? MAX_TILES : 1u); t++)
        for (gint64 n = 0; n <= MAX_ROUNDS && n * t <= MAX_WORK; n++) {
            Case c = { n, t };
            g_array_append_val(list, c);
        }
    g_array_sort(list, by_size);
    return list;
}

typedef struct {
    guint verdict; /* of all cases that were looked at */
    gboolean bad;
    Case smallest;
    gboolean data; /* with elements that are not 0 */
    char *text;
} Judgement;

static WsLaunchValues *values(const WsProgram *p, Case c)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsSize size[2] = { { "N", c.rounds }, { "T", MAX(c.tiles, 1) } };
    return ws_launch_values(p, size, 2, FALSE, findings);
}

static void judge_with(const WsProgram *p, Case c, gint64 element, gint64 step, Judgement *j)
{
    OracleOptions options = { .tiles = c.tiles, .cap = cap, .stop = TRUE };
    options.element = element, options.element_step = step;
    g_autoptr(WsLaunchValues) v = values(p, c);
    if (!v || j->bad)
        return;
    OracleResult r = oracle_run(p, v, &options);
    j->verdict |= r.verdict;
    j->bad = (r.verdict & ORACLE_BAD) != 0;
    if (j->bad)
        j->smallest = c, j->data = element || step;
    if (r.verdict && (j->bad || !j->text)) {
        g_autofree char *say = oracle_text(&r);
        g_free(j->text);
        j->text = g_strdup_printf("N = %d, %u tiles, elements %d + %d: %s", (int)c.rounds, c.tiles,
                                  (int)element, (int)step, say);
    }
}

/* With letters: no tile, every tile, every other tile. */
static void judge_case(const WsProgram *p, Case c, Judgement *j)
{
    static const gint64 first[] = { 0, 1, 2, 0, 1 }, step[] = { 0, 0, 0, 1, 1 };
    guint n = ws_program_find_var(p, "x") >= 0 ? G_N_ELEMENTS(first) : 1;
    for (guint d = 0; d < n; d++)
        judge_with(p, c, first[d], step[d], j);
}

static Judgement judge(const WsProgram *p, gboolean tiles)
{
    Judgement j = { 0 };
    g_autoptr(GArray) cases = cases_of(tiles);
    for (guint i = 0; i < cases->len; i++)
        judge_case(p, g_array_index(cases, Case, i), &j);
    return j;
}

/* --- the comparison --------------------------------------------------------------------------- */
typedef struct {
    guint proved, passed, refuted, refused, outside, capped;     /* both agree; not compared */
    guint same, larger, unsearched, followed, elsewhere, strict; /* smallest cases, witnesses */
    guint unsound, false_proofs, alarms, differ, astray;         /* must be 0 */
} Tally;

static Case case_of(const WsWitness *w)
{
    Case c = { 3, w->tiles };
    if (g_str_has_prefix(w->sizes, "N = "))
        c.rounds = g_ascii_strtoll(w->sizes + 4, NULL, 10);
    return c;
}

/* The witness of the check against the smallest bad case of the oracle; NULL: they agree. */
static char *compare_witness(WsProgram *p, const WsFinding *first, const Judgement *j, Tally *tally)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsWitness) w = ws_witness_new(p, first, &error);
    if (!w)
        return g_strdup_printf("no witness: %s", error->message);
    Case c = case_of(w);
    g_autofree char *lost = follow(w);
    if (lost) {
        g_autofree char *text = ws_witness_text(w, TRUE);
        tally->astray++;
        return g_strdup_printf("the oracle cannot follow: %s\n%s", lost, text);
    }
    tally->followed++;
    tally->strict += !w->confirmed;
    gboolean about = follow_judged(w) && w->confirmed;
    if (!j->bad || !about) { /* of a rule that the oracle does not know */
        tally->elsewhere++;
        return NULL;
    }
    if (size_of(c) == size_of(j->smallest)) {
        tally->same++;
        return NULL;
    }
    Judgement own = { 0 };
    judge_case(p, c, &own);
    g_free(own.text);
    if (!own.bad && (own.verdict & ORACLE_UNSEEN)) { /* refuted by the text alone */
        tally->elsewhere++;
        return NULL;
    }
    /* The witness was followed to its wrong end, and the search of that case was broken off. */
    if (!own.bad && (own.verdict & ORACLE_EXHAUSTED) && size_of(c) < size_of(j->smallest)) {
        tally->unsearched++;
        return NULL;
    }
    if (w->pinned || j->data) { /* elements are chosen after sizes were, or stand for those of the
                                   rehearsal */
        tally->larger++;
        return NULL;
    }
    tally->differ++;
    return g_strdup_printf("the smallest case differs: %d rounds, %u tiles", (int)c.rounds,
                           c.tiles);
}

static char *compare(const WsVerdict *verdict, const WsFindings *findings, WsProgram *p,
                     Judgement *j, Tally *tally)
{
    guint errors = 0, about_oracle = 0;
    const WsFinding *first = NULL;
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(findings->list, i);
        errors += f->severity == WS_SEVERITY_ERROR;
        if (!first && f->severity == WS_SEVERITY_ERROR)
            first = f;
        about_oracle += f->severity == WS_SEVERITY_ERROR && judged(f);
    }
    if (j->verdict & ORACLE_OUTSIDE) {
        tally->outside++;
        return NULL;
    }
    if (j->bad && verdict->kind == WS_VERDICT_PROVED) {
        tally->false_proofs++;
        return g_strdup("FALSE PROOF: it goes wrong");
    }
    if (j->bad && errors == 0) {
        tally->unsound++;
        return g_strdup("UNSOUND: the check finds nothing");
    }
    if (errors == 0) {
        if (j->verdict & ORACLE_EXHAUSTED)
            tally->capped++;
        else if (verdict->kind == WS_VERDICT_PROVED)
            tally->proved++;
        else
            tally->passed++;
        return NULL;
    }
    if (!j->bad && about_oracle) { /* does it need more tiles or rounds than were looked at? */
        g_autoptr(WsWitness) w = ws_witness_new(p, first, NULL);
        if (w)
            judge_case(p, case_of(w), j);
    }
    if (!j->bad && (j->verdict & ORACLE_EXHAUSTED)) {
        tally->capped++;
        return NULL;
    }
    if (!j->bad && about_oracle && !(j->verdict & ORACLE_UNSEEN)) {
        tally->alarms++;
        return g_strdup("FALSE ALARM: the oracle finds nothing");
    }
    tally->refuted++;
    return compare_witness(p, first, j, tally);
}

static void one(guint seed, Tally *tally)
{
    guint faults = 0;
    g_autofree char *text = random_design(seed, &faults);
    g_autoptr(WsFindings) refused = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), "random", refused);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, refused) : NULL;
    if (!p || ws_findings_count(refused, WS_SEVERITY_ERROR) > 0) {
        if (faults == 0) {
            g_autofree char *all = ws_findings_print(refused, "random");
            g_test_message("seed %u does not elaborate:\n%s", seed, all);
            g_test_fail();
        }
        tally->refused++;
        return;
    }
    g_autoptr(WsFindings) findings = ws_findings_new();
    const WsCheckOptions options = { .protocol_only = TRUE,
                                     .verdict_only = TRUE }; /* it stores where it likes */
    g_autoptr(WsVerdict) verdict = ws_check(p, &options, findings);
    Judgement j = judge(p, strstr(text, "persistent") != NULL);
    g_autofree char *what = compare(verdict, findings, p, &j, tally);
    if (faults == 0 && !what && (j.bad || ws_findings_count(findings, WS_SEVERITY_ERROR)))
        what = g_strdup("a design without fault is refuted");
    if (what) {
        g_autofree char *all = ws_findings_print(findings, "random");
        g_test_message("seed %u: %s\noracle: %s\ncheck: %s\n%s\n%s", seed, what,
                       j.text ? j.text : "right", ws_verdict_word(verdict->kind), all, text);
        g_test_fail();
    }
    g_free(j.text);
}

static void test_differential(void)
{
    Tally t = { 0 };
    for (guint i = 0; i < n_designs; i++)
        one(first_seed + i, &t);
    g_test_message("%u designs from seed %u: %u proved and right, %u passed and right, %u refuted "
                   "and wrong; %u refused by elaboration, %u not modelled, %u not exhausted",
                   n_designs, first_seed, t.proved, t.passed, t.refuted, t.refused, t.outside,
                   t.capped);
    g_test_message("smallest case: %u the same, %u of chosen elements, %u smaller than the oracle "
                   "could search, %u of rules the oracle does not know; %u witnesses "
                   "followed move by move, %u of them without a wrong end (undefined by the text "
                   "alone)",
                   t.same, t.larger, t.unsearched, t.elsewhere, t.followed, t.strict);
    g_test_message("%u false proofs, %u unsound, %u false alarms, %u other smallest cases, %u "
                   "witnesses that the oracle cannot follow",
                   t.false_proofs, t.unsound, t.alarms, t.differ, t.astray);
    if (n_designs > 50)
        g_assert_cmpuint(t.proved + t.passed + t.refuted, >, n_designs / 2);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    if (argc > 1)
        first_seed = (guint)atoi(argv[1]);
    if (argc > 2)
        n_designs = (guint)atoi(argv[2]);
    if (argc > 3)
        cap = (guint)atoi(argv[3]);
    g_test_add_func("/oracle/differential", test_differential);
    return g_test_run();
}
