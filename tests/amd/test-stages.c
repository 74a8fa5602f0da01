/* Stages as Triton's tests of its own lowering have them, and forms that are none. */
#include "amd/letters.h"
#include "check/verdict.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include <string.h>

/* --- conformance ------------------------------------------------------------------------------
 * Of each border in order, what Triton's lowering makes of it and what ours does: L waits for the
 * half's LDS operations, p waits for nothing, d stands as drawn. cases.def says where each column
 * is from. */
typedef struct {
    const char *name, *letters, *triton, *gluon, *ours, *why;
} Case;
typedef struct {
    const char *name, *letters, *fields, *triton, *lower, *upper, *gluon, *why;
} Rounds;
typedef struct {
    const char *name, *body, *rule, *says, *upstream;
} Bad;

static const Case cases[] = {
#define WS_CASE(...) { __VA_ARGS__ },
#define WS_ROUNDS(...)
#include "amd/cases.def"
#undef WS_CASE
#undef WS_ROUNDS
};

static gboolean is_border(const WsOp *op)
{
    return op->border != WS_BORDER_NONE &&
           (g_str_has_suffix(op->id, "#border") || op->step_kind == WS_STEP_SYNC);
}

static void borders(const WsProgram *p, gint agent, GString *triton, GString *ours)
{
    static const char letter[] = { 'd', 'p', 'L' };
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->agent == agent && is_border(p->op[i])) {
            g_string_append_c(triton, letter[p->op[i]->lowered]);
            g_string_append_c(ours, letter[p->op[i]->border]);
        }
}

static void test_case(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = letters_design(cases[i].letters, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = letters_program(text, findings);
    g_assert_nonnull(p);
    for (gint half = 0; half < 2; half++) {
        g_autoptr(GString) triton = g_string_new(NULL), ours = g_string_new(NULL);
        borders(p, half, triton, ours);
        g_test_message("%-45s Triton %-9s ours %s", cases[i].name, triton->str, ours->str);
        g_assert_cmpstr(triton->str, ==, cases[i].triton);
        g_assert_cmpstr(ours->str, ==, cases[i].ours);
    }
}

/* Rounds of the barrier: joins of each half outside and inside of loops, with priorities between.
 */
static char *joins(const WsProgram *p, gint agent)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->agent != agent)
            continue;
        if (op->kind == WS_OP_PRIORITY)
            g_string_append_printf(out, "%d", (int)op->n);
        else if (ws_op_joins(op->kind))
            g_string_append_c(out, is_border(op)                        ? '|'
                                   : g_str_has_suffix(op->id, "#phase") ? '+'
                                   : g_str_has_suffix(op->id, "#last")  ? '='
                                                                        : 'o');
    }
    return g_string_free(out, FALSE);
}

static const Rounds rounds[] = {
#define WS_CASE(...)
#define WS_ROUNDS(...) { __VA_ARGS__ },
#include "amd/cases.def"
#undef WS_CASE
#undef WS_ROUNDS
};

static void test_rounds(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = letters_design(rounds[i].letters, rounds[i].fields);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = letters_program(text, findings);
    g_assert_nonnull(p);
    g_autofree char *lower = joins(p, 0), *upper = joins(p, 1);
    g_assert_cmpstr(lower, ==, rounds[i].lower);
    g_assert_cmpstr(upper, ==, rounds[i].upper);
}

/* --- no pipelines ----------------------------------------------------------------------------- */
#define LOOP(body)    ",{\"for\":\"k\",\"count\":\"N\",\"do\":[" body "]}"
#define S(body)       "{\"stage\":\"s\",\"do\":[" body "]}"
#define C             "{\"compute\":\"v = v + v\"}"
#define W             "{\"load_wait\":0}"
#define SYNC          "{\"sync\":\"group\"}"
#define INNER         "{\"for\":\"j\",\"count\":2,\"do\":[" C "]}"
#define IF(body)      "{\"if\":\"N > 3\",\"then\":[" body "]}"
#define WITH(f, body) "{\"stage\":\"s\"," f ",\"do\":[" body "]}"

/* What Triton says, word by word. */
#define TEXT_LOOP                                                                                  \
    "`loop op cannot appear inside a warp_pipeline_stage region; to pipeline loop iterations, "    \
    "place warp_pipeline_stage blocks inside the loop body`"
#define TEXT_WAIT "`barrier or wait op cannot appear inside a warp_pipeline_stage region`"
#define TEXT_TWO  "`warp_pipeline_stage borders did not produce at least two stages`"
#define TEXT_FLAT "`warp_pipeline_stage requires at least two borders to form a flat pipeline`"
#define TEXT_MANY                                                                                  \
    "`multiple pre-existing barriers between pipeline stages; insert a dummy stage instead`"
