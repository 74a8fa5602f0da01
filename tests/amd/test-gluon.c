/* generate --as gluon of designs for gfx950: what is written, what is refused, and where
 * WARPSTAVE_TRITON names a Python with Triton 3.9 the machine code that it makes of the text. */
#include "amd/designs.h"
#include "check/check.h"
#include "check/verdict.h"
#include "codegen/python/python.h"
#include "import/import.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/retired.h"
#include "program/parts/tensor.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "target/target.h"

#include <glib/gstdio.h>

static const char *const designs[] = { "gemm-gfx950", "gemm-gfx950-split", "attention-gfx950",
                                       "refuted-gemm-gfx950-late-wait", "gemm-gfx950-flat" };

static char *exported(const WsProgram *p)
{
    g_autoptr(GError) error = NULL;
    char *text = ws_generate_gluon(p, FALSE, NULL, &error);
    g_assert_no_error(error);
    return text;
}

/* --- what is written ---------------------------------------------------------------------------*/

/* Lines of the loop that hold stages, in order, without their arguments. */
static char *skeleton(const char *text)
{
    static const struct {
        const char *call, *word;
    } words[] = { { "with gl.amd.warp_pipeline_stage", "stage" },
                  { "async_copy.wait_group(", "wait" },
                  { "gl.barrier()", "barrier" },
                  { "= async_copy.load_shared_relaxed(", "read" },
                  { "async_copy.buffer_load_to_shared(", "load" },
                  { "async_copy.commit_group()", "commit" },
                  { "= mfma(", "mfma" } };
    GString *s = g_string_new(NULL);
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    gboolean loop = FALSE;
    for (guint i = 0; line[i]; i++) {
        if (g_str_has_prefix(line[i], "    for ") && strstr(line[i], " in range("))
            loop = TRUE;
        else if (loop && !g_str_has_prefix(line[i], "        "))
            break;
        for (guint k = 0; loop && k < G_N_ELEMENTS(words); k++)
            if (strstr(line[i], words[k].call))
                g_string_append_printf(s, "%s%s", s->len ? " " : "", words[k].word);
    }
    return g_string_free(s, FALSE);
}

static void test_text(void)
{
    static const char *const want[] = {
        "stage read read load commit load commit wait stage mfma",
        "stage read load commit read wait stage mfma stage load commit read load commit wait stage "
        "mfma",
        "stage read load commit barrier stage mfma stage read load commit wait stage mfma",
        "stage mfma wait stage load commit load commit read read barrier",
        "stage read read load commit load commit wait stage mfma",
    };
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autoptr(WsProgram) p = amd_load(designs[i], NULL, 0, NULL, 0);
        g_autofree char *text = exported(p), *is = skeleton(text);
        g_assert_cmpstr(is, ==, want[i]);
    }
}

/* --- what is refused ---------------------------------------------------------------------------*/

#define SECOND                                                                                     \
    "{ \"for\": \"z\", \"count\": \"kt\", \"do\": [{ \"stage\": \"p\", \"do\": [{ \"compute\": "   \
    "\"acc = "                                                                                     \
    "acc\" }] }, { \"stage\": \"q\", \"do\": [] }] },"
#define LOOP "{ \"stage\": \"mem\", \"priority\": 1,"
static const struct {
    const char *name, *design, *says;
    AmdChange change[3];
} refused[] = {
    { "two stages behind",
      "gemm-gfx950",
      "phase_gap 2",
      { { LOOP, "{ \"stage\": \"mem\", \"priority\": 1, \"phase_gap\": 2," } } },
    { "a load that may leave its tensor",
      "gemm-gfx950",
      "not shown to stay inside",
      { { "\"K >= (NB - 1)*BK\"", "\"K >= BK\"" } } },
    { "rows that no assumption bounds",
      "gemm-gfx950",
      "not shown to stay inside",
      { { "{ \"tm\": \"M/BM\", \"tn\": \"N/BN\" }", "{ \"tm\": \"(M + BM - 1)/BM\", \"tn\": "
                                                    "\"N/BN\" }" } } },
    { "before the tensor",
      "gemm-gfx950",
      "not shown to stay inside",
      { { "\"at\": [\"tm*BM\", \"i*BK\"]", "\"at\": [\"tm*BM\", \"i*BK - BK\"]" } } },
    { "a second loop of stages",
      "gemm-gfx950",
      "the compiler makes one pipeline of both",
      { { "        { \"load_wait\": 0 },\n        { \"sync\": \"group\" },",
          "        { \"sync\": \"group\" }," SECOND
          "{ \"load_wait\": 0 }, { \"sync\": \"group\" }," } } },
    { "unless",
      "gemm-gfx950",
      "`unless`",
      { { "        { \"compute\": \"acc = 0\" },",
          "        { \"compute\": \"acc = 0\" },{ \"compute\": \"acc = 0\", \"unless\": \"acc == "
          "0\" }," } } },
    { "a loop of stages unrolled",
      "gemm-gfx950",
      "unrolled whole",
      { { "\"count\": \"kt - (NB - 1)\",", "\"count\": 4, \"unroll\": \"full\"," },
        { "\"K >= (NB - 1)*BK\"", "\"K >= 8*BK\"" } } },
    { "columns that are no power of two",
      "gemm-gfx950",
      "eight warps do not share out",
      { { "\"BN\": 256", "\"BN\": 192" } } },
    { "padded rows",
      "gemm-gfx950",
      "which `pad` keeps apart",
      { { "\"tile\": [\"BM\", \"BK\"], \"stages\": \"NB\"",
          "\"tile\": [\"BM\", \"BK\"], \"stages\": \"NB\", \"pad\": 16" } } },
    { "gaps of other than 2^n elements",
      "gemm-gfx950-gap",
      "gaps of 24 elements",
      { { "\"gap\": 16", "\"gap\": 48" } } },
};

