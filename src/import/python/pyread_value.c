#include "import/python/amd/amd.h"
#include "import/python/dialect/py_spot.h"
#include "import/python/pyread_law.h"
#include "import/python/pyread_types.h"

#include <string.h>

/* Values and formulas on tiles. */

Val *py_val(PyRead *p, ValKind kind)
{
    Val *v = g_new0(Val, 1);
    g_ptr_array_add(p->r->pool, v);
    v->kind = kind;
    v->index = -1;
    v->place.object = -1;
    v->made = p->clock;
    return v;
}

const Val *py_opaque(PyRead *p)
{
    return py_val(p, VAL_OPAQUE);
}

const Val *py_int(PyRead *p, const WsExpr *e)
{
    if (!e)
        return py_opaque(p);
    Val *v = py_val(p, VAL_INT);
    v->e = e;
    return v;
}

const Val *py_literal(PyRead *p, gint64 value)
{
    return py_int(p, ws_x_int(p->r, value));
}

/* Two of one name are two values: what is assumed of one says nothing of the other. */
Val *py_open(PyRead *p, const char *name)
{
    Val *open = py_val(p, VAL_PARAM);
    open->text = name;
    GHashTable *opened = p->r->opened;
    for (guint n = 2;
         ws_source_has_size(p->r, open->text) || g_hash_table_contains(opened, open->text); n++)
        open->text = ws_source_format(p->r, "%s_%u", name, n);
    g_hash_table_add(opened, g_strdup(open->text));
    g_autofree char *type = g_strconcat(name, ".dtype", NULL);
    const Val *said = p->defined ? g_hash_table_lookup(p->defined, type) : NULL;
    open->dtype = said ? py_dtype(said->text) : NULL;
    return open;
}

const WsExpr *py_as_int(PyRead *p, const Val *v)
{
    if (v->kind == VAL_INT)
        return v->e;
    if (v->kind != VAL_PARAM)
        return NULL;
    const char *size = ws_source_size(p->r, v->text, 1024); /* used as a number */
    if (!v->given)
        ws_source_open(p->r, size);
    return ws_x_name(p->r, size);
}

const WsExpr *py_extent(PyRead *p, gint tensor, guint d, const char *want)
{
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, tensor);
    if (!t->shape[d]) {
        g_autofree char *owner = g_strdup_printf("extent %d %u", tensor, d);
        g_autofree char *name = want ? g_strdup(want) : g_strdup_printf("%s_%u", t->name, d);
        t->shape[d] = ws_x_name(p->r, ws_source_size_of(p->r, owner, name, 1024));
    }
    return t->shape[d];
}

gboolean py_is_tile(const Val *v)
{
    return v && (v->kind == VAL_TILE || v->kind == VAL_MATH || v->kind == VAL_ZERO);
}

gboolean py_known(const Val *v, gint64 *value)
{
    return v && v->kind == VAL_INT && ws_x_is(v->e, value);
}

static const char *const dtype_names[][2] = {
    { "float32", "f32" },        { "bfloat16", "bf16" },
    { "float16", "f16" },        { "float8e4nv", "e4m3" },
    { "float8_e4m3fn", "e4m3" }, { "float8e5", "e5m2" },
    { "float8_e5m2", "e5m2" },   { "int8", "i8" },
    { "uint8", "u8" },           { "int32", "i32" },
};

const char *py_dtype(const char *dotted)
{
    const char *last = dotted ? strrchr(dotted, '.') : NULL;
    last = last ? last + 1 : dotted;
    for (guint i = 0; last && i < G_N_ELEMENTS(dtype_names); i++)
        if (!strcmp(dtype_names[i][0], last))
            return dtype_names[i][1];
    return NULL;
}

gboolean py_is_dtype(const char *name)
{
    gboolean is = FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(dtype_names); i++)
        is |= !strcmp(dtype_names[i][1], name);
    return is || !strcmp(name, "tf32");
}

const char *py_dtype_name(const char *dtype)
{
    for (guint i = 0; i < G_N_ELEMENTS(dtype_names); i++)
        if (!strcmp(dtype_names[i][1], dtype))
            return dtype_names[i][0];
    return "float32"; /* tf32 */
}

gint64 py_dtype_bytes(const char *dtype)
{
    return strstr(dtype, "32") ? 4 : strstr(dtype, "16") ? 2 : 1;
}

static GArray *new_reads(PyRead *p)
{
    GArray *reads = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_ptr_array_add(p->r->arrays, reads);
    return reads;
}

