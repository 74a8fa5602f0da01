/* Designs -> TLE: the register solver, one design that breaks each rule and one that nearly does,
 * and, by a Python at hand, that every export parses and that three of them do what the kernels of
 * the reference do, barrier by barrier. */
#include "../group_work.h"
#include "codegen/generate.h"
#include "codegen/python/python.h"
#include "model/design.h"
#include "model/finding.h"
#include "program/elaborate.h"
#include "program/partition_registers.h"
#include "program/program.h"
#include "target/target.h"

#include <glib/gstdio.h>
#include <string.h>

/* --- the register solver -----------------------------------------------------------------------*/

typedef struct {
    guint default_warps, n, warps[3], request[3];
    guint maxnreg;
    gint leftover;
    gboolean dropped;
} Registers;

static const Registers registers[] = {
    { 4, 2, { 4, 4 }, { 232, 232 }, 168, 40, FALSE },
    { 4, 2, { 4, 4 }, { 240, 240 }, 168, 24, FALSE },
    { 4, 2, { 4, 4 }, { 248, 248 }, 168, 8, TRUE },
    { 4, 2, { 4, 4 }, { 168, 168 }, 168, 168, FALSE },
    { 4, 2, { 4, 4 }, { 240, 168 }, 168, 96, FALSE },
    { 4, 2, { 4, 4 }, { 216, 72 }, 168, 216, FALSE },
    { 4, 2, { 4, 4 }, { 224, 224 }, 168, 56, FALSE },
    { 4, 2, { 1, 1 }, { 24, 24 }, 256, 488, FALSE }, /* padded; the default is clamped to 256 */
    { 4, 1, { 4 }, { 225 }, 256, 280, FALSE },       /* 225 becomes 232 */
    { 8, 2, { 4, 4 }, { 200, 200 }, 128, 56, FALSE },
    { 4, 3, { 4, 4, 4 }, { 256, 256, 256 }, 128, -256, TRUE },
};

static void test_registers(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(registers); i++) {
        const Registers *t = &registers[i];
        WsPartitionRegisters r = ws_partition_registers(&ws_target_sm_90a, t->default_warps, t->n,
                                                        t->warps, t->request, 0);
        g_test_message("row %u: %d", i, r.leftover);
        g_assert_cmpuint(r.maxnreg, ==, t->maxnreg);
        g_assert_cmpint(r.leftover, ==, t->leftover);
        g_assert_cmpint(r.dropped, ==, t->dropped);
        g_autofree char *text = ws_partition_registers_print(&r, t->n, t->request);
        g_assert_true((strstr(text, "dropped") != NULL) == t->dropped);
    }
}

/* --- designs -----------------------------------------------------------------------------------*/

typedef struct {
    const char *from, *to; /* every occurrence */
} Change;

static char *text_of(const char *design, const Change *change, guint n)
{
    g_autofree char *file = g_strdup_printf("%s/tests/designs/%s.wstave", WS_SOURCE_ROOT, design);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    GString *s = g_string_new(text);
    for (guint i = 0; i < n && change[i].from; i++) {
        if (!strstr(s->str, change[i].from))
            g_error("%s has no '%s'", design, change[i].from);
        g_string_replace(s, change[i].from, change[i].to, 0);
    }
    return g_string_free(s, FALSE);
}

/* The export, or NULL and the error; a design without program is a mistake of the test. */
static char *export_of(const char *design, const Change *change, guint n, GError **error)
{
    g_autofree char *text = text_of(design, change, n);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), design, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p) {
        g_autofree char *says = ws_findings_print(findings, design);
        g_error("%s: %s", design, says);
    }
    return ws_generate_tle(p, FALSE, NULL, error);
}

#define CHANGES 4
typedef struct {
    const char *rule, *design;
    Change broken[CHANGES]; /* … breaks the rule */
    const char *at;         /* step or object that is named */
    Change near[CHANGES];   /* … nearly does */
} Rule;

#define WAIT_K "{ \"mma_wait\": 1 }"
#define MMA_K                                                                                      \
    "{ \"mma\": \"acc\", \"a\": \"a[replica]\", \"b\": \"b.t\", \"first\": \"k == 0\", \"use\": "  \
    "\"k.total\" }"
#define MORE_K "{ \"mma\": \"acc\", \"a\": \"a[replica]\", \"b\": \"b.t\", \"use\": \"k.total\" }"
#define HALF_K                                                                                     \
    "{ \"mma\": \"acc\", \"a\": \"a[replica].cols(0, 32)\", \"b\": \"b.rows(0, 32).t\", "          \
    "\"open\": "                                                                                   \
    "true, \"use\": \"k.total\""
