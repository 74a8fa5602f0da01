#include "model/text.h"

#include <math.h>
#include <string.h>

void ws_text_json(GString *out, const char *s)
{
    if (!s) {
        g_string_append(out, "null");
        return;
    }
    g_string_append_c(out, '"');
    for (; *s; s++) {
        guchar c = (guchar)*s;
        if (c == '"' || c == '\\')
            g_string_append_printf(out, "\\%c", c);
        else if (c == '\n')
            g_string_append(out, "\\n");
        else if (c < 0x20)
            g_string_append_printf(out, "\\u%04x", c);
        else
            g_string_append_c(out, (char)c);
    }
    g_string_append_c(out, '"');
}

void ws_text_json_real(GString *out, double value)
{
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    if (!isfinite(value))
        g_string_append(out, "null");
    else
        g_string_append(out, g_ascii_formatd(buffer, sizeof buffer, "%.9g", value));
}

static guint edit_distance(const char *a, const char *b)
{
    gsize n = strlen(a), m = strlen(b);
    if (n > 64 || m > 64)
        return G_MAXUINT;
    guint row[65];
    for (gsize j = 0; j <= m; j++)
        row[j] = (guint)j;
    for (gsize i = 1; i <= n; i++) {
        guint diagonal = row[0];
        row[0] = (guint)i;
        for (gsize j = 1; j <= m; j++) {
            guint above = row[j];
            guint change = diagonal + (a[i - 1] != b[j - 1]);
            row[j] = MIN(MIN(above, row[j - 1]) + 1, change);
            diagonal = above;
        }
    }
    return row[m];
}

const char *ws_text_nearest(const char *word, const char *const *words, guint n)
{
    const char *best = NULL;
    guint limit = (guint)MAX(1, strlen(word) / 3), best_distance = limit + 1;
    for (guint i = 0; i < n; i++) {
        guint d = edit_distance(word, words[i]);
        if (d < best_distance) {
            best_distance = d;
            best = words[i];
        }
    }
    return best;
}
