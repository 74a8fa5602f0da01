/* The proof for all trip counts: what is right closes, what is wrong never does, and what closes is
 * clean in the play. The oracle is held against it in tests/oracle/test-differential.c. */
#include "../cputime.h"
#include "../oracle/draw/random.h"
#include "base/phrase.h"
#include "check/proof/bits/bits.h"
#include "design.h"
#include "program/elaborate.h"

#include <stdlib.h>

static WsProgram *program_of(const char *text, const char *name, gboolean *clean)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), name, findings);
    WsProgram *p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    *clean = ws_findings_count(findings, WS_SEVERITY_ERROR) == 0;
    return p;
}

static WsProof *prove(const WsProgram *p, guint max_states)
{
    const WsBitOptions options = { .max_states = max_states };
    return ws_bits_prove(p, &options);
}

static WsProgram *shipped(const char *file)
{
    g_autofree char *text = edited_text(file, NULL);
    gboolean clean;
    WsProgram *p = program_of(text, file, &clean);
    g_assert_true(clean);
    return p;
}

/* --- shipped designs -------------------------------------------------------------------------- */
typedef struct {
    const char *file, *names; /* what it must quantify over, or part of it */
} Proved;
static const Proved proved[] = {
    { "gemm-cooperative.wstave", "every number of tiles, every cdiv(K, 64) >= 1" },
    { "gemm-aliased.wstave", "every cdiv(K, 64) >= 1" },
    { "gemm-fp8-block.wstave", "every number of tiles, every kt" },
    { "attention-fa3-dynamic.wstave", "every nb >= 1 of each tile" },
    { "gemm-pingpong.wstave", "every number of tiles, every kt >= 1" },
    { "gemm-cluster.wstave", "every number of tiles" },
    { "attention-tle-pingpong.wstave", "every nb >= 1" },
    { "attention-fa3-causal.wstave", "every nb >= 1 of each tile" },
    { "sparse-mla-seesaw.wstave", "one tile, every np >= 1" },
    { "sparse-mla-pipes.wstave", "every np of each tile" },
};

static void test_shipped(gconstpointer data)
{
    const Proved *row = data;
    g_autoptr(WsProgram) p = shipped(row->file);
    WsProof *proof = prove(p, 16000);
    if (proof->kind != WS_PROOF_CLOSED)
        g_test_message("%s: %s (%s)", row->file, proof->why, proof->path ? proof->path : "");
    g_assert_cmpint(proof->kind, ==, WS_PROOF_CLOSED);
    g_autofree char *names = ws_proof_text(proof->names);
    g_test_message("%s: %s, %u states, %u merges, %.1f ms", row->file, names, proof->states,
                   proof->merges, proof->seconds * 1e3);
    g_assert_nonnull(strstr(names, row->names));
    ws_proof_free(proof);
}

/* A cap is said, never passed over. */
static void test_cap(void)
{
    g_autoptr(WsProgram) p = shipped("gemm-cooperative.wstave");
    WsCheckOptions options = { .max_states = 5 };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) v = ws_check(p, &options, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_OUTSIDE);
    g_autofree char *reason = ws_phrase_text(v->reason, NULL, NULL);
    g_assert_cmpstr(reason, ==, "more than 5 states");
    g_autofree char *text = ws_verdict_text(v);
    g_assert_true(g_str_has_prefix(text, "undecided: more than 5 states; no error found"));
}

/* clang-format off */
#define AGAIN(first)                                                                               \
    { "[\"K >= 1\"]", "[\"K >= 1\", \"M >= 1\"]" },                                                 \
    { "{ \"for\": \"k\"", "{ \"for\": \"r\", \"count\": \"M\", \"do\": [{ \"for\": \"k\"" },         \
    { "\"first\": \"k == 0\" }\n            ] }\n          ] }",                                    \
      "\"first\": \"" first "\" }\n            ] }\n          ] }] }" }
/* clang-format on */

/* Steps that run ahead in a loop within a counted loop. Where the index is compared with another
 * size than its own count, the loop is said by name. */
static void test_again(void)
{
    static const Edit edit[3][MAX_EDITS] = {
        { AGAIN("k == 0 || k == M") },
        { AGAIN("k == 0") },
        { AGAIN("k == 0"),
          { "\"pipe_order\": 1, ", "\"pipe_order\": 1, \"executor\": \"ahead\", " },
          { "\"groups\": [", "\"groups\": [{ \"name\": \"ahead\", \"role\": \"producer\", "
                             "\"warps\": 4, \"body\": [] }," } },
    };
    for (guint i = 0; i < G_N_ELEMENTS(edit); i++) {
        g_autofree char *text = edited_text("../import/tle/staged.wstave", edit[i]);
        gboolean clean;
        g_autoptr(WsProgram) p = program_of(text, "again", &clean);
        g_assert_true(clean);
        WsProof *proof = prove(p, 1500);
        g_autofree char *why = proof->why ? ws_phrase_text(proof->why, NULL, NULL) : NULL;
        g_test_message("%s", why ? why : "closed");
        g_assert_cmpint(proof->kind, ==, i ? WS_PROOF_CLOSED : WS_PROOF_CAP);
        g_assert_true(i || strstr(why, "loop k compares its index with a size, and r starts it"));
        ws_proof_free(proof);
    }
}

