#include "import/python/dialect/pyread_terms.h"
#include "import/python/dialect/tle_range.h"
#include "import/python/pyread_law.h"

#include <string.h>

/* Elements of shared memory that index tiles pick: loads of them, and atomics of TLE, which combine
 * the elements of a view, or those, with what is there. The compiler puts barriers between plain
 * stores and loads of local pointers alone, so that it puts none around atomics.
 *
 * An index outside of its buffer would be an access of other memory; a design leaves such places
 * out. So an index has to be shown to lie in the buffer, by what it is computed from or by the mask
 * (py_finish_places: once all that computes it is known). */

/* An index along one extent, as far as the mask bounds it. */
typedef struct {
    const WsExpr *e;
    gint64 extent;
    gboolean from, below; /* the mask asks for e >= 0; for e < extent, or less */
} Index;

/* What is shown when the kernel was read. */
typedef struct {
    WsReadGroup *group;
    WsReadStep *step;
    Index index[2];
    guint n;
    gint64 rows, cols; /* of the index tiles */
    const WsPyNode *at;
    gboolean more; /* the mask leaves out others, too */
} Shown;

static void show(PyRead *p, const Shown *s)
{
    gboolean all = !s->more;
    for (guint i = 0; i < s->n; i++) {
        const Index *x = &s->index[i];
        PyRange r = py_range_of(s->group, x->e, s->rows, s->cols);
        r.lo = x->from ? MAX(r.lo, 0) : r.lo;
        r.hi = x->below ? MIN(r.hi, x->extent - 1) : r.hi;
        if (r.lo < 0 || r.hi >= x->extent) {
            ws_source_unread(p->r, s->at->line, s->at->column, s->at->end_line,
                             "an index that is not shown to lie in its buffer",
                             p->r->line[MIN(s->at->line, p->r->n_lines) - 1]);
            return;
        }
        all = all && r.lo == 0 && r.hi == x->extent - 1;
    }
    /* which elements it leaves out is not said */
    if (s->step->kind == WS_READ_WRITE && (!all || !s->step->reduce))
        ws_source_masked(p->r, s->step);
}

void py_finish_places(PyRead *p)
{
    for (guint i = 0; i < p->scattered->len; i++)
        show(p, g_ptr_array_index(p->scattered, i));
}

/* --- masks ------------------------------------------------------------------------------------ */

/* e >= 0, e < n, 0 <= e, n > e, as texts of formulas have them. */
static gboolean takes_bound(PyRead *p, Index *x, const WsExpr *c)
{
    static const WsExprOp turned[][2] = { { WS_EXPR_LE, WS_EXPR_GE }, { WS_EXPR_GT, WS_EXPR_LT } };
    WsExprOp op = c->op;
    if (c->n_args != 2)
        return FALSE;
    const WsExpr *left = c->arg[0], *right = c->arg[1];
    for (guint i = 0; i < 2; i++)
        if (op == turned[i][0] && !ws_expr_equal(left, x->e)) {
            op = turned[i][1];
            left = c->arg[1];
            right = c->arg[0];
            break;
        }
    gint64 n;
    if (!ws_expr_equal(left, x->e) || !ws_expr_is_int(right, &n))
        return FALSE;
    if (op == WS_EXPR_GE && n == 0)
        return x->from = TRUE;
    if (op == WS_EXPR_LT && n <= x->extent) {
        x->below = TRUE;
        return n == x->extent; /* a smaller one leaves out more */
    }
    return FALSE;
}

/* What the mask asks for besides bounds of the indices, as a formula; NULL: nothing. */
static const char *rest_of(PyRead *p, Shown *s, const WsExpr *c, const char *rest)
{
    if (c->op == WS_EXPR_AND)
        return rest_of(p, s, c->arg[1], rest_of(p, s, c->arg[0], rest));
    gboolean bound = FALSE;
    for (guint i = 0; i < s->n; i++)
        bound = takes_bound(p, &s->index[i], c) || bound;
    s->more = s->more || !bound;
    if (bound && s->n == 1) /* of two, what lies beyond a row is an element of another one */
        return rest;
    g_autofree char *own = ws_expr_print(c);
    return rest ? ws_source_format(p->r, "(%s && %s)", rest, own)
                : ws_source_format(p->r, "(%s)", own);
}

/* --- indices ---------------------------------------------------------------------------------- */

/* A tile of integers as a formula; NULL: it is none. */
static const Val *integers(PyRead *p, const Val *v)
{
    const Val *m = v && (v->kind == VAL_INT || py_is_tile(v)) ? py_formula(p, v) : NULL;
    if (v && v->kind == VAL_ZERO && m && !g_strcmp0(v->dtype, "i32"))
        ((Val *)m)->dtype = "i32";
    return m && !g_strcmp0(m->dtype, "i32") ? m : NULL;
}

