#include "import/python/dialect/pyread_terms.h"
#include "import/python/names/names.h"
#include "import/python/pyread_law.h"
#include "import/python/pyread_object.h"

#include <string.h>

/* Calls of a dialect: found in its table, arguments bound, meaning called. */

typedef struct {
    const char *name;
    PyMeaning meaning;
    const char *parameters;
} Term;

#define WS_TERM(name, meaning, parameters) { name, py_mean_##meaning, parameters },
static const Term gluon[] = {
#include "import/python/dialect/gluon.def"
};
static const Term gluon_amd[] = {
#include "import/python/dialect/gluon_amd.def"
};
static const Term tle[] = {
#include "import/python/dialect/tle.def"
};
static const Term tlx[] = {
#include "import/python/dialect/tlx.def"
};
#undef WS_TERM

static const struct {
    const Term *term;
    guint n;
} dialects[WS_IMPORT_FROM_COUNT] = {
    [WS_IMPORT_GLUON] = { gluon, G_N_ELEMENTS(gluon) },
    [WS_IMPORT_TLE] = { tle, G_N_ELEMENTS(tle) },
    [WS_IMPORT_TLX] = { tlx, G_N_ELEMENTS(tlx) },
};

/* A row whose name begins with a dot is a method, whatever it is called on. */
static gboolean fits(const char *dotted, const char *name)
{
    return *name == '.' ? py_ends_in(dotted, name + 1) && strcmp(dotted, name + 1) != 0
                        : py_ends_in(dotted, name);
}

PyMeaning py_likely_meaning(WsImportFrom from, const char *dotted)
{
    const char *last = strrchr(dotted, '.');
    last = last ? last + 1 : dotted;
    const Term *likely = NULL;
    for (guint i = 0; i < dialects[from].n; i++) {
        const Term *t = &dialects[from].term[i];
        const char *word = strrchr(t->name, '.');
        if (fits(dotted, t->name))
            return t->meaning;
        if (!likely && !strcmp(word ? word + 1 : t->name, last))
            likely = t;
    }
    return likely ? likely->meaning : NULL;
}

/* Whether its effect is on shared memory, barriers or the order of lanes. */
static gboolean acts(PyMeaning meaning)
{
    enum { ASIDE, ACTS };
    static const struct {
        PyMeaning meaning;
        gboolean acts;
    } rows[] = {
#define PY_MEANING(id, effect) { py_mean_##id, effect },
#include "import/python/dialect/meaning.def"
#undef PY_MEANING
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].meaning == meaning)
            return rows[i].acts;
    return FALSE;
}

#define MOST 9 /* arguments of a row of a table */

/* The next one by its place. */
static void put(PyRead *p, const Val **a, guint *at, const Val *v, const char **what)
{
    if (*at < MOST && a[*at])
        *what = "a parameter that is given twice";
    if (*at < MOST)
        a[*at] = a[*at] ? py_opaque(p) : v;
    ++*at;
}

/* Arguments by parameter; what has no parameter may change what the call does. FALSE: on the host,
 * where what it gives is not known then. */
static gboolean bind(PyRead *p, const Term *term, const WsPyNode *node, const Val *object,
                     const Val **a)
{
    const gboolean slot = term->meaning == py_mean_INDEX;
    const gboolean wait = term->meaning == py_mean_WAIT || term->meaning == py_mean_TLE_WAIT;
    if (wait)
        p->floor_index = p->floor_phase = NULL;
    const gboolean product = term->meaning == py_mean_MMA || term->meaning == py_mean_MMA_WAIT ||
                             term->meaning == py_mean_TLX_DOT || term->meaning == py_mean_AMD_MFMA;
    p->phasing += wait;
    p->indexing += slot;
    p->handing += product;
    g_auto(GStrv) name = g_strsplit(term->parameters, " ", -1);
    const guint length = g_strv_length(name), most = MIN(length, MOST);
    const gboolean any = length && !strcmp(name[length - 1], "*"); /* as many as one likes */
    guint at = 0;
    const char *what = NULL;
    gboolean lost = FALSE;
    if (object)
        a[at++] = object;
    for (guint i = 1; i < node->n; i++) {
        const WsPyNode *arg = node->kid[i];
        if (arg->kind == WS_PY_KEYWORD) {
            const Val *v = py_eval(p, arg->kid[0]);
            gboolean known = py_law_keyword(term->name, arg->text);
            if (known)
                py_look_at(p, v, node);
            for (guint k = 0; k < most; k++)
                if (!strcmp(name[k], arg->text)) {
                    if (a[k])
                        what = "a parameter that is given twice";
                    a[k] = a[k] ? py_opaque(p) : v;
                    known = TRUE;
                }
            known |= py_law_off(term->name, arg->text, v);
            if (!known && !what && term->meaning != py_mean_TLE_PIPE)
                what = ws_source_format(p->r, "the keyword `%s`", arg->text);
        } else if (arg->kind == WS_PY_STAR) {
            const Val *all = py_eval(p, arg->kid[0]);
            if (strcmp(arg->text, "*") || all->kind != VAL_TUPLE)
                what = "arguments that are not written out";
            lost |= strcmp(arg->text, "*") || all->kind != VAL_TUPLE || at + all->n > MOST;
            for (guint k = 0; all->kind == VAL_TUPLE && k < all->n; k++)
                put(p, a, &at, all->item[k], &what);
        } else {
            put(p, a, &at, py_eval(p, arg), &what);
        }
    }
    for (guint k = 0; k < most; k++) /* what a later one sets an earlier one may name */
        a[k] = a[k] ? py_current(p, a[k], node) : NULL;
    if (at > most && !any)
        what = "an argument that is not known here";
    p->indexing -= slot;
    p->phasing -= wait;
    p->handing -= product;
    if ((!strcmp(term->name, "max") || !strcmp(term->name, "min")) && at > 2) {
        what = "the largest or smallest of more than two";
        lost = TRUE;
    }
    for (guint k = 0; lost && k < most; k++) /* which is which is not known */
        a[k] = py_opaque(p);
    if (what && p->in_kernel)
        py_law_unread(p, node, what, a, MOST);
    const gboolean computes = term->meaning == py_mean_MAXIMUM ||
                              term->meaning == py_mean_MINIMUM || term->meaning == py_mean_CDIV;
    return !what || p->in_kernel || !computes;
}