#define TEXT_BOTH                                                                                  \
    "`pipelined_for body has both top-of-loop and bottom-of-loop pre-existing barriers`"

static const Bad bad[] = {
    { "loop in a stage", LOOP(S(INNER) "," S(C)), "L-STAGE", "a loop stands inside a stage",
      TEXT_LOOP },
    { "loop in a branch of a stage", LOOP(S(IF(INNER)) "," S(C)), "L-STAGE",
      "a loop stands inside a stage", TEXT_LOOP },
    { "loop in a flat stage", "," S(INNER) "," S(C), "L-STAGE", "a loop stands inside a stage",
      TEXT_LOOP },
    { "pipelined loop in a stage",
      LOOP(S("{\"for\":\"j\",\"count\":2,\"do\":[" S(C) "," S(C) "]}") "," S(C)), "L-STAGE",
      "a loop stands inside a stage", TEXT_LOOP },
    { "stage in a stage", LOOP(S(S(C)) "," S(C)), "L-STAGE", "a stage stands inside a stage",
      "no rule of its own" },
    { "wait in a stage", LOOP(S(W) "," S(C)), "L-STAGE", "a load_wait stands inside a stage",
      TEXT_WAIT },
    { "barrier in a branch of a stage", LOOP(S(IF(SYNC)) "," S(C)), "L-STAGE",
      "a sync stands inside a stage", TEXT_WAIT },
    { "one stage", LOOP(S(C)), "L-STAGE", "one stage alone", TEXT_TWO },
    { "one flat stage", "," S(C), "L-STAGE", "one stage alone", TEXT_FLAT },
    { "a later run of one", "," S(C) "," S(C) "," C "," S(C), "L-STAGE", "one stage alone",
      "not tried" },
    { "something else in the loop", LOOP(S(C) "," C "," S(C)), "L-STAGE", "a compute stands beside",
      "part of the next stage; of hand-written IR: `unexpected op inside pipelined_for body`" },
    { "a branch in the loop", LOOP(S(C) "," S(C) "," IF(C)), "L-STAGE", "a if stands beside",
      "a last stage of its own; of hand-written IR: `non-warp-pipeline scf.execute_region inside "
      "pipelined_for body`" },
    { "two waits at a border", LOOP(S(C) "," W "," W "," S(C)), "L-STAGE", "more than one",
      TEXT_MANY },
    { "a wait and a barrier", LOOP(S(C) "," W "," SYNC "," S(C)), "L-STAGE", "more than one",
      TEXT_MANY },
    { "two at the end", LOOP(S(C) "," S(C) "," W "," SYNC), "L-STAGE", "more than one", TEXT_MANY },
    { "two at the top", LOOP(W "," W "," S(C) "," S(C)), "L-STAGE", "more than one", TEXT_MANY },
    { "two at a flat border", "," S(C) "," W "," SYNC "," S(C), "L-STAGE", "more than one",
      TEXT_MANY },
    { "top and bottom", LOOP(W "," S(C) "," S(C) "," W), "L-STAGE", "they are one border",
      TEXT_BOTH },
    { "in a branch", "," IF(S(C) "," S(C)), "L-STAGE", "stages stand in a branch", "not tried" },
    { "stage when", LOOP(WITH("\"when\":\"k > 0\"", C) "," S(C)), "L-STAGE", "in every round",
      "no rule of its own" },
    { "wait when", LOOP(S(C) ",{\"load_wait\":0,\"when\":\"k > 0\"}," S(C)), "L-STAGE",
      "in every round", "no rule of its own" },
    { "wait when, flat", "," S(C) ",{\"load_wait\":0,\"when\":\"N > 3\"}," S(C), "L-STAGE",
      "in every round", "part of the next stage" },
    { "barrier when, flat", "," S(C) "," S(C) ",{\"sync\":\"group\",\"when\":\"N > 3\"}," S(C),
      "L-STAGE", "in every round", "part of the next stage" },
    { "let ahead", LOOP(S(C) ",{\"let\":\"u\",\"be\":\"k\",\"ahead\":1}," S(C)), "L-STAGE",
      "in every round", "no rule of its own" },
    { "phase_gap late", LOOP(S(C) "," WITH("\"phase_gap\":2", C)), "L-STAGE", "not the first",
      "no rule of its own" },
    { "raw in a stage", LOOP(S("{\"raw\":\"ptx\",\"text\":[\"nop;\"]}") "," S(C)), "L-LENS",
      "a raw step inside a stage", "no rule of its own" },
    { "row of a half", ",{\"compute\":\"v = v + row\"}", "L-LENS", "`row` of a value",
      "no rule of its own" },
};

