#include "import/ptx/region.h"

#include <string.h>

/* Addresses -> rings: barriers from mbarrier.init and how they are indexed, buffers from what the
 * steps touch. A place that fits none of them makes its step opaque. */

typedef struct {
    gint64 base, n; /* n slots of 8 bytes */
    gint object;
} Ring;

typedef struct {
    PtxWalk *w;
    WsRead *r;
    GArray *rings; /* Ring */
    PtxRegions regions;
    GPtrArray *starts; /* WsReadGroup*, WsReadStep*, …: what its body begins with */
} Finish;

static void make_opaque(Finish *f, WsReadStep *s, const char *what)
{
    s->kind = WS_READ_OPAQUE;
    s->value = -1;
    s->text = NULL;
    s->buffer = s->barrier = (WsPlace){ .object = -1 };
    ws_source_unread(f->r, s->line, 1, s->line, what,
                     s->line <= f->r->n_lines ? f->r->line[s->line - 1] : "");
}

static void lose_at(Finish *f, guint line, const char *what)
{
    ws_source_unread(f->r, line, 1, line, what,
                     line && line <= f->r->n_lines ? f->r->line[line - 1] : "");
    f->w->lost = TRUE;
}

/* --- barriers
 * ----------------------------------------------------------------------------------------*/

static Ring *ring_with(Finish *f, gint64 at)
{
    for (guint i = 0; i < f->rings->len; i++) {
        Ring *q = &g_array_index(f->rings, Ring, i);
        if (at >= q->base && at < q->base + 8 * q->n)
            return q;
    }
    return NULL;
}

static void find_rings(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    Finish *f = data;
    const WsReadStep *s = g_ptr_array_index(list, at);
    PtxSpot spot;
    (void)g;
    if (!s->barrier.index || !ptx_spot(f->r, s->barrier.index, &spot) || spot.n < 2 ||
        spot.stride != 8 || spot.per_cta || spot.open || ring_with(f, spot.base))
        return;
    Ring q = { spot.base, spot.n, -1 };
    g_array_append_val(f->rings, q);
}

static gint new_barrier(Finish *f, const Ring *q, guint line)
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
            lose_at(f, line, "an mbarrier that nothing initialises");
    }
    g_array_append_val(f->r->barriers, b);
    return (gint)f->r->barriers->len - 1;
}

/* Is it used by others only after a barrier of the CTA that follows its initialisation, and before
 * one that its end follows? */
static void in_life(Finish *f, const Ring *q, const PtxSpot *spot, const WsReadStep *s)
{
    const guint made = GPOINTER_TO_UINT(g_hash_table_lookup(f->w->made_by, s)), syncs = made >> 11,
                tid = made & 2047;
    for (gint64 i = 0; i < (spot->n > 1 ? q->n : 1); i++) {
        const gint64 at = spot->n > 1 ? q->base + 8 * i : spot->base;
        const PtxInit *one = g_hash_table_lookup(f->w->inits, GSIZE_TO_POINTER((gsize)at));
        const gboolean own = one && one->tid == tid &&
                             (s->kind == WS_READ_EXPECT || s->kind == WS_READ_LOAD) &&
                             s->line > one->line;
        if (!one)
            continue; /* said */
        if (syncs <= one->syncs && !own)
            lose_at(f, s->line, "an mbarrier that may not be initialised yet");
        if (one->ended && syncs + 1 >= one->ended)
            lose_at(f, s->line, "an mbarrier whose use may have ended");
    }
}

