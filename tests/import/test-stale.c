/* Python that uses a name's former value after it was assigned anew: what the reader kept of it is
 * another value by then, so that nothing may be called proved that is made of it. */
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#define HISTOGRAM "tests/import/tle/names/histogram.py"
#define LINES     "tests/import/tle/stale.txt"
#define SUMMED    "tests/import/tle/summed.txt"
#define TURNED    "tests/import/tle/turned.txt"
#define AGAIN     "value = tl.load(x + (k * 256 + bins), mask=(k * 256 + bins) < n, other=0)\n"
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
    { "mask-before-a-load", "m = (value >= 0) & (value < 256)\n" AGAIN ADD, FALSE },
    { "mask-behind-a-load", AGAIN "m = (value >= 0) & (value < 256)\n" ADD, TRUE },
    { "pointer-before-a-load",
      "ptr = tle.gpu.local_ptr(hist, (value & 255,))\n" AGAIN "tl.atomic_add(ptr, 1, mask=there)\n",
      FALSE },
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

/* Rows of stale.def, turned.def and summed.def: what is read of the lines, step by step, or why
 * they are not.
 */
static const struct {
    const char *file, *name, *body, *steps, *why;
} lines[] = {
#define READ(name, body, steps) { LINES, name, body, steps, NULL },
#define FORMER(name, body, why) { LINES, name, body, NULL, why },
#include "stale.def"
#undef READ
#undef FORMER
#define READ(name, body, steps)                                                                    \
    { TURNED, "turned/" name, body, "read tile x; read a w; " steps "; write out y", NULL },
#define LOST(name, body, why) { TURNED, "turned/" name, body, NULL, why },
#include "turned.def"
#undef READ
#undef LOST
#define READ(name, body, steps) { SUMMED, "summed/" name, body, "acc = 0.0; for k; " steps, NULL },
#define LOST(name, body, why)   { SUMMED, "summed/" name, body, NULL, why },
#include "summed.def"
#undef READ
#undef LOST
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

/* What the command says of the text. Caller frees. */
static char *said(const char *command, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = NULL;
    char *out = NULL;
    const int fd = g_file_open_tmp("stale-XXXXXX.py", &path, &error);
    g_assert_no_error(error);
    g_close(fd, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    g_autoptr(GSubprocess) p =
        g_subprocess_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE, &error,
                         WS_BUILD_ROOT "/bin/warpstave", command, path, "--from", "tle", NULL);
    g_assert_no_error(error);
    g_assert_true(g_subprocess_communicate_utf8(p, NULL, NULL, &out, NULL, &error));
    g_test_message("%s", out);
    g_unlink(path);
    return out;
}

static void stale(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = kernel_with(rows[i].round), *out = said("check", text);
    g_assert_cmpint(strstr(out, ": proved") != NULL, ==, rows[i].read);
}

/* The line with X and Z for loads and `S e` for a store. */
static void add_line(GString *to, const char *line)
{
    const gsize blanks = strspn(line, " ");
    const gboolean stores = g_str_has_prefix(line + blanks, "S ");
    g_string_append_printf(to, "    %.*s%s", (int)blanks, line, stores ? "tl.store(y + at, " : "");
    for (const char *at = line + blanks + (stores ? 2 : 0); *at; at++) {
        const gboolean alone = !g_ascii_isalnum(at[1]) && !g_ascii_isalnum(at[-(at > line)]);
        if (alone && (*at == 'X' || *at == 'Z'))
            g_string_append_printf(to, "tl.load(%c + at, mask=m, other=0.0)",
                                   *at == 'X' ? 'x' : 'z');
        else
            g_string_append_c(to, *at);
    }
    g_string_append(to, stores ? ", mask=m)\n" : "\n");
}

/* "read a x; b = a*2.0; write b y" of the steps of a design as text. Caller frees. */
static char *steps_of(const char *design)
{
    GString *all = g_string_new(NULL);
    g_auto(GStrv) line = g_strsplit(design, "\n", -1);
    g_autoptr(GRegex) step = g_regex_new(
        "\\{ \"(read|compute|write|for|if)\": \"([^\"]*)\"(?:, \"(?:from|to)\": \"([^\"]*)\")?", 0,
        0, NULL);
    for (guint i = 0; line[i]; i++) {
        g_autoptr(GMatchInfo) match = NULL;
        const char *between = all->len ? "; " : "";
        if (g_regex_match(step, line[i], 0, &match)) {
            g_autofree char *kind = g_match_info_fetch(match, 1);
            g_autofree char *what = g_match_info_fetch(match, 2);
            g_autofree char *where = g_match_info_fetch(match, 3);
            const gboolean plain = !strcmp(kind, "compute");
            g_string_append_printf(all, "%s%s%s%s%s%s", between, plain ? "" : kind,
                                   plain ? "" : " ", what, where && *where ? " " : "",
                                   where ? where : "");
        }
        if (strstr(line[i], "\"else\""))
            g_string_append_printf(all, "%selse", all->len ? "; " : "");
    }
    return g_string_free(all, FALSE);
}

static void lines_read(gconstpointer data)
{
    const guint row = GPOINTER_TO_UINT(data);
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, lines[row].file, NULL), *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    const char *at = strstr(text, "    BODY\n");
    g_assert_nonnull(at);
    g_autoptr(GString) made = g_string_new_len(text, at - text);
    g_auto(GStrv) line = g_strsplit(lines[row].body, "\n", -1);
    for (guint i = 0; line[i]; i++)
        add_line(made, line[i]);
    g_string_append(made, at + strlen("    BODY\n"));
    g_autofree char *out = said("import", made->str), *steps = steps_of(out);
    if (lines[row].steps) {
        g_assert_null(strstr(out, "former value"));
        g_assert_cmpstr(steps, ==, lines[row].steps);
    } else {
        g_assert_nonnull(strstr(out, lines[row].why));
        g_assert_true(!strstr(out, ": proved") || !strcmp(lines[row].file, LINES));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strconcat("/import/stale/", rows[i].name, NULL);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), stale);
    }
    for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
        g_autofree char *path = g_strconcat("/import/stale/", lines[i].name, NULL);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), lines_read);
    }
    return g_test_run();
}
