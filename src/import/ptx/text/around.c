#include "import/ptx/text/ptx.h"

#include <string.h>

/* What stands around the kernel: the files that it comes from, functions beside it. */

const char *ws_ptx_keep(WsPtx *p, const char *text, gsize n)
{
    while (n && g_ascii_isspace(*text))
        text++, n--;
    while (n && g_ascii_isspace(text[n - 1]))
        n--;
    return g_string_chunk_insert_len(p->text, text, (gssize)n);
}

gboolean ws_ptx_is_name(char c)
{
    return g_ascii_isalnum(c) || c == '_' || c == '$' || c == '%';
}

/* `.file 1 "/a/b.cu"` anywhere in the text: at its end, as a rule. */
static void find_files(WsPtx *p, const char *text, const char *end)
{
    for (const char *at = text; (at = g_strstr_len(at, end - at, "\t.file")); at += 6) {
        char *name;
        const guint64 number = g_ascii_strtoull(at + 6, &name, 10);
        const char *open = name < end ? memchr(name, '"', end - name) : NULL;
        const char *close = open ? memchr(open + 1, '"', end - open - 1) : NULL;
        if (!close)
            return;
        g_autofree char *path = g_strndup(open + 1, close - open - 1);
        g_autofree char *base = g_path_get_basename(path);
        g_autofree char *key = g_strdup_printf("%" G_GUINT64_FORMAT, number);
        g_hash_table_insert(p->files, (gpointer)ws_ptx_keep(p, key, strlen(key)),
                            (gpointer)ws_ptx_keep(p, base, strlen(base)));
    }
}

/* ".func (…) name(…)": all its words, of which one is the name of a function that the text has,
 * whatever the machine's of that name does. */
static void find_functions(WsPtx *p, const char *text, const char *end)
{
    for (const char *at = text; (at = g_strstr_len(at, end - at, ".func")); at += 5) {
        const char *from = at;
        while (from > text && !strchr(";}\n", from[-1]))
            from--;
        if (g_strstr_len(from, at - from, ".extern"))
            continue;
        for (const char *word = at + 5; word < end && !strchr("{;", *word);) {
            gsize n = 0;
            while (word + n < end && ws_ptx_is_name(word[n]))
                n++;
            if (n)
                g_hash_table_add(p->own, (gpointer)ws_ptx_keep(p, word, n));
            word += MAX(n, 1);
        }
    }
}

void ws_ptx_around(WsPtx *p, const char *text, const char *end)
{
    find_files(p, text, end);
    find_functions(p, text, end);
}
