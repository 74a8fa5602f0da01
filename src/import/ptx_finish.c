#include "import/ptx_walk.h"

#include <string.h>

/* Addresses -> rings: barriers from mbarrier.init and how they are indexed, buffers from where the
 * copies go. A place that fits none of them makes its step opaque. */

typedef struct {
    gint64 base, stride, n; /* n copies, `stride` bytes apart */
    gint object;
} Region;

typedef struct {
    WsRead *r;
    GHashTable *inits;
    GArray *barriers, *buffers; /* Region */
    GArray *marks;              /* gint64: every base that is known, ascending */
} Finish;

typedef void (*Visit)(Finish *f, GPtrArray *list, guint at, WsReadGroup *g);

static void visit(Finish *f, GPtrArray *list, WsReadGroup *g, Visit call)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        call(f, list, i, g);
        visit(f, s->body, g, call);
        visit(f, s->other, g, call);
    }
}

static void visit_all(Finish *f, Visit call)
{
    for (guint i = 0; i < f->r->groups->len; i++) {
        WsReadGroup *g = g_ptr_array_index(f->r->groups, i);
        visit(f, g->body, g, call);
    }
}

/* e = base + stride * (u mod n), or a number (n = 1). */
static gboolean take(WsRead *r, const WsExpr *e, gint64 *base, gint64 *stride, gint64 *n,
                     const WsExpr **index)
{
    WsAffine f;
    if (!e || !ws_expr_affine(e, &f))
        return FALSE;
    *base = f.constant;
    *stride = *n = 1;
    *index = NULL;
    gboolean good = f.n == 0;
    if (f.n == 1 && f.term[0]->op == WS_EXPR_MOD && ws_x_is(f.term[0]->arg[1], n) &&
        f.factor[0] > 0) {
        *stride = f.factor[0];
        *index = ws_x_own(r, ws_expr_ref(f.term[0]));
        good = TRUE;
    }
    ws_affine_clear(&f);
    return good;
}

/* --- barriers
 * ----------------------------------------------------------------------------------------*/

static Region *region_with(GArray *regions, gint64 at)
{
    for (guint i = 0; i < regions->len; i++) {
        Region *q = &g_array_index(regions, Region, i);
        if (at >= q->base && at < q->base + q->stride * q->n)
            return q;
    }
    return NULL;
}

static void ring_barriers(Finish *f, GPtrArray *list, guint at, WsReadGroup *g)
{
    (void)g;
    const WsReadStep *s = g_ptr_array_index(list, at);
    gint64 base, stride, n;
    const WsExpr *index;
    if (!s->barrier.index || !take(f->r, s->barrier.index, &base, &stride, &n, &index) || n < 2 ||
        stride != 8 || n > 64 || region_with(f->barriers, base))
        return;
    Region q = { base, 8, n, -1 };
    g_array_append_val(f->barriers, q);
}

static void name_barriers(Finish *f, GPtrArray *list, guint at, WsReadGroup *g)
{
    (void)g;
    WsReadStep *s = g_ptr_array_index(list, at);
    if (s->barrier.object >= 0 && s->kind == WS_READ_LOAD) {
        WsReadBarrier *b = &g_array_index(f->r->barriers, WsReadBarrier, s->barrier.object);
        if (g_str_has_prefix(b->name, "barrier"))
            b->name = ws_source_name(f->r, "full");
    }
}

static gint new_barrier(Finish *f, const Region *q, guint line)
{
    WsReadBarrier b = { .name = ws_source_format(f->r, "barrier_%" G_GINT64_FORMAT, q->base),
                        .copies = q->n,
                        .line = line };
    b.count = g_new0(gint64, q->n);
    b.ready = g_new0(gint, q->n);
    for (gint64 i = 0; i < q->n; i++)
        b.count[i] = (gint64)GPOINTER_TO_SIZE(
            g_hash_table_lookup(f->inits, GSIZE_TO_POINTER((gsize)(q->base + 8 * i))));
    if (!b.count[0])
        ws_source_unread(f->r, line, 1, line, "an mbarrier that nothing initialises", "");
    g_array_append_val(f->r->barriers, b);
    return (gint)f->r->barriers->len - 1;
}