const Val *py_itself(PyRead *p, const Val *v)
{
    if (v->kind == VAL_MATH)
        return py_as_turned(p, v);
    if (v->kind == VAL_TILE && v->text && p->from == WS_IMPORT_TLE)
        return NULL; /* formulas take whole values */
    Val *m = py_val(p, VAL_MATH);
    if (v->kind == VAL_TILE && p->group) {
        const WsReadValue *held = &g_array_index(p->group->values, WsReadValue, v->index);
        const gint64 which = v->index;
        m->text = ws_source_format(p->r, "%s%s", held->name, v->text ? v->text : "");
        m->rows = v->text ? v->rows : held->rows; /* it may have been turned */
        m->cols = v->text ? v->cols : held->cols;
        m->dtype = strcmp(held->dtype, "f32") ? held->dtype : NULL;
        m->reads = new_reads(p);
        m->made = v->made;
        m->dims = v->dims;
        m->layout = py_amd_layout(p, v);
        g_array_append_val(m->reads, which);
        return m;
    }
    m->rows = m->cols = 1;
    if (v->kind == VAL_INT) {
        m->dtype = "i32";
        g_autofree char *text = ws_x_text(v->e);
        m->text = ws_source_format(p->r, v->e->n_args ? "(%s)" : "%s", text);
    } else if (v->kind == VAL_REAL) {
        m->text = v->text;
    } else if (v->kind == VAL_PARAM) {
        for (guint i = 0; i < p->r->tensors->len; i++) /* its address is no number of a design */
            if (!strcmp(g_array_index(p->r->tensors, WsReadTensor, i).name, v->text))
                return NULL;
        m->text = v->text;
        gboolean known = FALSE;
        for (guint i = 0; i < p->r->scalars->len; i++)
            known |= !strcmp(g_ptr_array_index(p->r->scalars, i), v->text);
        for (guint i = 0; i < p->r->sizes->len; i++)
            known |= !strcmp(g_ptr_array_index(p->r->sizes, i), v->text);
        if (!known)
            g_ptr_array_add(p->r->scalars, (gpointer)ws_source_name(p->r, v->text));
    } else if (v->kind == VAL_ZERO) {
        m->text = v->text ? v->text : "0.0";
        if (!g_strcmp0(v->dtype, "i32") && !strcmp(m->text, "0.0"))
            m->text = "0";
        m->dtype = g_strcmp0(v->dtype, "f32") ? v->dtype : NULL;
        m->layout = v->layout;
        m->dims = v->dims;
        m->rows = v->rows;
        m->cols = v->cols;
    } else {
        return NULL;
    }
    return m;
}

const Val *py_copy_of(PyRead *p, const Val *v)
{
    const char *dtype = g_array_index(p->group->values, WsReadValue, v->index).dtype;
    Val *copy = py_val(p, VAL_MATH);
    *copy = *py_itself(p, v);
    copy->dtype = dtype;
    if (p->amd && strcmp(dtype, "f32") && strcmp(dtype, "i32")) /* statements compute in f32 */
        copy->text = ws_source_format(p->r, "%s(%s)", dtype, copy->text);
    return copy;
}

const Val *py_formula(PyRead *p, const Val *v)
{
    if (p->amd && v->kind != VAL_MATH && py_amd_is_operand_b(py_amd_layout(p, v)))
        return NULL; /* its rows are columns there */
    return py_itself(p, v);
}

/* A line beside rows, or beside `col`. */
static void beside(PyRead *p, const Val *line, const Val *all)
{
    if (all->kind == VAL_MATH && line->rows == 1 && line->cols > 1 &&
        (all->rows > 1 || py_says_column(all->text)))
        py_across(p, line);
}

static Val *combine(PyRead *p, const Val *a, const Val *b)
{
    Val *m = py_val(p, VAL_MATH);
    m->rows = MAX(a->rows, b ? b->rows : 0);
    m->cols = MAX(a->cols, b ? b->cols : 0);
    m->reads = new_reads(p);
    m->dims = py_dimensions(a, b);
    m->made = py_made_of(p, a, b);
    m->layout = py_amd_met(p, a->layout, b ? b->layout : NULL);
    for (guint side = 0; side < 2; side++) {
        const Val *from = side ? b : a;
        for (guint i = 0; from && from->reads && i < from->reads->len; i++)
            g_array_append_val(m->reads, g_array_index(from->reads, gint64, i));
    }
    return m;
}

