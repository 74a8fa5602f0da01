/* Designs through the rehearsal: the shipped GEMMs come out right for every size and order tried,
 * and designs broken on purpose do not. */
#include "../whole.h"
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

typedef struct {
    const char *from, *to; /* the first place of `from` in the text */
} Change;

typedef struct {
    const char *name, *file;
    WsSetting set[2];
    gint64 size[3]; /* M, N, K; all -1: the design's rehearsal sizes */
    gint64 sms;
    guint64 seeds;
} Case;

#define COOPERATIVE "tests/designs/gemm-cooperative.wstave"
#define ALIASED     "tests/designs/gemm-aliased.wstave"
#define PINGPONG    "tests/designs/gemm-pingpong.wstave"
#define CLUSTER     "tests/designs/gemm-cluster.wstave"
#define DEFAULT                                                                                    \
    {                                                                                              \
        -1, -1, -1                                                                                 \
    }

static const Case right[] = {
    { "cooperative", COOPERATIVE, { { 0 } }, DEFAULT, 0, 2 },
    { "cooperative one row", COOPERATIVE, { { 0 } }, { 1, 8, 8 }, 0, 2 },
    { "cooperative ragged", COOPERATIVE, { { 0 } }, { 200, 264, 136 }, 0, 2 },
    { "cooperative ragged, one CTA", COOPERATIVE, { { 0 } }, { 136, 264, 72 }, 1, 1 },
    { "cooperative K = 1", COOPERATIVE, { { 0 } }, { 130, 40, 1 }, 0, 1 },
    { "cooperative one k block", COOPERATIVE, { { 0 } }, { 256, 512, 64 }, 3, 1 },
    { "cooperative M = 0", COOPERATIVE, { { 0 } }, { 0, 8, 8 }, 0, 1 },
    { "cooperative N = 0", COOPERATIVE, { { 0 } }, { 8, 0, 8 }, 0, 1 },
    { "cooperative STAGES=3", COOPERATIVE, { { "STAGES", 3 } }, { 200, 264, 328 }, 0, 2 },
    { "cooperative STAGES=2", COOPERATIVE, { { "STAGES", 2 } }, { 128, 264, 328 }, 0, 1 },
    { "cooperative BN=128", COOPERATIVE, { { "BN", 128 } }, { 200, 264, 136 }, 0, 2 },
    { "aliased", ALIASED, { { 0 } }, { 200, 520, 200 }, 0, 2 },
    { "pingpong", PINGPONG, { { 0 } }, { 200, 392, 200 }, 0, 2 },
    { "pingpong small", PINGPONG, { { 0 } }, { 64, 128, 64 }, 1, 1 },
    { "cluster", CLUSTER, { { 0 } }, { 300, 264, 200 }, 2, 2 },
    { "cluster, one tile row empty", CLUSTER, { { 0 } }, { 100, 72, 80 }, 2, 1 },
};

static WsProgram *load(const char *file, const Change *change, guint n_change, const WsSetting *set,
                       guint n_set)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, file, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, &error));
    for (guint i = 0; i < n_change && change[i].from; i++) {
        char *at = strstr(text, change[i].from);
        g_assert_nonnull(at);
        char *after = g_strdup(at + strlen(change[i].from));
        *at = 0;
        char *whole = g_strconcat(text, change[i].to, after, NULL);
        g_free(after);
        g_free(text);
        text = whole;
    }
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), path, findings);
    WsProgram *p = design ? ws_elaborate(design, set, n_set, findings) : NULL;
    if (!p) {
        g_autofree char *what = ws_findings_print(findings, file);
        g_error("%s does not elaborate: %s", file, what);
    }
    g_free(text);
    return p;
}

static WsRehearseResult *rehearse(WsRehearsal *s, const gint64 *size, gint64 sms, guint64 seed)
{
    static const char *const names[] = { "M", "N", "K" };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    WsRehearseOptions o = { .seed = seed,
                            .sms = sms,
                            .size_name = names,
                            .size = size,
                            .n_size = size && size[0] >= 0 ? 3 : 0 };
    WsRehearseResult *r = ws_rehearsal_run(s, &o, findings, &error);
    if (!r) {
        g_autofree char *text = ws_findings_print(findings, NULL);
        g_error("%s: %s", error->message, text);
    }
    return r;
}

