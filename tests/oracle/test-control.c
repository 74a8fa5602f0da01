/* The check against the oracle on random control (control.c): counts, ends, events and counters of
 * random expressions. What the check proves must meet as often on both sides in every case that is
 * tried, what it refutes must not in some. Disagreements are made small.
 *
 * Arguments: first seed, number of designs, folder for what disagrees. Without them a fixed sample.
 * "small" SEED: that design, made small for as long as the check says the same of it. */
#include "answer.h"
#include "draw/control.h"
#include "reasons.h"
#include "watch.h"

#include <stdlib.h>
#include <string.h>

static guint first_seed = 1, n_designs = 60;
static const char *folder;

typedef struct {
    guint refused, proved, refuted, outside, outside_right, outside_wrong, not_modelled;
    guint disagree[N_DISAGREEMENTS];
    guint64 cases, compared;
} Tally;

static void count(Tally *t, const Answer *a)
{
    t->cases += a->oracle.allowed;
    t->compared += a->compared;
    if (!a->read) {
        t->refused++;
        return;
    }
    t->disagree[a->what]++;
    if (a->what != AGREE)
        return;
    if (a->oracle.verdict & ORACLE_OUTSIDE)
        t->not_modelled++;
    else if (a->kind == WS_VERDICT_PROVED)
        t->proved++;
    else if (a->errors)
        t->refuted++;
    else if (t->outside++, !a->unjudged)
        *(a->oracle.bad ? &t->outside_wrong : &t->outside_right) += 1;
}

static void test_control(void)
{
    Tally t = { 0 };
    gint64 begin = g_get_monotonic_time();
    for (guint i = 0; i < n_designs; i++) {
        g_autofree char *text = control_design(first_seed + i);
        Answer a = answer_of(text, ANSWER_CONTROL);
        count(&t, &a);
        if (a.read && a.what == AGREE && a.kind == WS_VERDICT_OUTSIDE && !a.unjudged &&
            !a.oracle.bad)
            reasons_count(a.reason, first_seed + i);
        if (!a.read && t.refused < 4)
            g_test_message("seed %u: %s", first_seed + i, a.first);
        if (a.what != AGREE) {
            answer_report(folder, first_seed + i, "control", text, &a);
            if (!folder)
                g_test_fail();
        }
        answer_free(&a);
    }
    double seconds = (double)(g_get_monotonic_time() - begin) / 1e6;
    g_test_message(
        "%u designs from seed %u, %.0f s (%.1f a second): %u proved and right, %u refuted "
        "and wrong, %u outside (of a sample %u right, %u wrong), %u refused, %u not modelled",
        n_designs, first_seed, seconds, n_designs / seconds, t.proved, t.refuted, t.outside,
        t.outside_right, t.outside_wrong, t.refused, t.not_modelled);
    g_test_message("%u false proofs, %u unsound, %u false alarms, %u internal messages; "
                   "%" G_GUINT64_FORMAT " cases; %" G_GUINT64_FORMAT
                   " runs of agents as their text means, %u not",
                   t.disagree[FALSE_PROOF], t.disagree[UNSOUND], t.disagree[FALSE_ALARM],
                   t.disagree[INTERNAL], t.cases, t.compared, t.disagree[MEANING]);
    g_autofree char *reasons = reasons_text(8);
    if (reasons)
        g_test_message("%s", reasons);
}

/* One design, made small for as long as the same is said of it. */
static void test_small(void)
{
    g_autofree char *text = control_design(first_seed);
    Answer a = answer_of(text, ANSWER_CONTROL);
    g_autofree char *small = answer_shrunk(text, &a);
    g_test_message("seed %u: %s\n%s", first_seed, a.first ? a.first : "proved", small);
    answer_free(&a);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    watch_begin();
    gboolean small = argc > 2 && strcmp(argv[1], "small") == 0;
    if (small)
        argc--, argv++;
    if (argc > 1)
        first_seed = (guint)atoi(argv[1]);
    if (argc > 2)
        n_designs = (guint)atoi(argv[2]);
    if (argc > 3)
        folder = argv[3];
    g_test_add_func("/oracle/control", small ? test_small : test_control);
    return g_test_run();
}
