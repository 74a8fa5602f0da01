#include "base/text.h"

#include <math.h>
#include <string.h>

/* One character beyond ASCII: file names may be any bytes, JSON is UTF-8. How many were taken. */
static gsize append_wide(GString *out, const char *s)
{
    const gunichar c = g_utf8_get_char_validated(s, -1);
    const gboolean valid = c != (gunichar)-1 && c != (gunichar)-2;
    const gsize n = valid ? (gsize)(g_utf8_next_char(s) - s) : 1;
    g_string_append_len(out, valid ? s : "\357\277\275", valid ? (gssize)n : 3); /* U+FFFD */
    return n;
}

void ws_text_json(GString *out, const char *s)
{
    if (!s) {
        g_string_append(out, "null");
        return;
    }
    g_string_append_c(out, '"');
    for (; *s; s++) {
        static const char plain[] = "\b\f\n\r\t\"\\", letter[] = "bfnrt\"\\";
        const char *special = strchr(plain, *s);
        if (special != NULL)
            g_string_append_printf(out, "\\%c", letter[special - plain]);
        else if ((guchar)*s < 0x20)
            g_string_append_printf(out, "\\u%04x", (guint)(guchar)*s);
        else if ((guchar)*s < 0x80)
            g_string_append_c(out, *s);
        else
            s += append_wide(out, s) - 1;
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

/* Edit distance with swaps of neighbours; words longer than 32 bytes are never near. */
static guint distance(const char *a, const char *b)
{
    const guint n = (guint)strlen(a), m = (guint)strlen(b);
    guint row[3][33];
    if (n > 32 || m > 32)
        return G_MAXUINT;
    for (guint j = 0; j <= m; j++)
        row[0][j] = j;
    for (guint i = 1; i <= n; i++) {
        guint *now = row[i % 3], *before = row[(i + 2) % 3], *two = row[(i + 1) % 3];
        now[0] = i;
        for (guint j = 1; j <= m; j++) {
            const guint change = before[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = MIN(MIN(before[j] + 1, now[j - 1] + 1), change);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = MIN(now[j], two[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

const char *ws_text_nearest(const char *word, const char *const *words, guint n)
{
    const char *best = NULL;
    guint best_distance = MAX(1, (guint)strlen(word) / 2) + 1;
    for (guint i = 0; i < n; i++) {
        const guint d = distance(word, words[i]);
        if (d < best_distance && d < MAX(strlen(words[i]), strlen(word))) {
            best = words[i];
            best_distance = d;
        }
    }
    return best;
}
