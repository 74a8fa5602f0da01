/* Inside of codegen/amdgpu: the state of one lowering of a program whose group is two halves that
 * run one code (LANGUAGE section 19). One code is made of the two agents: what they do alike is
 * emitted once, numbers that differ are chosen by the half, and barriers that one half joins alone
 * stand under a scalar branch. */
#pragma once

#include "codegen/nvptx/emit.h"
#include "program/parts/dtype.h"

G_BEGIN_DECLS

#define WS_AMD_LANES 64 /* of a wave */
/* What lies outside of a buffer reads as 0 and is not written. */
#define WS_AMD_OUTSIDE 0x80000000u
#define WS_AMD_RECORDS 0x7fffffff
#define WS_AMD_RSRC    0x27000 /* word 3: 32-bit data format, as the HIP headers set it */

/* How a thread of a wave holds a tile, where a matrix instruction has R rows (16 or 32) and G =
 * 64/R lanes share a row: row `lane % R` of each block of R rows, and of the columns, with g = lane
 * / R, FOUR: 4 g + 0..3 of each 4 G (what a matrix instruction leaves); EIGHT: 8 g + 0..7 of each 8
 * G (16 bytes in a row: 16-bit operands that are read); SIXTEEN: 16 g + 0..15 of each 16 G (the
 * same of 8-bit ones). */
typedef enum { WS_AMD_FOUR, WS_AMD_EIGHT, WS_AMD_SIXTEEN } WsAmdOrder;
typedef enum { WS_AMD_UNUSED, WS_AMD_TILE, WS_AMD_ROWS, WS_AMD_ONE } WsAmdShape;
/* Which waves of a half hold which rows and columns of it. */
typedef enum {
    WS_AMD_BY_M, /* rows shared out as those of the accumulators, all columns */
    WS_AMD_BY_N, /* operand b: rows shared out as columns of the accumulators are */
    WS_AMD_BY_MN /* accumulators */
} WsAmdShare;

typedef struct {
    WsAmdShape shape;
    WsAmdShare share;
    WsAmdOrder order;
    guint bytes;        /* of an element */
    guint rows, cols;   /* that a wave holds */
    guint blocks, cuts; /* cells: blocks of rows of an instruction, times cuts of columns */
    guint words;        /* of a cell: what one instruction takes or leaves */
    LLVMTypeRef type;   /* of a cell: <n x float>, <n x i32>; float for ROWS and ONE */
    LLVMValueRef *cell;
} WsAmdValue;

typedef struct {
    const WsTree *lower, *upper; /* NULL: the other half has nothing there */
} WsAmdPair;

typedef struct WsAmd {
    gint *twin;
    GHashTable *pairs;   /* WsTree SEQ of the lower half -> GArray of WsAmdPair */
    const WsOp **other;  /* by index of an operation of the lower half: the upper half's */
    const WsOp *partner; /* of the one that is being emitted */
    guint waves_m, waves_n;
    guint block, groups; /* rows of a matrix instruction; lanes that share one */
    WsAmdValue *value;
    LLVMValueRef is_upper; /* i1, uniform */
    LLVMValueRef wave;     /* i32, uniform: of the half */
    LLVMValueRef wave_m, wave_n;
    LLVMValueRef lane_row, lane_group;     /* lane % block, lane / block */
    LLVMValueRef scratch[3];               /* host: a sum, operands b and a of a product */
    LLVMValueRef lds;                      /* device: the global that is all of shared memory */
    LLVMValueRef scope_loads, scope_reads; /* lists of alias scopes, as values */
} WsAmd;

/* --- kind.c -----------------------------------------------------------------------------------*/
extern const WsEmitKind ws_amd_kind;

/* --- intrinsic.c ------------------------------------------------------------------------------*/
/* A call of an intrinsic that is overloaded on `n_types` types. */
LLVMValueRef ws_amd_call(WsEmit *e, const char *name, guint n_types, LLVMTypeRef *type, guint n,
                         LLVMValueRef *arg);
LLVMValueRef ws_amd_prim(WsEmit *e, WsPrim id, LLVMValueRef *arg);
LLVMTypeRef ws_amd_vector(LLVMTypeRef element, guint n);
LLVMValueRef ws_amd_element(WsEmit *e, LLVMValueRef vector, guint i);
LLVMValueRef ws_amd_with(WsEmit *e, LLVMValueRef vector, guint i, LLVMValueRef x);
LLVMValueRef ws_amd_uniform(WsEmit *e, LLVMValueRef v); /* the same in all lanes of a wave */

/* --- pair.c -----------------------------------------------------------------------------------*/
/* FALSE and e->error where the halves run codes that cannot be one. */
gboolean ws_amd_pair(WsEmit *e);
/* Both stand for one integer, whichever half computes it. */
gboolean ws_amd_same(const WsEmit *e, const WsExpr *lower, const WsExpr *upper);
/* The integer of this wave's half. */
LLVMValueRef ws_amd_i32(WsEmit *e, const WsExpr *lower, const WsExpr *upper);

