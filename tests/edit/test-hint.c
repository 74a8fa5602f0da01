/* The hint form and the drawn form are two views of one design: the explicit design is the same
 * program, a group that is moved rewrites the hint, and what a hint cannot be is refused at its
 * line. */
#include "drafts.h"
#include "model/finding.h"
#include "model/hint.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

#define GEMM      "tests/designs/hint-gemm.wstave"
#define ATTENTION "tests/designs/hint-attention.wstave"

/* The program as text, without the names of steps: those of a hint stand at its groups. */
static char *program_text(const WsDesign *design)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autofree char *text = ws_program_print(p);
    g_autoptr(GRegex) names = g_regex_new("groups/[A-Za-z0-9_/#.]*", 0, 0, NULL);
    return g_regex_replace_literal(names, text, -1, 0, "STEP", 0, NULL);
}

static void same_program(gconstpointer data)
{
    g_autoptr(WsDesign) design = load(data);
    g_assert_true(ws_hint_in(design));
    g_assert_cmpint(judge(design), ==, WS_VERDICT_PROVED);
    g_autoptr(WsDraft) d = ws_draft_new(design);
    must(d, ws_edit_explicit(d, 0));
    assert_replays(design, d);
    g_assert_false(ws_hint_in(d->design));
    g_autofree char *hint = program_text(design), *drawn = program_text(d->design);
    g_assert_cmpstr(hint, ==, drawn);
    /* as a document, too: nothing that only elaboration may see stands in it */
    g_autofree char *text = ws_design_print(d->design);
    g_assert_null(strchr(text, '#'));
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) again = ws_design_parse(text, strlen(text), NULL, findings);
    g_assert_nonnull(again);
    g_assert_cmpint(judge(again), ==, WS_VERDICT_PROVED);
    g_autoptr(WsDraft) twice = ws_draft_new(again);
    g_assert_false(ws_edit_explicit(twice, 0));
    g_assert_nonnull(strstr(why(twice), "num_stages"));
}

/* --- what is no hint -------------------------------------------------------------------------- */

typedef struct {
    const char *name, *design, *from, *to;
    const char *says, *remedy, *line; /* line: text that stands in the line of the finding */
} Refused;

static const Refused refused[] = {
    { "order", GEMM, "\"pipe_order\": 1", "\"pipe_order\": 0", "same order 0", "order of its own",
      "\"product\"" },
    { "executor", GEMM, "\"executor\": \"load\"", "\"executor\": \"loads\"", "executor loads",
      "Name a group", "\"pipeline_group\": \"load\"" },
    { "busy", GEMM, "\"executor\": \"load\"", "\"executor\": \"busy\"", "steps of its own", "empty",
      "\"pipeline_group\": \"load\"" },
    { "backwards", GEMM, "\"pipe_order\": 0,", "\"pipe_stage\": 2, \"pipe_order\": 0,",
      "before load fills it in stage 2", "later one", "\"product\"" },
    { "beyond", GEMM, "\"pipe_stage\": 1", "\"pipe_stage\": 4", "outside of the 4 stages",
      "num_stages - 1", "\"product\"" },
    { "none", GEMM, "\"num_stages\": \"STAGES\"", "\"num_stages\": \"NOTHING\"", "not known",
      "constant", "num_stages" },
    { "replicas", GEMM, "\"executor\": \"load\"", "\"executor\": \"mma\"", "has replicas",
      "without replicas", "\"pipeline_group\": \"load\"" },
    { "wait", GEMM, "{ \"mma\":", "{ \"mma_wait\": 0 }, { \"mma\":", "holds no mma_wait", "derived",
      "\"mma\"" },
    { "use", GEMM, "\"into\": \"a\"", "\"into\": \"a\", \"use\": 0", "load has no \"use\"",
      "derived", "\"load\": \"A\"" },
    { "bare", GEMM, "{ \"pipeline_group\": \"product\"",
      "{ \"mma_wait\": 0 }, { \"pipeline_group\": \"product\"", "pipeline groups alone",
      "pipeline_group", "product" },
    { "stages", GEMM, "\"name\": \"b\", ", "\"name\": \"b\", \"stages\": 4, ", "depth is derived",
      "Leave out its stages", "\"pipeline_group\": \"load\"" },
    { "unread", GEMM, "\"b\": \"b\"", "\"b\": \"a\"", "no group reads it", "read it",
      "\"pipeline_group\": \"load\"" },
    { "outside", GEMM, "{ \"sync\": \"group\" }", "{ \"read\": \"acc\", \"from\": \"b\" }",
      "used outside", "of its own", "\"read\"" },
    { "stranger", ATTENTION, "\"pv\", ", "\"pv\", \"executor\": \"load\", ",
      "value of another executor", "through a buffer", "\"mma\": \"acc\"" },
    { "copy", ATTENTION, "\"softmax\", \"pipe_stage\": 1, \"pipe_order\": 2",
      "\"softmax\", \"pipe_stage\": 1, \"pipe_order\": 5", "one copy", "before that group",
      "\"softmax\"" },
    { "cycle", ATTENTION, "\"pv\", \"pipe_stage\": 1, \"pipe_order\": 4",
      "\"pv\", \"pipe_stage\": 1, \"pipe_order\": 1", "same order", "its own", "\"pv\"" },
};