/* A column chosen by an index: closed only because K is bounded by an assumption. */
static void test_columns(void)
{
    const Edit edit[MAX_EDITS] = { { "\"K <= KBMAX*BK\", ", "" } };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = edited_program("gemm-fp8-block.wstave", edit, NULL, 0, findings);
    g_assert_nonnull(p);
    WsProof *proof = prove(p, 600);
    g_assert_cmpint(proof->kind, !=, WS_PROOF_CLOSED);
    ws_proof_free(proof);
}

/* The verdict is the proof, unless only a play is asked for. */
static void test_default(void)
{
    g_autoptr(WsProgram) p = shipped("sparse-mla-pipes.wstave");
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsCheckOptions options = { .play_only = TRUE };
    g_autoptr(WsVerdict) v = ws_check(p, &options, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_PLAYED);
    g_assert_null(v->proof);
    g_autoptr(WsVerdict) w = ws_check(p, NULL, findings);
    g_assert_cmpint(w->kind, ==, WS_VERDICT_PROVED);
    g_autofree char *text = ws_verdict_text(w);
    g_assert_true(g_str_has_prefix(text, "proved for every interleaving over one tile, every np"));
    g_assert_cmpuint(w->names->len, ==, 2);
    const WsProvedName *np = w->names->pdata[1];
    g_assert_cmpint(np->kind, ==, WS_NAME_STREAM);
    g_assert_cmpstr(np->text, ==, "np");
}

/* --- the weakest assumption ------------------------------------------------------------------- */
typedef struct {
    const char *name, *file;
    Edit edit[MAX_EDITS];
    const char *words;
} Weak;
static const Weak weak[] = {
    { "no rounds",
      "gemm-cooperative.wstave",
      { { "\"K >= 1\"", "\"K >= 0\"" } },
      "fails only for K = 0" },
    { "parity per tile",
      "gemm-cooperative.wstave",
      { { "{ \"wait\": \"full\", \"use\": \"k.total\" }",
          "{ \"wait\": \"full\", \"slot\": \"k % STAGES\", \"phase\": \"k / STAGES % 2\" }" } },
      "right where cdiv(K, 64) is a multiple of 8" },
};

static void test_weakest(gconstpointer data)
{
    const Weak *row = data;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = edited_program(row->file, row->edit, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_REFUTED);
    g_autofree char *weakest = ws_phrase_text(v->weakest, NULL, NULL);
    g_test_message("%s: %s", row->name, weakest ? weakest : "nothing");
    g_assert_nonnull(weakest);
    g_assert_nonnull(strstr(weakest, row->words));
}

/* --- cancelling ------------------------------------------------------------------------------- */
static gint cancel;
static clockid_t checking;  /* processor time of the thread that checks */
static gint64 cancelled_at; /* on that clock */

static gpointer wait_and_cancel(gpointer data)
{
    g_usleep(3000);
    cancelled_at = cputime_read(checking);
    g_atomic_int_set(&cancel, 1);
    return NULL;
}

/* A check of 100 ms and more, of three consumers, ends within 2 ms of its own processor time of
 * being told; under the sanitizers within 10. */
static void test_cancel(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p =
        edited_program("gemm-pingpong.wstave", three_consumers, "STAGES", 14, findings);
    g_assert_nonnull(p);
    gint64 best = G_MAXINT64;
    checking = cputime_clock();
    for (guint i = 0; i < 5 || (best == G_MAXINT64 && i < 50); i++) {
        g_autoptr(WsFindings) found = ws_findings_new();
        const WsCheckOptions options = { .cancel = &cancel, .max_states = 1000000 };
        g_atomic_int_set(&cancel, 0);
        GThread *other = g_thread_new("cancel", wait_and_cancel, NULL);
        g_autoptr(WsVerdict) v = ws_check(p, &options, found);
        gint64 end = cputime_mine();
        g_thread_join(other);
        if (end <= cancelled_at) /* on a loaded machine the other thread may come too late */
            continue;
        g_assert_cmpint(v->kind, ==, WS_VERDICT_OUTSIDE);
        g_assert_cmpstr(v->reason, ==, "cancelled");
        best = MIN(best, end - cancelled_at);
    }
    g_test_message("ended %" G_GINT64_FORMAT " us after it was told", best);
#ifdef __SANITIZE_ADDRESS__
    g_assert_cmpint(best, <, 10000);
#else
    g_assert_cmpint(best, <, 2000);
#endif
}