static Val *formula(PyRead *p, const Val *like, const char *text)
{
    Val *v = py_val(p, VAL_MATH);
    v->text = text;
    v->dtype = "i32";
    v->rows = like->rows;
    v->cols = like->cols;
    v->reads = like->reads;
    v->made = like->reads ? like->made : v->made;
    return v;
}

/* x of x / n or x % n, cut towards 0 or not. NULL: it is another formula. */
static const WsExpr *divided(const WsExpr *e, WsExprOp op, gint64 n)
{
    gint64 by;
    if (e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT && e->arg[0]->op == WS_EXPR_GE) {
        const WsExpr *plus = divided(e->arg[1], op, n);
        return plus && ws_expr_equal(plus, e->arg[0]->arg[0]) ? plus : NULL;
    }
    return e->op == op && ws_expr_is_int(e->arg[1], &by) && by == n ? e->arg[0] : NULL;
}

/* x // n and x % n of one x: that element of all, counted along rows. Below 0 they pick elements
 * that do not exist, as x does. */
static const char *counted(PyRead *p, const WsExpr *row, const WsExpr *col, gint64 n)
{
    const WsExpr *x = divided(row, WS_EXPR_DIV, n), *y = divided(col, WS_EXPR_MOD, n);
    if (!x || !y || !ws_expr_equal(x, y))
        return NULL;
    g_autofree char *text = ws_expr_print(x);
    return ws_source_format(p->r, "%s", text);
}

/* Fills in what the indices are; what they pick, counted along rows. NULL: they are not followed.
 * Where they count along columns, the buffer becomes its transpose. */
static const Val *picked(PyRead *p, const Val *pointer, Val *buffer, Shown *s)
{
    const guint n = pointer->n - 1;
    const Val *x[2] = { NULL, NULL };
    for (guint i = 0; i < n; i++) {
        x[i] = integers(p, pointer->item[1 + i]);
        const WsExpr *e = x[i] ? ws_x_parsed(p->r, x[i]->text) : NULL;
        if (!e)
            return NULL;
        s->index[i] = (Index){ .e = e, .extent = i + 1 < n ? buffer->rows : buffer->cols };
    }
    s->n = n;
    if (n == 1)
        return x[0];
    const char *one = counted(p, s->index[0].e, s->index[1].e, buffer->cols);
    if (!one && (one = counted(p, s->index[1].e, s->index[0].e, buffer->rows))) {
        const gint64 rows = buffer->rows;
        buffer->rows = buffer->cols;
        buffer->cols = rows;
        buffer->place.transposed = TRUE;
    }
    Val *both = py_val(p, VAL_MATH);
    *both = *x[0];
    both->rows = MAX(x[0]->rows, x[1]->rows);
    both->cols = MAX(x[0]->cols, x[1]->cols);
    both->made = py_made_of(p, x[0], x[1]);
    both->reads = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_ptr_array_add(p->r->arrays, both->reads);
    for (guint i = 0; i < 2; i++)
        for (guint k = 0; x[i]->reads && k < x[i]->reads->len; k++)
            g_array_append_val(both->reads, g_array_index(x[i]->reads, gint64, k));
    if (one) {
        s->index[0] = (Index){ .e = ws_x_parsed(p->r, one), .extent = buffer->rows * buffer->cols };
        s->n = 1;
        both->text = one;
    } else {
        both->text = ws_source_format(p->r, "(%s * %" G_GINT64_FORMAT " + %s)", x[0]->text,
                                      buffer->cols, x[1]->text);
    }
    return s->index[0].e ? both : NULL;
}

/* The element of a whole view that each is, counted along rows. */
static const Val *own_places(PyRead *p, const Val *buffer)
{
    Val like = { .rows = buffer->rows, .cols = buffer->cols };
    const char *text =
        buffer->rows * buffer->cols == 1 ? "0"
        : buffer->rows == 1              ? "col"
        : buffer->cols == 1
            ? "row"
            : ws_source_format(p->r, "(row * %" G_GINT64_FORMAT " + col)", buffer->cols);
    return formula(p, &like, text);
}

/* `at` where the mask holds, -1 elsewhere; `at` NULL: each at its own place. NULL: the mask is not
 * followed, or there is none and no index. */
