#include "codegen/words.h"
#include "model/reserved.h"

#include <string.h>

void ws_words_comment(GString *out, guint depth, const char *sign, guint width, const char *text,
                      const char *forbidden)
{
    width -= MIN(4 * depth, 40);
    while (*text) {
        gsize n = strlen(text), cut = MIN(n, width);
        while (cut < n && cut > 0 && text[cut] != ' ')
            cut--;
        if (cut == 0)
            cut = MIN(n, width);
        g_string_append_printf(out, "%*s%s", (int)(4 * depth), "", sign);
        for (gsize i = 0; i < cut; i++) {
            gboolean plain = g_ascii_isprint(text[i]) && !strchr(forbidden, text[i]);
            g_string_append_c(out, plain ? text[i] : '?');
        }
        g_string_append_c(out, '\n');
        text += cut;
        while (*text == ' ' || *text == '\n')
            text++;
    }
}

/* `name` of letters, digits and '_' that does not begin with a digit. Caller frees. */
static GString *ident_of(const char *name)
{
    GString *s = g_string_new(NULL);
    for (const char *at = name; *at; at++)
        g_string_append_c(s, g_ascii_isalnum(*at) ? *at : '_');
    if (!s->len || g_ascii_isdigit(s->str[0]))
        g_string_prepend_c(s, '_');
    return s;
}

#define TITLE_MOST 60

GString *ws_words_title(const char *title)
{
    GString *s = g_string_new(NULL);
    for (const char *at = title; *at && s->len < TITLE_MOST; at++) {
        if (g_ascii_isalnum(*at))
            g_string_append_c(s, g_ascii_tolower(*at));
        else if (s->len && s->str[s->len - 1] != '_')
            g_string_append_c(s, '_');
    }
    if (s->len && s->str[s->len - 1] == '_')
        g_string_truncate(s, s->len - 1);
    if (!s->len || g_ascii_isdigit(s->str[0]))
        g_string_prepend(s, "kernel_");
    return s;
}

/* " a b c " holds it as a word of its own. */
static gboolean holds_word(const char *words, const char *word)
{
    g_autofree char *whole = g_strdup_printf(" %s ", word);
    return strstr(words, whole) != NULL;
}

GString *ws_words_free_ident(const char *name, const char *words, guint languages)
{
    GString *s = ident_of(name);
    gsize n = s->len;
    while (n > 1 && s->str[n - 1] == '_')
        n--;
    g_autofree char *bare = g_strndup(s->str, n);
    if (g_str_has_prefix(bare, "__") || holds_word(words, bare) || ws_reserved(languages, bare))
        g_string_append_c(s, '_');
    return s;
}

const char *ws_raw_element(WsDtype dtype)
{
    return dtype == WS_DTYPE_F32 || dtype == WS_DTYPE_TF32 ? "float"
           : dtype == WS_DTYPE_I32                         ? "int"
           : dtype == WS_DTYPE_I8                          ? "signed char"
           : ws_dtype_bytes(dtype) == 2                    ? "unsigned short"
                                                           : "unsigned char";
}
