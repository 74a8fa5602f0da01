/* Edits inside of a statement: numbers, parities, names, slots. */
#include "import/python/edits/places.h"

#include <string.h>

static void put(PyEdits *e, const PySpot *s, guint cost, const PyWord *from, const PyWord *to,
                const char *text, const char *what)
{
    const guint length = to->start + to->length - from->start;
    if (py_edits_full(e) ||
        (strlen(text) == length && !strncmp(s->text + from->start, text, length)))
        return;
    g_autofree char *title =
        g_strdup_printf("%s: %.*s becomes %s", what, (int)length, s->text + from->start, text);
    py_edits_change(e, s, cost, py_words_replaced(s->text, from, to, text), title);
}

/* --- numbers ---------------------------------------------------------------------------------- */
static void numbers(PyEdits *e, const PySpot *s, const GArray *words)
{
    for (guint i = 0; i < words->len; i++) {
        const PyWord *w = py_word_at(words, i);
        if (w->kind != PY_WORD_NUMBER || w->length > 9)
            continue;
        const gint64 n = g_ascii_strtoll(s->text + w->start, NULL, 10);
        const gboolean bytes =
            s->role == PY_ROLE_EXPECT || strstr(s->text, "bytes") || strstr(s->text, "BYTES");
        const gboolean added = i > 0 && (py_word_is(s->text, py_word_at(words, i - 1), "+") ||
                                         py_word_is(s->text, py_word_at(words, i - 1), "-"));
        const guint more = s->role == PY_ROLE_BRANCH ? 25 : added ? 15 : 0;
        const struct {
            gint64 n;
            guint cost;
        } other[] = { { n + 1, bytes ? 40 : 10 }, { n - 1, bytes ? 40 : 10 },
                      { 2 * n, bytes ? 10 : 30 }, { n / 2, bytes ? 10 : 30 },
                      { 0, bytes ? 40 : 20 },     { 1, 20 } };
        for (guint k = 0; k < G_N_ELEMENTS(other); k++) {
            g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, other[k].n);
            if (other[k].n > 0 || (other[k].n == 0 && !added))
                put(e, s, other[k].cost + more, w, w, text, "a number");
        }
    }
}

/* The bytes of an expect become those that a finding says. */
static void said_bytes(PyEdits *e, const PySpot *s, const GArray *words)
{
    const guint open = s->role == PY_ROLE_EXPECT ? py_word_opens(s, words) : 0;
    guint close;
    g_autoptr(GArray) pairs = open ? py_word_arguments(s->text, words, open, &close) : NULL;
    if (!pairs || pairs->len < 4)
        return;
    guint from = g_array_index(pairs, guint, 2);
    const guint to = g_array_index(pairs, guint, 3);
    if (from + 2 <= to && py_word_is(s->text, py_word_at(words, from + 1), "="))
        from += 2;
    for (guint i = 0; i < e->hints->n_numbers; i++) {
        g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, e->hints->number[i]);
        put(e, s, 18, py_word_at(words, from), py_word_at(words, to), text, "the bytes");
    }
}

/* `+ 1`, `- 1`, `^ 1` and the like are left out, and signs exchanged. */
static void signs(PyEdits *e, const PySpot *s, const GArray *words)
{
    static const struct {
        const char *sign, *other;
    } rows[] = { { "+", "-" },  { "-", "+" },   { "<", "<=" },  { "<=", "<" }, { ">", ">=" },
                 { ">=", ">" }, { "==", "!=" }, { "!=", "==" }, { "%", "//" }, { "//", "%" } };
    for (guint i = 1; i + 1 < words->len; i++) {
        const PyWord *w = py_word_at(words, i), *next = py_word_at(words, i + 1);
        const gboolean drops = py_word_is(s->text, w, "+") || py_word_is(s->text, w, "-") ||
                               py_word_is(s->text, w, "^");
        const gboolean ends = i + 2 == words->len || py_word_at(words, i + 2)->kind == PY_WORD_SIGN;
        if (drops && next->kind != PY_WORD_SIGN && ends)
            put(e, s, 20, w, next, "", "left out");
        for (guint k = 0; w->kind == PY_WORD_SIGN && k < G_N_ELEMENTS(rows); k++)
            if (py_word_is(s->text, w, rows[k].sign))
                put(e, s, 40, w, w, rows[k].other, "a sign");
    }
}

