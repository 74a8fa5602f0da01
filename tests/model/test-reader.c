/* Bad documents: what is found, where, and that nothing crashes. */
#include "../cputime.h"
#include "document.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"

typedef struct {
    const char *name;
    const char *from, *to; /* the change to the document */
    WsRuleId rule;
    const char *at;
    guint line;
    const char *remedy; /* part of the remedy, or NULL */
} Case;

static const Case cases[] = {
    /* version and target */
    { "newer-version", "\"warpstave\": 1", "\"warpstave\": 2, \"later\": 1", WS_RULE_V_VERSION,
      "warpstave", 2, "newer" },
    { "version-zero", "\"warpstave\": 1", "\"warpstave\": 0", WS_RULE_V_VERSION, "warpstave", 2,
      NULL },
    { "version-kind", "\"warpstave\": 1", "\"warpstave\": \"1\"", WS_RULE_S_KIND, "warpstave", 2,
      "integer" },
    { "target", "sm_90a", "sm_90", WS_RULE_V_TARGET, "target", 4, "sm_90a" },
    /* JSON */
    { "trailing-comma", "\"launch\": \"persistent\" }", "\"launch\": \"persistent\", }",
      WS_RULE_S_JSON, "tiles", 11, NULL },
    { "comment", "\"buffers\"", "// x\n  \"buffers\"", WS_RULE_S_JSON, "", 12, NULL },
    { "single-quotes", "\"small\"", "'small'", WS_RULE_S_JSON, "name", 3, NULL },
    { "nan", "\"M\": 256", "\"M\": NaN", WS_RULE_S_JSON, "sizes/M", 6, NULL },
    { "plus-number", "\"M\": 256", "\"M\": +1", WS_RULE_S_JSON, "sizes/M", 6, NULL },
    { "leading-zero", "\"M\": 256", "\"M\": 012", WS_RULE_S_JSON, "sizes", 6, NULL },
    { "huge-integer", "\"M\": 256", "\"M\": 9223372036854775808", WS_RULE_S_VALUE, "sizes/M", 6,
      "smaller" },
    { "huge-real", "\"sizes\"", "\"scalars\": { \"x\": 1e999 },\n  \"sizes\"", WS_RULE_S_VALUE,
      "scalars/x", 6, NULL },
    { "nul", "\"small\"", "\"sm\\u0000all\"", WS_RULE_S_JSON, "name", 3, NULL },
    { "bad-escape", "\"small\"", "\"sm\\qall\"", WS_RULE_S_JSON, "name", 3, NULL },
    { "newline-in-string", "\"small\"", "\"sm\nall\"", WS_RULE_S_JSON, "name", 3, NULL },
    { "garbage-after", "  ]\n}\n", "  ]\n}\nx", WS_RULE_S_JSON, "", 39, NULL },
    { "two-documents", "  ]\n}\n", "  ]\n}{}", WS_RULE_S_JSON, "", 38, NULL },
    { "repeated-key", "\"use\": 0", "\"use\": 0, \"use\": 1", WS_RULE_S_REPEATED,
      "groups/1/body/1/use", 35, "remove" },
    { "repeated-escaped", "\"use\": 0", "\"use\": 0, \"\\u0075se\": 1", WS_RULE_S_REPEATED,
      "groups/1/body/1/use", 35, NULL },
    /* keys */
    { "unknown-root-key", "\"barriers\"", "\"bariers\"", WS_RULE_S_KEY, "bariers", 15,
      "\"barriers\"" },
    { "unknown-object-key", "\"stages\"", "\"stage\"", WS_RULE_S_KEY, "buffers/a/stage", 13,
      "\"stages\"" },
    { "unknown-step-key", "\"signal\"", "\"signals\"", WS_RULE_S_KEY,
      "groups/load/body/0/do/0/do/1/signals", 25, "\"signal\"" },
    { "field-of-another-step", "\"use\": 0", "\"from\": \"a\"", WS_RULE_S_KEY,
      "groups/mma/body/1/from", 35, NULL },
    { "ahead-typo", "\"use\": 0", "\"ahed\": 0", WS_RULE_S_KEY, "groups/mma/body/1/ahed", 35,
      "\"ahead\"" },
    { "no-keyword", "\"wait\": \"full\"", "\"wiat\": \"full\"", WS_RULE_S_STEP, "groups/mma/body/1",
      35, "\"wait\"" },
    { "two-keywords", "\"wait\": \"full\"", "\"wait\": \"full\", \"sync\": \"group\"",
      WS_RULE_S_STEP, "groups/mma/body/1", 35, "two steps" },
    { "empty-step", "{ \"compute\": \"acc = 0\" }", "{}", WS_RULE_S_STEP, "groups/mma/body/0", 34,
      NULL },
    /* kinds */
    { "root-list", document, "[]", WS_RULE_S_KIND, "", 1, NULL },
    { "root-number", document, "7", WS_RULE_S_KIND, "", 1, NULL },
    { "constants-list", "{ \"BM\": 64, \"BK\": \"BM\", \"STAGES\": 4 }", "[4]", WS_RULE_S_KIND,
      "constants", 5, "object" },
    { "constant-real", "\"BM\": 64", "\"BM\": 64.5", WS_RULE_S_KIND, "constants/BM", 5, NULL },
    { "constant-null", "\"BM\": 64", "\"BM\": null", WS_RULE_S_KIND, "constants/BM", 5, NULL },
    { "stages-list", "\"stages\": \"STAGES\"", "\"stages\": [4]", WS_RULE_S_KIND,
      "buffers/a/stages", 13, NULL },
    { "body-object", "[\n        { \"compute\": \"acc = 0\" },", "{} , \"note\": [", WS_RULE_S_KIND,
      "groups/mma/body", 33, NULL },
    { "step-string", "{ \"compute\": \"acc = 0\" }", "\"compute\"", WS_RULE_S_KIND,
      "groups/mma/body/0", 34, NULL },
    { "group-number", "{ \"name\": \"A\", \"dtype\": \"bf16\", \"shape\": [\"M\", \"K\"] }", "3",
      WS_RULE_S_KIND, "tensors/0", 9, NULL },
    { "muted-number", "\"use\": 0", "\"muted\": 1", WS_RULE_S_KIND, "groups/mma/body/1/muted", 35,
      "true or false" },
    { "ref-number", "\"wait\": \"full\"", "\"wait\": 3", WS_RULE_S_KIND, "groups/mma/body/1/wait",
      35, NULL },
    { "size-text", "\"M\": 256", "\"M\": \"256\"", WS_RULE_S_KIND, "sizes/M", 6, NULL },
    { "studio-list", "\"tensors\"", "\"studio\": [],\n  \"tensors\"", WS_RULE_S_KIND, "studio", 8,
      NULL },
    /* missing */
    { "no-name", "  \"name\": \"small\",\n", "", WS_RULE_S_MISSING, "", 1, "\"name\"" },
    { "no-tiles",
      "  \"tiles\": { \"axes\": { \"tm\": \"cdiv(M, BM)\" }, \"launch\": \"persistent\" },\n", "",
      WS_RULE_S_MISSING, "", 1, "\"tiles\"" },
    { "no-axes", "\"axes\": { \"tm\": \"cdiv(M, BM)\" }, ", "", WS_RULE_S_MISSING, "tiles", 11,
      "\"axes\"" },
    { "no-buffer-name", "\"name\": \"a\", ", "", WS_RULE_S_MISSING, "buffers/0", 13, "\"name\"" },
    { "no-into", "\"into\": \"a\", ", "", WS_RULE_S_MISSING, "groups/load/body/0/do/0/do/1", 25,
      "\"into\"" },
    { "no-count", "\"count\": \"K/BK\", ", "", WS_RULE_S_MISSING, "groups/load/body/0/do/0", 23,
      "count" },
    { "count-and-over", "\"count\": \"K/BK\"", "\"count\": 1, \"over\": \"tiles\"", WS_RULE_S_VALUE,
      "groups/load/body/0/do/0", 23, NULL },
    /* expressions */
    { "bad-expression", "\"k.total\"", "\"k +\"", WS_RULE_S_EXPR,
      "groups/load/body/0/do/0/do/0/use", 24, NULL },
    { "bad-reference", "\"into\": \"a\"", "\"into\": \"a.row(0, 64)\"", WS_RULE_S_EXPR,
      "groups/load/body/0/do/0/do/1/into", 25, NULL },
    { "bad-statement", "acc = 0", "acc == 0", WS_RULE_S_EXPR, "groups/mma/body/0/compute", 34,
      NULL },
    { "element-statement", "acc = 0", "acc[i] = 0", WS_RULE_S_EXPR, "groups/mma/body/0/compute", 34,
      "acc =" },
    { "reference-statement", "\"buffers\"", "\"reference\": \"A = 0\",\n  \"buffers\"",
      WS_RULE_S_EXPR, "reference", 12, "A[i, j]" },
    { "empty-expression", "\"K/BK\"", "\"\"", WS_RULE_S_EXPR, "groups/load/body/0/do/0/count", 23,
      NULL },
    { "huge-literal", "\"K/BK\"", "\"99999999999999999999\"", WS_RULE_S_EXPR,
      "groups/load/body/0/do/0/count", 23, NULL },
    /* values */
    { "zero-stages", "\"stages\": \"STAGES\"", "\"stages\": 0", WS_RULE_S_VALUE, "buffers/a/stages",
      13, "at least 1" },
    { "zero-stages-text", "\"stages\": \"STAGES\"", "\"stages\": \"0\"", WS_RULE_S_VALUE,
      "buffers/a/stages", 13, NULL },
    { "negative-size", "\"M\": 256", "\"M\": -1", WS_RULE_S_VALUE, "sizes/M", 6, NULL },
    { "zero-warps", "\"warps\": 4", "\"warps\": 0", WS_RULE_S_VALUE, "groups/load/warps", 20,
      NULL },
    { "zero-replicate", "\"replicate\": 2", "\"replicate\": 0", WS_RULE_S_VALUE,
      "groups/mma/replicate", 29, NULL },
    { "negative-tile", "[\"BM\", \"BK\"]", "[-64, \"BK\"]", WS_RULE_S_VALUE, "buffers/a/tile/0", 13,
      NULL },
    { "tile-of-three", "[\"BM\", \"BK\"]", "[1, 2, 3]", WS_RULE_S_VALUE, "buffers/a/tile", 13,
      NULL },
    { "role", "producer", "producr", WS_RULE_S_VALUE, "groups/load/role", 20, "\"producer\"" },
    { "dtype", "\"dtype\": \"bf16\", \"shape\"", "\"dtype\": \"bf15\", \"shape\"", WS_RULE_S_VALUE,
      "tensors/A/dtype", 9, "\"bf16\"" },
    { "cluster-of-3", "\"tensors\"", "\"cluster\": 3,\n  \"tensors\"", WS_RULE_S_VALUE, "cluster",
      8, NULL },
    { "hw-id", "\"slots\": \"STAGES\" }", "\"hw_id\": 16 }", WS_RULE_S_VALUE, "barriers/full/hw_id",
      16, NULL },
    { "no-groups", "\"groups\": [", "\"groups\": [], \"note\": [", WS_RULE_S_VALUE, "groups", 19,
      NULL },
    { "order", "\"persistent\"", "\"persistent\", \"order\": \"grouped(tm)\"", WS_RULE_S_VALUE,
      "tiles/order", 11, "grouped(axis, n)" },
    { "order-word", "\"persistent\"", "\"persistent\", \"order\": \"group(tm, 2)\"",
      WS_RULE_S_VALUE, "tiles/order", 11, "\"grouped\"" },
    { "data", "\"shape\"", "\"data\": \"uniform(1)\", \"shape\"", WS_RULE_S_VALUE, "tensors/A/data",
      9, NULL },
    { "id-slash", "\"first\"", "\"a/b\"", WS_RULE_S_VALUE, "groups/mma/body/1/id", 35, NULL },
    { "id-tiles", "\"first\"", "\"tiles\"", WS_RULE_S_VALUE, "groups/mma/body/1/id", 35, NULL },
    { "init-list-word", "\"init\": \"ready\"", "\"init\": [\"ready\", \"redy\"]", WS_RULE_S_VALUE,
      "barriers/empty/init/1", 17, "\"ready\"" },
    { "over-use", "\"stages\": \"STAGES\"", "\"over\": \"a @ 1\"", WS_RULE_S_VALUE,
      "buffers/a/over", 13, NULL },
    /* names */
    { "bad-name", "\"name\": \"a\"", "\"name\": \"2a\"", WS_RULE_S_NAME, "buffers/2a/name", 13,
      NULL },
    { "bad-key-name", "\"BM\": 64", "\"B M\": 64", WS_RULE_S_NAME, "constants/B M", 5, NULL },
    { "reserved", "\"name\": \"a\"", "\"name\": \"row\"", WS_RULE_N_RESERVED, "buffers/row/name",
      13, NULL },
    { "reserved-function", "\"for\": \"k\"", "\"for\": \"cdiv\"", WS_RULE_N_RESERVED,
      "groups/load/body/0/do/0/for", 23, NULL },
    { "reserved-dtype", "\"BM\": 64", "\"f32\": 64", WS_RULE_N_RESERVED, "constants/f32", 5, NULL },
    { "twice-in-list", "\"name\": \"empty\"", "\"name\": \"full\"", WS_RULE_N_DUPLICATE,
      "barriers/full", 17, NULL },
    { "twice-across", "\"name\": \"full\"", "\"name\": \"a\"", WS_RULE_N_DUPLICATE, "barriers/a",
      16, NULL },
    { "twice-size-constant", "\"K\": 512", "\"K\": 512, \"BK\": 1", WS_RULE_N_DUPLICATE, "sizes/BK",
      6, NULL },
    { "twice-group", "\"name\": \"mma\"", "\"name\": \"load\"", WS_RULE_N_DUPLICATE, "groups/load",
      29, NULL },
    { "twice-id", "{ \"compute\": \"acc = 0\" }", "{ \"compute\": \"acc = 0\", \"id\": \"first\" }",
      WS_RULE_N_DUPLICATE, "groups/mma/body/1", 35, NULL },
    { "shadow", "{ \"tm\": \"cdiv(M, BM)\" }", "{ \"a\": 1 }", WS_RULE_N_SHADOW, "tiles/axes/a", 11,
      NULL },
    { "constant-of-itself", "\"BK\": \"BM\"", "\"BK\": \"BK + 1\"", WS_RULE_N_ORDER, "constants/BK",
      5, NULL },
    { "constant-of-later", "\"BK\": \"BM\"", "\"BK\": \"STAGES\"", WS_RULE_N_ORDER, "constants/BK",
      5, NULL },
    { "rehearse-unknown", "\"rehearse\": { \"M\": 64 }", "\"rehearse\": { \"MM\": 64 }",
      WS_RULE_N_UNKNOWN, "rehearse/MM", 7, "\"M\"" },
};

