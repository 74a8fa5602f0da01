/* Where the elements of a register value lie: which register (and part of it) of which thread holds
 * which row and column (LANGUAGE section 10). The one place that knows the layouts; everything that
 * reads or writes values element by element goes through it. */
#pragma once

#include "codegen/nvptx/emit.h"
#include "program/parts/dtype.h"

G_BEGIN_DECLS

typedef enum {
    WS_FRAGMENT_TILE,    /* [R, C], accumulator layout */
    WS_FRAGMENT_ROWS,    /* [R, 1]: replicated over the quad */
    WS_FRAGMENT_PARTIAL, /* [R, 4] */
    WS_FRAGMENT_COLUMNS, /* [1, C]: replicated over rows and warps */
    WS_FRAGMENT_SCALAR,  /* [1, 1] */
    WS_FRAGMENT_LINEAR,  /* element i in thread i mod threads */
} WsFragmentShape;

/* A view of a value as this thread holds it. Element i (0..n-1) lies at row `row` + its constant
 * row, column `col` + its constant column, counted from the start of the view. */
typedef struct {
    WsFragmentShape shape;
    const WsRegValue *v;
    guint value;
    guint row0, col0, rows, cols; /* of the view in the value */
    guint n;
    LLVMValueRef row, col; /* lane parts; NULL: 0. LINEAR: see ws_fragment_place */
    LLVMValueRef owner;    /* this thread is the one that writes its elements; NULL: always */
} WsFragment;

typedef struct {
    guint reg, part; /* part: which of the packed elements of the register, 0 = lowest bits */
    guint row, col;  /* constant parts */
} WsElement;

typedef struct {
    LLVMValueRef row, col; /* i32, from the start of the view */
    LLVMValueRef there;    /* i1: the thread holds such an element of the view; NULL: yes */
} WsFragmentPlace;

/* FALSE if the view has no such form (its start is not constant, or cuts through a fragment). */
gboolean ws_fragment(WsEmit *e, const WsValueUse *use, WsFragment *f);
/* The value `number` of an operation, 0 none, in step with `f`, its first, register by register.
 * FALSE: it is not. */
gboolean ws_fragment_beside(WsEmit *e, const WsOp *op, guint number, const WsFragment *f,
                            WsFragment *out);
WsElement ws_fragment_element(const WsFragment *f, guint i);
WsFragmentPlace ws_fragment_place(WsEmit *e, const WsFragment *f, guint i);
/* f32 for a float value, i32 for an integer one. */
LLVMValueRef ws_fragment_get(WsEmit *e, const WsFragment *f, guint i);
/* Rounds to the value's dtype. */
void ws_fragment_set(WsEmit *e, const WsFragment *f, guint i, LLVMValueRef x);
/* Elements i and i + 1 of a tile of 8-bit floats as they stand in 16 bits, not converted. */
void ws_fragment_set_pair(WsEmit *e, const WsFragment *f, guint i, LLVMValueRef bits);
/* As ws_fragment_set where `there` holds (NULL: everywhere). */
void ws_fragment_set_if(WsEmit *e, const WsFragment *f, guint i, LLVMValueRef x,
                        LLVMValueRef there);

/* --- convert.c: elements as their bits ---------------------------------------------------------*/
/* Bits in the low part of an i32 (above: anything) to f32 or i32, and back (above: zero). */
LLVMValueRef ws_widen(WsEmit *e, WsDtype t, LLVMValueRef bits);
/* Two 8-bit floats in the lower 16 bits, as f16. */
LLVMValueRef ws_widen_pair(WsEmit *e, WsDtype t, LLVMValueRef bits);
/* One of two 8-bit floats in the lower 16 bits: 0 the lower, 1 the upper. */
LLVMValueRef ws_widen_half(WsEmit *e, WsDtype t, LLVMValueRef bits, guint half);
LLVMValueRef ws_narrow(WsEmit *e, WsDtype t, LLVMValueRef x);
/* Two neighbours in one i32: 16-bit, `lo` in the low half; 8-bit: in the low 16 bits. */
LLVMValueRef ws_narrow_pair(WsEmit *e, WsDtype t, LLVMValueRef lo, LLVMValueRef hi);

/* --- spot.c: shared memory element by element --------------------------------------------------*/
/* The swizzle XORs bits 4.. of an address with bits 7.. : 3 bits for 128 bytes, 2 for 64, 1 for 32.
 * Stage, chunk and 8-row block begin at multiples of the pattern, so it may be applied to the part
 * of the address that depends on the lane; constants below the span are XORed in afterwards. */
LLVMValueRef ws_swizzled(WsEmit *e, const WsBuffer *b, LLVMValueRef offset);
/* Byte offset of an element in its stage, swizzled. */
/* plain: set to the offset without the swizzle, may be NULL */
LLVMValueRef ws_element_offset(WsEmit *e, const WsBuffer *b, LLVMValueRef row, LLVMValueRef col,
                               LLVMValueRef *plain);
void ws_spot_store(WsEmit *e, const WsOp *op);
void ws_spot_store_remote(WsEmit *e, const WsOp *op);
void ws_spot_load(WsEmit *e, const WsOp *op);
void ws_spot_ldmatrix(WsEmit *e, const WsOp *op);

/* --- quads.c: tiles whose columns nobody tells apart -------------------------------------------*/
/* Which values of the agent are such tiles; to be freed. */
gboolean *ws_quads(const WsProgram *p, const WsAgent *agent);
void ws_quads_move(WsEmit *e, const WsOp *op);

/* --- global.c: values to and from tensors ------------------------------------------------------*/
void ws_global_load(WsEmit *e, const WsOp *op);
void ws_global_store(WsEmit *e, const WsOp *op);
void ws_global_reduce(WsEmit *e, const WsOp *op);
/* Address (i64) of an element of a tensor and whether it lies inside (i1): coordinates are i32. */
LLVMValueRef ws_global_address(WsEmit *e, guint tensor, const LLVMValueRef *coord,
                               LLVMValueRef *inside);

/* --- copy.c ------------------------------------------------------------------------------------*/
void ws_bulk_copy(WsEmit *e, const WsOp *op);

/* --- gather.c ----------------------------------------------------------------------------------*/
void ws_gather_rows(WsEmit *e, const WsOp *op);
/* To be called where kid `i` of `seq`, a wait, is about to be emitted: reads which rows the gathers
 * behind it copy, so that the copies begin when the wait returns. Gives the number of the kid
 * before which e->looked_up has to be dropped, 0 if nothing was read. */
guint ws_gather_look_up(WsEmit *e, const WsTree *seq, guint i);
void ws_gather_arrive(WsEmit *e, const WsOp *op);
void ws_gather_commit(WsEmit *e, const WsOp *op);
void ws_gather_wait(WsEmit *e, const WsOp *op);

G_END_DECLS
