/* Registers of products in flight, read off PTX text alone: it shares nothing with the generator.
 * PTX ISA, wgmma.mma_async: between the product and the wgmma.wait_group that completes its group,
 * its accumulator registers may be touched by nothing but products, and the registers of its
 * operand a may be written by nobody. Followed over all branches of the text; a branch goes both
 * ways. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
    guint products, waits; /* instructions of the text */
    GPtrArray *violation;  /* char*: "instruction: what", each once */
} PtxFlow;

PtxFlow ptx_flow(const char *ptx);
void ptx_flow_clear(PtxFlow *f);

G_END_DECLS