static void test_case(gconstpointer data)
{
    const Case *c = data;
    g_autofree char *text = changed(c->from, c->to);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "x.wstave", findings);
    g_assert_null(design);
    g_autofree char *all = ws_findings_print(findings, "x.wstave");
    const WsFinding *found = NULL;
    for (guint i = 0; i < findings->list->len && found == NULL; i++) {
        const WsFinding *f = g_ptr_array_index(findings->list, i);
        if (f->rule == c->rule && strcmp(f->at, c->at) == 0)
            found = f;
    }
    if (found == NULL)
        g_error("no %s at \"%s\" in:\n%s", ws_rule(c->rule)->text, c->at, all);
    g_assert_cmpuint(found->line, ==, c->line);
    g_assert_cmpuint(found->column, >, 0);
    g_assert_cmpstr(found->message, !=, "");
    g_assert_cmpint(ws_findings_exit_code(findings, FALSE), ==, 2);
    if (c->remedy != NULL && (found->remedy == NULL || strstr(found->remedy, c->remedy) == NULL))
        g_error("remedy \"%s\" lacks \"%s\"", found->remedy, c->remedy);
}

static void test_good(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(document, strlen(document), "x.wstave", findings);
    g_autofree char *all = ws_findings_print(findings, "x.wstave");
    g_assert_cmpstr(all, ==, "");
    g_assert_nonnull(design);
    const WsNode *wait = ws_design_find(design, "first");
    g_assert_nonnull(wait);
    g_assert_cmpint(wait->kind, ==, WS_STEP_WAIT);
    g_assert_cmpuint(wait->line, ==, 35);
    g_assert_cmpuint(wait->column, ==, 9);
    g_assert_cmpstr(ws_node_text(wait, WS_F_keyword), ==, "full");
    g_assert_cmpint(ws_node_int(wait, WS_F_use, -1), ==, 0);
    const WsNode *load = ws_design_find(design, "groups/load/body/0/do/0/do/1");
    g_assert_cmpint(load->kind, ==, WS_STEP_LOAD);
    g_assert_cmpstr(ws_node_text(load, WS_F_keyword), ==, "A");
    g_autofree char *path = ws_design_path(design, load);
    g_assert_cmpstr(path, ==, "groups/load/body/0/do/0/do/1");
    g_autofree char *tiles = ws_design_path(design, ws_design_find(design, "tiles"));
    g_assert_cmpstr(tiles, ==, "tiles");
    g_assert_null(ws_design_find(design, "groups/load/body/9"));
    g_assert_null(ws_design_find(design, "groups/load/body"));
    g_assert_null(ws_design_find(design, "groups/"));
}

