#include "import/python/dialect/pyread_terms.h"

/* Barriers and fences that no word of the source asks for: the compiler puts them inside of one
 * partition, before what one thread does about memory that all have used. They are proved with, so
 * the verdict says where. */

enum { LINES = 4 };

static gint by_line(gconstpointer a, gconstpointer b)
{
    const guint x = *(const guint *)a, y = *(const guint *)b;
    return x < y ? -1 : x > y;
}

static void collect(const GPtrArray *list, WsReadKind kind, GArray *lines)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        gboolean known = s->off || !s->implied || s->kind != kind;
        for (guint k = 0; k < lines->len && !known; k++)
            known = g_array_index(lines, guint, k) == s->line;
        if (!known)
            g_array_append_val(lines, s->line);
        collect(s->body, kind, lines);
        collect(s->other, kind, lines);
    }
}

static void grant(WsRead *r, WsReadKind kind, const char *what)
{
    g_autoptr(GArray) lines = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(GString) text = g_string_new(what);
    for (guint g = 0; g < r->groups->len; g++)
        collect(((const WsReadGroup *)g_ptr_array_index(r->groups, g))->body, kind, lines);
    if (!lines->len)
        return;
    g_array_sort(lines, by_line);
    g_string_append(text, " before ");
    ws_source_say_lines(r, lines, LINES, text);
    ws_source_granted(r, text->str);
}

void py_finish_implied(PyRead *p)
{
    grant(p->r, WS_READ_SYNC, "the compiler puts a barrier of the partition");
    grant(p->r, WS_READ_FENCE, "the compiler puts a fence of the async proxy");
}
