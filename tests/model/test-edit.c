/* Edits: text form, names, application, what is shared and what is refused. */
#include "document.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"

static WsDesign *open_document(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design = ws_design_parse(document, strlen(document), "x.wstave", findings);
    g_assert_nonnull(design);
    return design;
}

static WsDesign *apply(const WsDesign *design, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsEdit) edit = ws_edit_parse(text, &error);
    g_assert_no_error(error);
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *edited = ws_design_apply(design, edit, findings);
    g_autofree char *all = ws_findings_print(findings, NULL);
    g_assert_cmpstr(all, ==, "");
    g_assert_nonnull(edited);
    return edited;
}

/* Each edit: what it changes in the text, and the edit that takes it back. */
static const struct {
    const char *edit, *from, *to, *undo;
} good[] = {
    { "set buffers/a stages 3", "\"stages\": \"STAGES\"", "\"stages\": 3",
      "set buffers/a stages \"STAGES\"" },
    { "set buffers/a stages \"STAGES+1\"", "\"stages\": \"STAGES\"", "\"stages\": \"STAGES + 1\"",
      "set buffers/a stages \"STAGES\"" },
    { "unset buffers/a stages", ", \"stages\": \"STAGES\"", "", "set buffers/a stages \"STAGES\"" },
    { "set . name \"other\"", "\"small\"", "\"other\"", "set . name \"small\"" },
    { "set tiles launch \"single\"", "persistent", "single", "set tiles launch \"persistent\"" },
    { "set first wait \"empty\"", "{ \"wait\": \"full\", \"use\": 0",
      "{ \"wait\": \"empty\", \"use\": 0", "set first wait \"full\"" },
    { "set first when \"replica == 0\"", "\"use\": 0,", "\"use\": 0, \"when\": \"replica == 0\",",
      "unset first when" },
    { "set . constants {\"BM\":64,\"BK\":\"BM\",\"STAGES\":5}", "\"STAGES\": 4 }",
      "\"STAGES\": 5 }", "set . constants {\"BM\":64,\"BK\":\"BM\",\"STAGES\":4}" },
    { "insert groups/mma body 1 {\"mma_wait\":0}", "{ \"compute\": \"acc = 0\" },\n",
      "{ \"compute\": \"acc = 0\" },\n        { \"mma_wait\": 0 },\n", "remove groups/mma/body/1" },
    { "insert groups/load/body/0/do/0 do 2 {\"advance\":\"k\"}", "\"use\": \"k.total\" }\n",
      "\"use\": \"k.total\" },\n            { \"advance\": \"k\" }\n",
      "remove groups/load/body/0/do/0/do/2" },
    { "remove groups/mma/body/0", "        { \"compute\": \"acc = 0\" },\n", "",
      "insert groups/mma body 0 {\"compute\":\"acc = 0\"}" },
    { "insert . pipes 0 {\"name\":\"p\",\"fields\":[\"a\"]}", "  \"groups\": [",
      "  \"pipes\": [\n    { \"name\": \"p\", \"fields\": [\"a\"] }\n  ],\n  \"groups\": [",
      "remove pipes/p" },
    { "move groups/load/body/0/do/0 groups/load body 1", NULL, NULL,
      "move groups/load/body/1 groups/load/body/0 do 0" },
    { "move groups/mma/body/0 groups/mma body 1", NULL, NULL,
      "move groups/mma/body/1 groups/mma body 0" },
    { "move groups/load . groups 1", NULL, NULL, "move groups/load . groups 0" },
    { "move groups/mma/body/0 groups/load/body/0/do/0 do 2", NULL, NULL,
      "move groups/load/body/0/do/0/do/2 groups/mma body 0" },
    { "replace groups/mma/body/0 {\"compute\":[\"acc = 1\"]}", "acc = 0", "acc = 1",
      "replace groups/mma/body/0 {\"compute\":\"acc = 0\"}" },
    { "replace groups/mma/body/0 {\"sync\":\"group\"}", "\"compute\": \"acc = 0\"",
      "\"sync\": \"group\"", "replace groups/mma/body/0 {\"compute\":\"acc = 0\"}" },
};

