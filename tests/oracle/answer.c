#include "answer.h"
#include "claim.h"
#include "draw/fault.h"
#include "follow.h"
#include "meaning.h"
#include "model/design.h"
#include "program/elaborate.h"
#include "program/parts/dtype.h"
#include "program/parts/tensor.h"
#include "program/program.h"
#include "reasons.h"
#include "watch.h"

#include <string.h>

/* Steps that the check may take of one design, of 400 million by default. A design that stays
 * outside takes them all, and nothing can be said of it then: these alone took nine tenths of the
 * time. Of 400 designs of test-control three are proved with the default and not with these. */
#define WORK_OF_CHECK ((guint64)4 << 20)
enum { OUTSIDE_PER_JUDGED = 8 }; /* of designs of random control */

static const char *const word[] = { "agree",   "false-proof", "unsound", "false-alarm",
                                    "meaning", "internal",    "oracle",  "witness" };

/* Rules about what the oracle looks at. */
static gboolean judged(const WsFinding *f)
{
    static const char *const rules[] = { "P-DL",    "P-RACE",  "P-EARLY", "P-ABA",   "P-CNT",
                                         "P-TX",    "P-NB",    "P-EXIT",  "P-CLU",   "G-TWICE",
                                         "G-NEVER", "P-ASYNC", "P-UNDEF", "P-FENCE", "P-PROXY" };
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++)
        if (strcmp(ws_rule(f->rule)->text, rules[i]) == 0)
            return TRUE;
    return FALSE;
}

const char *answer_word(const Answer *a)
{
    return word[a->what];
}

void answer_free(Answer *a)
{
    g_free(a->first);
    g_free(a->reason);
    g_free(a->oracle.text);
}

/* The number behind `name` in the case that a finding names: "[N = 17, L[0] = 3; CTA 1 of 2; 6
 * tiles]". */
static gint64 number_at(const char *text, const char *name, gint64 otherwise)
{
    const char *at = g_strrstr(text, " ["), *found = at ? strstr(at, name) : NULL;
    return found ? g_ascii_strtoll(found + strlen(name), NULL, 10) : otherwise;
}

/* The number before it: "6 tiles". */
static gint64 number_before(const char *text, const char *name, gint64 otherwise)
{
    const char *at = g_strrstr(text, " ["), *found = at ? strstr(at, name) : NULL;
    if (!found)
        return otherwise;
    while (found > at && g_ascii_isdigit(found[-1]))
        found--;
    return g_ascii_strtoll(found, NULL, 10);
}

static Case case_of(const char *finding)
{
    Case c = { .n = number_at(finding, "N = ", 3), .d = number_at(finding, "D = ", 1) };
    const char *place = strstr(finding, "tile ");
    c.tiles = (guint)number_before(finding, " tile", 1);
    if (place && g_ascii_isdigit(place[5]))
        c.tiles = MAX(c.tiles, (guint)g_ascii_strtoull(place + 5, NULL, 10) + 1);
    return c;
}

/* The sizes and elements that a finding names: more of them than were looked at. */
static void judge_named(const WsProgram *p, const char *finding, const JudgeOptions *o,
                        Judgement *j)
{
    static const gint64 element[] = { 0, 1, -1, 2, 40, 0, 1, -1, 1, 0, 2, 2, 0, 3 },
                        step[] = { 0, 0, 0, 0, 0, 1, -1, 2, 1, 2, -1, -2, -1, -3 };
    Case named = case_of(finding), c = named;
    gint64 value = number_at(finding, "e = ", number_at(finding, "[0] = ", 0));
    c.element = value;
    c.element_step = number_at(finding, "[1] = ", value) - value;
    judge_case(p, c, 0, FALSE, j);
    for (guint i = 0; i < (o->elements ? G_N_ELEMENTS(element) : 1) && !j->bad; i++) {
        c.element = element[i];
        c.element_step = step[i];
        judge_case(p, c, 0, FALSE, j);
    }
    /* a name of the tile may be made of sizes */
    c = named;
    for (gint64 n = ABS(value); n <= ABS(value) + 1 && value && !j->bad; n++) {
        Case other = { .n = n, .d = c.d, .tiles = c.tiles };
        judge_case(p, other, 0, FALSE, j);
        other = (Case){ .n = c.n, .d = n, .tiles = c.tiles };
        judge_case(p, other, 0, FALSE, j);
    }
    if (!o->elements)
        return;
    for (gint64 x = value - 2; x <= value + 2 && !j->bad; x++) {
        c.element = x;
        judge_case(p, c, 0, FALSE, j);
    }
    for (gint64 x = -75; x <= 65 && !j->bad; x++)
        for (gint64 n = -1; n < (o->control ? 16 : 0) && !j->bad; n++) {
            c.element = x;
            c.n = n < 0 ? named.n : n;
            judge_case(p, c, 0, FALSE, j);
        }
}

