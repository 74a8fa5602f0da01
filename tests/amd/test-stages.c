/* Stages as Triton's tests of its own lowering have them, and forms that are none. */
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include <string.h>

/* --- a design of a few letters ---------------------------------------------------------------
 * Steps of a stage: Rxk reads buffer x (y), use 0, 1 or k; W writes it; L loads it; C computes;
 * ?.. the next step in a branch. `|` ends a stage, `w` and `s` are a load_wait and a sync at the
 * border. `/` parts lists: each is the body of a loop, or with `=` before it stages of the group.
 */
static const char *step(GString *out, const char *at)
{
    const gboolean branch = *at == '?';
    if (branch)
        g_string_append(out, "{\"if\":\"N > 3\",\"then\":[");
    at += branch;
    if (*at == 'C') {
        g_string_append(out, "{\"compute\":\"v = v + v\"}");
        at++;
    } else if (*at == 'm') {
        g_string_append(out, "{\"mark\":\"here\"}");
        at++;
    } else {
        const char *form = *at == 'R'   ? "{\"read\":\"v\",\"from\":\"%c\",\"use\":\"%c\"}"
                           : *at == 'W' ? "{\"write\":\"v\",\"to\":\"%c\",\"use\":\"%c\"}"
                                        : "{\"load\":\"A\",\"at\":[0,0],\"into\":\"%c\",\"use\":"
                                          "\"%c\"}";
        g_string_append_printf(out, form, at[1], at[2]);
        at += 3;
    }
    g_string_append(out, branch ? "]}" : "");
    return at;
}

static void list(GString *out, const char *letters, const char *fields)
{
    g_auto(GStrv) field = g_strsplit(fields ? fields : "", ";", -1);
    guint stage = 0, n = g_strv_length(field);
    gboolean open = FALSE, first = TRUE;
    for (const char *at = letters; *at;) {
        if (*at == ' ') {
            at++;
            continue;
        }
        if (strchr("ws", *at) || *at == '|') {
            if (open)
                g_string_append(out, "]}");
            else if (*at == '|') /* an empty stage */
                g_string_append_printf(out, "%s{\"stage\":\"s%u\",\"do\":[]}", first ? "" : ",",
                                       stage++);
            open = FALSE;
            if (*at != '|')
                g_string_append_printf(out, "%s%s", first ? "" : ",",
                                       *at == 'w' ? "{\"load_wait\":0}" : "{\"sync\":\"group\"}");
            first = FALSE;
            /* "w|" is one border */
            at += at[1] == '|' && *at != '|' ? 2 : 1;
            continue;
        }
        if (!open) {
            g_string_append_printf(out, "%s{\"stage\":\"s%u\",%s\"do\":[", first ? "" : ",", stage,
                                   stage < n ? field[stage] : "");
            stage++;
        } else {
            g_string_append_c(out, ',');
        }
        open = TRUE;
        first = FALSE;
        at = step(out, at);
    }
    g_string_append(out, open ? "]}" : "");
}

static char *design(const char *body)
{
    return g_strdup_printf(
        "{\"warpstave\":1,\"name\":\"stages\",\"target\":\"gfx950\",\"sizes\":{\"N\":8},"
        "\"tensors\":[{\"name\":\"A\",\"dtype\":\"f32\",\"shape\":[64,64]}],"
        "\"tiles\":{\"axes\":{\"t\":1},\"launch\":\"single\"},\"buffers\":["
        "{\"name\":\"x\",\"dtype\":\"f32\",\"tile\":[64,64],\"stages\":3},"
        "{\"name\":\"y\",\"dtype\":\"f32\",\"tile\":[64,64],\"stages\":3}],"
        "\"groups\":[{\"name\":\"all\",\"role\":\"worker\",\"warps\":8,\"values\":["
        "{\"name\":\"v\",\"dtype\":\"f32\",\"tile\":[64,64]}],"
        "\"body\":[{\"compute\":\"v = 0\"}%s]}]}",
        body);
}