/* --- layout.c ---------------------------------------------------------------------------------*/
gboolean ws_amd_layout(WsEmit *e); /* FALSE and e->error */
void ws_amd_layout_clear(WsEmit *e);
/* The whole of a value of the agent; NULL and e->error where a part of one is meant. */
WsAmdValue *ws_amd_value(WsEmit *e, const WsOp *op, guint i);
LLVMValueRef ws_amd_get(WsEmit *e, const WsAmdValue *v, guint block, guint cut);
void ws_amd_set(WsEmit *e, const WsAmdValue *v, guint block, guint cut, LLVMValueRef x);
/* Row and column of what a thread holds, counted in the value of the half: of row block `block`;
 * and of run `run` of neighbouring columns. */
LLVMValueRef ws_amd_row(WsEmit *e, const WsAmdValue *v, guint block);
LLVMValueRef ws_amd_col(WsEmit *e, const WsAmdValue *v, guint run);
guint ws_amd_run(const WsAmdValue *v);                   /* its columns: 4, 8 or 16 */
guint ws_amd_run_words(const WsAmdValue *v);             /* 32-bit words that hold them */
guint ws_amd_runs(const WsEmit *e, const WsAmdValue *v); /* of a row */

/* --- math.c: hooks of compute steps -----------------------------------------------------------*/
void ws_amd_math(WsEmit *e, const WsOp *op);
LLVMValueRef ws_amd_math_element(WsEmit *e, guint value, guint r, guint c);
void ws_amd_math_assign(WsEmit *e, guint value, LLVMValueRef *made);
LLVMValueRef ws_amd_math_column(WsEmit *e, guint c);
void ws_amd_math_across(WsEmit *e, LLVMValueRef bits, guint i, LLVMValueRef out[2]);

/* --- place.c: where a tile lies in a tensor ---------------------------------------------------*/
typedef struct {
    LLVMValueRef base;       /* i64: address of its first element */
    LLVMValueRef row0, col0; /* i32 */
    LLVMValueRef rows, cols; /* i32: extents of the tensor there */
    LLVMValueRef row_bytes;  /* i32: from row to row */
    LLVMValueRef inside;     /* i1: the other coordinates are in the tensor; NULL: there are none */
    LLVMValueRef rsrc;       /* device: buffer of `base` */
    guint bytes;             /* of an element */
    guint run;               /* neighbouring columns that are in the tensor together */
} WsAmdPlace;
gboolean ws_amd_place(WsEmit *e, const WsOp *op, WsAmdPlace *place);
/* Whether an element of row and column of the tile lies in the tensor, and how many bytes behind
 * the first. */
LLVMValueRef ws_amd_inside(WsEmit *e, const WsAmdPlace *p, LLVMValueRef row, LLVMValueRef col);
LLVMValueRef ws_amd_offset(WsEmit *e, const WsAmdPlace *p, LLVMValueRef row, LLVMValueRef col);
/* A power of two that divides it, by the assumptions of the design, too. */
guint ws_amd_alignment(const WsProgram *p, const WsExpr *x);

/* --- operations -------------------------------------------------------------------------------*/
void ws_amd_load(WsEmit *e, const WsOp *op);
void ws_amd_read(WsEmit *e, const WsOp *op);
void ws_amd_mfma(WsEmit *e, const WsOp *op);
void ws_amd_global_load(WsEmit *e, const WsOp *op);
void ws_amd_global_store(WsEmit *e, const WsOp *op);
/* Loads into registers are done before what follows. */
void ws_amd_settle(WsEmit *e);
void ws_amd_wait(WsEmit *e, const WsOp *op);
void ws_amd_barrier(WsEmit *e, const WsOp *op);
void ws_amd_priority(WsEmit *e, const WsOp *op);
/* Nothing but arithmetic is moved over this place (mask 0: nothing at all). */
void ws_amd_schedule(WsEmit *e, guint mask);
#define WS_AMD_ARITHMETIC 0xf
/* Instructions that a load of so many bytes takes of each wave; 0: they do not come out even. */
guint ws_amd_load_instructions(const WsEmit *e, gint64 bytes);
/* Pointer to shared memory, and the scopes that tell loads from reads. */
LLVMValueRef ws_amd_shared(WsEmit *e, LLVMValueRef offset);
void ws_amd_mark_load(WsEmit *e, LLVMValueRef instruction);
void ws_amd_mark_read(WsEmit *e, LLVMValueRef instruction);
/* "step …: not supported by generate: why; remedy". */
void ws_amd_refuse(WsEmit *e, const WsOp *op, const char *why, const char *remedy);

G_END_DECLS
