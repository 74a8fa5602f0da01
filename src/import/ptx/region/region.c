#include "import/ptx/region/region.h"

#include <string.h>

/* Rings are told by what their addresses repeat with, single tiles by the bytes that copies,
 * products and stores touch. */

static gint64 bytes_of(const char *dtype)
{
    return !strcmp(dtype, "f32") || !strcmp(dtype, "tf32")    ? 4
           : !strcmp(dtype, "e4m3") || !strcmp(dtype, "e5m2") ? 1
                                                              : 2;
}

gboolean ptx_spot(WsRead *r, const WsExpr *e, PtxSpot *spot)
{
    WsAffine f;
    *spot = (PtxSpot){ .stride = 1, .n = 1 };
    if (!e || !ws_expr_affine(e, &f))
        return FALSE;
    spot->base = f.constant;
    gboolean good = f.n <= 4;
    for (guint i = 0; i < f.n && good; i++) {
        const WsExpr *t = f.term[i];
        gint64 n;
        if (t->op == WS_EXPR_NAME && !strcmp(t->name, "cta")) {
            spot->per_cta = f.factor[i];
        } else if (t->op == WS_EXPR_MOD && ws_x_is(t->arg[1], &n) && n > 1 && n <= PTX_MAX_SLOTS &&
                   f.factor[i] > 0 && !spot->index) {
            spot->n = n;
            spot->stride = f.factor[i];
            spot->index = ws_x_own(r, ws_expr_ref(t));
        } else if ((t->op == WS_EXPR_NAME || t->op == WS_EXPR_TOTAL) && f.factor[i] > 0) {
            spot->open = TRUE;
        } else {
            good = FALSE;
        }
    }
    ws_affine_clear(&f);
    return good && spot->base >= 0 && spot->base < (gint64)1 << 40;
}

static void visit(GPtrArray *list, WsReadGroup *g, PtxVisit call, gpointer data)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        call(data, list, i, g);
        visit(s->body, g, call, data);
        visit(s->other, g, call, data);
    }
}

void ptx_visit(WsRead *r, PtxVisit call, gpointer data)
{
    for (guint i = 0; i < r->groups->len; i++) {
        WsReadGroup *g = g_ptr_array_index(r->groups, i);
        visit(g->body, g, call, data);
    }
}

/* --- accesses --------------------------------------------------------------------------------- */

typedef struct {
    PtxRegions *q;
    GArray *access;
} Gather;

static void add_access(Gather *a, const WsReadStep *s, const WsPlace *p)
{
    PtxAccess one = { .line = s->line };
    if (p->in_value || !p->index || !ptx_spot(a->q->w->p.r, p->index, &one.spot))
        return;
    one.o = ptx_operand_of(a->q->w, p);
    one.box = s->kind == WS_READ_LOAD || s->kind == WS_READ_STORE;
    one.load = s->kind == WS_READ_LOAD;
    if (one.box)
        one.o->tensor = s->tensor;
    one.reads = s->kind == WS_READ_MMA || s->kind == WS_READ_READ ||
                (s->kind == WS_READ_COPY && p == &s->a);
    one.flat = one.box && s->tensor >= 0 &&
               g_array_index(a->q->w->p.r->tensors, WsReadTensor, s->tensor).rank == 1;
    if (one.spot.per_cta && !one.o->to)
        one.o->to = ABS(one.spot.per_cta);
    g_array_append_val(a->access, one);
}

guint ptx_places(const WsReadStep *s, const WsPlace *place[2])
{
    const WsReadPlaces places = ws_read_row(s->kind)->places;
    if (places == WS_READ_PLACES_NONE)
        return 0;
    place[0] = places == WS_READ_PLACES_BUFFER ? &s->buffer : &s->a;
    place[1] = places == WS_READ_PLACES_A_B ? &s->b : &s->buffer;
    return places == WS_READ_PLACES_BUFFER ? 1 : 2;
}

static void collect(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    const WsPlace *place[2];
    for (guint i = 0, n = ptx_places(s, place); i < n; i++)
        add_access(data, s, place[i]);
}

