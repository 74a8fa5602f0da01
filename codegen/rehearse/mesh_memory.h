/* What CTAs of devices know of each other's writes, as numbers: of each agent of each CTA the puts
 * up to one, of each device the launches whose host has done its part. Internal to mesh.c. */
#pragma once

#include "codegen/rehearse/host.h"

G_BEGIN_DECLS

typedef struct WsMeshMemory WsMeshMemory;
WsMeshMemory *ws_mesh_memory_new(WsHost *h, guint devices, guint grid);
void ws_mesh_memory_free(WsMeshMemory *m);

/* The host of device d has done its part of its launch number `launch` (1, 2, …). */
void ws_mesh_memory_begin(WsMeshMemory *m, guint d, guint launch);
/* The kernel of device d is over: what it need not have seen is taken away again, by chance. */
void ws_mesh_memory_end(WsMeshMemory *m, guint d);
void ws_mesh_memory_release(WsMeshMemory *m, guint cell, const guint64 *flag);
void ws_mesh_memory_acquire(WsMeshMemory *m, guint cell, const guint64 *flag);
void ws_mesh_memory_fence(WsMeshMemory *m, guint cell);
/* A put of an agent of a CTA gets its number. FALSE: the engines do not know that the host of
 * device d has done its part of this launch. */
gboolean ws_mesh_memory_issue(WsMeshMemory *m, guint cell, guint agent, guint d, guint launch,
                              guint *source, guint64 *number);
/* The engines of a CTA know that the host of device d has done its part of this launch; of its own
 * it is so. */
gboolean ws_mesh_memory_begun(const WsMeshMemory *m, guint cell, guint d, guint launch);
void ws_mesh_memory_complete(WsMeshMemory *m, guint cell, guint agent, guint64 number);
/* The box of a put is about to be written: what is there is kept. */
void ws_mesh_memory_write(WsMeshMemory *m, const WsHostLater *l);
/* What the engines of a CTA know now: caller frees. */
guint64 *ws_mesh_memory_engine(const WsMeshMemory *m, guint cell);
/* Elements of a box that `clock` need not see become what they were, by chance. */
void ws_mesh_memory_stale(WsMeshMemory *m, guint d, const WsHostMap *map, const gint32 *at,
                          const guint64 *clock, guint8 *image);

G_END_DECLS