/* & | ^ << >> of tiles of i32; NULL: not these. */
static const Val *bits_of_tiles(PyRead *p, const char *op, const Val *x, const Val *y)
{
    static const char *const own[][2] = {
        { "&", "bitand" }, { "|", "bitor" }, { "^", "bitxor" }, { "<<", "shl" }, { ">>", "sar" },
    };
    const gboolean whole = !g_strcmp0(x->dtype, "i32") && !g_strcmp0(y->dtype, "i32");
    const gboolean masks = !g_strcmp0(x->dtype, "b") || !g_strcmp0(y->dtype, "b");
    for (guint i = 0; i < G_N_ELEMENTS(own); i++) {
        if (strcmp(own[i][0], op) != 0)
            continue;
        if (!whole)
            return i < 2 && masks ? NULL : py_opaque(p);
        Val *m = combine(p, x, y);
        gint64 by;
        const gboolean far =
            i > 2 && ws_x_is(ws_x_parsed(p->r, y->text), &by) && (by < 0 || by > 31);
        if (far) /* which no kernel may do; designs count modulo 32 */
            return py_opaque(p);
        m->text = ws_source_format(p->r, "%s(%s, %s)", own[i][1], x->text, y->text);
        m->dtype = "i32";
        return m;
    }
    return NULL;
}

/* x // n, x % n and x / n of tiles of i32: kernels cut quotients towards 0 where designs round them
 * down, and / gives reals. NULL: it is none of these. */
static const Val *quotient_of_tiles(PyRead *p, const char *op, const Val *x, const Val *y)
{
    const gboolean whole = !g_strcmp0(x->dtype, "i32") && !g_strcmp0(y->dtype, "i32"),
                   real = !strcmp(op, "/"), rest = !strcmp(op, "%");
    gint64 n;
    if (!whole || (!real && !rest && strcmp(op, "//") != 0))
        return NULL;
    Val *m = combine(p, x, y);
    const char sign = rest ? '%' : '/';
    if (real) {
        m->text = ws_source_format(p->r, "(f32(%s) / f32(%s))", x->text, y->text);
        return m;
    }
    m->dtype = "i32";
    if (!m->reads->len && !strchr(x->text, '-') && !strchr(y->text, '-'))
        /* of numbers and places, which are not below 0 */
        m->text = ws_source_format(p->r, "(%s %c %s)", x->text, sign, y->text);
    else if (ws_x_is(ws_x_parsed(p->r, y->text), &n) && n > 0)
        m->text = ws_source_format(p->r, "select(%s >= 0, %s %c %s, -(-%s %c %s))", x->text,
                                   x->text, sign, y->text, x->text, sign, y->text);
    else
        return py_opaque(p);
    return m;
}

/* A condition as a number: 1 where it holds, 0 elsewhere. */
static const Val *counted(PyRead *p, const Val *x)
{
    if (g_strcmp0(x->dtype, "b") != 0)
        return x;
    Val *m = py_val(p, VAL_MATH);
    *m = *x;
    m->text = ws_source_format(p->r, "select(%s, 1, 0)", x->text);
    m->dtype = "i32";
    return m;
}

/* A number that integers of 32 bits beside it do not hold, which Triton refuses. */
static gboolean leaves_32_bits(const Val *number, const Val *beside)
{
    gint64 n;
    return py_known(number, &n) && (n < G_MININT32 || n > G_MAXINT32) &&
           !g_strcmp0(beside->dtype, "i32");
}