/* Do values of integer tensors matter? Texts name an element `T[…]`. */
static gboolean has_elements(const WsProgram *p, const char *text)
{
    for (guint i = 0; i < p->n_tensors; i++) {
        g_autofree char *element = g_strdup_printf("%s[", p->tensor[i].name);
        if (p->tensor[i].dtype == WS_DTYPE_I32 && strstr(text, element))
            return TRUE;
    }
    return FALSE;
}

/* The run that shows the finding must be possible and end wrong; what differs, NULL: nothing. */
static char *astray(WsProgram *p, const WsFindings *told, guint *followed)
{
    const WsFinding *first = NULL;
    for (guint i = 0; !first && i < told->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(told->list, i);
        first = f->severity == WS_SEVERITY_ERROR ? f : NULL;
    }
    g_autoptr(WsWitness) w = ws_witness_new(p, first, NULL);
    /* whether an output is written is told of some elements, and does not say which */
    if (!w || ws_rule(w->rule)->klass == WS_CLASS_G)
        return NULL;
    ++*followed;
    g_autofree char *lost = follow(w);
    g_autofree char *said = lost ? ws_witness_text(w, FALSE) : NULL;
    return lost ? g_strdup_printf("%s\n%s", lost, said) : NULL;
}

/* The launch that the first finding names goes wrong; TRUE and the reason in the answer if not. */
static gboolean claims_wrong(const WsProgram *p, const WsFindings *said, Judgement *j)
{
    for (guint i = 0; i < said->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(said->list, i);
        if (f->severity != WS_SEVERITY_ERROR || ws_rule(f->rule)->klass != WS_CLASS_P)
            continue;
        char *text = NULL;
        guint verdict = 0;
        ClaimKind kind = judged(f) ? claim_judge(p, f, &verdict, &text) : CLAIM_UNKNOWN;
        if (kind == CLAIM_HOLDS)
            j->bad = TRUE, j->verdict |= verdict;
        if (text) {
            g_free(j->text);
            j->text = text;
        }
        return kind == CLAIM_WRONG;
    }
    return FALSE;
}

static Answer asked(const char *text, AnswerKind how);

Answer answer_of(const char *text, AnswerKind how)
{
    g_free(watch_take());
    Answer a = asked(text, how);
    char *message = watch_take();
    if (message) {
        a.read = TRUE;
        a.what = INTERNAL;
        g_free(a.first);
        a.first = message;
    }
    return a;
}