static void place_barrier(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    Finish *f = data;
    WsReadStep *s = g_ptr_array_index(list, at);
    PtxSpot spot;
    (void)g;
    if (!s->barrier.index)
        return;
    const gboolean good = ptx_spot(f->r, s->barrier.index, &spot) && !spot.per_cta && !spot.open;
    Ring *q = good ? ring_with(f, spot.base) : NULL;
    if (good && !q && spot.n == 1) {
        Ring single = { spot.base, 1, -1 };
        g_array_append_val(f->rings, single);
        q = &g_array_index(f->rings, Ring, f->rings->len - 1);
    }
    if (!q || (spot.base - q->base) % 8 ||
        (spot.n > 1 && (spot.stride != 8 || spot.n != q->n || spot.base != q->base))) {
        g_autofree char *where = ws_x_text(s->barrier.index);
        make_opaque(
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

typedef struct {
    gint barrier;
    guint line; /* of a load that signals it, 0 none */
    gboolean expects;
} Expects;

static void look_expects(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    Expects *q = data;
    const WsReadStep *s = g_ptr_array_index(list, at);
    (void)g;
    if (s->barrier.object != q->barrier)
        return;
    if (s->kind == WS_READ_LOAD || s->kind == WS_READ_COPY)
        q->line = s->line;
    q->expects |= s->kind == WS_READ_EXPECT;
}

/* A design expects the bytes of its loads by itself where no step does: the kernel has to. */
static void expects(Finish *f)
{
    for (guint i = 0; i < f->r->barriers->len; i++) {
        Expects q = { .barrier = (gint)i };
        ptx_visit(f->r, look_expects, &q);
        if (q.line && !q.expects)
            lose_at(f, q.line, "a copy whose bytes no mbarrier expects");
    }
}

static void name_barrier(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    Finish *f = data;
    const WsReadStep *s = g_ptr_array_index(list, at);
    (void)g;
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
    (void)g;
    if (s->kind == WS_READ_SYNC && !strcmp(s->name, q->name))
        s->name = "group";
}

/* Named hardware barriers by their number; one that a group has for itself is a `sync group`. */
static void named(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    Finish *f = data;
    const WsReadStep *s = g_ptr_array_index(list, at);
    (void)g;
    if ((s->kind != WS_READ_SYNC && s->kind != WS_READ_BAR_ARRIVE) ||
        !g_str_has_prefix(s->name, "bar_"))
        return;
    for (guint i = 0; i < f->r->barriers->len; i++)
        if (!strcmp(g_array_index(f->r->barriers, WsReadBarrier, i).name, s->name))
            return;
    Named q = { .name = s->name };
    ptx_visit(f->r, look_named, &q);
    if (q.differs || q.all)
        lose_at(f, s->line, "a barrier with more than one number of threads");
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

/* --- cp.async
 * ----------------------------------------------------------------------------------------*/

static gboolean is_commit(const WsReadStep *s)
{
    return s->kind == WS_READ_LOAD_WAIT && s->flag;
}

/* Copies that only some rounds make, in a group that every round closes, count as always made: what
 * they would write too much is the stage that their group has anyway. */
static gboolean hoist(GPtrArray *list)
{
    gboolean any = FALSE;
    for (guint i = 0; i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        gboolean only = s->kind == WS_READ_IF && s->body->len && !s->other->len && !s->off;
        for (guint k = 0; only && k < s->body->len; k++)
            only = ((WsReadStep *)g_ptr_array_index(s->body, k))->kind == WS_READ_GATHER;
        if (only) {
            for (guint k = 0; k < s->body->len; k++)
                g_ptr_array_insert(list, (gint)(i + 1 + k), g_ptr_array_index(s->body, k));
            s->off = any = TRUE;
        } else if (s->kind == WS_READ_GATHER) {
            any |= s->when != NULL;
            s->when = NULL;
        }
        if (s->body && !s->off)
            any |= hoist(s->body);
        if (s->other && !s->off)
            any |= hoist(s->other);
    }
    return any;
}

/* Does `s` go on where `g` ends, or fill what lies between? Then it is part of that step. */
static gboolean joins(Finish *f, WsReadStep *g, WsReadStep *s)
{
    PtxSpot a, b;
    PtxOperand *to = ptx_operand_of(f->w, &g->buffer), *o = ptx_operand_of(f->w, &s->buffer);
    if (g->kind != s->kind || !ptx_spot(f->r, g->buffer.index, &a) ||
        !ptx_spot(f->r, s->buffer.index, &b) || a.n != b.n || a.stride != b.stride)
        return FALSE;
    if (a.n > 1 && !ws_expr_equal(a.index, b.index))
        return FALSE;
    const gint64 d = b.base - a.base, from = d + o->from, to_here = d + o->to;
    /* rows of 128 bytes, eight of them a swizzle pattern */
    const gint64 slack = 1024;
    if (from > to->to + slack || to_here < to->from - slack)
        return FALSE;
    to->from = MIN(to->from, from);
    to->to = MAX(to->to, to_here);
    to->touched += o->touched;
    g->end_line = MAX(g->end_line, s->line);
    return TRUE;
}

/* Runs of stores, loads or copies of one tile, up to what synchronises, are one step. */
static void join_runs(Finish *f, GPtrArray *list)
{
    for (guint i = 0; i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        if (s->body)
            join_runs(f, s->body);
        if (s->other)
            join_runs(f, s->other);
        if (s->kind != WS_READ_WRITE && s->kind != WS_READ_READ && s->kind != WS_READ_GATHER)
            continue;
        for (guint k = i; k-- > 0;) {
            WsReadStep *g = g_ptr_array_index(list, k);
            if (g->off || g->kind == WS_READ_COMPUTE)
                continue;
            if (g->kind != WS_READ_WRITE && g->kind != WS_READ_READ && g->kind != WS_READ_GATHER)
                break;
            if (joins(f, g, s)) {
                s->off = TRUE;
                break;
            }
        }
    }
}

/* Stores that leave gaps count as opaque: somebody else may write there. */
static void gaps(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    Finish *f = data;
    WsReadStep *s = g_ptr_array_index(list, at);
    (void)g;
    if (s->kind != WS_READ_WRITE)
        return;
    const PtxOperand *o = ptx_operand_of(f->w, &s->buffer);
    if (o->touched * 4 < (o->to - o->from) * 3)
        make_opaque(f, s, "stores to shared memory that leave gaps");
}

/* The first eight rows are a step of their own: a design takes rows that an agent writes and reads
 * back for rows that each warp keeps to itself, and nothing says that of this kernel. */
static void split_rows(Finish *f, GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        split_rows(f, s->body);
        split_rows(f, s->other);
        if ((s->kind != WS_READ_WRITE && s->kind != WS_READ_GATHER) || s->all)
            continue;
        PtxOperand *o = ptx_operand_of(f->w, &s->buffer);
        const gint64 column = ptx_regions_columns(&f->regions, &s->buffer),
                     inside = s->kind == WS_READ_WRITE ? o->from % 8192 : 0,
                     cut = column > 0 ? column
                           : inside   ? 8192 - inside
                                      : 1024; /* then 64 rows each, of stores */
        if (o->to - o->from <= cut || column < 0 || (column > 0 && s->kind != WS_READ_GATHER))
            continue;
        WsReadStep *rest = ws_source_step(f->r, NULL, s->kind, s->line, s->column, s->end_line);
        g_autofree WsReadStep *copy = g_memdup2(s, sizeof *s);
        *rest = *copy;
        *ptx_operand_of(f->w, &rest->buffer) = *o;
        ptx_operand_of(f->w, &rest->buffer)->from = o->from + cut;
        o->to = o->from + cut;
        g_ptr_array_insert(list, (gint)i + 1, rest);
        i += s->kind == WS_READ_GATHER;
    }
}

typedef struct {
    gint64 each; /* steps of a group, -1: it differs, -2: none yet */
    gint64 open; /* steps that no commit closed yet */
    guint line;  /* a wait that leaves them out, 0 none */
    const WsReadGroup *group;
} Groups;

static void count_groups(GPtrArray *list, Groups *q)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        q->open += s->kind == WS_READ_GATHER && s->barrier.object < 0;
        if (is_commit(s)) {
            q->each = q->each != -2 && q->each != q->open ? -1 : q->open;
            q->open = 0;
            s->off = TRUE;
        } else if (s->kind == WS_READ_LOAD_WAIT && !s->all && q->open) {
            q->line = s->line;
        }
        if (s->body && q->open) /* a group over the edge of a loop or branch */
            q->each = -1;
        count_groups(s->body, q);
        count_groups(s->other, q);
        if (s->body && q->open)
            q->each = -1;
    }
}

static void scale_waits(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    gpointer *both = data;
    const Groups *q = both[1];
    WsReadStep *s = g_ptr_array_index(list, at);
    if (g != q->group || s->kind != WS_READ_LOAD_WAIT || !s->n)
        return;
    if (q->each < 1)
        make_opaque(both[0], s, "a wait for groups of cp.async that do not hold the same");
    else
        s->n *= q->each;
}

/* cp.async.mbarrier.arrive.noinc belongs to the copies before it. */
static void give_arrivals(GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        give_arrivals(s->body);
        give_arrivals(s->other);
        if (s->kind != WS_READ_ARRIVE || g_strcmp0(s->text, "cp.async"))
            continue;
        for (guint k = i; k-- > 0;) {
            WsReadStep *g = g_ptr_array_index(list, k);
            if (g->kind != WS_READ_GATHER || g->off || g->barrier.index)
                continue;
            g->barrier = s->barrier;
            s->off = TRUE;
        }
        s->text = NULL;
    }
}

