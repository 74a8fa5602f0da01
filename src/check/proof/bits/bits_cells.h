/* What cells of shared memory tell those who touch them (bits_touch.c, bits_async.c). */
#pragma once

#include "check/proof/bits/bits.h"

G_BEGIN_DECLS

/* Whether the access lies in its buffer if it begins at this row and column. */
gboolean ws_bit_inside(const WsBuffer *b, const WsBitAccess *x, gint64 row0, gint64 col0);
/* Item of the last access of a class of readers, which the cell has. */
guint ws_bit_item_of(const WsBitCell *cell, guint reader);

G_END_DECLS
