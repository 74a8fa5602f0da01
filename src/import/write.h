/* What was read as the text of a design: the parts of it that two files write. */
#pragma once

#include "import/recognise.h"

G_BEGIN_DECLS

void ws_write_field(GString *out, const char *key, const char *text); /* , "key": "text" */
void ws_write_expr(WsRead *r, GString *out, const char *key, const WsExpr *e);
/* `note` with file, line and the source; nothing for line 0. */
void ws_write_note(const WsRead *r, GString *out, guint line, guint column, guint end_line);
/* From the opening brace to the tiles: written when everything else is. */
void ws_write_head(WsRead *r, GString *out);
/* From the tensors to the barriers. */
void ws_write_objects(WsRead *r, GString *out);

G_END_DECLS