static gint by_base(gconstpointer a, gconstpointer b)
{
    const PtxAccess *x = a, *y = b;
    const gint64 from = x->spot.base + x->o->from, other = y->spot.base + y->o->from;
    return from != other ? (from < other ? -1 : 1) : y->o->to > x->o->to ? 1 : -1;
}

/* --- regions ---------------------------------------------------------------------------------- */

static PtxRegion *at_index(const PtxRegions *q, guint i)
{
    return &g_array_index(q->region, PtxRegion, i);
}

static gboolean same_ring(const PtxRegion *g, const PtxSpot *s)
{
    return s->n > 1 && g->n == s->n && g->stride == s->stride;
}

/* The region an access belongs to; `bytes` behind its base, 0 not known. */
PtxRegion *ptx_region_of(const PtxRegions *q, const PtxSpot *s, gint64 bytes)
{
    for (guint i = 0; i < q->region->len; i++) {
        PtxRegion *g = at_index(q, i);
        if (s->n > 1) {
            if (same_ring(g, s) && s->base >= g->base && s->base < g->base + g->stride)
                return g;
        } else if (s->base >= g->base && s->base < g->base + g->stride * g->n) {
            const gint64 inside = (s->base - g->base) % g->stride;
            if (inside + bytes <= g->stride)
                return g;
        }
    }
    return NULL;
}

static void new_region(PtxRegions *q, gint64 base, gint64 stride, gint64 n, guint line)
{
    PtxRegion g = { .base = base, .stride = stride, .n = n, .object = -1, .line = line };
    g_array_append_val(q->region, g);
}

static void rings(PtxRegions *q, const GArray *access)
{
    for (guint i = 0; i < access->len; i++) {
        const PtxAccess *a = &g_array_index(access, PtxAccess, i);
        PtxSpot begin = a->spot;
        begin.base += a->o->from;
        if (begin.n > 1 && begin.stride >= 16 && !ptx_region_of(q, &begin, 0))
            new_region(q, begin.base - begin.base % 16, begin.stride, begin.n, a->line);
    }
}

static void singles(PtxRegions *q, const GArray *access)
{
    gint64 from = 0, to = -1;
    guint line = 0;
    for (guint i = 0; i < access->len; i++) {
        const PtxAccess *a = &g_array_index(access, PtxAccess, i);
        const PtxSpot *s = &a->spot;
        PtxSpot begin = *s;
        begin.base += a->o->from;
        if (s->n > 1 || a->o->to <= a->o->from || ptx_region_of(q, &begin, a->o->to - a->o->from))
            continue;
        const gint64 low = begin.base - begin.base % 128,
                     high = s->base + a->o->to + (128 - (s->base + a->o->to) % 128) % 128;
        if (to >= 0 && low < to) {
            to = MAX(to, high);
            continue;
        }
        if (to >= 0)
            new_region(q, from, to - from, 1, line);
        from = low;
        to = high;
        line = a->line;
    }
    if (to >= 0)
        new_region(q, from, to - from, 1, line);
}

static void shape_regions(PtxRegions *q, const GArray *access)
{
    for (guint i = 0; i < access->len; i++) {
        const PtxAccess *a = &g_array_index(access, PtxAccess, i);
        PtxSpot begin = a->spot;
        begin.base += a->o->from;
        PtxRegion *g = ptx_region_of(q, &begin, 0);
        if (g)
            g->flat |= a->flat;
        if (!g || !a->o->span)
            continue;
        g->span = g->span ? g->span : a->o->span;
        g->dtype = g->dtype ? g->dtype : a->o->dtype;
        if (a->o->turned && a->o->pitch && !g->chunk && a->o->pitch % g->span == 0)
            g->chunk = a->o->pitch / g->span;
    }
    for (guint i = 0; i < q->region->len; i++) {
        PtxRegion *g = at_index(q, i);
        g->dtype = g->dtype ? g->dtype : "bf16";
        g->span = g->span ? g->span : 128;
        g->rank = g->flat || g->stride % g->span || (g->chunk && g->stride % (g->chunk * g->span))
                      ? 1
                      : 2;
        if (g->rank == 1) {
            g->chunk = 0;
            g->span = bytes_of(g->dtype);
        }
        if (g->chunk && g->chunk * g->span == g->stride)
            g->chunk = 0;
    }
}