static void place_barriers(Finish *f, GPtrArray *list, guint at, WsReadGroup *g)
{
    (void)g;
    WsReadStep *s = g_ptr_array_index(list, at);
    gint64 base, stride, n;
    const WsExpr *index;
    if (!s->barrier.index)
        return;
    const gboolean good = take(f->r, s->barrier.index, &base, &stride, &n, &index);
    Region *q = good ? region_with(f->barriers, base) : NULL;
    if (good && !q && n == 1) {
        Region single = { base, 8, 1, -1 };
        g_array_append_val(f->barriers, single);
        q = &g_array_index(f->barriers, Region, f->barriers->len - 1);
    }
    if (!q || (base - q->base) % 8 || (n > 1 && (n != q->n || base != q->base))) {
        s->kind = WS_READ_OPAQUE;
        s->barrier = (WsPlace){ .object = -1 };
        ws_source_unread(f->r, s->line, 1, s->line, "an mbarrier whose slot is not known", "");
        return;
    }
    if (q->object < 0)
        q->object = new_barrier(f, q, s->line);
    s->barrier.object = q->object;
    s->barrier.index = n > 1 ? index : q->n > 1 ? ws_x_int(f->r, (base - q->base) / 8) : NULL;
}

/* --- buffers
 * -----------------------------------------------------------------------------------------*/

static void mark(Finish *f, gint64 at)
{
    g_array_append_val(f->marks, at);
}

static void mark_places(Finish *f, GPtrArray *list, guint at, WsReadGroup *g)
{
    (void)g;
    const WsReadStep *s = g_ptr_array_index(list, at);
    gint64 base, stride, n;
    const WsExpr *index;
    if ((s->kind == WS_READ_LOAD || s->kind == WS_READ_STORE) &&
        take(f->r, s->buffer.index, &base, &stride, &n, &index))
        mark(f, base);
}

static gint64 next_mark(const Finish *f, gint64 after)
{
    gint64 best = after + 16384;
    for (guint i = 0; i < f->marks->len; i++) {
        const gint64 at = g_array_index(f->marks, gint64, i);
        if (at > after && at < best)
            best = at;
    }
    return best;
}

/* Tiles of one swizzle span per row: what tensor maps of 16-bit operands copy. */
static void buffers_of_copies(Finish *f, GPtrArray *list, guint at, WsReadGroup *g)
{
    (void)g;
    const WsReadStep *s = g_ptr_array_index(list, at);
    gint64 base, stride, n;
    const WsExpr *index;
    if ((s->kind != WS_READ_LOAD && s->kind != WS_READ_STORE) ||
        !take(f->r, s->buffer.index, &base, &stride, &n, &index) || region_with(f->buffers, base))
        return;
    gint64 bytes = n > 1 ? stride : next_mark(f, base) - base;
    bytes -= bytes > 1024 ? bytes % 1024 : 0; /* whole swizzle patterns */
    if (bytes % 128 || bytes < 128 || n > 64)
        return;
    WsReadTensor *t = &g_array_index(f->r->tensors, WsReadTensor, s->tensor);
    WsReadBuffer b = { .name = ws_source_name(
                           f->r, ws_source_format(f->r, "buffer_%" G_GINT64_FORMAT, base)),
                       .dtype = "bf16",
                       .line = s->line,
                       .span = 128 };
    b.rank = n > 1 ? 3 : 2;
    b.indexed = n > 1;
    b.shape[0] = n;
    b.shape[b.rank - 2] = bytes / 128;
    b.shape[b.rank - 1] = 64;
    Region q = { base, n > 1 ? stride : bytes, n, (gint)f->r->buffers->len };
    g_array_append_val(f->r->buffers, b);
    g_array_append_val(f->buffers, q);
    t->dtype = "bf16";
}

/* A place of `rows` rows (0: all) in a buffer. */
static gboolean place(Finish *f, WsPlace *p, gint64 rows)
{
    gint64 base, stride, n;
    const WsExpr *index;
    if (!take(f->r, p->index, &base, &stride, &n, &index))
        return FALSE;
    const Region *q = region_with(f->buffers, base);
    if (!q || (n > 1 && (n != q->n || stride != q->stride)))
        return FALSE;
    const gint64 stage = n > 1 ? 0 : (base - q->base) / q->stride;
    const gint64 inside = base - q->base - stage * q->stride, have = q->stride / 128;
    if (inside % 128 || (rows && inside / 128 + rows > have))
        return FALSE;
    p->object = q->object;
    p->index = n > 1 ? index : q->n > 1 ? ws_x_int(f->r, stage) : NULL;
    if (rows && rows != have)
        p->views = ws_source_format(f->r, ".rows(%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ")",
                                    inside / 128, rows);
    return TRUE;
}

static void make_opaque(Finish *f, WsReadStep *s, const char *what)
{
    s->kind = WS_READ_OPAQUE;
    s->value = -1;
    s->text = NULL;
    ws_source_unread(f->r, s->line, 1, s->line, what, "");
}

