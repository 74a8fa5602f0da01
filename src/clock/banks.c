/* Reads of the LDS of gfx950 whose lanes meet in a bank: 64 banks of 4 bytes (CDNA 4 ISA, LDS).
 * Assumed: lanes go in their order, as many together as the unit serves bytes in a cycle; those
 * that need different words of one bank go one after the other. */
#include "clock/play.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

#define BANKS   64
#define WORD    4
#define LANES   64
#define TURNED  16 /* lanes that read together, transposed */
#define IN_TURN 8  /* rows of them that a lane has, 16-bit elements */

/* Cycles that lanes `first` to `end` take of the unit: the most words that one bank has to give. */
static guint words_of_a_bank(const guint64 *at, guint first, guint end, guint bytes)
{
    guint64 word[BANKS][LANES];
    guint n[BANKS] = { 0 }, most = 1;
    for (guint lane = first; lane < end; lane++)
        for (guint64 w = at[lane] / WORD; w < (at[lane] + bytes) / WORD; w++) {
            guint *k = &n[w % BANKS], i = 0;
            while (i < *k && word[w % BANKS][i] != w)
                i++;
            if (i == *k && *k < LANES)
                word[w % BANKS][(*k)++] = w;
            most = MAX(most, *k);
        }
    return most;
}

double ws_clock_bank_turns(const WsProgram *p, const WsMachine *m, const WsOp *op)
{
    const WsAccess *a = op->n_access ? &op->access[0] : NULL;
    const WsBuffer *b = a ? &p->buffer[a->buffer] : NULL;
    if (!b || b->rank != 2 || op->agent < 0)
        return 1;
    const guint element = ws_dtype_bytes(b->dtype), rows = MAX(p->agent[op->agent].mma_rows, 1);
    const guint bytes = a->transposed ? 8 : 16;
    guint64 at[LANES];
    for (guint lane = 0; lane < LANES; lane++) {
        guint row = lane % rows, col = lane / rows * (bytes / element);
        if (a->transposed) {
            row = lane / rows * IN_TURN + lane % TURNED / 4;
            col = lane % rows / TURNED * TURNED + lane % 4 * (bytes / element);
        }
        if (row >= b->rows || col >= b->cols)
            return 1;
        at[lane] = ws_buffer_place(p, b, 0, row, col);
    }
    const guint together = CLAMP((guint)(m->value[WS_MACHINE_SMEM_BYTES] / bytes), 1, LANES);
    guint turns = 0, groups = 0;
    for (guint first = 0; first < LANES; first += together, groups++)
        turns += words_of_a_bank(at, first, MIN(first + together, LANES), bytes);
    return (double)turns / groups;
}