static void make_buffer(PtxRegions *q, PtxRegion *g)
{
    WsRead *r = q->w->p.r;
    const gint64 bytes = bytes_of(g->dtype), rows = g->chunk ? g->chunk : g->stride / g->span;
    WsReadBuffer b = { .name = ws_source_name(
                           r, ws_source_format(r, "buffer_%" G_GINT64_FORMAT, g->base)),
                       .dtype = g->dtype,
                       .line = g->line,
                       .span = g->rank == 2 ? g->span : 0 };
    guint d = 0;
    b.indexed = g->n > 1;
    if (g->n > 1)
        b.shape[d++] = g->n;
    b.shape[d++] = rows;
    if (g->rank == 2)
        b.shape[d++] = g->stride / rows / bytes;
    b.rank = d;
    g->object = (gint)r->buffers->len;
    g_array_append_val(r->buffers, b);
}

/* Regions that share bytes lie over one buffer that nothing names. */
static void overlaps(PtxRegions *q)
{
    WsRead *r = q->w->p.r;
    const guint n = q->region->len;
    for (guint i = 0; i < n; i++) {
        const PtxRegion *g = at_index(q, i);
        gint64 from = g->base, to = g->base + g->stride * g->n;
        if (g->object < 0 || g_array_index(r->buffers, WsReadBuffer, g->object).over)
            continue;
        gboolean shares = FALSE;
        for (guint pass = 0; pass < n; pass++)
            for (guint k = 0; k < n; k++) {
                const PtxRegion *o = at_index(q, k);
                const gint64 end = o->base + o->stride * o->n;
                if (k == i || o->object < 0 || o->base >= to || end <= from)
                    continue;
                shares = TRUE;
                from = MIN(from, o->base);
                to = MAX(to, end);
            }
        if (!shares)
            continue;
        const gint64 rows = (to - from + 127) / 128;
        WsReadBuffer parent = { .name = ws_source_name(r, "storage"),
                                .dtype = "bf16",
                                .rank = 2,
                                .span = 128,
                                .line = g->line };
        parent.shape[0] = rows;
        parent.shape[1] = 64;
        g_array_append_val(r->buffers, parent);
        for (guint k = 0; k < n; k++) {
            const PtxRegion *o = at_index(q, k);
            if (o->object < 0 || o->base >= to || o->base + o->stride * o->n <= from)
                continue;
            WsReadBuffer *b = &g_array_index(r->buffers, WsReadBuffer, o->object);
            b->over = (gint)r->buffers->len;
            b->over_at = o->base - from;
        }
    }
}

void ptx_regions_find(PtxRegions *q)
{
    Gather a = { q, g_array_new(FALSE, TRUE, sizeof(PtxAccess)) };
    ptx_visit(q->w->p.r, collect, &a);
    g_array_sort(a.access, by_base);
    for (guint i = 0; i < a.access->len; i++) {
        const PtxAccess *one = &g_array_index(a.access, PtxAccess, i);
        if (one->box)
            g_array_append_val(one->load ? q->marks : q->stores, one->spot.base);
    }
    rings(q, a.access);
    for (guint i = 0; i < q->region->len; i++)
        g_array_append_val(q->marks, at_index(q, i)->base);
    ptx_bound_boxes(q, a.access);
    singles(q, a.access);
    shape_regions(q, a.access);
    for (guint i = 0; i < q->region->len; i++)
        make_buffer(q, at_index(q, i));
    overlaps(q);
    g_array_unref(a.access);
}

/* --- views ------------------------------------------------------------------------------------ */

typedef struct {
    gint64 row, rows, col, cols; /* columns in elements */
} Box;

