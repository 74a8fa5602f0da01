#include "codegen/fold.h"

#include <string.h>

gboolean ws_fold_word_char(char c)
{
    return g_ascii_isalnum(c) || c == '_';
}

gboolean ws_fold_mentions(const char *text, const char *word)
{
    gsize n = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += n) {
        if ((at == text || (!ws_fold_word_char(at[-1]) && at[-1] != '.')) &&
            !ws_fold_word_char(at[n]))
            return TRUE;
    }
    return FALSE;
}

/* One token at *at: an integer literal, or anything else as its characters. */
typedef struct {
    const char *s;
    gsize n;
    gboolean integer, immediate;
    gint64 value;
} Token;

static gboolean next_token(const char **at, Token *t)
{
    const char *c = *at;
    *t = (Token){ .s = c };
    if (!*c)
        return FALSE;
    if (*c == WS_FOLD_IMMEDIATE[0]) {
        t->immediate = TRUE;
        t->s = ++c;
    }
    if (g_ascii_isdigit(*c)) {
        const char *end = c;
        while (ws_fold_word_char(*end) || *end == '.')
            end++;
        t->n = (gsize)(end - c);
        t->integer = TRUE;
        for (gsize i = 0; i < t->n; i++)
            t->integer = t->integer && g_ascii_isdigit(c[i]);
        t->integer = t->integer && t->n < 12;
        t->value = t->integer ? g_ascii_strtoll(c, NULL, 10) : 0;
    } else if (ws_fold_word_char(*c)) {
        while (ws_fold_word_char(c[t->n]))
            t->n++;
    } else {
        t->n = 1;
    }
    *at = t->s + t->n;
    return TRUE;
}

static void append_affine(GString *s, gint64 first, gint64 step, const char *index)
{
    if (first == 0 && step == 1)
        g_string_append(s, index);
    else if (first == 0)
        g_string_append_printf(s, "(%s * %" G_GINT64_FORMAT ")", index, step);
    else if (step == 1)
        g_string_append_printf(s, "(%" G_GINT64_FORMAT " + %s)", first, index);
    else if (step == -1)
        g_string_append_printf(s, "(%" G_GINT64_FORMAT " - %s)", first, index);
    else
        g_string_append_printf(s,
                               step < 0 ? "(%" G_GINT64_FORMAT " + %s * (%" G_GINT64_FORMAT "))"
                                        : "(%" G_GINT64_FORMAT " + %s * %" G_GINT64_FORMAT ")",
                               first, index, step);
}

/* The n tokens as one: FALSE if they differ in more than equal steps of an integer. */
static gboolean fold_token(GString *s, const Token *t, guint n, const char *index,
                           gboolean immediates)
{
    gboolean same = TRUE, numbers = TRUE;
    for (guint i = 0; i < n; i++) {
        if (t[i].immediate != t[0].immediate)
            return FALSE;
        same = same && t[i].n == t[0].n && memcmp(t[i].s, t[0].s, t[0].n) == 0;
        numbers = numbers && t[i].integer;
    }
    if (t[0].immediate)
        g_string_append(s, WS_FOLD_IMMEDIATE);
    if (same) {
        g_string_append_len(s, t[0].s, (gssize)t[0].n);
        return TRUE;
    }
    gint64 step = t[1].value - t[0].value;
    for (guint i = 2; numbers && i < n; i++)
        numbers = t[i].value - t[i - 1].value == step;
    if (!numbers || (t[0].immediate && !immediates))
        return FALSE;
    append_affine(s, t[0].value, step, index);
    return TRUE;
}

char *ws_fold_text(const char *const *copy, guint n, const char *index, gboolean immediates)
{
    if (n < 2)
        return NULL;
    g_autofree const char **at = g_new(const char *, n);
    g_autofree Token *t = g_new(Token, n);
    GString *s = g_string_new(NULL);
    gboolean equal = TRUE;
    memcpy(at, copy, n * sizeof *at);
    while (equal && next_token(&at[0], &t[0])) {
        for (guint i = 1; i < n && equal; i++)
            equal = next_token(&at[i], &t[i]);
        equal = equal && fold_token(s, t, n, index, immediates);
    }
    for (guint i = 1; i < n; i++)
        equal = equal && !*at[i];
    return g_string_free(s, !equal);
}

char *ws_fold_shape(const char *text)
{
    GString *s = g_string_new(NULL);
    Token t;
    while (next_token(&text, &t)) {
        if (t.integer)
            g_string_append_c(s, '#');
        else
            g_string_append_len(s, t.s, (gssize)t.n);
    }
    return g_string_free(s, FALSE);
}

char *ws_fold_without_zeros(const char *text)
{
    GString *s = g_string_new(NULL);
    for (const char *c = text; *c; c++) {
        if (*c == WS_FOLD_IMMEDIATE[0])
            continue;
        if (strncmp(c, " + 0", 4) == 0 && !ws_fold_word_char(c[4]) && c[4] != '.' &&
            !(c[4] == ' ' && strchr("*/%", c[5]))) {
            c += 3;
            continue;
        }
        g_string_append_c(s, *c);
    }
    return g_string_free(s, FALSE);
}
