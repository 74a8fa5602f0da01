/* The check against the oracle on random designs made of features, two or three at a time, with up
 * to two faults: what the check proves must be right in every interleaving of every small case,
 * what it refutes must go wrong in some. Every pair of features gets its turn. What disagrees is
 * made as small as it can be and written as a design.
 *
 * Arguments: first seed, number of designs, folder for what disagrees, features that are left out
 * ("a,b", "-": none), file that sums up the pairs of features of several runs. Without them a fixed
 * sample. "alone", anything, FOLDER: every feature by itself. FILE.wstave …: what is
 * said of these. */
#include "answer.h"
#include "draw/compose.h"
#include "draw/fault.h"
#include "draw/pairs.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "watch.h"

#include <stdlib.h>
#include <string.h>

static guint first_seed = 2001, n_designs = 120;
static const char *folder; /* for what disagrees, NULL: only told */
static char **left_out;    /* features that are not drawn */
static const char *pairs_file;

/* --- the run -------------------------------------------------------------------------------------
 */

typedef struct {
    guint designs, refused, unread, proved, passed, refuted, elsewhere, outside_right,
        outside_wrong, capped, not_modelled, followed;
    guint disagree[N_DISAGREEMENTS];
    guint64 cases, states, compared;
    Pairs *pairs;
} Tally;

static void count_pairs(Tally *t, const Composed *c, const Answer *a)
{
    gboolean full = a->read && !(a->oracle.verdict & ORACLE_OUTSIDE);
    PairTally what = { .drawn = 1 };
    what.judged = full || a->oracle.bad;
    what.proved = full && !a->oracle.bad && a->kind == WS_VERDICT_PROVED;
    what.refuted = a->read && a->oracle.bad && a->errors > 0;
    pairs_count(t->pairs, c->feature, c->n, what);
}

static void count(Tally *t, const Answer *a)
{
    t->designs++;
    t->cases += a->oracle.allowed;
    t->states += a->oracle.states;
    t->compared += a->compared;
    if (!a->read) {
        t->refused++;
        return;
    }
    t->disagree[a->what]++;
    t->followed += a->followed;
    t->capped += (a->oracle.verdict & ORACLE_EXHAUSTED) != 0;
    if (a->what != AGREE)
        return;
    if (a->oracle.verdict & ORACLE_OUTSIDE)
        t->not_modelled++;
    else if (a->oracle.bad)
        *(a->errors ? &t->refuted : &t->outside_wrong) += 1;
    else if (a->errors)
        t->elsewhere++;
    else if (a->kind == WS_VERDICT_PROVED)
        t->proved++;
    else if (a->kind == WS_VERDICT_OUTSIDE)
        t->outside_right++;
    else
        t->passed++;
}

/* The ith pair that may stand together, and a third one half of the time. */
static guint draw(guint seed, GRand *rand, guint *feature)
{
    guint n = compose_features(), at = seed % (n * (n - 1) / 2), i = 0;
    while (at >= n - 1 - i)
        at -= n - 1 - i++;
    feature[0] = i;
    feature[1] = i + 1 + at;
    if (!compose_pair(feature[0], feature[1]))
        feature[1] = (guint)g_rand_int_range(rand, 0, (gint)n);
    feature[2] = (guint)g_rand_int_range(rand, 0, (gint)n);
    guint n_drawn = g_rand_boolean(rand) ? 3 : 2, kept = 0;
    for (guint k = 0; k < n_drawn; k++)
        if (!left_out || !g_strv_contains((const char *const *)left_out, compose_name(feature[k])))
            feature[kept++] = feature[k];
    return kept;
}

static void one(guint seed, Tally *t)
{
    guint feature[COMPOSE_MAX];
    GRand *rand = g_rand_new_with_seed(seed);
    guint n = draw(seed, rand, feature);
    Composed c = compose(seed, feature, n);
    g_autofree char *text = c.text;
    GString *faults = g_string_new(NULL);
    gint percent = g_rand_int_range(rand, 0, 100);
    for (guint i = 0, want = percent < 35 ? 0 : percent < 80 ? 1 : 2; i < want * 8 && want; i++) {
        g_autofree char *what = NULL;
        char *changed = fault(text, rand, &what);
        if (!changed)
            continue;
        g_free(text);
        text = changed;
        g_string_append_printf(faults, "\n  %s", what);
        if (--want == 0)
            break;
    }
    Answer a = answer_of(text, seed % 16 == 0 ? ANSWER_THOROUGH : ANSWER_USUAL);
    count(t, &a);
    count_pairs(t, &c, &a);
    if (!a.read && faults->len == 0) {
        t->unread++;
        g_test_message("seed %u does not elaborate: %s\n%s", seed, a.first, text);
    }
    if (a.what != AGREE) {
        g_autofree char *origin = g_strdup_printf(
            "features: %s %s %s\nfaults:%s", c.n > 0 ? compose_name(c.feature[0]) : "",
            c.n > 1 ? compose_name(c.feature[1]) : "", c.n > 2 ? compose_name(c.feature[2]) : "",
            faults->str);
        answer_report(folder, seed, origin, text, &a);
        if (!folder)
            g_test_fail();
    }
    g_string_free(faults, TRUE);
    answer_free(&a);
    g_rand_free(rand);
}