static void test_good(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(good); i++) {
        g_test_message("%s", good[i].edit);
        g_autoptr(WsDesign) before = open_document();
        g_autoptr(WsDesign) after = apply(before, good[i].edit);
        g_autofree char *text = ws_design_print(after);
        if (good[i].from != NULL) {
            g_autofree char *want = changed(good[i].from, good[i].to);
            g_assert_cmpstr(text, ==, want);
        } else {
            g_assert_cmpstr(text, !=, document);
        }
        g_assert_cmpstr(ws_design_file(after), ==, "x.wstave");
        /* the design before is untouched, and the undo leads back to it */
        g_autofree char *same = ws_design_print(before);
        g_assert_cmpstr(same, ==, document);
        g_autoptr(WsDesign) back = apply(after, good[i].undo);
        g_autofree char *again = ws_design_print(back);
        g_assert_cmpstr(again, ==, document);
        /* what was edited can be read */
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) read = ws_design_parse(text, strlen(text), NULL, findings);
        g_assert_nonnull(read);
    }
}

static void test_text(void)
{
    static const struct {
        const char *text, *canonical;
    } edits[] = {
        { "set buffers/a  stages  3", "set buffers/a stages 3" },
        { "set . name \"x y\"\n", "set . name \"x y\"" },
        { "unset buffers/a stages", NULL },
        { "insert groups/mma body 0 { \"mma_wait\": 0 }",
          "insert groups/mma body 0 {\"mma_wait\":0}" },
        { "insert . buffers 0 {\"name\":\"q\"}", NULL },
        { "remove groups/mma/body/0", NULL },
        { "remove buffers/a", NULL },
        { "move buffers/a . buffers 0", NULL },
        { "replace first {\"sync\":\"group\"}", NULL },
    };
    for (guint i = 0; i < G_N_ELEMENTS(edits); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(WsEdit) edit = ws_edit_parse(edits[i].text, &error);
        g_assert_no_error(error);
        const char *want = edits[i].canonical != NULL ? edits[i].canonical : edits[i].text;
        g_autofree char *text = ws_edit_print(edit);
        g_assert_cmpstr(text, ==, want);
        g_autoptr(WsEdit) again = ws_edit_parse(text, &error);
        g_autofree char *twice = ws_edit_print(again);
        g_assert_cmpstr(twice, ==, want);
    }
}

static void test_malformed(void)
{
    static const char *const texts[] = {
        "",
        "frob a",
        "set",
        "set a",
        "set a b",
        "set a b {",
        "set a b \"x\" y",
        "unset a",
        "unset a b c",
        "insert a b x 1",
        "insert a b -1 1",
        "insert a b 1",
        "remove",
        "remove a b",
        "move a b c",
        "move a b c 99999999999",
        "replace a",
    };
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(ws_edit_parse(texts[i], &error));
        g_assert_nonnull(error);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *edit;
        WsRuleId rule;
    } bad[] = {
        { "set buffers/none stages 3", WS_RULE_S_EDIT },
        { "set buffers/a colour 3", WS_RULE_S_EDIT },
        { "set buffers/a stages 0", WS_RULE_S_VALUE },
        { "set buffers/a stages [1]", WS_RULE_S_KIND },
        { "set buffers/a stages \"1 +\"", WS_RULE_S_EXPR },
        { "set buffers/a name \"full\"", WS_RULE_N_DUPLICATE },
        { "set buffers/a name \"row\"", WS_RULE_N_RESERVED },
        { "set groups/mma/body/0 id \"first\"", WS_RULE_N_DUPLICATE },
        { "set . groups []", WS_RULE_S_VALUE },
        { "set . target \"sm_80\"", WS_RULE_V_TARGET },
        { "set . warpstave 3", WS_RULE_S_VALUE }, /* nothing would read it back */
        { "set . warpstave 0", WS_RULE_S_VALUE },
        { "unset . warpstave", WS_RULE_S_MISSING },
        { "unset buffers/a dtype", WS_RULE_S_MISSING },
        { "unset groups/load/body/0 over", WS_RULE_S_MISSING },
        { "set groups/load/body/0 count 3", WS_RULE_S_VALUE },
        { "insert groups/mma body 9 {\"mma_wait\":0}", WS_RULE_S_EDIT },
        { "insert groups/mma body 0 {\"mma_wiat\":0}", WS_RULE_S_STEP },
        { "insert groups/mma name 0 {\"mma_wait\":0}", WS_RULE_S_EDIT },
        { "insert . buffers 0 {\"wait\":\"full\"}", WS_RULE_S_MISSING },
        { "remove .", WS_RULE_S_EDIT },
        { "remove tiles", WS_RULE_S_EDIT },
        { "move tiles . groups 0", WS_RULE_S_EDIT },
        { "move buffers/a . barriers 0", WS_RULE_S_EDIT },
        { "move groups/load/body/0 groups/load/body/0/do/0 do 0", WS_RULE_S_EDIT },
        { "move groups/mma/body/0 groups/mma body 7", WS_RULE_S_EDIT },
        { "replace buffers/a {\"name\":\"a\"}", WS_RULE_S_MISSING },
    };
    g_autoptr(WsDesign) design = open_document();
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_test_message("%s", bad[i].edit);
        g_autoptr(WsEdit) edit = ws_edit_parse(bad[i].edit, NULL);
        g_assert_nonnull(edit);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_assert_null(ws_design_apply(design, edit, findings));
        g_assert_cmpuint(findings->list->len, >, 0);
        const WsFinding *f = g_ptr_array_index(findings->list, 0);
        g_assert_cmpstr(ws_rule(f->rule)->text, ==, ws_rule(bad[i].rule)->text);
        g_assert_cmpuint(f->line, ==, 0);
    }
}

