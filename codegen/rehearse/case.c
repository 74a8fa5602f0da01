#include "codegen/rehearse/case.h"
#include "base/phrase.h"
#include "program/agree.h"
#include "program/inputs.h"
#include "program/parts/mesh.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/walk.h"

#include <math.h>

G_STATIC_ASSERT(sizeof(WsHostMap) <= WS_PEER_MAP_BYTES);

/* --- inputs ----------------------------------------------------------------------------------- */
#define MOST_ELEMENTS                                                                              \
    ((gint64)1 << 28) /* of a tensor: seconds to fill, half a gigabyte of bf16                     \
                       */

/* Elements between the first and the last of a tensor, in memory; -1 if they are too many. */
static gint64 extent(const WsRehearseCase *c, guint tensor)
{
    const WsTensor *t = &c->p->tensor[tensor];
    gint64 n = 1, step;
    guint i;
    for (i = 0; i < t->rank; i++) {
        gint64 shape = ws_launch_shape(c->values, tensor, i);
        if (shape <= 0)
            return 0;
        if (__builtin_mul_overflow(shape - 1, ws_launch_stride(c->values, tensor, i), &step) ||
            __builtin_add_overflow(n, step, &n) || n <= 0 || n > MOST_ELEMENTS)
            return -1;
    }
    return n;
}

/* An integer parameter of `data`, over sizes and run names; 0 if there is none. */
static gboolean parameter(const WsRehearseCase *c, const WsExpr *e, gint64 *out, GError **error)
{
    WsExprEnv env = ws_launch_env(c->values);
    *out = 0;
    return !e || ws_expr_eval(e, &env, out, error);
}

gint64 ws_case_bytes(const WsRehearseCase *c, guint tensor, GError **error)
{
    const WsTensor *t = &c->p->tensor[tensor];
    const gint64 n = extent(c, tensor);
    if (n >= 0)
        return n * ws_dtype_bytes(t->dtype);
    g_autofree char *why = ws_phrase("tensor %s is too large to rehearse", t->name);
    g_autofree char *place = g_strdup_printf("tensors/%s", t->name);
    ws_generate_refuse(error, "rehearse", NULL, place, why, "give smaller sizes");
    return -1;
}

/* What devices exchange holds nothing when a launch begins: poison, as what is to be written. */
gboolean ws_case_fill(WsRehearseCase *c, guint tensor, guint64 seed, GError **error)
{
    const WsTensor *t = &c->p->tensor[tensor];
    const gint64 n = extent(c, tensor);
    if (t->access != WS_ACCESS_READ) {
        memset(c->tensor[tensor], t->access == WS_ACCESS_REDUCE ? 0 : 0xff,
               (gsize)n * ws_dtype_bytes(t->dtype));
        return TRUE;
    }
    WsInputFill f = { .kind = (gint32)t->data,
                      .dtype = (gint32)t->dtype,
                      .key = ws_input_key(seed, tensor),
                      .last = t->rank ? ws_launch_shape(c->values, tensor, t->rank - 1) : 1,
                      .x = t->data_x,
                      .y = t->data_y };
    if (!parameter(c, t->data_a, &f.a, error) || !parameter(c, t->data_b, &f.b, error))
        return FALSE;
    ws_input_fill(c->tensor[tensor], &f, (guint64)n);
    return TRUE;
}

gboolean ws_case_tensors(WsRehearseCase *c, guint64 seed, GError **error)
{
    c->tensor = g_new0(void *, c->p->n_tensors + 1);
    for (guint i = 0; i < c->p->n_tensors; i++) {
        const gint64 bytes = ws_case_bytes(c, i, error);
        if (bytes < 0)
            return FALSE;
        c->tensor[i] = g_try_malloc((gsize)bytes + 16);
        if (!c->tensor[i]) {
            g_autofree char *place = g_strdup_printf("tensors/%s", c->p->tensor[i].name);
            ws_generate_refuse(error, "rehearse", NULL, place, WS_WORD("no memory for it"),
                               "give smaller sizes");
            return FALSE;
        }
        if (!ws_case_fill(c, i, seed, error))
            return FALSE;
    }
    return TRUE;
}

