/* Where tiles are cut. */
#include "program/array.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "program/split/split.h"

#include <string.h>

#define WS_MOST_COLS 512 /* of a value: beyond, nothing is cut */

static guint power_below(guint n)
{
    guint is = 1;
    while (2 * is <= n)
        is *= 2;
    return is;
}

gboolean ws_split_cuts(const gboolean *mark, guint extent, gint64 origin, WsCuts *out)
{
    *out = (WsCuts){ 0 };
    for (guint at = 0; at < extent;) {
        guint end = at + 1;
        while (end < extent && !mark[end])
            end++;
        while (at < end) {
            const guint64 place = (guint64)origin + at;
            guint n = power_below(end - at);
            while (place % n != 0)
                n /= 2;
            if (out->n == WS_SPLIT_MOST)
                return FALSE;
            out->at[out->n++] = at;
            at += n;
        }
    }
    out->at[out->n] = extent;
    return TRUE;
}

/* --- values that meet --------------------------------------------------------------------------*/

typedef struct {
    WsSplit *s;
    const WsAgent *a;
    guint *class_of;                    /* [n_values] */
    gboolean (*mark)[WS_MOST_COLS + 1]; /* of a class, at its first value */
    gint *temporary;                    /* of the statements being read: a value of its class, -1 */
} Meet;

/* Its columns are columns of a tile, not one per row or lane. */
static gboolean wide(const WsRegValue *v)
{
    return v->cols > 1 && v->cols <= WS_MOST_COLS && !ws_array_by_lane(v->rows, v->cols);
}

static guint class_of(const Meet *m, guint v)
{
    while (m->class_of[v] != v)
        v = m->class_of[v];
    return v;
}

static gint meet(Meet *m, gint a, gint b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    const guint one = class_of(m, (guint)a), other = class_of(m, (guint)b);
    m->class_of[MAX(one, other)] = MIN(one, other);
    return (gint)MIN(one, other);
}

/* A value whose columns are those of the node, -1: none. */
static gint columns(Meet *m, const WsArray *n)
{
    gint is = -1;
    if (!n)
        return -1;
    if (n->form == WS_ARRAY_VALUE)
        return wide(&m->a->value[n->index]) ? (gint)n->index : -1;
    if (n->form == WS_ARRAY_TEMPORARY)
        return m->temporary[n->index];
    for (guint i = 0; i < n->n_arg; i++)
        is = meet(m, is, columns(m, n->arg[i]));
    return n->form == WS_ARRAY_REDUCTION ? -1 : is;
}

static void statements(Meet *m, const WsOp *op)
{
    m->temporary = g_new0(gint, op->n_math);
    for (guint i = 0; i < op->n_math; i++) {
        const gint target = op->assign[i].value;
        m->temporary[i] = columns(m, op->assign[i].array);
        if (target >= 0 && wide(&m->a->value[target]))
            meet(m, target, m->temporary[i]);
    }
    g_clear_pointer(&m->temporary, g_free);
}

/* --- marks -------------------------------------------------------------------------------------*/

static gboolean *marks(const Meet *m, guint value)
{
    return m->mark[class_of(m, value)];
}

static gboolean part_of(const Meet *m, const WsValueUse *u)
{
    const WsRegValue *v = &m->a->value[u->value];
    return wide(v) && u->cols != v->cols;
}

static gboolean mark_use(Meet *m, const WsValueUse *u)
{
    gint64 from;
    if (!part_of(m, u))
        return TRUE;
    if (!ws_expr_is_int(u->col0, &from))
        return ws_split_give_up(m->s, "columns of %s that are not constant",
                                m->a->value[u->value].name);
    marks(m, u->value)[from] = marks(m, u->value)[from + u->cols] = TRUE;
    return TRUE;
}

/* The value is cut where a buffer is that stands for its columns (rows with `b` as it lies). */
static void mark_by_buffer(Meet *m, const WsValueUse *u, const WsAccess *b, gboolean rows)
{
    const WsCuts *cuts = rows ? &m->s->rows[b->buffer] : &m->s->cols[b->buffer];
    gint64 at, from = 0;
    if (!wide(&m->a->value[u->value]) || !ws_expr_is_int(rows ? b->row0 : b->col0, &at))
        return;
    if (u->cols != m->a->value[u->value].cols && !ws_expr_is_int(u->col0, &from))
        return;
    for (guint i = 1; i < cuts->n; i++) {
        const gint64 c = cuts->at[i] - at;
        if (c > 0 && c < u->cols)
            marks(m, u->value)[from + c] = TRUE;
    }
}

static gboolean product(Meet *m, const WsOp *op)
{
    const WsAccess *b = &op->access[op->mma->a.in_registers ? 0 : 1];
    mark_by_buffer(m, &op->value[0], b, !b->transposed);
    if (op->mma->a.in_registers)
        mark_by_buffer(m, &op->value[1], b, b->transposed);
    return mark_use(m, &op->value[0]) && (op->n_value < 2 || mark_use(m, &op->value[1]));
}

/* A part of a value is what halving one of its parts gives, or several whole ones. */
static gboolean settled(Meet *m, const WsValueUse *u, gboolean *changed)
{
    WsCuts cuts;
    gint64 from;
    gboolean *mark = marks(m, u->value);
    const guint cols = m->a->value[u->value].cols;
    if (!part_of(m, u))
        return TRUE;
    if (!ws_expr_is_int(u->col0, &from))
        return mark_use(m, u);
    if (!ws_split_cuts(mark, cols, 0, &cuts))
        return ws_split_give_up(m->s, "%s in too many parts", m->a->value[u->value].name);
    for (guint i = 0; i < cuts.n; i++) {
        const gint64 lo = cuts.at[i], hi = cuts.at[i + 1], end = from + u->cols;
        const gboolean apart = end <= lo || hi <= from, whole = from <= lo && hi <= end;
        const gboolean share =
            lo <= from && end <= hi && !(u->cols & (u->cols - 1)) && (from - lo) % u->cols == 0;
        if (apart || whole || share || (mark[from] && mark[end]))
            continue;
        mark[from] = mark[end] = *changed = TRUE;
    }
    return TRUE;
}

