#include "import/python/amd/amd.h"
#include "import/python/dialect/py_spot.h"
#include "import/python/dialect/py_sums.h"
#include "import/python/dialect/pyread_terms.h"
#include "import/python/pyread_law.h"

#include <string.h>

/* Tiles of tensors through sums of pointers: `x + rows[:, None] * stride + cols[None, :]`, where a
 * mask bounds rows and columns, or where they are shown to lie in the tensor. Elements outside of a
 * tensor read as 0 and are not written, so that a mask which is the bounds of the tensor needs no
 * word; what else a load's mask asks for becomes a `select`. */

/* --- which names are pointers ----------------------------------------------------------------- */

static const char *leftmost(const WsPyNode *e)
{
    while (e->kind == WS_PY_BINARY && e->n == 2 && *e->text == '+')
        e = e->kid[0];
    return e->kind == WS_PY_NAME ? e->text : NULL;
}

/* Whether the call goes through a pointer; its first argument is that. */
static gboolean goes_through(const WsPyNode *call)
{
    static const char *const words[] = { "buffer_load_to_shared",
                                         "global_load_to_shared",
                                         "load",
                                         "store",
                                         "atomic_add",
                                         "atomic_max",
                                         "atomic_min",
                                         "copy",
                                         NULL };
    const WsPyNode *f = call->kid[0];
    return call->n > 1 && f->kind == WS_PY_ATTR && g_strv_contains(words, f->text);
}

static gboolean finds_pointer(const WsPyNode *node, GPtrArray *names)
{
    const char *found[2] = { NULL, NULL };
    const gboolean sum = (node->kind == WS_PY_ASSIGN || node->kind == WS_PY_AUGMENT) &&
                         node->n == 2 && node->kid[0]->kind == WS_PY_NAME;
    gboolean any = FALSE;
    const gboolean second = node->kind == WS_PY_CALL && node->kid[0]->kind == WS_PY_ATTR &&
                            g_str_has_suffix(node->kid[0]->text, "_to_shared");
    if (node->kind == WS_PY_CALL && goes_through(node))
        for (guint i = 1; i < (second || *node->kid[0]->text == 'c' ? MIN(node->n, 3u) : 2u); i++)
            found[i - 1] = leftmost(node->kid[i]);
    else if (sum && g_ptr_array_find_with_equal_func(names, node->kid[0]->text, g_str_equal, NULL))
        found[0] = leftmost(node->kid[1]);
    for (guint i = 0; i < 2; i++) {
        if (!found[i] || g_ptr_array_find_with_equal_func(names, found[i], g_str_equal, NULL))
            continue;
        g_ptr_array_add(names, (gpointer)found[i]);
        any = TRUE;
    }
    for (guint i = 0; i < node->n; i++)
        any = finds_pointer(node->kid[i], names) || any;
    return any;
}

static gboolean is_pointer(const PyRead *p, const char *name)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    const WsPyNode *f = p->frame->function ? p->frame->function : p->kernel;
    while (f && finds_pointer(f, names))
        ;
    return f && g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL);
}

/* --- pointers ----------------------------------------------------------------------------------*/

/* An index tile, or a number, of which nothing is read from memory but integers of tensors. */
static const Val *offset_of(PyRead *p, const Val *v)
{
    const gboolean number = v->kind == VAL_INT || v->kind == VAL_MATH || v->kind == VAL_TILE;
    const Val *m = number ? py_formula(p, v) : NULL;
    if (!m || g_strcmp0(m->dtype, "i32"))
        return NULL;
    if (!m->reads || !m->reads->len)
        return m;
    const WsExpr *e = py_elements(p, v);
    g_autofree char *text = e ? ws_x_text(e) : NULL;
    if (!e)
        return NULL;
    py_note_numbers(p, e);
    Val *own = py_val(p, VAL_MATH);
    *own = *m;
    own->reads = NULL;
    own->text = ws_source_format(p->r, "(%s)", text);
    return own;
}