static void make_map(WsRehearseCase *c, guint index)
{
    const WsTensorMap *m = &c->p->map[index];
    WsHostMap *h = &c->map[index];
    guint i;
    h->base = c->tensor[m->tensor];
    h->dtype = c->p->tensor[m->tensor].dtype;
    h->rank = m->rank;
    h->swizzle = m->swizzle;
    for (i = 0; i < m->rank; i++) {
        guint dim = c->p->tensor[m->tensor].rank - 1 - i;
        h->dim[i] = ws_launch_shape(c->values, m->tensor, dim);
        h->stride[i] = ws_launch_stride(c->values, m->tensor, dim);
        h->box[i] = m->box[i];
    }
}

/* Kernel parameters in the order of generate.h. */
static void make_params(WsRehearseCase *c)
{
    const WsProgram *p = c->p;
    guint i, n_size = 0, n_scalar = 0, at = 0;
    c->size = g_new0(gint64, p->n_vars + 1);
    c->scalar = g_new0(double, p->n_vars + 1);
    c->param = g_new0(guint64, p->n_maps + p->n_tensors + p->n_vars + 6);
    for (i = 0; i < p->n_maps; i++)
        c->param[at++] = (guint64)(guintptr)&c->map[i];
    for (i = 0; i < p->n_tensors; i++)
        c->param[at++] = (guint64)(guintptr)c->tensor[i];
    for (i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SIZE)
            c->param[at++] = (guint64)(c->size[n_size++] = ws_launch_var(c->values, (gint)i));
    for (i = 0; i < p->n_vars; i++) {
        float value;
        if (p->var[i].kind != WS_VAR_SCALAR)
            continue;
        value = (float)ws_launch_var_real(c->values, (gint)i);
        c->scalar[n_scalar++] = (double)value;
        memcpy(&c->param[at++], &value, 4);
    }
    if (p->tiles->launch == WS_LAUNCH_DYNAMIC)
        c->param[at++] = (guint64)(guintptr)&c->counter;
    if (p->tiles->order == WS_ORDER_HILBERT) {
        gint64 n;
        c->param[at++] = (guint64)(guintptr)ws_launch_hilbert(c->values, &n);
    }
    c->n_param = at;
}

void ws_case_arguments(WsRehearseCase *c)
{
    c->map = g_new0(WsHostMap, c->p->n_maps + 1);
    for (guint i = 0; i < c->p->n_maps; i++)
        make_map(c, i);
    make_params(c);
}

void ws_case_clear(WsRehearseCase *c)
{
    guint i;
    for (i = 0; c->tensor && i < c->p->n_tensors && !c->borrowed; i++)
        g_free(c->tensor[i]);
    g_free(c->tensor);
    g_free(c->size);
    g_free(c->scalar);
    g_free(c->map);
    g_free(c->param);
    ws_launch_values_free(c->values);
}

gboolean ws_case_values(WsRehearseCase *c, const WsRehearseOptions *o, gint64 rank,
                        WsFindings *findings, GError **error)
{
    g_autofree WsSize *size = g_new0(WsSize, (o ? o->n_size : 0) + 2);
    guint i, n = o ? o->n_size : 0;
    for (i = 0; i < n; i++) {
        size[i].name = o->size_name[i];
        size[i].value = o->size[i];
    }
    if (rank >= 0) {
        size[n].name = c->p->mesh->name;
        size[n++].value = rank;
    }
    c->values = ws_launch_values(c->p, size, n, TRUE, findings);
    if (!c->values)
        ws_generate_refuse(error, "rehearse", NULL, NULL,
                           WS_WORD("these sizes do not make a launch: see the findings"), NULL);
    return c->values != NULL;
}

/* --- comparison ------------------------------------------------------------------------------- */
static char *element_name(const WsRehearseCase *c, guint tensor, gint64 device, gint64 flat)
{
    const WsTensor *t = &c->p->tensor[tensor];
    gint64 at[WS_MAX_RANK];
    GString *s = g_string_new(t->name);
    guint i;
    for (i = t->rank; i-- > 0;) {
        gint64 shape = ws_launch_shape(c->values, tensor, i);
        at[i] = flat % shape;
        flat /= shape;
    }
    if (device >= 0)
        g_string_append_printf(s, "[%lld", (long long)device);
    for (i = 0; i < t->rank; i++)
        g_string_append_printf(s, "%s%lld", i || device >= 0 ? ", " : "[", (long long)at[i]);
    g_string_append_c(s, ']');
    return g_string_free(s, FALSE);
}

