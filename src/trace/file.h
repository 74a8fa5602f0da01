/* Layout of a .wtrace file, version 6. Everything is little endian; text is UTF-8, NUL-terminated,
 * in one string section and named by its offset there (0xffffffff: none).
 *
 *   header, 288 bytes (240 in version 1, which has no claims; 256 without begins; 272
 *   without what let awaits go; 288 without launches)
 *     0 magic "wstrace\0"      8 u32 version      12 u32 header bytes   16 u64 file bytes
 *    24 u64 checksum over everything from byte 32 on
 *    32 u32 origin            36 u32 n_set        40 f64 overhead       48 f64 round cost
 *    56 f64 tensor busy       64 f64 TMA busy     72 i64 cycles         80 i64 grid
 *    88 u32 design text       92 u32 design hash  96 u32 device        100 u32 note
 *   104 u32 bound            108 u32 rounds of inner loops for one recorded (0 before version 3)
 *   112 twelve sections, each u64 offset, u64 count, in the order of WsFileSection
 *   sections, each at a multiple of 8
 *     strings 1 byte; sizes 16 (u32 name, u32 zero, i64 value); operations 16 (u32 step id,
 *     u32 label, u32 loop path, u32 kind's name); agents 8 (u32 name, u32 zero);
 *     CTAs 24 (u32 id, u32 sm, i64 cycles, f64 GHz);
 *     lanes 40 (u32 cta, u32 agent, u64 first, n, first_span, n_span); spans 16 (i64 start, end);
 *     records 40 (u32 op, u16 agent, u16 cta, i32 tile, i32 round, i64 start, issued, done);
 *     claims 8 (u32 cta, u32 tile), by CTA; those of a CTA in the order of its claims;
 *     begins 8 (i64 ns), one for each CTA or none;
 *     let go 32, of an await and of the notify that let it go (u32 cta, agent, op, i32 round,
 *     twice); launches 8, those that it is merged from (u32 phase, i32 tiles: trace.h) or none
 * A trace of one launch is written as version 5, without what let awaits go as version 4, without
 * begins, too, as version 3, with all rounds as version 2, and without claims, too, as version 1,
 * which older readers know. */
#pragma once

#include "trace/trace.h"

#define WS_FILE_MAGIC   "wstrace"
#define WS_FILE_VERSION 6
#define WS_FILE_NONE    0xffffffffu

typedef enum {
    WS_FILE_STRINGS,
    WS_FILE_SIZES,
    WS_FILE_OPS,
    WS_FILE_AGENTS,
    WS_FILE_CTAS,
    WS_FILE_LANES,
    WS_FILE_SPANS,
    WS_FILE_RECORDS,
    WS_FILE_CLAIMS,
    WS_FILE_BEGINS,
    WS_FILE_LET_GO,
    WS_FILE_LAUNCHES,
    WS_FILE_SECTIONS
} WsFileSection;
/* Sections of a version, and the bytes of its header. */
#define WS_FILE_SECTIONS_OF(version)                                                               \
    ((version) > 5   ? WS_FILE_SECTIONS                                                            \
     : (version) > 4 ? WS_FILE_LAUNCHES                                                            \
     : (version) > 3 ? WS_FILE_LET_GO                                                              \
     : (version) > 1 ? WS_FILE_BEGINS                                                              \
                     : WS_FILE_CLAIMS)
#define WS_FILE_HEADER_OF(version) (112 + 16 * WS_FILE_SECTIONS_OF(version))

extern const guint8 ws_file_entry_bytes[WS_FILE_SECTIONS];

G_STATIC_ASSERT(sizeof(WsTraceRecord) == 40);
G_STATIC_ASSERT(sizeof(WsTraceSpan) == 16);
G_STATIC_ASSERT(sizeof(WsTraceLane) == 40);
G_STATIC_ASSERT(sizeof(WsTraceCta) == 24);
G_STATIC_ASSERT(WS_FILE_HEADER_OF(1) == 240 && WS_FILE_HEADER_OF(3) == 256 &&
                WS_FILE_HEADER_OF(4) == 272 && WS_FILE_HEADER_OF(5) == 288 &&
                WS_FILE_HEADER_OF(6) == 304);

/* FNV-1a over 8-byte words (the last one zero-filled): finds damage, is no signature. */
#define WS_FILE_HASH_START G_GUINT64_CONSTANT(0xcbf29ce484222325)
static inline guint64 ws_file_hash(guint64 h, guint64 word)
{
    h = (h ^ word) * G_GUINT64_CONSTANT(0x100000001b3);
    return h ^ h >> 29;
}
guint64 ws_file_checksum(const guint8 *data, gsize length);
