/* What comes back from a GPU machine: manifest, results.json and records of a bundle, each of them
 * any bytes, around a design that is right. Nothing of it may be believed; what is refused is
 * refused with a reason. Input: the three texts one after another, a byte 0x1e between them. */
#include "launch/collect.h"
#include "model/findings.h"
#include "runner/manifest.h"
#include "trace/stats.h"

#include <glib/gstdio.h>
#include <stddef.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static char *dir;

static void put(const char *name, const void *data, gsize size)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);
    FILE *f = fopen(path, "wb");
    g_assert(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
}

static void clean(void)
{
    const char *names[] = { "bundle.txt", "results.json", "records.bin", "design.wstave" };
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(dir, names[i], NULL);
        g_unlink(path);
    }
    g_rmdir(dir);
}

/* A producer and a consumer of two tiles: small enough to be elaborated for every input. */
static const char design[] =
    "{\"warpstave\":1,\"name\":\"copy\",\"target\":\"sm_90a\",\"sizes\":{\"M\":128,\"N\":64},"
    "\"tensors\":[{\"name\":\"X\",\"dtype\":\"f32\",\"shape\":[\"M\",\"N\"]},"
    "{\"name\":\"Y\",\"dtype\":\"f32\",\"shape\":[\"M\",\"N\"],\"access\":\"write\"}],"
    "\"reference\":\"Y[m,n] = X[m,n]\","
    "\"tiles\":{\"axes\":{\"t\":\"cdiv(M, 64)\"},\"launch\":\"persistent\"},"
    "\"buffers\":[{\"name\":\"x\",\"dtype\":\"f32\",\"tile\":[64,32],\"stages\":2}],"
    "\"barriers\":[{\"name\":\"full\",\"slots\":2},{\"name\":\"empty\",\"slots\":2,"
    "\"init\":\"ready\"}],\"groups\":["
    "{\"name\":\"in\",\"role\":\"producer\",\"warps\":4,\"body\":[{\"for\":\"tile\",\"over\":"
    "\"tiles\",\"do\":[{\"for\":\"k\",\"count\":\"cdiv(N, 32)\",\"do\":["
    "{\"wait\":\"empty\",\"use\":\"k.total\"},"
    "{\"load\":\"X\",\"at\":[\"t*64\",\"k*32\"],\"into\":\"x\",\"signal\":\"full\","
    "\"use\":\"k.total\"}]}]}]},"
    "{\"name\":\"out\",\"role\":\"consumer\",\"warps\":4,\"body\":[{\"for\":\"tile\",\"over\":"
    "\"tiles\",\"do\":[{\"for\":\"k\",\"count\":\"cdiv(N, 32)\",\"do\":["
    "{\"wait\":\"full\",\"use\":\"k.total\"},"
    "{\"store\":\"Y\",\"at\":[\"t*64\",\"k*32\"],\"from\":\"x\",\"use\":\"k.total\"},"
    "{\"store_wait\":0},{\"arrive\":\"empty\",\"use\":\"k.total\"}]}]}]}]}\n";

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    const char *fast = g_file_test("/dev/shm", G_FILE_TEST_IS_DIR) ? "/dev/shm" : g_get_tmp_dir();
    dir = g_build_filename(fast, "warpstave-fuzz-XXXXXX", NULL);
    g_assert_nonnull(g_mkdtemp(dir));
    put("design.wstave", design, sizeof design - 1);
    atexit(clean);
    return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const char *const names[] = { "bundle.txt", "results.json", "records.bin" };
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        const unsigned char *end = i < 2 && size ? memchr(data, 0x1e, size) : NULL;
        const size_t n = end ? (size_t)(end - data) : size;
        put(names[i], data, n);
        data += n + (end != NULL);
        size -= n + (end != NULL);
    }
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(WsCollected) c = ws_collect(dir, findings, &error);
    g_assert(c || error);
    if (!c)
        return 0;
    g_autofree char *text = ws_collected_print(c);
    for (guint i = 0; i < c->cases->len && i < 3; i++) {
        g_clear_error(&error);
        g_autoptr(WsTrace) t = ws_collected_trace(c, i, &error);
        g_assert(t || error);
        g_autofree char *table = t ? ws_trace_overlap_print(t, NULL) : NULL;
    }
    return 0;
}