static void copies_of_threads(Finish *f)
{
    for (guint i = 0; i < f->r->groups->len; i++) {
        WsReadGroup *g = g_ptr_array_index(f->r->groups, i);
        if (hoist(g->body)) { /* the last ones are made by nobody: nothing of them is in flight */
            WsReadStep *end = ws_source_step(f->r, g->body, WS_READ_LOAD_WAIT, g->line, 1, g->line);
            end->n = 0;
        }
        join_runs(f, g->body);
        give_arrivals(g->body);
    }
}

/* Steps as a design has them, and waits that count these. */
static void count_copies(Finish *f)
{
    for (guint i = 0; i < f->r->groups->len; i++) {
        Groups q = { .each = -2 };
        WsReadGroup *g = g_ptr_array_index(f->r->groups, i);
        gpointer both[] = { f, &q };
        split_rows(f, g->body);
        count_groups(g->body, &q);
        if (q.line)
            lose_at(f, q.line, "a wait for copies that no commit closes before");
        q.group = g;
        ptx_visit(f->r, scale_waits, both);
    }
}

/* --- buffers
 * -----------------------------------------------------------------------------------------*/

/* The share of each load in the bytes that the step before it expects. */
static void expected(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    Finish *f = data;
    const WsReadStep *s = g_ptr_array_index(list, at);
    gint64 n = 0, d;
    (void)g;
    if (s->kind != WS_READ_EXPECT)
        return;
    for (guint pass = 0; pass < 2; pass++)
        for (guint i = at + 1; i < list->len; i++) {
            WsReadStep *o = g_ptr_array_index(list, i);
            if (o->off || !o->barrier.index ||
                !ws_x_difference(o->barrier.index, s->barrier.index, &d) || d)
                continue;
            if (o->kind == WS_READ_EXPECT)
                break;
            if (o->kind == WS_READ_LOAD && pass)
                ptx_operand_of(f->w, &o->buffer)->expected = s->n / n;
            n += o->kind == WS_READ_LOAD && !pass;
        }
}