#define SLAB_WRITE "\"write\": \"acc.cols(s*SLAB, SLAB)\", \"to\": \"c[replica]\""
#define SCORE      "{ \"write\": \"p\", \"to\": \"prob\" },"
#define TAIL       "{ \"load\": \"Q\", \"at\": [\"b\", \"t\", \"hb*BH\", \"DV\"], \"into\": \"q_tail\" },"
#define COMMIT_Q   "{ \"commit\": \"sparse_mla_q\", \"use\": 0 },"
#define OK_WRITE   "{ \"compute\": \"ok = 1\" }, { \"write\": \"ok\", \"to\": \"scratch\" },"
#define PROB       "{ \"name\": \"prob\", \"dtype\": \"bf16\", \"tile\": [\"BH\", \"BK\"] },"
#define SCRATCH    "{ \"name\": \"scratch\", \"dtype\": \"i32\", \"tile\": [\"BK\"] },"
#define ALPHA      "{ \"name\": \"alpha_x\", \"dtype\": \"f32\", \"tile\": [\"BH\"]"
#define LOAD_PROB                                                                                  \
    "{ \"load\": \"Q\", \"at\": [\"b\", \"t\", \"hb*BH\", \"DV\"], \"into\": \"prob\" },"

static const Rule rules[] = {
    { "F8",
      "gemm-tle",
      { { "\"BK\": 64", "\"BK\": 48" }, { "\"BN\": 128", "\"BN\": 96" } },
      "buffers/b",
      { { "\"BK\": 64", "\"BK\": 48" } } },
    { "F9",
      "moves/gemm-reduce",
      { { NULL, NULL } },
      "step store",
      { { ", \"reduce\": \"add\"", "" }, { "\"access\": \"reduce\"", "\"access\": \"write\"" } } },
    { "F26",
      "gemm-cooperative",
      { { "{ \"mma_wait\": 1 }",
          "{ \"mma_wait\": 1 }, { \"arrive\": \"full\", \"use\": \"k.total\" }" } },
      "step arrive",
      { { "\"SLAB\": 64", "\"SLAB\": 64" } } },
    { "F29", "moves/gemm-u8", { { NULL, NULL } }, "step mma", { { "\"u8\"", "\"i8\"" } } },
    { "F30",
      "gemm-tle",
      { { MMA_K, HALF_K ", \"when\": \"k > 3\" }, " MORE_K } },
      "step mma_wait",
      { { MMA_K, HALF_K " }, " MORE_K } } },
    { "F35",
      "sparse-mla-pipes",
      { { ALPHA " }", ALPHA ", \"array\": 2 }" },
        { "\"to\": \"alpha_x\"", "\"to\": \"alpha_x[0]\"" },
        { "\"from\": \"alpha_x\"", "\"from\": \"alpha_x[0]\"" } },
      "pipes/sparse_mla_score",
      { { ALPHA " }", ALPHA ", \"stages\": 1 }" } } },
    { "F39",
      "sparse-mla-pipes",
      { { "\"right\": [\"q_r\"]", "\"right\": []" } },
      "pipes/sparse_mla_q",
      { { "\"right\": [\"q_r\"]", "\"right\": [\"q_r\", \"q_l\"]" } } },
    { "L3",
      "sparse-mla-pipes",
      { { "\"warps\": 4, \"registers\": 96,",
          "\"warps\": 4, \"registers\": 24, \"replicate\": 2," } },
      "step ",
      { { "\"warps\": 4, \"registers\": 96,",
          "\"warps\": 4, \"registers\": 24, \"replicate\": 1," } } },
    { "F36",
      "sparse-mla-pipes",
      { { "\"prob\"", "\"_prob\"" } },
      "pipes/sparse_mla_score",
      { { "\"prob\"", "\"prob_\"" } } },
    { "F42",
      "gemm-cooperative",
      { { SLAB_WRITE, "\"write\": \"acc.cols(s*48, SLAB)\", \"to\": \"c[replica]\"" } },
      "step write",
      { { SLAB_WRITE,
          "\"write\": \"acc.cols(BN - SLAB - s*SLAB, SLAB)\", \"to\": \"c[replica]\"" } } },
    { "F43",
      "gemm-tle",
      { { "\"tiles\": {", "\"cluster\": 2, \"tiles\": {" } },
      "cluster",
      { { "\"tiles\": {", "\"cluster\": 1, \"tiles\": {" } } },
    { "L4",
      "pipe-close-tiles",
      { { "\"into\": \"x\" }", "\"into\": \"x\", \"when\": \"k < 5\" }" } },
      "step load at groups/load/body/0/do/0/do/1",
      { { "\"into\": \"x\" }", "\"into\": \"x\", \"hint\": \"evict_first\" }" } } },
    { "L4",
      "sparse-mla-pipes",
      { { "\"write\": \"l\", \"to\": \"sum_exp\"",
          "\"write\": \"l\", \"to\": \"sum_exp\", \"when\": \"pair < 5\"" } },
      "step write",
      { { "\"write\": \"l\", \"to\": \"sum_exp\"", "\"to\": \"sum_exp\", \"write\": \"l\"" } } },
    { "L6",
      "sparse-mla-pipes",
      { { PROB, PROB SCRATCH }, { TAIL, OK_WRITE TAIL } },
      "step write",
      { { PROB, PROB SCRATCH }, { COMMIT_Q, COMMIT_Q OK_WRITE } } },
    { "L7",
      "sparse-mla-pipes",
      { { SCORE, LOAD_PROB SCORE } },
      "step write",
      { { SCORE, LOAD_PROB } } },
    { "L15",
      "gemm-tle",
      { { "\"first\": \"k == 0\"", "\"first\": \"k % 4 == 0\"" } },
      "step mma ",
      { { "\"first\": \"k == 0\"", "\"first\": \"k % 4 == 0\"" },
        { WAIT_K, "{ \"mma_wait\": 0 }" } } },
    { "L15",
      "gemm-tle",
      { { WAIT_K, "{ \"mma_wait\": 0, \"when\": \"k > 0\" }" } },
      "step mma_wait",
      { { WAIT_K, "{ \"mma_wait\": 0, \"when\": \"replica < 5\" }" } } },
    { "L15",
      "attention-ahead",
      { { NULL, NULL } },
      "step mma ",
      { { "\"first\": true, \"use\": \"j.total\", \"ahead\": 1",
          "\"first\": true, \"use\": \"j.total\"" } } },
    { "L16",
      "attention-tle-pingpong",
      { { "\"kind\": \"named\", \"array\": 2 }",
          "\"kind\": \"named\", \"array\": 2 }, { \"name\": \"more\", \"kind\": \"named\", "
          "\"array\": 11, \"threads\": 128 }" } },
      "barriers/more",
      { { "\"kind\": \"named\", \"array\": 2 }",
          "\"kind\": \"named\", \"array\": 2 }, { \"name\": \"more\", \"kind\": \"named\", "
          "\"array\": 10, \"threads\": 128 }" } } },
    { "L20",
      "gemm-tle",
      { { "\"warps\": 4, \"registers\": 168,\n      \"body\"", "\"warps\": 12, \"body\"" },
        { "\"registers\": 168, ", "" } },
      "groups/load",
      { { "\"warps\": 4, \"registers\": 168,\n      \"body\"", "\"warps\": 8, \"body\"" },
        { "\"registers\": 168, ", "" } } },
    { "L20",
      "moves/linear-copy",
      { { "\"warps\": 4", "\"warps\": 2" }, { "80", "64" } },
      "groups/work",
      { { "80", "64" } } },
    { "L21",
      "moves/linear-copy",
      { { "\"warps\": 4", "\"warps\": 4" },
        { "80", "64" },
        { "\"groups\": [",
          "\"groups\": [ { \"name\": \"more\", \"role\": \"worker\", \"warps\": 1, "
          "\"replicate\": 14, \"body\": [] }," } },
      "groups",
      { { "80", "64" },
        { "\"groups\": [",
          "\"groups\": [ { \"name\": \"more\", \"role\": \"worker\", \"warps\": 1, "
          "\"replicate\": 13, \"body\": [] }," } } },
    { "T1", "moves/linear-copy", { { NULL, NULL } }, WORK "values/x", { { "80", "64" } } },
};

