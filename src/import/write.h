/* What was read as a design: the parts of it that two files write. */
#pragma once

#include "import/recognise.h"
#include "model/build.h"

G_BEGIN_DECLS

WsJson *ws_write_expr(WsRead *r, const WsExpr *e); /* in the names of the design */
/* Where a node comes from: its `source`, with the first of these lines as its `note`; nothing for
 * line 0. Returns the node. */
WsJson *ws_write_place(const WsRead *r, WsJson *node, guint line, guint column, guint end_line);
/* From the version to the tiles: written when everything else is. */
void ws_write_head(WsRead *r, WsJson *design);
/* From the tensors to the barriers. */
void ws_write_objects(WsRead *r, WsJson *design);

G_END_DECLS
