/* Python that uses a name's former value after it was assigned anew: what the reader kept of it is
 * another value by then, so that nothing may be called proved that is made of it. */
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#define HISTOGRAM "tests/import/tle/names/histogram.py"
#define ADD                                                                                        \
    "tl.atomic_add(tle.gpu.local_ptr(hist, (value,)), 1, mask=m, sem=\"relaxed\", "                \
    "scope=\"cta\")\n"

static const struct {
    const char *name, *round; /* instead of the round's atomic, at its column */
    gboolean read;
} rows[] = {
    { "as-it-is", NULL, TRUE },
    { "mask-of-the-value", "m = (value >= 0) & (value < 256)\n" ADD, TRUE },
    { "mask-of-the-former", "m = (value >= 0) & (value < 256)\nvalue = value + 1000\n" ADD, FALSE },
    { "mask-in-place", "m = (value >= 0) & (value < 256)\nvalue += 1000\n" ADD, FALSE },
    { "mask-in-a-branch",
      "m = (value >= 0) & (value < 256)\nif k > 1:\n    value = value * 2\n" ADD, FALSE },
    { "mask-of-an-alias", "w = value\nm = (w >= 0) & (w < 256)\nvalue = value * 2\n" ADD, FALSE },
    { "mask-in-a-tuple", "t = ((value >= 0) & (value < 256), 1)\nvalue = value * 2\nm = t[0]\n" ADD,
      FALSE },
    { "pointer-of-the-former",
      "ptr = tle.gpu.local_ptr(hist, (value & 255,))\nvalue = value * 3\ntl.atomic_add(ptr, 1, "
      "mask=there)\n",
      FALSE },
    { "pointer-of-the-value",
      "value = value * 3\nptr = tle.gpu.local_ptr(hist, (value & 255,))\ntl.atomic_add(ptr, 1, "
      "mask=there)\n",
      TRUE },
};

/* The kernel with these lines for its atomic. Caller frees. */
static char *kernel_with(const char *round)
{
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(WS_SOURCE_ROOT "/" HISTOGRAM, &text, NULL, NULL));
    if (!round)
        return g_steal_pointer(&text);
    const char *at = strstr(text, "tl.atomic_add(tle.gpu.local_ptr(hist");
    g_assert_nonnull(at);
    const char *begin = at, *end = at + strcspn(at, "\n") + 1;
    while (begin > text && begin[-1] != '\n')
        begin--;
    g_autofree char *column = g_strndup(begin, (gsize)(at - begin));
    g_autoptr(GString) made = g_string_new_len(text, begin - text);
    g_auto(GStrv) line = g_strsplit(round, "\n", -1);
    for (guint i = 0; line[i]; i++)
        if (*line[i])
            g_string_append_printf(made, "%s%s\n", column, line[i]);
    g_string_append(made, end);
    return g_strdup(made->str);
}

static void stale(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autoptr(GError) error = NULL;
    g_autofree char *path = NULL, *out = NULL, *text = kernel_with(rows[i].round);
    const int fd = g_file_open_tmp("stale-XXXXXX.py", &path, &error);
    g_assert_no_error(error);
    g_close(fd, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    g_autoptr(GSubprocess) p =
        g_subprocess_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE, &error,
                         WS_BUILD_ROOT "/bin/warpstave", "check", path, "--from", "tle", NULL);
    g_assert_no_error(error);
    g_assert_true(g_subprocess_communicate_utf8(p, NULL, NULL, &out, NULL, &error));
    g_test_message("%s", out);
    g_assert_cmpint(strstr(out, ": proved") != NULL, ==, rows[i].read);
    g_unlink(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strconcat("/import/stale/", rows[i].name, NULL);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), stale);
    }
    return g_test_run();
}
