/* The manifest reader: what it takes, and every way to refuse it by line and reason. */
#include "runner/manifest.h"

#include <glib.h>

static const char good[] = "warpstave-bundle 1\n"
                           "name Copy of a tile\n"
                           "# a remark\n"
                           "target sm_90a\n"
                           "entry warpstave\n"
                           "hash abc\n"
                           "design design.wstave\n"
                           "block 128 2 1024\n"
                           "module timed kernel.ptx\n"
                           "module traced traced.ptx\n"
                           "seed 7\n"
                           "runs 5\n"
                           "sustained 0.5\n"
                           "timeout 3\n"
                           "rate 4096\n"
                           "sizes M N\n"
                           "scalar alpha 0.5\n"
                           "tensor X bf16 2 read 0.02 0.004\n"
                           "tensor Y bf16 2 write 0.02 0.004\n"
                           "reference 1 reference-1.ptx\n"
                           "map 0 128 64 32\n"
                           "map 1 0 8 4\n"
                           "wait 17 load empty[1] groups/load/body/0\n"
                           "records 256 4 8 0 2\n"
                           "plan 99\n"
                           "ctas 0 5\n"
                           "case M=4,N=8 sms 64 3 1e6\n"
                           "values 4 8\n"
                           "extent 0 4 8 8 1\n"
                           "fill 0 normal 0 0 0 0\n"
                           "extent 1 4 8 8 1\n"
                           "fill 1 zeros 0 0 0 0\n"
                           "case empty ctas 0 0 0\n"
                           "values 0 8\n"
                           "extent 0 0 8 8 1\n"
                           "fill 0 integers -3 5 0 0\n"
                           "extent 1 0 8 8 1\n"
                           "fill 1 zeros 0 0 0 0\n";

static bool parse(const char *text, WsManifest *m, char *error)
{
    g_autofree char *copy = g_strdup(text);
    return ws_manifest_parse(copy, m, error, 512);
}

static void test_good(void)
{
    g_autofree WsManifest *m = g_new(WsManifest, 1);
    char error[512] = "";
    g_assert_true(parse(good, m, error));
    g_assert_cmpstr(m->name, ==, "Copy of a tile");
    g_assert_cmpuint(m->threads, ==, 128);
    g_assert_cmpuint(m->cluster, ==, 2);
    g_assert_cmpstr(m->module[WS_MODULE_TRACED], ==, "traced.ptx");
    g_assert_cmpstr(m->module[WS_MODULE_DEBUG], ==, "");
    g_assert_cmpint(m->n_sizes, ==, 2);
    g_assert_cmpfloat(m->scalar_value[0], ==, 0.5f);
    g_assert_cmpstr(m->tensor[1].reference, ==, "reference-1.ptx");
    g_assert_cmpint(m->map[0].box[1], ==, 32);
    g_assert_cmpstr(m->wait[0].barrier, ==, "empty[1]");
    g_assert_cmpuint(m->record_bytes, ==, 256);
    g_assert_cmpuint(m->cta[1], ==, 5);
    g_assert_cmpint(m->n_cases, ==, 2);
    g_assert_true(m->case_[0].grid_sms);
    g_assert_cmpint(m->case_[0].tensor[1].extent[1], ==, 8);
    g_assert_cmpint(ws_run_span(&m->tensor[0], &m->case_[0].tensor[0]), ==, 32);
    g_assert_cmpint(ws_run_span(&m->tensor[0], &m->case_[1].tensor[0]), ==, 0);
    g_assert_cmpint(m->case_[1].tensor[0].fill.a, ==, -3);
    g_assert_cmpint(m->case_[1].tensor[0].fill.last, ==, 8);
    g_assert_cmpuint(m->case_[0].tensor[0].fill.key, !=, m->case_[0].tensor[1].fill.key);
}

