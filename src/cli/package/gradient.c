#include "cli/package/gradient.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <math.h>
#include <string.h>

#ifdef WS_HAVE_CODEGEN
#include "codegen/reference/reference.h"

/* Small sizes are kept; the others get these, in turn: no multiples of each other, and once the
 * other way round, so that masks of both forms are met. */
enum { SIZE_KEPT = 4, SIZES_MOST = 16, ORDERS = 2, KINDS = 3, TENSOR_MOST = 1 << 20 };
static const gint64 small[ORDERS][KINDS] = { { 5, 7, 6 }, { 7, 5, 6 } };
/* Inputs and steps are multiples of 2^-8, so that what is stored in float32 is exact. */
static const double step = 1.0 / 64;
/* Of the root of the sum of squares of the gradient: what float32 and the quotient leave is 1e-4.
 */
static const double tolerance = 2e-3;

/* One program with tensors in float32, and its reference. */
typedef struct {
    WsProgram program; /* a copy whose tensors are its own */
    WsReference *reference;
    WsLaunchValues *values;
    gint64 size[SIZES_MOST];
    double scalar[SIZES_MOST];
} Part;

/* A tensor of the pair, by name; laid out by the strides of the launches, which agree. */
typedef struct {
    float *data;
    gint64 n; /* floats */
} Memory;

typedef struct {
    const WsPair *pair;
    Part *part;
    GHashTable *memory; /* name -> Memory*, owned */
    GRand *random;
    double worst;
    gboolean *met; /* per tensor of the forward: a gradient of it was not zero */
} Trial;

static void memory_free(gpointer data)
{
    Memory *m = data;
    g_free(m->data);
    g_free(m);
}

static void part_clear(Part *k)
{
    g_clear_pointer(&k->reference, ws_reference_free);
    g_clear_pointer(&k->values, ws_launch_values_free);
    g_clear_pointer(&k->program.tensor, g_free);
}

static gint64 elements(const Part *k, guint tensor)
{
    gint64 n = 1;
    for (guint d = 0; d < k->program.tensor[tensor].rank; d++)
        n *= ws_launch_shape(k->values, tensor, d);
    return n;
}

/* Where an element with this number, last dimension fastest, lies. */
static gint64 place(const Part *k, guint tensor, gint64 element)
{
    gint64 at = 0;
    for (guint d = k->program.tensor[tensor].rank; d-- > 0;) {
        const gint64 extent = ws_launch_shape(k->values, tensor, d);
        at += element % extent * ws_launch_stride(k->values, tensor, d);
        element /= extent;
    }
    return at;
}

/* The memory of a tensor, zeros where it is new. */
static Memory *memory_of(Trial *t, const Part *k, guint tensor)
{
    const char *name = k->program.tensor[tensor].name;
    Memory *m = g_hash_table_lookup(t->memory, name);
    if (m)
        return m;
    const gint64 n = elements(k, tensor);
    m = g_new0(Memory, 1);
    m->n = (n ? place(k, tensor, n - 1) : 0) + 1;
    m->data = g_new0(float, m->n);
    g_hash_table_insert(t->memory, g_strdup(name), m);
    return m;
}

static void fill(Trial *t, const Part *k, guint tensor)
{
    Memory *m = memory_of(t, k, tensor);
    for (gint64 i = 0; i < m->n; i++) {
        double x = -6; /* twelve uniform ones are near enough to a normal one */
        for (int j = 0; j < 12; j++)
            x += g_rand_double(t->random);
        m->data[i] = (float)(floor(x * 256) / 256);
    }
}

/* What the reference of a launch reads, by tensor; it begins anew. Caller frees. */
static const void **begin(Trial *t, Part *k)
{
    const void **base = g_new0(const void *, k->program.n_tensors);
    for (guint i = 0; i < k->program.n_tensors; i++)
        base[i] = memory_of(t, k, i)->data;
    ws_reference_restart(k->reference);
    return base;
}

/* What a launch leaves, by its reference: written, or added to what is there. */
static gboolean evaluate(Trial *t, guint launch, GError **error)
{
    Part *k = &t->part[launch];
    const WsProgram *p = &k->program;
    g_autofree const void **base = begin(t, k);
    const WsReferenceInput input = { base, k->size, k->scalar, NULL };
    for (guint i = 0; i < p->n_tensors; i++) {
        const gint64 n = elements(k, i);
        if (!ws_tensor_is_output(&p->tensor[i]) || !n)
            continue;
        g_autofree double *out = g_new(double, n);
        if (!ws_reference_eval(k->reference, i, &input, NULL, 0, n, out, error))
            return FALSE;
        float *data = memory_of(t, k, i)->data;
        for (gint64 e = 0; e < n; e++) {
            float *to = &data[place(k, i, e)];
            *to = (float)(out[e] + (p->tensor[i].access == WS_ACCESS_REDUCE ? *to : 0));
        }
    }
    return TRUE;
}

