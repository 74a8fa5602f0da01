/* The check against the oracle on random designs made of features, two or three at a time, with up
 * to two faults: what the check proves must be right in every interleaving of every small case,
 * what it refutes must go wrong in some. Every pair of features gets its turn. What disagrees is
 * made as small as it can be and written as a design.
 *
 * Arguments: first seed, number of designs, folder for what disagrees, features that are left out
 * ("a,b"). Without them a fixed sample. */
#include "answer.h"
#include "compose.h"
#include "fault.h"

#include <stdlib.h>
#include <string.h>

static guint first_seed = 2001, n_designs = 120;
static const char *folder; /* for what disagrees, NULL: only told */
static char **left_out;    /* features that are not drawn */

/* --- the run -------------------------------------------------------------------------------------
 */

typedef struct {
    guint drawn, judged, proved, refuted;
} PairTally;

typedef struct {
    guint designs, refused, unread, proved, passed, refuted, elsewhere, outside_right,
        outside_wrong, capped, not_modelled, followed;
    guint disagree[N_DISAGREEMENTS];
    guint64 cases, states;
    PairTally *pair;
} Tally;

static void count_pairs(Tally *t, const Composed *c, const Answer *a)
{
    guint n = compose_features();
    for (guint i = 0; i < c->n; i++)
        for (guint k = 0; k < c->n; k++) {
            if (c->feature[i] >= c->feature[k])
                continue;
            PairTally *p = &t->pair[c->feature[i] * n + c->feature[k]];
            gboolean full = a->read && !(a->oracle.verdict & ORACLE_OUTSIDE);
            p->drawn++;
            p->judged += full || a->oracle.bad;
            p->proved += full && !a->oracle.bad && a->kind == WS_VERDICT_PROVED;
            p->refuted += a->read && a->oracle.bad && a->errors > 0;
        }
}

static void count(Tally *t, const Answer *a)
{
    t->designs++;
    t->cases += a->oracle.allowed;
    t->states += a->oracle.states;
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

static void tell_pairs(const Tally *t)
{
    guint n = compose_features(), may = 0, drawn = 0, judged_ = 0, both = 0;
    for (guint i = 0; i < n; i++)
        for (guint k = i + 1; k < n; k++) {
            const PairTally *p = &t->pair[i * n + k];
            if (!compose_pair(i, k))
                continue;
            may++;
            drawn += p->drawn > 0;
            judged_ += p->judged > 0;
            both += p->proved > 0 && p->refuted > 0;
            if (p->judged == 0 && t->designs > 20000)
                g_test_message("never judged: %s and %s (%u drawn)", compose_name(i),
                               compose_name(k), p->drawn);
        }
    g_test_message("%u features, %u pairs: %u drawn, %u judged, %u with a proof and a refutation",
                   n, may, drawn, judged_, both);
}

static void test_features(void)
{
    guint n = compose_features();
    Tally t = { .pair = g_new0(PairTally, n * n) };
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
    g_test_message("%" G_GUINT64_FORMAT " cases, %" G_GUINT64_FORMAT " states", t.cases, t.states);
    g_test_message(
        "%u false proofs, %u unsound, %u false alarms, %u times the oracle with itself; %u "
        "witnesses followed, %u that cannot be",
        t.disagree[FALSE_PROOF], t.disagree[UNSOUND], t.disagree[FALSE_ALARM], t.disagree[INNER],
        t.followed, t.disagree[ASTRAY]);
    tell_pairs(&t);
    g_free(t.pair);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    if (argc > 1)
        first_seed = (guint)atoi(argv[1]);
    if (argc > 2)
        n_designs = (guint)atoi(argv[2]);
    if (argc > 3)
        folder = argv[3];
    if (argc > 4)
        left_out = g_strsplit(argv[4], ",", -1);
    g_test_add_func("/oracle/features", test_features);
    return g_test_run();
}
