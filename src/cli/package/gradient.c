#include "cli/package/gradient.h"
#include "cli/package/gradient_sizes.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <math.h>
#include <string.h>

#ifdef WS_HAVE_CODEGEN
#include "codegen/reference/reference.h"

/* A larger tensor is sampled: of each dimension so many places at most, the same ones for
 * dimensions of one extent, so that samples of tensors that belong together meet. */
enum { WHOLE = 1 << 14, PLACES = 12 };
/* Inputs and steps are multiples of 2^-8, so that what is stored in float32 is exact. */
static const double step = 1.0 / 64;
/* Of the root of the sum of squares of the gradient: what float32 and the quotient leave is 1e-4.
 */
static const double tolerance = 2e-3;
/* Of all evaluations at one set of sizes: a second or two. */
static const gint64 terms_most = (gint64)3 << 27;

/* One program with tensors in float32, and its reference. */
typedef struct {
    WsProgram program; /* a copy whose tensors are its own */
    WsReference *reference;
    WsLaunchValues *values;
    gint64 size[WS_GRADIENT_SIZES];
    double scalar[WS_GRADIENT_SIZES];
} Part;

/* A tensor of the pair, by name; laid out by the strides of the launches, which agree. */
typedef struct {
    float *data;
    gint64 n; /* floats */
} Memory;

/* Elements of a tensor that are looked at: numbers, last dimension fastest; ascending. */
typedef struct {
    gint64 *element;
    gint64 n;
} Sample;