/* What is added to the pointer `base` in the number e; NULL: e is no such sum. */
static const WsExpr *behind(PyRead *p, const Val *base, const WsExpr *e)
{
    gint64 factor;
    if (!base || base->kind != VAL_PARAM)
        return NULL;
    const char *name = ws_source_size(p->r, base->text, 1024);
    const WsExpr *rest = ws_x_without(p->r, e, name, FALSE, &factor);
    if (factor != 1 || !rest || ws_expr_mentions(rest, name))
        return NULL;
    if (!g_ptr_array_find_with_equal_func(p->r->addresses, name, g_str_equal, NULL))
        g_ptr_array_add(p->r->addresses, (gpointer)name);
    return rest;
}

/* The parameter that the number is so much more than: a pointer of the kernel's. NULL: none. */
static const Val *base_in(PyRead *p, const WsExpr *e, const WsExpr **rest)
{
    const WsPyNode *params = p->kernel->kid[0];
    for (guint i = 0; p->args && i < params->n; i++) {
        const Val *base = p->args[i];
        const char *name =
            base && base->kind == VAL_PARAM ? g_hash_table_lookup(p->r->size_of, base->text) : NULL;
        if (name && ws_expr_mentions(e, name) && (*rest = behind(p, base, e)))
            return base;
    }
    return NULL;
}

/* x + number, and tiles added to that: pointers on from there. */
static const Val *moved_on(PyRead *p, const WsPyNode *sum, const Val *a)
{
    const char *name = leftmost(sum);
    const WsExpr *rest = NULL;
    const Val *base = name && is_pointer(p, name) ? base_in(p, a->e, &rest) : NULL;
    g_autofree char *text = rest ? ws_x_text(rest) : NULL;
    if (!base || !rest)
        return NULL;
    Val *v = py_val(p, VAL_POINTER);
    v->item = g_new0(const Val *, 2);
    g_ptr_array_add(p->r->pool, v->item);
    v->item[0] = base;
    v->n = 1;
    v->rows = v->cols = 1;
    v->text = ws_source_format(p->r, "(%s)", text);
    return v;
}

/* a + b, where a is a pointer that the source loads or stores through. NULL: it is none. */
const Val *py_point(PyRead *p, const WsPyNode *sum, const Val *a, const Val *b)
{
    if ((p->from != WS_IMPORT_TLE && !p->amd) || !p->group || strcmp(sum->text, "+"))
        return NULL;
    if (py_is_tile(a) && b->kind == VAL_INT) { /* places += pointer */
        const Val *swap = a;
        a = b;
        b = swap;
    }
    if (a->kind == VAL_INT && py_is_tile(b)) {
        const Val *on = moved_on(p, sum, a);
        a = on ? on : a;
    }
    const gboolean more = a->kind == VAL_POINTER;
    if ((!more && a->kind != VAL_PARAM && a->kind != VAL_TENSOR))
        return NULL;
    const Val *offset = offset_of(p, b);
    const gboolean tile = offset && offset->rows * offset->cols > 1;
    if (!more && (!offset || (!tile && !p->amd) || !leftmost(sum) || !is_pointer(p, leftmost(sum))))
        return NULL;
    if (!offset)
        return py_opaque(p);
    Val *v = py_val(p, VAL_POINTER);
    v->item = g_new0(const Val *, 2);
    g_ptr_array_add(p->r->pool, v->item);
    v->item[0] = more ? a->item[0] : a;
    v->n = 1;
    v->dims = !more || a->rows * a->cols < 2      ? offset->dims
              : offset->rows * offset->cols < 2   ? a->dims
              : a->dims == 1 && offset->dims == 1 ? 1
              : a->dims == 2 || offset->dims == 2 ? 2
                                                  : 0;
    v->rows = MAX(offset->rows, more ? a->rows : 1);
    v->cols = MAX(offset->cols, more ? a->cols : 1);
    v->layout = py_amd_met(p, a->kind == VAL_POINTER ? a->layout : NULL, offset->layout);
    v->text = more ? ws_source_format(p->r, "(%s + %s)", a->text, offset->text) : offset->text;
    return strlen(v->text) < 2000 ? v : py_opaque(p);
}

/* --- where they point ------------------------------------------------------------------------- */

/* A line of a tensor of rows: elements between two of them, which the host says. NULL: it is none.
 */