static WsProgram *program(const char *text, WsFindings *findings)
{
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), "stages", findings);
    if (!d)
        g_error("%s", text);
    WsProgram *p = ws_elaborate(d, NULL, 0, findings);
    g_autofree char *said = ws_findings_print(findings, NULL);
    g_test_message("%s", said);
    return p;
}

static char *of_letters(const char *letters, const char *fields)
{
    g_autoptr(GString) body = g_string_new(NULL);
    g_auto(GStrv) part = g_strsplit(letters, "/", -1);
    for (guint i = 0; part[i]; i++) {
        const gboolean flat = part[i][0] == '=';
        g_string_append(body, flat ? "," : ",{\"for\":\"k\",\"count\":\"N\",\"do\":[");
        list(body, part[i] + flat, fields);
        g_string_append(body, flat ? "" : "]}");
    }
    return design(body->str);
}

/* --- conformance ------------------------------------------------------------------------------
 * Of each border in order, what Triton's lowering makes of it (amd-convert-warp-pipeline.mlir) and
 * what ours does: L waits for the half's LDS operations, p waits for nothing, d stands as drawn. */
static const struct {
    const char *name, *letters, *triton, *ours;
} cases[] = {
    { "two_stage_backend", "C|C", "pp", "pp" },
    { "three_stage_backend", "C|C|C", "ppp", "ppp" },
    { "eight_stage_dependency", "Rx0|C|Rx0|C|Rx0Rx0|C|Wx0|C", "ppppLpLp", "LpLpLpLp" },
    { "triple_buf_2stage, reads ordered by the wait", "RxkLy0w|C", "dp", "Lp" },
    { "async_wait_between_stages", "Cw|C", "dp", "pp" },
    { "a barrier between stages", "Cs|C", "dp", "Lp" },
    { "flat_pipeline_backend", "=C|C|C", "pp", "pp" },
    { "flat_pipeline_existing_barrier", "=Cs|C|C", "dp", "Lp" },
    { "adjacent_stage_lds_dep", "Wx0|Rx0", "LL", "LL" },
    { "nested_lds_effect_in_if", "?Wx0|Rx0", "LL", "LL" },
    { "constant_ring_distinct_slots", "=Wx0|Rx1", "p", "L" },
    { "the same in a loop: the write meets that of the next round", "Wx0|Rx1", "Lp", "LL" },
    { "constant_ring_same_slot", "Wx1|Rx1", "LL", "LL" },
    { "slots of a ring that rounds choose", "Wxk|Rxk", "LL", "LL" },
    { "two buffers", "=Wx0|Ry0", "p", "L" },
    { "flat: a write two stages on", "=Rx0|C|Wx0", "Lp", "Lp" },
    { "flat: no wrap", "=C|Wx0|C", "pp", "pL" },
    { "loads and plain writes", "Lx0|Wx0", "LL", "pL" },
    { "loads alone", "Lx0|Lx0", "pp", "pp" },
    { "a bubble", "C||C", "ppp", "ppp" },
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
    g_autofree char *text = of_letters(cases[i].letters, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = program(text, findings);
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

static const struct {
    const char *name, *letters, *fields, *lower, *upper;
} rounds[] = {
    { "no_priority_no_setprio", "C|C", NULL, "o||+", "o+||" },
    { "priority_reset_between_stages", "C|C", "\"priority\":3,;", "o30|3|0+", "o+30|3|0" },
    { "phase_gap", "C|C", "\"phase_gap\":2,", "o||++", "o++||" },
    { "a wait at the top", "wC|C", NULL, "o||=+", "o+||=" },
    { "a barrier at the top", "sC|C", NULL, "o||=+", "o+||=" },
    { "back_to_back: never merged", "C|C/C|C", NULL, "o||+o||+", "o+||o+||" },
    { "back_to_back_for_then_flat: never merged", "C|C/=C|C", NULL, "o||+o|+", "o+||o+|" },
    { "no_total_stages", "", NULL, "", "" },
};

static void test_rounds(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = of_letters(rounds[i].letters, rounds[i].fields);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = program(text, findings);
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

static const struct {
    const char *name, *body, *rule, *says;
} bad[] = {
    { "loop in a stage", LOOP(S(INNER) "," S(C)), "L-STAGE", "a loop stands inside a stage" },
    { "loop in a branch of a stage", LOOP(S(IF(INNER)) "," S(C)), "L-STAGE",
      "a loop stands inside a stage" },
    { "loop in a flat stage", "," S(INNER) "," S(C), "L-STAGE", "a loop stands inside a stage" },
    { "pipelined loop in a stage",
      LOOP(S("{\"for\":\"j\",\"count\":2,\"do\":[" S(C) "," S(C) "]}") "," S(C)), "L-STAGE",
      "a loop stands inside a stage" },
    { "stage in a stage", LOOP(S(S(C)) "," S(C)), "L-STAGE", "a stage stands inside a stage" },
    { "wait in a stage", LOOP(S(W) "," S(C)), "L-STAGE", "a load_wait stands inside a stage" },
    { "barrier in a branch of a stage", LOOP(S(IF(SYNC)) "," S(C)), "L-STAGE",
      "a sync stands inside a stage" },
    { "one stage", LOOP(S(C)), "L-STAGE", "one stage alone" },
    { "one flat stage", "," S(C), "L-STAGE", "one stage alone" },
    { "a later run of one", "," S(C) "," S(C) "," C "," S(C), "L-STAGE", "one stage alone" },
    { "something else in the loop", LOOP(S(C) "," C "," S(C)), "L-STAGE",
      "a compute stands beside" },
    { "a branch in the loop", LOOP(S(C) "," S(C) "," IF(C)), "L-STAGE", "a if stands beside" },
    { "two waits at a border", LOOP(S(C) "," W "," W "," S(C)), "L-STAGE", "more than one" },
    { "a wait and a barrier", LOOP(S(C) "," W "," SYNC "," S(C)), "L-STAGE", "more than one" },
    { "two at the end", LOOP(S(C) "," S(C) "," W "," SYNC), "L-STAGE", "more than one" },
    { "two at the top", LOOP(W "," W "," S(C) "," S(C)), "L-STAGE", "more than one" },
    { "two at a flat border", "," S(C) "," W "," SYNC "," S(C), "L-STAGE", "more than one" },
    { "top and bottom", LOOP(W "," S(C) "," S(C) "," W), "L-STAGE", "they are one border" },
    { "in a branch", "," IF(S(C) "," S(C)), "L-STAGE", "stages stand in a branch" },
    { "stage when", LOOP(WITH("\"when\":\"k > 0\"", C) "," S(C)), "L-STAGE", "in every round" },
    { "wait when", LOOP(S(C) ",{\"load_wait\":0,\"when\":\"k > 0\"}," S(C)), "L-STAGE",
      "in every round" },
    { "let ahead", LOOP(S(C) ",{\"let\":\"u\",\"be\":\"k\",\"ahead\":1}," S(C)), "L-STAGE",
      "in every round" },
    { "phase_gap late", LOOP(S(C) "," WITH("\"phase_gap\":2", C)), "L-STAGE", "not the first" },
    { "raw in a stage", LOOP(S("{\"raw\":\"ptx\",\"text\":[\"nop;\"]}") "," S(C)), "L-LENS",
      "a raw step inside a stage" },
    { "row of a half", ",{\"compute\":\"v = v + row\"}", "L-LENS", "`row` of a value" },
};

static void test_bad(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = design(bad[i].body);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = program(text, findings);
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
        g_autofree char *text = of_letters(rows[i].letters, NULL);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = program(text, findings);
        guint hints = 0;
        for (guint k = 0; k < findings->list->len; k++)
            hints += ((const WsFinding *)findings->list->pdata[k])->rule == WS_RULE_L_TURN;
        g_assert_cmpuint(hints, ==, rows[i].hints);
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
    return g_test_run();
}