static void test_right(gconstpointer data)
{
    const Case *c = data;
    guint n_set = 0;
    while (n_set < G_N_ELEMENTS(c->set) && c->set[n_set].name)
        n_set++;
    g_autoptr(WsProgram) p = load(c->file, NULL, 0, c->set, n_set);
    g_autoptr(WsRehearsal) rehearsal = ws_rehearsal_new(p);
    for (guint64 seed = 0; seed < c->seeds; seed++) {
        WsRehearseResult *r = rehearse(rehearsal, c->size, c->sms, seed);
        g_test_message("%s seed %u: %" G_GUINT64_FORMAT " elements, %" G_GUINT64_FORMAT
                       " switches, worst %g of %g",
                       c->name, (guint)seed, r->elements, r->switches, r->worst_error,
                       r->worst_tolerance);
        g_assert_cmpstr(r->stuck, ==, NULL);
        g_assert_cmpstr(r->first_violation, ==, NULL);
        g_assert_cmpstr(r->first_race, ==, NULL);
        g_assert_cmpstr(r->first_wrong, ==, NULL);
        g_assert_true(r->matches);
        if (c->size[0] >= 0)
            g_assert_cmpuint(r->elements, ==, (guint64)(c->size[0] * c->size[1]));
        ws_rehearse_result_free(r);
    }
}

/* --- broken on purpose --------------------------------------------------------------------------
 */
typedef struct {
    const char *name, *file;
    Change change[3];
    const char
        *stuck; /* a part of the report that every seed gives; NULL: any sign in most seeds */
    guint seen; /* seeds of 4 in which it must show */
} Broken;

#define RELEASE "{ \"arrive\": \"empty\", \"use\": \"k.total - 1\", \"when\": \"k > 0\" }"
#define LAST_RELEASE                                                                               \
    "{ \"mma_wait\": 0 },\n          { \"arrive\": \"empty\", \"use\": \"k.total - 1\" },"

static const Broken broken[] = {
    { "empty starts pending",
      COOPERATIVE,
      { { "\"slots\": \"STAGES\", \"init\": \"ready\"", "\"slots\": \"STAGES\"" } },
      "load in CTA 0 waits for empty slot 0, parity 0" },
    { "full starts ready",
      COOPERATIVE,
      { { "\"full\", \"slots\": \"STAGES\"",
          "\"full\", \"slots\": \"STAGES\", \"init\": \"ready\"" } },
      NULL },
    { "no wait for full",
      COOPERATIVE,
      { { "{ \"wait\": \"full\", \"use\": \"k.total\" },", "" } },
      NULL },
    { "no wait for empty",
      COOPERATIVE,
      { { "{ \"wait\": \"empty\", \"use\": \"k.total\" },", "" } },
      NULL },
    { "no release after the last k block",
      COOPERATIVE,
      { { LAST_RELEASE, "{ \"mma_wait\": 0 }," } },
      "waits for empty slot" },
    { "no mma_wait in the loop", COOPERATIVE, { { "{ \"mma_wait\": 1 },", "" } }, NULL },
    { "own stage released before its mma_wait",
      COOPERATIVE,
      { { RELEASE, "{ \"arrive\": \"empty\", \"use\": \"k.total\" }" },
        { LAST_RELEASE, "{ \"mma_wait\": 0 }," } },
      NULL },
    { "no mma_wait before the epilogue", COOPERATIVE, { { "{ \"mma_wait\": 0 },", "" } }, NULL },
    { "staging overwritten while the store reads it",
      COOPERATIVE,
      { { "{ \"store_wait\": 1 },", "" } },
      NULL },
    { "store before all have written",
      COOPERATIVE,
      { { "\"use\": \"s.total\" },\n            { \"sync\": \"group\" },",
          "\"use\": \"s.total\" }," } },
      NULL },
    { "nothing lies near an infinite reference",
      COOPERATIVE,
      { { "C[m,n] = sum(k < K, A[m,k]*B[n,k])", "C[m,n] = exp(1000.0)" } },
      NULL },
    { "a reference that is not a number",
      COOPERATIVE,
      { { "C[m,n] = sum(k < K, A[m,k]*B[n,k])", "C[m,n] = sqrt(0.0 - 1.0)" } },
      NULL },
    { "no c_free",
      ALIASED,
      { { "{ \"wait\": \"c_free\", \"use\": \"tile.total\", \"when\": \"k == 0\" },", "" } },
      NULL },
    { "partner never gets the turn",
      PINGPONG,
      { { "{ \"arrive\": \"main_turn[1 - replica]\", \"by\": \"all\", \"use\": \"tile.total\" },",
          "" } },
      "main_turn[1]" },
    { "release in the own CTA only",
      CLUSTER,
      { { "\"arrive\": \"empty\", \"cta\": \"all\", \"use\": \"k.total - 1\" }",
          "\"arrive\": \"empty\", \"use\": \"k.total - 1\" }" } },
      NULL },
};