static void test_rule(gconstpointer data)
{
    const Rule *r = data;
    g_autoptr(GError) error = NULL, none = NULL;
    g_autofree char *refused = export_of(r->design, r->broken, CHANGES, &error);
    g_assert_null(refused);
    g_test_message("%s", error->message);
    g_assert_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP);
    g_autofree char *rule = g_strdup_printf("(%s)", r->rule);
    g_assert_nonnull(strstr(error->message, rule));
    g_assert_true(g_str_has_prefix(error->message, r->at));
    g_autofree char *text = export_of(r->design, r->near, CHANGES, &none);
    g_assert_no_error(none);
    g_assert_nonnull(strstr(text, "warp_specialize"));
}

/* --- every row of the table is tested, or says why no design can break it -----------------------
 */

static void test_table(void)
{
    static const struct {
        const char *id, *judge, *remedy;
    } rows[] = {
#define WS_TLE_RULE(id, what, judge, remedy) { #id, #judge, remedy },
#include "codegen/python/tle/tle_rule.def"
#undef WS_TLE_RULE
    };
    guint fronts = 0, lowers = 0;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        gboolean tested = FALSE, kept = !strcmp(rows[i].judge, "kept");
        for (guint k = 0; k < G_N_ELEMENTS(rules); k++)
            tested = tested || !strcmp(rules[k].rule, rows[i].id);
        fronts += rows[i].id[0] == 'F';
        lowers += rows[i].id[0] == 'L';
        if (tested == kept)
            g_error("rule %s: %s", rows[i].id,
                    kept ? "kept, but tested" : "judged, but not tested");
        g_assert_cmpuint(strlen(rows[i].remedy), >=, 5);
    }
    g_assert_cmpuint(fronts, ==, 45);
    g_assert_cmpuint(lowers, ==, 22);
}

