#include "import/alone.h"

#include <string.h>

/* Instructions take 64 rows. Products of a kernel without partitions that have 16 or 32 are such of
 * 64: values and buffers get the rows that are missing, copies bring what follows there (0 where
 * integers pick the rows), and of what is written to a tensor the first rows alone are. No row of a
 * product, a sum along a row or an element has to do with another row. */

enum { ATOM = 64 };

typedef struct {
    WsRead *r;
    WsReadGroup *g;
    gint64 rows;      /* of its products; 0: none was seen */
    gboolean *padded; /* [buffers] */
    gboolean wrong;
} Few;

gboolean ws_source_alone(const WsReadStep *s)
{
    switch (s->kind) {
    case WS_READ_FOR:
        return s->e || s->barrier.object < 0; /* not over a pipe */
    case WS_READ_SYNC:
        return !strcmp(s->name, "group");
    case WS_READ_LOAD:
        return !s->ctas && !s->masked;
    case WS_READ_GATHER:
    case WS_READ_STORE:
    case WS_READ_READ:
    case WS_READ_WRITE:
        return !s->masked || s->tensor >= 0;
    case WS_READ_IF:
    case WS_READ_ADVANCE:
    case WS_READ_LET:
    case WS_READ_WAIT:
    case WS_READ_EXPECT:
    case WS_READ_STORE_WAIT:
    case WS_READ_MMA:
    case WS_READ_MMA_WAIT:
    case WS_READ_COMPUTE:
    case WS_READ_FENCE:
    case WS_READ_LOAD_WAIT:
        return TRUE;
    case WS_READ_OPAQUE:
    case WS_READ_STAGE:
    case WS_READ_ARRIVE:
    case WS_READ_BAR_ARRIVE:
    case WS_READ_COPY:
    case WS_READ_CLUSTER:
    case WS_READ_DEPENDENT:
    case WS_READ_CLAIM:
    case WS_READ_TAKE:
    case WS_READ_RAW:
    case WS_READ_PIPE:
    default:
        return FALSE;
    }
}

static gboolean plain(const char *views)
{
    return !views || !*views;
}

static gboolean few(const Few *x, gint value)
{
    return g_array_index(x->g->values, WsReadValue, value).rows == x->rows;
}

static gint64 buffer_rows(const Few *x, gint buffer)
{
    const WsReadBuffer *b = &g_array_index(x->r->buffers, WsReadBuffer, buffer);
    return b->rank >= 2 && !b->over ? b->shape[b->rank - 2] : 0;
}

/* The buffer gets more rows. */
static void pad(Few *x, const WsPlace *p)
{
    x->wrong |= p->transposed || !plain(p->views) || buffer_rows(x, p->object) != x->rows;
    if (!x->wrong)
        x->padded[p->object] = TRUE;
}

static void look_product(Few *x, const WsReadStep *s)
{
    const gint64 rows = g_array_index(x->g->values, WsReadValue, s->value).rows;
    x->rows = x->rows ? x->rows : rows;
    x->wrong |= rows != x->rows || (rows != 16 && rows != 32) || !plain(s->text);
    if (!s->a.in_value)
        pad(x, &s->a);
    else
        x->wrong |= !few(x, s->a.object) || !plain(s->a.views);
}

static void products(Few *x, const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len && !x->wrong; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        x->wrong |= !ws_source_alone(s) || s->kind == WS_READ_EXPECT;
        if (s->kind == WS_READ_MMA)
            look_product(x, s);
        products(x, s->body);
        products(x, s->other);
    }
}

/* What else is done with values and buffers that get more rows. */
static void others(Few *x, const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len && !x->wrong; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        const gboolean moves = s->kind == WS_READ_READ || s->kind == WS_READ_WRITE;
        if (s->off)
            continue;
        if (moves && s->value >= 0 && few(x, s->value)) {
            x->wrong |= !plain(s->text) || s->cta || s->where || s->reduce || s->flag || s->old ||
                        s->expected || s->masked;
            if (s->tensor < 0)
                pad(x, &s->buffer);
        }
        others(x, s->body);
        others(x, s->other);
    }
}

static gboolean is_padded(const Few *x, const WsPlace *p)
{
    return p->object >= 0 && !p->in_value && x->padded[p->object];
}

static void uses(Few *x, const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len && !x->wrong; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        const gboolean moves = s->kind == WS_READ_READ || s->kind == WS_READ_WRITE;
        if (s->off)
            continue;
        if (s->kind == WS_READ_MMA)
            x->wrong |= is_padded(x, &s->b);
        else if (is_padded(x, &s->buffer))
            x->wrong |= !plain(s->buffer.views) || s->buffer.transposed ||
                        (moves && (s->value < 0 || !few(x, s->value)));
        if (s->kind == WS_READ_LOAD && is_padded(x, &s->buffer) && s->barrier.object >= 0)
            x->wrong |= g_array_index(x->r->barriers, WsReadBarrier, s->barrier.object).bytes != 0;
        uses(x, s->body);
        uses(x, s->other);
    }
}

/* Rows that integers of a tensor pick: those of the rows that are missing are not known. */
static gboolean picks(const WsExpr *e)
{
    gboolean is = e->op == WS_EXPR_INDEX;
    for (guint i = 0; i < e->n_args && !is; i++)
        is = picks(e->arg[i]);
    return is;
}

static void change(Few *x, const GPtrArray *list)
{
    WsRead *r = x->r;
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        if (s->kind == WS_READ_WRITE && s->tensor >= 0 && few(x, s->value))
            s->rows = x->rows;
        if (s->kind == WS_READ_STORE && is_padded(x, &s->buffer))
            s->buffer.views = ws_source_format(r, ".rows(0, %" G_GINT64_FORMAT ")", x->rows);
        for (guint k = 0; s->kind == WS_READ_GATHER && is_padded(x, &s->buffer) && k < s->n_coord;
             k++)
            if (s->coord[k] && picks(s->coord[k]))
                s->coord[k] =
                    ws_x_call(r, WS_FUNC_SELECT,
                              ws_x_op(r, WS_EXPR_LT, ws_x_name(r, "row"), ws_x_int(r, x->rows)),
                              s->coord[k], ws_x_int(r, -1));
        change(x, s->body);
        change(x, s->other);
    }
}

void ws_source_few_rows(WsRead *r)
{
    WsReadGroup *g = r->groups->len == 1 ? g_ptr_array_index(r->groups, 0) : NULL;
    if (!g || r->hints->len || r->cluster > 1)
        return;
    Few x = { .r = r, .g = g };
    x.padded = g_new0(gboolean, r->buffers->len + 1);
    products(&x, g->body);
    x.wrong |= !x.rows;
    if (!x.wrong)
        others(&x, g->body);
    if (!x.wrong)
        uses(&x, g->body);
    if (!x.wrong) {
        change(&x, g->body);
        for (guint i = 0; i < r->buffers->len; i++) {
            WsReadBuffer *b = &g_array_index(r->buffers, WsReadBuffer, i);
            if (x.padded[i])
                b->shape[b->rank - 2] = ATOM;
        }
        for (guint i = 0; i < g->values->len; i++) {
            WsReadValue *v = &g_array_index(g->values, WsReadValue, i);
            if (v->rows == x.rows)
                v->rows = ATOM;
        }
    }
    g_free(x.padded);
}
