/* What edits ask of a design besides edit.h: constants, the fields that a node may have, bytes of
 * an element, and the loop that stores a tile in slabs. Private to src/edit. */
#pragma once

#include "edit/edit.h"

G_BEGIN_DECLS

#define WS_EDIT_ROW_BYTES 128 /* a row of the widest swizzle */

gboolean ws_edit_has_only(const WsNode *node, const WsFieldId *may, guint n);
/* A constant's value, or that of a number; 0: not known. */
gint64 ws_edit_number(const WsDesign *design, const char *text);
/* Of an element that TMA and wgmma take; 0: another one, or none. */
guint ws_edit_element_bytes(const WsNode *node);

/* Texts. Borrowed. */
typedef struct {
    const char *loop, *value, *columns, *width; /* `columns` of the tile, `width` of a slab */
    const char *staging, *tensor, *row, *column;
} WsSlabs;
/* store_wait 1; meet; write a slab; meet; store it: for all slabs of a tile. To be inserted. */
WsJson *ws_slabs_loop(const WsSlabs *s);

G_END_DECLS
