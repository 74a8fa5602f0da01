#include "import/python/edits/spots.h"

#include "import/python/dialect/pyread_terms.h"
#include "import/python/pyread_kernels.h"

#include <string.h>

static PyRole role_of(PyMeaning meaning)
{
    static const struct {
        PyMeaning meaning;
        PyRole role;
    } rows[] = {
#define PY_ROLE(id, role) { py_mean_##id, PY_ROLE_##role },
#include "import/python/edits/role.def"
#undef PY_ROLE
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].meaning == meaning)
            return rows[i].role;
    return PY_ROLE_NONE;
}

typedef struct {
    PySpots *s;
    GHashTable *helper; /* char*: functions of the file that synchronise */
    guint function;
} Walk;

/* The call in an expression that has a role: the expression itself, or in its arguments. */
static const WsPyNode *acting_call(const Walk *w, const WsPyNode *n, PyRole *role)
{
    if (n->kind == WS_PY_CALL && n->n) {
        g_autofree char *dotted = ws_python_dotted(n->kid[0]);
        const WsPyNode *f = n->kid[0];
        const char *name = dotted ? dotted : f->kind == WS_PY_ATTR ? f->text : NULL;
        g_autofree char *method = name && !dotted ? g_strdup_printf("x.%s", name) : NULL;
        const char *what = method ? method : name;
        PyMeaning m = what ? py_likely_meaning(w->s->from, what) : NULL;
        *role = m ? role_of(m) : PY_ROLE_NONE;
        if (*role == PY_ROLE_NONE && dotted && g_hash_table_contains(w->helper, dotted))
            *role = PY_ROLE_NAMED;
        if (*role != PY_ROLE_NONE)
            return n;
    }
    for (guint i = 0; i < n->n; i++) {
        const WsPyNode *found = acting_call(w, n->kid[i], role);
        if (found)
            return found;
    }
    return NULL;
}

static gboolean is_compound(const WsPyNode *n)
{
    return n->kind == WS_PY_FOR || n->kind == WS_PY_WHILE || n->kind == WS_PY_IF ||
           n->kind == WS_PY_WITH || n->kind == WS_PY_TRY;
}

static void set_role(const Walk *w, PySpot *s)
{
    const WsPyNode *n = s->node;
    if (n->kind == WS_PY_FOR || n->kind == WS_PY_WHILE) {
        s->role = PY_ROLE_LOOP;
    } else if (n->kind == WS_PY_IF) {
        s->role = PY_ROLE_BRANCH;
    } else if ((n->kind == WS_PY_EXPR || n->kind == WS_PY_ASSIGN || n->kind == WS_PY_RETURN) &&
               n->n) {
        s->call = acting_call(w, n->kid[n->n - 1], &s->role);
    }
    const gboolean counts =
        (n->kind == WS_PY_AUGMENT || n->kind == WS_PY_ASSIGN) && !s->call && n->n == 2;
    if (counts && n->kid[0]->kind == WS_PY_NAME &&
        (n->kid[1]->kind == WS_PY_INT || n->kid[1]->kind == WS_PY_BINARY ||
         n->kid[1]->kind == WS_PY_NAME)) {
        s->role = PY_ROLE_COUNT;
        g_hash_table_add(w->s->counter, g_strdup(n->kid[0]->text));
    }
}

static void walk_block(Walk *w, const WsPyNode *block, gint outer);

/* The last line of a statement: that of a compound one is said to be where the next one begins. */
static guint last_line(const WsPyNode *n)
{
    guint last = is_compound(n) ? n->line : n->end_line;
    for (guint i = 0; is_compound(n) && i < n->n; i++) {
        const WsPyNode *block = n->kid[i];
        if (block->kind == WS_PY_BLOCK && block->n)
            last = MAX(last, last_line(block->kid[block->n - 1]));
    }
    return last;
}