/* Replaces the first line that begins with `line` and expects the message. */
static const struct {
    const char *line, *by, *message;
} broken[] = {
    { "warpstave-bundle", "warpstave-bundle 2", "bundle version 2" },
    { "warpstave-bundle", "hello", "not a Warpstave bundle" },
    { "target", "target gfx942", "this runner knows sm_90a and gfx950" },
    { "target", "", "without a `target` line" },
    { "seed", "seeds 1", "unknown keyword 'seeds'" },
    { "runs", "runs 5\nruns 6", "a second `runs` line" },
    { "runs", "runs", "takes 1 words, not 0" },
    { "runs", "runs 0", "outside 1..10000" },
    { "runs", "runs 5x", "not an integer" },
    { "runs", "runs 99999999999999999999", "not an integer" },
    { "timeout", "timeout nan", "not a number" },
    { "sustained", "sustained -1", "outside" },
    { "block", "block 4096 1 0", "outside 1..1024" },
    { "block", "block 128 2", "takes 3 words" },
    { "module timed", "module timed ../kernel.ptx", "plain file name" },
    { "module timed", "module timed .hidden", "plain file name" },
    { "module timed", "", "no `module timed` line" },
    { "records", "", "needs a `records` line" },
    { "records", "records 256 0 64 0 4 16 8", "each records one round in as many" },
    { "records", "records 256 0 64 0 4 128 128", "outside 2..64" },
    { "records", "records 256 0 64 0 4 12", "a power of two" },
    { "tensor X", "tensor X bf17 2 read 0 0", "unknown word 'bf17'" },
    { "tensor X", "tensor X bf16 6 read 0 0", "outside 1..5" },
    { "tensor X", "tensor X bf16 2 both 0 0", "unknown word 'both'" },
    { "reference", "reference 2 x.ptx", "outside 0..1" },
    { "map 0", "map 0 128 64", "rank 2, the box 1 dimensions" },
    { "map 0", "map 0 100 64 32", "swizzle 100" },
    { "map 0", "map 0 128 64 257", "outside 1..256" },
    { "map 0", "map 7 128 64 32", "outside 0..1" },
    { "case empty", "case empty ctas 3 0 0", "not a multiple of the cluster size 2" },
    { "values 4 8", "values 4", "1 values for 2 sizes" },
    { "values 4 8", "values 4 -8", "outside 0.." },
    { "values 4 8", "", "has no `values` line" },
    { "extent 0 4", "", "does not describe every tensor" },
    { "fill 1 zeros", "", "does not describe every tensor" },
    { "extent 0 4", "extent 0 4 8 8", "needs 2 extents and as many strides" },
    { "extent 0 4", "extent 0 9223372036854775807 9223372036854775807 9 1",
      "does not fit in 64 bits" },
    { "fill 0 normal", "fill 0 gauss 0 0 0 0", "unknown word 'gauss'" },
    { "fill 0 normal", "runs 5", "a second `runs` line" },
    { "case M=4", "seed 1\ncase M=4,N=8 sms 64 3 1e6", "a second `seed` line" },
    { "values 4 8", "values 4 8\nscalar beta 1", "must come before the first `case`" },
    { "seed", "seed 7\nvalues 1 2", "`values` before the first `case`" },
    { "seed", "seed 7\ncase a ctas 0 0 0", "`case` before `block` and `tensor`" },
    { "name", "name a\tb\x01", "control character" },
};

static char *replace(const char *line, const char *by)
{
    GString *out = g_string_new(NULL);
    g_auto(GStrv) lines = g_strsplit(good, "\n", -1);
    gboolean done = FALSE;
    for (guint i = 0; lines[i]; i++) {
        gboolean hit = !done && g_str_has_prefix(lines[i], line);
        done = done || hit;
        g_string_append_printf(out, "%s%s", hit ? by : lines[i], lines[i + 1] ? "\n" : "");
    }
    g_assert_true(done);
    return g_string_free(out, FALSE);
}

static void test_broken(void)
{
    g_autofree WsManifest *m = g_new(WsManifest, 1);
    for (guint i = 0; i < G_N_ELEMENTS(broken); i++) {
        char error[512] = "";
        g_autofree char *text = replace(broken[i].line, broken[i].by);
        gboolean ok = parse(text, m, error);
        if (ok || !strstr(error, broken[i].message))
            g_test_message("'%s' -> '%s': %s", broken[i].line, broken[i].by,
                           ok ? "accepted" : error);
        g_assert_false(ok);
        g_assert_nonnull(strstr(error, broken[i].message));
        g_assert_nonnull(strstr(error, "line "));
    }
}

/* Any prefix, and any byte put anywhere, is taken or refused, never more. */
static void test_mutations(void)
{
    g_autofree WsManifest *m = g_new(WsManifest, 1);
    char error[512];
    g_autoptr(GRand) rand = g_rand_new_with_seed(5);
    for (gsize n = 0; n < sizeof good; n += 7) {
        g_autofree char *text = g_strndup(good, n);
        ws_manifest_parse(text, m, error, sizeof error);
    }
    for (guint i = 0; i < 3000; i++) {
        g_autofree char *text = g_strdup(good);
        for (guint k = 0; k < 3; k++)
            text[g_rand_int_range(rand, 0, sizeof good - 1)] =
                (char)(g_rand_boolean(rand) ? g_rand_int_range(rand, 1, 256)
                                            : "0123456789 \n-e."[g_rand_int_range(rand, 0, 15)]);
        ws_manifest_parse(text, m, error, sizeof error);
    }
}

static void test_files(void)
{
    g_autofree WsManifest *m = g_new(WsManifest, 1);
    char error[512];
    g_assert_false(ws_manifest_load("/nonexistent", m, error, sizeof error));
    g_assert_nonnull(strstr(error, "cannot open /nonexistent/bundle.txt"));
    char name[64];
    ws_run_records_name(0, name, sizeof name);
    g_assert_cmpstr(name, ==, "records.bin");
    ws_run_records_name(3, name, sizeof name);
    g_assert_cmpstr(name, ==, "records-3.bin");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runner/manifest/good", test_good);
    g_test_add_func("/runner/manifest/broken", test_broken);
    g_test_add_func("/runner/manifest/mutations", test_mutations);
    g_test_add_func("/runner/manifest/files", test_files);
    return g_test_run();
}