/* Every prefix of a document is refused with a finding, never a crash. */
static void test_truncated(void)
{
    for (gsize n = 0; n < strlen(document) - 2; n++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_assert_null(ws_design_parse(document, n, NULL, findings));
        g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), >, 0);
    }
}

static void expect_rule(const char *text, gsize length, WsRuleId rule)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_assert_null(ws_design_parse(text, length, NULL, findings));
    g_assert_cmpuint(findings->list->len, >, 0);
    const WsFinding *f = g_ptr_array_index(findings->list, 0);
    g_assert_cmpstr(ws_rule(f->rule)->text, ==, ws_rule(rule)->text);
}

static void test_size(void)
{
    g_autofree char *text = g_malloc(WS_DESIGN_MAX_BYTES + 1);
    memset(text, ' ', WS_DESIGN_MAX_BYTES + 1);
    memcpy(text, document, strlen(document));
    expect_rule(text, WS_DESIGN_MAX_BYTES + 1, WS_RULE_S_LIMIT);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, WS_DESIGN_MAX_BYTES, NULL, findings);
    g_assert_nonnull(design);
}

static void test_encoding(void)
{
    g_autofree char *text = changed("small", "sm\xff");
    expect_rule(text, strlen(text), WS_RULE_S_IO);
    expect_rule("{ \"a\": 1\0 }", 11, WS_RULE_S_IO);
}