/* --- texts -------------------------------------------------------------------------------------*/

static void list(const char *folder, gboolean nested, GPtrArray *out)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        if (g_str_has_suffix(name, ".wstave") && !strstr(name, "gfx950") && !strstr(name, "ascend"))
            g_ptr_array_add(out, g_build_filename(path, name, NULL));
        else if (nested && !strchr(name, '.') && !strstr(name, "gfx950") && !strstr(name, "ascend"))
            g_ptr_array_add(out, g_build_filename(path, name, "design.wstave", NULL));
    }
}

static char *name_of(const char *path)
{
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *dir = g_path_get_dirname(path);
    char *name = g_strdup(g_str_has_prefix(base, "design.") ? strrchr(dir, '/') + 1 : base);
    if (strchr(name, '.'))
        *strchr(name, '.') = '\0';
    return name;
}

/* Every design is written, or refused with a place and what to change; Python judges the rest. */
static void test_exports(void)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *dir = g_dir_make_tmp("warpstave-tle-XXXXXX", NULL);
    list("projects", TRUE, all);
    list("tests/designs", FALSE, all);
    list("tests/designs/moves", FALSE, all);
    g_ptr_array_add(argv, g_strdup("python3"));
    g_ptr_array_add(argv, g_strdup("-B"));
    g_ptr_array_add(argv, g_strdup(WS_SOURCE_ROOT "/tests/codegen/tle/judge.py"));
    for (guint i = 0; i < all->len; i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) d = ws_design_load(all->pdata[i], findings);
        g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
        g_autoptr(GError) error = NULL;
        g_assert_nonnull(p);
        g_autofree char *text = ws_generate_tle(p, FALSE, NULL, &error);
        g_autofree char *name = name_of(all->pdata[i]);
        if (!text) {
            g_test_message("%s", error->message);
            g_assert_nonnull(p->mesh ? strstr(error->message, "devices: not supported by tle (")
                                     : strstr(error->message, "not supported by tle: "));
            continue;
        }
        g_assert_nonnull(strstr(text, "# Not run: "));
        char *file = g_strdup_printf("%s/%s.py", dir, name);
        g_assert_true(g_file_set_contents(file, text, -1, NULL));
        g_ptr_array_add(argv, file);
    }
    guint written = argv->len - 3;
    g_test_message("%u of %u designs are written", written, all->len);
    g_assert_cmpuint(written, >=, 25);
    g_ptr_array_add(argv, NULL);
    g_autofree char *out = NULL, *python = g_find_program_in_path("python3");
    int status = 0;
    if (python)
        g_assert_true(g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL,
                                   NULL, &out, NULL, &status, NULL));
    for (guint i = 3; i + 1 < argv->len; i++)
        g_unlink(argv->pdata[i]);
    g_rmdir(dir);
    if (!python) {
        g_test_skip("no python3");
        return;
    }
    g_test_message("%s", out);
    g_assert_cmpint(status, ==, 0);
    g_assert_null(strstr(out, "not ok"));
    g_assert_nonnull(strstr(out, "gemm: mma.1"));
    g_assert_nonnull(strstr(out, "attention: math_.1"));
    g_assert_nonnull(strstr(out, "sparse MLA: right"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tle/registers", test_registers);
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++) {
        g_autofree char *path = g_strdup_printf("/tle/rule/%s/%u", rules[i].rule, i);
        g_test_add_data_func(path, &rules[i], test_rule);
    }
    g_test_add_func("/tle/table", test_table);
    g_test_add_func("/tle/exports", test_exports);
    return g_test_run();
}