static gboolean cut_agent(WsSplit *s, guint number)
{
    const WsAgent *a = &s->p->agent[number];
    Meet m = { s, a, g_new(guint, a->n_values + 1), NULL, NULL };
    m.mark = g_malloc0_n(a->n_values + 1, sizeof *m.mark);
    for (guint v = 0; v < a->n_values; v++)
        m.class_of[v] = v;
    gboolean good = TRUE, changed = TRUE;
    for (guint i = 0; i < s->p->n_ops; i++) {
        if (s->p->op[i]->agent == (gint)number && s->p->op[i]->n_math)
            statements(&m, s->p->op[i]);
    }
    for (guint i = 0; good && i < s->p->n_ops; i++) {
        const WsOp *op = s->p->op[i];
        if (op->agent != (gint)number)
            continue;
        if (ws_op_is_product(op->kind))
            good = product(&m, op);
        else if (op->n_value && (op->value[0].mode & WS_MODE_WRITE))
            good = mark_use(&m, &op->value[0]);
    }
    while (good && changed) {
        changed = FALSE;
        for (guint i = 0; good && i < s->p->n_ops; i++) {
            const WsOp *op = s->p->op[i];
            for (guint k = 0; good && op->agent == (gint)number && k < op->n_value; k++)
                good = settled(&m, &op->value[k], &changed);
        }
    }
    s->value[number] = g_new0(WsCuts, a->n_values + 1);
    for (guint v = 0; good && v < a->n_values; v++) {
        WsCuts *cuts = &s->value[number][v];
        *cuts = (WsCuts){ 1, { 0, a->value[v].cols } };
        if (wide(&a->value[v]) && !ws_split_cuts(marks(&m, v), a->value[v].cols, 0, cuts))
            good = ws_split_give_up(s, "%s in too many parts", a->value[v].name);
        s->any = s->any || cuts->n > 1;
    }
    g_free(m.class_of);
    g_free(m.mark);
    return good;
}

/* Elements are read from its rows, one by one, and else they are loaded: a language finds an
 * element in a line, not in a tile. */
static gboolean is_lines(const WsProgram *p, guint i)
{
    const WsBuffer *b = &p->buffer[i];
    gboolean element = FALSE;
    if (b->rank == 1 || b->rows > WS_SPLIT_MOST || b->swizzle || b->pad || b->over >= 0 ||
        (b->cols & (b->cols - 1)))
        return FALSE;
    for (guint k = 0; k < p->n_ops; k++) {
        const WsOp *op = p->op[k];
        for (guint x = 0; x < op->n_access; x++) {
            const WsAccess *a = &op->access[x];
            gint64 row;
            if (a->buffer != i)
                continue;
            if (op->transfer && ws_op_row(op->kind)->from == WS_DATA_AT_TENSOR &&
                a->cols == b->cols)
                continue;
            if (!ws_op_loads_shared(op->kind) || a->rows != 1 || a->cols != 1 ||
                !ws_expr_is_int(a->row0, &row))
                return FALSE;
            element = TRUE;
        }
    }
    for (guint k = 0; k < p->n_buffers; k++)
        element = element && p->buffer[k].over != (gint)i;
    return element;
}

static gboolean cut_buffer(WsSplit *s, guint i)
{
    const WsBuffer *b = &s->p->buffer[i];
    const guint most = MAX(b->rows, b->cols) + 1;
    g_autofree gboolean *none = g_new0(gboolean, most);
    s->rows[i] = (WsCuts){ 1, { 0, b->rows } };
    s->cols[i] = (WsCuts){ 1, { 0, b->cols } };
    if (b->rank == 1)
        return TRUE;
    s->lines[i] = !s->uncut[i] && is_lines(s->p, i);
    for (guint k = 0; s->lines[i] && k <= b->rows; k++)
        none[k] = TRUE;
    const gboolean good = s->uncut[i] || ws_split_cuts(none, b->rows, 0, &s->rows[i]);
    memset(none, 0, sizeof *none * most);
    if (!good || !ws_split_cuts(none, b->cols, 0, &s->cols[i]))
        return ws_split_give_up(s, "%s in too many parts", b->name);
    s->any = s->any || s->rows[i].n > 1 || s->cols[i].n > 1 || s->lines[i];
    return TRUE;
}

gboolean ws_split_find(WsSplit *s)
{
    gboolean good = TRUE;
    s->rows = g_new0(WsCuts, s->p->n_buffers + 1);
    s->cols = g_new0(WsCuts, s->p->n_buffers + 1);
    s->lines = g_new0(gboolean, s->p->n_buffers + 1);
    s->value = g_new0(WsCuts *, s->p->n_agents + 1);
    for (guint i = 0; good && i < s->p->n_buffers; i++)
        good = cut_buffer(s, i);
    for (guint i = 0; good && i < s->p->n_agents; i++)
        good = cut_agent(s, i);
    return good;
}

const WsCuts *ws_split_of_name(const WsSplit *s, const char *name)
{
    const WsAgent *a = &s->p->agent[s->agent];
    for (guint v = 0; v < a->n_values; v++) {
        if (!g_strcmp0(a->value[v].name, name))
            return s->value[s->agent][v].n > 1 ? &s->value[s->agent][v] : NULL;
    }
    return s->temporary ? g_hash_table_lookup(s->temporary, name) : NULL;
}