/* A value that is stored or loaded, as large as the place: a copy of what the registers held, its
 * reading is a step of its own. In 8 bits it takes no more of them than it must. */
static void hold(Finish *f, WsReadStep *s, WsReadGroup *g, gint64 rows, gint64 cols)
{
    const gboolean stored = s->kind == WS_READ_WRITE;
    const char *dtype = stored ? "e4m3" : ptx_regions_dtype(&f->regions, &s->buffer);
    const guint before = g->values->len;
    s->value = ws_source_value(f->r, g, stored ? "stored" : "loaded", dtype, rows, cols);
    if (g->values->len == before || !stored)
        return;
    WsReadStep *zero = ws_source_step(f->r, NULL, WS_READ_COMPUTE, g->line, 1, g->line);
    zero->text = ws_source_format(f->r, "%s = %s(0.0)",
                                  g_array_index(g->values, WsReadValue, s->value).name, dtype);
    g_ptr_array_add(f->starts, g); /* not into the list that is being walked */
    g_ptr_array_add(f->starts, zero);
}

static void place_product(Finish *f, WsReadStep *s)
{
    s->text = NULL;
    if ((!s->a.in_value && !ptx_regions_place(&f->regions, &s->a, FALSE, NULL, NULL)) ||
        !ptx_regions_place(&f->regions, &s->b, FALSE, NULL, NULL))
        make_opaque(f, s, "a product whose operands are no tiles that were copied");
}