/* The sum of the forward's outputs, weighted by the gradients that the launches are given. */
static gboolean loss(Trial *t, double *sum, GError **error)
{
    Part *k = &t->part[0];
    const WsProgram *p = &k->program;
    g_autofree const void **base = begin(t, k);
    const WsReferenceInput input = { base, k->size, k->scalar, NULL };
    *sum = 0;
    for (guint i = 0; i < p->n_tensors; i++) {
        g_autofree char *name = g_strconcat("D", p->tensor[i].name, NULL);
        const Memory *weight = g_hash_table_lookup(t->memory, name);
        const gint64 n = elements(k, i);
        if (!ws_tensor_is_output(&p->tensor[i]) || !weight || !n)
            continue;
        g_autofree double *out = g_new(double, n);
        if (!ws_reference_eval(k->reference, i, &input, NULL, 0, n, out, error))
            return FALSE;
        for (gint64 e = 0; e < n; e++)
            *sum += out[e] * (double)weight->data[place(k, i, e)];
    }
    return TRUE;
}

static void move(Memory *m, const gint8 *direction, double by)
{
    for (gint64 i = 0; i < m->n; i++)
        m->data[i] = (float)((double)m->data[i] + by * direction[i]);
}

/* The gradient of one input, against the difference quotient along a random direction. */
static gboolean along(Trial *t, guint tensor, const char *sizes, GError **error)
{
    const Part *k = &t->part[0];
    const char *name = k->program.tensor[tensor].name;
    g_autofree char *of = g_strconcat("D", name, NULL);
    Memory *x = memory_of(t, k, tensor);
    const Memory *gradient = g_hash_table_lookup(t->memory, of);
    g_autofree gint8 *direction = g_new(gint8, x->n);
    double above, below, found = 0, square = 0;
    for (gint64 i = 0; i < x->n; i++) {
        direction[i] = g_rand_boolean(t->random) ? 1 : -1;
        found += (double)gradient->data[i] * direction[i];
        square += (double)gradient->data[i] * (double)gradient->data[i];
    }
    move(x, direction, step);
    const gboolean up = loss(t, &above, error);
    move(x, direction, -2 * step);
    const gboolean down = up && loss(t, &below, error);
    move(x, direction, step);
    if (!down)
        return FALSE;
    const double expected = (above - below) / (2 * step), off = fabs(found - expected);
    const double room = sqrt(square) + fabs(expected) + 1e-9;
    t->worst = fmax(t->worst, off / room);
    t->met[tensor] = t->met[tensor] || fabs(expected) > 0;
    if (off <= tolerance * room)
        return TRUE;
    g_set_error(
        error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_PAIR,
        "%s is not the gradient of %s by the references: along a random direction it is %g, "
        "and %g by the difference quotient of %s (%s)",
        of, name, found, expected, t->pair->label[0], sizes);
    return FALSE;
}

static gboolean try_all(Trial *t, const char *sizes, GError **error)
{
    const WsPair *pair = t->pair;
    for (guint i = 0; i < pair->n; i++)
        for (guint x = 0; x < t->part[i].program.n_tensors; x++) {
            const WsTensor *tensor = &t->part[i].program.tensor[x];
            if (tensor->access == WS_ACCESS_READ &&
                !g_hash_table_contains(t->memory, tensor->name) &&
                (i == 0 || g_str_has_prefix(tensor->name, "D")))
                fill(t, &t->part[i], x); /* inputs, and gradients that come in */
            memory_of(t, &t->part[i], x);
        }
    for (guint i = 0; i < pair->n; i++)
        if (!evaluate(t, i, error)) {
            g_prefix_error(error, "%s: ", pair->label[i]);
            return FALSE;
        }
    for (guint x = 0; x < t->part[0].program.n_tensors; x++)
        if (t->part[0].program.tensor[x].access == WS_ACCESS_READ && !along(t, x, sizes, error))
            return FALSE;
    return TRUE;
}

/* Sizes of a launch by name; FALSE: it does not take them, or they are too large to try. */
static gboolean launch_with(Part *k, const WsSize *all, guint n)
{
    const WsProgram *p = &k->program;
    WsSize own[SIZES_MOST];
    guint n_own = 0;
    for (guint i = 0; i < n; i++)
        for (guint v = 0; v < p->n_vars; v++)
            if (p->var[v].kind == WS_VAR_SIZE && strcmp(p->var[v].name, all[i].name) == 0)
                own[n_own++] = all[i];
    g_clear_pointer(&k->values, ws_launch_values_free);
    k->values = ws_launch_values(p, own, n_own, FALSE, NULL);
    gboolean fits = k->values != NULL;
    for (guint t = 0; fits && t < p->n_tensors; t++)
        fits = elements(k, t) > 0 && elements(k, t) <= TENSOR_MOST;
    guint s = 0, r = 0;
    for (guint v = 0; fits && v < p->n_vars; v++)
        if (p->var[v].kind == WS_VAR_SIZE)
            k->size[s++] = ws_launch_var(k->values, (gint)v);
        else if (p->var[v].kind == WS_VAR_SCALAR)
            k->scalar[r++] = ws_launch_var_real(k->values, (gint)v);
    return fits;
}

