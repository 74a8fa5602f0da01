#include "import/python/dialect/py_place.h"
#include "import/python/dialect/py_sums.h"
#include "import/python/dialect/pyread_terms.h"

#include <string.h>

/* Whether a sum of pointers and its mask are what a remark says: the tile of the tensor at those
 * coordinates, all of it that lies in the tensor and nothing else. The sum is compared as a whole
 * with coordinates times strides; strides are those of the tensor's shape, which masks and other
 * accesses say, and the shape is taken from them where nothing does. */

typedef struct {
    PyRead *p;
    const PyPlace *said;
    WsReadTensor *t;
    GPtrArray *part;           /* const WsPyNode*: what is added to the pointer */
    const WsExpr *x[5];        /* coordinates of an element */
    const WsExpr *stride[5];   /* NULL: nothing says it */
    const WsExpr *bound[5];    /* of the mask; NULL none */
    gboolean from[5], wide[5]; /* the mask keeps it from 0 on; it runs along the tile */
    gint64 rows, cols;         /* of what is added */
    gboolean turned;           /* inside of (…)[:, None] */
} Sum;

/* --- numbers ---------------------------------------------------------------------------------- */

/* A word of triton: `of` says which. */
static gboolean is_word(PyRead *p, const WsPyNode *node, const char *const *of)
{
    if (node->kind != WS_PY_CALL || node->n < 2 || node->kid[0]->kind != WS_PY_ATTR ||
        node->kid[1]->kind == WS_PY_KEYWORD || node->kid[1]->kind == WS_PY_STAR ||
        !g_strv_contains(of, node->kid[0]->text))
        return FALSE;
    const Val *f = py_eval(p, node->kid[0]);
    return f->kind == VAL_NAME && g_str_has_prefix(f->text, "triton.");
}

/* What the compiler is told of a number, or which bits hold it. */
static const WsPyNode *inside(PyRead *p, const WsPyNode *node)
{
    static const char *const hints[] = { "multiple_of", "max_contiguous", "max_constancy", NULL };
    static const char *const casts[] = { "cast", NULL }, *const whole[] = { "int32", "int64",
                                                                            NULL };
    for (;;) {
        if (is_word(p, node, casts) && node->n == 3 && node->kid[2]->kind == WS_PY_ATTR &&
            g_strv_contains(whole, node->kid[2]->text))
            node = node->kid[1];
        else if (is_word(p, node, hints))
            node = node->kid[1];
        else
            return node;
    }
}

/* x[:, None] (down) or x[None, :] */
static gboolean is_turn(const WsPyNode *node, gboolean *down)
{
    const WsPyNode *at = node->kind == WS_PY_INDEX ? node->kid[1] : NULL;
    if (!at || at->kind != WS_PY_TUPLE || at->n != 2)
        return FALSE;
    *down = at->kid[0]->kind == WS_PY_SLICE;
    const WsPyNode *all = at->kid[*down ? 0 : 1], *one = at->kid[*down ? 1 : 0];
    gboolean plain = all->kind == WS_PY_SLICE && one->kind == WS_PY_CONST;
    for (guint i = 0; plain && i < all->n; i++)
        plain = all->kid[i]->kind == WS_PY_CONST && !strcmp(all->kid[i]->text, "None");
    return plain && !strcmp(one->text, "None");
}

/* An integer, or an index tile of `row` and `col`; NULL: it is neither. */
static const WsExpr *of_value(Sum *s, const Val *v, gboolean turned, gboolean down)
{
    const WsExpr *e = NULL;
    gint64 rows = v->rows, cols = v->cols;
    if (v->kind == VAL_INT || v->kind == VAL_PARAM) {
        const gboolean each = v->kind == VAL_INT && ws_expr_mentions(v->e, "row");
        const gboolean tile = s->said->rows > 1 && s->said->cols > 1;
        if (turned ? !each || !down : each && tile && !s->turned)
            return NULL;
        e = py_as_int(s->p, v);
        cols = rows > 1 ? 1 : cols;
    } else if (v->kind == VAL_TILE && v->counted && !v->text && !py_is_former(s->p, v)) {
        const gboolean along = v->rows > 1 && v->cols == 1, across = v->cols > 1 && v->rows == 1;
        if ((turned && !(down ? along : across)) || (s->turned && !along))
            return NULL;
        e = ws_x_parsed(s->p->r, v->counted->text);
    } else if (v->kind == VAL_MATH && !g_strcmp0(v->dtype, "i32") && !(v->reads && v->reads->len) &&
               !s->turned) {
        e = ws_x_parsed(s->p->r, v->text);
    }
    s->rows = MAX(s->rows, rows);
    s->cols = MAX(s->cols, cols);
    return e;
}

