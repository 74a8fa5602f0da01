/* The machine code of the designs in an emulator of the instruction set, where a checkout of
 * tinygrad is named by WARPSTAVE_EMULATOR (emulate.py): right in several orders of the waves, and
 * wrong once a barrier or a wait is gone. */
#include "amd/designs.h"
#include "codegen/amdgpu/amdgpu.h"

#include <glib/gstdio.h>

static const struct {
    const char *design, *kind, *size[3];
    const char *types, *turned; /* of A, B and C, and B[N,K]; NULL: f16, B[K,N] */
    guint slack; /* changes that show in none of four orders at this size: a ring of three leaves
                    room */
    AmdChange change[4]; /* of the design's text */
} rows[] = {
    { "gemm-gfx950", "gemm", { "256", "256", "224" }, NULL, NULL, 0 },
    { "gemm-gfx950", "gemm", { "256", "512", "64" }, NULL, NULL, 0 },
    { "gemm-gfx950-split", "gemm", { "256", "256", "320" }, NULL, NULL, 0 },
    { "gemm-gfx950-flat", "gemm", { "256", "256", "96" }, NULL, NULL, 0 },
    /* the borders of the first six stages order loads and reads; before them all has landed, after
     * them nothing is loaded */
    { "gemm-gfx950-flat-ring", "gemm", { "256", "256", "160" }, NULL, NULL, 6 },
    /* four tiles of keys: two rounds, in which the ring is not yet used again, and Q's own wait has
     * brought what they read: the borders of the loop and its wait order nothing */
    { "attention-gfx950", "attention", { "1", "1", "256" }, NULL, NULL, 5 },
    /* other instructions and layouts */
    { "gemm-gfx950-32", "gemm", { "256", "256", "96" }, "bf16:bf16:bf16", NULL, 0 },
    { "gemm-gfx950-gap", "gemm", { "256", "256", "192" }, "f16:f16:f16", "--turned", 0 },
    { "gemm-gfx950-fp8", "gemm", { "256", "256", "320" }, "e4m3:e5m2:f16", "--turned", 0 },
    { "gemm-gfx950-fp8",
      "gemm",
      { "256", "256", "384" },
      "e4m3:e5m2:f16",
      "--turned",
      0,
      { { "\"mma_rows\": 32", "\"mma_rows\": 16" },
        { "\"BK\": 64", "\"BK\": 128" },
        { "\"NB\": 3", "\"NB\": 2" } } },
};

static char *write_object(GBytes *object)
{
    g_autoptr(GError) error = NULL;
    char *file = NULL;
    const int fd = g_file_open_tmp("warpstave-XXXXXX.hsaco", &file, &error);
    g_assert_cmpint(fd, >=, 0);
    g_close(fd, NULL);
    gsize size;
    const char *data = g_bytes_get_data(object, &size);
    g_assert_true(g_file_set_contents(file, data, (gssize)size, &error));
    return file;
}

static char *object_of(guint row)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsProgram) p =
        amd_load(rows[row].design, rows[row].change, G_N_ELEMENTS(rows[row].change), NULL, 0);
    g_autoptr(GBytes) object = ws_generate_amd_object(p, WS_CODE_OBJECT_VERSION, &error);
    g_assert_no_error(error);
    return write_object(object);
}

