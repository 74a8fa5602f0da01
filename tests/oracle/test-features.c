/* The check against the oracle on random designs made of features, two or three at a time, with up
 * to two faults: what the check proves must be right in every interleaving of every small case,
 * what it refutes must go wrong in some. Every pair of features gets its turn. What disagrees is
 * made as small as it can be and written as a design.
 *
 * Arguments: first seed, number of designs, folder for what disagrees, features that are left out
 * ("a,b"). Without them a fixed sample. */
#include "check/witness.h"
#include "compose.h"
#include "fault.h"
#include "follow.h"
#include "judge.h"
#include "model/design.h"

#include <stdlib.h>
#include <string.h>

static guint first_seed = 2001, n_designs = 120;
static const char *folder; /* for what disagrees, NULL: only told */
static char **left_out;    /* features that are not drawn */

typedef enum {
    AGREE,
    FALSE_PROOF,
    UNSOUND,
    FALSE_ALARM,
    INNER,
    ASTRAY,
    N_DISAGREEMENTS
} Disagreement;
static const char *const word[] = { "agree",       "false-proof", "unsound",
                                    "false-alarm", "oracle",      "witness" };

typedef struct {
    gboolean read; /* elaborated */
    WsVerdictKind kind;
    guint errors;
    gboolean elsewhere;
    gboolean judged; /* the first error is about what the oracle looks at */
    char *first;     /* finding */
    Judgement oracle;
    guint followed; /* witnesses */
    Disagreement what;
    gboolean thorough;
} Answer;

/* Rules about what the oracle looks at. */
static gboolean judged(const WsFinding *f)
{
    static const char *const rules[] = { "P-DL", "P-RACE", "P-EARLY", "P-ABA", "P-CNT",
                                         "P-TX", "P-NB",   "P-EXIT",  "P-CLU" };
    /* N1 as the check takes it is stricter than need be where one agent joins alone. */
    if (strstr(f->message, "nothing before it says that the earlier one is over"))
        return FALSE;
    if (strstr(f->message, "lanes") || strstr(f->message, "before every thread"))
        return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++)
        if (strcmp(ws_rule(f->rule)->text, rules[i]) == 0)
            return TRUE;
    return FALSE;
}

static void answer_free(Answer *a)
{
    g_free(a->first);
    g_free(a->oracle.text);
}

/* The number behind `word` in the case that a finding names: "[N = 17; 6 tiles]". */
static gint64 number_at(const char *text, const char *name, gboolean behind, gint64 otherwise)
{
    const char *at = strrchr(text, '['), *found = at ? strstr(at, name) : NULL;
    if (!found)
        return otherwise;
    if (behind)
        return g_ascii_strtoll(found + strlen(name), NULL, 10);
    while (found > at && g_ascii_isdigit(found[-1]))
        found--;
    return g_ascii_strtoll(found, NULL, 10);
}

/* More rounds or tiles than were looked at. */
static void judge_named(const WsProgram *p, const char *finding, Judgement *j)
{
    static const gint64 element[] = { 0, 1, -1, 2, 40, 0, 1, -1 },
                        step[] = { 0, 0, 0, 0, 0, 1, -1, 2 };
    Case c = { .n = number_at(finding, "N = ", TRUE, 3), .d = number_at(finding, "D = ", TRUE, 1) };
    c.tiles = (guint)number_at(finding, " tile", FALSE, 1);
    for (guint i = 0; i < G_N_ELEMENTS(element) && !j->bad; i++) {
        c.element = element[i];
        c.element_step = step[i];
        judge_case(p, c, 0, FALSE, j);
    }
}

/* The run that shows the finding must be possible and end wrong; what differs, NULL: nothing. */
static char *astray(WsProgram *p, guint *followed)
{
    g_autoptr(WsWitness) w = ws_witness_new(p, NULL, NULL);
    if (!w || w->pinned)
        return NULL;
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsSize size[8];
    guint n = 0;
    for (guint i = 0; i < p->n_vars && n < G_N_ELEMENTS(size); i++)
        if (p->var[i].kind == WS_VAR_SIZE)
            size[n++] = (WsSize){ p->var[i].name, w->size[i] };
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, size, n, FALSE, findings);
    if (!v)
        return NULL;
    ++*followed;
    g_autofree char *lost = follow(w, v);
    g_autofree char *said = lost ? ws_witness_text(w, FALSE) : NULL;
    return lost ? g_strdup_printf("%s\n%s", lost, said) : NULL;
}

