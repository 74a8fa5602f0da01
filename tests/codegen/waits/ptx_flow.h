/* Registers of products in flight, read off PTX text alone: it shares nothing with the generator.
 * PTX ISA, wgmma.wait_group: between the product and the wait that completes its group its
 * accumulator registers and those of its operand a are touched by nothing but products, be it to
 * read. Followed over all branches of the text; a branch goes both ways.
 *
 * Shared memory likewise, for a kernel of one group whose steps are known (id -> bits, one for each
 * buffer that it touches): what a bulk store reads is not written before its group is waited for,
 * what a copy or a load fills is not touched before its group or some mbarrier is. Of a buffer with
 * stages the newest groups may be in flight: `late` has the ages that may not (bit 0 the open
 * group, bit i the i-th newest). The way of the thread that issues and waits is followed. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
    guint products, waits; /* instructions of the text */
    GPtrArray *violation;  /* char*: "instruction: what", each once */
} PtxFlow;

PtxFlow ptx_flow(const char *ptx, GHashTable *buffers, const guint32 *late);
void ptx_flow_clear(PtxFlow *f);

G_END_DECLS