static void test_bad(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = letters_around(bad[i].body);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = letters_program(text, findings);
    g_assert_null(p);
    g_assert_cmpuint(findings->list->len, >=, 1);
    const WsFinding *f = findings->list->pdata[0];
    g_assert_cmpstr(ws_rule(f->rule)->text, ==, bad[i].rule);
    g_assert_nonnull(strstr(f->message, bad[i].says));
}

/* A stage that does nothing but count gets a hint, an empty one is meant. */
static void test_turn(void)
{
    static const struct {
        const char *letters;
        guint hints;
    } rows[] = { { "C|C", 0 }, { "C|m", 1 }, { "C||C", 0 }, { "m|Rx0|m", 2 } };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = letters_design(rows[i].letters, NULL);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = letters_program(text, findings);
        guint hints = 0;
        for (guint k = 0; k < findings->list->len; k++)
            hints += ((const WsFinding *)findings->list->pdata[k])->rule == WS_RULE_L_TURN;
        g_assert_cmpuint(hints, ==, rows[i].hints);
    }
}

/* Where Triton waits and the design does not, the other way round, and where it leaves out what it
 * asks for itself, since something is drawn there; once, not for each half. */
static void test_border(void)
{
    static const struct {
        const char *letters, *says[3]; /* per hint, in order */
    } rows[] = {
        { "C|C", { NULL } },
        { "Wx0|Rx0", { NULL } },
        { "Rxk|C", { "the design waits" } },
        { "Lx0|Wx0", { "Triton waits" } },
        { "Wx0w|Rx0", { "adds no barrier of its own" } },
        { "Wx0s|Rx0", { "adds no barrier of its own" } },
        { "Wx0w|Ry0", { "adds no barrier of its own", "the design waits" } },
        { "=Wx0|Rx1", { "the design waits" } },
        { "Lx0w|Rx0", { "the design waits" } },
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = letters_design(rows[i].letters, NULL);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = letters_program(text, findings);
        g_assert_nonnull(p);
        guint hints = 0;
        for (guint k = 0; k < findings->list->len; k++) {
            const WsFinding *f = findings->list->pdata[k];
            if (f->rule != WS_RULE_L_BORDER)
                continue;
            g_assert_cmpuint(hints, <, G_N_ELEMENTS(rows[i].says));
            g_assert_nonnull(rows[i].says[hints]);
            g_assert_nonnull(strstr(f->message, rows[i].says[hints]));
            hints++;
        }
        g_test_message("%s: %u", rows[i].letters, hints);
        g_assert_true(hints == 3 || rows[i].says[hints] == NULL);
    }
}

/* --- the page ---------------------------------------------------------------------------------*/
#define PAGE WS_SOURCE_ROOT "/docs/stages.md"

static const char *or_dash(const char *text)
{
    return text && *text ? text : "-";
}

/* A cell of the table, in which a bar is an end. */
static void cell(GString *s, const char *text, gboolean code)
{
    g_autoptr(GString) t = g_string_new(or_dash(text));
    g_string_replace(t, "|", "\\|", 0);
    g_string_append_printf(s, code ? " `%s` |" : " %s |", t->str);
}

static void row_of(GString *s, const char *const *text, guint n)
{
    g_string_append_c(s, '|');
    for (guint i = 0; i < n; i++)
        cell(s, text[i], i == 1);
    g_string_append_c(s, '\n');
}

/* Differences first. */
static void case_rows(GString *s, gboolean differ)
{
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const Case *c = &cases[i];
        if ((*c->why != '\0') == differ)
            row_of(s, (const char *[]){ c->name, c->letters, c->triton, c->gluon, c->ours, c->why },
                   6);
    }
    for (guint i = 0; i < G_N_ELEMENTS(rounds); i++) {
        const Rounds *r = &rounds[i];
        g_autofree char *ours = g_strdup_printf("%s, %s", or_dash(r->lower), or_dash(r->upper));
        if ((*r->why != '\0') == differ)
            row_of(s, (const char *[]){ r->name, r->letters, r->triton, r->gluon, ours, r->why },
                   6);
    }
}