static const WsExpr *row_stride(PyRead *p, const Val *v, guint at_line)
{
    const gint tensor = py_tensor(p, v->item[0], 0, at_line);
    const WsReadTensor *t = tensor < 0 ? NULL : &g_array_index(p->r->tensors, WsReadTensor, tensor);
    g_autofree char *name = t ? g_strdup_printf("%s_stride_0", t->name) : NULL;
    return t && t->rank == 2 && py_is_size(p, name)
               ? ws_x_name(p->r, ws_source_format(p->r, "%s", name))
               : NULL;
}

static gboolean spot_of(PyRead *p, const Val *v, guint at_line, PySpot *s)
{
    const WsExpr *e = ws_x_parsed(p->r, v->text);
    g_autoptr(GArray) terms = py_new_terms();
    PyTerm of[2] = { { 0, NULL }, { 0, NULL } };
    const WsExpr *line = v->rows > 1 ? NULL : row_stride(p, v, at_line);
    const guint first = v->rows > 1 || line ? 0 : 1;
    const char *const name[] = { "row", "col" };
    if (!e || v->cols < 2 || !py_write_out(e, 1, terms))
        return FALSE;
    *s = (PySpot){ .n = 2 - first };
    for (guint i = 0; i < terms->len; i++) {
        PyTerm *t = &g_array_index(terms, PyTerm, i);
        for (guint d = 0; d < 2; d++)
            for (guint k = 0; k < t->atom->len; k++) {
                const WsExpr *atom = t->atom->pdata[k];
                if (!ws_expr_mentions(atom, name[d]))
                    continue;
                if (atom->op != WS_EXPR_NAME || of[d].atom || d < first || (!d && line))
                    return FALSE; /* more than a place along it */
                of[d] = *t;
            }
    }
    if (line) { /* no place along it: one row */
        of[0] = (PyTerm){ 1, g_ptr_array_new() };
        g_ptr_array_add(of[0].atom, (gpointer)line);
        g_ptr_array_add(of[0].atom, (gpointer)ws_x_name(p->r, "row"));
        g_array_append_val(terms, of[0]);
    }
    for (guint d = first; d < 2; d++) {
        const WsExpr *itself = ws_x_name(p->r, name[d]);
        const guint k = d - first;
        if (!of[d].atom || of[d].factor < 1 || !py_take_out(of[d].atom, itself) ||
            (of[0].atom && of[1].atom == of[0].atom))
            return FALSE;
        const PyTerm one = { 1, of[d].atom };
        PyTerm none = { 1, g_ptr_array_new() };
        s->stride[k] = py_quotient(p, &(PyTerm){ of[d].factor, one.atom }, &none);
        g_ptr_array_unref(none.atom);
        s->at[k] = ws_x_int(p->r, 0);
        s->extent[k] = d ? v->cols : v->rows;
        s->name[k] = name[d];
    }
    for (guint i = 0; i < terms->len; i++) {
        const PyTerm *t = &g_array_index(terms, PyTerm, i);
        const WsExpr *part = NULL;
        if (t->atom == of[0].atom || t->atom == of[1].atom || !t->factor)
            continue;
        for (guint d = first; d < 2 && !part; d++)
            if ((part = py_quotient(p, t, &of[d])))
                s->at[d - first] = ws_x_op(p->r, WS_EXPR_ADD, s->at[d - first], part);
        if (!part)
            return FALSE;
    }
    for (guint k = 0; k < s->n; k++)
        if (!s->at[k] || !s->stride[k])
            return FALSE;
    return TRUE;
}

/* --- whether it lies in the tensor ------------------------------------------------------------ */

/* What a mask says of a tile. */
typedef struct {
    gboolean below[5], from[5]; /* per dimension: bounded by the tensor; by 0 */
    gboolean more;              /* it asks for something else */
} Guard;

/* a < b with the place along dimension k on the left: what bounds it; NULL: something else. */
static const WsExpr *bound_of(PyRead *p, const PySpot *s, guint k, const WsExpr *a, const WsExpr *b)
{
    gint64 factor;
    const WsExpr *at = s->name[k] ? ws_x_without(p->r, a, s->name[k], FALSE, &factor) : NULL;
    if (!at || factor != 1 || !at || !py_is_same(at, s->at[k]) || ws_expr_mentions(b, "row") ||
        ws_expr_mentions(b, "col"))
        return NULL;
    return b;
}

