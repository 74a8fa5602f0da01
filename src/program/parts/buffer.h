/* Shared memory: buffers, their stages, and the bytes of a view. */
#pragma once

#include "program/forward.h"
#include "program/parts/dtype.h"

G_BEGIN_DECLS

#define WS_PIECE 1024 /* bytes that one instruction of a wave loads straight to the LDS */

struct WsBuffer {
    char *name;
    WsDtype dtype;
    guint rank;       /* 1 or 2 */
    guint rows, cols; /* of one stage; rank 1 [n]: rows = 1, cols = n */
    guint array;      /* copies; 1 if not an array */
    gboolean is_array;
    guint stages;
    char *stages_name; /* of the constant that says how many, NULL without; for people */
    guint swizzle;     /* bytes of the span: 128, 64, 32, 0 */
    guint pad;         /* bytes added to each row */
    guint gap;         /* bytes free behind each piece (WS_PIECE bytes); 0: there are no pieces */
    guint share;       /* rows that one load fills, dealt to `pieces` pieces in turn */
    guint pieces;
    guint chunk_cols;  /* columns of one chunk: span / bytes(dtype); = cols without swizzle */
    guint row_bytes;   /* bytes between rows inside a chunk (span, or row length + pad) */
    guint chunk_bytes; /* bytes between chunks: rows * row_bytes */
    guint64 stage_bytes, stage_pitch, array_pitch;
    guint64 offset; /* of element 0, stage 0 in dynamic shared memory */
    guint64 bytes;  /* whole buffer */
    guint align;
    gint over;  /* buffer it lies over, -1 none */
    gint space; /* of a core (target/core.h): index; -1: shared memory */
    gboolean k_permuted;
};

struct WsRange {
    guint64 offset, bytes;
};
/* Byte ranges of rows [row0, row0+rows) x columns [col0, col0+cols) of one stage, relative to the
 * start of that stage, ascending, merged. Returns their number; fills at most `max`. */
guint ws_buffer_ranges(const WsBuffer *b, guint row0, guint rows, guint col0, guint cols,
                       WsRange *out, guint max);
/* Byte offset of element (row, col) within a stage before the swizzle XOR is applied. */
guint64 ws_buffer_offset(const WsBuffer *b, guint row, guint col);
/* Where it lies, the swizzle applied, of a stage that begins at byte `base`. */
guint64 ws_buffer_place(const WsProgram *p, const WsBuffer *b, guint64 base, guint row, guint col);

G_END_DECLS
