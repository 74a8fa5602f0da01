#include "import/python/dialect/pyread_terms.h"
#include "import/python/pyread_host.h"
#include "import/python/pyread_law.h"
#include "import/python/pyread_types.h"

#include <string.h>

/* x.to(type, fp_downcast_rounding, bitcast) and tl.cast: what another type makes of a value. */

static gboolean is_integer(const char *dtype)
{
    return *dtype == 'i' || *dtype == 'u';
}

static const Val *of_text(PyRead *p, const Val *m, const char *text, const char *dtype)
{
    Val *v = py_val(p, VAL_MATH);
    *v = *m;
    v->text = text;
    v->dtype = dtype;
    return v;
}

static const Val *called(PyRead *p, const char *name, const Val *m, const char *dtype)
{
    const Val *v = py_function_tile(p, name, &m, 1, FALSE);
    if (v->kind == VAL_MATH)
        ((Val *)v)->dtype = dtype;
    return v;
}

/* Towards 0, as kernels cut reals; i32(x) of a design rounds to the nearest. */
static const Val *cut(PyRead *p, const Val *m)
{
    const char *x = m->text;
    const gboolean plain = g_str_has_prefix(x, "floor(") || g_str_has_prefix(x, "ceil(");
    if (plain && py_is_call(x, *x == 'f' ? "floor" : "ceil"))
        return called(p, "i32", m, "i32");
    if (strlen(x) > 1000)
        return py_opaque(p);
    return of_text(
        p, m, ws_source_format(p->r, "i32(select(%s < 0.0, ceil(%s), floor(%s)))", x, x, x), "i32");
}

/* The last 8 bits of an integer. */
static const Val *narrowed(PyRead *p, const Val *m, const char *dtype)
{
    return of_text(p, m,
                   *dtype == 'u' ? ws_source_format(p->r, "u8(bitand(%s, 255))", m->text)
                                 : ws_source_format(p->r, "i8(sar(shl(%s, 24), 24))", m->text),
                   dtype);
}

/* A formula as one of another type of designs. */
static const Val *converted(PyRead *p, const Val *m, const char *dtype, const WsPyNode *at)
{
    const char *own = m->dtype ? m->dtype : "f32";
    const gboolean condition = !strcmp(own, "b"), whole = condition || is_integer(own);
    if (condition)
        m = py_function_tile(p, "select", (const Val *[]){ m, py_literal(p, 1), py_literal(p, 0) },
                             3, FALSE);
    if (m->kind != VAL_MATH)
        return m;
    if (!whole && !strcmp(dtype, "i32"))
        return cut(p, m);
    if (!whole && is_integer(dtype))
        return py_lost(p, at, "a real as an integer of 8 bits");
    if (condition && !strcmp(dtype, "i32"))
        return m;
    if (whole && !condition && (!strcmp(dtype, "i8") || !strcmp(dtype, "u8")))
        return narrowed(p, m, dtype);
    return called(p, dtype, m, dtype);
}

/* Bits of one type as another one. */
static const Val *bits_as(PyRead *p, const Val *v, const char *dtype, const WsPyNode *at)
{
    const Val *m = py_is_tile(v) ? py_formula(p, v) : NULL;
    const char *own = !m ? NULL : m->dtype ? m->dtype : "f32";
    if (m && dtype && !strcmp(own, dtype))
        return v;
    if (m && dtype && !strcmp(own, "f32") && !strcmp(dtype, "i32"))
        return called(p, "bits", m, "i32");
    if (m && dtype && !strcmp(own, "i32") && !strcmp(dtype, "f32"))
        return called(p, "from_bits", m, NULL);
    return py_lost(p, at, "a bitcast");
}

