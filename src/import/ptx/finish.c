#include "import/ptx/finish.h"

#include <string.h>

/* Addresses -> rings: barriers from mbarrier.init and how they are indexed, buffers from what the
 * steps touch. A place that fits none of them makes its step opaque. */

void ptx_make_opaque(PtxFinish *f, WsReadStep *s, const char *what)
{
    s->kind = WS_READ_OPAQUE;
    s->value = -1;
    s->text = NULL;
    s->buffer = s->barrier = (WsPlace){ .object = -1 };
    ws_source_unread(f->r, s->line, 1, s->line, what,
                     s->line <= f->r->n_lines ? f->r->line[s->line - 1] : "");
}

void ptx_lose_at(PtxFinish *f, guint line, const char *what)
{
    ptx_lose_line(f->w, line, what);
}

/* --- barriers --------------------------------------------------------------------------------- */

static PtxRing *ring_with(PtxFinish *f, gint64 at)
{
    for (guint i = 0; i < f->rings->len; i++) {
        PtxRing *q = &g_array_index(f->rings, PtxRing, i);
        if (at >= q->base && at < q->base + 8 * q->n)
            return q;
    }
    return NULL;
}

static void find_rings(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    PtxFinish *f = data;
    const WsReadStep *s = g_ptr_array_index(list, at);
    PtxSpot spot;
    if (!s->barrier.index || !ptx_spot(f->r, s->barrier.index, &spot) || spot.n < 2 ||
        spot.stride != 8 || spot.per_cta || spot.open || ring_with(f, spot.base))
        return;
    PtxRing q = { spot.base, spot.n, -1 };
    g_array_append_val(f->rings, q);
}

static gint new_barrier(PtxFinish *f, const PtxRing *q, guint line)
{
    WsReadBarrier b = { .name = ws_source_format(f->r, "barrier_%" G_GINT64_FORMAT, q->base),
                        .copies = q->n,
                        .line = line };
    b.count = g_new0(gint64, q->n);
    b.ready = g_new0(gint, q->n);
    for (gint64 i = 0; i < q->n; i++) {
        const PtxInit *one =
            g_hash_table_lookup(f->w->inits, GSIZE_TO_POINTER((gsize)(q->base + 8 * i)));
        b.count[i] = one ? one->count : 0;
        if (!one)
            ptx_lose_at(f, line, "an mbarrier that nothing initialises");
    }
    g_array_append_val(f->r->barriers, b);
    return (gint)f->r->barriers->len - 1;
}

/* Is it used by others only after a barrier of the CTA that follows its initialisation, and before
 * one that its end follows? */
static void in_life(PtxFinish *f, const PtxRing *q, const PtxSpot *spot, const WsReadStep *s)
{
    const gsize made = GPOINTER_TO_SIZE(g_hash_table_lookup(f->w->made_by, s));
    const guint syncs = (guint)(made >> 38), passed = (guint)(made >> 11) & 0x3ffffff,
                tid = made & 2047;
    for (gint64 i = 0; i < (spot->n > 1 ? q->n : 1); i++) {
        const gint64 at = spot->n > 1 ? q->base + 8 * i : spot->base;
        const PtxInit *one = g_hash_table_lookup(f->w->inits, GSIZE_TO_POINTER((gsize)at));
        const gboolean own = one && one->tid == tid &&
                             (s->kind == WS_READ_EXPECT || s->kind == WS_READ_LOAD) &&
                             s->line > one->line;
        if (!one)
            continue; /* said */
        /* whoever initialises it met the others outside of loops only: in the same order */
        if ((one->late ? syncs : passed) <= one->syncs && !own)
            ptx_lose_at(f, s->line, "an mbarrier that may not be initialised yet");
        if (one->ended && syncs + 1 >= one->ended)
            ptx_lose_at(f, s->line, "an mbarrier whose use may have ended");
    }
}

static void place_barrier(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    PtxFinish *f = data;
    WsReadStep *s = g_ptr_array_index(list, at);
    PtxSpot spot;
    if (!s->barrier.index)
        return;
    const gboolean good = ptx_spot(f->r, s->barrier.index, &spot) && !spot.per_cta && !spot.open;
    PtxRing *q = good ? ring_with(f, spot.base) : NULL;
    if (good && !q && spot.n == 1) {
        PtxRing single = { spot.base, 1, -1 };
        g_array_append_val(f->rings, single);
        q = &g_array_index(f->rings, PtxRing, f->rings->len - 1);
    }
    if (!q || (spot.base - q->base) % 8 ||
        (spot.n > 1 && (spot.stride != 8 || spot.n != q->n || spot.base != q->base))) {
        g_autofree char *where = ws_x_text(s->barrier.index);
        ptx_make_opaque(
            f, s, ws_source_format(f->r, "an mbarrier whose slot is not known (at %.80s)", where));
        f->w->lost = TRUE;
        return;
    }
    if (q->object < 0)
        q->object = new_barrier(f, q, s->line);
    in_life(f, q, &spot, s);
    s->barrier.object = q->object;
    s->barrier.index = spot.n > 1 ? spot.index
                       : q->n > 1 ? ws_x_int(f->r, (spot.base - q->base) / 8)
                                  : NULL;
}