static void test_broken(gconstpointer data)
{
    const Broken *b = data;
    static const gint64 size[] = { 136, 264, 328 };
    g_autoptr(WsProgram) p = load(b->file, b->change, G_N_ELEMENTS(b->change), NULL, 0);
    g_autoptr(WsRehearsal) rehearsal = ws_rehearsal_new(p);
    gboolean seen = FALSE;
    for (guint64 seed = 0; seed < (b->stuck ? 2 : 8) && (b->stuck || !seen); seed++) {
        WsRehearseResult *r = rehearse(rehearsal, size, 0, seed);
        g_test_message("%s, seed %u: %s | %s | %s | %s", b->name, (guint)seed,
                       r->stuck ? r->stuck : "-", r->first_violation ? r->first_violation : "-",
                       r->first_race ? r->first_race : "-", r->first_wrong ? r->first_wrong : "-");
        g_assert_true(r->matches == (r->ran && !r->wrong && !r->async_races && !r->violations));
        g_assert_true(r->ran == (r->stuck == NULL));
        seen |= !r->matches;
        if (b->stuck) {
            g_assert_nonnull(r->stuck);
            g_assert_nonnull(strstr(r->stuck, b->stuck));
        }
        ws_rehearse_result_free(r);
    }
    g_assert_true(seen);
}

/* The same seed is the same run; another seed another order. */
static void test_seed(void)
{
    static const gint64 size[] = { 136, 264, 136 };
    g_autoptr(WsProgram) p = load(COOPERATIVE, NULL, 0, NULL, 0);
    g_autoptr(WsRehearsal) one = ws_rehearsal_new(p), other = ws_rehearsal_new(p);
    WsRehearseResult *a = rehearse(one, size, 0, 5), *b = rehearse(other, size, 0, 5);
    WsRehearseResult *c = rehearse(one, size, 0, 6);
    g_assert_cmpuint(a->switches, ==, b->switches);
    g_assert_cmpuint(a->switches, !=, c->switches);
    g_assert_cmpfloat(a->worst_error, ==, b->worst_error);
    ws_rehearse_result_free(a);
    ws_rehearse_result_free(b);
    ws_rehearse_result_free(c);
}

/* Values of references that are kept: with them every rehearsal says what it says alone. Other
 * seeds, sizes, references and constants in turn, each of them twice. */
