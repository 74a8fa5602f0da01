/* Inside codegen/reference*.c: the builder of reference functions. Nobody else includes this.
 *
 * Every statement becomes one function (ptr env, i64 index…) -> i64 or double. `env` is an array of
 * 64-bit slots: tensor addresses, sizes, scalars (double bits), of a mesh the bytes from each tensor
 * of one device to that of the next and the number of devices, then WS_REF_FLAGS and, on the host, the address of the memo of
 * helper values and the terms that sums may still have. */
#pragma once

#include "codegen/reference/reference.h"
#include "program/formula.h"
#include "program/parts/dtype.h"

#include <llvm-c/Core.h>

typedef struct {
    WsFormulaKind kind;
    LLVMValueRef v;
} RefValue;

/* Bits of the flags slot. */
enum { WS_REF_OUTSIDE = 1, WS_REF_DIVIDE = 2, WS_REF_LONG = 4, WS_REF_FAR = 8 };

/* What a reduction's body computes without its index. Either it was computed before the loop, or,
 * where the body may not come to it (a branch of a select), the first round that needs it stores
 * it: `known` and `value` are cells of the function, known is NULL for what is ready. */
typedef struct {
    RefValue ready;
    LLVMValueRef known, value;
} RefHoist;

typedef struct {
    LLVMValueRef fn;
    LLVMTypeRef type;
    WsFormulaKind kind;
} RefFunction;

typedef struct {
    const WsProgram *p;
    gboolean host, amd; /* neither: NVPTX */
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMTypeRef i1, i8, i16, i32, i64, f32, f64, ptr, nothing;
    guint n_sizes, n_scalars;
    guint *slot; /* per variable: env slot, G_MAXUINT if none */
    guint pitch_slot, n_pitches; /* of a mesh: of each tensor, and the devices; else none */
    guint flags_slot, memo_slot, terms_slot, n_slots;
    RefFunction *function; /* per statement; fn NULL before it is built */
    LLVMValueRef math[8];  /* exp2, log2, erf, … built on demand */
    LLVMTypeRef math_type;
    /* the function being built */
    LLVMValueRef fn, env;
    GPtrArray *scope;       /* LLVMValueRef: the indices by their number */
    GHashTable *hoisted;    /* WsFormula* -> RefHoist*, owned */
    GPtrArray *hoist_order; /* its keys in order of insertion: a loop forgets what it added */
} RefBuilder;

RefBuilder *ws_ref_builder_new(const WsProgram *p, LLVMContextRef context, const char *module,
                               gboolean host);
void ws_ref_builder_free(RefBuilder *r); /* not the module, not the context */
/* Builds the function of a statement if need be. */
RefFunction *ws_ref_function(RefBuilder *r, guint statement);

/* expr.c */
RefValue ws_ref_emit(RefBuilder *r, const WsFormula *e);
/* The same, though `e` is hoisted. */
RefValue ws_ref_evaluate(RefBuilder *r, const WsFormula *e);
RefValue ws_ref_convert(RefBuilder *r, RefValue v, WsFormulaKind kind);
LLVMValueRef ws_ref_int(RefBuilder *r, gint64 value);
LLVMValueRef ws_ref_slot(RefBuilder *r, guint slot, LLVMTypeRef type);
LLVMValueRef ws_ref_slot_address(RefBuilder *r, guint slot);
/* Sets a flag bit in env where `condition` holds. */
void ws_ref_flag_if(RefBuilder *r, LLVMValueRef condition, guint bit);
/* Memory of the function that is being built, where the builder stands. */
LLVMValueRef ws_ref_memory(RefBuilder *r, LLVMTypeRef type, const char *name);
LLVMBasicBlockRef ws_ref_block(RefBuilder *r, const char *name);
LLVMValueRef ws_ref_intrinsic(RefBuilder *r, const char *name, LLVMValueRef *arg, guint n);

/* reduce.c */
RefValue ws_ref_reduce(RefBuilder *r, const WsFormula *e, guint level);
RefValue ws_ref_element(RefBuilder *r, const WsFormula *e);
/* The value of a hoisted expression, where it is needed. */
RefValue ws_ref_hoisted(RefBuilder *r, const WsFormula *e, const RefHoist *h);

/* math.c */
LLVMValueRef ws_ref_math(RefBuilder *r, WsFunc func, LLVMValueRef x);
/* Loads one stored element at a byte address and widens it: i64 or double. */
LLVMValueRef ws_ref_load(RefBuilder *r, WsDtype dtype, LLVMValueRef address);
