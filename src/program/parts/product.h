/* What a matrix product multiplies, and the descriptors of its operands. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"
#include "program/parts/dtype.h"

G_BEGIN_DECLS

/* Shared-memory operand of a wgmma (kernels: descriptor fields; all in bytes). The start address of
 * m-atom i (64 rows; only operand a), k-step j is: stage base + start + i*atom_step + k_offset[j].
 */
struct WsMmaOperand {
    gboolean in_registers; /* operand a from a value: value[1] of the operation */
    gint64 start; /* byte offset of the view in the stage, -1: see the access's row0/col0 */
    guint leading, stride; /* LBO, SBO */
    guint swizzle;         /* 128, 64, 32, 0 */
    guint atom_step;
    gboolean transposed; /* MN-major */
    guint n_k;
    guint *k_offset; /* [n_k] */
};

struct WsMma {
    WsDtype a_type, b_type, acc_type;
    guint m, n, k; /* of the whole step, elements */
    guint inst_k;  /* 16 (16 bit), 32 (8 bit), 8 (tf32): instruction m64 n inst_k; on gfx950
                      ws_target_product_k() */
    guint atoms;   /* m / 64; on gfx950 m / mma_rows of the agent */
    WsMmaOperand a, b;
    WsExpr *first; /* nonzero: accumulator starts at 0 with this step */
};

G_END_DECLS