static void tell_pairs(Pairs *p)
{
    g_autofree char *own = pairs_text(p);
    g_test_message("%s", own);
    if (!pairs_file)
        return;
    if (!pairs_add_to(p, pairs_file))
        g_test_message("%s cannot be written", pairs_file);
    g_autofree char *all = pairs_text(p), *missing = pairs_missing(p, 20);
    g_test_message("with the runs before: %s\n%s", all, missing);
}

static void test_features(void)
{
    Tally t = { .pairs = pairs_new() };
    gint64 begin = g_get_monotonic_time();
    for (guint i = 0; i < n_designs; i++)
        one(first_seed + i, &t);
    double seconds = (double)(g_get_monotonic_time() - begin) / 1e6;
    g_test_message(
        "%u designs from seed %u, %.0f s (%.1f a second): %u proved and right, %u refuted "
        "and wrong, %u passed and right, %u outside and right, %u outside and wrong",
        t.designs, first_seed, seconds, t.designs / seconds, t.proved, t.refuted, t.passed,
        t.outside_right, t.outside_wrong);
    g_test_message(
        "not compared: %u refused by elaboration (%u without a fault), %u refuted for what "
        "the oracle does not know, %u not modelled; interleavings not exhausted in %u, their "
        "lanes are judged",
        t.refused, t.unread, t.elsewhere, t.not_modelled, t.capped);
    g_test_message("%" G_GUINT64_FORMAT " cases, %" G_GUINT64_FORMAT " states; %" G_GUINT64_FORMAT
                   " runs of agents as their text means, %u not",
                   t.cases, t.states, t.compared, t.disagree[MEANING]);
    g_test_message("%u false proofs, %u unsound, %u false alarms, %u internal messages, %u times "
                   "the oracle with itself; %u "
                   "witnesses followed, %u that cannot be",
                   t.disagree[FALSE_PROOF], t.disagree[UNSOUND], t.disagree[FALSE_ALARM],
                   t.disagree[INTERNAL], t.disagree[INNER], t.followed, t.disagree[ASTRAY]);
    tell_pairs(t.pairs);
    pairs_free(t.pairs);
}

/* Every feature by itself and without a fault: what check and oracle say of what it can look like.
 */
static void test_alone(void)
{
    for (guint f = 0; f < compose_features(); f++) {
        guint refused = 0, refuted = 0, proved = 0, outside = 0;
        g_autofree char *first = NULL;
        for (guint seed = 1; seed <= 8; seed++) {
            Composed c = compose(seed, &f, 1);
            Answer a = answer_of(c.text, ANSWER_USUAL);
            refused += !a.read;
            refuted += a.read && a.errors > 0;
            proved += a.read && a.kind == WS_VERDICT_PROVED;
            outside += a.read && a.kind == WS_VERDICT_OUTSIDE && !a.errors;
            if (!first && (!a.read || a.kind != WS_VERDICT_PROVED))
                first = g_strdup(a.first);
            if (a.read && a.what != AGREE)
                answer_report(folder, seed, compose_name(f), c.text, &a);
            g_free(c.text);
            answer_free(&a);
        }
        g_test_message("%-24s %u proved, %u refuted, %u outside, %u refused%s%s", compose_name(f),
                       proved, refuted, outside, refused, first ? ": " : "", first ? first : "");
    }
}

/* Without a fault every feature elaborates: one whose names have since become words of the language
 * would be drawn and judged nowhere, unnoticed. */
static void test_elaborate(void)
{
    for (guint f = 0; f < compose_features(); f++)
        for (guint seed = 1; seed <= 4; seed++) {
            Composed c = compose(seed, &f, 1);
            g_autoptr(WsFindings) findings = ws_findings_new();
            g_autoptr(WsDesign) d = ws_design_parse(c.text, strlen(c.text), "feature", findings);
            g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
            if (!p)
                g_test_message("%s: %s", compose_name(f), c.text);
            g_assert_nonnull(p);
            g_free(c.text);
        }
}

/* What check and oracle say of designs that disagreed once. */
static char **again;

static void test_again(void)
{
    for (guint i = 0; again[i]; i++) {
        g_autofree char *text = NULL;
        if (!g_file_get_contents(again[i], &text, NULL, NULL)) {
            g_test_message("%s cannot be read", again[i]);
            continue;
        }
        Answer a =
            answer_of(text, g_strrstr(again[i], "control") ? ANSWER_CONTROL : ANSWER_THOROUGH);
        g_test_message("%s: %s; oracle: %s; check: %s %s", again[i], answer_word(&a),
                       a.oracle.text ? a.oracle.text : "right",
                       a.read ? ws_verdict_word(a.kind) : "not read", a.first ? a.first : "");
        answer_free(&a);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    watch_begin();
    gboolean alone = argc > 1 && strcmp(argv[1], "alone") == 0;
    if (argc > 1)
        first_seed = (guint)atoi(argv[1]);
    if (argc > 2)
        n_designs = (guint)atoi(argv[2]);
    if (argc > 3)
        folder = argv[3];
    if (argc > 4)
        left_out = g_strsplit(argv[4], ",", -1);
    if (argc > 5)
        pairs_file = argv[5];
    gboolean files = argc > 1 && g_str_has_suffix(argv[1], ".wstave");
    again = argv + 1;
    if (argc == 1)
        g_test_add_func("/oracle/features/elaborate", test_elaborate);
    g_test_add_func("/oracle/features/drawn", files   ? test_again
                                              : alone ? test_alone
                                                      : test_features);
    return g_test_run();
}
