/* Unified difference of two texts that differ in few places. */
#include "import/edits.h"

#include <string.h>

enum { AROUND = 3 };

typedef struct {
    char **a, **b;
    guint n, m;      /* lines; the end of line of the last one counts as no line */
    gboolean ea, eb; /* whether the last line ends */
} Texts;

static guint lines_of(char **line, const char *text, gboolean *ends)
{
    guint n = g_strv_length(line);
    *ends = !*text || g_str_has_suffix(text, "\n");
    return *ends && n ? n - 1 : n;
}

/* Whether line i of one and j of the other are the same, the end of the last one included. */
static gboolean same(const Texts *t, guint i, guint j)
{
    const gboolean ends_a = i + 1 < t->n || t->ea, ends_b = j + 1 < t->m || t->eb;
    return ends_a == ends_b && !strcmp(t->a[i], t->b[j]);
}

static void put_line(GString *out, char sign, const char *line, gboolean ends)
{
    g_string_append_printf(out, "%c%s\n", sign, line);
    if (!ends)
        g_string_append(out, "\\ No newline at end of file\n");
}

typedef struct {
    guint a, na, b, nb; /* lines from a on become lines from b on */
} Change;

/* Changes in the order of the text: what begins and ends alike is cut off, the rest by the longest
 * common part, or as one change where that would take long. */
static GArray *changes_of(const Texts *t)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(Change));
    guint head = 0, tail = 0;
    while (head < t->n && head < t->m && same(t, head, head))
        head++;
    while (tail < t->n - head && tail < t->m - head && same(t, t->n - 1 - tail, t->m - 1 - tail))
        tail++;
    const guint n = t->n - head - tail, m = t->m - head - tail;
    if (!n && !m)
        return list;
    if ((guint64)n * m > 4000000) {
        const Change all = { head, n, head, m };
        g_array_append_val(list, all);
        return list;
    }
    const gsize w = m + 1;
    g_autofree guint *common = g_new0(guint, (n + 1) * w);
    for (guint i = n; i-- > 0;)
        for (guint j = m; j-- > 0;)
            common[i * w + j] = same(t, head + i, head + j)
                                    ? common[(i + 1) * w + j + 1] + 1
                                    : MAX(common[(i + 1) * w + j], common[i * w + j + 1]);
    for (guint i = 0, j = 0; i < n || j < m;) {
        if (i < n && j < m && same(t, head + i, head + j)) {
            i++, j++;
            continue;
        }
        Change c = { head + i, 0, head + j, 0 };
        while ((i < n || j < m) && !(i < n && j < m && same(t, head + i, head + j))) {
            if (i < n && (j == m || common[(i + 1) * w + j] >= common[i * w + j + 1]))
                i++, c.na++;
            else
                j++, c.nb++;
        }
        g_array_append_val(list, c);
    }
    return list;
}

static void put_range(GString *out, char sign, guint from, guint count)
{
    if (count == 1)
        g_string_append_printf(out, "%c%u", sign, from + 1);
    else
        g_string_append_printf(out, "%c%u,%u", sign, count ? from + 1 : from, count);
}

/* Changes first … last of the list, which stand close, with what is around them. */
static void put_group(GString *out, const Texts *t, const Change *first, const Change *last)
{
    const guint before = MIN(first->a, AROUND), after = MIN(t->n - last->a - last->na, AROUND);
    const guint a = first->a - before, b = first->b - before;
    g_string_append(out, "@@ ");
    put_range(out, '-', a, last->a + last->na + after - a);
    g_string_append_c(out, ' ');
    put_range(out, '+', b, last->b + last->nb + after - b);
    g_string_append(out, " @@\n");
    guint i = a;
    for (const Change *c = first; c <= last; c++) {
        for (; i < c->a; i++)
            put_line(out, ' ', t->a[i], i + 1 < t->n || t->ea);
        for (guint k = 0; k < c->na; k++, i++)
            put_line(out, '-', t->a[i], i + 1 < t->n || t->ea);
        for (guint k = 0; k < c->nb; k++)
            put_line(out, '+', t->b[c->b + k], c->b + k + 1 < t->m || t->eb);
    }
    for (guint k = 0; k < after; k++, i++)
        put_line(out, ' ', t->a[i], i + 1 < t->n || t->ea);
}

char *ws_import_difference(const char *before, const char *after, const char *file)
{
    g_auto(GStrv) a = g_strsplit(before, "\n", -1);
    g_auto(GStrv) b = g_strsplit(after, "\n", -1);
    Texts t = { .a = a, .b = b };
    t.n = lines_of(a, before, &t.ea);
    t.m = lines_of(b, after, &t.eb);
    g_autoptr(GArray) changes = changes_of(&t);
    GString *out = g_string_new(NULL);
    g_autofree char *name = g_strdup(file);
    for (char *at = name; *at; at++)
        if ((guchar)*at < ' ') /* a header is one line */
            *at = '?';
    if (changes->len)
        g_string_append_printf(out, "--- %s\n+++ %s\n", name, name);
    for (guint i = 0; i < changes->len;) {
        guint k = i;
        const Change *c = &g_array_index(changes, Change, 0);
        while (k + 1 < changes->len && c[k + 1].a - (c[k].a + c[k].na) <= 2 * AROUND)
            k++;
        put_group(out, &t, &c[i], &c[k]);
        i = k + 1;
    }
    return g_string_free(out, FALSE);
}
