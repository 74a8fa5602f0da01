/* Inside of the printer of Gluon for AMD: what it keeps beside the common state. */
#pragma once

#include "codegen/python/gluon/gluon.h"
#include "codegen/wave_roles.h"

G_BEGIN_DECLS

typedef struct {
    WsGluon base; /* what the parts of Gluon that serve both look at */
    WsWaveRoles roles;
    guint rows;   /* of the layout that values [rows, 1] follow; 0: there is none */
    GArray *mma;  /* guint: rows of the accumulator layouts in use */
    GArray *load; /* WsGamdLoad: layouts of loads in use */
} WsGamd;

typedef struct {
    guint rows, cols, bytes; /* of an element */
    guint pieces;            /* that rows are dealt to; 0: they follow each other */
    const char *name;        /* "256x32" */
} WsGamdLoad;

static inline WsGamd *ws_gamd(WsPy *y)
{
    return y->role;
}

/* --- amd_layout.c: where elements lie ---------------------------------------------------------*/
void ws_gamd_role_begin(WsPy *y);
char *ws_gamd_role_head(WsPy *y, const char *body);
const char *ws_gamd_mma_layout(WsPy *y, guint rows); /* "mma_256" */
/* Operand `index` of a product into accumulators of `rows` rows. */
const char *ws_gamd_operand_layout(WsPy *y, guint index, guint value, guint rows);
gboolean ws_gamd_is_operand(WsPy *y, guint value); /* it lies as an operand and is nothing else */
const char *ws_gamd_layout(WsPy *y, guint value);  /* NULL: a scalar, or refused */
const char *ws_gamd_shared_layout(WsPy *y, const WsBuffer *b);
/* The layout in which all warps load a tile, each half its rows; NULL: refused. */
const WsGamdLoad *ws_gamd_load_layout(WsPy *y, const WsOp *op, const WsBuffer *b);
const char *ws_gamd_fresh(WsPy *y, guint v);
const char *ws_gamd_full(WsPy *y, guint v, const char *x);
const char *ws_gamd_row_index(WsPy *y, guint rows, guint cols);
const char *ws_gamd_col_index(WsPy *y, guint rows, guint cols);
const char *ws_gamd_spread(WsPy *y, const char *x, WsPyShape shape, guint rows, guint cols);
const char *ws_gamd_reduce(WsPy *y, const char *what, const char *x, guint rows, guint cols);

/* --- amd_inside.c -----------------------------------------------------------------------------*/
/* 0 <= x and x + extent <= size in every round that comes to `op`, by the assumptions of the
 * design; x NULL: 0. FALSE: not shown. */
gboolean ws_gamd_inside(const WsPy *y, const WsOp *op, const WsExpr *x, gint64 extent,
                        const WsExpr *size);

/* --- amd_ops.c --------------------------------------------------------------------------------*/
void ws_gamd_op(WsPy *y, const WsOp *op);
void ws_gamd_block_around(WsPy *y, const WsTree *t, gboolean begin);

/* --- amd.c ------------------------------------------------------------------------------------*/
char *ws_gluon_amd(const WsProgram *p, gboolean remarks, WsPyPieces *pieces,
                   const WsPyNumbers *numbers, GError **error);

G_END_DECLS
