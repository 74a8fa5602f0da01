/* A core that works by queues of instructions instead of warps: one stream of steps, of which each
 * goes to one queue. Queues run beside each other; flags and barriers alone order them. Tables of a
 * target's memory spaces, queues, moves and flags. Each row says where its figures are from, or
 * "assumed". */
#pragma once

#include "target/target.h"

G_BEGIN_DECLS

#define WS_CORE_TENSOR (-1) /* the space of tensors (global memory), as a side of a move */
#define WS_CORE_UNITS  8    /* queues of a core at most */

typedef struct {
    const char *name; /* "UB" */
    guint64 bytes;    /* of one core */
    guint align;      /* bytes: buffers begin at multiples of it */
    guint unit;       /* bytes: rows of a buffer are multiples of it */
    const char *source;
} WsTargetSpace;

typedef struct {
    const char *name; /* "MTE2" */
    const char
        *half; /* core that has it, where a core is split in two: "cube", "vector"; NULL: both */
    const char *what;
    gboolean drawn; /* steps go to it; FALSE: it issues only */
} WsTargetUnit;

/* From one space to another; WS_CORE_TENSOR is global memory. */
typedef struct {
    gint from, to;     /* index of a space */
    guint unit;        /* index of the queue */
    gboolean converts; /* f32 may become f16 or bf16 on the way */
    const char *source;
} WsTargetMove;

/* Flags from a queue to another that the hardware has. */
typedef struct {
    guint from, to;
} WsTargetFlags;

struct WsTargetCore {
    const WsTargetSpace *space;
    guint n_spaces;
    const WsTargetUnit *unit;
    guint n_units;
    const WsTargetMove *move;
    guint n_moves;
    const WsTargetFlags *flags;
    guint n_flags;
    guint ids; /* flags of each ordered pair of queues */
    const char *flags_source;
    guint vector, cube;       /* queues */
    guint work;               /* space of vector operands and results */
    guint left, right, sums;  /* spaces of a product's operands and its accumulator */
    const char *operations;   /* of the step `vector` */
    const char *vector_types; /* its element types */
};

gint ws_core_space(const WsTargetCore *core, const char *name); /* index, -1: there is none */
gint ws_core_unit(const WsTargetCore *core, const char *name);
/* The move between two spaces, NULL: the core has none. */
const WsTargetMove *ws_core_move(const WsTargetCore *core, gint from, gint to);
gboolean ws_core_has_flags(const WsTargetCore *core, guint from, guint to);
/* "UB", "tensor" */
const char *ws_core_space_name(const WsTargetCore *core, gint space);

G_END_DECLS