const Val *py_binary_tile(PyRead *p, const char *op, const Val *a, const Val *b)
{
    const Val *x = py_formula(p, a), *y = py_formula(p, b);
    if (!x || !y || strlen(x->text) + strlen(y->text) > 2000 || !py_side_by_side(p, &x, &y))
        return py_opaque(p);
    const Val *bits = bits_of_tiles(p, op, x, y);
    bits = bits ? bits : quotient_of_tiles(p, op, x, y);
    if (bits) {
        beside(p, x, bits);
        beside(p, y, bits);
        return bits;
    }
    const char *own = !strcmp(op, "and") || !strcmp(op, "&")  ? "&&"
                      : !strcmp(op, "or") || !strcmp(op, "|") ? "||"
                      : !strcmp(op, "//")                     ? "/"
                                                              : op;
    gint64 fixed;
    if (leaves_32_bits(a, y) || leaves_32_bits(b, x))
        return py_opaque(p);
    const Val *other = py_known(a, &fixed) ? b : py_known(b, &fixed) ? a : NULL;
    if (other && (!strcmp(own, "&&") || !strcmp(own, "||"))) /* `and` with what is known */
        return (fixed != 0) == (*own == '&') ? other : py_literal(p, fixed != 0);
    static const char *const known[] = { "+", "-",  "*",  "/",  "%",  "<", "<=",
                                         ">", ">=", "==", "!=", "&&", "||" };
    for (guint i = 0; i < G_N_ELEMENTS(known); i++)
        if (!strcmp(known[i], own)) {
            const char *narrow = NULL;
            if (i == 4) /* designs have no rest of reals */
                return py_opaque(p);
            const gboolean conditions = !g_strcmp0(x->dtype, "b") && !g_strcmp0(y->dtype, "b");
            if (i < 5 && conditions) /* of one bit: 1 + 1 is 0 */
                return py_opaque(p);
            if (!strcmp(op, "//")) /* of reals, which Triton refuses */
                return py_opaque(p);
            if (i < 11) {
                x = counted(p, x);
                y = counted(p, y);
            }
            if (i < 11 && !py_promote(p, a, b, i == 3, &x, &y, &narrow))
                return py_opaque(p);
            Val *m = combine(p, x, y);
            m->text = ws_source_format(p->r, "(%s %s %s)", x->text, own, y->text);
            beside(p, x, m);
            beside(p, y, m);
            if (i < 3 && narrow && !(i == 1 && !strcmp(x->text, "0"))) /* -x is not rounded */
                m->text = ws_source_format(p->r, "%s%s", narrow, m->text);
            m->dtype = i < 3 ? narrow : NULL;
            if (i >= 5) /* a condition: of no type that a value has */
                m->dtype = "b";
            if (i < 3 && !g_strcmp0(x->dtype, "i32") && !g_strcmp0(y->dtype, "i32"))
                m->dtype = "i32";
            return m;
        }
    return py_opaque(p);
}

/* Of the type of a tile, or a formula with a real of 32 bits in it: there none is narrower. */
gboolean py_is_wider(const PyRead *p, const Val *end, const Val *formula)
{
    gboolean wide = end->kind == VAL_TILE;
    for (guint i = 0; !wide && !formula->dtype && formula->reads && i < formula->reads->len; i++)
        wide = !strcmp(
            g_array_index(p->group->values, WsReadValue, g_array_index(formula->reads, gint64, i))
                .dtype,
            "f32");
    return wide;
}

/* What a select asks: an integer is one that is not 0. */
static const char *asked(PyRead *p, const Val *c)
{
    const WsExpr *e = g_strcmp0(c->dtype, "b") ? ws_x_parsed(p->r, c->text) : NULL;
    const gboolean says = !e || e->op == WS_EXPR_LT || e->op == WS_EXPR_LE || e->op == WS_EXPR_GT ||
                          e->op == WS_EXPR_GE || e->op == WS_EXPR_EQ || e->op == WS_EXPR_NE ||
                          e->op == WS_EXPR_AND || e->op == WS_EXPR_OR || e->op == WS_EXPR_NOT;
    return says ? c->text : ws_source_format(p->r, "%s != 0", c->text);
}

static gboolean of_reals(const char *name)
{
    static const char *const names[] = { "exp2",  "log2", "exp", "ln",    "sqrt", "erf",
                                         "rsqrt", "sin",  "cos", "floor", "ceil", NULL };
    return g_strv_contains(names, name);
}

