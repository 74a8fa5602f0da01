/* Variables of program expressions: WS_EXPR_VAR leaves index WsProgram.var. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

typedef enum {
    WS_VAR_SIZE,    /* run-time integer, kernel argument */
    WS_VAR_SCALAR,  /* run-time f32, kernel argument */
    WS_VAR_RUN,     /* one value per launch: `value` */
    WS_VAR_AXIS,    /* coordinate of the current tile along axis `axis` */
    WS_VAR_TILE,    /* one value per tile: `value` */
    WS_VAR_INDEX,   /* index of loop `loop` of agent `agent` */
    WS_VAR_TOTAL,   /* rounds completed over all loops of that name of the agent */
    WS_VAR_COUNTER, /* counter of an agent */
    WS_VAR_LET,     /* `let` step of an agent: set by a WS_OP_LET */
    WS_VAR_CTA,     /* rank of this CTA in its cluster */
    WS_VAR_ROW,     /* `row` in gather coordinates and statements */
    WS_VAR_COL,
} WsVarKind;

struct WsVar {
    WsVarKind kind;
    char *name;           /* "K", "tm", "k", "k.total", "ring" */
    gint agent;           /* INDEX, TOTAL, COUNTER, LET: owner; -1 otherwise */
    gint axis;            /* AXIS */
    gboolean real;        /* SCALAR, RUN of kind f32 */
    WsExpr *value;        /* RUN, TILE: definition over other variables; COUNTER: start */
    const WsArray *array; /* RUN, real: `value` as nodes; NULL: no code can be made of it */
    gint64 preset;        /* SIZE: default size */
    gint64 rehearse;      /* SIZE: size used by rehearsal and tests */
    double preset_real;   /* SCALAR */
};

G_END_DECLS