static void walk_statement(Walk *w, const WsPyNode *n, guint number, gint outer)
{
    PySpots *s = w->s;
    if (!n->line || n->line > s->n_lines || last_line(n) > s->n_lines)
        return;
    const char *line = s->line[n->line - 1];
    const guint indent = (guint)strspn(line, " ");
    const gboolean alone =
        n->column == indent + 1 && strncmp(line + indent, "elif", 4) && line[indent] != '\t';
    const guint at = s->spot->len;
    if (alone) {
        PySpot spot = { .first = n->line,
                        .last = last_line(n),
                        .head = last_line(n),
                        .indent = indent,
                        .function = w->function,
                        .block = number,
                        .outer = outer,
                        .node = n };
        for (guint i = 0; is_compound(n) && i < n->n; i++)
            if (n->kid[i]->kind == WS_PY_BLOCK && n->kid[i]->n)
                spot.head = MIN(spot.head, MAX(n->line, n->kid[i]->kid[0]->line - 1));
        g_autoptr(GString) text = g_string_new(line + indent);
        for (guint k = spot.first; k < spot.head; k++)
            g_string_append_printf(text, "\n%s", s->line[k]);
        spot.text = g_strdup(text->str);
        set_role(w, &spot);
        g_array_append_val(s->spot, spot);
    }
    for (guint i = 0; is_compound(n) && i < n->n; i++)
        if (n->kid[i]->kind == WS_PY_BLOCK)
            walk_block(w, n->kid[i], alone ? (gint)at : outer);
}

static void walk_block(Walk *w, const WsPyNode *block, gint outer)
{
    const guint number = w->s->n_blocks++;
    for (guint i = 0; i < block->n; i++)
        walk_statement(w, block->kid[i], number, outer);
}

static void each_function(const WsPyNode *n, gboolean inside, GPtrArray *into)
{
    const gboolean jit = n->kind == WS_PY_DEF && (inside || py_is_jit(n));
    if (jit)
        g_ptr_array_add(into, (gpointer)n);
    gboolean below = inside;
    if (n->kind == WS_PY_CLASS) /* of an aggregate: its functions may run on the GPU */
        below = TRUE;
    for (guint i = 0; i < n->n; i++)
        if (n->kid[i]->kind == WS_PY_BLOCK || n->kid[i]->kind == WS_PY_DEF ||
            n->kid[i]->kind == WS_PY_CLASS || n->kid[i]->kind == WS_PY_IF)
            each_function(n->kid[i], below, into);
}

/* --- names: what the first argument of a wait is called is a barrier ---------------------------*/
static void add_name(const PySpot *s, const GArray *words, guint from, guint to, GHashTable *into)
{
    gint depth = 0;
    const PyWord *last = NULL;
    for (guint i = from; i <= to; i++) {
        const PyWord *w = &g_array_index(words, PyWord, i);
        const char c = w->length == 1 ? s->text[w->start] : 0;
        const gboolean opens =
            i < to && strchr("(", s->text[g_array_index(words, PyWord, i + 1).start]);
        if (c && strchr("([{", c))
            depth++;
        else if (c && strchr(")]}", c))
            depth--;
        else if (depth == 0 && c == '=')
            last = NULL;
        else if (depth == 0 && w->kind == PY_WORD_NAME && !opens)
            last = w;
        else if (depth > 0 && !last && w->kind == PY_WORD_NAME) /* local_view(full, slot) */
            last = w;
    }
    if (last)
        g_hash_table_add(into, g_strndup(s->text + last->start, last->length));
}

static void collect_names(PySpots *s)
{
    for (guint i = 0; i < s->spot->len; i++) {
        const PySpot *spot = &g_array_index(s->spot, PySpot, i);
        const gboolean barrier = spot->role == PY_ROLE_WAIT || spot->role == PY_ROLE_ARRIVE ||
                                 spot->role == PY_ROLE_EXPECT;
        if (!barrier && spot->role != PY_ROLE_ACCESS && spot->role != PY_ROLE_INIT)
            continue;
        g_autoptr(GArray) words = py_words(spot->text);
        const guint open = py_word_opens(spot, words);
        guint close;
        g_autoptr(GArray) pairs = open ? py_word_arguments(spot->text, words, open, &close) : NULL;
        for (guint k = 0; pairs && k + 1 < pairs->len; k += 2) {
            const guint from = g_array_index(pairs, guint, k),
                        to = g_array_index(pairs, guint, k + 1);
            if ((barrier || spot->role == PY_ROLE_INIT) && k == 0)
                add_name(spot, words, from, to, s->barrier);
            else if (spot->role == PY_ROLE_ACCESS)
                add_name(spot, words, from, to, s->buffer);
        }
    }
    GHashTableIter iter;
    gpointer name;
    g_hash_table_iter_init(&iter, s->buffer);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        if (g_hash_table_contains(s->barrier, name) || g_hash_table_contains(s->counter, name))
            g_hash_table_iter_remove(&iter);
}