/* a < b for each place along dimension k: it asks for nothing. */
static gboolean always(PyRead *p, const PySpot *s, guint k, const WsExpr *a, const WsExpr *b)
{
    gint64 factor, apart;
    const WsExpr *at = s->name[k] ? ws_x_without(p->r, a, s->name[k], FALSE, &factor) : NULL;
    return at && factor == 1 && !ws_expr_mentions(at, s->name[k]) && py_sums_apart(b, at, &apart) &&
           apart >= s->extent[k];
}

static void read_mask(PyRead *p, const PySpot *s, WsReadTensor *t, const WsExpr *e, Guard *g)
{
    if (e->op == WS_EXPR_AND) {
        read_mask(p, s, t, e->arg[0], g);
        read_mask(p, s, t, e->arg[1], g);
        return;
    }
    for (guint k = 0; k < s->n; k++) {
        const gboolean less = e->op == WS_EXPR_LT, more = e->op == WS_EXPR_GT,
                       least = e->op == WS_EXPR_GE;
        const WsExpr *bound = less || least ? bound_of(p, s, k, e->arg[0], e->arg[1])
                              : more        ? bound_of(p, s, k, e->arg[1], e->arg[0])
                                            : NULL;
        gint64 n;
        if (bound && least && ws_x_is(bound, &n) && n == 0) {
            g->from[k] = TRUE;
            return;
        }
        if (bound && !least && !t->shape[k] && py_is_extent(p, bound))
            t->shape[k] = bound;
        if (bound && !least && py_is_bound(p, bound, t->shape[k])) {
            g->below[k] = TRUE;
            return;
        }
        if (less && always(p, s, k, e->arg[0], e->arg[1]))
            return;
    }
    g->more = TRUE;
}

/* Strides that the tensor has anyway are none; another one than before is not read. */
static gboolean take_strides(WsReadTensor *t, const PySpot *s)
{
    gint64 one;
    if (!s->stride[s->n - 1]) { /* of a contiguous tensor */
        t->strided = TRUE;
        return !t->stride[0];
    }
    const gboolean plain = ws_x_is(s->stride[s->n - 1], &one) && one == 1 &&
                           (s->n == 1 || py_is_same(s->stride[0], t->shape[1]));
    for (guint k = 0; k < s->n; k++)
        if (t->strided && !py_is_same(t->stride[k], plain ? NULL : s->stride[k]) &&
            (t->stride[k] || !plain))
            return FALSE;
    for (guint k = 0; k < s->n && !plain; k++)
        t->stride[k] = s->stride[k];
    t->strided = TRUE;
    return TRUE;
}

static gboolean is_one(const WsExpr *e)
{
    gint64 n;
    return ws_x_is(e, &n) && n == 1;
}

static gboolean handed(gconstpointer reader, const WsExpr *stride)
{
    return py_is_handed(reader, stride);
}

/* The tensor of the tile, -1 and `why`: it is not known to lie in one. */
static gint lies_in(PyRead *p, WsReadKind kind, const Val *pointer, const Val *mask,
                    const WsPyNode *at, PySpot *s, Guard *g, const char **why)
{
    *g = (Guard){ 0 };
    *why = "where a sum of pointers points";
    const gint own = p->group ? py_tensor(p, pointer->item[0], 0, at->line) : -1;
    if (!p->group ||
        !((own >= 0 && py_spot_by_shape(p, pointer, own, s)) || spot_of(p, pointer, at->line, s)))
        return -1;
    const WsExpr *m = NULL;
    if (py_given(mask)) {
        m = mask->kind == VAL_MATH ? py_elements(p, mask) : NULL;
        m = m || mask->kind != VAL_MATH ? m : ws_x_parsed(p->r, mask->text);
        *why = "a mask that is no condition on rows and columns";
        if (!m)
            return -1;
    }
    const gint tensor = py_tensor(p, pointer->item[0], s->n, at->line);
    WsReadTensor *t = tensor < 0 ? NULL : &g_array_index(p->r->tensors, WsReadTensor, tensor);
    *why = "a tile of a tensor of other many dimensions";
    if (!t || (t->rank && t->rank != s->n))
        return -1;
    t->rank = s->n;
    if (m)
        read_mask(p, s, t, m, g);
    for (guint k = 0; k < s->n; k++) {
        *why = "a tile whose place may be below 0";
        if (!g->from[k] && !py_is_from_zero(p, s->at[k]) && !py_is_never_negative(p, s->at[k]))
            return -1;
        *why = "a tile that may reach beyond its tensor: neither a mask nor the launch bounds it";
        if (!g->below[k] && !py_fits(p, s->at[k], s->extent[k], t->shape[k]))
            return -1;
    }
    *why = "strides that differ from one access of the tensor to another";
    if (!take_strides(t, s))
        return -1;
    *why = "strides that do not follow from the shape and that nobody hands over: elements may "
           "overlap";
    return kind != WS_READ_WRITE || s->n < 2 || !t->stride[0] || !s->stride[0] ||
                   (is_one(t->stride[1]) && py_is_bound(p, t->stride[0], t->shape[1])) ||
                   ws_x_strides_part(p->r, t->shape, t->stride, handed, p)
               ? tensor
               : -1;
}

