/* The two halves of a group (LANGUAGE section 19) as the one code that both run: what Gluon writes,
 * where every call is one of all eight warps. */
#pragma once

#include "program/forward.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct WsWhole WsWhole;

/* Borrows from `p`, which must outlive it. NULL and WS_GENERATE_ERROR_STEP where the halves differ
 * in anything but their rows, and the barriers that put one behind the other. Caller frees. */
WsWhole *ws_whole_new(const WsProgram *p, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* One agent of all warps. Its operations are those of the lower half with the rows of both;
 * barriers that one half joins alone, and the launch's first barrier, are not in it. */
const WsProgram *ws_whole_program(const WsWhole *w);
void ws_whole_free(WsWhole *w);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsWhole, ws_whole_free)

G_END_DECLS