static gboolean synchronises(const PySpots *s, guint from)
{
    for (guint i = from; i < s->spot->len; i++) {
        const PyRole r = g_array_index(s->spot, PySpot, i).role;
        if (r != PY_ROLE_NONE && r != PY_ROLE_COUNT && r != PY_ROLE_LOOP && r != PY_ROLE_BRANCH)
            return TRUE;
    }
    return FALSE;
}

static GHashTable *names(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

static void drop_spots(PySpots *s, guint from)
{
    for (guint i = from; i < s->spot->len; i++)
        g_free(g_array_index(s->spot, PySpot, i).text);
    g_array_set_size(s->spot, from);
}

PySpots *py_spots_new(const char *text, gsize length, const char *file, WsImportFrom from,
                      GError **error)
{
    g_autoptr(WsPython) python = ws_python_parse(text, length, file, error);
    if (!python)
        return NULL;
    PySpots *s = g_new0(PySpots, 1);
    s->python = g_steal_pointer(&python);
    s->from = from;
    s->line = g_strsplit(text, "\n", -1);
    s->n_lines = g_strv_length(s->line);
    s->spot = g_array_new(FALSE, FALSE, sizeof(PySpot));
    s->barrier = names(), s->buffer = names(), s->counter = names();
    g_autoptr(GPtrArray) function = g_ptr_array_new();
    each_function(ws_python_module(s->python), FALSE, function);
    Walk w = { .s = s, .helper = names() };
    for (guint twice = 0; twice < 2; twice++) { /* the second time helpers are known */
        drop_spots(s, 0);
        s->n_blocks = 0;
        for (w.function = 0; w.function < function->len; w.function++) {
            const WsPyNode *n = function->pdata[w.function];
            const guint before = s->spot->len;
            if (n->n > 1 && n->kid[1]->kind == WS_PY_BLOCK)
                walk_block(&w, n->kid[1], -1);
            if (!synchronises(s, before))
                drop_spots(s, before);
            else
                g_hash_table_add(w.helper, g_strdup(n->text));
        }
    }
    g_hash_table_unref(w.helper);
    collect_names(s);
    return s;
}

void py_spots_free(PySpots *s)
{
    if (!s)
        return;
    drop_spots(s, 0);
    g_array_unref(s->spot);
    g_strfreev(s->line);
    g_hash_table_unref(s->barrier);
    g_hash_table_unref(s->buffer);
    g_hash_table_unref(s->counter);
    ws_python_free(s->python);
    g_free(s);
}

const PySpot *py_spot(const PySpots *s, guint i)
{
    return &g_array_index(s->spot, PySpot, i);
}

const PySpot *py_spot_beside(const PySpots *s, const PySpot *at, gint direction)
{
    const gint n = (gint)s->spot->len;
    for (gint i = (gint)(at - py_spot(s, 0)) + direction; i >= 0 && i < n; i += direction)
        if (py_spot(s, (guint)i)->block == at->block)
            return py_spot(s, (guint)i);
    return NULL;
}

char *py_spot_indented(const PySpots *s, const PySpot *spot, guint indent)
{
    GString *text = g_string_new(NULL);
    for (guint k = spot->first; k <= spot->last; k++) {
        const char *line = s->line[k - 1];
        const guint has = (guint)strspn(line, " ");
        if (line[has])
            g_string_append_printf(text, "%*s",
                                   (int)(indent + MAX(has, spot->indent) - spot->indent), "");
        g_string_append_printf(text, "%s\n", line + has);
    }
    return g_string_free(text, FALSE);
}