static const WsExpr *number_of(Sum *s, const WsPyNode *node)
{
    static const struct {
        const char *text;
        WsExprOp op;
    } known[] = { { "+", WS_EXPR_ADD }, { "-", WS_EXPR_SUB }, { "*", WS_EXPR_MUL } };
    gboolean down;
    node = inside(s->p, node);
    for (guint i = 0; i < G_N_ELEMENTS(known); i++)
        if (node->kind == WS_PY_BINARY && node->n == 2 && !strcmp(node->text, known[i].text)) {
            const WsExpr *a = number_of(s, node->kid[0]);
            return a ? ws_x_op(s->p->r, known[i].op, a, number_of(s, node->kid[1])) : NULL;
        }
    if (is_turn(node, &down)) {
        const Val *v = py_eval(s->p, node->kid[0]);
        if (v->kind == VAL_INT || v->kind == VAL_TILE)
            return of_value(s, v, TRUE, down);
    }
    return of_value(s, py_eval(s->p, node), FALSE, FALSE);
}

/* --- the sum ---------------------------------------------------------------------------------- */

/* Everything that is added to the tensor that stands leftmost. */
static gboolean take_apart(Sum *s, const WsPyNode *node, gboolean first)
{
    node = inside(s->p, node);
    if (node->kind == WS_PY_BINARY && node->n == 2 && !strcmp(node->text, "+"))
        return take_apart(s, node->kid[0], first) && take_apart(s, node->kid[1], FALSE);
    if (!first)
        g_ptr_array_add(s->part, (gpointer)node);
    return !first || (node->kind == WS_PY_NAME && py_lookup(s->p, node->text) == s->said->base);
}

static gboolean is_none(const WsExpr *e)
{
    gint64 n;
    return ws_x_is(e, &n) && !n;
}

/* Strides as the products of the sum have them. */
static void look_for_strides(Sum *s)
{
    for (guint i = 0; i < s->part->len; i++) {
        const WsPyNode *node = inside(s->p, s->part->pdata[i]);
        const gboolean product =
            node->kind == WS_PY_BINARY && node->n == 2 && !strcmp(node->text, "*");
        const WsExpr *x = number_of(s, product ? node->kid[0] : node);
        for (guint d = 0; x && d < s->said->n; d++) {
            if (s->stride[d] || is_none(s->x[d]) || !py_sums_equal(x, s->x[d]))
                continue;
            s->stride[d] = product ? number_of(s, node->kid[1]) : ws_x_int(s->p->r, 1);
            break;
        }
    }
}

static gboolean is_positive_extent(const Sum *s, const WsExpr *e)
{
    gint64 n;
    return e && py_is_extent(s->p, e) && (!ws_x_is(e, &n) || n > 0) && e->op != WS_EXPR_NEG;
}

/* Each stride is that of the next dimension times its extent. */
static gboolean are_plain(Sum *s, const WsExpr **stride)
{
    for (guint d = s->said->n; d-- > 0;) {
        const guint next = d + 1;
        const WsExpr *own = NULL;
        if (next == s->said->n) {
            own = ws_x_int(s->p->r, 1);
        } else {
            if (!s->t->shape[next] && s->stride[d]) {
                const WsExpr *n = py_ratio(s->p, s->stride[d], stride[next]);
                s->t->shape[next] = is_positive_extent(s, n) ? n : NULL;
            }
            own = ws_x_op(s->p->r, WS_EXPR_MUL, stride[next], s->t->shape[next]);
        }
        if (s->stride[d] && !py_sums_equal(s->stride[d], own)) {
            const WsExpr *n = next < s->said->n ? py_ratio(s->p, s->stride[d], stride[next]) : NULL;
            if (!n || !py_is_bound(s->p, n, s->t->shape[next])) /* as the host asserts */
                return FALSE;
            own = s->stride[d];
        }
        stride[d] = own;
    }
    return TRUE;
}

/* As far as the next dimension is long, which the host asserts. */
static gboolean is_next_row(const Sum *s, guint d)
{
    gint64 n;
    return s->stride[d] && s->stride[d + 1] && s->t->shape[d + 1] &&
           ws_x_is(s->stride[d + 1], &n) && n == 1 &&
           py_is_bound(s->p, s->stride[d], s->t->shape[d + 1]);
}