/* Stores (or loads) of one buffer in a run of such instructions are one step. */
static void join_opaque(GPtrArray *list, guint at)
{
    WsReadStep *s = g_ptr_array_index(list, at);
    while (at-- > 0) {
        WsReadStep *before = g_ptr_array_index(list, at);
        if (before->kind != WS_READ_OPAQUE || before->flag != s->flag)
            return;
        if (before->off || before->buffer.object != s->buffer.object)
            continue;
        before->end_line = MAX(before->end_line, s->line);
        s->off = TRUE;
        return;
    }
}

static void place_buffers(Finish *f, GPtrArray *list, guint at, WsReadGroup *g)
{
    WsReadStep *s = g_ptr_array_index(list, at);
    gint64 offset;
    switch (s->kind) {
    case WS_READ_LOAD:
    case WS_READ_STORE:
        if (!place(f, &s->buffer, 0))
            make_opaque(f, s, "a copy whose place in shared memory is not known");
        else if (s->kind == WS_READ_STORE)
            g_array_index(f->r->tensors, WsReadTensor, s->tensor).written = TRUE;
        break;
    case WS_READ_MMA: {
        const gint64 n = g_array_index(g->values, WsReadValue, s->value).cols;
        const gint64 k = s->n;
        const char *dtype = s->text;
        s->text = NULL;
        if (!place(f, &s->a, 64) || !place(f, &s->b, n) || k > 64) {
            make_opaque(f, s, "a product whose operands are no tiles that were copied");
            break;
        }
        const char *cols =
            k < 64 ? ws_source_format(f->r, ".cols(0, %" G_GINT64_FORMAT ")", k) : "";
        s->a.views = ws_source_format(f->r, "%s%s", s->a.views ? s->a.views : "", cols);
        s->b.views = ws_source_format(f->r, "%s%s", s->b.views ? s->b.views : "", cols);
        g_array_index(f->r->buffers, WsReadBuffer, s->a.object).dtype = dtype;
        g_array_index(f->r->buffers, WsReadBuffer, s->b.object).dtype = dtype;
        break;
    }
    case WS_READ_OPAQUE:
        if (s->buffer.index && ws_x_is(s->buffer.index, &offset)) {
            const Region *q = region_with(f->buffers, offset);
            s->buffer = (WsPlace){ .object = q ? q->object : -1 };
            if (q && q->n > 1)
                s->buffer.index = ws_x_int(f->r, (offset - q->base) / q->stride);
        } else {
            s->buffer = (WsPlace){ .object = -1 };
        }
        join_opaque(list, at);
        break;
    default:
        break;
    }
}

static void match_dtypes(Finish *f, GPtrArray *list, guint at, WsReadGroup *g)
{
    (void)g;
    const WsReadStep *s = g_ptr_array_index(list, at);
    if (s->kind == WS_READ_LOAD || s->kind == WS_READ_STORE)
        g_array_index(f->r->tensors, WsReadTensor, s->tensor).dtype =
            g_array_index(f->r->buffers, WsReadBuffer, s->buffer.object).dtype;
}

/* Named hardware barriers by their number. */
static void named(Finish *f, GPtrArray *list, guint at, WsReadGroup *g)
{
    (void)g;
    const WsReadStep *s = g_ptr_array_index(list, at);
    if ((s->kind != WS_READ_SYNC && s->kind != WS_READ_BAR_ARRIVE) ||
        !g_str_has_prefix(s->name, "bar_"))
        return;
    for (guint i = 0; i < f->r->barriers->len; i++)
        if (!strcmp(g_array_index(f->r->barriers, WsReadBarrier, i).name, s->name))
            return;
    WsReadBarrier b = { .name = s->name, .copies = 1, .named = TRUE, .line = s->line };
    b.count = g_new0(gint64, 1);
    b.ready = g_new0(gint, 1);
    b.count[0] = s->n;
    g_array_append_val(f->r->barriers, b);
}

void ptx_finish(WsRead *r, GHashTable *inits)
{
    Finish f = { .r = r, .inits = inits };
    f.barriers = g_array_new(FALSE, TRUE, sizeof(Region));
    f.buffers = g_array_new(FALSE, TRUE, sizeof(Region));
    f.marks = g_array_new(FALSE, TRUE, sizeof(gint64));
    GHashTableIter it;
    gpointer key;
    g_hash_table_iter_init(&it, inits);
    while (g_hash_table_iter_next(&it, &key, NULL))
        mark(&f, (gint64)GPOINTER_TO_SIZE(key));
    visit_all(&f, ring_barriers);
    visit_all(&f, place_barriers);
    visit_all(&f, name_barriers);
    visit_all(&f, mark_places);
    visit_all(&f, buffers_of_copies);
    visit_all(&f, place_buffers);
    visit_all(&f, match_dtypes);
    visit_all(&f, named);
    g_array_unref(f.barriers);
    g_array_unref(f.buffers);
    g_array_unref(f.marks);
}
