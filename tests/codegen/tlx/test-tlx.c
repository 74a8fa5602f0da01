/* Designs -> TLX: whatever is written is read back and proved, as the design is; what cannot be
 * said is refused with the step, the reason and what to change; and mistakes that are made in an
 * export are not proved. A Python at hand reads the texts, and, where WARPSTAVE_TLX names the
 * folder of TLX's own source, holds every call against its definition (calls.py). */
#include "../../import/judged.h"
#include "../group_work.h"
#include "codegen/generate.h"
#include "codegen/python/python.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <glib/gstdio.h>
#include <string.h>

static char *path_of(const char *design)
{
    return g_str_has_prefix(design, "projects/")
               ? g_strdup_printf("%s/%s/design.wstave", WS_SOURCE_ROOT, design)
               : g_strdup_printf("%s/tests/designs/%s.wstave", WS_SOURCE_ROOT, design);
}

static char *export_of(const char *design, GError **error)
{
    g_autofree char *path = path_of(design);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(path, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p)
        g_error("%s is no program", path);
    return ws_generate_tlx(p, FALSE, NULL, error);
}

/* --- written, and proved again -----------------------------------------------------------------*/

static const char *const written[] = {
    "projects/gemm-bf16",
    "projects/gemm-bf16-deferred",
    "projects/gemm-grouped",
    "projects/gemm-bf16-pingpong",
    "projects/attention-d64",
    "projects/attention-d128",
    "projects/attention-d128-full",
    "projects/gemm-bf16-single",
    "projects/own-kernel",
    "attention-ahead",
    "attention-fa3-causal",
    "attention-fa3-dynamic",
    "attention-straight",
    "attention-tle-pingpong",
    "gemm-aliased",
    "gemm-cooperative",
    "gemm-one-consumer",
    "gemm-pingpong",
    "gemm-pipe",
    "gemm-tle",
    "consan/gemm-correct",
    "moves/gemm-back-f32-transposed",
    "moves/gemm-back-rows",
    "moves/gemm-dynamic",
    "moves/gemm-e5m2",
    "moves/gemm-global",
    "moves/gemm-global-reduce",
    "moves/gemm-nn",
    "moves/gemm-scales",
    "moves/gemm-tf32",
    "moves/gemm-tt",
    "attack/more-slots-than-stages-two-rounds",
    "attack/sum-read-in-every-round",
    "attack/two-products-two-left",
};

static void test_written(gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = export_of(data, &error), *again = export_of(data, NULL);
    g_assert_no_error(error);
    g_assert_cmpstr(text, ==, again);
    g_assert_true(is_proved(text, WS_IMPORT_TLX));
}

/* --- refused -----------------------------------------------------------------------------------*/

static const struct {
    const char *design, *at, *why;
} refused[] = {
    { "projects/attention-d256", "groups/mma", "80 columns" },
    { "projects/gemm-bf16-balanced", "step load at groups/load/", "not a power of two" },
    { "projects/gemm-bf16-cluster2", "step load at groups/load/", "multicast" },
    { "projects/gemm-bf16-splitk", "step cluster at groups/load/", "cluster barrier" },
    { "projects/gemm-fp16", "step mma at groups/mma/", "part of a value" },
    { "projects/gemm-fp8-block", "groups/math", "192 columns" },
    { "projects/sparse-mla-any", "step read at groups/left/", "part of a line" },
    { "sparse-mla-pipes", "step gather at groups/gather/", "signals no mbarrier" },
    { "cluster-allreduce", "step cluster at " WORK, "cluster barrier" },
    { "moves/cluster-copy", "step copy at " WORK, "between shared memories" },
    { "moves/cluster-send", "step write at " WORK, "into another CTA" },
    { "moves/gather-groups", "step gather at " WORK, "signals no mbarrier" },
    { "moves/gemm-hilbert", "design", "order hilbert" },
    { "moves/gemm-i8", "step mma at groups/mma/", "not f32" },
    { "moves/gemm-prefetch", "step griddepcontrol at groups/load/", "earlier kernel" },
    { "moves/gemm-reduce", "step store at groups/mma/", "store that reduces" },
    { "moves/linear-types", "groups/work", "80 columns" },
    { "moves/tensor-read", "groups/work", "80 columns" },
    { "memory/second-pass-over-claimed-tiles", "groups/first", "in every round" },
    { "raw-steps", "step raw at " WORK, "inline PTX" },
    { "attack/index-halved-by-replica", "design", "no group of 4 warps" },
    { "memory/exchange-quads", "step write at groups/mma/", "sums per lane" },
};

static void test_refused(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autoptr(GError) error = NULL;
    g_autofree char *text = export_of(refused[i].design, &error);
    g_assert_null(text);
    g_test_message("%s", error->message);
    g_assert_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP);
    g_assert_true(g_str_has_prefix(error->message, refused[i].at));
    g_assert_nonnull(strstr(error->message, "not supported by tlx: "));
    g_assert_nonnull(strstr(error->message, refused[i].why));
    g_assert_nonnull(strstr(error->message, "; ")); /* what to change */
}

/* --- mistakes ----------------------------------------------------------------------------------*/