static double stored(const WsRehearseCase *c, guint tensor, const void *base, gint64 flat)
{
    const WsTensor *t = &c->p->tensor[tensor];
    gint64 offset = 0;
    guint i;
    for (i = t->rank; i-- > 0;) {
        gint64 shape = ws_launch_shape(c->values, tensor, i);
        offset += flat % shape * ws_launch_stride(c->values, tensor, i);
        flat /= shape;
    }
    return ws_input_decode((gint32)t->dtype, ws_input_get(base, (gint32)t->dtype, (guint64)offset));
}

/* Nearer to its limit, or farther over it; integers and infinities have none: any error is over it.
 */
static gboolean is_worse(const WsRehearseResult *r, const WsAgreement *a)
{
    if (a->allowed > 0 && r->worst_tolerance > 0)
        return a->error * r->worst_tolerance > r->worst_error * a->allowed;
    if (a->allowed > 0)
        return a->error > 0 && !(r->worst_error > 0);
    return r->worst_tolerance > 0 ? a->error > 0 : a->error > r->worst_error;
}

/* Both numbers to the digit in which they differ. Caller frees. */
static char *said(const char *name, WsDtype dtype, double got, double want)
{
    const gboolean whole = !ws_dtype_real(dtype);
    const double least = dtype == WS_DTYPE_I32  ? G_MININT32
                         : dtype == WS_DTYPE_I8 ? -128
                                                : 0,
                 most = dtype == WS_DTYPE_I32  ? G_MAXINT32
                        : dtype == WS_DTYPE_I8 ? 127
                                               : 255;
    if (isnan(got))
        return g_strdup_printf("%s = NaN, reference %g", name, want);
    if (whole)
        return g_strdup_printf("%s = %.0f, reference %.*f%s", name, got,
                               want == floor(want) ? 0 : 6, want,
                               want < least || want > most ? ", which its type does not hold" : "");
    g_autofree char *a = g_strdup_printf("%g", got), *b = g_strdup_printf("%g", want);
    return !strcmp(a, b) ? g_strdup_printf("%s = %.9g, reference %.9g", name, got, want)
                         : g_strdup_printf("%s = %s, reference %s", name, a, b);
}

void ws_case_judge(WsRehearseResult *r, const WsRehearseCase *c, guint tensor, const void *base,
                   gint64 device, gint64 flat, double want)
{
    const WsTensor *t = &c->p->tensor[tensor];
    if (ws_is_any(want)) {
        r->anything++;
        return;
    }
    const double got = stored(c, tensor, base, flat);
    const WsAgreement a = ws_agree(got, want, t->tolerance_abs, t->tolerance_rel);
    r->elements++;
    if (!a.agrees && !isfinite(a.error)) {
        r->worst_error = INFINITY;
        r->worst_tolerance = a.allowed;
    } else if (r->elements == 1 || is_worse(r, &a)) {
        r->worst_error = a.error;
        r->worst_tolerance = a.allowed;
    }
    if (a.agrees)
        return;
    if (r->wrong++ == 0) {
        g_autofree char *name = element_name(c, tensor, device, flat);
        r->first_wrong = said(name, t->dtype, got, want);
    }
}

gint64 ws_case_elements(const WsRehearseCase *c, guint tensor)
{
    gint64 n = 1;
    for (guint d = 0; d < c->p->tensor[tensor].rank; d++)
        n *= MAX(ws_launch_shape(c->values, tensor, d), 0);
    return n;
}

void ws_case_end(WsRehearseResult *r, WsHost *h)
{
    r->switches = h->switches;
    r->clock = h->clock;
    r->gave_up = h->gave_up;
    r->async_races = h->races;
    r->violations = h->violations;
    r->first_race = g_steal_pointer(&h->first_race);
    r->first_violation = g_steal_pointer(&h->first_violation);
    r->stuck = g_steal_pointer(&h->stuck);
    r->waits = g_steal_pointer(&h->waits);
    ws_host_free(h);
}
