/* Places in shared memory of a PTX kernel: which bytes the steps touch, and what buffers follow.
 *
 * A PtxRegions owns its arrays; it borrows the walk. */
#pragma once

#include "import/ptx/walk.h"

G_BEGIN_DECLS

#define PTX_MAX_SLOTS 64

/* An address: base + stride * (index mod n) + per_cta * cta. */
typedef struct {
    gint64 base, stride, n, per_cta;
    const WsExpr *index; /* NULL: n is 1 */
    gboolean open;       /* plus something that grows: up to the end of what it lies in */
} PtxSpot;
gboolean ptx_spot(WsRead *r, const WsExpr *e, PtxSpot *spot);
/* The places in shared memory that a step reads or writes; how many. */
guint ptx_places(const WsReadStep *s, const WsPlace *place[2]);

typedef struct {
    gint64 base, stride, n; /* n copies, `stride` bytes apart */
    gint64 span, chunk;     /* bytes of a row; rows of a column of spans, 0: all */
    const char *dtype;
    gint64 rank;
    gboolean flat; /* boxes of one dimension are copied there */
    gint object;   /* buffer, -1 none yet */
    guint line;
} PtxRegion;

/* The bytes that a step touches. */
typedef struct {
    PtxSpot spot;
    PtxOperand *o;
    guint line;
    gboolean box, load; /* of a tensor */
    gboolean flat;      /* … of one dimension */
    gboolean reads;     /* not a box */
} PtxAccess;

/* Bytes that a step expects, and the boxes whose bytes these are. */
typedef struct {
    gint64 bytes;
    guint line;
    GPtrArray *box; /* PtxOperand*, owned by the WsRead */
} PtxExpect;

typedef struct {
    PtxWalk *w;
    GArray *expects; /* PtxExpect */
    GArray *region;  /* PtxRegion */
    GArray *marks;   /* gint64: where something begins: barriers, rings, boxes that are loaded */
    GArray *stores;  /* gint64: where boxes that are stored begin */
} PtxRegions;

/* A step of a group with what calls it needs. */
typedef void (*PtxVisit)(gpointer data, GPtrArray *list, guint at, WsReadGroup *g);
void ptx_visit(WsRead *r, PtxVisit call, gpointer data);

/* Comparisons of sizes as comparisons of the rounds of loops. */
void ptx_conditions(WsRead *r);
/* Registers per thread count where every group says its own. */
/* Which use of a slot an arrival means; barriers are placed. */
void ptx_uses(PtxWalk *w);
void ptx_stages(WsRead *r); /* the same of what products and loads read */

/* Addresses of every g-th slot of a ring, said as slots of it. */
void ptx_widen(PtxWalk *w);
void ptx_regions_find(PtxRegions *q);
/* The region that an access belongs to; `bytes` behind its base, 0 not known. NULL: none. */
PtxRegion *ptx_region_of(const PtxRegions *q, const PtxSpot *s, gint64 bytes);
/* Boxes of tensor maps get an end, see boxes.c; accesses by ascending bases. */
void ptx_bound_boxes(PtxRegions *q, const GArray *access);
/* Places `p`: object, index and views; FALSE: it is in no region, or part of it. rows and cols of
 * what it covers where they are asked for. may_grow: an address that grows by what is no ring is
 * all from there to the end. */
gboolean ptx_regions_place(PtxRegions *q, WsPlace *p, gboolean may_grow, gint64 *rows,
                           gint64 *cols);
/* Bytes of a column where columns of spans lie side by side, so that bytes are no rows; 0: they do
 * not; -1: it is not known. */
gint64 ptx_regions_columns(const PtxRegions *q, const WsPlace *p);
const char *ptx_regions_dtype(const PtxRegions *q, const WsPlace *p); /* of a placed one */

G_END_DECLS
