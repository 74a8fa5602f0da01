#include "import/python/names/names.h"
#include "import/python/pyread_host.h"
#include "import/python/pyread_kernels.h"

#include <string.h>

/* Parameters that autotune and heuristics choose: their values, and those of the launch that they
 * replace, are not known. */

#define MOST_FOLLOWED 200 /* names */

typedef struct {
    PyRead *p;
    GHashTable *names; /* of parameters that are chosen */
    GHashTable *seen;  /* names that were followed */
    gboolean all;      /* any may be */
    guint n;           /* configurations */
    gint64 warps, ctas;
    gboolean differ;
} Chosen;

static void add_keys(Chosen *c, const WsPyNode *dict)
{
    gboolean plain = dict->kind == WS_PY_DICT && dict->n % 2 == 0;
    for (guint i = 0; plain && i < dict->n; i += 2)
        plain = dict->kid[i]->kind == WS_PY_STRING && *dict->kid[i]->text == '"' &&
                dict->kid[i + 1]->kind != WS_PY_COMP && !strchr(dict->kid[i]->text, '\\');
    for (guint i = 0; plain && i < dict->n; i += 2)
        g_hash_table_add(c->names,
                         g_strndup(dict->kid[i]->text + 1, strlen(dict->kid[i]->text) - 2));
    c->all |= !plain;
}

static void configuration(Chosen *c, const WsPyNode *call)
{
    gint64 warps = 4, ctas = 1;
    for (guint i = 1; i < call->n; i++) {
        const WsPyNode *arg = call->kid[i];
        const gboolean named = arg->kind == WS_PY_KEYWORD;
        gint64 *number = !named                            ? i == 2 ? &warps : NULL
                         : !strcmp(arg->text, "num_warps") ? &warps
                         : !strcmp(arg->text, "num_ctas")  ? &ctas
                                                           : NULL;
        const WsPyNode *v = named ? arg->kid[0] : arg;
        c->differ |= arg->kind == WS_PY_STAR || (number && v->kind != WS_PY_INT) ||
                     (named && !strcmp(arg->text, "maxnreg"));
        if (number)
            *number = v->i;
        if (i == 1 || (named && !strcmp(arg->text, "kwargs")))
            add_keys(c, v);
    }
    c->differ |= c->n && (warps != c->warps || ctas != c->ctas);
    c->warps = warps;
    c->ctas = ctas;
    c->n++;
}

static void configurations(Chosen *c, const WsPyNode *node);

/* In what assignments of the file give the name. */
static void assigned(Chosen *c, const WsPyNode *node, const char *name)
{
    for (guint i = 0; node->kind == WS_PY_ASSIGN && i + 1 < node->n; i++)
        if (node->kid[i]->kind == WS_PY_NAME && !strcmp(node->kid[i]->text, name))
            configurations(c, node->kid[node->n - 1]);
    if (node->kind == WS_PY_AUGMENT && py_root(node->kid[0])->kind == WS_PY_NAME &&
        !strcmp(py_root(node->kid[0])->text, name))
        configurations(c, node->kid[1]);
    for (guint i = 0; i < node->n; i++)
        assigned(c, node->kid[i], name);
}

/* All that `node` names, and what functions and variables of the file hold that it names. */
static void configurations(Chosen *c, const WsPyNode *node)
{
    const WsPyNode *f = node->kind == WS_PY_CALL ? node->kid[0] : node;
    if (f != node && (f->kind == WS_PY_NAME || f->kind == WS_PY_ATTR) &&
        g_str_has_suffix(f->text, "Config") && node->n > 1)
        configuration(c, node);
    if (g_hash_table_size(c->seen) >= MOST_FOLLOWED)
        c->all = c->differ = TRUE;
    else if (node->kind == WS_PY_NAME && g_hash_table_add(c->seen, (gpointer)node->text)) {
        const WsPyNode *own = g_hash_table_lookup(c->p->names->functions, node->text);
        c->all |= g_hash_table_contains(c->p->names->many, node->text);
        if (own && !py_is_jit(own))
            configurations(c, own->kid[1]);
        assigned(c, c->p->names->module, node->text);
    }
    for (guint i = 0; i < node->n; i++)
        configurations(c, node->kid[i]);
}

static void tuned(Chosen *c, const WsPyNode *decorator, const Val **args)
{
    PyRead *p = c->p;
    const WsPyNode *params = p->kernel->kid[0];
    configurations(c, decorator);
    for (guint i = 0; i < params->n; i++) /* of those that a launch says, none can be */
        if (!args[i] && (c->all || !c->n || g_hash_table_contains(c->names, params->kid[i]->text)))
            args[i] = py_open(p, params->kid[i]->text);
    gint64 said;
    const Val *warps = py_defined(p, "num_warps");
    if (warps && py_known(warps, &said) && said >= 1 && said <= 16) {
        p->num_warps = said; /* of the configuration that is asked about */
        return;
    }
    const gboolean other = c->n && (c->warps != p->num_warps || c->ctas != p->r->cluster);
    if (c->n && !c->differ && other && p->num_warps == 4 && p->r->cluster == 1 && c->warps >= 1 &&
        c->warps <= 16 && c->ctas == 1)
        p->num_warps = c->warps;
    else if (!c->n || c->differ || other)
        py_unread(p, p->kernel, "the warps, CTAs and registers of its configurations");
}

void py_leave_chosen(PyRead *p, const Val **args)
{
    const WsPyNode *params = p->kernel->kid[0];
    for (guint k = 2; k < p->kernel->n; k++) {
        const WsPyNode *d = p->kernel->kid[k];
        g_autofree char *name = py_decorator(d);
        g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
        Chosen c = { .p = p, .names = names, .seen = seen };
        if (name && g_str_has_suffix(name, "autotune")) {
            tuned(&c, d, args);
        } else if (name && g_str_has_suffix(name, "heuristics")) {
            c.all = d->kind != WS_PY_CALL || d->n != 2;
            if (!c.all)
                add_keys(&c, d->kid[1]->kind == WS_PY_KEYWORD ? d->kid[1]->kid[0] : d->kid[1]);
            for (guint i = 0; i < params->n; i++)
                if (c.all || g_hash_table_contains(names, params->kid[i]->text))
                    args[i] = py_open(p, params->kid[i]->text);
        }
    }
}
