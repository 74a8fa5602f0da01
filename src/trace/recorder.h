/* The recorder's plan: which operations of a program read the clock in a traced build, and where
 * their clocks lie in the record buffer. Generator and collector both read this plan and nothing
 * else, so a slot needs no tag.
 *
 * Per agent, every tree body (the SEQ of a loop, or a stretch outside loops) that holds recorded
 * operations is one *strip*. A strip reads the clock before its first recorded operation and after
 * each recorded operation (`before` only where unrecorded work lies between); loads issued one
 * right behind the other share a clock. The clocks of one round are kept in registers and written
 * as vectors of up to 16 bytes by one lane (the leader) into a line of the strip, at
 *     base + cta_slot * cta_bytes + strip.offset + line * strip.round_bytes
 * where line = (total - first_round) / every, `total` being the total variable of the strip's loop
 * (0 for strips outside loops); what lies outside [first_round, first_round + rounds) goes to the
 * last line, which nobody reads: a comparison less than a predicate per round. A word that still
 * holds the poison 0xffffffff was never written.
 *
 * Clocks fix the order of what stands around them: ptxas moves nothing across one. So in rounds
 * with products the clock of a wait stands right behind it, before reads of shared memory, which
 * count to the product; how the loop goes on is decided before the round's last clock
 * (codegen/nvptx/record.c); and a group of four words ends before arithmetic, so that no clock is
 * held in a register over it. Where one round in `every` is enough, the generator gives counted
 * loops a second body without clocks for the others, the timed build's own.
 *
 * Where CTAs claim their tiles, one agent writes the id of each tile it begins, by position, as 64
 * bits: no other number of the buffer tells which rounds a CTA had.
 *
 * In a short inner loop with an mma the words are written in the shadow of that mma, behind its
 * first instruction, when the agent has nothing to do but to issue: between two rounds a store
 * would cost what the tensor pipe then waits. Words read behind that point are *late*: they are
 * written a round later, into the next line. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

typedef struct {
    guint op; /* WsOp.index of the step's main operation */
    guint at; /* WsOp.index of the operation after which `after` is read: op itself, the commit of
                 an mma or store, the last box of a load; same SEQ as op */
    gint before; /* word of this strip's round that holds the clock before the op, -1 none: then the
                    nearest preceding point of the round whose word is not the poison serves; of the
                    first point the end of the agent's record before */
    gint after;  /* word that holds the clock after it */
    gboolean maybe; /* under a run-time branch: the word keeps the poison when it was not reached */
} WsRecordPoint;

typedef struct {
    guint agent;
    const WsTree *body; /* the SEQ whose direct (or branch-nested) operations are recorded */
    const WsTree *loop; /* its loop, NULL outside loops */
    guint kid0, kid1; /* the strip covers body->kid[kid0 .. kid1-1]: a body is cut where it holds a
                         nested loop, so that no clock stays in a register across that loop. Words
                         may be written as soon as their group of four is known, and all of them
                         (poison where not reached) by the end of kid[kid1-1]. */
    guint n_points;
    WsRecordPoint *point;
    guint words;       /* clocks per round, padded to a multiple of 4 */
    guint flush;       /* WsOp.index of the mma in whose shadow they are written; G_MAXUINT: four
                          at a time, as soon as they are known */
    guint late;        /* words from this one on are late; `words` where there is no flush */
    guint round_bytes; /* 4 * words */
    gint64 first_round, rounds;
    gint64 every;   /* rounds of its loop for one that is recorded, a power of two; 1: all are */
    gint64 phase;   /* those with total % every == phase */
    guint64 offset; /* in the CTA's part of the buffer */
} WsRecordStrip;

typedef struct {
    guint n_strips;
    WsRecordStrip *strip;
    guint64 cta_bytes; /* header of 64 bytes (words: smid, cta id, then 64-bit globaltimer start,
                          end and clock start, end), then the strips; multiple of 128 */
    const WsTree *claimed; /* the loop whose tiles are written, NULL: none are claimed */
    guint claimed_agent;   /* whose loop it is */
    guint64 claimed_offset;
    gint64 claimed_lines; /* of 8 bytes; the last takes the tiles that have no line */
    guint launches;       /* launches that take turns, each with other rounds; 1: one */
    gboolean rounds;      /* rounds of inner loops are recorded; FALSE: only what is outside them */
    guint n_ctas;         /* CTAs recorded: those whose id is in `cta` */
    guint *cta;
    guint n_ops;
    gint *by_op, *by_at; /* [2 * n_ops]: strip and point whose `op` (`at`) it is, -1 none */
} WsRecorder;

/* Which rounds of strips inside `count` loops, which of tile-level strips, which CTAs. */
typedef struct {
    gint64 first_round, rounds; /* totals of inner loops; 0 rounds: inner loops hold no clock */
    gint64 first_tile, tiles;
    guint n_ctas;
    const guint *cta;
    gint64 every;   /* of those rounds of inner loops one in so many: a power of two up to
                       WS_RECORD_MAX_EVERY; 0 and 1: all of them */
    guint launches; /* of 2 or more, `every` of them: launch i records the rounds of
                       ws_record_phase(), so that all together have every round */
    guint launch;   /* which of them; the code is one for all, its `phase` a parameter */
} WsRecordChoice;
#define WS_RECORD_MAX_EVERY    1024
#define WS_RECORD_MAX_LAUNCHES 64
gboolean ws_record_every_possible(gint64 every);
/* In `cta`: the first CTA of the launch's last cluster, which has a tile less than others where
 * tiles are dealt out and do not divide: a launch does not wait for what recording it costs. */
#define WS_RECORD_LAST_CTA 0x7fffffffu
guint ws_recorder_cta(const WsRecorder *r, guint i, gint64 grid, guint cluster); /* its id */
#define WS_RECORD_POISON       0xffffffffu
#define WS_RECORD_HEADER_BYTES 64
#define WS_RECORD_MAX_ROUNDS   (1 << 20) /* rounds and tiles of a choice are cut to this */

WsRecorder *ws_recorder_new(const WsProgram *p, const WsRecordChoice *choice);
void ws_recorder_free(WsRecorder *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsRecorder, ws_recorder_free)
/* Byte of a word of round `total` in the CTA's part, -1 if that round is not recorded. */
gint64 ws_recorder_at(const WsRecordStrip *strip, gint64 total, guint word);

/* Of the rounds of a strip those with total % every == ws_record_phase() are recorded. The total
 * runs on over tiles, so which rounds of a tile these are depends on how many it has. */
static inline gint64 ws_record_phase(gint64 every, guint launch)
{
    return (every / 2 + launch) % every;
}

/* Lines of a strip: the window's recorded rounds, one more for late words, one for all the rest. */
guint64 ws_recorder_lines(const WsRecordStrip *strip);

/* The point whose main operation is `op`, or NULL: if its `before` >= 0, read that clock before op.
 */
const WsRecordPoint *ws_recorder_point(const WsRecorder *r, const WsOp *op,
                                       const WsRecordStrip **strip);

/* The point whose `after` is to be read after `op`, or NULL. */
const WsRecordPoint *ws_recorder_after(const WsRecorder *r, const WsOp *op,
                                       const WsRecordStrip **strip);

G_END_DECLS
