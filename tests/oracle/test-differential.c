/* The check against the oracle on random small designs: what the check calls right must be right in
 * every interleaving of every small size, and what it refutes must go wrong in some. Arguments:
 * first seed, number of designs, and `prove` for proofs, too (default: a fixed sample without
 * proofs;
 * `./dev soak` takes more). */
#include "check/check.h"
#include "model/design.h"
#include "oracle.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROUNDS 6
#define MAX_TILES  3

static guint first_seed = 1, n_designs = 300;
static gboolean prove;

/* Rules about what the oracle looks at; the others concern registers, proxies, undefined values. */
static gboolean judged(const WsFinding *f)
{
    static const char *const rules[] = { "P-DL", "P-RACE", "P-EARLY", "P-ABA", "P-CNT",
                                         "P-TX", "P-NB",   "P-EXIT",  "P-CLU" };
    /* N1 as the check takes it is stricter than need be where one agent joins alone. */
    if (strstr(f->message, "nothing before it says that the earlier one is over"))
        return FALSE;
    /* the oracle has one thread per agent */
    if (strstr(f->message, "other lanes") || strstr(f->message, "before every thread"))
        return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++)
        if (strcmp(ws_rule(f->rule)->text, rules[i]) == 0)
            return TRUE;
    return FALSE;
}

typedef struct {
    guint right, refuted, skipped, capped, unsound, alarms, proved, false_proofs;
} Tally;

static guint oracle_verdict(const WsProgram *p, gboolean tiles, char **text)
{
    guint verdict = 0;
    for (guint t = tiles ? 0 : 1; t <= (tiles ? MAX_TILES : 1u); t++)
        for (gint64 n = 0; n <= MAX_ROUNDS; n++) {
            g_autoptr(WsFindings) findings = ws_findings_new();
            WsSize size[2] = { { "N", n }, { "T", tiles ? t : 1 } };
            g_autoptr(WsLaunchValues) v = ws_launch_values(p, size, 2, FALSE, findings);
            OracleOptions options = { .tiles = t, .cap = 60000, .stop = TRUE };
            if (!v)
                continue;
            OracleResult r = oracle_run(p, v, &options);
            if (r.verdict && !*text) {
                g_autofree char *say = oracle_text(&r);
                *text = g_strdup_printf("N = %d, %u tiles: %s", (int)n, t, say);
            }
            verdict |= r.verdict;
            if (verdict & ~(guint)ORACLE_EXHAUSTED)
                return verdict;
        }
    return verdict;
}

static void compare(guint seed, Tally *tally)
{
    guint faults = 0;
    g_autofree char *text = random_design(seed, &faults);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), "random", findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) {
        if (faults == 0) {
            g_autofree char *all = ws_findings_print(findings, "random");
            g_test_message("seed %u does not elaborate:\n%s", seed, all);
            g_test_fail();
        }
        tally->skipped++;
        return;
    }
    g_autoptr(WsFindings) check = ws_findings_new();
    WsCheckOptions options = { .prove = prove };
    g_autoptr(WsVerdict) verdict = ws_check(p, &options, check);
    guint errors = 0, about_oracle = 0;
    for (guint i = 0; i < check->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(check->list, i);
        errors += f->severity == WS_SEVERITY_ERROR;
        about_oracle += f->severity == WS_SEVERITY_ERROR && judged(f);
    }
    g_autofree char *say = NULL;
    guint oracle = oracle_verdict(p, strstr(text, "persistent") != NULL, &say);
    gboolean bad = (oracle & ~(guint)(ORACLE_EXHAUSTED | ORACLE_OUTSIDE)) != 0;
    const char *what = NULL;
    if (oracle & ORACLE_OUTSIDE)
        tally->skipped++;
    else if (bad && errors == 0)
        what = "UNSOUND: the check finds nothing", tally->unsound++;
    else if (!bad && (oracle & ORACLE_EXHAUSTED))
        tally->capped++;
    else if (!bad && about_oracle > 0)
        what = "FALSE ALARM: the oracle finds nothing", tally->alarms++;
    else if (bad)
        tally->refuted++;
    else
        tally->right++;
    gboolean proof = verdict->kind == WS_VERDICT_PROVED && !(oracle & ORACLE_OUTSIDE);
    tally->proved += proof && !bad;
    if (proof && bad)
        what = "FALSE PROOF: it goes wrong", tally->false_proofs++;
    if (faults == 0 && (bad || errors) && !what)
        what = "a design without fault is refuted";
    if (!what)
        return;
    g_autofree char *all = ws_findings_print(check, "random");
    g_test_message("seed %u: %s\noracle: %s\ncheck:\n%s\n%s", seed, what, say ? say : "right", all,
                   text);
    g_test_fail();
}

static void test_differential(void)
{
    Tally tally = { 0 };
    for (guint i = 0; i < n_designs; i++)
        compare(first_seed + i, &tally);
    g_test_message("%u designs: %u right, %u refuted by both, %u skipped, %u not exhausted, "
                   "%u unsound, %u false alarms, %u proved, %u false proofs",
                   n_designs, tally.right, tally.refuted, tally.skipped, tally.capped,
                   tally.unsound, tally.alarms, tally.proved, tally.false_proofs);
    if (n_designs > 50)
        g_assert_cmpuint(tally.right + tally.refuted, >, n_designs / 2);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    if (argc > 1)
        first_seed = (guint)atoi(argv[1]);
    if (argc > 2)
        n_designs = (guint)atoi(argv[2]);
    prove = argc > 3 && strcmp(argv[3], "prove") == 0;
    g_test_add_func("/oracle/differential", test_differential);
    return g_test_run();
}
