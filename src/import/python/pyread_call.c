#include "import/python/pyread_object.h"
#include "import/python/pyread_terms.h"

#include <string.h>

/* Calls of a dialect: found in its table, arguments bound, meaning called. */

typedef struct {
    const char *name;
    PyMeaning meaning;
    const char *parameters;
} Term;

#define WS_TERM(name, meaning, parameters) { name, py_mean_##meaning, parameters },
static const Term gluon[] = {
#include "import/python/gluon.def"
};
static const Term tle[] = {
#include "import/python/tle.def"
};
#undef WS_TERM

static const struct {
    const Term *term;
    guint n;
} dialects[WS_IMPORT_FROM_COUNT] = {
    [WS_IMPORT_GLUON] = { gluon, G_N_ELEMENTS(gluon) },
    [WS_IMPORT_TLE] = { tle, G_N_ELEMENTS(tle) },
};

static gboolean fits(const char *dotted, const char *name)
{
    const gsize n = strlen(dotted), m = strlen(name);
    if (*name == '.')
        return n >= m && !strcmp(dotted + n - m, name);
    return n >= m && !strcmp(dotted + n - m, name) && (n == m || dotted[n - m - 1] == '.');
}

static void bind(PyRead *p, const char *parameters, const WsPyNode *node, const Val *object,
                 const Val **a)
{
    g_auto(GStrv) name = g_strsplit(parameters, " ", -1);
    guint at = 0;
    if (object)
        a[at++] = object;
    for (guint i = 1; i < node->n; i++) {
        const WsPyNode *arg = node->kid[i];
        if (arg->kind == WS_PY_KEYWORD) {
            for (guint k = 0; name[k] && k < 8; k++)
                if (!strcmp(name[k], arg->text))
                    a[k] = py_eval(p, arg->kid[0]);
        } else if (at < 8) {
            a[at++] = py_eval(p, arg);
        }
    }
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
        if (v->kind == VAL_NAME)
            dotted = g_strdup(v->text);
    }
    const Term *terms = dialects[p->from].term;
    for (guint i = 0; dotted && i < dialects[p->from].n; i++) {
        if ((*terms[i].name == '.') != (object != NULL) || !fits(dotted, terms[i].name))
            continue;
        const Val *a[9] = { NULL };
        *known = TRUE;
        p->converting = terms[i].meaning == py_mean_WRITE || terms[i].meaning == py_mean_TLE_STORE;
        p->hint = NULL;
        bind(p, terms[i].parameters, node, object, a);
        p->converting = converting;
        p->hint = hint;
        return terms[i].meaning(p, a, node);
    }
    return NULL;
}