/* TRUE: bits, not values; `lost`: how it rounds, or which of both it is, is not read. */
static gboolean is_bitcast(PyRead *p, const Val *rounding, const Val *flag, const WsPyNode *at,
                           const Val **lost)
{
    gint64 n = 0;
    if (py_given(rounding) &&
        !(rounding->kind == VAL_STRING && !strcmp(rounding->text, "\"rtne\"")))
        *lost = py_lost(p, at, "a conversion that does not round to the nearest even number");
    else if (py_given(flag) && !py_known(flag, &n))
        *lost = py_lost(p, at, "a conversion that may be a bitcast");
    return n != 0;
}

/* Integers are read as if none ran over: a conversion to a type that does not hold all of them is
 * another number. */
static const Val *number_as(PyRead *p, const Val *v, const Val *type, const WsPyNode *at)
{
    static const char *const whole[] = { "int32", "int64", "uint32", "uint64", NULL };
    const gboolean number = v->kind == VAL_INT || v->kind == VAL_PARAM || v->kind == VAL_CLAIM;
    gint64 n;
    if (!number)
        return v;
    if (!p->in_kernel && v->kind == VAL_PARAM && at->kind == WS_PY_CALL) /* a tensor */
        return py_host_converted(p, v, at);
    if (type->kind != VAL_NAME)
        return py_opaque(p);
    const char *dot = strrchr(type->text, '.'), *name = dot ? dot + 1 : type->text;
    if (!g_strv_contains(whole, name))
        return v->kind == VAL_PARAM && strchr(name, 'f') ? v : py_opaque(p); /* a scalar */
    if (*name == 'u' && v->kind == VAL_INT && (!py_least(p, v->e, &n) || n < 0))
        return py_opaque(p);
    return v;
}

static const Val *tile_as(PyRead *p, const Val *v, const Val *type, const WsPyNode *at)
{
    const char *dtype = type->kind == VAL_NAME ? py_dtype(type->text) : NULL;
    if (py_is_named(type, ".int1"))
        return py_binary_tile(p, "!=", v, py_literal(p, 0));
    if (!dtype)
        return type->kind == VAL_NAME && g_str_has_prefix(type->text, "unknown") ? v : py_opaque(p);
    if (v->kind == VAL_TILE && p->group) {
        const WsReadValue *held = &g_array_index(p->group->values, WsReadValue, v->index);
        const gboolean same = !strcmp(held->dtype, dtype),
                       reals = !is_integer(held->dtype) && !is_integer(dtype);
        if (!same && reals && p->converting) /* `write` converts by itself */
            p->converted = dtype;
        if (same || (reals && p->converting))
            return v;
    }
    if ((v->kind == VAL_ZERO || v->kind == VAL_MATH) && !strcmp(v->dtype              ? v->dtype
                                                                : v->kind == VAL_ZERO ? "f32"
                                                                                      : "",
                                                                dtype))
        return v;
    const Val *m = py_formula(p, v);
    return m ? converted(p, m, dtype, at) : py_opaque(p);
}

/* cast(x, dtype) */
const Val *py_mean_CAST(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[0] || !a[1])
        return py_opaque(p);
    const char *type = a[1]->kind == VAL_NAME ? strrchr(a[1]->text, '.') : NULL;
    const gboolean wide = type && a[0]->kind == VAL_MATH && !g_strcmp0(a[0]->dtype, "i32") &&
                          (!strcmp(type, ".int64") || !strcmp(type, ".int32"));
    return wide && !py_given(a[2]) && !py_given(a[3]) ? a[0] : py_mean_CONVERT(p, a, at);
}

const Val *py_mean_CONVERT(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[0] || !a[1])
        return py_opaque(p);
    const Val *lost = NULL;
    const gboolean bits = p->in_kernel && is_bitcast(p, a[2], a[3], at, &lost);
    if (lost)
        return lost;
    if (bits)
        return bits_as(p, a[0], a[1]->kind == VAL_NAME ? py_dtype(a[1]->text) : NULL, at);
    return py_is_tile(a[0]) ? tile_as(p, a[0], a[1], at) : number_as(p, a[0], a[1], at);
}
