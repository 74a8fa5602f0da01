/* Edits that add a statement: one that stands elsewhere, or a wait or an arrival put together from
 * what the file calls its barriers, slots and parities. */
#include "import/python/edits/places.h"

#include <string.h>

enum { MOST_LINES = 2000 }; /* of a function */

typedef struct {
    char *text;
    guint cost;
} Line;

typedef struct {
    GArray *line; /* Line */
    GHashTable *seen;
} Lines;

static gboolean full(const Lines *l)
{
    return l->line->len >= MOST_LINES;
}

static void add_line(Lines *l, guint cost, char *text)
{
    if (full(l) || !g_hash_table_add(l->seen, g_strdup(text))) {
        g_free(text);
        return;
    }
    const Line line = { text, cost };
    g_array_append_val(l->line, line);
}

static gboolean may_stand_twice(const PySpot *s)
{
    return s->role == PY_ROLE_WAIT || s->role == PY_ROLE_ARRIVE || s->role == PY_ROLE_EXPECT ||
           s->role == PY_ROLE_TURN || s->role == PY_ROLE_NAMED || s->role == PY_ROLE_RETIRE ||
           s->role == PY_ROLE_INIT || (s->role == PY_ROLE_COUNT && s->node->kind == WS_PY_AUGMENT);
}

/* --- "callee(" barrier ", rest)": other barriers and slots in an existing statement ------------*/
static void other_barriers(const PyEdits *e, const PySpot *s, const PyTexts *here, Lines *l)
{
    g_autoptr(GArray) words = py_words(s->text);
    const guint open = py_word_opens(s, words);
    guint close = 0;
    g_autoptr(GArray) pairs = open ? py_word_arguments(s->text, words, open, &close) : NULL;
    if (!pairs || pairs->len < 2 || s->node->kind != WS_PY_EXPR)
        return;
    const PyWord *from = py_word_at(words, g_array_index(pairs, guint, 0)),
                 *to = py_word_at(words, g_array_index(pairs, guint, 1));
    g_autofree char *argument =
        g_strndup(s->text + from->start, to->start + to->length - from->start);
    g_autoptr(GArray) inside = py_words(argument);
    const PyWord *name = NULL, *first = NULL, *last = NULL;
    for (guint i = 0; i < inside->len; i++) {
        const PyWord *w = py_word_at(inside, i);
        g_autofree char *text = g_strndup(argument + w->start, w->length);
        if (!name && g_hash_table_contains(e->spots->barrier, text))
            name = w;
        else if (name && !first && w->kind == PY_WORD_SIGN && strchr("([,", text[0]) &&
                 i + 2 < inside->len)
            first = py_word_at(inside, i + 1);
    }
    if (!name)
        return;
    last = first ? py_word_at(inside, inside->len - 2) : NULL;
    GHashTableIter at;
    gpointer other;
    g_hash_table_iter_init(&at, e->spots->barrier);
    while (!full(l) && g_hash_table_iter_next(&at, &other, NULL)) {
        GHashTableIter slots;
        gpointer slot;
        g_hash_table_iter_init(&slots, here->index);
        gboolean more = first != NULL && last >= first;
        const gboolean indexed = more;
        do {
            slot = NULL;
            if (indexed && !(more = g_hash_table_iter_next(&slots, &slot, NULL)))
                break;
            g_autoptr(GString) text = g_string_new(NULL);
            g_string_append_len(text, argument, name->start);
            g_string_append(text, other);
            const guint behind = name->start + name->length;
            if (slot) {
                g_string_append_len(text, argument + behind, first->start - behind);
                g_string_append(text, slot);
                g_string_append(text, argument + last->start + last->length);
            } else {
                g_string_append(text, argument + behind);
            }
            const gboolean named = py_edits_named(e, other);
            add_line(l, named ? 25 : 45, py_words_replaced(s->text, from, to, text->str));
        } while (more && !full(l));
    }
}

