/* What the roles did, on its way to rings, buffers and barriers. */
#pragma once

#include "import/ptx/region/region.h"

G_BEGIN_DECLS

/* mbarriers that one address picks from. */
typedef struct {
    gint64 base, n; /* n slots of 8 bytes */
    gint object;
} PtxRing;

typedef struct {
    PtxWalk *w;
    WsRead *r;
    GArray *rings; /* PtxRing */
    PtxRegions regions;
    GPtrArray *starts; /* WsReadGroup*, WsReadStep*, …: what its body begins with */
} PtxFinish;

void ptx_make_opaque(PtxFinish *f, WsReadStep *s, const char *what);
void ptx_lose_at(PtxFinish *f, guint line, const char *what); /* then nothing is judged */
/* Copies of threads: what stands in a row is one step; then steps as a design has them, and waits
 * that count these. */
void ptx_copies_of_threads(PtxFinish *f);
void ptx_count_copies(PtxFinish *f);
/* Threads of a group that write the same bytes before they meet: then it is not judged. */
void ptx_collisions(PtxFinish *f, GPtrArray *body);
void ptx_claims(PtxFinish *f); /* places where tiles are handed on */
/* The boxes that bring what each barrier expects. */
void ptx_expected(PtxFinish *f);
/* PtxVisit: stores that leave gaps are opaque. */
void ptx_gaps(gpointer finish, GPtrArray *list, guint at, WsReadGroup *g);

G_END_DECLS