/* Are bytes of an mbarrier used otherwise, but behind its end and a barrier of the CTA? */
static void apart(PtxFinish *f, const WsReadStep *s, const WsPlace *p)
{
    PtxSpot spot;
    GHashTableIter it;
    gpointer key, value;
    if (p->in_value || !p->index || !ptx_spot(f->r, p->index, &spot))
        return;
    const PtxOperand *o = ptx_operand_of(f->w, p);
    const guint syncs = (guint)(GPOINTER_TO_SIZE(g_hash_table_lookup(f->w->made_by, s)) >> 38);
    g_hash_table_iter_init(&it, f->w->inits);
    while (g_hash_table_iter_next(&it, &key, &value)) {
        const PtxInit *one = value;
        const gint64 at = (gint64)GPOINTER_TO_SIZE(key);
        gboolean shares = FALSE;
        for (gint64 i = 0; i < spot.n; i++)
            shares |= spot.base + i * spot.stride + o->from < at + 8 &&
                      at < spot.base + i * spot.stride + o->to;
        if (shares && (!one->ended || syncs < one->ended)) {
            ptx_lose_at(f, s->line, "bytes of an mbarrier that are used otherwise");
            return;
        }
    }
}

static void apart_from_barriers(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    const WsPlace *place[2];
    for (guint i = 0, n = ptx_places(s, place); i < n; i++)
        apart(data, s, place[i]);
}

typedef struct {
    gint barrier;
    guint line; /* of a load that signals it, 0 none */
    gboolean expects;
} Expects;

static void look_expects(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    Expects *q = data;
    const WsReadStep *s = g_ptr_array_index(list, at);
    if (s->barrier.object != q->barrier)
        return;
    if (s->kind == WS_READ_LOAD || s->kind == WS_READ_COPY)
        q->line = s->line;
    q->expects |= s->kind == WS_READ_EXPECT;
}

/* A design expects the bytes of its loads by itself where no step does: the kernel has to. */
static void expects(PtxFinish *f)
{
    for (guint i = 0; i < f->r->barriers->len; i++) {
        Expects q = { .barrier = (gint)i };
        ptx_visit(f->r, look_expects, &q);
        if (q.line && !q.expects)
            ptx_lose_at(f, q.line, "a copy whose bytes no mbarrier expects");
    }
}

static void name_barrier(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    PtxFinish *f = data;
    const WsReadStep *s = g_ptr_array_index(list, at);
    if (s->barrier.object < 0 || (s->kind != WS_READ_LOAD && s->kind != WS_READ_GATHER))
        return;
    WsReadBarrier *b = &g_array_index(f->r->barriers, WsReadBarrier, s->barrier.object);
    if (g_str_has_prefix(b->name, "barrier"))
        b->name = ws_source_name(f->r, "full");
}

typedef struct {
    const char *name;
    const WsReadGroup *group; /* the only one that comes to it; NULL with `many` */
    gint64 n;
    gboolean many, arrives, differs, all; /* all: it is one of the CTA elsewhere */
} Named;

static void look_named(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    Named *q = data;
    const WsReadStep *s = g_ptr_array_index(list, at);
    if (s->kind == WS_READ_SYNC && !strcmp(s->name, "cta"))
        q->all |= s->n >= 0 && s->n == g_ascii_strtoll(q->name + 4, NULL, 10);
    if ((s->kind != WS_READ_SYNC && s->kind != WS_READ_BAR_ARRIVE) || strcmp(s->name, q->name))
        return;
    q->differs |= q->n && q->n != s->n;
    q->n = s->n;
    q->arrives |= s->kind == WS_READ_BAR_ARRIVE;
    q->many |= q->group && q->group != g;
    q->group = g;
}

static void to_group(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    const Named *q = data;
    WsReadStep *s = g_ptr_array_index(list, at);
    if (s->kind == WS_READ_SYNC && !strcmp(s->name, q->name))
        s->name = "group";
}

