#include "import/python/loops/pyread_loop.h"
#include "import/python/pyread_law.h"

#include <string.h>

/* Dimensions of tiles: which values are one per row and which one per column, what x[:, None] and
 * x[None, :] make of them, and what meets in arithmetic. */

static WsReadValue *value_of(const PyRead *p, gint64 i)
{
    return &g_array_index(p->group->values, WsReadValue, i);
}

static void add_alike(const PyRead *p, guint value, GArray *found)
{
    for (guint i = 0; i < p->group->alike->len; i++) {
        const WsReadAlike *a = &g_array_index(p->group->alike, WsReadAlike, i);
        const guint one = (guint)a->value, two = (guint)a->of;
        const guint other = one == value ? two : one;
        if ((one == value || two == value) && !py_value_in(found, (gint)other))
            g_array_append_val(found, other);
    }
}

/* The line and all that goes with it; NULL: it cannot be turned. */
static GArray *turnable(const PyRead *p, gint64 value)
{
    const gint64 cols = value_of(p, value)->cols;
    const guint first = (guint)value;
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(guint));
    g_array_append_val(all, first);
    for (guint i = 0; i < all->len; i++) {
        const WsReadValue *held = value_of(p, g_array_index(all, guint, i));
        const gboolean turned = held->rows == cols && held->cols == 1;
        if (!turned && (!held->line || held->across || held->cols != cols || held->rows != 1))
            return NULL;
        add_alike(p, g_array_index(all, guint, i), all);
    }
    return g_steal_pointer(&all);
}

gboolean py_turn_line(PyRead *p, gint64 value)
{
    g_autoptr(GArray) all = turnable(p, value);
    const gint64 cols = value_of(p, value)->cols;
    for (guint i = 0; all && i < all->len; i++) {
        WsReadValue *held = value_of(p, g_array_index(all, guint, i));
        held->rows = cols;
        held->cols = 1;
    }
    return all != NULL;
}

static gboolean may_turn(const PyRead *p, gint64 value)
{
    g_autoptr(GArray) all = turnable(p, value);
    return all != NULL;
}

gboolean py_says_column(const char *text)
{
    for (const char *at = text; (at = strstr(at, "col")); at += 3) {
        const gboolean inside = at > text && (g_ascii_isalnum(at[-1]) || at[-1] == '_');
        if (!inside && !g_ascii_isalnum(at[3]) && at[3] != '_')
            return TRUE;
    }
    return FALSE;
}

/* What has an order of its own along the columns. */
static gboolean runs_across(const char *text)
{
    return py_says_column(text) || strstr(text, "cumsum(");
}

void py_line_of(PyRead *p, gint value, const Val *m)
{
    WsReadValue *held = value_of(p, value);
    if (!m || !m->reads || held->rows != 1 || held->cols < 2)
        return;
    gboolean all = !runs_across(m->text), itself = FALSE;
    guint n = 0;
    for (guint i = 0; all && i < m->reads->len; i++) {
        const gint64 number = g_array_index(m->reads, gint64, i);
        const WsReadValue *from = value_of(p, number);
        const gboolean one = from->rows * from->cols == 1;
        all = one || (from->line && from->rows == 1 && from->cols == held->cols);
        itself |= number == value;
        n += all && !one && number != value;
    }
    held->line = all && (n || (itself && held->line));
    if (!all)
        py_across(p, m);
    for (guint i = 0; held->line && i < m->reads->len; i++) {
        const WsReadAlike pair = { value, (gint)g_array_index(m->reads, gint64, i) };
        if (value_of(p, pair.of)->cols > 1 && pair.of != value)
            g_array_append_val(p->group->alike, pair);
    }
}

/* Whether the value, one per column when the formula was made, is one per row now. */
static gboolean is_turned(const PyRead *p, gint64 value, gint64 cols)
{
    return value_of(p, value)->rows == cols && value_of(p, value)->cols == 1;
}

const Val *py_as_turned(PyRead *p, const Val *m)
{
    gboolean any = FALSE, all = TRUE;
    for (guint i = 0; p->group && m->rows == 1 && m->cols > 1 && m->reads && i < m->reads->len;
         i++) {
        const gint64 value = g_array_index(m->reads, gint64, i);
        const gboolean turned = is_turned(p, value, m->cols);
        any |= turned;
        all &= turned || value_of(p, value)->rows * value_of(p, value)->cols == 1;
    }
    if (!any)
        return m;
    if (!all || runs_across(m->text))
        return NULL;
    Val *rows = py_val(p, VAL_MATH);
    *rows = *m;
    rows->rows = m->cols;
    rows->cols = 1;
    return rows;
}