/* Strides that the tensor has anyway are none; those of each access are the same. */
static gboolean strides_fit(Sum *s)
{
    WsReadTensor *t = s->t, before = *t;
    const WsExpr *plain[5] = { NULL };
    gboolean known = TRUE, next = FALSE;
    gint64 n;
    if (!(t->strided && t->stride[0]) && are_plain(s, plain)) {
        memcpy(s->stride, plain, sizeof plain);
        t->strided = TRUE;
        return TRUE;
    }
    *t = before;
    for (guint d = 0; d < s->said->n; d++) {
        if (!s->stride[d] && t->strided)
            s->stride[d] = t->stride[d];
        if (s->stride[d] && ws_x_is(s->stride[d], &n) && n == 1 && !next)
            next = TRUE; /* the innermost one */
        else if (d + 1 == s->said->n || !is_next_row(s, d))
            known = known && py_is_handed(s->p, s->stride[d]);
        known = known && (!t->strided || py_sums_equal(t->stride[d], s->stride[d]));
    }
    if (!known)
        return FALSE;
    memcpy(t->stride, s->stride, sizeof t->stride);
    t->strided = TRUE;
    ws_source_granted(s->p->r, ws_source_format(s->p->r,
                                                "elements of `%s` do not overlap, as its strides "
                                                "say where they lie",
                                                t->name));
    return TRUE;
}

static gboolean is_sum_of_strides(Sum *s)
{
    const WsExpr *have = ws_x_int(s->p->r, 0), *want = have;
    for (guint i = 0; have && i < s->part->len; i++)
        have = ws_x_op(s->p->r, WS_EXPR_ADD, have, number_of(s, s->part->pdata[i]));
    for (guint d = 0; want && d < s->said->n; d++)
        if (!is_none(s->x[d]))
            want = ws_x_op(s->p->r, WS_EXPR_ADD, want,
                           ws_x_op(s->p->r, WS_EXPR_MUL, s->x[d], s->stride[d]));
    return py_sums_equal(have, want);
}

/* --- the mask --------------------------------------------------------------------------------- */

/* Each part of it bounds one of the coordinates. FALSE: some part asks for something else. */
static gboolean read_mask(Sum *s, const WsPyNode *mask)
{
    gboolean down, found = FALSE;
    mask = inside(s->p, mask);
    if (is_turn(mask, &down) && down && !s->turned) {
        s->turned = TRUE;
        found = read_mask(s, mask->kid[0]);
        s->turned = FALSE;
        return found;
    }
    if (mask->kind == WS_PY_CONST && !strcmp(mask->text, "True"))
        return TRUE;
    if (mask->kind != WS_PY_BINARY || mask->n != 2)
        return FALSE;
    if (!strcmp(mask->text, "&") || !strcmp(mask->text, "and"))
        return read_mask(s, mask->kid[0]) && read_mask(s, mask->kid[1]);
    const gboolean less = !strcmp(mask->text, "<"), least = !strcmp(mask->text, ">=");
    const WsExpr *left = less || least ? number_of(s, mask->kid[0]) : NULL;
    const WsExpr *right = left ? number_of(s, mask->kid[1]) : NULL;
    for (guint d = 0; right && d < s->said->n; d++) {
        if (!py_sums_equal(left, s->x[d]))
            continue;
        if (least && is_none(right))
            found = s->from[d] = TRUE;
        if (less && (!s->bound[d] || py_sums_equal(s->bound[d], right))) {
            s->bound[d] = right;
            found = TRUE;
        }
    }
    return found;
}

/* What bounds a dimension is its extent. */
static gboolean bounds_fit(Sum *s)
{
    for (guint d = 0; d < s->said->n; d++) {
        if (!s->bound[d])
            continue;
        if (!s->t->shape[d])
            s->t->shape[d] = is_positive_extent(s, s->bound[d]) ? s->bound[d] : NULL;
        if (!py_sums_equal(s->t->shape[d], s->bound[d]) &&
            !py_is_bound(s->p, s->bound[d], s->t->shape[d]))
            return FALSE;
    }
    return TRUE;
}

/* u % n is below n; u / n is below m where u is below n * m. */
static gboolean is_below(Sum *s, const WsExpr *e, const WsExpr *n)
{
    if (py_fits(s->p, e, 1, n))
        return TRUE;
    if (e->op == WS_EXPR_MOD)
        return py_sums_equal(e->arg[1], n);
    return e->op == WS_EXPR_DIV && e->arg[0]->op == WS_EXPR_NAME &&
           py_sums_equal(py_count_of(s->p, e->arg[0]->name),
                         ws_x_op(s->p->r, WS_EXPR_MUL, e->arg[1], n));
}

static gint64 extent_of(const Sum *s, guint d)
{
    const gboolean line = s->said->rows == 1 || s->said->cols == 1;
    return !s->wide[d]           ? 1
           : line                ? s->said->rows * s->said->cols
           : d + 1 == s->said->n ? s->said->cols
                                 : s->said->rows;
}

typedef struct {
    const PyRead *p;
    gboolean launched, loaded;
} Made;

static void look_at_part(const WsExpr *node, gpointer data)
{
    Made *m = data;
    m->loaded |= node->op == WS_EXPR_INDEX;
    m->launched |= node->op == WS_EXPR_NAME &&
                   (!g_strcmp0(node->name, m->p->tile) || g_str_has_prefix(node->name, PY_PID));
}