/* Bodies nested to the limit refuse one more, however it is put there. */
static void test_limits(void)
{
    g_autoptr(WsDesign) design = open_document();
    g_autofree char *path = g_strdup("groups/mma");
    const char *list = "body";
    for (guint i = 0; i < WS_DESIGN_MAX_NESTING - 1; i++) {
        g_autofree char *text =
            g_strdup_printf("insert %s %s 0 {\"if\":1,\"then\":[]}", path, list);
        WsDesign *next = apply(design, text);
        ws_design_unref(design);
        design = next;
        char *inner = g_strdup_printf("%s/%s/0", path, list);
        g_free(path);
        path = inner;
        list = "then";
    }
    const char *const verbs[] = { "insert %s then 0 {\"if\":1,\"then\":[{\"mma_wait\":0}]}",
                                  "set %s then [{\"if\":1,\"then\":[{\"mma_wait\":0}]}]",
                                  "move groups/load/body/0 %s then 0" };
    for (guint i = 0; i < G_N_ELEMENTS(verbs); i++) {
        g_autofree char *text = g_strdup_printf(verbs[i], path); /* NOLINT: formats of the table */
        g_autoptr(WsEdit) edit = ws_edit_parse(text, NULL);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_assert_null(ws_design_apply(design, edit, findings));
        const WsFinding *f = g_ptr_array_index(findings->list, 0);
        g_assert_cmpint(f->rule, ==, WS_RULE_S_LIMIT);
    }
}

static void test_sharing(void)
{
    g_autoptr(WsDesign) before = open_document();
    g_autoptr(WsDesign) after = apply(before, "set first use 1");
    static const char *const shared[] = { "tiles",
                                          "buffers/a",
                                          "barriers/full",
                                          "groups/load",
                                          "groups/load/body/0/do/0/do/1",
                                          "groups/mma/values/acc",
                                          "groups/mma/body/0" };
    for (guint i = 0; i < G_N_ELEMENTS(shared); i++)
        g_assert_true(ws_design_find(before, shared[i]) == ws_design_find(after, shared[i]));
    static const char *const copied[] = { "", "groups/mma", "groups/mma/body/1" };
    for (guint i = 0; i < G_N_ELEMENTS(copied); i++) {
        const WsNode *a = ws_design_find(before, copied[i]), *b = ws_design_find(after, copied[i]);
        g_assert_true(a != b);
        g_assert_cmpuint(a->identity, ==, b->identity);
    }
}