static char *nested(const char *open, const char *close, guint n, const char *inside)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < n; i++)
        g_string_append(s, open);
    g_string_append(s, inside);
    for (guint i = 0; i < n; i++)
        g_string_append(s, close);
    return g_string_free(s, FALSE);
}

static void test_nesting(void)
{
    g_autofree char *lists = nested("[", "]", 100000, "");
    expect_rule(lists, strlen(lists), WS_RULE_S_LIMIT);
    g_autofree char *objects = nested("{\"a\":", "}", 100000, "1");
    expect_rule(objects, strlen(objects), WS_RULE_S_LIMIT);
    const char *step = "{ \"compute\": \"acc = 0\" }";
    /* eleven loops in a body are twelve bodies, which is the limit */
    g_autofree char *deep = nested("{ \"if\": 1, \"then\": [", "] }", 11, step);
    g_autofree char *good = changed(step, deep);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(good, strlen(good), NULL, findings);
    g_autofree char *all = ws_findings_print(findings, NULL);
    g_assert_cmpstr(all, ==, "");
    g_assert_nonnull(design);
    g_autofree char *deeper = nested("{ \"if\": 1, \"then\": [", "] }", 12, step);
    g_autofree char *bad = changed(step, deeper);
    expect_rule(bad, strlen(bad), WS_RULE_S_LIMIT);
}