/* Named hardware barriers by their number; one that a group has for itself is a `sync group`. */
static void named(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    PtxFinish *f = data;
    const WsReadStep *s = g_ptr_array_index(list, at);
    if ((s->kind != WS_READ_SYNC && s->kind != WS_READ_BAR_ARRIVE) ||
        !g_str_has_prefix(s->name, "bar_"))
        return;
    for (guint i = 0; i < f->r->barriers->len; i++)
        if (!strcmp(g_array_index(f->r->barriers, WsReadBarrier, i).name, s->name))
            return;
    Named q = { .name = s->name };
    ptx_visit(f->r, look_named, &q);
    if (q.differs || q.all)
        ptx_lose_at(f, s->line, "a barrier with more than one number of threads");
    if (!q.many && !q.arrives && q.n == 32 * q.group->warps) {
        ptx_visit(f->r, to_group, &q);
        return;
    }
    WsReadBarrier b = { .name = s->name, .copies = 1, .named = TRUE, .line = s->line };
    b.count = g_new0(gint64, 1);
    b.ready = g_new0(gint, 1);
    b.count[0] = s->n;
    g_array_append_val(f->r->barriers, b);
}

/* --- buffers ---------------------------------------------------------------------------------- */

/* A value that is stored or loaded, as large as the place: a copy of what the registers held, its
 * reading is a step of its own. In 8 bits it takes no more of them than it must. */
static void hold(PtxFinish *f, WsReadStep *s, WsReadGroup *g, gint64 rows, gint64 cols)
{
    const gboolean stored = s->kind == WS_READ_WRITE;
    const char *dtype = stored ? "e4m3" : ptx_regions_dtype(&f->regions, &s->buffer);
    const guint before = g->values->len;
    s->value = ws_source_value(f->r, g, stored ? "stored" : "loaded", dtype, rows, cols);
    if (g->values->len == before || !stored)
        return;
    WsReadStep *zero = ws_source_step(f->r, NULL, WS_READ_COMPUTE, g->line, 1, g->line);
    zero->added = TRUE;
    zero->text = ws_source_format(f->r, "%s = %s(0.0)",
                                  g_array_index(g->values, WsReadValue, s->value).name, dtype);
    g_ptr_array_add(f->starts, g); /* not into the list that is being walked */
    g_ptr_array_add(f->starts, zero);
}

static void place_product(PtxFinish *f, WsReadStep *s)
{
    s->text = NULL;
    if ((!s->a.in_value && !ptx_regions_place(&f->regions, &s->a, FALSE, NULL, NULL)) ||
        !ptx_regions_place(&f->regions, &s->b, FALSE, NULL, NULL))
        ptx_make_opaque(f, s, "a product whose operands are no tiles that were copied");
}

static void place_buffers(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    PtxFinish *f = data;
    WsReadStep *s = g_ptr_array_index(list, at);
    const WsPlace *place[2];
    gint64 rows = 0, cols = 0;
    if (s->kind == WS_READ_MMA) {
        place_product(f, s);
    } else if (s->kind == WS_READ_COPY) {
        if (!ptx_regions_place(&f->regions, &s->a, FALSE, NULL, NULL) ||
            !ptx_regions_place(&f->regions, &s->buffer, FALSE, NULL, NULL))
            ptx_make_opaque(f, s, "a copy whose place in shared memory is not known");
    } else if (s->kind == WS_READ_WRITE || s->kind == WS_READ_READ) {
        if (ptx_regions_place(&f->regions, &s->buffer, TRUE, &rows, &cols))
            hold(f, s, g, rows, cols);
        else
            ptx_make_opaque(f, s,
                            s->kind == WS_READ_WRITE ? "stores to shared memory"
                                                     : "loads from shared memory");
    } else if (ptx_places(s, place) > 0) {
        if (!ptx_regions_place(&f->regions, &s->buffer, FALSE, NULL, NULL)) {
            ptx_make_opaque(f, s, "a copy whose place in shared memory is not known");
            f->w->lost = TRUE;
            return;
        }
        WsReadTensor *tensor = &g_array_index(f->r->tensors, WsReadTensor, s->tensor);
        tensor->dtype = ptx_regions_dtype(&f->regions, &s->buffer);
        tensor->written |= s->kind == WS_READ_STORE;
    }
}

/* Where something that synchronises was not read, what waits for it would hang and what it orders
 * would race: such a kernel is not judged, only shown. */
static void lose(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    WsReadStep *s = g_ptr_array_index(list, at);
    const WsReadLost lost = ws_read_row(s->kind)->lost;
    s->off |= lost == WS_READ_LOST_OFF;
    if (lost != WS_READ_LOST_OPAQUE)
        return;
    s->kind = WS_READ_OPAQUE;
    s->value = -1;
    s->text = NULL;
    s->buffer = s->barrier = s->a = s->b = (WsPlace){ .object = -1 };
}

