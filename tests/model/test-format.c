/* Canonical text: fixpoints, the shipped designs, layout rules; saving. */
#include "document.h"
#include "model/design.h"
#include "model/findings.h"

#include <glib/gstdio.h>
#include <unistd.h>

static WsDesign *parse(const char *text)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design = ws_design_parse(text, strlen(text), NULL, findings);
    g_autofree char *all = ws_findings_print(findings, NULL);
    g_assert_cmpstr(all, ==, "");
    g_assert_nonnull(design);
    return design;
}

static char *format(const char *text)
{
    g_autoptr(WsDesign) design = parse(text);
    return ws_design_print(design);
}

/* The shipped designs are canonical: format changes no byte. */
static void test_shipped(gconstpointer data)
{
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(data, &text, NULL, NULL));
    g_autofree char *once = format(text);
    g_assert_cmpstr(once, ==, text);
}

static void mark_fields(const WsNode *node, gboolean seen[][WS_F_COUNT])
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++) {
        if (ws_node_has(node, rows[i].field))
            seen[node->kind][rows[i].field] = TRUE;
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            mark_fields(ws_node_child(node, rows[i].field, c), seen);
    }
}

/* everything.wstave has every field of every kind (those that steps share at least once) and is
 * canonical, so no row goes unread or unwritten. */
static void test_everything(void)
{
    static gboolean seen[WS_NODE_KIND_COUNT][WS_F_COUNT];
    g_autofree char *text = NULL;
    g_assert_true(
        g_file_get_contents(WS_SOURCE_ROOT "/tests/model/everything.wstave", &text, NULL, NULL));
    g_autoptr(WsDesign) design = parse(text);
    g_autofree char *once = ws_design_print(design);
    g_assert_cmpstr(once, ==, text);
    mark_fields(ws_design_root(design), seen);
    for (WsNodeKind k = 0; k < WS_NODE_KIND_COUNT; k++) {
        guint n;
        const WsFieldRow *rows = ws_node_rows(k, &n);
        for (guint i = 0; i < n; i++) {
            gboolean found = seen[k][rows[i].field];
            static const WsFieldId shared[] = { WS_F_when, WS_F_ahead,  WS_F_muted,
                                                WS_F_id,   WS_F_source, WS_F_note };
            for (guint j = 0; j < G_N_ELEMENTS(shared); j++)
                found = found || (ws_node_kind_is_step(k) && rows[i].field == shared[j]);
            if (!found)
                g_error("%s %s is not in everything.wstave", ws_node_kind_keyword(k),
                        ws_node_key(k, rows[i].field));
        }
    }
}