/* What the run says: "right", "wrong: …", or "there are N …" where the change has no place. */
static char *run(guint row, const char *object, guint seed, const char *change, guint at)
{
    g_autofree char *script = g_build_filename(WS_SOURCE_ROOT, "tests/amd/emulate.py", NULL);
    g_autofree char *order = g_strdup_printf("%u", seed), *place = g_strdup_printf("%u", at);
    const char *argv[] = { "python3",
                           script,
                           g_getenv("WARPSTAVE_EMULATOR"),
                           object,
                           rows[row].kind,
                           rows[row].size[0],
                           rows[row].size[1],
                           rows[row].size[2],
                           "--seed",
                           order,
                           "--types",
                           rows[row].types ? rows[row].types : "f16:f16:f16",
                           change ? change : rows[row].turned,
                           change ? place : NULL,
                           change ? rows[row].turned : NULL,
                           NULL };
    g_autoptr(GError) error = NULL;
    char *out = NULL;
    g_autofree char *err = NULL;
    g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out,
                               &err, NULL, &error));
    g_assert_no_error(error);
    if (g_str_has_prefix(err, "there are")) {
        g_free(out);
        return g_strdup(err);
    }
    if (!g_str_has_prefix(out, "right") && !g_str_has_prefix(out, "wrong"))
        g_error("%s", err);
    return g_strchomp(out);
}

static void test_right(gconstpointer data)
{
    const guint row = GPOINTER_TO_UINT(data);
    g_autofree char *object = object_of(row);
    for (guint seed = 0; seed < 2; seed++) {
        g_autofree char *said = run(row, object, seed, NULL, 0);
        g_assert_cmpstr(said, ==, "right");
    }
    g_remove(object);
}

/* Barrier 0 is the kernel's first instruction of that kind: it orders nothing. */
static void test_changed(gconstpointer data)
{
    const guint row = GPOINTER_TO_UINT(data);
    static const char *const change[] = { "--drop-barrier", "--weaken-wait" };
    g_autofree char *object = object_of(row);
    guint right = 0;
    for (guint c = 0; c < G_N_ELEMENTS(change); c++)
        for (guint at = c == 0;; at++) {
            g_autofree char *said = NULL;
            for (guint seed = 0; seed < 4 && (!said || strcmp(said, "right") == 0); seed++) {
                g_free(said);
                said = run(row, object, seed, change[c], at);
            }
            g_test_message("%s %u: %s", change[c], at, said);
            if (g_str_has_prefix(said, "there are"))
                break;
            right += !g_str_has_prefix(said, "wrong");
            if (right > rows[row].slack)
                g_error("%s: %s %u is right in four orders", rows[row].design, change[c], at);
        }
    g_remove(object);
}

/* The kernel of a bundle that judges C, in float64, by the same emulator. */
static void test_reference(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsProgram) p = amd_load(rows[0].design, NULL, 0, NULL, 0);
    g_autoptr(GBytes) object = ws_generate_reference_amd(p, 2, &error);
    g_assert_no_error(error);
    g_autofree char *file = write_object(object);
    const char *argv[] = { "python3",
                           WS_SOURCE_ROOT "/tests/amd/emulate.py",
                           g_getenv("WARPSTAVE_EMULATOR"),
                           file,
                           "reference",
                           "64",
                           "96",
                           "70",
                           NULL };
    g_autofree char *out = NULL, *err = NULL;
    g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out,
                               &err, NULL, &error));
    if (strcmp(out, "right\n") != 0)
        g_error("%s%s", out, err);
    g_remove(file);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    if (!g_getenv("WARPSTAVE_EMULATOR")) {
        g_print("1..0 # SKIP WARPSTAVE_EMULATOR names no checkout of tinygrad\n");
        return 0;
    }
    g_test_add_func("/amd/emulator/reference", test_reference);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *right = g_strdup_printf("/amd/emulator/right/%s/%u", rows[i].design, i);
        g_autofree char *changed =
            g_strdup_printf("/amd/emulator/changed/%s/%u", rows[i].design, i);
        g_test_add_data_func(right, GUINT_TO_POINTER(i), test_right);
        /* those of row 0 say it; the last stages are of no loop; waits of other instructions are
         * the same, but of products of 8-bit types the emulator's decoder lost some (two rounds of
         * a ring of two show too little) */
        if (i != 1 && i != 3 &&
            (!rows[i].types || (strstr(rows[i].types, "e4m3") && !rows[i].change[0].from)))
            g_test_add_data_func(changed, GUINT_TO_POINTER(i), test_changed);
    }
    return g_test_run();
}