static Answer answer_of(const char *text, gboolean thorough)
{
    JudgeOptions options = { .most_n = 4, .most_tiles = 3, .most_d = 2, .max_cases = 40 };
    options.accesses = thorough;
    options.max_explored = thorough ? 30 : 10;
    options.cap = thorough ? 20000 : 4000;
    options.max_states = thorough ? 150000 : 12000;
    Answer a = { .thorough = thorough };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), "random", findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) {
        g_autofree char *all = ws_findings_print(findings, "random");
        a.first = g_steal_pointer(&all);
        return a;
    }
    a.read = TRUE;
    g_autoptr(WsFindings) said = ws_findings_new();
    g_autoptr(WsVerdict) v = ws_check(p, NULL, said);
    a.kind = v->kind;
    for (guint i = 0; i < said->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(said->list, i);
        if (f->severity != WS_SEVERITY_ERROR)
            continue;
        if (!a.errors++) {
            a.first = g_strdup_printf("%s %s", ws_rule(f->rule)->text, f->message);
        }
        a.judged = a.judged || judged(f);
        a.elsewhere =
            a.elsewhere || f->rule == WS_RULE_P_TILE; /* where claims stand is not judged */
    }
    if (!a.first && v->reason)
        a.first = g_strdup(v->reason);
    a.oracle = judge(p, &options);
    a.judged = a.judged && !a.elsewhere;
    if (!a.oracle.bad && a.judged) /* more rounds or tiles than were looked at? */
        judge_named(p, a.first, &a.oracle);
    gboolean capped = (a.oracle.verdict & ORACLE_OUTSIDE) != 0;
    if (a.oracle.inner)
        a.what = INNER;
    else if (a.oracle.bad && a.kind == WS_VERDICT_PROVED)
        a.what = FALSE_PROOF;
    else if (a.oracle.bad && a.errors == 0 && a.kind != WS_VERDICT_OUTSIDE)
        a.what = UNSOUND;
    else if (!a.oracle.bad && a.judged && !capped &&
             !(a.oracle.verdict & ORACLE_UNSEEN)) /* refuted by the text alone */
        a.what = FALSE_ALARM;
    if (a.what == AGREE && a.kind == WS_VERDICT_REFUTED && thorough && !a.elsewhere) {
        g_autofree char *lost = astray(p, &a.followed);
        if (lost) {
            a.what = ASTRAY;
            g_free(a.oracle.text);
            a.oracle.text = g_steal_pointer(&lost);
        }
    }
    return a;
}

/* --- shrinking -----------------------------------------------------------------------------------
 */

static gboolean shows(const char *text, const Answer *like)
{
    Answer a = answer_of(text, like->thorough);
    gboolean same = a.read && a.what == like->what &&
                    (!like->oracle.bad || (a.oracle.verdict & like->oracle.verdict & ORACLE_BAD));
    answer_free(&a);
    return same;
}

static char *shrunk(const char *text, const Answer *like)
{
    char *best = g_strdup(text);
    for (gboolean again = TRUE; again;) {
        again = FALSE;
        for (guint nth = 0;;) {
            g_autofree char *candidate = simpler(best, nth);
            if (!candidate)
                break;
            if (strcmp(candidate, best) != 0 && shows(candidate, like)) {
                g_free(best);
                best = g_steal_pointer(&candidate);
                again = TRUE;
            } else {
                nth++;
            }
        }
    }
    return best;
}

static GHashTable *known; /* shrunk texts */

static void report(guint seed, const Composed *c, const char *text, const Answer *a,
                   const char *faults)
{
    g_autofree char *small = shrunk(text, a);
    Answer s = answer_of(small, a->thorough);
    if (!known)
        known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (g_hash_table_add(known, g_strdup(small))) {
        g_test_message("seed %u: %s\nfeatures:%s%s%s%s\nfaults:%s\noracle: %s\ncheck: %s %s\n%s",
                       seed, word[a->what], c->n > 0 ? " " : "",
                       c->n > 0 ? compose_name(c->feature[0]) : "", c->n > 1 ? " " : "",
                       c->n > 1 ? compose_name(c->feature[1]) : "", faults,
                       s.oracle.text ? s.oracle.text : "right", ws_verdict_word(s.kind),
                       s.first ? s.first : "", small);
        if (folder) {
            g_autofree char *file = g_strdup_printf("%s/%s-%u.wstave", folder, word[a->what], seed);
            g_autofree char *note =
                g_strdup_printf("{\n  \"note\": \"seed %u; oracle: %s; check: %s %s\",\n%s", seed,
                                s.oracle.text ? s.oracle.text : "right", ws_verdict_word(s.kind),
                                s.first ? s.first : "", strchr(small, '\n') + 1);
            g_file_set_contents(file, note, -1, NULL);
        }
    }
    answer_free(&s);
}

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
    Answer a = answer_of(text, seed % 16 == 0);
    count(t, &a);
    count_pairs(t, &c, &a);
    if (!a.read && faults->len == 0) {
        t->unread++;
        g_test_message("seed %u does not elaborate: %s\n%s", seed, a.first, text);
    }
    if (a.what != AGREE) {
        report(seed, &c, text, &a, faults->str);
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