void py_across(PyRead *p, const Val *m)
{
    for (guint i = 0; p->group && m && m->reads && i < m->reads->len; i++) {
        WsReadValue *held = value_of(p, g_array_index(m->reads, gint64, i));
        held->across |= held->rows == 1 && held->cols > 1;
    }
}

/* The same with what counts columns (`from`) counting rows, or the other way. */
static const char *renamed(PyRead *p, const char *text, const char *from, const char *to)
{
    GString *s = g_string_new(NULL);
    for (const char *at = text; *at;) {
        const gboolean begins = at == text || !(g_ascii_isalnum(at[-1]) || at[-1] == '_');
        const gboolean is =
            begins && g_str_has_prefix(at, from) && !g_ascii_isalnum(at[3]) && at[3] != '_';
        g_string_append_len(s, is ? to : at, is ? 3 : 1);
        at += is ? 3 : 1;
    }
    const char *kept = ws_source_format(p->r, "%s", s->str);
    g_string_free(s, TRUE);
    return kept;
}

const Val *py_as_rows(PyRead *p, const Val *v)
{
    const Val *m = py_formula(p, v);
    if (p->group && v->kind == VAL_MATH && v->rows == 1 && v->cols > 1 &&
        !(v->reads && v->reads->len)) { /* of numbers and places alone */
        Val *rows = py_val(p, VAL_MATH);
        *rows = *v;
        rows->text = renamed(p, v->text, "col", "row");
        rows->rows = v->cols;
        rows->cols = 1;
        return rows;
    }
    if (!p->group || !m || m->rows != 1 || m->cols < 2 || !m->reads)
        return v;
    gboolean all = m->reads->len > 0, any = FALSE;
    for (guint i = 0; i < m->reads->len; i++) {
        const gint64 number = g_array_index(m->reads, gint64, i);
        const gboolean one = value_of(p, number)->rows * value_of(p, number)->cols == 1;
        all &= one || may_turn(p, number);
        any |= !one;
    }
    for (guint i = 0; all && any && i < m->reads->len; i++)
        if (!is_turned(p, g_array_index(m->reads, gint64, i), m->cols))
            py_turn_line(p, g_array_index(m->reads, gint64, i));
    if (!all || !any) { /* a formula of columns: as one of rows it is not known */
        Val *rows = py_val(p, VAL_OPAQUE);
        rows->rows = m->cols;
        rows->cols = 1;
        rows->dtype = v->dtype;
        return m->reads->len ? rows : v;
    }
    Val *turned = py_val(p, v->kind);
    *turned = *v;
    turned->counted = NULL;
    turned->rows = m->cols;
    turned->cols = 1;
    return turned;
}

const Val *py_of_dimensions(PyRead *p, const Val *v, guint dims)
{
    if (!py_is_tile(v) || v->dims == dims)
        return v;
    Val *own = py_val(p, v->kind);
    *own = *v;
    own->dims = dims;
    return own;
}

static gboolean is_scalar(const Val *v)
{
    return v->rows * v->cols <= 1;
}

static gboolean is_none(const WsPyNode *node)
{
    return node->kind == WS_PY_CONST && !strcmp(node->text, "None");
}

/* x[:, None], or x[None, :] (`across`). FALSE: neither, nor x[:] or x[:, :] (`as_it_is`). */
static gboolean is_item(const WsPyNode *item, gboolean two, gboolean *across, gboolean *as_it_is)
{
    const gboolean list = item->kind == WS_PY_TUPLE;
    const guint n = list ? item->n : 1;
    guint none = 0;
    for (guint i = 0; i < n; i++) {
        const WsPyNode *one = list ? item->kid[i] : item;
        gboolean all = one->kind == WS_PY_SLICE;
        for (guint k = 0; all && k < one->n; k++)
            all = is_none(one->kid[k]);
        if (!all && !is_none(one))
            return FALSE;
        *across |= !all && i == 0;
        none += !all;
    }
    *as_it_is = !none && n <= (two ? 2 : 1);
    return *as_it_is || (!two && none == 1 && n <= 2);
}