static void test_values(void)
{
    static const Change none = { NULL, NULL }, twice = { "\"C[m,n] = sum(", "\"C[m,n] = 2*sum(" };
    static const struct {
        Change change;
        WsSetting set;
        gint64 size[3];
        guint64 seed;
        gboolean right;
    } runs[] = {
        { none, { "STAGES", 3 }, { 64, 72, 40 }, 1, TRUE },
        { none, { "STAGES", 2 }, { 64, 72, 40 }, 1, TRUE },
        { twice, { "STAGES", 2 }, { 64, 72, 40 }, 1, FALSE },
        { none, { "STAGES", 2 }, { 64, 72, 40 }, 2, TRUE },
        { none, { "STAGES", 2 }, { 72, 64, 40 }, 1, TRUE },
        { none, { "STAGES", 2 }, { 64, 72, 48 }, 1, TRUE },
    };
    static const char *const names[] = { "M", "N", "K" };
    g_autoptr(WsReferenceValues) values = ws_reference_values_new();
    for (guint i = 0; i < 2 * G_N_ELEMENTS(runs); i++) {
        const guint at = i % G_N_ELEMENTS(runs);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(GError) error = NULL;
        g_autoptr(WsProgram) p = load(COOPERATIVE, &runs[at].change, 1, &runs[at].set, 1);
        WsRehearseOptions o = {
            .seed = runs[at].seed, .size_name = names, .size = runs[at].size, .n_size = 3
        };
        WsRehearseResult *alone = ws_rehearse(p, &o, findings, &error);
        g_assert_no_error(error);
        o.values = values;
        WsRehearseResult *kept = ws_rehearse(p, &o, findings, &error);
        g_assert_no_error(error);
        g_assert_true(alone->matches == runs[at].right);
        g_assert_cmpuint(alone->elements, ==, kept->elements);
        g_assert_cmpuint(alone->wrong, ==, kept->wrong);
        g_assert_cmpfloat(alone->worst_error, ==, kept->worst_error);
        g_assert_cmpstr(alone->first_wrong, ==, kept->first_wrong);
        ws_rehearse_result_free(alone);
        ws_rehearse_result_free(kept);
    }
}

static void assert_same(const WsRehearseResult *a, const WsRehearseResult *b)
{
    g_assert_true(a->ran == b->ran && a->matches == b->matches && a->gave_up == b->gave_up);
    g_assert_cmpuint(a->elements, ==, b->elements);
    g_assert_cmpuint(a->wrong, ==, b->wrong);
    g_assert_true(a->worst_error == b->worst_error && a->worst_tolerance == b->worst_tolerance);
    g_assert_cmpstr(a->first_wrong, ==, b->first_wrong);
    g_assert_cmpuint(a->fibers, ==, b->fibers);
    g_assert_cmpuint(a->switches, ==, b->switches);
    g_assert_cmpuint(a->async_races, ==, b->async_races);
    g_assert_cmpstr(a->stuck, ==, b->stuck);
    g_assert_cmpstr(a->first_race, ==, b->first_race);
    g_assert_cmpuint(a->clock, ==, b->clock);
    g_assert_cmpuint(a->violations, ==, b->violations);
    g_assert_cmpstr(a->first_violation, ==, b->first_violation);
}

#define CLOCK 7
/* Holds nobody; every operation sets the clock. */
static WsHold *counted(const WsProgram *p)
{
    WsHold *h = ws_hold_new();
    for (guint i = 0; i < p->n_ops; i++) {
        const WsHoldGate gate = { .op = i,
                                  .need = WS_HOLD_FREE,
                                  .then = CLOCK,
                                  .need_after = WS_HOLD_FREE,
                                  .then_after = CLOCK,
                                  .need_others = WS_HOLD_FREE };
        g_array_append_val(h->gate, gate);
    }
    return h;
}

/* Runs of one rehearsal say what each says alone, whatever went before: other seeds, numbers of
 * CTAs and sizes, none at all, sizes that are refused, a run that hangs or is wrong, one that is
 * held. */
