#include "import/python/pyread_law.h"
#include "import/python/dialect/pyread_terms.h"
#include "import/python/pyread_host.h"

#include <string.h>

static const struct {
    PyHarmless kind;
    const char *name;
} rows[] = {
#define WS_HARMLESS(kind, name, reason) { PY_HARMLESS_##kind, name },
#include "import/python/law.def"
#undef WS_HARMLESS
};

gboolean py_ends_in(const char *dotted, const char *name)
{
    const gsize n = strlen(dotted), m = strlen(name);
    return !strchr(dotted, '/') && n >= m && !strcmp(dotted + n - m, name) &&
           (n == m || dotted[n - m - 1] == '.');
}

gboolean py_law_harmless(PyHarmless kind, const char *dotted)
{
    for (guint i = 0; dotted && i < G_N_ELEMENTS(rows); i++)
        if (rows[i].kind == kind && py_ends_in(dotted, rows[i].name))
            return TRUE;
    return FALSE;
}

gboolean py_law_option(const char *name)
{
    return py_law_harmless(PY_HARMLESS_OPTION, name);
}

/* A row of a keyword: "word.keyword", ".keyword" of every word, "word." of every keyword. */
static gboolean names_keyword(PyHarmless kind, const char *word, const char *keyword)
{
    const char *dot = strrchr(word, '.');
    word = dot ? dot + 1 : word;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (rows[i].kind != kind)
            continue;
        const gsize n = strcspn(rows[i].name, ".");
        const char *own = rows[i].name + n + 1;
        if ((!n || (strlen(word) == n && !strncmp(word, rows[i].name, n))) &&
            (!*own || !strcmp(own, keyword)))
            return TRUE;
    }
    return FALSE;
}

gboolean py_law_keyword(const char *word, const char *keyword)
{
    return names_keyword(PY_HARMLESS_KEYWORD, word, keyword);
}

gboolean py_law_off(const char *word, const char *keyword, const Val *v)
{
    gint64 n;
    return v->kind == VAL_NONE
               ? names_keyword(PY_HARMLESS_OFF, word, keyword) ||
                     names_keyword(PY_HARMLESS_ABSENT, word, keyword)
               : py_known(v, &n) && !n && names_keyword(PY_HARMLESS_OFF, word, keyword);
}

/* --- what a value reaches ----------------------------------------------------------------------*/

typedef struct {
    PyRead *p;
    GPtrArray *objects; /* char* */
    gboolean all;
    guint depth;
} Reach;

static void add(Reach *r, const char *name)
{
    if (!g_ptr_array_find_with_equal_func(r->objects, name, g_str_equal, NULL))
        g_ptr_array_add(r->objects, g_strdup(name));
}

static void add_barrier(Reach *r, gint i)
{
    if (i >= 0 && (guint)i < r->p->r->barriers->len)
        add(r, g_array_index(r->p->r->barriers, WsReadBarrier, i).name);
}

static void reach(Reach *r, const Val *v)
{
    if (!v || r->depth > 12) {
        r->all |= v != NULL;
        return;
    }
    r->depth++;
    if (v->kind == VAL_BUFFER)
        add(r, g_array_index(r->p->r->buffers, WsReadBuffer, v->place.object).name);
    else if (v->kind == VAL_BARRIER)
        add_barrier(r, v->place.object);
    else if (v->kind == VAL_PIPE || v->kind == VAL_END || v->kind == VAL_SLOT) {
        add_barrier(r, v->place.object);
        add_barrier(r, v->index);
    } else if (v->kind == VAL_OPAQUE && !v->depth)
        r->all = TRUE;
    if (v->kind == VAL_TUPLE || v->kind == VAL_PIPE || v->kind == VAL_END || v->kind == VAL_SLOT)
        for (guint i = 0; i < v->n; i++)
            reach(r, v->item[i]);
    if (v->kind == VAL_OBJECT)
        for (guint i = 0; i < v->n; i++)
            reach(r, v->item[2 * i + 1]);
    if (v->kind == VAL_FUNC && v->closure) {
        GHashTableIter it;
        gpointer value;
        g_hash_table_iter_init(&it, v->closure);
        while (g_hash_table_iter_next(&it, NULL, &value))
            if (((const Val *)value)->kind != VAL_FUNC && ((const Val *)value)->kind != VAL_CLASS)
                reach(r, value);
    }
    r->depth--;
}

static void reach_names(Reach *r, const WsPyNode *node)
{
    if (node->kind == WS_PY_NAME && r->p->frame) {
        const Val *v = py_lookup(r->p, node->text);
        if (v->kind != VAL_NAME && v->kind != VAL_CLASS)
            reach(r, v);
    }
    for (guint i = 0; i < node->n; i++)
        if (node->kind != WS_PY_KEYWORD || node->kid[i]->kind != WS_PY_PARAMS)
            reach_names(r, node->kid[i]);
}

void py_law_unread(PyRead *p, const WsPyNode *at, const char *what, const Val *const *values,
                   guint n)
{
    if (p->probing || p->computing)
        return;
    Reach r = { .p = p, .objects = g_ptr_array_new_with_free_func(g_free) };
    for (guint i = 0; i < n; i++)
        reach(&r, values[i]);
    reach_names(&r, at);
    g_autofree char *source = p->py ? ws_python_lines(p->py, at->line, at->end_line) : g_strdup("");
    ws_source_unread_of(p->r, at->line, at->column, at->end_line, what, source,
                        p->group && !p->prologue && !r.all ? p->group->name : NULL, r.objects);
    g_ptr_array_unref(r.objects);
}