/* What is proved and refuted: proofs.def, judged by test-proofs.c. */
static void proof_rows(GString *s)
{
    static const struct {
        const char *name, *source;
        WsVerdictKind verdict;
    } rows[] = {
#define WS_PROOF(name, kind, what, from, to, verdict, says, source)                                \
    { name, source, WS_VERDICT_##verdict },
#include "amd/proofs.def"
#undef WS_PROOF
    };
    g_string_append(s, "\nWhat orders the halves, and what does not: published faults and their "
                       "fixes, and what they are told apart from. `./dev test\namd/proofs` checks "
                       "each, and tries all interleavings of the two halves at small sizes: those "
                       "that are refuted go wrong in one,\nthose that are proved in none.\n\n"
                       "| case | source | ours |\n|---|---|---|\n");
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        g_string_append_printf(s, "| %s | %s | %s |\n", rows[i].name, rows[i].source,
                               rows[i].verdict == WS_VERDICT_PROVED    ? "proved"
                               : rows[i].verdict == WS_VERDICT_REFUTED ? "refuted"
                                                                       : "undecided");
}

/* Kernels of others: upstream.def, read by tests/import/amd/test-amd.c where their text is at hand. */
static void text_rows(GString *s)
{
    static const struct {
        const char *where, *file, *helpers, *name, *verdict, *why;
    } rows[] = {
#define TUTORIAL(file, helpers, name, verdict, what)                                               \
    { "ROCm/gfx950-gluon-tutorials: ", file, helpers, name, #verdict, what },
#define UPSTREAM(file, name, define, what)                                                         \
    { "triton-lang/triton: third_party/amd/python/", file, NULL, name, "OUTSIDE", what },
#define TEXT(file, name, why) { "", file, NULL, name, "", why },
#include "import/amd/upstream.def"
    };
    g_string_append(s, "\nKernels with stages of others, and what import makes of them (2026-11): "
                       "`WARPSTAVE_GFX950_SOURCE` and `WARPSTAVE_TRITON_SOURCE` name checkouts, "
                       "which\n`./dev test import/amd` reads. Not read is what is named, among "
                       "other things.\n\n| text | kernel | verdict | why |\n|---|---|---|---|\n");
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        g_string_append_printf(
            s, "| %s%s%s | `%s` | %s | %s |\n", rows[i].where, rows[i].file,
            rows[i].helpers ? ", `--modules` with the folder of its helpers" : "", rows[i].name,
            strcmp(rows[i].verdict, "PROVED") == 0    ? "proved"
            : strcmp(rows[i].verdict, "OUTSIDE") == 0 ? "undecided"
                                                      : "-",
            or_dash(rows[i].why));
}

static char *page(void)
{
    GString *s = g_string_new(
        "# Stages of gfx950: what Triton makes of them, and what we do\n\n"
        "Triton's lowering of `warp_pipeline_stage` decides for each border between stages whether "
        "its barrier waits for operations on\n"
        "shared memory. Here the cases of its own tests, by their names, and more: what it "
        "decides, what Triton 3.9.0 made of the same as Gluon\n"
        "text, and what a design means (LANGUAGE section 19). `./dev test amd/stages` compares the "
        "page with the tables in `tests/amd`, and ours with the\n"
        "program; `WARPSTAVE_TRITON=PYTHON` also compiles each case.\n\n"
        "Letters: `R` reads, `W` writes, `L` loads straight to buffer `x` or `y`, slot `0`, `1` or "
        "that of the round `k`; `C` computes, `m` marks; `?` in a branch; `|`\n"
        "ends a stage; `w`, `s` a wait or a barrier drawn there; `/` between pipelines, `=` one "
        "that is no loop, `-` a loop whose steps stand in no stage.\n"
        "Borders in order: `L` waits for LDS operations, `p` is plain, `d` as drawn; `(` and `)` "
        "are the barriers that one half joins alone. Where only\n"
        "joins are compared: `o` both meet, `+` one half alone, `|` a border, `=` the last round's "
        "border, digits are priorities; lower half and upper half.\n\n"
        "| case | stages | Triton's lowering | Gluon 3.9.0 | ours | why they differ |\n"
        "|---|---|---|---|---|---|\n");
    case_rows(s, TRUE);
    case_rows(s, FALSE);
    g_string_append(s, "\nWhat is no pipeline, by the messages and tests of each:\n\n| form | "
                       "Triton | ours |\n|---|---|---|\n");
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++)
        g_string_append_printf(s, "| %s | %s | %s: %s |\n", bad[i].name, bad[i].upstream,
                               bad[i].rule, bad[i].says);
    proof_rows(s);
    text_rows(s);
    return g_string_free(s, FALSE);
}

static void test_page(void)
{
    g_autofree char *want = page(), *is = NULL;
    if (g_getenv("WARPSTAVE_WRITE"))
        g_assert_true(g_file_set_contents(PAGE, want, -1, NULL));
    g_assert_true(g_file_get_contents(PAGE, &is, NULL, NULL));
    g_assert_cmpstr(is, ==, want);
}

/* Joins of a half that Triton's column means: both meet before `(`, which the upper one joins
 * alone,
 * `)` the lower one. */
static char *joins_of(const char *triton, gboolean upper)
{
    GString *s = g_string_new(NULL);
    for (const char *at = triton; *at && strcmp(triton, "-") != 0; at++) {
        if (*at == '(' && (at == triton || at[-1] != '('))
            g_string_append_c(s, 'o');
        if (*at == (upper ? '(' : ')'))
            g_string_append_c(s, '+');
        else if (strchr("Lpd", *at))
            g_string_append_c(s, '|');
        else if (g_ascii_isdigit(*at))
            g_string_append_c(s, *at);
    }
    return g_string_free(s, FALSE);
}

static gboolean other_joins(const char *triton, const char *ours, gboolean upper)
{
    g_autofree char *is = joins_of(triton, upper), *as = g_strdelimit(g_strdup(ours), "=", '|');
    return strcmp(is, as) != 0;
}

/* A row without a reason is one in which nothing differs, and the other way round: drawn borders
 * are neither. */
static void test_reasons(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *bare = g_strdup_printf("(%s)", cases[i].ours);
        const gboolean differ =
            strcmp(cases[i].ours, cases[i].triton) != 0 || strcmp(bare, cases[i].gluon) != 0;
        g_assert_true(differ == (*cases[i].why != '\0'));
    }
    for (guint i = 0; i < G_N_ELEMENTS(rounds); i++) {
        const Rounds *r = &rounds[i];
        g_test_message("%s", r->name);
        g_assert_true((other_joins(r->triton, r->lower, FALSE) ||
                       other_joins(r->triton, r->upper, TRUE)) == (*r->why != '\0'));
        g_assert_true(!r->gluon || strcmp(r->gluon, r->triton) == 0);
    }
}