/* The first place of `text` in an export, and what is made of it. */
static const struct {
    const char *design, *text, *instead;
} mistakes[] = {
    { "projects/gemm-bf16", "tlx.barrier_wait(empty[", "tl.device_print(\"\")  # (empty[" },
    { "projects/gemm-bf16", "(k_total // STAGES + 1) % 2", "k_total // STAGES % 2" },
    { "projects/gemm-bf16", "tlx.barrier_wait(full[k_total % STAGES], k_total // STAGES % 2)",
      "pass" },
    { "projects/gemm-bf16", "tlx.barrier_expect_bytes(full[k_total % STAGES], 16384 + 32768)",
      "tlx.barrier_expect_bytes(full[k_total % STAGES], 16384)" },
    { "projects/gemm-bf16", "acc = tlx.async_dot_wait(1, acc)",
      "acc = tlx.async_dot_wait(2, acc)" },
    { "projects/gemm-bf16", "tlx.async_descriptor_store_wait(1)",
      "tlx.async_descriptor_store_wait(2)" },
    { "projects/gemm-bf16", "tlx.barrier_arrive(empty[(k_total - 1) % STAGES])",
      "tlx.barrier_arrive(empty[k_total % STAGES])" },
    { "projects/gemm-bf16", "arrive_count=2", "arrive_count=1" },
    { "projects/gemm-bf16", "STAGES, SLAB, 1)\n", "STAGES, SLAB, 0)\n" },
    { "projects/attention-d128", "tlx.named_barrier_wait(turn + replica, 256)",
      "tlx.named_barrier_wait(turn, 256)" },
    { "projects/attention-d128", "tl.max(tlx.local_load(", "1 + tl.max(tlx.local_load(" },
    { "attack/sum-read-in-every-round", "acc = tlx.async_dot_wait(0, acc)", "pass" },
    { "gemm-aliased", "tlx.barrier_wait(c_free[0], (tile_total + 1) % 2)", "pass" },
    { "gemm-aliased", "tlx.async_descriptor_store_wait(0)", "pass" },
    { "gemm-aliased", "(128, 256), tl.bfloat16, 1, reuse=a",
      "(256, 256), tl.bfloat16, 1, reuse=a" },
    { "gemm-aliased", "tl.bfloat16, 1, reuse=a", "tl.bfloat16, 1, reuse=a[1]" },
    { "gemm-aliased", "tl.bfloat16, 1, reuse=a", "tl.bfloat16, 1, reuse=full" },
    { "gemm-aliased", "(c_free[0], (tile_total + 1) % 2)", "(c_free[0], tile_total % 2)" },
    { "moves/gemm-dynamic", "tlx.barrier_arrive(next_empty[", "tl.device_print(\"\")  # (next_e[" },
};

static void test_mistake(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = export_of(mistakes[i].design, NULL);
    const char *at = strstr(text, mistakes[i].text);
    if (!at)
        g_error("'%s' is not in the text", mistakes[i].text);
    g_autofree char *before = g_strndup(text, (gsize)(at - text));
    g_autofree char *wrong =
        g_strconcat(before, mistakes[i].instead, at + strlen(mistakes[i].text), NULL);
    g_assert_false(is_proved(wrong, WS_IMPORT_TLX));
}

/* --- the calls ---------------------------------------------------------------------------------*/

static void judged(const char *python, const char *script, char *const *file, guint n)
{
    g_autofree char *path = g_strdup_printf("%s/tests/codegen/%s", WS_SOURCE_ROOT, script);
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_ptr_array_add(argv, (gpointer)python);
    g_ptr_array_add(argv, (gpointer) "-B");
    g_ptr_array_add(argv, path);
    for (guint i = 0; i < n; i++)
        g_ptr_array_add(argv, file[i]);
    g_ptr_array_add(argv, NULL);
    g_autofree char *out = NULL, *errors = NULL;
    g_autoptr(GError) error = NULL;
    int status = 0;
    g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &errors,
                 &status, &error);
    g_assert_no_error(error);
    g_test_message("%s%s", out, errors);
    g_assert_cmpint(status, ==, 0);
    g_assert_nonnull(strstr(out, "1.."));
}

static void test_calls(void)
{
    const guint n = G_N_ELEMENTS(written);
    g_autofree char *python = g_find_program_in_path("python3");
    const char *triton = g_getenv("WARPSTAVE_TRITON");
    if (!python) {
        g_test_skip("no python3");
        return;
    }
    g_autofree char *dir = g_dir_make_tmp("warpstave-tlx-XXXXXX", NULL);
    g_auto(GStrv) file = g_new0(char *, n + 1);
    for (guint i = 0; i < n; i++) {
        g_autofree char *text = export_of(written[i], NULL);
        file[i] = g_strdup_printf("%s/export%u.py", dir, i);
        g_assert_true(g_file_set_contents(file[i], text, -1, NULL));
    }
    judged(python, "tlx/calls.py", file, n);
    if (triton)
        judged(triton, "compile/tlx.py", file, n);
    for (guint i = 0; i < n; i++)
        g_unlink(file[i]);
    g_rmdir(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(written); i++) {
        g_autofree char *path = g_strdup_printf("/tlx/written/%s", written[i]);
        g_test_add_data_func(path, written[i], test_written);
    }
    for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autofree char *path = g_strdup_printf("/tlx/refused/%s", refused[i].design);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_refused);
    }
    for (guint i = 0; i < G_N_ELEMENTS(mistakes); i++) {
        g_autofree char *path = g_strdup_printf("/tlx/mistakes/%u", i);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_mistake);
    }
    g_test_add_func("/tlx/calls", test_calls);
    return g_test_run();
}
