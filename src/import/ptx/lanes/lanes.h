/* Which lanes of a warp pass what: private to lanes.c and lanes_judge.c. */
#pragma once

#include "import/ptx/walk.h"

G_BEGIN_DECLS

/* LEADER: the same in all lanes of a warp but its first. */
typedef enum { NONE_YET, SAME, KNOWN, LEADER, MIXED } PtxHow;

/* What one instruction writes to a register. */
typedef struct {
    guint at; /* number of the instruction */
    PtxHow how;
    PtxHow apart; /* … in a branch that only some lanes take, and it is read behind */
    PtxHow left;  /* … in a loop that lanes leave in different rounds, and it is read behind */
    gint64 *v;    /* KNOWN: of every thread; owned */
    guint32 *far; /* what is added in every thread to something that is the same for its warp; NULL:
                     it is not known; owned (lanes_far.c) */
    guint32 even; /* … what is the same is a multiple of this power of 2 */
} LanesDef;

typedef struct {
    GArray *defs;      /* LanesDef */
    GHashTable *reach; /* instruction that reads it -> GArray of guint: defs that it may read */
    GHashTable *unset; /* … of these, those that may read it before anything was written */
} Lanes;

typedef struct {
    PtxWalk *w;
    GHashTable *of; /* register, with its scope where it is a local one -> Lanes, owned */
    guint threads;
    GHashTable *some;      /* blocks that only some lanes come to */
    GHashTable *multiples; /* LanesDef* -> what multiple_of() says of it */
    gint64 kept;           /* numbers of threads that are kept */
} PtxLanes;

#define PTX_MOST_KEPT (1 << 23)

/* The instruction as an operation on numbers of 32 bits; PTX_LANE_OPS: it is none of these. */
#define PTX_LANE_OPS 22
guint ptx_lanes_operation(const WsPtxInst *i, gboolean *is_signed);
/* FALSE: it has no value. */
gboolean ptx_lanes_compute(guint op, gboolean is_signed, gint64 a, gint64 b, gint64 c, gint64 *out);
/* What one operand is. `v`, of every thread, is filled where it is KNOWN. */
PtxHow ptx_lanes_operand(PtxLanes *q, const WsPtxInst *i, const char *name, gint64 *v);
/* The only write that instruction i may read in `name`; NULL: there are several, or lanes may have
 * left a loop with different ones. */
LanesDef *ptx_lanes_only(PtxLanes *q, const WsPtxInst *i, const char *name);
LanesDef *ptx_lanes_def(PtxLanes *q, const WsPtxInst *i, const char *name); /* what i writes */
/* The only question of lanes_twin.c: may `name` be read by i before it is written, or is one of the
 * writes that i may read in `differ` (LanesDef*)? */
gboolean ptx_lanes_differ(PtxLanes *q, const WsPtxInst *i, const char *name, GHashTable *differ);
gboolean ptx_lanes_writes(const WsPtxInst *i);
char **ptx_lanes_words(const char *text); /* of "{%r1, %r2}", "[%r1+8]", "%p1|%p2" */
/* Warps that store the same values to the same bytes, with one instruction: into `twins` of the
 * walk. */
void ptx_lanes_twins(PtxLanes *q);
/* The lanes of a warp that an access goes to, as differences: into `far_of` of the walk. */
void ptx_lanes_far(PtxLanes *q);
/* Is it the same in all lanes of every warp from lane `first` on? */
gboolean ptx_lanes_same(const PtxLanes *q, const gint64 *v, guint first);
/* The blocks between a branch and where its ways meet; TRUE: something there matters. */
gboolean ptx_lanes_region(PtxLanes *q, guint block, GHashTable *into);
void ptx_lanes_judge(PtxLanes *q);

G_END_DECLS