/* A node keeps its identity when it moves; its path follows. */
static void test_identity(void)
{
    g_autoptr(WsDesign) before = open_document();
    const WsNode *compute = ws_design_find(before, "groups/mma/body/0");
    g_autoptr(WsDesign) after = apply(before, "move groups/mma/body/0 groups/load/body/0 do 1");
    g_autofree char *path = ws_design_path(after, compute);
    g_assert_cmpstr(path, ==, "groups/load/body/0/do/1");
    g_assert_true(ws_design_find(after, path) == compute);
    g_autofree char *id = ws_design_path(after, ws_design_find(after, "groups/mma/body/0"));
    g_assert_cmpstr(id, ==, "first");
    g_autoptr(WsDesign) other = open_document();
    g_assert_cmpuint(ws_design_root(other)->identity, !=, ws_design_root(before)->identity);
}

static void test_constant(void)
{
    g_autoptr(WsDesign) before = open_document();
    g_assert_null(ws_design_with_constant(before, "NONE", 1));
    g_assert_null(ws_design_with_constant(before, "M", 1));
    g_autoptr(WsDesign) after = ws_design_with_constant(before, "BK", -7);
    g_autofree char *text = ws_design_print(after);
    g_autofree char *want = changed("\"BK\": \"BM\"", "\"BK\": -7");
    g_assert_cmpstr(text, ==, want);
    g_autofree char *same = ws_design_print(before);
    g_assert_cmpstr(same, ==, document);
    g_assert_true(ws_design_find(before, "groups/mma") == ws_design_find(after, "groups/mma"));
}

/* Sums are equal where texts are: over every edit that is good, there and back, and written
 * otherwise. */
static void test_sums(void)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)ws_design_unref);
    g_ptr_array_add(all, open_document());
    g_ptr_array_add(all, open_document());
    for (guint i = 0; i < G_N_ELEMENTS(good); i++) {
        g_ptr_array_add(all, apply(all->pdata[0], good[i].edit));
        g_ptr_array_add(all, apply(all->pdata[all->len - 1], good[i].undo));
    }
    /* A default that is written is not written down. */
    g_ptr_array_add(all, apply(all->pdata[0], "set groups/mma replicate 1"));
    g_ptr_array_add(all, apply(all->pdata[0], "set . cluster 1"));
    for (guint a = 0; a < all->len; a++)
        for (guint b = 0; b < all->len; b++) {
            g_autofree char *x = ws_design_print(all->pdata[a]);
            g_autofree char *y = ws_design_print(all->pdata[b]);
            g_assert_cmpint(ws_design_sum(all->pdata[a]) == ws_design_sum(all->pdata[b]), ==,
                            strcmp(x, y) == 0);
        }
}

/* Edits whose rules of the whole document are asked in the end: refused there, not in between. */
static void test_parts(void)
{
    g_autoptr(WsDesign) before = open_document();
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsEdit) twice = ws_edit_parse("set groups/mma name \"load\"", NULL);
    g_autoptr(WsEdit) other = ws_edit_parse("set groups/1 name \"mma\"", NULL);
    g_assert_null(ws_design_apply(before, twice, findings));
    g_autoptr(WsFindings) none = ws_findings_new();
    g_autoptr(WsDesign) middle = ws_design_apply_part(before, twice, none);
    g_assert_nonnull(middle);
    g_assert_false(ws_design_is_whole(middle, none));
    g_assert_cmpuint(ws_findings_count(none, WS_SEVERITY_ERROR), >, 0);
    g_autoptr(WsFindings) good_again = ws_findings_new();
    g_autoptr(WsDesign) after = ws_design_apply_part(middle, other, good_again);
    g_assert_nonnull(after);
    g_assert_true(ws_design_is_whole(after, good_again));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/model/edit/good", test_good);
    g_test_add_func("/model/edit/text", test_text);
    g_test_add_func("/model/edit/malformed", test_malformed);
    g_test_add_func("/model/edit/refused", test_refused);
    g_test_add_func("/model/edit/limits", test_limits);
    g_test_add_func("/model/edit/sharing", test_sharing);
    g_test_add_func("/model/edit/identity", test_identity);
    g_test_add_func("/model/edit/constant", test_constant);
    g_test_add_func("/model/edit/sums", test_sums);
    g_test_add_func("/model/edit/parts", test_parts);
    return g_test_run();
}