/* Waits with the other parities that there are. */
static void other_parities(const PyEdits *e, const PySpots *spots, const PyTexts *here, Lines *l)
{
    const guint n = l->line->len;
    for (guint i = 0; i < n && !full(l); i++) {
        const Line line = g_array_index(l->line, Line, i);
        for (guint k = 0; k < spots->spot->len; k++) {
            const PySpot *s = py_spot(spots, k);
            if (s->role != PY_ROLE_WAIT)
                continue;
            g_autoptr(GArray) words = py_words(line.text);
            PySpot like = *s;
            like.text = line.text;
            const guint open = py_word_opens(&like, words);
            guint close;
            g_autoptr(GArray) pairs =
                open ? py_word_arguments(line.text, words, open, &close) : NULL;
            if (!pairs || pairs->len < 4)
                break;
            guint from = g_array_index(pairs, guint, 2);
            const guint to = g_array_index(pairs, guint, 3);
            if (from + 2 <= to && py_word_is(line.text, py_word_at(words, from + 1), "="))
                from += 2;
            GHashTableIter at;
            gpointer text;
            g_hash_table_iter_init(&at, here->parity);
            while (!full(l) && g_hash_table_iter_next(&at, &text, NULL)) {
                static const char *const form[] = { "%s", "%s ^ 1", "(%s) ^ 1" };
                for (guint f = 0; f < G_N_ELEMENTS(form); f++) {
                    if ((f == 1) != !strchr(text, ' ') && f)
                        continue;
                    g_autoptr(GString) parity = g_string_new(form[f]);
                    g_string_replace(parity, "%s", text, 1);
                    add_line(l, line.cost + 3 + 2 * f,
                             py_words_replaced(line.text, py_word_at(words, from),
                                               py_word_at(words, to), parity->str));
                }
            }
            break;
        }
    }
    (void)e;
}

/* --- waits for products and stores, fences ---------------------------------------------------- */
static void retiring(const PyEdits *e, guint function, Lines *l)
{
    static const struct {
        WsImportFrom from;
        const char *word, *form; /* the word stands in the file; %s: an accumulator */
    } rows[] = {
        { WS_IMPORT_GLUON, "warpgroup_mma_wait", "%s = warpgroup_mma_wait(0, deps=[%s])" },
        { WS_IMPORT_GLUON, "tma", "tma.store_wait(0)" },
        { WS_IMPORT_GLUON, "fence_async_shared", "fence_async_shared()" },
        { WS_IMPORT_TLE, "wgmma", "%s = tle.gpu.wgmma_wait(0, %s)" },
        { WS_IMPORT_TLX, "async_dot", "%s = tlx.async_dot_wait(0, %s)" },
        { WS_IMPORT_TLX, "async_descriptor_store", "tlx.async_descriptor_store_wait(0)" },
    };
    for (guint r = 0; r < G_N_ELEMENTS(rows); r++) {
        gboolean there = FALSE;
        for (guint k = 0; k < e->spots->n_lines && !there; k++)
            there = strstr(e->spots->line[k], rows[r].word) != NULL;
        if (rows[r].from != e->spots->from || !there)
            continue;
        if (!strstr(rows[r].form, "%s"))
            add_line(l, 25, g_strdup(rows[r].form));
        for (guint i = 0; i < e->spots->spot->len; i++) {
            const PySpot *s = py_spot(e->spots, i);
            if (s->function != function || s->role != PY_ROLE_ACCESS ||
                s->node->kind != WS_PY_ASSIGN || s->node->kid[0]->kind != WS_PY_NAME ||
                !strstr(rows[r].form, "%s"))
                continue;
            g_autoptr(GString) text = g_string_new(rows[r].form);
            g_string_replace(text, "%s", s->node->kid[0]->text, 0);
            add_line(l, 25, g_strdup(text->str));
        }
    }
}

static void counters(const PyEdits *e, guint function, Lines *l)
{
    for (guint i = 0; i < e->spots->spot->len; i++) {
        const PySpot *s = py_spot(e->spots, i);
        if (s->function != function || s->role != PY_ROLE_COUNT ||
            s->node->kid[0]->kind != WS_PY_NAME)
            continue;
        add_line(l, 30, g_strdup_printf("%s ^= 1", s->node->kid[0]->text));
        add_line(l, 30, g_strdup_printf("%s += 1", s->node->kid[0]->text));
    }
}