static void granted(PyRead *p, gint tensor)
{
    const WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, tensor);
    if (t->stride[0])
        ws_source_granted(p->r, ws_source_format(p->r,
                                                 "elements of `%s` do not overlap, as its strides "
                                                 "say where they lie",
                                                 t->name));
}

WsReadStep *py_through(PyRead *p, WsReadKind kind, const Val *pointer, const Val *mask,
                       const WsPyNode *at, gboolean *more)
{
    PySpot s;
    Guard g;
    const char *why;
    const gint tensor = lies_in(p, kind, pointer, mask, at, &s, &g, &why);
    if (tensor >= 0 && g.more && !more)
        why = "a mask of a store that asks for more than the bounds of its tensor";
    if (tensor < 0 || (g.more && !more)) {
        py_law_value(
            p, at,
            kind != WS_READ_WRITE
                ? why
                : ws_source_format(p->r, "where a store through pointers goes in global memory: %s",
                                   why));
        return NULL;
    }
    if (kind == WS_READ_WRITE)
        granted(p, tensor);
    if (more)
        *more = g.more;
    return py_at_tensor(p, kind, tensor, s.at, s.n, at);
}

gboolean py_asks_more(PyRead *p, const Val *pointer, const Val *mask, const WsPyNode *at)
{
    PySpot s;
    Guard g;
    const char *why;
    return py_given(mask) && lies_in(p, WS_READ_GATHER, pointer, mask, at, &s, &g, &why) >= 0 &&
           g.more;
}

gboolean py_store_masked(PyRead *p, WsReadStep *s, const Val *mask, gint64 rows, gint64 cols,
                         const WsPyNode *at)
{
    Val *all = py_val(p, VAL_MATH);
    *all = *mask;
    all->rows = rows;
    all->cols = cols;
    const gint held = py_hold_of(p, "mask", all, at, rows, cols);
    if (held < 0)
        return FALSE;
    s->where = held + 1;
    for (guint i = 0; i < p->to->len; i++) /* behind what computes the mask */
        if (g_ptr_array_index(p->to, i) == s) {
            g_ptr_array_steal_index(p->to, i);
            g_ptr_array_add(p->to, s);
            break;
        }
    return TRUE;
}

/* What a load leaves out is `other`; without one it is undefined, and taken for 0. */
const Val *py_masked_value(PyRead *p, const Val *tile, const Val *mask, const Val *other,
                           gboolean more)
{
    gint64 n;
    const gboolean zero =
        py_given(other) &&
        ((py_known(other, &n) && !n) || (other->kind == VAL_REAL && !strcmp(other->text, "0.0")));
    if (!py_given(mask))
        return tile;
    if (!py_given(other))
        ws_source_granted(p->r, "what a load leaves out for its mask is 0 where it has no `other`");
    if (!more && (zero || !py_given(other)))
        return tile;
    const Val *arg[] = { mask, tile, py_given(other) ? other : py_literal(p, 0) };
    return py_function_tile(p, "select", arg, 3, FALSE);
}