typedef struct {
    const WsPair *pair;
    Part *part;
    GHashTable *memory; /* name -> Memory*, owned */
    GRand *random;
    gint64 left; /* terms that may be added up at these sizes */
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

/* Whether the place is one of those that are looked at in a dimension of this extent: the first,
 * the last, and others that a hash chooses. */
static gboolean looked_at(gint64 at, gint64 extent)
{
    if (extent <= PLACES || at == 0 || at == extent - 1)
        return TRUE;
    const guint64 piece = (guint64)((at - 1) * (PLACES - 2) / (extent - 2)); /* one of each piece */
    guint64 h = (piece + 1) * 0x9e3779b97f4a7c15u ^ (guint64)extent * 0xff51afd7ed558ccdu;
    h ^= h >> 29;
    const gint64 first = ((gint64)piece * (extent - 2) + PLACES - 3) / (PLACES - 2),
                 next = (((gint64)piece + 1) * (extent - 2) + PLACES - 3) / (PLACES - 2);
    return at - 1 == first + (gint64)(h % (guint64)(next - first));
}

static void sample_clear(Sample *s)
{
    g_free(s->element);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sample, sample_clear)

static Sample sample_of(const Part *k, guint tensor)
{
    const gint64 all = elements(k, tensor);
    Sample s = { g_new(gint64, all), 0 };
    for (gint64 e = 0; e < all; e++) {
        gboolean in = TRUE;
        gint64 rest = e;
        for (guint d = k->program.tensor[tensor].rank; all > WHOLE && in && d-- > 0;) {
            const gint64 extent = ws_launch_shape(k->values, tensor, d);
            in = looked_at(rest % extent, extent);
            rest /= extent;
        }
        if (in)
            s.element[s.n++] = e;
    }
    return s;
}

static float normal(Trial *t)
{
    double x = -6; /* twelve uniform ones are near enough to a normal one */
    for (int j = 0; j < 12; j++)
        x += g_rand_double(t->random);
    return (float)(floor(x * 256) / 256);
}

static void fill(Trial *t, const Part *k, guint tensor)
{
    Memory *m = memory_of(t, k, tensor);
    for (gint64 i = 0; i < m->n; i++)
        m->data[i] = normal(t);
}

/* The gradient of an output that comes in: zero but at the sample of the output. */
static void weigh(Trial *t, const Part *k, guint tensor)
{
    Memory *m = memory_of(t, k, tensor);
    g_auto(Sample) s = sample_of(k, tensor);
    for (gint64 i = 0; i < s.n; i++)
        m->data[place(k, tensor, s.element[i])] = normal(t);
}

/* What the reference of a launch reads, by tensor. Caller frees. */
static const void **bases(Trial *t, const Part *k)
{
    const void **base = g_new0(const void *, k->program.n_tensors);
    for (guint i = 0; i < k->program.n_tensors; i++)
        base[i] = memory_of(t, k, i)->data;
    return base;
}

/* Elements of one tensor. Where its terms do not suffice none are left. */
static gboolean compute(Trial *t, Part *k, guint tensor, const Sample *s, double *out,
                        GError **error)
{
    g_autofree const void **base = bases(t, k);
    const WsReferenceInput input = { base, k->size, k->scalar, NULL };
    ws_reference_limit(k->reference, t->left);
    const gboolean done =
        ws_reference_eval(k->reference, tensor, &input,
                          s->n < elements(k, tensor) ? s->element : NULL, 0, s->n, out, error);
    t->left = ws_reference_left(k->reference);
    return done;
}

static gboolean is_read(const Trial *t, guint after, const char *name)
{
    for (guint i = after + 1; i < t->pair->n; i++) {
        const WsProgram *p = &t->part[i].program;
        for (guint x = 0; x < p->n_tensors; x++)
            if (p->tensor[x].access == WS_ACCESS_READ && strcmp(p->tensor[x].name, name) == 0)
                return TRUE;
    }
    return FALSE;
}

/* What of a tensor has to be known: all that a later launch reads, else the sample of a gradient.
 */
static Sample wanted(const Trial *t, guint launch, guint tensor)
{
    const Part *k = &t->part[launch];
    if (!is_read(t, launch, k->program.tensor[tensor].name))
        return launch ? sample_of(k, tensor) : (Sample){ 0 };
    Sample all = { g_new(gint64, elements(k, tensor)), elements(k, tensor) };
    for (gint64 e = 0; e < all.n; e++)
        all.element[e] = e;
    return all;
}

/* What a launch leaves, by its reference: written, or added to what is there. */
static gboolean evaluate(Trial *t, guint launch, GError **error)
{
    Part *k = &t->part[launch];
    const WsProgram *p = &k->program;
    for (guint i = 0; i < p->n_tensors; i++) {
        if (!ws_tensor_is_output(&p->tensor[i]))
            continue;
        g_auto(Sample) s = wanted(t, launch, i);
        g_autofree double *out = g_new(double, s.n + 1);
        if (s.n && !compute(t, k, i, &s, out, error))
            return FALSE;
        float *data = memory_of(t, k, i)->data;
        for (gint64 e = 0; e < s.n; e++) {
            float *to = &data[place(k, i, s.element[e])];
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
    *sum = 0;
    for (guint i = 0; i < p->n_tensors; i++) {
        g_autofree char *name = g_strconcat("D", p->tensor[i].name, NULL);
        const Memory *weight = g_hash_table_lookup(t->memory, name);
        if (!ws_tensor_is_output(&p->tensor[i]) || !weight)
            continue;
        g_auto(Sample) s = sample_of(k, i); /* elsewhere the weight is 0 */
        g_autofree double *out = g_new(double, s.n + 1);
        if (!compute(t, k, i, &s, out, error))
            return FALSE;
        for (gint64 e = 0; e < s.n; e++)
            *sum += out[e] * (double)weight->data[place(k, i, s.element[e])];
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
    g_autofree gint8 *direction = g_new0(gint8, x->n);
    g_auto(Sample) s = sample_of(k, tensor);
    double above, below, found = 0, square = 0;
    for (gint64 e = 0; e < s.n; e++) {
        const gint64 i = place(k, tensor, s.element[e]);
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

/* Whether this is the name of the gradient of an output. */
static gboolean comes_in(const WsProgram *forward, const char *name)
{
    for (guint x = 0; x < forward->n_tensors; x++)
        if (*name == 'D' && ws_tensor_is_output(&forward->tensor[x]) &&
            strcmp(name + 1, forward->tensor[x].name) == 0)
            return TRUE;
    return FALSE;
}

static gboolean try_all(Trial *t, const char *sizes, GError **error)
{
    const WsPair *pair = t->pair;
    for (guint i = 0; i < pair->n; i++)
        for (guint x = 0; x < t->part[i].program.n_tensors; x++) {
            const WsTensor *tensor = &t->part[i].program.tensor[x];
            if (tensor->access == WS_ACCESS_READ &&
                !g_hash_table_contains(t->memory, tensor->name)) {
                if (i == 0)
                    fill(t, &t->part[i], x);
                else if (comes_in(&t->part[0].program, tensor->name))
                    weigh(t, &t->part[i], x);
            }
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

/* Sizes of a launch by name, which it takes (ws_gradient_trials()). */
static gboolean launch_with(Part *k, const WsGradientTrial *trial)
{
    const WsProgram *p = &k->program;
    g_clear_pointer(&k->values, ws_launch_values_free);
    k->values = ws_gradient_launch(p, trial);
    guint s = 0, r = 0;
    for (guint v = 0; k->values && v < p->n_vars; v++)
        if (p->var[v].kind == WS_VAR_SIZE)
            k->size[s++] = ws_launch_var(k->values, (gint)v);
        else if (p->var[v].kind == WS_VAR_SCALAR)
            k->scalar[r++] = ws_launch_var_real(k->values, (gint)v);
    return k->values != NULL;
}

static gboolean prepare(Part *k, const WsProgram *p, const char *label, GError **error)
{
    guint n = 0;
    for (guint v = 0; v < p->n_vars; v++)
        n += p->var[v].kind == WS_VAR_SIZE || p->var[v].kind == WS_VAR_SCALAR;
    if (n > WS_GRADIENT_SIZES) {
        g_set_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_LENS,
                    "%s has %u sizes and scalars: not supported by package --backward (most: %d)",
                    label, n, WS_GRADIENT_SIZES);
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

/* What nothing depends on was not tried. */
static gboolean all_met(const Trial *t, const char *tried, GError **error)
{
    const WsProgram *forward = &t->part[0].program;
    for (guint x = 0; x < forward->n_tensors; x++)
        if (forward->tensor[x].access == WS_ACCESS_READ && !t->met[x]) {
            g_set_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_LENS,
                        "%s: nothing depends on %s at the sizes that were tried (%s), so that its "
                        "gradient cannot be checked: not supported by package --backward",
                        t->pair->label[0], forward->tensor[x].name, tried);
            return FALSE;
        }
    return TRUE;
}

static char *say(const Trial *t, const char *tried, const char *costly)
{
    g_autofree char *left_out =
        *costly
            ? g_strdup_printf(" (of %s the references add up too much to be tried here)", costly)
            : g_strdup("");
    return g_strdup_printf(
        "By their references in float64 the launches make the gradient of the forward: at %s, "
        "along a random direction for each input (of tensors of more than %d elements through a "
        "sample, %d places of each dimension), they agree with its difference quotient (worst "
        "deviation %.1e of what is compared, of %.0e allowed). No other sizes were tried%s, no "
        "other settings of constants and no other values of scalars. That the kernels compute "
        "their references is what `warpstave rehearse` and the runner compare.",
        tried, WHOLE, PLACES, t->worst, tolerance, left_out);
}

static gboolean try_sizes(Trial *t, char **said, GError **error)
{
    g_autoptr(GString) tried = g_string_new(NULL);
    g_autoptr(GString) costly = g_string_new(NULL);
    g_autoptr(GArray) trials = ws_gradient_trials(t->pair);
    for (guint i = 0; i < trials->len; i++) {
        const WsGradientTrial *trial = &g_array_index(trials, WsGradientTrial, i);
        g_autofree char *text = ws_gradient_trial_text(trial);
        g_autoptr(GError) wrong = NULL;
        gboolean fits = TRUE;
        for (guint k = 0; fits && k < t->pair->n; k++)
            fits = launch_with(&t->part[k], trial);
        if (!fits)
            continue;
        g_hash_table_remove_all(t->memory);
        t->left = terms_most;
        const gboolean agrees = try_all(t, text, &wrong);
        if (!agrees && t->left > 0) {
            if (!g_error_matches(wrong, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_PAIR))
                g_set_error(error, wrong->domain, wrong->code, "%s (%s)", wrong->message, text);
            else
                g_propagate_error(error, g_steal_pointer(&wrong));
            return FALSE;
        }
        GString *to = agrees ? tried : costly;
        g_string_append_printf(to, "%s%s", to->len ? "; " : "", text);
    }
    if (!tried->len) {
        g_set_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_LENS,
                    "%s: at no small sizes that were tried all designs can be launched, so that "
                    "the gradient cannot be checked: not supported by package --backward",
                    t->pair->label[0]);
        return FALSE;
    }
    if (!all_met(t, tried->str, error))
        return FALSE;
    *said = say(t, tried->str, costly->str);
    return TRUE;
}

gboolean ws_cli_gradient_agrees(const WsPair *pair, char **said, GError **error)
{
    g_autofree Part *part = g_new0(Part, pair->n);
    g_autoptr(GHashTable) memory =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, memory_free);
    g_autoptr(GRand) random = g_rand_new_with_seed(1);
    g_autofree gboolean *met = g_new0(gboolean, pair->launch[0].program->n_tensors);
    Trial t = { pair, part, memory, random, 0, 0, met };
    gboolean ready = TRUE;
    for (guint i = 0; ready && i < pair->n; i++)
        ready = prepare(&part[i], pair->launch[i].program, pair->label[i], error);
    const gboolean agrees = ready && try_sizes(&t, said, error);
    for (guint i = 0; i < pair->n; i++)
        part_clear(&part[i]);
    return agrees;
}

#endif