/* Sizes of the forward: the small ones of its rehearsal, and other ones for the large. */
static guint sizes_of(const WsProgram *p, guint order, WsSize *size, GString *text)
{
    guint n = 0, large = 0;
    for (guint v = 0; v < p->n_vars; v++) {
        if (p->var[v].kind != WS_VAR_SIZE)
            continue;
        gint64 value = p->var[v].rehearse;
        if (value > SIZE_KEPT)
            value = small[order][large++ % KINDS];
        size[n++] = (WsSize){ p->var[v].name, value };
        g_string_append_printf(text, "%s%s=%" G_GINT64_FORMAT, text->len ? " " : "", p->var[v].name,
                               value);
    }
    return n;
}

static gboolean prepare(Part *k, const WsProgram *p, const char *label, GError **error)
{
    guint n = 0;
    for (guint v = 0; v < p->n_vars; v++)
        n += p->var[v].kind == WS_VAR_SIZE || p->var[v].kind == WS_VAR_SCALAR;
    if (n > SIZES_MOST) {
        g_set_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_LENS,
                    "%s has %u sizes and scalars: not supported by package --backward (most: %d)",
                    label, n, SIZES_MOST);
        return FALSE;
    }
    k->program = *p;
    k->program.tensor = g_memdup2(p->tensor, p->n_tensors * sizeof *p->tensor);
    for (guint t = 0; t < p->n_tensors; t++)
        k->program.tensor[t].dtype = WS_DTYPE_F32;
    k->reference = ws_reference_new(&k->program, error);
    if (!k->reference)
        g_prefix_error(error, "%s: ", label);
    return k->reference != NULL;
}

static gboolean try_orders(Trial *t, char **said, GError **error)
{
    g_autoptr(GString) tried = g_string_new(NULL);
    for (guint order = 0; order < ORDERS; order++) {
        WsSize size[SIZES_MOST];
        g_autoptr(GString) text = g_string_new(NULL);
        const guint n = sizes_of(&t->part[0].program, order, size, text);
        gboolean fits = TRUE;
        for (guint i = 0; fits && i < t->pair->n; i++)
            fits = launch_with(&t->part[i], size, n);
        if (!fits)
            continue;
        g_hash_table_remove_all(t->memory);
        if (!try_all(t, text->str, error))
            return FALSE;
        g_string_append_printf(tried, "%s%s", tried->len ? " and " : "", text->str);
    }
    if (!tried->len) {
        g_set_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_LENS,
                    "%s: at no small sizes that were tried all designs can be launched, so that "
                    "the gradient cannot be checked: not supported by package --backward",
                    t->pair->label[0]);
        return FALSE;
    }
    const WsProgram *forward = &t->part[0].program;
    for (guint x = 0; x < forward->n_tensors; x++)
        if (forward->tensor[x].access == WS_ACCESS_READ && !t->met[x]) {
            g_set_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_LENS,
                        "%s: nothing depends on %s at the sizes that were tried (%s), so that its "
                        "gradient cannot be checked: not supported by package --backward",
                        t->pair->label[0], forward->tensor[x].name, tried->str);
            return FALSE;
        }
    *said = g_strdup_printf(
        "By their references in float64 the launches make the gradient of the forward: at %s, "
        "along "
        "a random direction for each input, they agree with its difference quotient (worst "
        "deviation %.1e of what is compared, of %.0e allowed); no other sizes were tried. That the "
        "kernels compute their "
        "references is what `warpstave rehearse` and the runner compare.",
        tried->str, t->worst, tolerance);
    return TRUE;
}

gboolean ws_cli_gradient_agrees(const WsPair *pair, char **said, GError **error)
{
    g_autofree Part *part = g_new0(Part, pair->n);
    g_autoptr(GHashTable) memory =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, memory_free);
    g_autoptr(GRand) random = g_rand_new_with_seed(1);
    g_autofree gboolean *met = g_new0(gboolean, pair->launch[0].program->n_tensors);
    Trial t = { pair, part, memory, random, 0, met };
    gboolean ready = TRUE;
    for (guint i = 0; ready && i < pair->n; i++)
        ready = prepare(&part[i], pair->launch[i].program, pair->label[i], error);
    const gboolean agrees = ready && try_orders(&t, said, error);
    for (guint i = 0; i < pair->n; i++)
        part_clear(&part[i]);
    return agrees;
}

#endif
