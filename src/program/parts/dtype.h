/* Element types, a row of dtype.def each. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
#define WS_DTYPE(id, text, bytes, real) WS_DTYPE_##id,
#include "program/dtype.def"
#undef WS_DTYPE
    WS_DTYPE_COUNT
} WsDtype;
const char *ws_dtype_text(WsDtype t);
guint ws_dtype_bytes(WsDtype t);
gboolean ws_dtype_real(WsDtype t); /* a float */

G_END_DECLS