static const Val *where_of(PyRead *p, const Val *at, const Val *buffer, const Val *mask, Shown *s)
{
    gint64 known;
    if (!py_given(mask) || (py_known(mask, &known) && known))
        return at;
    const Val *m = mask->kind == VAL_MATH || mask->kind == VAL_INT ? py_formula(p, mask) : NULL;
    const WsExpr *c = m ? ws_x_parsed(p->r, m->text) : NULL;
    const gboolean condition = c && (!g_strcmp0(m->dtype, "b") || mask->kind == VAL_INT);
    if (!condition)
        return NULL;
    const char *rest = rest_of(p, s, c, NULL);
    at = at ? at : own_places(p, buffer);
    if (m->rows > at->rows || m->cols > at->cols)
        return NULL; /* there are no more pointers than that */
    if (!rest)
        return at;
    Val *v = formula(p, at, ws_source_format(p->r, "select(%s, %s, -1)", rest, at->text));
    if (m->reads && m->reads->len) {
        v->reads = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_ptr_array_add(p->r->arrays, v->reads);
        for (guint i = 0; at->reads && i < at->reads->len; i++)
            g_array_append_val(v->reads, g_array_index(at->reads, gint64, i));
        g_array_append_vals(v->reads, m->reads->data, m->reads->len);
        v->made = py_made_of(p, at, m);
    }
    return v;
}

/* Shown in the end: what the index is computed from is not known yet. */
static void show_later(PyRead *p, Shown *s, WsReadStep *step)
{
    if (p->probing)
        return;
    Shown *own = g_new(Shown, 1);
    s->step = step;
    *own = *s;
    g_ptr_array_add(p->scattered, own);
}

/* --- loads ------------------------------------------------------------------------------------ */

/* tl.load of elements that index tiles pick: what the mask leaves out is 0, or `other`. The
 * compiler's barriers stand before it as before any load of local pointers. */
const Val *py_load_places(PyRead *p, const Val **a, const WsPyNode *at)
{
    Val buffer = *a[0]->item[0];
    Shown s = { .group = p->group, .at = at };
    if (!p->group)
        return py_wrong(p, at, "a load of elements of a buffer outside of the partitions");
    if (py_given(a[3]) && py_number(a[3], 1) != 0)
        return py_wrong(p, at, "an asynchronous load of elements that an index picks");
    if (!buffer.rows)
        py_extents(p, &buffer);
    if (buffer.place.transposed || buffer.depth)
        return py_wrong(p, at, "a load of elements of a buffer that is seen otherwise");
    const Val *x = picked(p, a[0], &buffer, &s);
    const Val *where = x ? where_of(p, x, &buffer, a[1], &s) : NULL;
    if (!x)
        return py_wrong(p, at, "an index that is no tile of 32-bit integers");
    if (!where || where->rows * where->cols < 2)
        return py_wrong(p, at, "a mask of a load that is no condition on tiles, or one element");
    s.rows = where->rows;
    s.cols = where->cols;
    const gint places = py_hold_of(p, "picks", where, at, s.rows, s.cols);
    const WsReadValue *held =
        places < 0 ? NULL : &g_array_index(p->group->values, WsReadValue, places);
    if (!held || held->rows != s.rows || held->cols != s.cols)
        return py_wrong(p, at, "an index tile that is not known");
    const WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, buffer.place.object);
    const gint value = py_value_for(p, "loaded", at, b->dtype, s.rows, s.cols);
    py_meet_before(p, buffer.place.object, FALSE, at);
    WsReadStep *step = py_step(p, WS_READ_READ, at);
    py_set(p, step, value);
    step->buffer = buffer.place;
    step->where = places + 1;
    p->dirty = TRUE;
    py_touched(p, buffer.place.object);
    show_later(p, &s, step);
    Val *v = py_val(p, VAL_TILE);
    v->step = step;
    v->index = value;
    v->rows = s.rows;
    v->cols = s.cols;
    return py_masked_value(p, v, a[1], a[2], FALSE);
}

/* --- atomics ---------------------------------------------------------------------------------- */

static gboolean one_of(const Val *v, const char *const *words)
{
    if (!py_given(v))
        return TRUE;
    g_autofree char *word = v->kind == VAL_STRING && strlen(v->text) > 2
                                ? g_strndup(v->text + 1, strlen(v->text) - 2)
                                : g_strdup("");
    return g_strv_contains(words, word);
}

