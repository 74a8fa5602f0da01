#include "package/template.h"

#include <string.h>

char *ws_template_fill(const char *text, GHashTable *values)
{
    GString *out = g_string_new(NULL);
    for (const char *p = text; *p;) {
        gsize n = *p == '@' ? strspn(p + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") : 0;
        g_autofree char *word = n && p[n + 1] == '@' ? g_strndup(p + 1, n) : NULL;
        const char *value = word ? g_hash_table_lookup(values, word) : NULL;
        if (value) {
            g_string_append(out, value);
            p += n + 2;
        } else {
            g_string_append_c(out, *p++);
        }
    }
    return g_string_free(out, FALSE);
}
