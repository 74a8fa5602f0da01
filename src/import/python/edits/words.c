/* Words of a statement's text: what an edit inside of a line takes out and puts in. */
#include "import/python/edits/spots.h"

#include <string.h>

static const char *behind_string(const char *at)
{
    const char quote = *at;
    const gboolean thrice = at[1] == quote && at[2] == quote;
    for (at += thrice ? 3 : 1; *at; at++) {
        if (*at == '\\' && at[1])
            at++;
        else if (*at == quote && (!thrice || (at[1] == quote && at[2] == quote)))
            return at + (thrice ? 3 : 1);
    }
    return at;
}

GArray *py_words(const char *text)
{
    static const char *const two[] = { "//", "**", "==", "!=", "<=", ">=", "<<", ">>", "->", ":=" };
    GArray *words = g_array_new(FALSE, FALSE, sizeof(PyWord));
    for (const char *at = text; *at;) {
        PyWord w = { (guint)(at - text), 1, PY_WORD_SIGN };
        if (g_ascii_isspace(*at) || *at == '\\') {
            at++;
            continue;
        }
        if (*at == '#') {
            at += strcspn(at, "\n");
            continue;
        }
        if (*at == '"' || *at == '\'') {
            at = behind_string(at);
            continue;
        }
        if (g_ascii_isalpha(*at) || *at == '_') {
            while (g_ascii_isalnum(at[w.length]) || at[w.length] == '_')
                w.length++;
            w.kind = PY_WORD_NAME;
        } else if (g_ascii_isdigit(*at)) {
            while (g_ascii_isalnum(at[w.length]) || at[w.length] == '.')
                w.length++;
            w.kind = strspn(at, "0123456789") == w.length ? PY_WORD_NUMBER : PY_WORD_SIGN;
        } else {
            for (guint i = 0; i < G_N_ELEMENTS(two); i++)
                w.length = g_str_has_prefix(at, two[i]) ? 2 : w.length;
        }
        g_array_append_val(words, w);
        at += w.length;
    }
    return words;
}

gboolean py_word_is(const char *text, const PyWord *w, const char *what)
{
    return strlen(what) == w->length && !strncmp(text + w->start, what, w->length);
}

char *py_words_replaced(const char *text, const PyWord *word, const PyWord *last, const char *put)
{
    return g_strdup_printf("%.*s%s%s", (int)word->start, text, put,
                           text + last->start + last->length);
}

GArray *py_word_arguments(const char *text, const GArray *words, guint open, guint *close)
{
    GArray *pairs = g_array_new(FALSE, FALSE, sizeof(guint));
    gint depth = 0;
    guint from = open + 1;
    *close = words->len;
    for (guint i = open; i < words->len; i++) {
        const PyWord *w = &g_array_index(words, PyWord, i);
        const char c = w->length == 1 ? text[w->start] : 0;
        depth += c && strchr("([{", c) ? 1 : 0;
        depth -= c && strchr(")]}", c) ? 1 : 0;
        if ((depth == 1 && c == ',') || depth == 0) {
            const guint to = i - 1;
            if (i > from) {
                g_array_append_val(pairs, from);
                g_array_append_val(pairs, to);
            }
            from = i + 1;
        }
        if (depth == 0) {
            *close = i;
            break;
        }
    }
    return pairs;
}

guint py_word_opens(const PySpot *s, const GArray *words)
{
    const WsPyNode *f = s->call ? s->call->kid[0] : NULL;
    if (!f || !f->text || (f->kind != WS_PY_ATTR && f->kind != WS_PY_NAME))
        return 0;
    for (guint i = 1; i < words->len; i++)
        if (py_word_is(s->text, &g_array_index(words, PyWord, i), "(") &&
            py_word_is(s->text, &g_array_index(words, PyWord, i - 1), f->text))
            return i;
    return 0;
}