/* The value that is combined, of the buffer's type. -1: it has none. */
static gint added(PyRead *p, const char *name, const Val *v, const char *dtype, gint64 rows,
                  gint64 cols, const WsPyNode *at)
{
    if (v->kind == VAL_TILE && !v->text) {
        const WsReadValue *held = &g_array_index(p->group->values, WsReadValue, v->index);
        return strcmp(held->dtype, dtype) ? -1 : v->index;
    }
    const Val *m = py_formula(p, v);
    const gboolean whole = m && (!g_strcmp0(m->dtype, "i32") || !g_strcmp0(v->dtype, "i32"));
    if (!m || !g_strcmp0(m->dtype, "b") || (*dtype == 'i') != whole)
        return -1;
    Val *own = py_val(p, VAL_MATH);
    *own = *m;
    own->dtype = dtype;
    if (v->kind == VAL_ZERO && m->rows * m->cols == rows * cols) { /* the same everywhere */
        own->rows = rows;
        own->cols = cols;
    }
    return py_hold_of(p, name, own, at, rows, cols);
}

/* What was there before, where the source uses it. */
static const Val *told(PyRead *p, WsReadStep *step, const char *dtype, const WsReadValue *held,
                       const Val *mask, const WsPyNode *at)
{
    if (at == p->bare)
        return py_opaque(p);
    if (py_given(mask))
        ws_source_granted(p->r, "what an atomic operation gives back for what its mask leaves out "
                                "is 0");
    const gint64 rows = held->rows, cols = held->cols;
    gint value = py_value_for(p, "was", at, dtype, rows, cols);
    if (value == step->value || value + 1 == step->where || value + 1 == step->expected)
        value = py_value_at(p, "was", at, dtype, rows, cols);
    py_set_old(p, step, value);
    Val *v = py_val(p, VAL_TILE);
    v->step = step;
    v->index = value;
    v->rows = rows;
    v->cols = cols;
    return v;
}

/* `how` NULL: a store to elements that are picked. */
static const Val *shared(PyRead *p, const char *how, const Val **a, const Val *expected,
                         const WsPyNode *at)
{
    const char *word = how ? how : "store";
    Val buffer = *(a[0]->kind == VAL_PLACES ? a[0]->item[0] : a[0]);
    Shown s = { .group = p->group, .at = at };
    if (!p->group || !a[1])
        return py_wrong(p, at, "an atomic operation outside of the partitions, or without a value");
    if (!buffer.rows)
        py_extents(p, &buffer);
    const WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, buffer.place.object);
    const gboolean real = !strcmp(word, "add") || !strcmp(word, "exchange");
    if (how && strcmp(b->dtype, "i32") && (strcmp(b->dtype, "f32") || !real))
        return py_wrong(p, at,
                        ws_source_format(p->r, "an atomic %s of elements of type %s", how,
                                         py_dtype_name(b->dtype)));
    if (buffer.place.transposed || buffer.depth)
        return py_wrong(p, at, "an atomic operation on a buffer that is seen otherwise");
    const Val *x = NULL, *where;
    if (a[0]->kind == VAL_PLACES && !(x = picked(p, a[0], &buffer, &s)))
        return py_wrong(p, at, "an index that is no tile of 32-bit integers");
    where = where_of(p, x, &buffer, a[2], &s);
    if (!where && (x || py_given(a[2])))
        return py_wrong(p, at, "a mask of an atomic operation that is no condition on tiles");
    const gint64 rows = where ? where->rows : buffer.rows, cols = where ? where->cols : buffer.cols;
    s.rows = rows;
    s.cols = cols;
    const gint value = added(p, how ? "added" : "stored", a[1], b->dtype, rows, cols, at);
    const gint there =
        value < 0 || !expected ? -1 : added(p, "expected", expected, b->dtype, rows, cols, at);
    if (value < 0 || (expected && there < 0))
        return py_wrong(p, at, "an atomic operation whose value is not of its buffer's type");
    const WsReadValue *held = &g_array_index(p->group->values, WsReadValue, value);
    if (held->rows * held->cols != rows * cols)
        return py_wrong(p, at, "an atomic operation of other many values than places");
    gint to = -1;
    if (where && (held->rows != rows || held->cols != cols))
        where = held->cols == 1 && rows == 1 ? py_as_rows(p, where) : where;
    if (where)
        to = py_hold_of(p, "places", where, at, rows, cols);
    const WsReadValue *places = to < 0 ? NULL : &g_array_index(p->group->values, WsReadValue, to);
    held = &g_array_index(p->group->values, WsReadValue, value);
    if (where && (!places || places->rows != held->rows || places->cols != held->cols))
        return py_wrong(p, at, "an atomic operation whose values and places are not in step");
    const WsReadValue *least =
        there < 0 ? held : &g_array_index(p->group->values, WsReadValue, there);
    if (least->rows != held->rows || least->cols != held->cols)
        return py_wrong(p, at, "an atomic operation of other many values than it expects");
    if (!how) /* a plain store to the compiler, which puts its barrier before it */
        py_meet_before(p, buffer.place.object, TRUE, at);
    WsReadStep *step = py_step(p, WS_READ_WRITE, at);
    step->value = value;
    step->buffer = buffer.place;
    step->reduce = how;
    step->where = to + 1;
    step->expected = there + 1;
    if (where)
        show_later(p, &s, step);
    if (how)
        return told(p, step, g_array_index(p->r->buffers, WsReadBuffer, buffer.place.object).dtype,
                    &g_array_index(p->group->values, WsReadValue, value), a[2], at);
    p->dirty = TRUE;
    py_touched(p, buffer.place.object);
    return py_none(p);
}

