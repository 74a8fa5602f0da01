/* Whether designs are a forward one and its gradient: names, types, shapes, strides, scalars. */
#include "package/launch_text.h"
#include "package/pair.h"
#include "package/tables.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

/* A tensor that launches pass on: of which launch, and which it is there. */
typedef struct {
    guint launch, tensor;
} Known;

typedef struct {
    const WsPair *pair;
    GHashTable *known; /* name -> Known*, owned */
    GHashTable *taken; /* names of the forward's outputs whose gradient is read */
} Check;

static const WsProgram *program_of(const WsPair *pair, guint launch)
{
    return pair->launch[launch].program;
}

static gboolean refuse(GError **error, int code, const char *format, ...) G_GNUC_PRINTF(3, 4);
static gboolean refuse(GError **error, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, WS_PACKAGE_ERROR, code, text);
    return FALSE;
}

/* Type, shape and strides of a tensor over the names of sizes; NULL with the error. */
static char *form_of(const WsProgram *p, guint tensor, GError **error)
{
    const WsTensor *t = &p->tensor[tensor];
    g_autoptr(GString) out = g_string_new(ws_dtype_text(t->dtype));
    g_string_append(out, " [");
    for (guint d = 0; d < t->rank; d++) {
        g_string_append(out, d ? ", " : "");
        if (!ws_launch_text(out, p, t->shape[d], WS_TEXT_PYTHON, error))
            return NULL;
    }
    g_string_append(out, "] strides [");
    for (guint d = 0; d < t->rank; d++) {
        g_string_append(out, d ? ", " : "");
        if (!ws_package_stride(out, p, tensor, d, TRUE, error))
            return NULL;
    }
    g_string_append_c(out, ']');
    return g_string_free(g_steal_pointer(&out), FALSE);
}

/* The same type, shape and strides; the second may not have strides that the first cannot take. */
static gboolean alike(const Check *c, Known a, Known b, GError **error)
{
    const WsPair *pair = c->pair;
    const WsProgram *p = program_of(pair, a.launch), *q = program_of(pair, b.launch);
    const char *name = q->tensor[b.tensor].name, *other = p->tensor[a.tensor].name;
    g_autofree char *first = form_of(p, a.tensor, error);
    g_autofree char *second = first ? form_of(q, b.tensor, error) : NULL;
    if (!second)
        return FALSE;
    if (strcmp(first, second) != 0)
        return refuse(error, WS_PACKAGE_ERROR_PAIR, "%s of %s and %s of %s differ: %s | %s", other,
                      pair->label[a.launch], name, pair->label[b.launch], first, second);
    if (a.launch == 0 && ws_package_strides_free(&pair->launch[0], a.tensor) &&
        !ws_package_strides_free(&pair->launch[b.launch], b.tensor))
        return refuse(error, WS_PACKAGE_ERROR_PAIR,
                      "%s takes any strides of %s, by tensor maps; %s computes its addresses",
                      pair->label[0], other, pair->label[b.launch]);
    return TRUE;
}

static const Known *known(const Check *c, const char *name)
{
    return g_hash_table_lookup(c->known, name);
}

static void learn(Check *c, guint launch, guint tensor)
{
    const Known k = { launch, tensor };
    g_hash_table_replace(c->known, program_of(c->pair, launch)->tensor[tensor].name,
                         g_memdup2(&k, sizeof k));
}

static gboolean carried(const Check *c, guint launch, GError **error)
{
    const WsProgram *p = program_of(c->pair, launch);
    const char *label = c->pair->label[launch];
    for (guint t = 0; t < p->n_tensors; t++) {
        const WsTensor *x = &p->tensor[t];
        if (!ws_dtype_real(x->dtype))
            return refuse(error, WS_PACKAGE_ERROR_LENS,
                          "%s: %s is a tensor of integers: not supported by package --backward "
                          "(its gradient is tried on tensors of real numbers)",
                          label, x->name);
        if (launch == 0 && x->access == WS_ACCESS_REDUCE)
            return refuse(error, WS_PACKAGE_ERROR_LENS,
                          "%s: %s is added to: not supported of a forward design by package "
                          "--backward; a gradient is that of a tensor written",
                          label, x->name);
    }
    if (launch == 0 && !p->n_tensors)
        return refuse(error, WS_PACKAGE_ERROR_PAIR, "%s has no tensors", label);
    return TRUE;
}

/* The forward's tensor of which this is the name of the gradient, or NULL. */
static const Known *gradient_of(const Check *c, const char *name, WsTensorAccess access)
{
    const Known *k = *name == 'D' && name[1] ? known(c, name + 1) : NULL;
    return k && k->launch == 0 && program_of(c->pair, 0)->tensor[k->tensor].access == access ? k
                                                                                             : NULL;
}

static gboolean read_tensor(Check *c, guint launch, guint tensor, GError **error)
{
    const char *name = program_of(c->pair, launch)->tensor[tensor].name;
    const Known here = { launch, tensor };
    const Known *k = known(c, name);
    if (k)
        return alike(c, *k, here, error);
    k = gradient_of(c, name, WS_ACCESS_WRITE);
    if (!k)
        return refuse(error, WS_PACKAGE_ERROR_PAIR,
                      "%s reads %s, which is no tensor of %s, not the gradient of an output of it "
                      "(D and its name), "
                      "and was not written by a launch before",
                      c->pair->label[launch], name, c->pair->label[0]);
    g_hash_table_add(c->taken, program_of(c->pair, 0)->tensor[k->tensor].name);
    return alike(c, *k, here, error);
}

