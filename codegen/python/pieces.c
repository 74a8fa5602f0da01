#include "codegen/python/pieces.h"
#include "codegen/fold.h"

#include <string.h>

WsPyPieces *ws_py_pieces_new(void)
{
    WsPyPieces *p = g_new0(WsPyPieces, 1);
    p->piece = g_ptr_array_new_with_free_func(g_free);
    p->frozen = g_array_new(FALSE, FALSE, sizeof(gboolean));
    return p;
}

void ws_py_pieces_free(WsPyPieces *p)
{
    if (!p)
        return;
    g_ptr_array_unref(p->piece);
    g_array_unref(p->frozen);
    g_free(p);
}

void ws_py_pieces_add(WsPyPieces *p, const char *text, gboolean frozen)
{
    g_ptr_array_add(p->piece, g_strdup(text));
    g_array_append_val(p->frozen, frozen);
}

const char *ws_py_next_integer(WsPyCursor *at)
{
    const char *c = at->c;
    while (*c) {
        at->comment = *c == '#' || (at->comment && *c != '\n');
        if (!at->comment && (*c == '"' || *c == '\'')) {
            const char *close = strchr(c + 1, *c);
            c = close ? close + 1 : c + strlen(c);
        } else if (ws_fold_word_char(*c)) {
            const char *begin = c;
            gboolean integer = TRUE;
            for (; ws_fold_word_char(*c) || (*c == '.' && g_ascii_isdigit(*begin)); c++)
                integer = integer && g_ascii_isdigit(*c);
            if (integer && c - begin < 12) {
                at->c = c;
                return begin;
            }
        } else {
            c++;
        }
    }
    return NULL;
}

#define AN_INTEGER     '\x02'
#define END_OF_A_PIECE '\x03'

static void take(WsPyIntegers *n, const char *text, gboolean frozen)
{
    GString *s = g_string_new(NULL);
    const char *from = text;
    WsPyCursor at = { text, FALSE };
    g_array_append_val(n->first, n->value->len);
    for (const char *c; (c = ws_py_next_integer(&at)); from = at.c) {
        gint64 v = g_ascii_strtoll(c, NULL, 10);
        g_array_append_val(n->value, v);
        g_array_append_val(n->frozen, frozen);
        g_string_append_len(s, from, c - from);
        g_string_append_c(s, AN_INTEGER);
    }
    g_string_append(s, from);
    g_string_append_len(n->shape, s->str, (gssize)s->len);
    g_string_append_c(n->shape, END_OF_A_PIECE);
    g_string_free(s, TRUE);
}

WsPyIntegers *ws_py_integers(const WsPyPieces *p)
{
    WsPyIntegers *n = g_new0(WsPyIntegers, 1);
    n->value = g_array_new(FALSE, FALSE, sizeof(gint64));
    n->first = g_array_new(FALSE, FALSE, sizeof(guint));
    n->frozen = g_array_new(FALSE, FALSE, sizeof(gboolean));
    n->shape = g_string_new(NULL);
    for (guint i = 0; i < p->piece->len; i++)
        take(n, p->piece->pdata[i], g_array_index(p->frozen, gboolean, i));
    return n;
}

void ws_py_integers_free(WsPyIntegers *n)
{
    if (!n)
        return;
    g_array_unref(n->value);
    g_array_unref(n->first);
    g_array_unref(n->frozen);
    g_string_free(n->shape, TRUE);
    g_free(n);
}