void py_law_value(PyRead *p, const WsPyNode *at, const char *what)
{
    if (p->probing)
        return;
    g_autofree char *source = p->py ? ws_python_lines(p->py, at->line, at->end_line) : g_strdup("");
    ws_source_unread_value(p->r, at->line, at->column, at->end_line, what, source);
}

const Val *py_lost(PyRead *p, const WsPyNode *at, const char *what)
{
    if (p->in_kernel)
        py_law_value(p, at, what);
    return py_opaque(p);
}

const Val *py_plain(PyRead *p)
{
    Val *v = py_val(p, VAL_OPAQUE);
    v->depth = 1;
    return v;
}

/* --- calls -------------------------------------------------------------------------------------*/

/* What is computed of tiles is not known; that they are read is. */
static const Val *computed(PyRead *p, const WsPyNode *call, const Val **values, guint n,
                           gboolean alike)
{
    const Val *first = NULL;
    for (guint i = 0; i < n && p->group; i++) {
        const Val *m = py_is_tile(values[i]) ? py_formula(p, values[i]) : NULL;
        const gboolean tile = m && m->rows * m->cols > 1;
        if (!tile || !alike)
            py_look(p, values[i], call);
        else
            first = first ? py_binary_tile(p, "+", first, m) : m;
    }
    if (first || n)
        py_law_value(p, call, "what this computes");
    return first ? first : py_plain(p);
}

/* Nothing that it is given has an effect. */
static gboolean is_helper(const PyRead *p, const char *dotted, const Val **values, guint n)
{
    const char *slash = dotted ? strchr(dotted, '/') : NULL;
    gboolean plain = slash && slash[1] == '.' && py_law_harmless(PY_HARMLESS_HELPER, slash + 2) &&
                     !g_hash_table_contains(p->names->stored, slash + 2);
    for (guint i = 0; i < n; i++)
        plain &= values[i]->kind == VAL_INT || values[i]->kind == VAL_NAME ||
                 values[i]->kind == VAL_STRING || values[i]->kind == VAL_NONE;
    return plain;
}

const Val *py_law_call(PyRead *p, const WsPyNode *call)
{
    if (!p->in_kernel) {
        const Val *tensor = py_host_tensor(p, call);
        for (guint i = 1; !tensor && i < call->n; i++) /* launches may stand in arguments */
            if (call->kid[i]->kind == WS_PY_CALL)
                py_eval(p, call->kid[i]);
        if (!tensor && !p->frame && p->hint) { /* a module, or something of one */
            return py_unknown_name(p, p->hint);
        }
        return tensor ? tensor : py_opaque(p);
    }
    g_autofree const Val **values = g_new0(const Val *, call->n + 1);
    g_autofree char *dotted = NULL;
    const WsPyNode *f = call->kid[0];
    const char *hint = p->hint;
    guint n = 0;
    p->hint = NULL;
    if (f->kind == WS_PY_ATTR) {
        const Val *left = py_eval(p, f->kid[0]);
        const gboolean stored = p->names && g_hash_table_contains(p->names->stored, f->text);
        if (left->kind == VAL_NAME)
            dotted = g_strdup_printf(stored ? "%s.%s/" : "%s.%s", left->text, f->text);
        else
            values[n++] = left;
    } else {
        const Val *own = py_eval(p, f);
        if (own->kind == VAL_NAME)
            dotted = g_strdup(own->text);
        else
            values[n++] = own;
    }
    for (guint i = 1; i < call->n; i++) {
        const WsPyNode *arg = call->kid[i];
        const gboolean inside = arg->kind == WS_PY_KEYWORD || arg->kind == WS_PY_STAR;
        values[n++] = py_eval(p, inside ? arg->kid[0] : arg);
    }
    for (guint i = 0; i < n; i++)
        values[i] = py_current(p, values[i], call);
    p->hint = hint;
    if (is_helper(p, dotted, values, n))
        return py_plain(p);
    if (py_law_harmless(PY_HARMLESS_FUNCTION, dotted))
        return computed(p, call, values, n, TRUE);
    if (py_law_harmless(PY_HARMLESS_ASKED, dotted))
        return py_plain(p);
    if (py_law_harmless(PY_HARMLESS_VALUE, dotted))
        return computed(p, call, values, n, FALSE);
    if (p->group && !p->probing && !p->computing)
        py_opaque_lines(p, call);
    py_law_unread(p, call,
                  ws_source_format(p->r, "the call of `%s`",
                                   dotted                  ? dotted
                                   : f->kind == WS_PY_ATTR ? f->text
                                                           : "a value"),
                  values, n);
    return py_opaque(p);
}

void py_law_decorators(PyRead *p, const WsPyNode *function)
{
    for (guint k = 2; function->kind == WS_PY_DEF && k < function->n; k++) {
        g_autofree char *name = py_decorator(function->kid[k]);
        if (py_plain_decorator(p, function->kid[k]))
            continue;
        const Val *anything = py_opaque(p);
        py_law_unread(p, function->kid[k],
                      ws_source_format(p->r, "the decorator `%s`", name ? name : "of a function"),
                      &anything, 1);
    }
}
