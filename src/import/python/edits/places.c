/* Slots and parities of synchronising statements, as they are written. */
#include "import/python/edits/places.h"

#include <string.h>

const PyWord *py_word_at(const GArray *words, guint i)
{
    return i < words->len ? &g_array_index(words, PyWord, i) : NULL;
}

char *py_text_of(const PySpot *s, const GArray *words, guint from, guint to)
{
    const PyWord *a = py_word_at(words, from), *b = py_word_at(words, to);
    return g_strndup(s->text + a->start, b->start + b->length - a->start);
}

/* Whether a bracket holds which slot is meant: X.index(…), X[…], local_view(X, …). */
static gboolean is_place(const PySpots *spots, const PySpot *s, const GArray *words, guint open,
                         gboolean *second)
{
    const PyWord *before = py_word_at(words, open - 1), *w = py_word_at(words, open);
    *second = FALSE;
    if (!before || before->kind != PY_WORD_NAME)
        return FALSE;
    if (py_word_is(s->text, w, "[")) {
        g_autofree char *name = g_strndup(s->text + before->start, before->length);
        return g_hash_table_contains(spots->barrier, name) ||
               g_hash_table_contains(spots->buffer, name);
    }
    *second = py_word_is(s->text, before, "local_view");
    return py_word_is(s->text, w, "(") &&
           (*second || py_word_is(s->text, before, "index") || py_word_is(s->text, before, "slot"));
}

void py_each_part(PyEdits *e, const PySpot *s, const GArray *words, PyEachPart act, gpointer data)
{
    for (guint i = 1; i < words->len; i++) {
        gboolean second;
        guint close;
        if (!is_place(e->spots, s, words, i, &second))
            continue;
        g_autoptr(GArray) pairs = py_word_arguments(s->text, words, i, &close);
        const guint k = second ? 2 : 0;
        if (pairs->len > k + 1)
            act(e, s, words, g_array_index(pairs, guint, k), g_array_index(pairs, guint, k + 1),
                FALSE, data);
    }
    const guint open =
        s->role == PY_ROLE_WAIT || s->role == PY_ROLE_TURN || s->role == PY_ROLE_ARRIVE
            ? py_word_opens(s, words)
            : 0;
    guint close;
    g_autoptr(GArray) pairs = open ? py_word_arguments(s->text, words, open, &close) : NULL;
    const guint last = pairs ? pairs->len / 2 : 0;
    if (!last || (s->role != PY_ROLE_TURN && last < 2))
        return;
    guint from = g_array_index(pairs, guint, 2 * last - 2),
          to = g_array_index(pairs, guint, 2 * last - 1);
    for (guint k = from; k + 1 <= to; k++) /* behind phaseIdx= */
        if (py_word_is(s->text, py_word_at(words, k), "=")) {
            if (s->role == PY_ROLE_ARRIVE &&
                !py_word_is(s->text, py_word_at(words, k - 1), "phaseIdx"))
                return;
            from = k + 1;
            break;
        }
    if (s->role != PY_ROLE_ARRIVE || from != g_array_index(pairs, guint, 2 * last - 2))
        act(e, s, words, from, to, TRUE, data);
}

static void collect(PyEdits *e, const PySpot *s, const GArray *words, guint from, guint to,
                    gboolean parity, gpointer data)
{
    (void)e;
    const PyTexts *t = data;
    g_hash_table_add(parity ? t->parity : t->index, py_text_of(s, words, from, to));
}

static GHashTable *set_of_texts(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void py_texts(const PySpots *spots, gint function, PyTexts *t)
{
    if (!t->parity)
        *t = (PyTexts){ set_of_texts(), set_of_texts() };
    PyEdits e = { .spots = spots };
    for (guint i = 0; i < spots->spot->len; i++) {
        const PySpot *s = py_spot(spots, i);
        if (s->role == PY_ROLE_NONE || (function >= 0 && s->function != (guint)function))
            continue;
        g_autoptr(GArray) words = py_words(s->text);
        py_each_part(&e, s, words, collect, t);
    }
}

void py_texts_clear(PyTexts *t)
{
    g_clear_pointer(&t->parity, g_hash_table_unref);
    g_clear_pointer(&t->index, g_hash_table_unref);
}