static void test_many_steps(void)
{
    const char *step = "{ \"compute\": \"acc = 0\" },\n";
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < WS_DESIGN_MAX_STEPS; i++)
        g_string_append(s, step);
    g_autofree char *text = changed(step, s->str);
    g_string_free(s, TRUE);
    expect_rule(text, strlen(text), WS_RULE_S_LIMIT);
}

static void test_ten_errors(void)
{
    GString *s = g_string_new("{");
    for (guint i = 0; i < 5000; i++)
        g_string_append_printf(s, "%s\"x%u\": 1", i > 0 ? "," : "", i);
    g_string_append(s, "}");
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_assert_null(ws_design_parse(s->str, s->len, NULL, findings));
    g_assert_cmpuint(findings->list->len, ==, 10);
    g_string_free(s, TRUE);
}

/* The longest documents, on one line or in one object, take linear time. */
static void test_longest(gconstpointer data)
{
    const char *const *p = data; /* what is replaced, and the parts of what replaces it */
    GString *s = g_string_new(p[1]);
    for (guint i = 0; s->len < WS_DESIGN_MAX_BYTES - strlen(document) - 100; i++)
        g_string_append_printf(s, "%s\"k%u\": %s%u%s", i > 0 ? ", " : "", i, p[2], i, p[3]);
    g_string_append(s, p[4]);
    g_autofree char *text = changed(p[0], s->str);
    gint64 least = G_MAXINT64; /* of two: a machine that swaps has been seen to take 66 s once */
    for (guint i = 0; i < 2 && least >= 20 * G_USEC_PER_SEC; i++) {
        const gint64 start = cputime_mine();
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), NULL, findings);
        g_autofree char *once = design != NULL ? ws_design_print(design) : NULL;
        least = MIN(least, cputime_mine() - start);
        g_assert_true((design != NULL) == (findings->list->len == 0));
    }
    g_assert_cmpint(least, <, 20 * G_USEC_PER_SEC);
    g_string_free(s, TRUE);
}