static gboolean write_tensor(Check *c, guint launch, guint tensor, GError **error)
{
    const WsTensor *t = &program_of(c->pair, launch)->tensor[tensor];
    const Known here = { launch, tensor };
    const Known *k = known(c, t->name);
    if (!k && gradient_of(c, t->name, WS_ACCESS_WRITE))
        return refuse(error, WS_PACKAGE_ERROR_PAIR,
                      "%s writes %s, which is the name of a gradient that comes in",
                      c->pair->label[launch], t->name);
    if (!k) {
        learn(c, launch, tensor);
        return TRUE;
    }
    if (k->launch == 0 || t->access != WS_ACCESS_REDUCE)
        return refuse(error, WS_PACKAGE_ERROR_PAIR, "%s writes %s, a tensor of %s",
                      c->pair->label[launch], t->name, c->pair->label[k->launch]);
    return alike(c, *k, here, error);
}

/* What a launch reads is there before what it writes. */
static gboolean tensors(Check *c, guint launch, GError **error)
{
    const WsProgram *p = program_of(c->pair, launch);
    for (guint t = 0; t < p->n_tensors; t++)
        if (p->tensor[t].access == WS_ACCESS_READ && !read_tensor(c, launch, t, error))
            return FALSE;
    for (guint t = 0; t < p->n_tensors; t++)
        if (p->tensor[t].access != WS_ACCESS_READ && !write_tensor(c, launch, t, error))
            return FALSE;
    return TRUE;
}

static gboolean has_variable(const WsProgram *p, WsVarKind kind, const char *name)
{
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == kind && strcmp(p->var[i].name, name) == 0)
            return TRUE;
    return FALSE;
}

static void put_extent(GString *out, guint tensor, guint d)
{
    (void)tensor, (void)d;
    g_string_append_c(out, '.');
}

/* Sizes and scalars of a launch are the forward's, and its tensors say the sizes. */
static gboolean variables(const Check *c, guint launch, GError **error)
{
    const WsProgram *p = program_of(c->pair, launch);
    for (guint i = 0; i < p->n_vars; i++) {
        const WsVarKind kind = p->var[i].kind;
        if (kind != WS_VAR_SIZE && kind != WS_VAR_SCALAR)
            continue;
        if (!has_variable(program_of(c->pair, 0), kind, p->var[i].name))
            return refuse(error, WS_PACKAGE_ERROR_PAIR, "%s of %s is no %s of %s", p->var[i].name,
                          c->pair->label[launch], kind == WS_VAR_SIZE ? "size" : "scalar",
                          c->pair->label[0]);
        g_autoptr(GString) where = g_string_new(NULL);
        if (kind == WS_VAR_SIZE)
            ws_package_extents(where, p, i, put_extent);
        if (kind == WS_VAR_SIZE && !where->len)
            return refuse(error, WS_PACKAGE_ERROR_LENS,
                          "%s of %s is the extent of no tensor: not supported by package "
                          "--backward, whose launches take sizes from tensors",
                          p->var[i].name, c->pair->label[launch]);
    }
    return TRUE;
}

/* A scalar that the gradient does not know is not in it. */
static gboolean scalars_used(const WsPair *pair, GError **error)
{
    const WsProgram *p = program_of(pair, 0);
    for (guint i = 0; i < p->n_vars; i++) {
        gboolean used = p->var[i].kind != WS_VAR_SCALAR;
        for (guint k = 1; k < pair->n && !used; k++)
            used = has_variable(program_of(pair, k), WS_VAR_SCALAR, p->var[i].name);
        if (!used)
            return refuse(error, WS_PACKAGE_ERROR_PAIR,
                          "%s is a scalar of %s and of none of the designs of its gradient",
                          p->var[i].name, pair->label[0]);
    }
    return TRUE;
}

static gboolean gradients(Check *c, GError **error)
{
    const WsProgram *p = program_of(c->pair, 0);
    for (guint t = 0; t < p->n_tensors; t++) {
        const Known here = { 0, t };
        g_autofree char *name = g_strconcat("D", p->tensor[t].name, NULL);
        if (p->tensor[t].access != WS_ACCESS_READ)
            continue;
        const Known *k = known(c, name);
        if (!k || k->launch == 0)
            return refuse(error, WS_PACKAGE_ERROR_PAIR,
                          "no launch writes %s, the gradient of the input %s of %s", name,
                          p->tensor[t].name, c->pair->label[0]);
        if (!alike(c, here, *k, error))
            return FALSE;
    }
    if (!g_hash_table_size(c->taken))
        return refuse(error, WS_PACKAGE_ERROR_PAIR,
                      "no launch reads the gradient of an output of %s", c->pair->label[0]);
    return TRUE;
}

gboolean ws_pair_check(const WsPair *pair, GError **error)
{
    if (pair->n < 2)
        return refuse(error, WS_PACKAGE_ERROR_PAIR, "a pair needs a design of the gradient");
    for (guint i = 0; i < pair->n; i++) {
        g_autofree char *name = ws_pair_launch_name(pair, i);
        WsPackageSpec one = pair->launch[i];
        one.name = name;
        if (!ws_package_check(&one, error)) {
            g_prefix_error(error, "%s: ", pair->label[i]);
            return FALSE;
        }
    }
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    g_autoptr(GHashTable) taken = g_hash_table_new(g_str_hash, g_str_equal);
    Check c = { pair, names, taken };
    for (guint i = 0; i < pair->n; i++)
        if (!carried(&c, i, error))
            return FALSE;
    for (guint t = 0; t < program_of(pair, 0)->n_tensors; t++)
        learn(&c, 0, t);
    for (guint i = 1; i < pair->n; i++)
        if (!variables(&c, i, error) || !tensors(&c, i, error))
            return FALSE;
    return scalars_used(pair, error) && gradients(&c, error);
}
