#include "import/ptx/region/region.h"

/* How large the box of a copy is stands in no PTX. It ends where the next thing begins, or with the
 * bytes that its barrier expects; where all boxes of a barrier are not as many bytes as it expects,
 * they are what is read of them; and where that is not so either, nobody knows. */

#define PTX_BOX_UNKNOWN 16384 /* a box that nothing bounds */
#define PTX_ROW         128
#define PTX_BOX_GAP     1024 /* to what lies behind it: what tiles are aligned to */

static gint64 next_mark(const GArray *marks, gint64 after)
{
    gint64 best = G_MAXINT64;
    for (guint i = 0; i < marks->len; i++) {
        const gint64 at = g_array_index(marks, gint64, i);
        if (at > after && at < best)
            best = at;
    }
    return best;
}

/* The end of the bytes around `at` that accesses of known size touch; 0: none do. */
static gint64 known_end(const GArray *access, gint64 at)
{
    gint64 end = 0;
    for (guint i = 0; i < access->len; i++) { /* ascending bases */
        const PtxAccess *a = &g_array_index(access, PtxAccess, i);
        const gint64 from = a->spot.base + a->o->from, to = a->spot.base + a->o->to;
        if (a->spot.n == 1 && a->o->to && to > at && from <= MAX(at, end))
            end = MAX(end, to);
    }
    return end;
}

/* What lanes touch ends somewhere in its last row. */
static gint64 whole_rows(gint64 base, gint64 end)
{
    return base + (end - base + PTX_ROW - 1) / PTX_ROW * PTX_ROW;
}

/* Boxes get an end. */
static void bound(PtxRegions *q, const GArray *access)
{
    for (guint i = 0; i < access->len; i++) {
        const PtxAccess *a = &g_array_index(access, PtxAccess, i);
        const gint64 base = a->spot.base;
        if (!a->box || a->o->to)
            continue;
        const PtxRegion *ring = ptx_region_of(q, &a->spot, 0);
        const gint64 expected = a->o->expected;
        gint64 end = next_mark(q->marks, base);
        if (!a->load)
            end = MIN(end, next_mark(q->stores, base));
        if (ring) {
            const gint64 stage = (base - ring->base) / ring->stride;
            end = MIN(end, ring->base + ring->stride * (stage + 1));
        } else {
            const gint64 known = known_end(access, base), room = end - base;
            if (!known && expected && end != G_MAXINT64 &&
                room - expected >= MIN(expected, PTX_BOX_GAP)) /* half of it? twice as much? */
                ptx_lose_line(q->w, a->line, "how large the box of a tensor map is");
            end = MIN(end, known ? whole_rows(base, known)
                                 : base + (expected ? expected : PTX_BOX_UNKNOWN));
        }
        a->o->to = end - base;
        a->o->unknown = TRUE;
        ws_source_granted(q->w->p.r, "the box of every tensor map fills the place in shared memory "
                                     "that is read as its own");
    }
}

/* Bytes of a stage that `a` begins behind, counted from where the ring (NULL: memory) begins; -1:
 * it is elsewhere. */
static gint64 inside(const PtxRegions *q, const PtxRegion *ring, const PtxAccess *a)
{
    PtxSpot begin = a->spot;
    begin.base += a->o->from;
    if (!ring)
        return begin.n == 1 && !begin.open ? begin.base : -1;
    return ptx_region_of(q, &begin, 0) == ring ? (begin.base - ring->base) % ring->stride : -1;
}

/* The bytes behind the beginning of box `b` that products and loads read without a gap, up to where
 * anybody writes. */
static gint64 read_bytes(const PtxRegions *q, const GArray *access, const PtxAccess *b)
{
    const PtxRegion *ring = ptx_region_of(q, &b->spot, 0);
    const gint64 at = inside(q, ring, b);
    gint64 most = at + b->o->to, end = at;
    for (guint i = 0; i < access->len; i++) {
        const PtxAccess *a = &g_array_index(access, PtxAccess, i);
        const gint64 from = a->box || a->reads ? -1 : inside(q, ring, a);
        if (from > at)
            most = MIN(most, from);
    }
    for (gboolean grows = TRUE; grows && at >= 0;) {
        grows = FALSE;
        for (guint i = 0; i < access->len; i++) {
            const PtxAccess *a = &g_array_index(access, PtxAccess, i);
            const gint64 from = a->reads ? inside(q, ring, a) : -1,
                         to = from + a->o->to - a->o->from;
            if (from < 0 || from > end || to <= end)
                continue;
            end = to;
            grows = TRUE;
        }
    }
    return MIN(whole_rows(at, end), most) - at;
}

static const PtxAccess *access_of(const GArray *access, const PtxOperand *o)
{
    for (guint i = 0; i < access->len; i++)
        if (g_array_index(access, PtxAccess, i).o == o)
            return &g_array_index(access, PtxAccess, i);
    return NULL;
}

/* Does some step read exactly so many bytes from the beginning of the box on? */
static gboolean is_read(const PtxRegions *q, const GArray *access, const PtxAccess *b, gint64 bytes)
{
    const PtxRegion *ring = ptx_region_of(q, &b->spot, 0);
    const gint64 at = inside(q, ring, b);
    gboolean found = FALSE;
    for (guint i = 0; i < access->len && !found; i++) {
        const PtxAccess *a = &g_array_index(access, PtxAccess, i);
        found = a->reads && a->o->to - a->o->from == bytes && inside(q, ring, a) == at;
    }
    return found;
}

typedef enum { PLACES, READ, REST } Guess;