static const char *const longest[][5] = {
    { "\"tensors\"", "\"studio\": { ", "[", ", {\"a\": []}]", " }, \"tensors\"" },
    { "\"STAGES\": 4", "\"STAGES\": 4, ", "\"BM + ", "\"", "" },
    { "\"K\": 512", "\"K\": 512, ", "", "", "" },
    { "\"M\": 64", "", "", "", "" },
};

static void test_print(void)
{
    g_autofree char *text = changed("\"stages\"", "\"stage\"");
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_assert_null(ws_design_parse(text, strlen(text), NULL, findings));
    g_autofree char *all = ws_findings_print(findings, "d.wstave");
    g_assert_cmpstr(all, ==,
                    "d.wstave:13:59: error S-KEY at buffers/a/stage: buffer has no key "
                    "\"stage\"\n  remedy: did you mean \"stages\"?\n");
}

static void test_load_errors(void)
{
    static const char *const files[] = { "/nonexistent/x.wstave", "/" };
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_assert_null(ws_design_load(files[i], findings));
        const WsFinding *f = g_ptr_array_index(findings->list, 0);
        g_assert_cmpint(f->rule, ==, WS_RULE_S_IO);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/model/reader/good", test_good);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *name = g_strdup_printf("/model/reader/bad/%s", cases[i].name);
        g_test_add_data_func(name, &cases[i], test_case);
    }
    g_test_add_func("/model/reader/truncated", test_truncated);
    g_test_add_func("/model/reader/size", test_size);
    g_test_add_func("/model/reader/encoding", test_encoding);
    g_test_add_func("/model/reader/nesting", test_nesting);
    g_test_add_func("/model/reader/many-steps", test_many_steps);
    g_test_add_func("/model/reader/ten-errors", test_ten_errors);
    static const char *const names[] = { "studio", "constants", "sizes", "rehearse" };
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *name = g_strdup_printf("/model/reader/longest/%s", names[i]);
        g_test_add_data_func(name, longest[i], test_longest);
    }
    g_test_add_func("/model/reader/print", test_print);
    g_test_add_func("/model/reader/load-errors", test_load_errors);
    return g_test_run();
}