/* What is copied says the remark of an export, which is compared with the line. */
static gboolean said_of(PyRead *p, const char *name, const WsPyNode *node)
{
    const WsPyNode *list = NULL;
    g_autoptr(WsPython) tree = strcmp(name, "src") ? NULL : py_said(p, node, "# gather: ", &list);
    return list != NULL;
}

/* What is done to something unknown may be done to anything; what is stored may be. */
static void look_at_operands(PyRead *p, const Term *term, const WsPyNode *node, const Val **a)
{
    static const char *const values[] = { "value",   "layout", "deps",    "mask", "precision",
                                          "pointer", "ptr",    "offsets", "other" };
    static const char *const aside[] = { "mask", "pointer", "other", NULL };
    g_auto(GStrv) name = g_strsplit(term->parameters, " ", -1);
    for (guint i = 0; p->in_kernel && name[i] && i < MOST; i++)
        if (a[i] && g_strv_contains(aside, name[i]))
            py_look_at(p, a[i], node);
    if (!p->in_kernel || !acts(term->meaning))
        return;
    for (guint i = 0; name[i] && i < MOST; i++) {
        gboolean matters = a[i] && a[i]->kind == VAL_OPAQUE;
        for (guint k = 0; k < G_N_ELEMENTS(values); k++)
            matters &= strcmp(values[k], name[i]) != 0;
        if (matters && !said_of(p, name[i], node))
            py_law_unread(p, node, ws_source_format(p->r, "what `%s` is here", name[i]), a, MOST);
    }
    if (!p->group && term->meaning != py_mean_INIT && term->meaning != py_mean_TLE_READER &&
        term->meaning != py_mean_TLE_WRITER)
        py_law_unread(p, node, "what is done outside of the partitions", a, MOST);
}

const Val *py_term(PyRead *p, const WsPyNode *node, gboolean *known)
{
    const WsPyNode *f = node->kid[0];
    const Val *object = NULL;
    g_autofree char *dotted = NULL;
    const char *hint = p->hint;
    const gboolean converting = p->converting;
    if (f->kind == WS_PY_ATTR) {
        const Val *left = py_eval(p, f->kid[0]);
        dotted = g_strdup_printf("%s.%s", left->kind == VAL_NAME ? left->text : "", f->text);
        if (left->kind == VAL_OBJECT || left->kind == VAL_CLASS) {
            const Val *result = py_method(p, left, f->text, node);
            *known = result != NULL;
            return result;
        }
        if (left->kind != VAL_NAME)
            object = left;
    } else if (f->kind == WS_PY_NAME) {
        const Val *v = py_lookup(p, f->text);
        if (v->kind == VAL_NAME && !py_is_changed(p, f->text, v))
            dotted = g_strdup(v->text);
    }
    if (p->names && f->kind == WS_PY_ATTR && g_hash_table_contains(p->names->stored, f->text))
        return NULL; /* it may be something else */
    if (!p->in_kernel && dotted && g_str_has_prefix(dotted, "torch."))
        return NULL; /* torch.zeros, no word of a kernel */
    const Term *terms = p->amd ? gluon_amd : dialects[p->from].term;
    const guint n = p->amd ? G_N_ELEMENTS(gluon_amd) : dialects[p->from].n;
    for (guint i = 0; dotted && i < n; i++) {
        if ((*terms[i].name == '.') != (object != NULL) || !fits(dotted, terms[i].name))
            continue;
        const Val *a[MOST + 1] = { NULL };
        *known = TRUE;
        p->converting =
            terms[i].meaning == py_mean_WRITE || terms[i].meaning == py_mean_TLE_STORE ||
            terms[i].meaning == py_mean_DESC_STORE || terms[i].meaning == py_mean_AMD_BUFFER_STORE;
        if (p->converting)
            p->converted = NULL;
        p->hint = NULL;
        const gboolean bound = bind(p, &terms[i], node, object, a);
        look_at_operands(p, &terms[i], node, a);
        p->converting = converting;
        p->hint = hint;
        const gboolean number = !strcmp(terms[i].name, "constexpr"); /* n.value = … */
        const gboolean stored =
            number && p->names && g_hash_table_contains(p->names->fields, "value");
        return bound && !stored ? terms[i].meaning(p, a, node) : py_opaque(p);
    }
    return NULL;
}
