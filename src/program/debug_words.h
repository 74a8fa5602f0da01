/* Words of the buffer that builds with debug waits or a hold write (u32), shared by the generator
 * and the runner. Plain C. Header: the clock of a hold, whether a gate gave up. Then one record per
 * CTA and agent, at CTA * agents + agent; CTAs beyond the last that fits share its records. */
#pragma once

enum {
    WS_DEBUG_HEADER = 16, /* words before the records */
    WS_DEBUG_CLOCK = 1,   /* moves done */
    WS_DEBUG_GAVE_UP = 2, /* not 0: a gate went on after its time although its turn had not come */
    WS_DEBUG_RECORD = 16, /* words of one record: */
    WS_DEBUG_STATE = 0,
    WS_DEBUG_OP = 1, /* operation; above the shift how many rounds follow */
    WS_DEBUG_SLOT = 2,
    WS_DEBUG_PARITY = 3,
    WS_DEBUG_PENDING = 4,            /* arrivals that are missing, by mbarrier.pending_count: */
    WS_DEBUG_PENDING_MASK = 0xfffff, /* an H200 says 2^20 where none is, but bytes are */
    WS_DEBUG_ROUND = 8,    /* three words: rounds of the enclosing loops, outermost first */
    WS_DEBUG_COUNTER = 12, /* warps that have done the present move */
    WS_DEBUG_AGENTS = 1024,
    WS_DEBUG_WORDS = WS_DEBUG_HEADER + WS_DEBUG_RECORD * WS_DEBUG_AGENTS,
};
enum { WS_DEBUG_ROUNDS_SHIFT = 24, WS_DEBUG_TILE_ID = 1 << 28 }; /* the first round is a tile */
/* States of a record. */
enum {
    WS_DEBUG_RUNNING = 0,
    WS_DEBUG_MBARRIER = 1, /* has waited for longer than 2 s */
    WS_DEBUG_NAMED = 2,    /* went to a named or cluster barrier and has not come back */
    WS_DEBUG_DONE = 3,
};