/* --- Triton itself ----------------------------------------------------------------------------*/

static void test_gluon(void)
{
    const char *python = g_getenv("WARPSTAVE_TRITON");
    if (!python) {
        g_test_skip("WARPSTAVE_TRITON names no Python with Triton 3.9");
        return;
    }
    g_autofree char *script = g_build_filename(WS_SOURCE_ROOT, "tests/amd/conformance.py", NULL);
    g_autoptr(GPtrArray) argv = g_ptr_array_new(), want = g_ptr_array_new();
    g_ptr_array_add(argv, (gpointer)python);
    g_ptr_array_add(argv, script);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_ptr_array_add(argv, (gpointer)cases[i].letters);
        g_ptr_array_add(want, (gpointer)cases[i].gluon);
    }
    for (guint i = 0; i < G_N_ELEMENTS(rounds); i++)
        if (rounds[i].gluon) {
            g_ptr_array_add(argv, (gpointer)rounds[i].letters);
            g_ptr_array_add(want, (gpointer)rounds[i].gluon);
        }
    g_ptr_array_add(argv, NULL);
    g_autofree char *out = NULL;
    g_assert_true(g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL,
                               NULL, &out, NULL, NULL, NULL));
    g_auto(GStrv) line = g_strsplit(g_strchomp(out), "\n", -1);
    g_assert_cmpuint(g_strv_length(line), ==, want->len);
    for (guint i = 0; i < want->len; i++) {
        g_test_message("%s", (const char *)argv->pdata[i + 2]);
        g_assert_cmpstr(line[i], ==, want->pdata[i]);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(table, run)                                                                            \
    for (guint i = 0; i < G_N_ELEMENTS(table); i++) {                                              \
        g_autofree char *path = g_strdup_printf("/amd/" #table "/%s", table[i].name);              \
        g_test_add_data_func(path, GUINT_TO_POINTER(i), run);                                      \
    }
    ADD(cases, test_case)
    ADD(rounds, test_rounds)
    ADD(bad, test_bad)
    g_test_add_func("/amd/turn", test_turn);
    g_test_add_func("/amd/border", test_border);
    g_test_add_func("/amd/page", test_page);
    g_test_add_func("/amd/reasons", test_reasons);
    g_test_add_func("/amd/triton", test_gluon);
    return g_test_run();
}
