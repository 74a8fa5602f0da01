/* package --backward: designs that are not a forward one and its gradient are refused by name; what
 * a reference gets wrong is told by its difference quotient. */
#include "../whole.h"
#include "run.h"

#include <glib/gstdio.h>
#include <string.h>

#define PROJECT(name) WS_SOURCE_ROOT "/projects/" name ".wstave"

/* attention-d128 with -backward-d128-dq and -dkv, one text of one of them changed. */
static const char *const parts[] = { PROJECT("attention-d128/design"),
                                     PROJECT("attention-backward-d128-dq/design"),
                                     PROJECT("attention-backward-d128-dkv/design") };
typedef struct {
    const char *title;
    guint part;
    const char *from, *to; /* everywhere */
    const char *says;
} Change;

static const Change changes[] = {
    { "mask", 1, "\"CAUSAL\": 0", "\"CAUSAL\": 1", "DQ is not the gradient of Q" },
    { "scale", 2, "DK[b,k,j,d] = scale*sum", "DK[b,k,j,d] = sum", "DK is not the gradient of K" },
    { "sign", 2, "V[b,h/heads,j,d]) - DELTA", "V[b,h/heads,j,d]) + DELTA",
      "DK is not the gradient" },
    { "one-head", 2, "DV[b,k,j,d] = sum(g < heads", "DV[b,k,j,d] = sum(g < 1", "DV is not the" },
    { "logarithm", 1, "LSE[b,h,min(i, SQ - 1)]*log2e", "LSE[b,h,min(i, SQ - 1)]", "DK is not the" },
    { "forward", 0, "S[b,h,i,j] = scale*sum", "S[b,h,i,j] = 2*scale*sum",
      "DQ is not the gradient" },
    { "name", 2, "\"name\": \"DELTA\"", "\"name\": \"ROWS\"",
      "" }, /* the design does not elaborate */
    { "small", 0, "\"SK >= 1\"", "\"SK >= 100000\"", "at no small sizes" },
    { "nothing", 0, "K[b,h/(HQ/HKV),j,d])\"", "K[b,h/(HQ/HKV),j,d]*0.0)\"", "is not the gradient" },
    { "type", 1, "{ \"name\": \"LSE\", \"dtype\": \"f32\"",
      "{ \"name\": \"LSE\", \"dtype\": \"bf16\"", "LSE of " },
    { "rows", 2, "[\"B\", \"HQ\", \"blocks*BM\"]", "[\"B\", \"HQ\", \"blocks*BM + 64\"]",
      "differ: f32 [" },
    { "scalar", 1, "\"scale\"", "\"factor\"", "" },
    /* what differs only with several batches, several key heads, rows or keys past a tile */
    { "batches", 1, "DS[b,h,i,j]*K[b,", "DS[b,h,i,j]*K[0,", "(B=3 HQ=6 HKV=2 SQ=5 SK=7)" },
    { "key-heads", 2, "V[b,h/heads,j,d]", "V[b,0,j,d]", "(B=3 HQ=6 HKV=2 SQ=5 SK=7)" },
    { "queries-in-group", 1, "K[b,h/(HQ/HKV),", "K[b,min(h/2, HKV - 1),", "HKV=2 SQ=5 SK=7)" },
    { "outside", 1, "K[b,h/(HQ/HKV),", "K[b,h/2,", "outside its shape (B=3 HQ=6 HKV=2 SQ=5" },
    { "many-rows", 2, "i < SQ, P[", "i < min(SQ, 128), P[", "SQ=135 SK=133)" },
    { "many-keys", 1, "sum(j < SK, DS", "sum(j < min(SK, 128), DS", "SQ=135 SK=133)" },
};

static char *changed(const char *dir, guint part, const Change *c)
{
    g_autofree char *text = NULL, *name = g_strdup_printf("%u.wstave", part);
    char *path = g_build_filename(dir, name, NULL);
    g_assert_true(g_file_get_contents(parts[part], &text, NULL, NULL));
    g_auto(GStrv) piece = g_strsplit(text, c->from, -1);
    g_assert_nonnull(piece[1]);
    g_autofree char *now = g_strjoinv(c->to, piece);
    g_assert_true(g_file_set_contents(path, now, -1, NULL));
    return path;
}

static void test_change(gconstpointer data)
{
    const Change *c = data;
    g_autofree char *dir = g_dir_make_tmp("ws-pair-XXXXXX", NULL), *output = NULL,
                    *to = g_build_filename(dir, "package", NULL), *other = changed(dir, c->part, c);
    const char *file[3];
    for (guint i = 0; i < 3; i++)
        file[i] = i == c->part ? other : parts[i];
    const char *const arguments[] = { "package",    file[0], "--backward", file[1],
                                      "--backward", file[2], "--name",     "pair",
                                      "-o",         to,      NULL };
    const int code = run(arguments, &output);
    if (code == 4)
        g_test_skip("no code generation");
    else if (code == 0 || !strstr(output, c->says))
        g_error("exit %d: %s", code, output);
    g_assert_false(g_file_test(to, G_FILE_TEST_EXISTS));
    g_unlink(other);
    g_rmdir(dir);
}