static void test_kept(void)
{
    static const Change wrong = { "\"C[m,n] = sum(", "\"C[m,n] = 2*sum(" };
    static const Change *const change[] = { NULL, &broken[0].change[0], &wrong };
    static const struct {
        gint64 size[3];
        gint64 sms;
        guint64 seed;
        gboolean held, keeps;
    } runs[] = {
        { { 64, 72, 40 }, 2, 1, FALSE, FALSE }, { { 64, 72, 40 }, 1, G_MAXUINT64, TRUE, FALSE },
        { { 72, 264, 72 }, 3, 3, FALSE, TRUE }, { { -1, 8, 8 }, 2, 1, FALSE, FALSE },
        { { 0, 8, 8 }, 2, 1, FALSE, FALSE },    { { 64, 72, 40 }, 2, 1, FALSE, TRUE },
    };
    static const char *const names[] = { "M", "N", "K" };
    for (guint k = 0; k < G_N_ELEMENTS(change); k++) {
        g_autoptr(WsProgram) p = load(COOPERATIVE, change[k], change[k] != NULL, NULL, 0);
        g_autoptr(WsRehearsal) rehearsal = ws_rehearsal_new(p);
        g_autoptr(WsReferenceValues) values = ws_reference_values_new();
        g_autoptr(WsHold) hold = counted(p);
        guint ran = 0;
        for (guint i = 0; i < G_N_ELEMENTS(runs); i++) {
            g_autoptr(WsFindings) findings = ws_findings_new();
            g_autoptr(GError) error = NULL, alone_error = NULL;
            WsRehearseOptions o = { .seed = runs[i].seed,
                                    .sms = runs[i].sms,
                                    .size_name = names,
                                    .size = runs[i].size,
                                    .n_size = 3,
                                    .hold = runs[i].held ? hold : NULL };
            WsRehearseResult *alone = ws_rehearse(p, &o, findings, &alone_error);
            o.values = runs[i].keeps ? values : NULL;
            WsRehearseResult *kept = ws_rehearsal_run(rehearsal, &o, findings, &error);
            g_assert_cmpstr(error ? error->message : NULL, ==,
                            alone_error ? alone_error->message : NULL);
            g_assert_true(!alone == !kept && !alone == (error != NULL));
            if (!alone)
                continue;
            g_test_message("%u, run %u: %s", k, i,
                           alone->matches ? "matches"
                           : alone->stuck ? alone->stuck
                                          : "is wrong");
            assert_same(alone, kept);
            g_assert_cmpuint(kept->clock, ==, runs[i].held ? CLOCK : 0);
            ran++;
            ws_rehearse_result_free(alone);
            ws_rehearse_result_free(kept);
        }
        g_assert_cmpuint(ran, ==, 5);
    }
}

/* Every run may add up as many terms as the first. LLVM leaves nothing of this sum but its count.
 */
static void test_terms(void)
{
    static const Change change = { "\"C[m,n] = sum(", "\"C[m,n] = sum(j < 200000000, 0) + sum(" };
    static const gint64 size[] = { 1, 8, 8 };
    g_autoptr(WsProgram) p = load(COOPERATIVE, &change, 1, NULL, 0);
    g_autoptr(WsRehearsal) rehearsal = ws_rehearsal_new(p);
    for (guint64 seed = 1; seed <= 2; seed++) {
        WsRehearseResult *r = rehearse(rehearsal, size, 1, seed);
        g_assert_true(r->matches);
        g_assert_cmpuint(r->elements, ==, 8);
        ws_rehearse_result_free(r);
    }
}

/* Sizes that make no launch, and tensors no machine holds, are errors that say so. */
static void test_refused(void)
{
    static const char *const names[] = { "M", "N", "K" };
    static const gint64 sizes[][3] = { { 8, 8, 0 }, { -1, 8, 8 }, { G_MAXINT64, 8, 8 } };
    g_autoptr(WsProgram) p = load(COOPERATIVE, NULL, 0, NULL, 0);
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(GError) error = NULL;
        WsRehearseOptions o = { .size_name = names, .size = sizes[i], .n_size = 3 };
        g_assert_null(ws_rehearse(p, &o, findings, &error));
        g_assert_nonnull(error);
        g_test_message("%s", error->message);
    }
}