/* tl.store of elements that index tiles pick: of two that go to one place, either is left. */
const Val *py_store_places(PyRead *p, const Val **a, const WsPyNode *at)
{
    return shared(p, NULL, a, NULL, at);
}

/* A tile added to the tile of a tensor that pointers pick, or the larger or smaller of both. */
static const Val *on_tensor(PyRead *p, const char *how, const Val **a, const WsPyNode *at)
{
    static const char *const known[] = { "add", "max", "min", NULL };
    if (!g_strv_contains(known, how))
        return py_wrong(p, at, "an atomic operation on the bits of a tensor");
    const gint value = !p->group || !a[1] || a[1]->kind == VAL_OPAQUE ? -1
                       : a[1]->kind == VAL_TILE && !a[1]->text
                           ? a[1]->index
                           : py_hold(p, "added", a[1], at, a[0]->rows, a[0]->cols);
    if (a[1] && a[1]->kind == VAL_OPAQUE)
        py_law_value(p, at, "what is combined with a tensor");
    WsReadStep *s = value < 0 ? NULL : py_through(p, WS_READ_WRITE, a[0], a[2], at, NULL);
    if (!s) {
        py_note_store(p, a[0], at);
        if (a[1])
            py_look(p, a[1], at); /* py_through says why it is not known */
        return py_opaque(p);
    }
    s->value = value;
    s->reduce = how;
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, s->tensor);
    const char *dtype = g_array_index(p->group->values, WsReadValue, value).dtype;
    t->reduced = TRUE;
    py_type_stored(p, t, dtype);
    s->off = strcmp(t->dtype, dtype) != 0;
    return s->off ? py_wrong(p, at, "a tile that is combined with a tensor of another type")
                  : py_opaque(p);
}

static gboolean known_order(const Val *sem, const Val *scope)
{
    static const char *const orders[] = { "relaxed", "acquire", "release", "acq_rel", NULL },
                             *const scopes[] = { "gpu", "cta", "sys", NULL };
    return one_of(sem, orders) && one_of(scope, scopes);
}

static const Val *atomic(PyRead *p, const char *how, const Val **a, const WsPyNode *at)
{
    if (!known_order(a[3], a[4]))
        return py_wrong(p, at, "an order or a scope of an atomic operation that is not known");
    if (a[0] && (a[0]->kind == VAL_BUFFER || a[0]->kind == VAL_PLACES))
        return shared(p, how, a, NULL, at);
    if (!strcmp(how, "exchange"))
        return py_wrong(p, at, "an exchange with something that is no shared memory");
    if (py_may_be_shared(p, a[0], at))
        return py_wrong(p, at, "an atomic operation on a pointer that is not followed");
    const Val *done = py_add_to_tensor(p, how, a[1], at);
    if (!done && a[0] && a[0]->kind == VAL_POINTER)
        return on_tensor(p, how, a, at);
    if (!done && strcmp(how, "add") != 0)
        return py_wrong(p, at, "an atomic operation on a tensor that is not followed");
    return done ? done : py_mean_COUNT(p, a, at);
}

#define ATOMIC(id, how)                                                                            \
    const Val *py_mean_TLE_##id(PyRead *p, const Val **a, const WsPyNode *at)                      \
    {                                                                                              \
        return atomic(p, how, a, at);                                                              \
    }
ATOMIC(ADD, "add")
ATOMIC(MAX, "max")
ATOMIC(MIN, "min")
ATOMIC(AND, "and")
ATOMIC(OR, "or")
ATOMIC(XOR, "xor")

ATOMIC(EXCHANGE, "exchange")

const Val *py_mean_TLE_COMPARE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[0] || (a[0]->kind != VAL_BUFFER && a[0]->kind != VAL_PLACES) || !a[1])
        return py_wrong(p, at, "a compare and swap of something that is no shared memory");
    if (!known_order(a[3], a[4]))
        return py_wrong(p, at, "an order or a scope of an atomic operation that is not known");
    return shared(p, "compare", (const Val *[]){ a[0], a[2], NULL }, a[1], at);
}