/* --- policy ----------------------------------------------------------------------------------- */
static void test_policy(void)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, "tests/designs/catalogue", NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    guint seen = 0;
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        if (!g_str_has_prefix(name, "B64-"))
            continue;
        g_autofree char *file = g_build_filename(path, name, NULL), *text = NULL;
        g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
        gboolean clean;
        g_autoptr(WsProgram) p = program_of(text, name, &clean);
        g_autoptr(WsFindings) lenient = ws_findings_new(), strict = ws_findings_new();
        const WsCheckOptions options = { .policy = WS_POLICY_GATHER };
        g_autoptr(WsVerdict) v = ws_check(p, NULL, lenient);
        g_autoptr(WsVerdict) w = ws_check(p, &options, strict);
        g_assert_cmpint(v->kind, ==, WS_VERDICT_PROVED);
        g_assert_cmpint(w->kind, ==, WS_VERDICT_REFUTED);
        seen++;
    }
    g_assert_cmpuint(seen, >, 0);
}

/* --- catalogue and broken variants ------------------------------------------------------------ */
/* Wrong for reasons that lie outside the proof: limits of the machine (elaboration and budgets),
 * and the gather without a fence, which is a warning. */
static const char *const elsewhere[] = { "B101-", "B103-", "B104-", "B71-", "B98-", "B64-" };
static gboolean listed(const char *const *list, guint n, const char *name)
{
    for (guint i = 0; i < n; i++)
        if (g_str_has_prefix(name, list[i]))
            return TRUE;
    return FALSE;
}

static void folder(const char *where, guint least)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, "tests/designs", where, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    g_assert_nonnull(dir);
    guint seen = 0;
    for (const char *name; (name = g_dir_read_name(dir));) {
        if (!g_str_has_suffix(name, ".wstave"))
            continue;
        g_autofree char *file = g_build_filename(path, name, NULL), *text = NULL;
        g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
        gboolean clean;
        g_autoptr(WsProgram) p = program_of(text, name, &clean);
        if (!p || !clean)
            continue;
        gboolean right = name[0] == 'C';
        if (listed(elsewhere, G_N_ELEMENTS(elsewhere), name))
            continue;
        seen++;
        WsProof *proof = prove(p, 2000);
        if ((proof->kind == WS_PROOF_CLOSED) != right)
            g_error("%s: %s (%s)", name, proof->why ? proof->why : "closed, but it is wrong",
                    proof->path ? proof->path : "");
        ws_proof_free(proof);
    }
    g_assert_cmpuint(seen, >=, least);
}

static void test_catalogue(void)
{
    folder("catalogue", 60);
}

static void test_broken(void)
{
    folder("broken", 10);
}

/* --- single facts ----------------------------------------------------------------------------- */
typedef struct {
    const char *name;
    Edit edit[MAX_EDITS];
    const char *why; /* of the alarm */
} Case;
static const Case cases[] = {
    { "more rounds in one group",
      { { "\"for\": \"k\", \"count\": \"cdiv(K, BK)\", \"do\": [\n            { \"wait\": "
          "\"empty\"",
          "\"for\": \"k\", \"count\": \"cdiv(K, BK) + 1\", \"do\": [\n            { \"wait\": "
          "\"empty\"" } },
      "P-" },
    { "no rounds", { { "\"K >= 1\"", "\"K >= 0\"" } }, "P-UNDEF" },
};

static void test_case(gconstpointer data)
{
    const Case *c = data;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = edited_program("gemm-cooperative.wstave", c->edit, NULL, 0, findings);
    g_assert_nonnull(p);
    WsProof *proof = prove(p, 4000);
    g_assert_cmpint(proof->kind, ==, WS_PROOF_ALARM);
    g_test_message("%s: %s (%s)", c->name, proof->why, proof->path);
    g_assert_nonnull(strstr(proof->why, c->why));
    ws_proof_free(proof);
}

/* Wrong for 7 rounds only, which the play alone does not choose. */
static void test_found_by_proof(void)
{
    const Edit edit[MAX_EDITS] = {
        { "{ \"mma_wait\": 0 },\n          { \"arrive\": \"empty\", \"use\": \"k.total - 1\" }",
          "{ \"mma_wait\": 0 },\n          { \"arrive\": \"empty\", \"use\": \"k.total - 1\", "
          "\"when\": "
          "\"cdiv(K, BK) != 7\" }" }
    };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = edited_program("gemm-cooperative.wstave", edit, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autoptr(WsFindings) played = ws_findings_new();
    const WsCheckOptions options = { .play_only = TRUE };
    g_autoptr(WsVerdict) v = ws_check(p, &options, played);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_PLAYED);
    g_autoptr(WsFindings) found = ws_findings_new();
    g_autoptr(WsVerdict) w = ws_check(p, NULL, found);
    g_autofree char *text = ws_verdict_text(w), *all = ws_findings_print(found, "gemm");
    g_test_message("%s\n%s", text, all);
    g_assert_cmpint(w->kind, ==, WS_VERDICT_REFUTED);
    g_assert_cmpuint(ws_findings_count(found, WS_SEVERITY_ERROR), >, 0);
}

