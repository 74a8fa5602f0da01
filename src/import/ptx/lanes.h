/* Which lanes of a warp pass what: private to lanes.c and lanes_judge.c. */
#pragma once

#include "import/ptx/walk.h"

G_BEGIN_DECLS

/* LEADER: the same in all lanes of a warp but its first. */
typedef enum { NONE_YET, SAME, KNOWN, LEADER, MIXED } PtxHow;

typedef struct {
    PtxHow how;
    guint writes; /* instructions that write it */
    PtxHow apart; /* … one of them in a branch that only some lanes take, and it is read behind */
    gint64 *v;    /* KNOWN: of every thread; owned */
} Lanes;

typedef struct {
    PtxWalk *w;
    GHashTable *of; /* register, with its scope where it is a local one -> Lanes, owned */
    guint threads;
    GHashTable *some; /* blocks that only some lanes come to */
} PtxLanes;

/* What one operand is. `v`, of every thread, is filled where it is KNOWN. */
PtxHow ptx_lanes_operand(PtxLanes *q, const WsPtxInst *i, const char *name, gint64 *v);
/* Is it the same in all lanes of every warp from lane `first` on? */
gboolean ptx_lanes_same(const PtxLanes *q, const gint64 *v, guint first);
/* The blocks between a branch and where its ways meet; TRUE: something there matters. */
gboolean ptx_lanes_region(PtxLanes *q, guint block, GHashTable *into);
void ptx_lanes_judge(PtxLanes *q);

G_END_DECLS
