/* Shared memory in the proof: cells are classes of bytes that every access touches together, so one
 * bit speaks for many bytes. */
#include "check/proof/bits/bits_cells.h"
#include "check/proof/bits/bits.h"
#include "check/touch.h"
#include "program/op.h"
#include "program/parts/buffer.h"
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RANGES = 4096, MAX_CLASSES = 64, MAX_WORK = 4000000 };

/* --- accesses --------------------------------------------------------------------------------- */
/* L-LAST-READ: reads of one class end in the order in which they begin, so an item holds the last
 * one only. Copies do not: the copies of a step to one CTA are a class of their own. What an agent
 * reads of other CTAs are classes of its own, one for each CTA that it runs in. */
static guint8 new_class(WsBits *b, guint64 key)
{
    if (b->n_classes == MAX_CLASSES) {
        ws_bit_outside(b, "too many kinds of readers");
        return 0;
    }
    b->reader[b->n_classes] = key;
    return (guint8)b->n_classes++;
}

static void find_class(WsBits *b, guint agent, const WsBitOp *o, WsBitAccess *x)
{
    const gboolean copy = o->kind == WS_OP_BULK_COPY, peek = ws_op_peeks(o->op->kind);
    const guint atomic = ws_combination(b->p, o->op);
    guint64 key = (guint64)o->op->engine << 1 | (o->leader ? 1 : 0);
    key |= (guint64)atomic << 56 | (guint64)agent << 8 |
           (copy   ? (guint64)(o->op->index + 1) << 32
            : peek ? (guint64)1 << 55
                   : 0);
    x->n_readers = copy || peek ? (guint8)b->ranks : 1;
    for (guint i = 0; i < b->n_classes; i++)
        if (b->reader[i] == key) {
            x->reader = (guint8)i;
            return;
        }
    x->reader = new_class(b, key);
    if (atomic && !b->c->outside) {
        b->atomics[0] |= 1ull << x->reader;
        b->atomics[atomic] |= 1ull << x->reader;
    }
    for (guint r = 1; r < x->n_readers; r++)
        new_class(b, key);
    for (guint r = 0; copy && r < x->n_readers && !b->c->outside; r++)
        b->copies |= 1ull << (x->reader + r);
}

/* Classes of an access, one bit each. */
static guint64 classes_of(const WsBitAccess *x)
{
    return ((x->n_readers < 64 ? 1ull << x->n_readers : 0) - 1) << x->reader;
}

static gboolean overlap(const WsBuffer *x, const WsBuffer *y)
{
    return x != y && x->offset < y->offset + y->bytes && y->offset < x->offset + x->bytes;
}

/* L-SWIZZLE: a swizzle moves 16-byte units within a row of the span. The ranges of a view are those
 * before that, which is right as long as all who reach the bytes share the swizzle, or the view
 * takes whole rows of the span. */
static gboolean swizzle_agrees(const WsBits *b, const WsBuffer *buffer, const WsBitAccess *x)
{
    guint bytes = ws_dtype_bytes(buffer->dtype);
    gboolean whole = x->col0.constant && (x->col0.value * bytes) % MAX(buffer->swizzle, 1) == 0 &&
                     (x->cols * bytes) % MAX(buffer->swizzle, 1) == 0;
    for (guint k = 0; buffer->swizzle && !whole && k < b->p->n_buffers; k++) {
        const WsBuffer *other = &b->p->buffer[k];
        if (overlap(buffer, other) && (other->swizzle != buffer->swizzle ||
                                       (other->offset - buffer->offset) % (8 * buffer->swizzle)))
            return FALSE;
    }
    return TRUE;
}

void ws_bit_access(WsBits *b, guint agent, WsBitOp *o, guint n)
{
    o->n_access = n;
    o->access = ws_bit_alloc(b, (n + 1) * sizeof *o->access);
    for (guint i = 0; i < n; i++) {
        WsBitAccess *x = &o->access[i];
        const WsAccess *a = &o->op->access[i];
        const WsBuffer *buffer = &b->p->buffer[a->buffer];
        gboolean rows = g_hash_table_contains(b->c->rows, a);
        x->a = a;
        x->op = o;
        x->element = ws_bit_expr(b, agent, a->element);
        x->use = ws_bit_expr(b, agent, buffer->stages > 1 ? a->use : NULL);
        x->stage = ws_bit_expr(b, agent, a->stage);
        x->row0 = ws_bit_expr(b, agent, a->row0);
        x->col0 = ws_bit_expr(b, agent, rows ? NULL : a->col0);
        x->cols = rows ? buffer->cols : a->cols;
        x->more = rows;
        if (!swizzle_agrees(b, buffer, x))
            ws_bit_outside(b, "columns of a buffer that lies over another with another swizzle");
        x->n_elements = MAX(buffer->array, 1);
        x->n_stages = MAX(buffer->stages, 1);
        find_class(b, agent, o, x);
        x->corner = g_array_new(FALSE, FALSE, 2 * sizeof(gint64));
        gint64 first[2] = { x->row0.value, x->col0.value };
        if (x->row0.constant && x->col0.constant)
            g_array_append_vals(x->corner, first, 1);
        g_ptr_array_add(b->accesses, x);
    }
}