/* Whatever the layout, key order and spelling of defaults: one canonical text. */
static void test_one_text(void)
{
    static const struct {
        const char *from, *to;
    } same[] = {
        { "\"tile\": [\"BM\", \"BK\"]", "\"tile\":\n[ \"BM\" ,\"(BK)\" ]" },
        { "\"dtype\": \"bf16\", \"tile\"", "\"array\": \"3\", \"dtype\": \"bf16\", \"tile\"" },
        { "\"use\": 0, \"id\": \"first\"", "\"id\": \"first\", \"use\": \"(0)\"" },
        { "\"use\": 0", "\"muted\": false, \"use\": 0, \"ahead\": 0" },
        { "\"k*BK\"", "\"k * BK\"" },
        { "\"warps\": 4,", "\"replicate\": 1, \"warps\": 4, \"values\": [], \"counters\": []," },
        { "\"acc = 0\"", "[\"acc=0\"]" },
        { "\"launch\": \"persistent\"", "\"order\": \"linear\", \"launch\": \"persistent\"" },
        { "\"target\"", "\"cluster\": 1, \"fences\": \"derived\", \"pipes\": [],\n\"target\"" },
        { "small", "sm\\u0061ll" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(same); i++) {
        g_autofree char *text = changed(same[i].from, same[i].to);
        g_autofree char *got = format(text);
        g_autofree char *want = g_strdup(document);
        if (strstr(same[i].to, "array") != NULL) {
            g_free(want);
            want =
                changed("\"tile\": [\"BM\", \"BK\"]", "\"tile\": [\"BM\", \"BK\"], \"array\": 3");
        }
        g_assert_cmpstr(got, ==, want);
    }
}

/* Texts that must come out as they are. */
static void test_kept(void)
{
    static const struct {
        const char *from, *to;
    } kept[] = {
        { "\"tensors\"",
          "\"scalars\": { \"x\": 0.1, \"y\": 1e+30, \"z\": -2, \"w\": 0.041666666666666664 "
          "},\n  \"tensors\"" },
        { "\"tiles\": {", "\"reference\": \"A[i,j]=i  +j\",\n  \"tiles\": {" },
        { "{ \"compute\": \"acc = 0\" }",
          "{ \"raw\": \"ptx\", \"text\": [\n          \"a\",\n          \"b\"\n        ], \"in\": "
          "{ \"s\": "
          "\"a[0]\", \"x\": \"k + 1\", \"n\": 3 }, \"signals\": [{ \"arrive\": \"full\", \"use\": "
          "0 }], "
          "\"by\": \"warp\", \"when\": \"replica == 0\", \"note\": \"π \\\"quoted\\\"\\n\" }" },
        { "{ \"compute\": \"acc = 0\" }", "{ \"if\": \"K > 0\", \"note\": \"n\", \"then\": [\n     "
                                          "     { \"compute\": [\n            \"acc = "
                                          "0\",\n            \"acc = acc + 1\"\n          ], "
                                          "\"note\": \"m\" }\n        ], \"else\": [\n        "
                                          "  { \"mma_wait\": \"BM - 64\" }\n        ] }" },
        { "{ \"compute\": \"acc = 0\" }",
          "{ \"for\": \"z\", \"count\": 2, \"unroll\": \"full\", \"do\": [] }" },
        { "\"init\": \"ready\"", "\"init\": [\"ready\", \"pending\"]" },
        { "  ]\n}\n",
          "  ],\n  \"suppress\": [{ \"rule\": \"P-RACE\", \"at\": \"first\", \"reason\": "
          "\"because\" }],\n  \"studio\": { \"b\": [1.50, { \"a\": null }], \"a\": true }\n}\n" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(kept); i++) {
        g_autofree char *text = changed(kept[i].from, kept[i].to);
        g_autofree char *got = format(text);
        g_assert_cmpstr(got, ==, text);
    }
}

/* A container that does not fit in 110 characters has one member per line. */
static void test_wrap(void)
{
    GString *names = g_string_new(NULL);
    for (guint i = 0; i < 20; i++)
        g_string_append_printf(names, ", \"constant_%u\": %u", i, i);
    g_autofree char *to = g_strdup_printf("\"STAGES\": 4%s }", names->str);
    g_autofree char *text = changed("\"STAGES\": 4 }", to);
    g_autofree char *got = format(text);
    g_assert_nonnull(strstr(got, "  \"constants\": {\n    \"BM\": 64,\n    \"BK\": \"BM\",\n"));
    g_assert_nonnull(strstr(got, "    \"constant_19\": 19\n  },\n"));
    g_autofree char *again = format(got);
    g_assert_cmpstr(again, ==, got);
    g_string_free(names, TRUE);
    /* exactly at the limit, counted with the comma that follows */
    for (guint length = 105; length < 116; length++) {
        const guint room = length - (guint)strlen("  \"assume\": [\"\", \"\"],");
        g_autofree char *x = g_strnfill(room / 2, 'x'), *y = g_strnfill(room - room / 2, 'y');
        g_autofree char *line = g_strdup_printf("\"assume\": [\"%s\", \"%s\"],\n", x, y);
        g_autofree char *lines =
            g_strdup_printf("\"assume\": [\n    \"%s\",\n    \"%s\"\n  ],\n", x, y);
        g_autofree char *assume = g_strdup_printf("%s  \"tensors\"", line);
        g_autofree char *wide = changed("\"tensors\"", assume);
        g_autofree char *out = format(wide);
        g_assert_cmpint(strstr(out, line) != NULL, ==, length <= 110);
        g_assert_cmpint(strstr(out, lines) != NULL, ==, length > 110);
    }
}

static char *temporary_folder(void)
{
    char *folder = g_dir_make_tmp("warpstave-XXXXXX", NULL);
    g_assert_nonnull(folder);
    return folder;
}

static guint n_entries(const char *folder)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    guint n = 0;
    while (g_dir_read_name(dir) != NULL)
        n++;
    g_dir_close(dir);
    return n;
}

static void test_save(void)
{
    g_autofree char *folder = temporary_folder();
    g_autofree char *file = g_build_filename(folder, "d.wstave", NULL);
    g_autofree char *link = g_build_filename(folder, "link.wstave", NULL);
    g_autoptr(WsDesign) design = parse(document);
    g_autoptr(GError) error = NULL;
    g_assert_true(ws_design_save(design, file, &error));
    g_assert_no_error(error);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, document);
    /* permissions and links survive */
    g_assert_cmpint(g_chmod(file, 0640), ==, 0);
    g_assert_cmpint(symlink("d.wstave", link), ==, 0);
    g_assert_true(ws_design_save(design, link, NULL));
    g_assert_true(g_file_test(link, G_FILE_TEST_IS_SYMLINK));
    GStatBuf st;
    g_assert_cmpint(g_stat(file, &st), ==, 0);
    g_assert_cmpint(st.st_mode & 0777, ==, 0640);
    g_assert_cmpuint(n_entries(folder), ==, 2);
    g_unlink(link);
    g_unlink(file);
    g_rmdir(folder);
}