static void lose_all(PtxFinish *f)
{
    ws_source_unread_value(f->r, f->w->ptx->line, 1, f->w->ptx->line,
                           "any order between groups, as some of what synchronises was not read",
                           "");
    ptx_visit(f->r, lose, f);
    for (guint i = 0; i < f->r->groups->len; i++) {
        const WsReadGroup *g = g_ptr_array_index(f->r->groups, i);
        for (guint k = 0; k < g->values->len; k++)
            g_array_index(g->values, WsReadValue, k).gone = TRUE;
    }
}

/* What says which warp does what is followed: it is no tile. */
static void table_store(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    PtxFinish *f = data;
    WsReadStep *s = g_ptr_array_index(list, at);
    PtxSpot spot;
    GHashTableIter it;
    gpointer key;
    if (s->kind != WS_READ_WRITE || !g_hash_table_size(f->w->table) ||
        !ptx_spot(f->r, s->buffer.index, &spot))
        return;
    const PtxOperand *o = ptx_operand_of(f->w, &s->buffer);
    const gint64 from = spot.base + o->from, to = spot.base + o->to + (spot.n - 1) * spot.stride;
    g_hash_table_iter_init(&it, f->w->table);
    while (g_hash_table_iter_next(&it, &key, NULL)) {
        const gint64 byte = (gint64)GPOINTER_TO_SIZE(key);
        if (byte < from || byte >= to)
            continue;
        s->off = TRUE;
        if (!g_hash_table_contains(f->w->numbers, s))
            ptx_lose_at(f, s->line, "a command that other warps receive");
        return;
    }
}

/* Registers per thread, where every group says its own. */
static void registers_said(WsRead *r)
{
    gboolean all_say = TRUE;
    for (guint i = 0; i < r->groups->len; i++)
        all_say &= ((WsReadGroup *)g_ptr_array_index(r->groups, i))->registers > 0;
    for (guint i = 0; i < r->groups->len && !all_say; i++)
        ((WsReadGroup *)g_ptr_array_index(r->groups, i))->registers = 0;
}

void ptx_finish(PtxWalk *w)
{
    PtxFinish f = { .w = w, .r = w->p.r, .regions = { .w = w } };
    f.rings = g_array_new(FALSE, TRUE, sizeof(PtxRing));
    f.regions.region = g_array_new(FALSE, TRUE, sizeof(PtxRegion));
    f.regions.expects = g_array_new(FALSE, TRUE, sizeof(PtxExpect));
    f.regions.marks = g_array_new(FALSE, TRUE, sizeof(gint64));
    f.regions.stores = g_array_new(FALSE, TRUE, sizeof(gint64));
    GHashTableIter it;
    gpointer key;
    g_hash_table_iter_init(&it, w->inits);
    while (g_hash_table_iter_next(&it, &key, NULL)) {
        const gint64 at = (gint64)GPOINTER_TO_SIZE(key);
        g_array_append_val(f.regions.marks, at);
    }
    ptx_visit(f.r, table_store, &f);
    ptx_conditions(f.r);
    ptx_copies_of_threads(&f);
    ptx_visit(f.r, ptx_gaps, &f);
    ptx_widen(w);
    ptx_expected(&f);
    ptx_claims(&f);
    ptx_visit(f.r, find_rings, &f);
    ptx_visit(f.r, place_barrier, &f);
    ptx_visit(f.r, name_barrier, &f);
    expects(&f);
    ptx_phases_checked(w);
    ptx_uses(w);
    ptx_regions_find(&f.regions);
    ptx_visit(f.r, apart_from_barriers, &f);
    ptx_count_copies(&f);
    f.starts = g_ptr_array_new();
    ptx_visit(f.r, place_buffers, &f);
    for (guint i = 0; i + 1 < f.starts->len; i += 2) {
        WsReadGroup *g = g_ptr_array_index(f.starts, i);
        g_ptr_array_insert(g->body, 0, g_ptr_array_index(f.starts, i + 1));
    }
    g_ptr_array_unref(f.starts);
    ptx_stages(f.r);
    ptx_visit(f.r, named, &f);
    registers_said(f.r);
    if (w->lost)
        lose_all(&f);
    g_array_unref(f.rings);
    for (guint i = 0; i < f.regions.expects->len; i++)
        g_ptr_array_unref(g_array_index(f.regions.expects, PtxExpect, i).box);
    g_array_unref(f.regions.expects);
    g_array_unref(f.regions.region);
    g_array_unref(f.regions.marks);
    g_array_unref(f.regions.stores);
}