/* --- views: the same bytes of a buffer ------------------------------------------------------- */
typedef struct {
    guint buffer, rows, cols;
    gint64 row0, col0;
    guint n;
    WsRange *range;
    WsBitPlace *place; /* [elements * stages] */
} View;

static void view_free(gpointer data)
{
    g_free(((View *)data)->range);
    g_free(data);
}

gboolean ws_bit_inside(const WsBuffer *b, const WsBitAccess *x, gint64 row0, gint64 col0)
{
    return row0 >= 0 && row0 <= (gint64)b->rows - x->a->rows && col0 >= 0 &&
           col0 <= (gint64)b->cols - x->cols;
}

static View *view_of(WsBits *b, GPtrArray *views, const WsBitAccess *x, gint64 row0, gint64 col0)
{
    const WsBuffer *buffer = &b->p->buffer[x->a->buffer];
    for (guint i = 0; i < views->len; i++) {
        View *v = views->pdata[i];
        if (v->buffer == x->a->buffer && v->rows == x->a->rows && v->cols == x->cols &&
            v->row0 == row0 && v->col0 == col0)
            return v;
    }
    View *v = g_new0(View, 1);
    v->buffer = x->a->buffer, v->rows = x->a->rows, v->cols = x->cols;
    v->row0 = row0, v->col0 = col0;
    v->n = ws_buffer_ranges(buffer, (guint)row0, v->rows, (guint)col0, v->cols, NULL, 0);
    if (v->n > MAX_RANGES) {
        ws_bit_outside(b, "a view of shared memory in too many pieces");
        v->n = 0;
    }
    v->range = g_new(WsRange, v->n + 1);
    ws_buffer_ranges(buffer, (guint)row0, v->rows, (guint)col0, v->cols, v->range, v->n);
    g_ptr_array_add(views, v);
    return v;
}

static guint64 base_of(const WsBuffer *b, guint element, guint stage)
{
    return b->offset + (guint64)element * b->array_pitch + (guint64)stage * b->stage_pitch;
}

static int ascending(const void *x, const void *y)
{
    guint64 a = *(const guint64 *)x, b = *(const guint64 *)y;
    return a < b ? -1 : a > b;
}

static void sort_once(GArray *at)
{
    guint n = 0;
    gboolean sorted = TRUE;
    for (guint i = 1; i < at->len && sorted; i++)
        sorted = g_array_index(at, guint64, i - 1) <= g_array_index(at, guint64, i);
    if (!sorted)
        qsort(at->data, at->len, sizeof(guint64), ascending);
    for (guint i = 0; i < at->len; i++)
        if (n == 0 || g_array_index(at, guint64, i) != g_array_index(at, guint64, n - 1))
            g_array_index(at, guint64, n++) = g_array_index(at, guint64, i);
    g_array_set_size(at, n);
}

/* Begins and ends of all views in all stages, ascending. */
static GArray *cuts_of(const WsBits *b, const GPtrArray *views)
{
    GArray *cut = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (guint n = 0; n < b->p->n_buffers; n++) {
        const WsBuffer *buffer = &b->p->buffer[n];
        g_array_set_size(ends, 0);
        for (guint i = 0; i < views->len; i++) {
            const View *v = views->pdata[i];
            for (guint k = 0; v->buffer == n && k < v->n; k++) {
                const guint64 end[2] = { v->range[k].offset,
                                         v->range[k].offset + v->range[k].bytes };
                g_array_append_vals(ends, end, 2);
            }
        }
        sort_once(ends);
        for (guint e = 0; e < MAX(buffer->array, 1); e++)
            for (guint s = 0; s < MAX(buffer->stages, 1); s++) {
                const guint64 base = base_of(buffer, e, s);
                const guint first = cut->len;
                g_array_append_vals(cut, ends->data, ends->len);
                for (guint k = first; k < cut->len; k++)
                    g_array_index(cut, guint64, k) += base;
            }
    }
    sort_once(cut);
    return cut;
}