static void test_refused(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autoptr(WsProgram) p = amd_load(refused[i].design, refused[i].change, 3, NULL, 0);
    g_autoptr(GError) error = NULL;
    g_autofree char *text = ws_generate_gluon(p, FALSE, NULL, &error);
    g_assert_null(text);
    g_assert_nonnull(error);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, refused[i].says));
}

/* TLE and TLX for AMD are not written, and said to be so. */
static void test_others(void)
{
    g_autoptr(WsProgram) p = amd_load("gemm-gfx950", NULL, 0, NULL, 0);
    WsPyGenerate *const other[] = { ws_generate_tle, ws_generate_tlx };
    for (guint i = 0; i < G_N_ELEMENTS(other); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = other[i](p, FALSE, NULL, &error);
        g_assert_null(text);
        g_assert_nonnull(strstr(error->message, "not written"));
    }
}

/* --- read again --------------------------------------------------------------------------------
 * What was exported, and stages by another name of theirs, is read whole, and judged as its design.
 */
static void test_import(gconstpointer data)
{
    const char *design = designs[GPOINTER_TO_UINT(data)];
    g_autoptr(WsProgram) p = amd_load(design, NULL, 0, NULL, 0);
    g_autofree char *text = exported(p);
    for (guint form = 0; form < 2; form++) {
        g_autoptr(GString) kernel = g_string_new(text);
        if (form == 1) {
            g_string_replace(kernel, "gl.amd.warp_pipeline_stage", "warp_pipeline_stage", 0);
            g_string_prepend(kernel, "from triton.experimental.gluon.language.amd import "
                                     "warp_pipeline_stage\n");
        }
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(GError) error = NULL;
        g_autoptr(WsImport) read =
            ws_import_text(kernel->str, kernel->len, "kernel.py", WS_IMPORT_GLUON, &error);
        g_assert_no_error(error);
        for (guint i = 0; i < read->unread->len; i++)
            g_test_message("%s", ((WsUnread *)g_ptr_array_index(read->unread, i))->what);
        g_assert_cmpuint(read->unread->len, ==, 0);
        g_autoptr(WsProgram) q = ws_elaborate(read->design, NULL, 0, findings);
        g_assert_nonnull(q);
        const WsCheckOptions how = { .foreign = TRUE };
        g_autoptr(WsVerdict) v = ws_check(q, &how, findings);
        const gboolean late = g_str_has_prefix(design, "refuted");
        g_assert_cmpint(v->kind, ==, late ? WS_VERDICT_REFUTED : WS_VERDICT_PROVED);
    }
}

/* --- what Triton makes of it -------------------------------------------------------------------*/

static gboolean alone(const WsTree *t)
{
    return t->kind == WS_TREE_OP && g_str_has_suffix(t->op->id, "#phase");
}

/* Barriers and priorities of both halves in order: those that one half joins alone stand where it
 * does. Waits in loops by the instructions that may be outstanding, 4096 bytes of a half each. */
static void sequence(GString *out, const WsTree *x, const WsTree *y, gboolean loop)
{
    if (x->kind == WS_TREE_LOOP) {
        const gboolean rolled = x->unroll >= 0;
        g_string_append(out, rolled ? "( " : "");
        sequence(out, x->kid[0], y->kid[0], loop || rolled);
        g_string_append(out, rolled ? ") " : "");
        return;
    }
    if (x->kind == WS_TREE_OP) {
        const WsOp *op = x->op;
        if (op->kind == WS_OP_BAR_SYNC)
            g_string_append(out, "B ");
        else if (op->kind == WS_OP_PRIORITY)
            g_string_append_printf(out, "P%d ", (int)op->n);
        else if (op->kind == WS_OP_CP_WAIT && loop)
            g_string_append_printf(out, "W%d ", (int)(MAX(op->wait->stay_bytes, 0) / 4096));
        return;
    }
    for (guint i = 0, k = 0; i < x->n_kids || k < y->n_kids;) {
        const gboolean low = i < x->n_kids && alone(x->kid[i]),
                       high = k < y->n_kids && alone(y->kid[k]);
        if (low || high)
            g_string_append(out, "B ");
        else
            sequence(out, x->kid[i], y->kid[k], loop);
        i += low || !high;
        k += high || !low;
    }
}