/* Whether the tile lies in the tensor along dimension d, or the mask leaves out what does not. What
 * hangs on the number of the tile and is not shown is said to be taken for granted. */
static const char *outside(Sum *s, guint d)
{
    const WsExpr *at = s->said->coord[d], *shape = s->t->shape[d];
    Made made = { s->p, FALSE, FALSE };
    ws_expr_visit(at, look_at_part, &made);
    const gboolean launched = made.launched && !made.loaded;
    const gboolean grouped = shape && py_in_groups(s->p, at, extent_of(s, d), shape);
    const gboolean least = s->from[d] || grouped || py_is_place(s->p, at);
    const gboolean most = grouped || s->bound[d] || is_none(s->x[d]) ||
                          (shape && (py_fits(s->p, at, extent_of(s, d), shape) ||
                                     (!s->wide[d] && is_below(s, at, shape))));
    /* hand-written kernels of AMD take pointers of which the host says no extent */
    const gboolean open = s->p->amd && !shape;
    if (!least && !launched && !open)
        return "its place may be below 0";
    if (!most && (s->wide[d] || !launched) && !open)
        return "it may reach beyond its tensor: neither a mask nor the launch bounds it";
    if (!least || !most)
        ws_source_granted(
            s->p->r,
            ws_source_format(s->p->r, "tiles of `%s` lie in it along dimension %u", s->t->name, d));
    return NULL;
}

/* --- together --------------------------------------------------------------------------------- */

static gboolean begin(Sum *s)
{
    const PyPlace *said = s->said;
    const gboolean tile = said->rows > 1 && said->cols > 1,
                   line = !tile && said->rows * said->cols > 1;
    const WsExpr *row = ws_x_name(s->p->r, "row"), *col = ws_x_name(s->p->r, "col");
    if (!said->n || said->n > 5 || said->n < 1u + tile)
        return FALSE;
    gboolean rows = tile;
    for (guint i = 0; line && i < s->part->len; i++) { /* counted by rows or by columns */
        const WsExpr *e = number_of(s, s->part->pdata[i]);
        rows = rows || (e && ws_expr_mentions(e, "row"));
    }
    guint by = said->n - 2; /* of a gather the one that goes by the row */
    for (guint d = 0; said->each && d + 1 < said->n; d++)
        by = ws_expr_mentions(said->coord[d], "row") ? d : by;
    for (guint d = 0; d < said->n; d++) {
        const gboolean last = d + 1 == said->n, before = d == by;
        s->x[d] = said->coord[d];
        s->wide[d] = last ? tile || line : before && tile;
        if (s->wide[d] && !(before && said->each))
            s->x[d] = ws_x_op(s->p->r, WS_EXPR_ADD, s->x[d], before || (line && rows) ? row : col);
        if (!s->x[d])
            return FALSE;
    }
    return TRUE;
}

static const char *differs(Sum *s, const WsPyNode *pointer, const WsPyNode *mask)
{
    if (!take_apart(s, pointer, TRUE))
        return "its tensor";
    if (!begin(s))
        return "its coordinates";
    if (mask && !read_mask(s, mask))
        return "its mask asks for something else than the bounds of the tensor";
    s->rows = s->cols = 0;
    look_for_strides(s);
    if (!bounds_fit(s))
        return "its mask is not the shape of the tensor";
    if (!strides_fit(s))
        return "its strides are not those of its tensor";
    if (!is_sum_of_strides(s))
        return "its offset is another one";
    const gint64 rows = MAX(s->rows, 1), cols = MAX(s->cols, 1);
    if (rows * cols != s->said->rows * s->said->cols ||
        (s->said->rows > 1 && s->said->cols > 1 && rows != s->said->rows))
        return "its extents are others";
    for (guint d = 0; d < s->said->n; d++) {
        const char *why = outside(s, d);
        if (why)
            return why;
    }
    return NULL;
}

const char *py_place_differs(PyRead *p, const PyPlace *said, gint tensor, const WsPyNode *pointer,
                             const WsPyNode *mask)
{
    const guint steps = p->to->len, unread = p->r->unread->len;
    g_autoptr(GPtrArray) part = g_ptr_array_new();
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, tensor);
    if (t->rank > said->n)
        return "its tensor has other many dimensions";
    WsReadTensor own = *t;
    Sum s = { .p = p, .said = said, .t = &own, .part = part };
    const char *why = differs(&s, pointer, mask);
    if (!why && (p->to->len != steps || p->r->unread->len != unread))
        return "its sum does more than to say a place";
    if (!why)
        g_array_index(p->r->tensors, WsReadTensor, tensor) = own;
    return why;
}