/* Where a range begins that most likely lies not far behind `near`. */
static guint find(const GArray *cut, guint64 at, guint near)
{
    guint lo = 0, hi = cut->len;
    for (guint i = near; i < MIN(near + 4, hi); i++)
        if (g_array_index(cut, guint64, i) == at)
            return i;
    while (hi - lo > 1) {
        guint mid = (lo + hi) / 2;
        if (g_array_index(cut, guint64, mid) <= at)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* --- classes of intervals --------------------------------------------------------------------- */
typedef struct {
    const GArray *cut;
    guint *klass; /* of each interval */
    guint n;      /* classes so far; 0 is touched by nobody */
    guint *fresh; /* [classes] class of what is covered now */
    guint cap;
    guint work;   /* intervals looked at */
    GArray *list; /* guint: classes touched now */
} Refine;

static void cover(Refine *r, const WsBuffer *buffer, const View *v, guint e, guint s,
                  gboolean split)
{
    g_array_set_size(r->list, 0);
    guint before = r->n;
    if (r->n + r->cut->len >= r->cap) {
        guint cap = 2 * (r->n + r->cut->len + 64);
        r->fresh = g_renew(guint, r->fresh, cap);
        memset(r->fresh + r->cap, 0, (cap - r->cap) * sizeof(guint));
        r->cap = cap;
    }
    const guint64 base = base_of(buffer, e, s);
    for (guint k = 0, i = 0; k < v->n; k++) {
        const guint64 from = base + v->range[k].offset, to = from + v->range[k].bytes;
        i = find(r->cut, from, i);
        for (; i + 1 < r->cut->len && g_array_index(r->cut, guint64, i) < to; i++) {
            guint c = r->klass[i];
            r->work++;
            if (split && c < before) {
                if (!r->fresh[c]) {
                    r->fresh[c] = r->n++;
                    g_array_append_val(r->list, c);
                }
                r->klass[i] = r->fresh[c];
            } else if (!split && !r->fresh[c]) {
                r->fresh[c] = 1;
                g_array_append_val(r->list, c);
            }
        }
    }
    for (guint i = 0; i < r->list->len; i++)
        r->fresh[g_array_index(r->list, guint, i)] = 0;
}

static void each_place(WsBits *b, Refine *r, GPtrArray *views, gboolean split, guint *cell_of)
{
    for (guint i = 0; i < views->len; i++) {
        View *v = views->pdata[i];
        const WsBuffer *buffer = &b->p->buffer[v->buffer];
        guint ne = MAX(buffer->array, 1), ns = MAX(buffer->stages, 1);
        if (!split)
            v->place = ws_bit_alloc(b, ne * ns * sizeof(WsBitPlace));
        for (guint e = 0; e < ne; e++)
            for (guint s = 0; s < ns; s++) {
                if (r->work > MAX_WORK)
                    return;
                cover(r, buffer, v, e, s, split);
                if (split)
                    continue;
                WsBitPlace *p = &v->place[e * ns + s];
                p->n = r->list->len;
                p->cell = ws_bit_alloc(b, (p->n + 1) * sizeof(guint16));
                for (guint k = 0; k < p->n; k++) {
                    guint c = g_array_index(r->list, guint, k);
                    if (cell_of[c] == G_MAXUINT)
                        cell_of[c] = b->n_cells++;
                    p->cell[k] = (guint16)cell_of[c];
                }
            }
    }
}

static void make_cells(WsBits *b, GPtrArray *views)
{
    g_autoptr(GArray) cut = cuts_of(b, views);
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autofree guint *klass = g_new0(guint, cut->len + 1);
    gsize splits = 0;
    for (guint i = 0; i < views->len; i++) {
        const View *v = views->pdata[i];
        const WsBuffer *buffer = &b->p->buffer[v->buffer];
        splits += (gsize)MAX(buffer->array, 1) * MAX(buffer->stages, 1) * v->n;
    }
    Refine r = { cut, klass, 1, NULL, 0, 0, list };
    b->n_cells = 0;
    if (splits > 100000) {
        ws_bit_outside(b, "shared memory is cut into too many pieces");
        return;
    }
    each_place(b, &r, views, TRUE, NULL);
    g_autofree guint *cell_of = g_new(guint, r.n + 1);
    memset(cell_of, 0xff, (r.n + 1) * sizeof(guint));
    each_place(b, &r, views, FALSE, cell_of);
    g_free(r.fresh);
    if (r.work > MAX_WORK)
        ws_bit_outside(b, "shared memory is cut into too many pieces");
    if (b->n_cells > 8000)
        ws_bit_outside(b, "shared memory is cut into too many pieces");
}

/* --- items of reads --------------------------------------------------------------------------- */
static gboolean needs_fence(const WsBits *b, const WsOp *op, gboolean write)
{
    if (!ws_is_generic(op))
        return FALSE;
    if (!write)
        return (b->policy & WS_POLICY_WAR) != 0;
    return op->engine != WS_ENGINE_GATHER || (b->policy & WS_POLICY_GATHER);
}

guint ws_bit_item_of(const WsBitCell *cell, guint reader)
{
    const guint64 below = cell->readers & ((1ull << reader) - 1);
    return cell->first + (guint)__builtin_popcountll(below);
}

static void number_reads(WsBits *b)
{
    g_autofree guint64 *readers = g_new0(guint64, b->n_cells + 1);
    for (guint i = 0; i < b->accesses->len; i++) {
        const WsBitAccess *x = b->accesses->pdata[i];
        guint n = x->corner->len * x->n_elements * x->n_stages;
        for (guint k = 0; (x->a->mode & WS_MODE_READ) && k < n; k++)
            for (guint c = 0; c < x->place[k].n; c++)
                readers[x->place[k].cell[c]] |= classes_of(x);
    }
    b->cell = ws_bit_alloc(b, (b->n_cells + 1) * sizeof(WsBitCell));
    guint item = b->n_cells;
    for (guint c = 0; c < b->n_cells; c++) {
        b->cell[c] =
            (WsBitCell){ (guint16)item, (guint16)__builtin_popcountll(readers[c]), readers[c] };
        item += b->cell[c].n;
    }
    b->n_touched = item;
    b->fenced = ws_bit_alloc(b, item + 1);
    for (guint i = 0; i < b->accesses->len; i++) {
        WsBitAccess *x = b->accesses->pdata[i];
        guint n = x->corner->len * x->n_elements * x->n_stages;
        for (guint k = 0; k < n; k++) {
            WsBitPlace *p = &x->place[k];
            p->read = ws_bit_alloc(b, (p->n + 1) * sizeof(guint16));
            for (guint c = 0; c < p->n; c++) {
                guint cell = p->cell[c];
                p->read[c] = (guint16)ws_bit_item_of(&b->cell[cell], x->reader);
                if (x->a->mode & WS_MODE_WRITE && needs_fence(b, x->op->op, TRUE))
                    b->fenced[cell] = 1;
                if (x->a->mode & WS_MODE_READ &&
                    needs_fence(b, x->op->op, ws_op_is_atomic(x->op->kind)))
                    b->fenced[p->read[c]] = 1; /* no copy: those need none */
            }
        }
    }
}

void ws_bit_cells(WsBits *b)
{
    g_autoptr(GPtrArray) views = g_ptr_array_new_with_free_func(view_free);
    for (guint i = 0; i < b->accesses->len; i++) {
        const WsBitAccess *x = b->accesses->pdata[i];
        for (guint k = 0; k < x->corner->len; k++) {
            const gint64 *at = (gint64 *)(gpointer)x->corner->data + 2 * k;
            if (ws_bit_inside(&b->p->buffer[x->a->buffer], x, at[0], at[1]))
                view_of(b, views, x, at[0], at[1]);
        }
    }
    make_cells(b, views);
    if (b->c->outside)
        return;
    for (guint i = 0; i < b->accesses->len; i++) {
        WsBitAccess *x = b->accesses->pdata[i];
        guint n = x->n_elements * x->n_stages;
        x->place = ws_bit_alloc(b, (x->corner->len * n + 1) * sizeof(WsBitPlace));
        for (guint k = 0; k < x->corner->len; k++) {
            const gint64 *at = (gint64 *)(gpointer)x->corner->data + 2 * k;
            if (!ws_bit_inside(&b->p->buffer[x->a->buffer], x, at[0], at[1]))
                continue;
            const View *v = view_of(b, views, x, at[0], at[1]);
            memcpy(&x->place[k * n], v->place, n * sizeof(WsBitPlace));
        }
        x->n_cut = x->corner->len;
    }
    number_reads(b);
    b->recut = FALSE;
}