/* Is the box as large as those of the same map that stand beside it, or were settled before? */
static gboolean of_one_size(const PtxExpect *e, GHashTable *maps, const PtxOperand *o)
{
    const gint64 settled =
        (gint64)GPOINTER_TO_SIZE(g_hash_table_lookup(maps, GINT_TO_POINTER(o->tensor + 1)));
    if (!o->unknown)
        return TRUE;
    for (guint i = 0; i < e->box->len; i++) {
        const PtxOperand *other = g_ptr_array_index(e->box, i);
        if (other->unknown && other->tensor == o->tensor && other->guess != o->guess)
            return FALSE;
    }
    return !settled || settled == o->guess;
}

/* Sets the sizes of all boxes of one barrier where they are together as many bytes as it expects:
 * those of their places; those that are read there; what the boxes of maps that are known elsewhere
 * leave to the one that is not, where that is read. A map has boxes of one size. */
static gboolean settle(PtxRegions *q, const GArray *access, const PtxExpect *e, GHashTable *maps,
                       Guess guess)
{
    gint64 sum = 0, times = 0;
    for (guint i = 0; i < e->box->len; i++) {
        PtxOperand *o = g_ptr_array_index(e->box, i);
        const gint64 pinned =
            (gint64)GPOINTER_TO_SIZE(g_hash_table_lookup(maps, GINT_TO_POINTER(o->tensor + 1)));
        o->guess = !o->unknown || guess == PLACES ? o->to
                   : guess == READ                ? read_bytes(q, access, access_of(access, o))
                                                  : pinned;
        sum += o->guess * o->times;
        times += o->guess ? 0 : o->times;
    }
    const gint64 rest = times ? (e->bytes - sum) / times : 0;
    if (times ? rest < 1 || sum + rest * times != e->bytes : sum != e->bytes)
        return FALSE;
    for (guint i = 0; i < e->box->len && times; i++) {
        PtxOperand *o = g_ptr_array_index(e->box, i);
        if (!o->guess && (rest > o->to || !is_read(q, access, access_of(access, o), rest)))
            return FALSE;
        o->guess = o->guess ? o->guess : rest;
    }
    for (guint i = 0; i < e->box->len; i++)
        if (!of_one_size(e, maps, g_ptr_array_index(e->box, i)))
            return FALSE;
    for (guint i = 0; i < e->box->len; i++) {
        PtxOperand *o = g_ptr_array_index(e->box, i);
        o->to = o->guess;
        if (o->unknown)
            g_hash_table_insert(maps, GINT_TO_POINTER(o->tensor + 1),
                                GSIZE_TO_POINTER((gsize)o->to));
    }
    return TRUE;
}

/* The least that a product reads from the beginning of the box on; 0: none begins there. */
static gint64 least_read(const PtxRegions *q, const GArray *access, const PtxAccess *b)
{
    const PtxRegion *ring = ptx_region_of(q, &b->spot, 0);
    const gint64 at = inside(q, ring, b);
    gint64 least = 0;
    for (guint i = 0; i < access->len; i++) {
        const PtxAccess *a = &g_array_index(access, PtxAccess, i);
        const gint64 bytes = MIN(a->o->to - a->o->from, b->o->to);
        if (a->reads && a->o->rows && inside(q, ring, a) == at && (!least || bytes < least))
            least = bytes;
    }
    return least;
}

/* Is it known, or a number of bytes that copies do not come to: no multiple of 16, or less than
 * products read of what they bring? */
static gboolean is_left(const PtxRegions *q, const GArray *access, const PtxExpect *e)
{
    gboolean known = TRUE, boxes = TRUE;
    gint64 least = 0;
    for (guint i = 0; i < e->box->len; i++) {
        const PtxOperand *o = g_ptr_array_index(e->box, i);
        const PtxAccess *a = access_of(access, o);
        known &= !o->unknown;
        boxes &= a && a->box;
        least += !a ? 0 : (o->unknown ? least_read(q, access, a) : o->to) * o->times;
    }
    return known || !boxes || e->bytes % 16 || e->bytes < least;
}

/* A map has boxes of one size: those that nobody settled, too. */
static void one_size_each(PtxRegions *q, const GArray *access)
{
    g_autoptr(GHashTable) sizes = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < access->len; i++) {
        const PtxAccess *a = &g_array_index(access, PtxAccess, i);
        gpointer map = GINT_TO_POINTER(a->o->tensor + 1), bytes = GSIZE_TO_POINTER((gsize)a->o->to),
                 before = g_hash_table_lookup(sizes, map);
        if (!a->load || !a->box || !a->o->unknown)
            continue;
        if (before && before != bytes)
            ptx_lose_line(q->w, a->line, "how large the box of a tensor map is");
        g_hash_table_insert(sizes, map, bytes);
    }
}

void ptx_bound_boxes(PtxRegions *q, const GArray *access)
{
    g_autoptr(GHashTable) maps = g_hash_table_new(NULL, NULL), done = g_hash_table_new(NULL, NULL);
    bound(q, access);
    for (Guess guess = PLACES; guess <= REST; guess++)
        for (guint i = 0; i < q->expects->len; i++) {
            const PtxExpect *e = &g_array_index(q->expects, PtxExpect, i);
            if (!g_hash_table_contains(done, GUINT_TO_POINTER(i)) &&
                (is_left(q, access, e) || settle(q, access, e, maps, guess)))
                g_hash_table_add(done, GUINT_TO_POINTER(i));
        }
    for (guint i = 0; i < q->expects->len; i++)
        if (!g_hash_table_contains(done, GUINT_TO_POINTER(i)))
            ptx_lose_line(q->w, g_array_index(q->expects, PtxExpect, i).line,
                          "how large the box of a tensor map is");
    one_size_each(q, access);
}
