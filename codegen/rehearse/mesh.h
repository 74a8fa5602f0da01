/* Devices of a mesh on the CPU: all CTAs of all of them at once, launch after launch, with flags
 * and the order that memory promises. Internal to codegen/rehearse.
 *
 * What a put writes is there at once for who must see it; for who need not, a chance decides. Each
 * CTA knows of puts, and of the work of hosts before a launch, up to a number for each agent and
 * device: a release gives that to the flag, an acquire takes it, a fence hands it to the engines.
 * What one thread of a CTA knows all of it know: order inside of a CTA is not judged here. */
#pragma once

#include "codegen/rehearse/host.h"

G_BEGIN_DECLS

typedef struct WsHostMesh WsHostMesh;

typedef struct {
    guint devices, launches;
    guint grid, resident;        /* CTAs of a launch; of those at once */
    guint64 *const *param;       /* [devices] parameters of the kernel */
    guint launch_word;           /* of those: the number of launches before */
    guint64 *const *flag;        /* [devices] */
    const guint64 *const *table; /* [devices] the entries that the kernel is given */
    const guint64 *first;        /* [flags + 1] where the elements of each flag begin */
    /* What the host of a device does before a launch of it (0 is the first), and behind it. */
    void (*begin)(gpointer data, guint device, guint launch);
    void (*end)(gpointer data, guint device, guint launch);
    gpointer data;
} WsHostMeshPlan;

/* Runs all launches; `h` has devices * grid CTAs. FALSE once stuck (h->stuck says where). */
gboolean ws_host_run_mesh(WsHost *h, const WsHostMeshPlan *plan, void (*kernel)(const guint64 *));

/* --- for schedule.c */
gboolean ws_host_mesh_goes_on(const WsHost *h); /* launches or CTAs are still to come */
/* Begins a launch or a CTA, now and then, or because nothing else can move (`dry`). */
gboolean ws_host_mesh_turn(WsHost *h, gboolean dry);
void ws_host_mesh_thread_ended(WsHost *h, WsHostCta *cta);
/* --- for bulk.c */
void ws_host_mesh_put(WsHostLater *l, guint device); /* is issued */
/* Its bytes are about to be written; FALSE: they are lost under what the host did before. */
gboolean ws_host_mesh_write(WsHostLater *l);
void ws_host_mesh_load(WsHostLater *l);              /* is issued */
void ws_host_mesh_get(WsHostLater *l, guint device); /* the same from a device */
/* May be older than what is there. */
void ws_host_mesh_read(const WsHostLater *l, guint8 *image, guint32 bytes);
void ws_host_mesh_complete(WsHostThread *t); /* all puts of the thread are */
/* --- for stuck.c: caller frees */
char *ws_host_mesh_waits(const WsHostThread *t);
guint ws_host_mesh_device(const WsHostCta *cta);
guint ws_host_mesh_devices(const WsHost *h);

G_END_DECLS