/* The rows and columns of bytes from … to of a stage. */
static gboolean box_of_bytes(const PtxRegion *g, gint64 from, gint64 to, Box *b)
{
    const gint64 el = bytes_of(g->dtype), all = g->chunk ? g->chunk : g->stride / g->span,
                 column = all * g->span;
    if (from < 0 || to > g->stride || to <= from)
        return FALSE;
    b->col = from / column * (g->span / el);
    if ((to - 1) / column == from / column) {
        b->row = from % column / g->span;
        b->rows = ((to - 1) % column) / g->span + 1 - b->row;
        b->cols = g->span / el;
        return TRUE;
    }
    b->row = 0;
    b->rows = all;
    b->cols = ((to - 1) / column + 1 - from / column) * (g->span / el);
    return TRUE;
}

static gboolean box_of_operand(const PtxRegion *g, const PtxOperand *o, gint64 inside, Box *b)
{
    const gint64 el = bytes_of(g->dtype), all = g->chunk ? g->chunk : g->stride / g->span,
                 column = all * g->span, at = inside % column;
    if (o->span != g->span || (o->pitch && o->pitch != column) || g->rank != 2)
        return FALSE;
    b->row = at / g->span;
    b->rows = o->rows;
    b->col = inside / column * (g->span / el) + at % g->span / el;
    b->cols = o->width / el;
    return b->row + b->rows <= all && inside + o->to <= g->stride + at % g->span;
}

static const char *views_of(PtxRegions *q, const PtxRegion *g, const Box *b, gint64 rows_per_cta)
{
    WsRead *r = q->w->p.r;
    const gint64 el = bytes_of(g->dtype), all = g->chunk ? g->chunk : g->stride / g->span,
                 width = g->rank == 2 ? g->stride / all / el : 1;
    const char *text = "";
    if (rows_per_cta)
        text = ws_source_format(
            r, ".rows(cta*%" G_GINT64_FORMAT " + %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ")",
            rows_per_cta, b->row, b->rows);
    else if (b->row || b->rows != all)
        text = ws_source_format(r, ".rows(%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ")", b->row,
                                b->rows);
    if (g->rank == 2 && (b->col || b->cols != width))
        text = ws_source_format(r, "%s.cols(%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ")", text,
                                b->col, b->cols);
    return *text ? text : NULL;
}

gboolean ptx_regions_place(PtxRegions *q, WsPlace *p, gboolean may_grow, gint64 *rows, gint64 *cols)
{
    PtxSpot s;
    Box b;
    if (!ptx_spot(q->w->p.r, p->index, &s))
        return FALSE;
    const PtxOperand *o = ptx_operand_of(q->w, p);
    const gboolean operand = o->rows > 0;
    s.base += operand ? 0 : o->from;
    const PtxRegion *g = ptx_region_of(q, &s, operand ? 0 : o->to - o->from);
    if (!g || g->object < 0 || s.per_cta % g->span || (s.open && (operand || !may_grow)))
        return FALSE;
    const gint64 stage = s.n > 1 ? 0 : (s.base - g->base) / g->stride,
                 inside = s.base - g->base - stage * g->stride;
    if (!(operand ? box_of_operand(g, o, inside, &b)
                  : box_of_bytes(g, inside, s.open ? g->stride : inside + o->to - o->from, &b)))
        return FALSE;
    p->object = g->object;
    p->index = s.n > 1 ? s.index : g->n > 1 ? ws_x_int(q->w->p.r, stage) : NULL;
    p->views = views_of(q, g, &b, s.per_cta / g->span);
    if (rows)
        *rows = b.rows;
    if (cols)
        *cols = g->rank == 2 ? b.cols : 1;
    return TRUE;
}

gint64 ptx_regions_columns(const PtxRegions *q, const WsPlace *p)
{
    PtxSpot s;
    if (!ptx_spot(q->w->p.r, p->index, &s))
        return -1;
    s.base += ptx_operand_of(q->w, p)->from;
    const PtxRegion *g = ptx_region_of(q, &s, 0);
    return g ? g->chunk * g->span : -1;
}

const char *ptx_regions_dtype(const PtxRegions *q, const WsPlace *p)
{
    return g_array_index(q->w->p.r->buffers, WsReadBuffer, p->object).dtype;
}