/* Integers are told apart to the last digit, and the worst of them is one that is wrong. */
static void test_integers(void)
{
    static const struct {
        const char *reference, *statement, *first;
        guint64 wrong;
        double error;
    } rows[] = {
        { "2147480000 + 100*m + n", "row*100 + col + 2147480000",
          "Y[36, 48] = -2147483648, reference 2147483648, which its type does not hold", 1744,
          4294967296.0 },
        { "2147483000 + n - m - 1*(m > 62)", "col - row + 2147483000",
          "Y[63, 0] = 2147482937, reference 2147482936", 64, 1 },
        { "n - 2147483647", "col - 2147483647", NULL, 0, 0 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = g_strdup_printf(
            "{ \"warpstave\": 1, \"name\": \"integers\", \"target\": \"sm_90a\", \"tensors\": [{ "
            "\"name\": \"Y\", \"dtype\": \"i32\", \"shape\": [64, 64], \"access\": \"write\" }], "
            "\"reference\": [\"Y[m,n] = %s\"], \"tiles\": { \"axes\": { \"t\": 1 }, \"launch\": "
            "\"single\" }, \"groups\": [{ \"name\": \"math\", \"role\": \"worker\", \"warps\": 4, "
            "\"values\": [{ \"name\": \"y\", \"dtype\": \"i32\", \"tile\": [64, 64] }], \"body\": "
            "[{ "
            "\"compute\": \"y = %s\" }, { \"write\": \"y\", \"to\": \"Y\", \"at\": [0, 0] }] }] }",
            rows[i].reference, rows[i].statement);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(GError) error = NULL;
        g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "integers", findings);
        g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
        g_assert_nonnull(p);
        const WsRehearseOptions o = { .seed = 1 };
        WsRehearseResult *r = ws_rehearse(p, &o, findings, &error);
        g_assert_no_error(error);
        g_assert_cmpstr(r->first_wrong, ==, rows[i].first);
        g_assert_cmpuint(r->wrong, ==, rows[i].wrong);
        g_assert_cmpfloat(r->worst_error, ==, rows[i].error);
        ws_rehearse_result_free(r);
    }
}

/* What the reference says `any` of is compared with nothing, and is no element that matches; where
 * that is all, nothing matches. */
static void test_anything(void)
{
    static const struct {
        const char *reference;
        guint64 elements, anything, wrong;
        gboolean matches;
    } rows[] = {
        { "select(m < 3, m, any)", 192, 3904, 0, TRUE },
        { "select(m < 3, any, select(n < 2, any, m))", 3782, 314, 0, TRUE },
        { "select(m < 3, 0, any)", 192, 3904, 128, FALSE },
        { "any", 0, 4096, 0, FALSE },
        { "m", 4096, 0, 0, TRUE },
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = g_strdup_printf(
            "{ \"warpstave\": 1, \"name\": \"anything\", \"target\": \"sm_90a\", \"tensors\": [{ "
            "\"name\": \"Y\", \"dtype\": \"i32\", \"shape\": [64, 64], \"access\": \"write\" }], "
            "\"reference\": [\"Y[m,n] = %s\"], \"tiles\": { \"axes\": { \"t\": 1 }, \"launch\": "
            "\"single\" }, \"groups\": [{ \"name\": \"math\", \"role\": \"worker\", \"warps\": 4, "
            "\"values\": [{ \"name\": \"y\", \"dtype\": \"i32\", \"tile\": [64, 64] }], \"body\": "
            "[{ \"compute\": \"y = row\" }, { \"write\": \"y\", \"to\": \"Y\", \"at\": [0, 0] }] "
            "}] }",
            rows[i].reference);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(GError) error = NULL;
        g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "anything", findings);
        g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
        g_assert_nonnull(p);
        const WsRehearseOptions o = { .seed = 1 };
        WsRehearseResult *r = ws_rehearse(p, &o, findings, &error);
        g_assert_no_error(error);
        g_test_message("%s", rows[i].reference);
        g_assert_cmpuint(r->elements, ==, rows[i].elements);
        g_assert_cmpuint(r->anything, ==, rows[i].anything);
        g_assert_cmpuint(r->wrong, ==, rows[i].wrong);
        g_assert_cmpint(r->matches, ==, rows[i].matches);
        ws_rehearse_result_free(r);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(right); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strdup_printf("/rehearse/right/%s", right[i].name);
        g_test_add_data_func(path, &right[i], test_right);
    }
    for (guint i = 0; i < G_N_ELEMENTS(broken); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strdup_printf("/rehearse/broken/%s", broken[i].name);
        g_test_add_data_func(path, &broken[i], test_broken);
    }
    g_test_add_func("/rehearse/integers", test_integers);
    g_test_add_func("/rehearse/anything", test_anything);
    g_test_add_func("/rehearse/seed", test_seed);
    g_test_add_func("/rehearse/values", test_values);
    g_test_add_func("/rehearse/kept", test_kept);
    g_test_add_func("/rehearse/terms", test_terms);
    g_test_add_func("/rehearse/refused", test_refused);
    return g_test_run();
}
