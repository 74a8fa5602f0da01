/* Inside src/check/global: small launches, and what their agents write. */
#pragma once

#include "check/global/global.h"
#include "program/walk/walk.h"

G_BEGIN_DECLS

typedef struct {
    gint64 lo[WS_MAX_RANK], hi[WS_MAX_RANK]; /* clipped to the tensor */
    const WsOp *op;
    guint agent, cta; /* rank in its cluster */
    gint64 block;     /* CTA in the launch */
    gint64 tile;
    guint n_rounds;
    gint64 round[6];
} WsWritten;

/* Runs every agent of every CTA of a launch; what it writes of `tensor`. NULL: too large, or it
 * cannot be told (an error, an assumption about a tile that these data break). `data` says
 * the elements of integer tensors; `left` is how many operations may be walked. */
GArray *ws_launch_written(const WsProgram *p, const WsLaunchValues *v, gint tensor, gint64 sms,
                          const WsGlobalData *data, guint64 *left);
/* Data worth trying; NULL past the last. */
const WsGlobalData *ws_global_data(guint variant);

/* Sizes to try: a WsSize array per case, those of the rehearsal first. Free with
 * g_ptr_array_unref. */
GPtrArray *ws_launch_cases(const WsProgram *p, gint tensor);

G_END_DECLS
