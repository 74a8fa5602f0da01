/* Exports whose remarks say something else than their lines: the line counts, and is not called
 * proved by what the remark says. */
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#define GROUPED  "projects/gemm-grouped/design.wstave"
#define DEFERRED "projects/gemm-bf16-deferred/design.wstave"

static const struct {
    const char *name, *design, *language, *from, *to; /* `to` instead of the first `from` */
    gboolean proved;
} rows[] = {
    { "as-it-is", GROUPED, "gluon", "", "", TRUE },
    { "as-it-is-tle", GROUPED, "tle", "", "", TRUE },
    { "as-it-is-tlx", GROUPED, "tlx", "", "", TRUE },
    { "another-element", GROUPED, "gluon", "gl.load(E + tm,", "gl.load(E + tm + 1,", FALSE },
    { "a-number", GROUPED, "gluon", "e = gl.load(E + tm, mask=(tm < gl.cdiv(M, BM)), other=0)",
      "e = 3", FALSE },
    { "no-mask", GROUPED, "gluon", "mask=(tm < gl.cdiv(M, BM)), other", "mask=False, other",
      FALSE },
    { "a-smaller-mask", GROUPED, "gluon", "mask=(tm < gl.cdiv(M, BM)), other",
      "mask=(tm < gl.cdiv(M, BM) - 1), other", FALSE },
    { "another-other", GROUPED, "gluon", "other=0)  # is", "other=1)  # is", FALSE },
    { "without-other", GROUPED, "gluon", ", other=0)  # is", ")  # is", FALSE },
    { "another-tensor", GROUPED, "gluon", "gl.load(E + tm,", "gl.load(tm + E,", FALSE },
    { "no-mask-tle", GROUPED, "tle", "mask=(tm < tl.cdiv(M, BM)), other", "mask=False, other",
      FALSE },
    { "no-mask-tlx", GROUPED, "tlx", "mask=(tm < tl.cdiv(M, BM)), other", "mask=False, other",
      FALSE },
    { "an-arrival", GROUPED, "gluon", "e = gl.load(E + tm, mask=(tm < gl.cdiv(M, BM)), other=0)",
      "e = mbarrier.arrive(full.index(0), count=1)", FALSE },
    { "a-store-to-it", GROUPED, "gluon", "    tma.store_wait(0)\n",
      "    tma.store_wait(0)\n    gl.store(E + n_tm - 1, 0)\n", FALSE },
    { "begins-anew", DEFERRED, "tle", "", "", TRUE },
    { "begins-with-one", DEFERRED, "tle", "acc = tl.zeros([64, 256], tl.float32)",
      "acc = tl.zeros([64, 256], tl.float32) + 1.0", FALSE },
};

static char *run(const char *const *argv)
{
    g_autoptr(GError) error = NULL;
    char *out = NULL;
    g_autoptr(GSubprocess) p = g_subprocess_newv(
        argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE, &error);
    g_assert_no_error(error);
    g_assert_true(g_subprocess_communicate_utf8(p, NULL, NULL, &out, NULL, &error));
    return out;
}

static void test_row(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autoptr(GError) error = NULL;
    g_autofree char *path = NULL, *text = NULL;
    const int fd = g_file_open_tmp("remarks-XXXXXX.py", &path, &error);
    g_assert_no_error(error);
    g_close(fd, NULL);
    g_autofree char *design = g_build_filename(WS_SOURCE_ROOT, rows[i].design, NULL);
    const char *const warpstave = WS_BUILD_ROOT "/bin/warpstave";
    g_autofree char *wrote = run((const char *const[]){ warpstave, "generate", design, "--as",
                                                        rows[i].language, "-o", path, NULL });
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    const char *at = strstr(text, rows[i].from);
    g_assert_nonnull(at);
    g_autofree char *head = g_strndup(text, (gsize)(at - text));
    g_autofree char *all = g_strconcat(head, rows[i].to, at + strlen(rows[i].from), NULL);
    g_assert_true(g_file_set_contents(path, all, -1, NULL));
    g_autofree char *out =
        run((const char *const[]){ warpstave, "check", path, "--from", rows[i].language, NULL });
    g_test_message("%s", out);
    g_unlink(path);
    g_assert_cmpint(strstr(out, ": proved") != NULL, ==, rows[i].proved);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strconcat("/import/remarks/", rows[i].name, NULL);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_row);
    }
    return g_test_run();
}