static void place_buffers(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    Finish *f = data;
    WsReadStep *s = g_ptr_array_index(list, at);
    gint64 rows = 0, cols = 0;
    switch (s->kind) {
    case WS_READ_MMA:
        place_product(f, s);
        break;
    case WS_READ_COPY:
        if (!ptx_regions_place(&f->regions, &s->a, FALSE, NULL, NULL) ||
            !ptx_regions_place(&f->regions, &s->buffer, FALSE, NULL, NULL))
            make_opaque(f, s, "a copy whose place in shared memory is not known");
        break;
    case WS_READ_LOAD:
    case WS_READ_STORE:
    case WS_READ_GATHER:
        if (!ptx_regions_place(&f->regions, &s->buffer, FALSE, NULL, NULL)) {
            make_opaque(f, s, "a copy whose place in shared memory is not known");
            f->w->lost = TRUE;
            break;
        }
        g_array_index(f->r->tensors, WsReadTensor, s->tensor).dtype =
            ptx_regions_dtype(&f->regions, &s->buffer);
        if (s->kind == WS_READ_STORE)
            g_array_index(f->r->tensors, WsReadTensor, s->tensor).written = TRUE;
        break;
    case WS_READ_WRITE:
    case WS_READ_READ:
        if (ptx_regions_place(&f->regions, &s->buffer, TRUE, &rows, &cols))
            hold(f, s, g, rows, cols);
        else
            make_opaque(f, s,
                        s->kind == WS_READ_WRITE ? "stores to shared memory"
                                                 : "loads from shared memory");
        break;
    default:
        break;
    }
}

/* Where something that synchronises was not read, what waits for it would hang and what it orders
 * would race: such a kernel is not judged, only shown. */
static void lose(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    WsReadStep *s = g_ptr_array_index(list, at);
    (void)data, (void)g;
    switch (s->kind) {
    case WS_READ_WAIT:
    case WS_READ_ARRIVE:
    case WS_READ_EXPECT:
    case WS_READ_LOAD:
    case WS_READ_STORE:
    case WS_READ_GATHER:
    case WS_READ_LOAD_WAIT:
    case WS_READ_COPY:
    case WS_READ_MMA:
    case WS_READ_MMA_WAIT:
    case WS_READ_WRITE:
    case WS_READ_READ:
    case WS_READ_SYNC:
    case WS_READ_BAR_ARRIVE:
    case WS_READ_CLUSTER:
        s->kind = WS_READ_OPAQUE;
        s->value = -1;
        s->text = NULL;
        s->buffer = s->barrier = s->a = s->b = (WsPlace){ .object = -1 };
        break;
    case WS_READ_COMPUTE:
        s->off = TRUE;
        break;
    default:
        break;
    }
}

static void lose_all(Finish *f)
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
    Finish *f = data;
    WsReadStep *s = g_ptr_array_index(list, at);
    PtxSpot spot;
    GHashTableIter it;
    gpointer key;
    (void)g;
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
            lose_at(f, s->line, "what warps are told to do");
        return;
    }
}

void ptx_finish(PtxWalk *w)
{
    Finish f = { .w = w, .r = w->p.r, .regions = { .w = w } };
    f.rings = g_array_new(FALSE, TRUE, sizeof(Ring));
    f.regions.region = g_array_new(FALSE, TRUE, sizeof(PtxRegion));
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
    copies_of_threads(&f);
    ptx_visit(f.r, gaps, &f);
    ptx_visit(f.r, expected, &f);
    ptx_visit(f.r, find_rings, &f);
    ptx_visit(f.r, place_barrier, &f);
    ptx_visit(f.r, name_barrier, &f);
    expects(&f);
    ptx_uses(f.r);
    ptx_regions_find(&f.regions);
    count_copies(&f);
    f.starts = g_ptr_array_new();
    ptx_visit(f.r, place_buffers, &f);
    for (guint i = 0; i + 1 < f.starts->len; i += 2) {
        WsReadGroup *g = g_ptr_array_index(f.starts, i);
        g_ptr_array_insert(g->body, 0, g_ptr_array_index(f.starts, i + 1));
    }
    g_ptr_array_unref(f.starts);
    ptx_visit(f.r, named, &f);
    ptx_values(f.r);
    if (w->lost)
        lose_all(&f);
    g_array_unref(f.rings);
    g_array_unref(f.regions.region);
    g_array_unref(f.regions.marks);
    g_array_unref(f.regions.stores);
}