/* Without waits outside of loops, whose count is also of loads into registers; and with a wait
 * behind the priority beside it, as Triton has it. */
static char *comparable(const char *text)
{
    GString *s = g_string_new(NULL);
    g_auto(GStrv) word = g_strsplit(text, " ", -1);
    guint depth = 0;
    for (guint i = 0; word[i]; i++) {
        depth += *word[i] == '(';
        depth -= *word[i] == ')';
        if (!*word[i] || (*word[i] == 'W' && depth == 0))
            continue;
        if (*word[i] == 'W' && word[i + 1] && *word[i + 1] == 'P') {
            g_string_append_printf(s, "%s ", word[i + 1]);
            g_string_append_printf(s, "%s ", word[i]);
            i++;
            continue;
        }
        g_string_append_printf(s, "%s ", word[i]);
    }
    return g_string_free(s, FALSE);
}

static GStrv arguments(const WsProgram *p, const char *file)
{
    GStrvBuilder *b = g_strv_builder_new();
    g_autofree char *script = g_build_filename(WS_SOURCE_ROOT, "tests/amd/compile_gluon.py", NULL);
    g_strv_builder_add_many(b, g_getenv("WARPSTAVE_TRITON"), script, file, NULL);
    for (guint i = 0; i < p->n_tensors; i++) {
        g_autofree char *one = g_strdup_printf("%s=*fp16", p->tensor[i].name);
        g_strv_builder_add(b, one);
    }
    for (guint i = 0; i < p->n_vars; i++) {
        const gboolean real = p->var[i].kind == WS_VAR_SCALAR || p->var[i].real;
        g_autofree char *one = g_strdup_printf("%s=fp32", p->var[i].name);
        if (real)
            g_strv_builder_add(b, one);
    }
    GStrv all = g_strv_builder_end(b);
    g_strv_builder_unref(b);
    return all;
}

/* Other constants make other layouts, rings and counts. */
static const struct {
    const char *design;
    WsSetting set[2];
} compiled[] = {
    { "gemm-gfx950", { { NULL } } },           { "gemm-gfx950", { { "BM", 512 }, { "BN", 128 } } },
    { "gemm-gfx950-split", { { NULL } } },     { "gemm-gfx950-split", { { "BK", 32 } } },
    { "attention-gfx950", { { NULL } } },      { "attention-gfx950", { { "D", 64 } } },
    { "attention-gfx950", { { "BM", 128 } } }, { "refuted-gemm-gfx950-late-wait", { { NULL } } },
};

static void test_compiled(gconstpointer data)
{
    const guint at = GPOINTER_TO_UINT(data);
    const WsSetting *set = compiled[at].set;
    const guint n_set = (set[0].name != NULL) + (set[1].name != NULL);
    if (!g_getenv("WARPSTAVE_TRITON")) {
        g_test_skip("WARPSTAVE_TRITON names no Python with Triton 3.9");
        return;
    }
    g_autoptr(WsProgram) p = amd_load(compiled[at].design, NULL, 0, set, n_set);
    g_autofree char *text = exported(p), *file = NULL, *out = NULL, *err = NULL;
    g_autoptr(GError) error = NULL;
    const int fd = g_file_open_tmp("warpstave-XXXXXX.py", &file, &error);
    g_assert_cmpint(fd, >=, 0);
    g_close(fd, NULL);
    g_assert_true(g_file_set_contents(file, text, -1, &error));
    g_auto(GStrv) argv = arguments(p, file);
    int status;
    g_assert_true(
        g_spawn_sync(NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, &err, &status, &error));
    g_remove(file);
    if (status != 0)
        g_error("%s", err);
    g_auto(GStrv) line = g_strsplit(out, "\n", -1);
    g_autoptr(GString) want = g_string_new(NULL);
    sequence(want, p->agent[0].body, p->agent[1].body, FALSE);
    g_autofree char *is = comparable(line[0]), *ours = comparable(want->str);
    g_assert_cmpstr(is, ==, ours);
    g_assert_cmpstr(line[1], ==, "spills 0");
    guint halves = 0;
    for (guint i = 2; line[i] && g_str_has_prefix(line[i], "half "); i++, halves++) {
        guint row = 0, rows = 0;
        g_assert_cmpint(sscanf(line[i], "half %u of %u", &row, &rows), ==, 2);
        g_assert_cmpuint(2 * row, ==, rows);
    }
    g_assert_cmpuint(halves, >=, 3);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/amd/gluon/text", test_text);
    g_test_add_func("/amd/gluon/others", test_others);
    for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autofree char *path = g_strdup_printf("/amd/gluon/refused/%s", refused[i].name);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_refused);
    }
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *again = g_strdup_printf("/amd/gluon/import/%s", designs[i]);
        g_test_add_data_func(again, GUINT_TO_POINTER(i), test_import);
    }
    for (guint i = 0; i < G_N_ELEMENTS(compiled); i++) {
        g_autofree char *path = g_strdup_printf("/amd/gluon/compiled/%s/%u", compiled[i].design, i);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_compiled);
    }
    return g_test_run();
}
