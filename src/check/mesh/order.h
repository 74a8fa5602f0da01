/* Inside src/check/mesh: what the paths through an agent leave, and what is asked of it. */
#pragma once

#include "check/mesh/mesh.h"

G_BEGIN_DECLS

enum { WS_MESH_AWAITS = 16 };

typedef struct {
    const WsMeshSite *await;
    gboolean fenced;
} WsMeshKnown;

/* A put, and the notifies that come behind it. */
typedef struct {
    const WsMeshSite *put;
    GPtrArray *notify; /* WsMeshSite* */
    gboolean late;     /* one of them in another round than the put */
} WsMeshPut;

typedef struct {
    const WsMeshSite *load;
    guint n_known;
    WsMeshKnown known[WS_MESH_AWAITS];
} WsMeshLoad;

/* weak.c. A notify or await that orders nothing is what is wrong. */
void ws_mesh_say_weak(WsMeshCheck *M, const WsOp *op);
/* There is an await of the flag (-1: of any) that may come before `op`: in another group, or in
 * front of it. One that orders leaves it open, with the phrase `open`; of those that do not one is
 * what is wrong. FALSE: there is none. */
gboolean ws_mesh_ordered_somehow(WsMeshCheck *M, const WsOp *op, gint flag, const char *open);

/* ends.c. A put that some path leaves without a notify of its device (`some`: perhaps); the kernel
 * of a device does not end before what is put into its outputs; a load behind an await of what it
 * reads. */
void ws_mesh_unnotified(WsMeshCheck *M, const WsMeshPut *put, gboolean some, const char *agent);
void ws_mesh_awaited(WsMeshCheck *M, const WsMeshPut *put, const WsMeshSite *notify);
void ws_mesh_covered(WsMeshCheck *M, const WsMeshLoad *load, const WsMeshPut *put);

/* gets.c. Another device than its own gets something of the tensor. */
gboolean ws_mesh_is_got(const WsMeshCheck *M, gint tensor);
/* The kernel of a device does not end before what is got from its inputs has come. */
void ws_mesh_kept(WsMeshCheck *M, const WsMeshSite *get);

G_END_DECLS