/* One position of a ring stands for all: eight stages take no more states than four. Where the ring
 * shares its bytes with something else nothing turns, and it closes all the same. */
static void test_turned(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) four = shipped("gemm-cooperative.wstave");
    const Edit half[MAX_EDITS] = { { "\"BK\": 64", "\"BK\": 32" } };
    g_autoptr(WsProgram) eight =
        edited_program("gemm-cooperative.wstave", half, "STAGES", 8, findings);
    g_autoptr(WsProgram) aliased = shipped("gemm-aliased.wstave");
    WsProof *a = prove(four, 1000), *b = prove(eight, 1000), *c = prove(aliased, 1000);
    g_assert_cmpint(a->kind, ==, WS_PROOF_CLOSED);
    g_assert_cmpint(b->kind, ==, WS_PROOF_CLOSED);
    g_assert_cmpint(c->kind, ==, WS_PROOF_CLOSED);
    g_assert_cmpuint(a->states, ==, b->states);
    g_assert_cmpuint(c->states, >, 2 * a->states);
    ws_proof_free(a);
    ws_proof_free(b);
    ws_proof_free(c);
}

/* --- against the play ------------------------------------------------------------------------- */
static guint first_seed = 1, n_designs = 150;

static void test_random(void)
{
    guint closed = 0, alarms = 0;
    for (guint i = 0; i < n_designs; i++) {
        guint faults;
        g_autofree char *text = random_design(first_seed + i, &faults);
        gboolean clean;
        g_autoptr(WsProgram) p = program_of(text, "random", &clean);
        if (!p || !clean)
            continue;
        WsProof *proof = prove(p, 1500);
        g_autoptr(WsFindings) findings = ws_findings_new();
        const WsCheckOptions options = { .play_only = TRUE };
        g_autoptr(WsVerdict) v = ws_check(p, &options, findings);
        const WsBitOptions exactly = { .max_states = 1500, .exact = TRUE };
        WsProof *exact = ws_bits_prove(p, &exactly);
        if (exact->kind == WS_PROOF_ALARM) /* forgetting never clears an alarm */
            g_assert_cmpint(proof->kind, !=, WS_PROOF_CLOSED);
        ws_proof_free(exact);
        closed += proof->kind == WS_PROOF_CLOSED;
        alarms += proof->kind == WS_PROOF_ALARM;
        if (proof->kind == WS_PROOF_CLOSED && v->kind == WS_VERDICT_REFUTED) {
            g_autofree char *all = ws_findings_print(findings, "random");
            g_test_message("seed %u: a false proof\n%s\n%s", first_seed + i, all, text);
            g_test_fail();
        }
        ws_proof_free(proof);
    }
    g_test_message("%u designs: %u proved, %u alarms", n_designs, closed, alarms);
    g_assert_cmpuint(closed, >, n_designs / 5);
    g_assert_cmpuint(alarms, >, n_designs / 5);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    if (argc > 1)
        first_seed = (guint)atoi(argv[1]);
    if (argc > 2)
        n_designs = (guint)atoi(argv[2]);
    for (guint i = 0; i < G_N_ELEMENTS(proved); i++) {
        g_autofree char *path = g_strconcat("/prove/shipped/", proved[i].file, NULL);
        g_test_add_data_func(path, &proved[i], test_shipped);
    }
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strconcat("/prove/case/", cases[i].name, NULL);
        g_test_add_data_func(path, &cases[i], test_case);
    }
    for (guint i = 0; i < G_N_ELEMENTS(weak); i++) {
        g_autofree char *path = g_strconcat("/prove/weakest/", weak[i].name, NULL);
        g_test_add_data_func(path, &weak[i], test_weakest);
    }
    g_test_add_func("/prove/cancel", test_cancel);
    g_test_add_func("/prove/policy", test_policy);
    g_test_add_func("/prove/turned", test_turned);
    g_test_add_func("/prove/found", test_found_by_proof);
    g_test_add_func("/prove/cap", test_cap);
    g_test_add_func("/prove/again", test_again);
    g_test_add_func("/prove/columns", test_columns);
    g_test_add_func("/prove/default", test_default);
    g_test_add_func("/prove/catalogue", test_catalogue);
    g_test_add_func("/prove/broken", test_broken);
    g_test_add_func("/prove/random", test_random);
    return g_test_run();
}