typedef struct {
    const char *title, *arguments[12], *says;
    int exit_code;
} Case;

static const Case cases[] = {
    { "order",
      { "package", PROJECT("attention-d128/design"), "--backward",
        PROJECT("attention-backward-d128-dkv/design"), "--backward",
        PROJECT("attention-backward-d128-dq/design"), "-o", "p", NULL },
      "reads L, which is no tensor of ",
      2 },
    { "half",
      { "package", PROJECT("attention-d128/design"), "--backward",
        PROJECT("attention-backward-d128-dq/design"), "-o", "p", NULL },
      "no launch writes DK, the gradient of the input K",
      2 },
    { "twice",
      { "package", PROJECT("attention-d128/design"), "--backward",
        PROJECT("attention-backward-d128-dq/design"), "--backward",
        PROJECT("attention-backward-d128-dq/design"), "-o", "p", NULL },
      "writes DQ, a tensor of ",
      2 },
    { "columns",
      { "package", PROJECT("attention-d128/design"), "--backward",
        PROJECT("attention-backward-d64/dq"), "-o", "p", NULL },
      "Q of ",
      2 },
    { "scalars",
      { "package", PROJECT("attention-sink/design"), "--backward",
        PROJECT("attention-backward-d128-dq/design"), "--backward",
        PROJECT("attention-backward-d128-dkv/design"), "-o", "p", NULL },
      "softcap is a scalar of ",
      2 },
    { "integers",
      { "package", PROJECT("attention-varlen/design"), "--backward",
        PROJECT("attention-backward-d128-dq/design"), "-o", "p", NULL },
      "is a tensor of integers: not supported",
      3 },
    { "sizes-of-no-tensor",
      { "package", PROJECT("attention-d128/design"), "--backward",
        PROJECT("attention-backward-d128/convert"), "-o", "p", NULL },
      "is the extent of no tensor: not supported",
      3 },
    { "wheel",
      { "package", PROJECT("attention-d128/design"), "--backward",
        PROJECT("attention-backward-d128-dq/design"), "--wheel", "w", "-o", "p", NULL },
      "without --wheel",
      2 },
};

static void test_case(gconstpointer data)
{
    const Case *c = data;
    g_autofree char *output = NULL;
    const int code = run(c->arguments, &output);
    if (code == 4)
        g_test_skip("no code generation");
    else if (code != c->exit_code || !strstr(output, c->says))
        g_error("exit %d: %s", code, output);
}

/* What is a pair comes as far as ptxas, which is none here. */
static void test_pairs(void)
{
    static const char *const pairs[][3] = {
        { PROJECT("attention-d64/design"), PROJECT("attention-backward-d64/dq"),
          PROJECT("attention-backward-d64/design") },
        { PROJECT("attention-d256/design"), PROJECT("attention-backward-d256/dq"),
          PROJECT("attention-backward-d256/design") },
    };
    g_autofree char *dir = g_dir_make_tmp("ws-pair-XXXXXX", NULL),
                    *none = g_build_filename(dir, "ptxas", NULL),
                    *to = g_build_filename(dir, "p", NULL),
                    *path = g_strconcat(dir, ":", g_getenv("PATH"), NULL);
    g_assert_true(g_file_set_contents(none, "#!/bin/sh\necho none here >&2\nexit 3\n", -1, NULL));
    g_assert_cmpint(g_chmod(none, 0755), ==, 0);
    g_setenv("PATH", path, TRUE);
    const guint n = g_test_slow() ? G_N_ELEMENTS(pairs) : 1; /* 256 columns: ten seconds */
    for (guint i = 0; i < n; i++) {
        g_autofree char *output = NULL;
        const char *const arguments[] = { "package",    pairs[i][0], "--backward", pairs[i][1],
                                          "--backward", pairs[i][2], "--set",      "CAUSAL=1",
                                          "-o",         to,          NULL };
        const int code = run(arguments, &output);
        if (code != 4 && !strstr(output, "none here"))
            g_error("exit %d: %s", code, output);
        g_assert_false(g_file_test(to, G_FILE_TEST_EXISTS));
    }
    g_unlink(none);
    g_rmdir(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(changes); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strconcat("/cli/pair/", changes[i].title, NULL);
        g_test_add_data_func(path, &changes[i], test_change);
    }
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strconcat("/cli/pair/", cases[i].title, NULL);
        g_test_add_data_func(path, &cases[i], test_case);
    }
    g_test_add_func("/cli/pair/pairs", test_pairs);
    return g_test_run();
}