/* A failed save says why, leaves no temporary file and nothing of what was there is lost. */
static void test_save_failure(void)
{
    g_autofree char *folder = temporary_folder();
    g_autofree char *missing = g_build_filename(folder, "none", "d.wstave", NULL);
    g_autoptr(WsDesign) design = parse(document);
    g_autoptr(GError) error = NULL;
    g_assert_false(ws_design_save(design, missing, &error));
    g_assert_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
    g_assert_nonnull(strstr(error->message, missing));
    /* renaming over a folder fails after the text was written */
    g_autofree char *occupied = g_build_filename(folder, "d.wstave", NULL);
    g_autofree char *inside = g_build_filename(occupied, "x", NULL);
    g_assert_cmpint(g_mkdir(occupied, 0700), ==, 0);
    g_assert_true(g_file_set_contents(inside, "kept", -1, NULL));
    g_clear_error(&error);
    g_assert_false(ws_design_save(design, occupied, &error));
    g_assert_nonnull(error);
    g_assert_cmpuint(n_entries(folder), ==, 1);
    g_assert_true(g_file_test(inside, G_FILE_TEST_EXISTS));
    g_unlink(inside);
    g_rmdir(occupied);
    g_rmdir(folder);
}

/* A text that could not be read back is not saved. */
static void test_save_too_long(void)
{
    GString *studio = g_string_new("\"studio\":{\"k\":0");
    for (guint i = 0; studio->len < 900000; i++)
        g_string_append_printf(studio, ",\"%u\":[0]", i);
    g_string_append(studio, "},\"tensors\"");
    g_autofree char *text = changed("\"tensors\"", studio->str);
    g_autoptr(WsDesign) design = parse(text);
    g_autofree char *folder = temporary_folder();
    g_autofree char *file = g_build_filename(folder, "d.wstave", NULL);
    g_autoptr(GError) error = NULL;
    g_assert_false(ws_design_save(design, file, &error));
    g_assert_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL);
    g_assert_cmpuint(n_entries(folder), ==, 0);
    g_rmdir(folder);
    g_string_free(studio, TRUE);
}

static void add_folder(const char *folder)
{
    g_autofree char *full = g_build_filename(WS_SOURCE_ROOT, folder, NULL);
    GDir *dir = g_dir_open(full, 0, NULL);
    g_assert_nonnull(dir);
    for (const char *name; (name = g_dir_read_name(dir)) != NULL;) {
        if (!g_str_has_suffix(name, ".wstave"))
            continue;
        g_autofree char *test = g_strdup_printf("/model/format/shipped/%s", name);
        g_test_add_data_func_full(test, g_build_filename(full, name, NULL), test_shipped, g_free);
    }
    g_dir_close(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add_folder("tests/designs");
    add_folder("projects/gemm-bf16");
    g_test_add_func("/model/format/everything", test_everything);
    g_test_add_func("/model/format/one-text", test_one_text);
    g_test_add_func("/model/format/kept", test_kept);
    g_test_add_func("/model/format/wrap", test_wrap);
    g_test_add_func("/model/format/save", test_save);
    g_test_add_func("/model/format/save-failure", test_save_failure);
    g_test_add_func("/model/format/save-too-long", test_save_too_long);
    return g_test_run();
}