static void put_in(PyEdits *e, guint at, guint indent, const Line *line)
{
    g_autofree char *title = g_strdup_printf("added: %s", line->text);
    py_edits_lines(e, line->cost, at, 0, g_strdup_printf("%*s%s\n", (int)indent, "", line->text),
                   title);
}

static void in_function(PyEdits *e, guint function, Lines *l)
{
    for (guint i = 0; i < e->spots->spot->len; i++) {
        const PySpot *s = py_spot(e->spots, i);
        if (s->function != function || py_edits_full(e))
            continue;
        const gboolean last = !py_spot_beside(e->spots, s, 1);
        if (py_edits_distance(e, s->first) > 30 && py_edits_distance(e, s->last) > 30)
            continue;
        for (guint k = 0; k < l->line->len && !py_edits_full(e); k++) {
            const Line *line = &g_array_index(l->line, Line, k);
            put_in(e, s->first, s->indent, line);
            if (last && s->node->kind != WS_PY_RETURN)
                put_in(e, s->last + 1, s->indent, line);
        }
    }
}

/* Parities that a number of the function stands for: a phase is one, and what `slot = n % STAGES`
 * counts has one per use. */
static void counted_parity(const PySpots *spots, const PySpot *s, const PyTexts *here)
{
    const char *name = s->node->kid[0]->text;
    if (strstr(name, "phase"))
        g_hash_table_add(here->parity, g_strdup(name));
    const WsPyNode *value = s->node->kid[1];
    const char *equals = strchr(s->text, '=');
    if (s->node->kind != WS_PY_ASSIGN || value->kind != WS_PY_BINARY || strcmp(value->text, "%") ||
        !equals || value->kid[0]->kind != WS_PY_NAME)
        return;
    g_autoptr(GString) uses = g_string_new(equals + 1);
    g_string_replace(uses, "%", "//", 1);
    g_autofree char *use = g_strstrip(g_strdup(uses->str));
    if (spots->from == WS_IMPORT_TLE) {
        g_hash_table_add(here->parity, g_steal_pointer(&use));
        return;
    }
    g_hash_table_add(here->parity, g_strdup_printf("%s & 1", use));
    g_hash_table_add(here->parity, g_strdup_printf("(%s + 1) & 1", use));
}

static void of_function(PyEdits *e, guint function)
{
    const PySpots *spots = e->spots;
    g_auto(PyTexts) here = { 0 };
    py_texts(spots, (gint)function, &here);
    Lines l = { g_array_new(FALSE, FALSE, sizeof(Line)),
                g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) };
    for (guint pass = 0; pass < 2; pass++)
        for (guint i = 0; i < spots->spot->len && !full(&l); i++) {
            const PySpot *s = py_spot(spots, i);
            if (!may_stand_twice(s) || (s->function != function) != (pass > 0))
                continue;
            const guint named = py_edits_named(e, s->text) ? 0 : 10;
            add_line(&l, 25 + 10 * pass + named, g_strdup(s->text));
            if (s->role == PY_ROLE_WAIT || s->role == PY_ROLE_ARRIVE)
                other_barriers(e, s, &here, &l);
        }
    for (guint i = 0; i < spots->spot->len; i++) {
        const PySpot *s = py_spot(spots, i);
        if (s->function == function && s->role == PY_ROLE_COUNT &&
            s->node->kid[0]->kind == WS_PY_NAME)
            counted_parity(spots, s, &here);
    }
    py_texts(spots, -1, &here);
    other_parities(e, spots, &here, &l);
    retiring(e, function, &l);
    counters(e, function, &l);
    in_function(e, function, &l);
    for (guint i = 0; i < l.line->len; i++)
        g_free(g_array_index(l.line, Line, i).text);
    g_array_unref(l.line);
    g_hash_table_unref(l.seen);
}

void py_edits_added(PyEdits *e)
{
    gint done = -1;
    for (guint i = 0; i < e->spots->spot->len; i++) {
        const PySpot *s = py_spot(e->spots, i);
        if ((gint)s->function > done && !py_edits_full(e))
            of_function(e, s->function);
        done = MAX(done, (gint)s->function);
    }
}
