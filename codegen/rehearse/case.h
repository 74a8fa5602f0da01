/* One launch of one device: its values, its tensors, and the comparison of what it left with the
 * reference. Internal to codegen/rehearse. */
#pragma once

#include "codegen/generate.h"
#include "codegen/reference/reference.h"
#include "codegen/rehearse/host.h"
#include "program/walk/launch_values.h"

G_BEGIN_DECLS

typedef struct {
    const WsProgram *p;
    WsLaunchValues *values;
    void **tensor;
    gint64 *size;
    double *scalar;
    WsHostMap *map;
    guint64 *param;    /* in the order of generate.h, without what a mesh adds */
    guint n_param;     /* words in it; three more have room */
    guint32 counter;   /* launch dynamic */
    gboolean borrowed; /* the tensors are somebody else's */
} WsRehearseCase;

/* Values of a launch, with `rank` as the number of the device (-1: no mesh). FALSE: refused. */
gboolean ws_case_values(WsRehearseCase *c, const WsRehearseOptions *o, gint64 rank,
                        WsFindings *findings, GError **error);
/* Bytes of a tensor from its first to its last element; -1 and an error: too many. */
gint64 ws_case_bytes(const WsRehearseCase *c, guint tensor, GError **error);
/* Memory of every tensor, and what is in it before a launch. */
gboolean ws_case_tensors(WsRehearseCase *c, guint64 seed, GError **error);
/* What a tensor holds before a launch: inputs by `seed`, zeros, or poison. */
gboolean ws_case_fill(WsRehearseCase *c, guint tensor, guint64 seed, GError **error);
/* Maps and parameters, once the tensors have their places. */
void ws_case_arguments(WsRehearseCase *c);
void ws_case_clear(WsRehearseCase *c);

/* Elements of a tensor. */
gint64 ws_case_elements(const WsRehearseCase *c, guint tensor);
/* Counts an output's element, stored at `base`, against what it should be. `device` is part of its
 * name, -1: none. */
void ws_case_judge(WsRehearseResult *r, const WsRehearseCase *c, guint tensor, const void *base,
                   gint64 device, gint64 flat, double want);

/* What the runs of `h` came to, and frees it; `ran`, `fibers` and the values are the caller's. */
void ws_case_end(WsRehearseResult *r, WsHost *h);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WsRehearseCase, ws_case_clear)

G_END_DECLS