static Answer asked(const char *text, AnswerKind how)
{
    JudgeOptions options = { .most_n = 4, .most_tiles = 3, .most_d = 2, .max_cases = 40 };
    gboolean thorough = how == ANSWER_THOROUGH;
    options.accesses = thorough;
    options.control = how == ANSWER_CONTROL;
    options.max_explored = thorough ? 30 : 10;
    options.cap = thorough ? 20000 : 4000;
    options.max_states = thorough ? 150000 : 12000;
    Answer a = { .how = how };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), "random", findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) {
        g_autofree char *all = ws_findings_print(findings, "random");
        a.first = g_steal_pointer(&all);
        return a;
    }
    a.read = TRUE;
    options.elements = has_elements(p, text);
    g_autoptr(WsFindings) said = ws_findings_new();
    const WsCheckOptions check = { .verdict_only = !thorough,
                                   .max_work = thorough ? 0 : WORK_OF_CHECK };
    g_autoptr(WsVerdict) v = ws_check(p, &check, said);
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
    a.reason = g_strdup(v->reason);
    if (!a.first && v->reason)
        a.first = ws_phrase_text(v->reason, NULL, NULL);
    /* nothing is said of it that could be wrong: for the figures one in some is enough */
    a.unjudged = options.control && a.kind == WS_VERDICT_OUTSIDE && a.errors == 0 &&
                 g_str_hash(text) % OUTSIDE_PER_JUDGED != 0;
    if (!a.unjudged)
        a.oracle = judge(p, &options);
    a.judged = a.judged && !a.elsewhere;
    gboolean lies =
        a.kind == WS_VERDICT_REFUTED && !a.elsewhere && claims_wrong(p, said, &a.oracle);
    if (!a.oracle.bad && a.judged) /* more rounds or tiles than were looked at? */
        judge_named(p, a.first, &options, &a.oracle);
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
    if (a.what == AGREE && lies && !capped)
        a.what = FALSE_ALARM;
    char *other = meaning_differs(text, p, &a.compared);
    if (other) {
        a.what = MEANING;
        g_free(a.oracle.text);
        a.oracle.text = other;
    }
    if (a.what == AGREE && a.kind == WS_VERDICT_REFUTED && thorough && !a.elsewhere) {
        g_autofree char *lost = astray(p, said, &a.followed);
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
    Answer a = answer_of(text, like->how);
    gboolean same = a.read && a.what == like->what &&
                    (!like->oracle.bad || (a.oracle.verdict & like->oracle.verdict & ORACLE_BAD));
    if (same && like->what == AGREE)
        same = a.kind == like->kind && a.oracle.bad == like->oracle.bad &&
               reasons_same(a.reason, like->reason);
    answer_free(&a);
    return same;
}

char *answer_shrunk(const char *text, const Answer *like)
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

/* Alarms of one rule look alike, and to shrink one takes as long as to judge a thousand designs:
 * of each rule the first ones are made small. Of what is worse, all. */
static gboolean worth_shrinking(const Answer *a)
{
    enum { ALARMS_OF_A_RULE = 2 };
    static GHashTable *alarms; /* rule -> how many */
    if (a->what != FALSE_ALARM)
        return TRUE;
    if (!alarms)
        alarms = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree char *rule = g_strndup(a->first, strcspn(a->first, " "));
    guint n = GPOINTER_TO_UINT(g_hash_table_lookup(alarms, rule)) + 1;
    g_hash_table_replace(alarms, g_steal_pointer(&rule), GUINT_TO_POINTER(n));
    return n <= ALARMS_OF_A_RULE;
}

static void write_design(const char *folder, guint seed, const char *text, const Answer *a)
{
    g_autofree char *file = g_strdup_printf("%s/%s-%u.wstave", folder, word[a->what], seed);
    g_autofree char *said = g_strdup_printf("seed %u; oracle: %s; check: %s %s", seed,
                                            a->oracle.text ? a->oracle.text : "right",
                                            ws_verdict_word(a->kind), a->first ? a->first : "");
    g_strdelimit(said, "\n\"\\", ' ');
    g_autofree char *note =
        g_strdup_printf("{\n  \"note\": \"%s\",\n%s", said, *text == '{' ? text + 1 : text);
    g_file_set_contents(file, note, -1, NULL);
}

static GHashTable *known; /* shrunk texts */

void answer_report(const char *folder, guint seed, const char *origin, const char *text,
                   const Answer *a)
{
    if (!worth_shrinking(a)) {
        g_test_message("seed %u: %s, left as it is\n%s\ncheck: %s", seed, word[a->what], origin,
                       a->first);
        if (folder)
            write_design(folder, seed, text, a);
        return;
    }
    g_autofree char *small = answer_shrunk(text, a);
    Answer s = answer_of(small, a->how);
    if (!known)
        known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (g_hash_table_add(known, g_strdup(small))) {
        g_test_message("seed %u: %s\n%s\noracle: %s\ncheck: %s %s\n%s", seed, word[a->what], origin,
                       s.oracle.text ? s.oracle.text : "right", ws_verdict_word(s.kind),
                       s.first ? s.first : "", small);
        if (folder)
            write_design(folder, seed, small, &s);
    }
    answer_free(&s);
}