const Val *py_function_tile(PyRead *p, const char *name, const Val **arg, guint n, gboolean row)
{
    GString *text = g_string_new(name);
    g_string_append_c(text, '(');
    Val *m = NULL;
    g_autofree const Val **of = g_new0(const Val *, n + 1);
    gboolean alike = TRUE;
    for (guint i = 0; i < n; i++) {
        of[i] = py_formula(p, arg[i]);
        for (guint k = 0; k < i; k++)
            alike &= !of[i] || !of[k] || py_side_by_side(p, &of[i], &of[k]);
    }
    gboolean whole =
        g_str_equal(name, "select") || g_str_equal(name, "max") || g_str_equal(name, "min");
    const char *narrow = NULL;
    const gboolean chosen = alike && whole && n >= 2 && of[n - 2] && of[n - 1];
    if (chosen && *name == 'm') { /* numbers are tensors of f32 there, and bf16 is widened */
        const gboolean same = !g_strcmp0(of[n - 2]->dtype, of[n - 1]->dtype);
        narrow = same && !g_strcmp0(of[n - 1]->dtype, "f16") ? "f16" : NULL;
    } else if (chosen &&
               !py_promote(p, arg[n - 2], arg[n - 1], FALSE, &of[n - 2], &of[n - 1], &narrow) &&
               g_strcmp0(of[n - 2]->dtype, of[n - 1]->dtype))
        alike = FALSE;
    const gboolean integer =
        of[0] && of[0]->dtype && strchr("iub", *of[0]->dtype) && strcmp(of[0]->dtype, "bf16") != 0;
    if (g_str_equal(name, "abs") && (py_is_sixteen(of[0]) || integer))
        narrow = of[0]->dtype;
    if (integer && (of_reals(name) || (g_str_equal(name, "abs") && strcmp(narrow, "i32"))))
        alike = FALSE; /* Triton refuses it, or it has 8 bits */
    for (guint i = 0; i < n; i++) {
        const Val *x = alike ? of[i] : NULL;
        whole &= (x && !g_strcmp0(x->dtype, "i32")) || (i == 0 && *name == 's');
        if (!x || text->len + strlen(x->text) > 4000) {
            g_string_free(text, TRUE);
            return py_opaque(p);
        }
        g_string_append_printf(text, "%s%s", i ? ", " : "",
                               !i && *name == 's' && name[1] == 'e' ? asked(p, x) : x->text);
        m = combine(p, x, m);
    }
    g_string_append_c(text, ')');
    m->text = ws_source_format(p->r, "%s", text->str);
    m->dtype = whole ? "i32" : narrow;
    g_string_free(text, TRUE);
    for (guint i = 0; i < n; i++)
        beside(p, of[i], m);
    if (row || g_str_equal(name, "cumsum"))
        py_across(p, of[0]);
    if (row) {
        m->cols = 1;
        m->dims = 1;
    }
    return m;
}

static gint hold(PyRead *p, const char *name, const Val *v, const WsPyNode *at, gint64 rows,
                 gint64 cols, gboolean own)
{
    if (!p->group)
        return -1;
    if (v->kind == VAL_TILE && !v->text)
        return v->index;
    const gboolean opaque = v->kind == VAL_OPAQUE;
    const Val *m = opaque ? NULL : py_formula(p, v);
    rows = m && m->rows * m->cols > 1 ? m->rows : rows;
    cols = m && m->rows * m->cols > 1 ? m->cols : cols;
    if ((!m && !opaque) || rows <= 0 || cols <= 0)
        return -1;
    g_autofree char *full = g_strconcat(p->frame->prefix, name, NULL);
    const char *dtype = !v->dtype ? "f32" : *v->dtype == 'b' && !v->dtype[1] ? "i32" : v->dtype;
    const gint value = own ? py_value_at(p, name, at, dtype, rows, cols)
                           : ws_source_value(p->r, p->group, full, dtype, rows, cols);
    WsReadValue *held = &g_array_index(p->group->values, WsReadValue, value);
    held->layout = m ? m->layout : NULL;
    const gboolean condition = m && !g_strcmp0(m->dtype, "b");
    const WsExpr *element = m && !g_strcmp0(m->dtype, "i32") ? py_elements(p, m) : NULL;
    WsReadStep *s = py_step(p, WS_READ_COMPUTE, at);
    py_set(p, s, value);
    py_note_elements(p, value, element);
    if (opaque)
        py_law_value(p, at, "a value");
    const gboolean whole = *held->dtype == 'i' || *held->dtype == 'u';
    const char *text = m ? m->text : whole ? "0" : "0.0";
    s->text = ws_source_format(p->r, condition ? "%s = select(%s, 1, 0)" : "%s = %s", held->name,
                               condition ? text : py_as_type(p, held->dtype, text));
    py_line_of(p, value, m);
    return value;
}

gint py_hold(PyRead *p, const char *name, const Val *v, const WsPyNode *at, gint64 rows,
             gint64 cols)
{
    return hold(p, name, v, at, rows, cols, FALSE);
}

gint py_hold_at(PyRead *p, const char *name, const Val *v, const WsPyNode *at)
{
    return hold(p, name, v, at, 0, 0, TRUE);
}

gint py_hold_of(PyRead *p, const char *name, const Val *v, const WsPyNode *at, gint64 rows,
                gint64 cols)
{
    return hold(p, name, v, at, rows, cols, TRUE);
}
