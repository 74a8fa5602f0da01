#include "import/edits.h"

#include "import/python/edits/spots.h"

#include <string.h>

void ws_import_edit_free(WsImportEdit *e)
{
    if (!e)
        return;
    for (guint i = 0; i < e->n; i++)
        g_free(e->hunk[i].text);
    g_free(e->title);
    g_free(e);
}

guint py_edits_distance(const PyEdits *e, guint line)
{
    guint least = e->hints->n_lines ? 40 : 0;
    for (guint i = 0; i < e->hints->n_lines; i++) {
        const guint at = e->hints->line[i];
        least = MIN(least, at > line ? at - line : line - at);
    }
    return least;
}

gboolean py_edits_named(const PyEdits *e, const char *text)
{
    g_autoptr(GArray) words = py_words(text);
    for (guint i = 0; i < words->len; i++)
        for (guint k = 0; e->hints->name && e->hints->name[k]; k++)
            if (py_word_is(text, &g_array_index(words, PyWord, i), e->hints->name[k]))
                return TRUE;
    return FALSE;
}

gboolean py_edits_full(const PyEdits *e)
{
    return e->edits->len >= e->most;
}

/* Takes the edit, unless the same one is there already. */
static void take(PyEdits *e, WsImportEdit *edit)
{
    if (py_edits_full(e)) {
        ws_import_edit_free(edit);
        return;
    }
    g_autoptr(GString) key = g_string_new(NULL);
    for (guint i = 0; i < edit->n; i++)
        g_string_append_printf(key, "%u %u %s\n", edit->hunk[i].first, edit->hunk[i].count,
                               edit->hunk[i].text);
    if (g_hash_table_add(e->seen, g_string_free(g_steal_pointer(&key), FALSE)))
        g_ptr_array_add(e->edits, edit);
    else
        ws_import_edit_free(edit);
}

static void add_lines(PyEdits *e, guint rank, guint first, guint count, char *text,
                      const char *title)
{
    WsImportEdit *edit = g_new0(WsImportEdit, 1);
    edit->title = g_strdup(title);
    edit->line = first;
    edit->rank = rank;
    edit->n = 1;
    edit->hunk[0] = (WsImportHunk){ first, count, text };
    take(e, edit);
}

void py_edits_lines(PyEdits *e, guint cost, guint first, guint count, char *text, const char *title)
{
    add_lines(e, cost + 2 * py_edits_distance(e, first), first, count, text, title);
}

/* A number that a line of the hints reads: where it is set, no finding points. */
static gboolean is_read_there(const PyEdits *e, const PySpot *set)
{
    if (set->role != PY_ROLE_COUNT || !e->hints->n_lines)
        return FALSE;
    for (guint i = 0; i < e->spots->spot->len; i++) {
        const PySpot *s = py_spot(e->spots, i);
        if (s->function != set->function || py_edits_distance(e, s->first) > 0)
            continue;
        g_autoptr(GArray) words = py_words(s->text);
        for (guint k = 0; k < words->len; k++)
            if (py_word_is(s->text, &g_array_index(words, PyWord, k), set->node->kid[0]->text))
                return TRUE;
    }
    return FALSE;
}

void py_edits_change(PyEdits *e, const PySpot *s, guint cost, char *text, const char *title)
{
    char *lines = g_strdup_printf("%*s%s\n", (int)s->indent, "", text);
    const gboolean read = is_read_there(e, s);
    const gboolean named = read || py_edits_named(e, s->text) || py_edits_named(e, text);
    g_free(text);
    /* where a barrier is made, no finding points */
    const gboolean made = read || (named && s->role == PY_ROLE_INIT);
    add_lines(e, cost + (named ? 0 : 10) + 2 * (made ? 2 : py_edits_distance(e, s->first)),
              s->first, s->head - s->first + 1, lines, title);
}

void py_edits_moved(PyEdits *e, guint cost, const PySpot *s, char *left, guint to, char *text,
                    const char *title)
{
    WsImportEdit *edit = g_new0(WsImportEdit, 1);
    const guint from = !py_edits_named(e, s->text) ? 10 : 0;
    edit->title = g_strdup(title);
    edit->line = s->first;
    edit->rank = cost + from + 2 * MIN(py_edits_distance(e, s->first), py_edits_distance(e, to));
    edit->n = 2;
    const gboolean up = to <= s->first;
    edit->hunk[up ? 1 : 0] = (WsImportHunk){ s->first, s->last - s->first + 1, left };
    edit->hunk[up ? 0 : 1] = (WsImportHunk){ to, 0, text };
    take(e, edit);
}

static gint by_rank(gconstpointer a, gconstpointer b)
{
    const WsImportEdit *x = *(WsImportEdit *const *)a, *y = *(WsImportEdit *const *)b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return g_strcmp0(x->hunk[0].text, y->hunk[0].text);
}

GPtrArray *ws_import_edits(const char *text, gsize length, const char *file, WsImportFrom language,
                           const WsImportHints *hints, guint most, GError **error)
{
    if (language != WS_IMPORT_GLUON && language != WS_IMPORT_TLE && language != WS_IMPORT_TLX) {
        g_set_error(error, WS_IMPORT_ERROR, WS_IMPORT_ERROR_READ,
                    "%s: only Gluon, TLE and TLX are edited", file);
        return NULL;
    }
    g_autoptr(PySpots) spots = py_spots_new(text, length, file, language, error);
    if (!spots)
        return NULL;
    if (spots->spot->len > WS_IMPORT_EDIT_STATEMENTS) {
        g_set_error(error, WS_IMPORT_ERROR, WS_IMPORT_ERROR_READ,
                    "%s: more than %d statements in functions that synchronise", file,
                    WS_IMPORT_EDIT_STATEMENTS);
        return NULL;
    }
    PyEdits e = { .spots = spots, .hints = hints };
    e.edits = g_ptr_array_new_with_free_func((GDestroyNotify)ws_import_edit_free);
    e.seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    void (*const kind[])(PyEdits * e) = { py_edits_inside, py_edits_moves, py_edits_added };
    for (guint i = 0; i < G_N_ELEMENTS(kind); i++) {
        e.most += WS_IMPORT_EDITS / G_N_ELEMENTS(kind);
        kind[i](&e);
    }
    g_hash_table_unref(e.seen);
    g_ptr_array_sort(e.edits, by_rank);
    if (e.edits->len > most)
        g_ptr_array_set_size(e.edits, (gint)most);
    return e.edits;
}

char *ws_import_edited(const char *text, const WsImportEdit *edit)
{
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    const guint n = g_strv_length(line);
    GString *out = g_string_new(NULL);
    guint next = 1;
    for (guint i = 0; i < edit->n; i++) {
        const WsImportHunk *h = &edit->hunk[i];
        for (; next < h->first && next <= n; next++)
            g_string_append_printf(out, "%s%s", line[next - 1], next < n ? "\n" : "");
        if (next > n && out->len && out->str[out->len - 1] != '\n' && *h->text)
            g_string_append_c(out, '\n');
        g_string_append(out, h->text);
        next += h->count;
    }
    for (; next <= n; next++)
        g_string_append_printf(out, "%s%s", line[next - 1], next < n ? "\n" : "");
    if (out->len && out->str[out->len - 1] == '\n' && !g_str_has_suffix(text, "\n"))
        g_string_truncate(out, out->len - 1);
    return g_string_free(out, FALSE);
}