static char *replaced(const char *path, const char *from, const char *to)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, path, NULL), *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    const char *at = strstr(text, from);
    g_assert_nonnull(at);
    return g_strdup_printf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void is_refused(gconstpointer data)
{
    const Refused *r = data;
    g_autofree char *text = replaced(r->design, r->from, r->to);
    if (strstr(r->to, "\"busy\"")) {
        g_autofree char *plain = g_steal_pointer(&text);
        const char *at = strstr(plain, "\"groups\": [");
        text = g_strdup_printf("%.*s{ \"name\": \"busy\", \"role\": \"worker\", \"warps\": 4, "
                               "\"registers\": 40, \"body\": [{ "
                               "\"sync\": \"group\" }] },%s",
                               (int)(at - plain) + 11, plain, at + 11);
    }
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), NULL, findings);
    g_autofree char *form = ws_findings_print(findings, NULL);
    g_test_message("%s", form);
    g_assert_nonnull(design);
    g_assert_null(ws_elaborate(design, NULL, 0, findings));
    g_assert_cmpint(ws_findings_exit_code(findings, FALSE), ==, 1);
    g_assert_cmpuint(findings->list->len, ==, 1);
    const WsFinding *f = findings->list->pdata[0];
    g_test_message("%s / %s", f->message, f->remedy);
    g_assert_cmpint(f->rule, ==, WS_RULE_L_HINT);
    g_assert_nonnull(strstr(f->message, r->says));
    g_assert_nonnull(strstr(f->remedy, r->remedy));
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    g_assert_cmpuint(f->line, >, 0);
    g_assert_nonnull(strstr(line[f->line - 1], r->line));
}

/* --- moves ------------------------------------------------------------------------------------ */

static guint64 group_named(const WsDesign *design, const char *name)
{
    g_autofree char *label = g_strdup_printf("pipeline_group %s", name);
    return labelled(design, label, 0);
}

static void moves(void)
{
    g_autoptr(WsDesign) design = load(ATTENTION);
    g_autoptr(WsDraft) d = ws_draft_new(design);
    const guint64 qk = group_named(design, "qk");
    must(d, ws_edit_hint_move(d, qk, 1, 1, NULL)); /* behind each other, in one round */
    assert_replays(design, d);
    g_assert_cmpint(ws_node_int(ws_draft_node(d, qk), WS_F_pipe_stage, 0), ==, 1);
    g_assert_cmpint(
        ws_node_int(ws_draft_node(d, group_named(d->design, "values")), WS_F_pipe_order, 9), ==, 3);
    g_assert_cmpint(judge(d->design), ==, WS_VERDICT_PROVED);
    must(d, ws_edit_hint_move(d, qk, 0, 3, NULL)); /* and back: the same document */
    g_autofree char *x = ws_design_print(design), *y = ws_design_print(d->design);
    g_assert_cmpstr(x, ==, y);
    g_autoptr(WsDraft) wrong = ws_draft_new(design);
    g_assert_false(ws_edit_hint_move(wrong, group_named(design, "softmax"), 0, -1, NULL));
    g_assert_nonnull(strstr(why(wrong), "earlier order"));
    g_autoptr(WsDraft) other = ws_draft_new(design);
    g_assert_false(ws_edit_hint_move(other, group_named(design, "pv"), -1, -1, "load"));
    g_assert_nonnull(strstr(why(other), "another executor"));
}

/* --- broken kin ------------------------------------------------------------------------------- */

/* The hint is legal, and what stands around it is wrong: the check says it at the line of a step in
 * the loop. */
static void refuted(void)
{
    g_autofree char *text =
        replaced(ATTENTION, "{ \"wait\": \"q_full[replica]\", \"use\": \"tile.total\" },", "");
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), NULL, findings);
    g_assert_nonnull(design);
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autoptr(WsVerdict) verdict = ws_check(p, NULL, findings);
    g_assert_cmpint(verdict->kind, ==, WS_VERDICT_REFUTED);
    ws_check_locate(design, findings);
    const WsFinding *f = findings->list->pdata[0];
    const WsNode *step = ws_design_find(design, f->at);
    g_assert_cmpint(f->rule, ==, WS_RULE_P_RACE);
    g_assert_cmpstr(ws_node_text(step, WS_F_keyword), ==, "s"); /* mma s of qk, in the loop */
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    g_assert_cmpuint(f->line, >, 0);
    g_assert_nonnull(strstr(line[f->line - 1], "\"mma\": \"s\""));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/edit/hint/gemm", GEMM, same_program);
    g_test_add_data_func("/edit/hint/attention", ATTENTION, same_program);
    for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autofree char *path = g_strdup_printf("/edit/hint/refused/%s", refused[i].name);
        g_test_add_data_func(path, &refused[i], is_refused);
    }
    g_test_add_func("/edit/hint/moves", moves);
    g_test_add_func("/edit/hint/refuted", refuted);
    return g_test_run();
}
