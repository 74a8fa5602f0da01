#include "import/recognise.h"

#include <string.h>

/* Accesses of global memory whose addresses were not read. No step of the design stands for them,
 * so that nothing else judges them. */

#define MOST_SAID 8 /* lines that the verdict names */

static gint by_number(gconstpointer a, gconstpointer b)
{
    const guint x = *(const guint *)a, y = *(const guint *)b;
    return x < y ? -1 : x > y;
}

void ws_source_away(WsRead *r, guint line)
{
    g_array_append_val(r->away, line);
}

static void say_line(const WsRead *r, guint line, GString *to)
{
    const WsReadFile *of = ws_source_file(r, line);
    if (of)
        g_string_append_printf(to, "%s:%u", of->name, line - of->first + 1);
    else
        g_string_append_printf(to, "%u", line);
}

void ws_source_say_lines(const WsRead *r, const GArray *lines, guint most, GString *to)
{
    g_string_append(to, lines->len > 1 ? "lines " : "line ");
    for (guint i = 0; i < MIN(lines->len, most); i++) {
        g_string_append(to, !i ? "" : i + 1 == lines->len ? " and " : ", ");
        say_line(r, g_array_index(lines, guint, i), to);
    }
    if (lines->len > most)
        g_string_append_printf(to, " and %u more", lines->len - most);
}

void ws_source_grant_away(WsRead *r)
{
    g_array_sort(r->away, by_number);
    guint n = 0;
    for (guint i = 0; i < r->away->len; i++)
        if (!i || g_array_index(r->away, guint, i) != g_array_index(r->away, guint, i - 1))
            g_array_index(r->away, guint, n++) = g_array_index(r->away, guint, i);
    g_array_set_size(r->away, n);
    if (!n)
        return;
    g_autoptr(GString) lines = g_string_new(NULL);
    ws_source_say_lines(r, r->away, MOST_SAID, lines);
    ws_source_granted(r, ws_source_format(r,
                                          "accesses to global memory whose addresses were not "
                                          "read (%s) do not race",
                                          lines->str));
}
