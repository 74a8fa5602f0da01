#include "import/recognise.h"

#include <string.h>

/* Stages that the source keeps in parts, because extents are powers of two there: where every place
 * of a buffer is `use % stages * parts + part`, a stage is the parts under each other and a part a
 * view of its rows; loads of all parts from rows of a tensor under each other are one load. */

typedef struct {
    gint buffer;
    gint64 parts, stages;
    gboolean wrong;
    guint seen;
} Parts;

typedef void (*Visit)(WsRead *r, WsPlace *p, Parts *q);

static void visit(WsRead *r, GPtrArray *list, Visit f, Parts *q)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        WsPlace *place[] = { &s->buffer, &s->a, &s->b };
        for (guint k = 0; k < 3 && !s->off; k++)
            if (!place[k]->in_value && place[k]->object == q->buffer)
                f(r, place[k], q);
        visit(r, s->body, f, q);
        visit(r, s->other, f, q);
    }
}

static void visit_groups(WsRead *r, Visit f, Parts *q)
{
    for (guint g = 0; g < r->groups->len; g++)
        visit(r, ((WsReadGroup *)g_ptr_array_index(r->groups, g))->body, f, q);
}

/* index = parts * (u % stages) + part */
static gboolean split(WsRead *r, const WsExpr *index, gint64 *parts, gint64 *stages, gint64 *part,
                      const WsExpr **use)
{
    WsAffine f;
    if (!index || !ws_expr_affine(index, &f))
        return FALSE;
    const gboolean fits = f.n == 1 && f.term[0]->op == WS_EXPR_MOD &&
                          ws_x_is(f.term[0]->arg[1], stages) && f.factor[0] > 1 &&
                          f.constant >= 0 && f.constant < f.factor[0];
    if (fits) {
        *parts = f.factor[0];
        *part = f.constant;
        *use = ws_x_own(r, ws_expr_ref(f.term[0]));
    }
    ws_affine_clear(&f);
    return fits;
}

static void look(WsRead *r, WsPlace *p, Parts *q)
{
    gint64 parts, stages, part;
    const WsExpr *use;
    if (!split(r, p->index, &parts, &stages, &part, &use) || (q->parts && q->parts != parts) ||
        (q->stages && q->stages != stages)) {
        q->wrong = TRUE;
        return;
    }
    q->parts = parts;
    q->stages = stages;
    q->seen++;
}

static void turn(WsRead *r, WsPlace *p, Parts *q)
{
    const WsReadBuffer *b = &g_array_index(r->buffers, WsReadBuffer, q->buffer);
    const gint64 rows = b->shape[1] / q->parts;
    gint64 parts, stages, part;
    const WsExpr *use;
    if (!split(r, p->index, &parts, &stages, &part, &use))
        return;
    p->index = use;
    p->views = ws_source_format(r, ".rows(%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ")%s",
                                part * rows, rows, p->views ? p->views : "");
}

static gboolean same_index(const WsExpr *a, const WsExpr *b)
{
    gint64 d;
    return a == b || (ws_x_difference(a, b, &d) && d == 0);
}

/* Whether `s` loads part `i` of what `first` begins. */
static gboolean goes_on(WsRead *r, const WsReadStep *first, const WsReadStep *s, gint64 i,
                        gint64 rows)
{
    const char *view =
        ws_source_format(r, ".rows(%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ")", i * rows, rows);
    gboolean fits = s->kind == WS_READ_LOAD && !s->off && !s->when && s->tensor == first->tensor &&
                    s->buffer.object == first->buffer.object && !strcmp(s->buffer.views, view) &&
                    same_index(s->buffer.index, first->buffer.index) &&
                    s->barrier.object == first->barrier.object &&
                    same_index(s->barrier.index, first->barrier.index) &&
                    s->n_coord == first->n_coord && s->n_coord > 1;
    for (guint d = 0; fits && d < s->n_coord; d++) {
        gint64 by;
        fits = ws_x_difference(first->coord[d], s->coord[d], &by) &&
               by == (d + 2 == s->n_coord ? i * rows : 0);
    }
    return fits;
}

static void merge(WsRead *r, GPtrArray *list, const Parts *q, gint64 rows)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        merge(r, s->body, q, rows);
        merge(r, s->other, q, rows);
        if (s->buffer.object != q->buffer || i + q->parts > list->len || !goes_on(r, s, s, 0, rows))
            continue;
        gint64 n = 1;
        while (n < q->parts && goes_on(r, s, g_ptr_array_index(list, i + n), n, rows))
            n++;
        if (n < q->parts)
            continue;
        s->buffer.views = "";
        for (gint64 k = 1; k < n; k++)
            ((WsReadStep *)g_ptr_array_index(list, i + k))->off = TRUE;
    }
}

void ws_source_parts(WsRead *r)
{
    for (guint i = 0; i < r->buffers->len; i++) {
        WsReadBuffer *b = &g_array_index(r->buffers, WsReadBuffer, i);
        Parts q = { .buffer = (gint)i };
        if (b->rank != 3 || !b->indexed || b->indexed_twice || b->over)
            continue;
        visit_groups(r, look, &q);
        if (q.wrong || !q.seen || q.parts * q.stages > b->shape[0])
            continue;
        const gint64 rows = b->shape[1];
        b->shape[0] = q.stages;
        b->shape[1] *= q.parts;
        visit_groups(r, turn, &q);
        for (guint g = 0; g < r->groups->len; g++)
            merge(r, ((WsReadGroup *)g_ptr_array_index(r->groups, g))->body, &q, rows);
    }
}