/* One value per row, as one per column. NULL: it is none that can be written so. */
static const Val *as_columns(PyRead *p, const Val *v)
{
    const Val *m = py_formula(p, v);
    if (!m || m->cols != 1 || (m->reads && m->reads->len))
        return NULL;
    Val *own = py_val(p, VAL_MATH);
    *own = *m;
    own->text = renamed(p, m->text, "row", "col");
    own->cols = m->rows;
    own->rows = 1;
    return own;
}

/* The tile or formula with the shape that it has by now; NULL: it has none. */
static const Val *as_held(PyRead *p, const Val *v)
{
    if (v->kind == VAL_MATH)
        return py_as_turned(p, v);
    if (v->kind != VAL_TILE || v->text || !p->group || !is_turned(p, v->index, v->cols))
        return v;
    Val *rows = py_val(p, VAL_TILE);
    *rows = *v;
    rows->rows = v->cols;
    rows->cols = 1;
    return rows;
}

const Val *py_tile_item(PyRead *p, const Val *v, const WsPyNode *item)
{
    gboolean across = FALSE, as_it_is = FALSE;
    v = as_held(p, v);
    if (!v)
        return py_lost(p, item, "one value per row as one per column");
    const gboolean two = v->rows > 1 && v->cols > 1;
    if (!is_item(item, two || v->dims == 2, &across, &as_it_is))
        return py_lost(p, item, "a part of a tile, or one of three dimensions");
    if (as_it_is)
        return v;
    if (!across && v->kind == VAL_MATH && v->rows == 1 && !strcmp(v->text, "col")) {
        Val *own = py_val(p, VAL_MATH); /* arange(0, n)[:, None] */
        *own = *v;
        own->text = "row";
        own->rows = v->cols;
        own->cols = 1;
        own->dims = 2;
        return own;
    }
    if (!across && (v->kind == VAL_MATH || v->kind == VAL_TILE))
        return py_of_dimensions(p, py_as_rows(p, v), 2);
    const Val *turned = across && v->cols == 1 && v->rows > 1 ? as_columns(p, v) : v;
    if (!turned)
        return py_lost(p, item, "one value per row as one per column");
    if (across)
        py_across(p, py_formula(p, turned));
    return py_of_dimensions(p, turned, 2);
}

/* Of what is computed of both. */
guint py_dimensions(const Val *a, const Val *b)
{
    if (!b || is_scalar(b))
        return a->dims;
    if (is_scalar(a))
        return b->dims;
    return a->dims == 2 || b->dims == 2 ? 2 : a->dims == 1 && b->dims == 1 ? 1 : 0;
}

/* A line of one dimension beside a matrix is one value per column. FALSE: it is one per row, and
 * nothing that could be written so. */
static gboolean as_last(PyRead *p, const Val **line, const Val *matrix)
{
    if ((*line)->dims != 1 || (*line)->cols != 1 || (*line)->rows < 2 || matrix->rows < 2 ||
        (matrix->cols < 2 && matrix->dims != 2))
        return TRUE;
    const Val *turned = as_columns(p, *line);
    *line = turned ? turned : *line;
    return turned != NULL;
}

/* One value per row and one per column are a matrix where the one is of two dimensions in the
 * source; where it is of one, the other holds one value per row, too. FALSE: neither is known. */
gboolean py_side_by_side(PyRead *p, const Val **x, const Val **y)
{
    const gboolean across = (*x)->rows == 1 && (*y)->cols == 1 && (*x)->cols == (*y)->rows;
    const gboolean down = (*y)->rows == 1 && (*x)->cols == 1 && (*y)->cols == (*x)->rows;
    if (!across && !down)
        return p->from == WS_IMPORT_GLUON || (as_last(p, x, *y) && as_last(p, y, *x));
    if (p->from != WS_IMPORT_TLE || is_scalar(*x))
        return TRUE;
    const Val *rows = down ? *x : *y, **cols = down ? y : x;
    if (rows->dims == 2)
        return TRUE;
    if (rows->dims != 1 || (*cols)->dims == 2)
        return FALSE;
    if (!(rows->reads && rows->reads->len) && !strstr(rows->text, "row")) { /* zeros */
        Val *own = py_val(p, VAL_MATH);
        *own = *rows;
        own->rows = 1;
        own->cols = rows->rows;
        *(down ? x : y) = own;
        return TRUE;
    }
    const Val *turned = py_as_rows(p, *cols);
    *cols = turned->kind == VAL_MATH && turned->cols == 1 ? turned : *cols;
    return turned == *cols;
}
