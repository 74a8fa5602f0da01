/* Fields as they are typed: every field of every shipped design comes back from its text. */
#include "edit/edit.h"
#include "edit/entry.h"
#include "model/findings.h"

#include <string.h>

static guint n_fields;

static void walk(const WsDesign *design, const WsNode *node)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++) {
        const WsValue *value = ws_node_get(node, rows[i].field);
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            walk(design, ws_node_child(node, rows[i].field, c));
        if (value->kind == WS_VALUE_NONE || value->kind == WS_VALUE_NODE ||
            value->kind == WS_VALUE_NODES || rows[i].kind == WS_FIELD_JSON)
            continue;
        g_autoptr(GError) error = NULL;
        g_autofree char *text = ws_entry_text(&rows[i], value);
        WsJson *json = ws_entry_json(&rows[i], text, &error);
        g_autofree char *was = ws_value_print(&rows[i], value);
        g_assert_no_error(error);
        if (value->n == 0 && json == NULL)
            continue; /* an empty list is no text */
        g_autoptr(WsDraft) d = ws_draft_new(design);
        if (!ws_draft_set(d, node->identity, rows[i].field, json))
            g_error("%s: \"%s\": %s", ws_node_key(node->kind, rows[i].field), text, d->why);
        g_autofree char *now =
            ws_value_print(&rows[i], ws_node_get(ws_draft_node(d, node->identity), rows[i].field));
        g_assert_cmpstr(now, ==, was);
        n_fields++;
    }
}

static void round_trip(void)
{
    static const char *const files[] = { "projects/gemm-bf16/design.wstave",
                                         "tests/designs/attention-fa3-dynamic.wstave",
                                         "tests/designs/sparse-mla-pipes.wstave",
                                         "tests/designs/gemm-pingpong.wstave" };
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, files[i], NULL);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design = ws_design_load(path, findings);
        g_assert_nonnull(design);
        walk(design, ws_design_root(design));
    }
    g_assert_cmpuint(n_fields, >, 400);
}

static void wrong(void)
{
    static const struct {
        WsNodeKind kind;
        WsFieldId field;
        const char *text;
    } cases[] = {
        { WS_STEP_FOR, WS_F_count, "cdiv(K" },      { WS_STEP_LOAD, WS_F_into, "a.rows(" },
        { WS_STEP_LOAD, WS_F_at, "tm*, k" },        { WS_NODE_DESIGN, WS_F_constants, "BM" },
        { WS_NODE_DESIGN, WS_F_sizes, "M = many" }, { WS_NODE_TENSOR, WS_F_tolerance, "a little" },
        { WS_STEP_FOR, WS_F_muted, "perhaps" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        const WsFieldRow *row = ws_node_row(cases[i].kind, cases[i].field);
        g_assert_null(ws_entry_json(row, cases[i].text, &error));
        g_assert_nonnull(error);
        g_assert_cmpuint(strlen(error->message), >, 5);
    }
    g_autoptr(GError) error = NULL;
    g_assert_null(ws_entry_json(ws_node_row(WS_STEP_FOR, WS_F_count), "  ", &error));
    g_assert_no_error(error);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/entry/round-trip", round_trip);
    g_test_add_func("/entry/wrong", wrong);
    return g_test_run();
}