/* --- names ------------------------------------------------------------------------------------ */
static void names(PyEdits *e, const PySpot *s, const GArray *words)
{
    GHashTable *const known[] = { e->spots->barrier, e->spots->buffer, e->spots->counter };
    for (guint i = 0; i < words->len; i++) {
        const PyWord *w = py_word_at(words, i);
        if (w->kind != PY_WORD_NAME)
            continue;
        g_autofree char *name = g_strndup(s->text + w->start, w->length);
        for (guint k = 0; k < G_N_ELEMENTS(known); k++) {
            if (!g_hash_table_contains(known[k], name))
                continue;
            GHashTableIter iter;
            gpointer other;
            g_hash_table_iter_init(&iter, known[k]);
            while (g_hash_table_iter_next(&iter, &other, NULL))
                put(e, s, k == 0 ? 20 : 30, w, w, other, "a name");
        }
    }
}

/* --- parities and slots: as they stand elsewhere in the file
 * ------------------------------------*/
static void replace(PyEdits *e, const PySpot *s, const GArray *words, guint from, guint to,
                    gboolean parity, gpointer data)
{
    const PyTexts *texts = data;
    const PyWord *a = py_word_at(words, from), *b = py_word_at(words, to);
    g_autofree char *now = py_text_of(s, words, from, to);
    static const char *const around[] = { "%s ^ 1", "(%s) ^ 1", "%s + 1", "%s - 1", "(%s) + 1" };
    for (guint i = 0; i < G_N_ELEMENTS(around); i++) {
        const gboolean bare = around[i][0] != '(';
        const gboolean simple = from == to || strchr(now, ')') == strrchr(now, ')');
        if ((!parity && strchr(around[i], '^')) || (bare && i > 0 && !simple) ||
            (!bare && simple && from == to))
            continue;
        g_autoptr(GString) text = g_string_new(around[i]);
        g_string_replace(text, "%s", now, 1);
        put(e, s, i < 2 ? 16 : 25, a, b, text->str, parity ? "the parity" : "the slot");
    }
    GHashTableIter iter;
    gpointer other;
    g_hash_table_iter_init(&iter, parity ? texts->parity : texts->index);
    while (g_hash_table_iter_next(&iter, &other, NULL))
        put(e, s, 22, a, b, other, parity ? "the parity" : "the slot");
}

/* Loops begin and end elsewhere. */
static void bounds(PyEdits *e, const PySpot *s, const GArray *words)
{
    for (guint i = 1; i < words->len; i++) {
        const PyWord *before = py_word_at(words, i - 1);
        if (!py_word_is(s->text, py_word_at(words, i), "(") || before->kind != PY_WORD_NAME ||
            !(py_word_is(s->text, before, "range") || py_word_is(s->text, before, "static_range")))
            continue;
        guint close;
        g_autoptr(GArray) pairs = py_word_arguments(s->text, words, i, &close);
        if (pairs->len >= 4)
            put(e, s, 20, py_word_at(words, g_array_index(pairs, guint, 0)),
                py_word_at(words, g_array_index(pairs, guint, 1)), "0", "the first round");
    }
}

void py_edits_inside(PyEdits *e)
{
    g_auto(PyTexts) texts = { 0 };
    py_texts(e->spots, -1, &texts);
    for (guint i = 0; i < e->spots->spot->len && !py_edits_full(e); i++) {
        const PySpot *s = py_spot(e->spots, i);
        if (s->role == PY_ROLE_NONE)
            continue;
        g_autoptr(GArray) words = py_words(s->text);
        py_each_part(e, s, words, replace, &texts);
        if (s->role != PY_ROLE_ACCESS) {
            said_bytes(e, s, words);
            numbers(e, s, words);
            signs(e, s, words);
        }
        names(e, s, words);
        if (s->role == PY_ROLE_LOOP)
            bounds(e, s, words);
    }
}
