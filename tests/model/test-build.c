/* Values that are built: what they print as, and that what a parser would refuse is refused. */
#include "model/build.h"
#include "model/finding.h"
#include "model/findings.h"

#include <string.h>

static void prints(void)
{
    WsJson *list = ws_json_list(), *map = ws_json_map();
    ws_json_add(list, ws_json_int(G_MININT64));
    ws_json_add(list, NULL);
    ws_json_add(list, ws_json_bool(FALSE));
    ws_json_add(list, ws_json_text("a \"b\"\n\\"));
    ws_json_put(map, "x", list);
    ws_json_put(map, "none", NULL);
    ws_json_put(map, "y", ws_json_expr("k + 1"));
    ws_json_put(map, "z", ws_json_expr("-7"));
    ws_json_put(map, "none", ws_json_expr(""));
    g_autoptr(WsJson) with =
        ws_json_with(ws_json_with(map, "y", ws_json_int(2)), "w", ws_json_map());
    g_autofree char *text = ws_json_print(with);
    g_assert_cmpstr(text, ==,
                    "{\"x\":[-9223372036854775808,false,\"a \\\"b\\\"\\n\\\\\"],\"y\":2,\"z\":-7,"
                    "\"w\":{}}");
    g_autoptr(WsJson) read = ws_json_read(text, NULL);
    g_autoptr(WsJson) copy = ws_json_copy(read);
    g_autofree char *again = ws_json_print(copy);
    g_assert_cmpstr(again, ==, text);
    g_assert_null(ws_json_text(NULL));
    g_assert_null(ws_json_expr(NULL));
}

static WsJson *upper(const char *text, gpointer data)
{
    return strcmp(text, "a") == 0 ? ws_json_text("A") : NULL;
}

static void replaces(void)
{
    g_autoptr(WsJson) json = ws_json_read("{\"a\":[\"a\",\"b\",{\"c\":\"a\"}],\"b\":1}", NULL);
    g_assert_cmpuint(ws_json_replace(json, FALSE, upper, NULL), ==, 2);
    g_assert_cmpuint(ws_json_replace(json, TRUE, upper, NULL), ==, 1);
    g_autofree char *text = ws_json_print(json);
    g_assert_cmpstr(text, ==, "{\"A\":[\"A\",\"b\",{\"c\":\"A\"}],\"b\":1}");
}

static WsDesign *small(WsFindings *findings, WsJson *note, WsJson *buffer)
{
    WsJson *axes = ws_json_map(), *groups = ws_json_list(), *buffers = ws_json_list();
    ws_json_put(axes, "t", ws_json_int(1));
    ws_json_add(buffers, buffer);
    ws_json_add(groups, WS_MAKE(WS_NODE_GROUP, { WS_F_name, ws_json_text("g") },
                                { WS_F_role, ws_json_text("worker") },
                                { WS_F_warps, ws_json_int(4) }, { WS_F_body, ws_json_list() }));
    WsJson *tiles =
        WS_MAKE(WS_NODE_TILES, { WS_F_axes, axes }, { WS_F_launch, ws_json_text("single") });
    return ws_design_build(WS_MAKE(WS_NODE_DESIGN, { WS_F_warpstave, ws_json_int(1) },
                                   { WS_F_name, ws_json_text("d") }, { WS_F_note, note },
                                   { WS_F_target, ws_json_text("sm_90a") },
                                   { WS_F_tensors, ws_json_list() }, { WS_F_buffers, buffers },
                                   { WS_F_tiles, tiles }, { WS_F_groups, groups }),
                           "kernel.py", findings);
}

static void builds(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = small(findings, NULL, NULL);
    g_assert_nonnull(design);
    g_assert_cmpstr(ws_design_file(design), ==, "kernel.py");
    g_autofree char *text = ws_design_print(design);
    g_autoptr(WsDesign) read = ws_design_parse(text, strlen(text), NULL, findings);
    g_autofree char *again = ws_design_print(read);
    g_assert_cmpstr(again, ==, text);
}

/* As a parser of text would refuse them. */
static void refuses(void)
{
    WsJson *deep = ws_json_list(), *twice = ws_json_map();
    for (guint i = 0; i < WS_DESIGN_MAX_JSON_DEPTH; i++) {
        WsJson *outer = ws_json_list();
        ws_json_add(outer, deep);
        deep = outer;
    }
    ws_json_put(twice, "name", ws_json_text("a"));
    ws_json_put(twice, "name", ws_json_text("b"));
    g_autofree char *text = g_strnfill(WS_DESIGN_MAX_BYTES, 'x');
    const struct {
        WsJson *note, *buffer;
        WsRuleId rule;
    } cases[] = {
        { ws_json_text("\xff"), NULL, WS_RULE_S_IO },
        { deep, NULL, WS_RULE_S_LIMIT },
        { NULL, ws_json_at(twice, 42, 9), WS_RULE_S_REPEATED },
        { ws_json_text(text), NULL, WS_RULE_S_LIMIT },
        { NULL, ws_json_at(ws_json_map(), 42, 9), WS_RULE_S_MISSING },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        const gboolean placed = cases[i].buffer != NULL;
        g_assert_null(small(findings, cases[i].note, cases[i].buffer));
        const WsFinding *f = findings->list->pdata[0];
        g_assert_cmpint(f->rule, ==, cases[i].rule);
        g_assert_cmpuint(f->line, ==, placed ? 42 : 0);
    }
}

/* An edit holds what it sets; the design is untouched where that does not fit. */
static void edits(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = small(findings, NULL, NULL);
    g_autoptr(WsEdit) name = ws_edit_new_set("groups/g", "note", ws_json_text("say \"x\""));
    g_autoptr(WsEdit) copy = ws_edit_copy_of(name);
    g_autofree char *text = ws_edit_print(copy);
    g_assert_cmpstr(text, ==, "set groups/g note \"say \\\"x\\\"\"");
    g_autoptr(WsEdit) bad = ws_edit_new_set("groups/g", "note", ws_json_text("\xc3"));
    g_autoptr(WsDesign) none = ws_design_apply(design, bad, findings);
    g_assert_null(none);
    g_autoptr(WsEdit) number = ws_edit_new_insert("groups/g", "body", 0, ws_json_int(3));
    none = ws_design_apply(design, number, findings);
    g_assert_null(none);
    g_assert_cmpuint(findings->list->len, ==, 2);
    g_autoptr(WsDesign) now = ws_design_apply(design, copy, findings);
    g_assert_cmpstr(ws_node_text(ws_design_find(now, "groups/g"), WS_F_note), ==, "say \"x\"");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/build/prints", prints);
    g_test_add_func("/build/replaces", replaces);
    g_test_add_func("/build/design", builds);
    g_test_add_func("/build/refuses", refuses);
    g_test_add_func("/build/edits", edits);
    return g_test_run();
}
