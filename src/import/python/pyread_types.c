#include "import/python/pyread_types.h"

#include <string.h>

/* Types that Triton gives arithmetic on tiles: what both sides are converted to, which is that of
 * what is computed. Designs compute in f32 and round where a formula says so. */

typedef enum {
    TYPE_NUMBER, /* of Python: takes the type of the other side */
    TYPE_F32,    /* tf32 too */
    TYPE_F16,
    TYPE_BF16,
    TYPE_F8,
    TYPE_I32,
    TYPE_NARROW, /* integers of 8 bits */
    TYPE_CONDITION,
    TYPE_EITHER, /* a scalar of 32 bits, or a number of a constexpr */
    TYPE_OPEN,   /* not known */
} Type;

static const struct {
    const char *name;
    Type type;
} types[] = {
    { "f32", TYPE_F32 },   { "tf32", TYPE_F32 },  { "f16", TYPE_F16 },     { "bf16", TYPE_BF16 },
    { "e4m3", TYPE_F8 },   { "e5m2", TYPE_F8 },   { "i32", TYPE_I32 },     { "u32", TYPE_I32 },
    { "i8", TYPE_NARROW }, { "u8", TYPE_NARROW }, { "b", TYPE_CONDITION },
};

static const char *sixteen(Type type)
{
    return type == TYPE_F16 ? "f16" : type == TYPE_BF16 ? "bf16" : NULL;
}

/* Digits and signs alone, no name of a launch. */
static gboolean is_literal(const char *text)
{
    if (!strcmp(text, "inf") || !strcmp(text, "(-inf)"))
        return TRUE;
    for (const char *at = text; *at; at++)
        if (g_ascii_isalpha(*at) && !((*at == 'e' || *at == 'E') && at > text &&
                                      (g_ascii_isdigit(at[-1]) || at[-1] == '.')))
            return FALSE;
    return TRUE;
}

static void of_constexpr(const WsExpr *node, gpointer data)
{
    gpointer *d = data;
    gboolean *any = d[1];
    *any |= node->op == WS_EXPR_NAME && g_hash_table_contains(d[0], node->name);
}

/* An integer that is no literal: a tensor, unless a constexpr parameter may be made of it. */
static Type type_of_integer(const PyRead *p, const WsExpr *e)
{
    gboolean any = FALSE;
    gpointer data[] = { p->constants, &any };
    ws_expr_visit(e, of_constexpr, data);
    return any ? TYPE_EITHER : TYPE_I32;
}

/* Of `m`, the formula of `v`. */
static Type type_of(const PyRead *p, const Val *v, const Val *m)
{
    gint64 n;
    if (v->kind == VAL_INT)
        return ws_x_is(v->e, &n) ? TYPE_NUMBER : type_of_integer(p, v->e);
    if (v->kind == VAL_REAL)
        return is_literal(v->text) ? TYPE_NUMBER : TYPE_EITHER;
    if (v->kind == VAL_PARAM)
        return g_hash_table_contains(p->constants, v->text) ? TYPE_NUMBER : TYPE_F32;
    if (!m->dtype)
        return TYPE_F32;
    for (guint i = 0; i < G_N_ELEMENTS(types); i++)
        if (!strcmp(types[i].name, m->dtype))
            return types[i].type;
    return TYPE_OPEN;
}

static gboolean is_whole(Type t)
{
    return t == TYPE_I32 || t == TYPE_CONDITION;
}

/* What two sides are converted to; `divides`: / and %, which 16 bits do not have. */
static Type promote(Type a, Type b, gboolean divides)
{
    if (a == TYPE_OPEN || b == TYPE_OPEN)
        return TYPE_OPEN;
    if (a == TYPE_EITHER || b == TYPE_EITHER) { /* its type matters beside 16 bits alone */
        const Type other = a == TYPE_EITHER ? b : a;
        return sixteen(other) && !divides                ? TYPE_OPEN
               : is_whole(other) || other == TYPE_EITHER ? TYPE_I32
                                                         : TYPE_F32;
    }
    if (a == TYPE_NUMBER || b == TYPE_NUMBER) {
        const Type other = a == TYPE_NUMBER ? b : a;
        return other == TYPE_NUMBER || (divides && sixteen(other)) ? TYPE_F32 : other;
    }
    if (a == TYPE_F32 || b == TYPE_F32)
        return TYPE_F32;
    if (a == TYPE_F16 || b == TYPE_F16)
        return divides ? TYPE_F32 : TYPE_F16;
    if (a == TYPE_BF16 && b == TYPE_BF16)
        return divides ? TYPE_F32 : TYPE_BF16;
    if (a == TYPE_BF16 || b == TYPE_BF16)
        return TYPE_F32;
    return is_whole(a) && is_whole(b) ? TYPE_I32 : a == b ? a : TYPE_OPEN;
}

/* Whether 16 bits hold it as it is. */
static gboolean is_exact(const char *text, Type type)
{
    char *end;
    gdouble x = g_ascii_strtod(text, &end);
    if (*end || end == text)
        return FALSE;
    x = x < 0 ? -x : x;
    if (x == 0)
        return TRUE;
    if (x < 0x1p-14 || x > 0x1p15) /* normal in either type */
        return FALSE;
    const gdouble most = type == TYPE_F16 ? 0x1p11 : 0x1p8; /* significands below it */
    while (x >= most)
        x /= 2;
    while (x < most / 2)
        x *= 2;
    return x == (gdouble)(gint64)x;
}

/* One side as a value of that type. */
static const Val *converted(PyRead *p, const Val *m, Type from, Type to)
{
    const char *name = sixteen(to);
    if (!name || from == to || (from == TYPE_NUMBER && is_exact(m->text, to)))
        return m;
    Val *own = py_val(p, VAL_MATH);
    *own = *m;
    own->text = ws_source_format(p->r, "%s(%s)", name, m->text);
    return own;
}

gboolean py_promote(PyRead *p, const Val *a, const Val *b, gboolean divides, const Val **x,
                    const Val **y, const char **dtype)
{
    const Type left = type_of(p, a, *x), right = type_of(p, b, *y);
    const Type type = promote(left, right, divides);
    if (type == TYPE_OPEN || type == TYPE_F8 || type == TYPE_NARROW)
        return FALSE;
    *x = converted(p, *x, left, type);
    *y = converted(p, *y, right, type);
    *dtype = sixteen(type);
    return TRUE;
}

gboolean py_is_sixteen(const Val *m)
{
    return m && (!g_strcmp0(m->dtype, "bf16") || !g_strcmp0(m->dtype, "f16"));
}

gboolean py_is_call(const char *text, const char *name)
{
    const gsize n = strlen(name);
    gint depth = 0;
    if (strncmp(text, name, n) != 0 || text[n] != '(')
        return FALSE;
    for (const char *at = text + n; *at; at++) {
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (!depth)
            return !at[1];
    }
    return FALSE;
}

const char *py_as_type(PyRead *p, const char *dtype, const char *text)
{
    const gboolean plain = !strcmp(dtype, "f32") || !strcmp(dtype, "i32") || !strcmp(dtype, "b");
    return plain || py_is_call(text, dtype) ? text : ws_source_format(p->r, "%s(%s)", dtype, text);
}
