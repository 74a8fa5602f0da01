/* Inside codegen/reference*.c: the builder of reference functions. Nobody else includes this.
 *
 * Every statement becomes one function (ptr env, i64 index…) -> i64 or double. `env` is an array of
 * 64-bit slots: tensor addresses, sizes, scalars (double bits), then WS_REF_FLAGS and, on the host,
 * the address of the memo of helper values and the terms that sums may still have. */
#pragma once

#include "codegen/reference/reference.h"
#include "program/parts/dtype.h"

#include <llvm-c/Core.h>

typedef enum { REF_BOOL, REF_INT, REF_REAL } RefKind;
typedef struct {
    RefKind kind;
    LLVMValueRef v;
} RefValue;

/* Bits of the flags slot. */
enum { WS_REF_OUTSIDE = 1, WS_REF_DIVIDE = 2, WS_REF_LONG = 4, WS_REF_FAR = 8 };

typedef struct {
    const char *name;
    LLVMValueRef v;
} RefIndex;

/* What a reduction's body computes without its index. Either it was computed before the loop, or,
 * where the body may not come to it (a branch of a select), the first round that needs it stores
 * it: `known` and `value` are cells of the function, known is NULL for what is ready. */
typedef struct {
    RefValue ready;
    LLVMValueRef known, value;
} RefHoist;

typedef enum { REF_UNSEEN, REF_OPEN, REF_DONE } RefState;

typedef struct {
    LLVMValueRef fn;
    LLVMTypeRef type;
    RefKind kind;
    RefState kind_state, state;
    gint costly; /* -1 not known: holds a reduction, itself or through helpers */
} RefFunction;

typedef struct {
    const WsProgram *p;
    gboolean host;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMTypeRef i1, i8, i16, i32, i64, f32, f64, ptr, nothing;
    guint n_sizes, n_scalars;
    guint *slot; /* per variable: env slot, G_MAXUINT if none */
    guint flags_slot, memo_slot, terms_slot, n_slots;
    RefFunction *function; /* per statement */
    LLVMValueRef math[8];  /* exp2, log2, erf, … built on demand */
    LLVMTypeRef math_type;
    /* the function being built */
    guint statement;
    LLVMValueRef fn, env;
    GArray *scope;          /* RefIndex */
    GHashTable *hoisted;    /* WsExpr* -> RefHoist*, owned */
    GPtrArray *hoist_order; /* its keys in order of insertion: a loop forgets what it added */
    GError *error;          /* first failure; building goes on with zeros */
} RefBuilder;

RefBuilder *ws_ref_builder_new(const WsProgram *p, LLVMContextRef context, const char *module,
                               gboolean host);
void ws_ref_builder_free(RefBuilder *r); /* not the module, not the context */
void ws_ref_fail(RefBuilder *r, const char *format, ...) G_GNUC_PRINTF(2, 3);
void ws_ref_refuse(const RefBuilder *r, GError **error, const char *why); /* phrase */
/* The statement that defines `name`, -1 if none. */
gint ws_ref_find(const WsProgram *p, const char *name);
/* The size, scalar or run name `name`, -1 if none: all that a statement sees of the program. */
gint ws_ref_var(const WsProgram *p, const char *name);
/* Builds the function of a statement if need be. */
RefFunction *ws_ref_function(RefBuilder *r, guint statement);
RefKind ws_ref_kind(RefBuilder *r, const WsExpr *e);
RefKind ws_ref_statement_kind(RefBuilder *r, guint statement);

/* reference_expr.c */
RefValue ws_ref_emit(RefBuilder *r, const WsExpr *e);
/* The same, though `e` is hoisted. */
RefValue ws_ref_evaluate(RefBuilder *r, const WsExpr *e);
RefValue ws_ref_convert(RefBuilder *r, RefValue v, RefKind kind);
LLVMValueRef ws_ref_int(RefBuilder *r, gint64 value);
LLVMValueRef ws_ref_slot(RefBuilder *r, guint slot, LLVMTypeRef type);
LLVMValueRef ws_ref_slot_address(RefBuilder *r, guint slot);
/* Sets a flag bit in env where `condition` holds. */
void ws_ref_flag_if(RefBuilder *r, LLVMValueRef condition, guint bit);
LLVMBasicBlockRef ws_ref_block(RefBuilder *r, const char *name);
LLVMValueRef ws_ref_intrinsic(RefBuilder *r, const char *name, LLVMValueRef *arg, guint n);
const RefIndex *ws_ref_scope_find(RefBuilder *r, const char *name);

/* reference_reduce.c */
/* Leading arguments `index < bound` of a sum, min or max; 0 if the call is no reduction. */
guint ws_ref_reduction(RefBuilder *r, const WsExpr *e);
RefValue ws_ref_reduce(RefBuilder *r, const WsExpr *e, guint level);
RefValue ws_ref_element(RefBuilder *r, const WsExpr *e);
/* The value of a hoisted expression, where it is needed. */
RefValue ws_ref_hoisted(RefBuilder *r, const WsExpr *e, const RefHoist *h);

/* reference_math.c */
LLVMValueRef ws_ref_math(RefBuilder *r, WsFunc func, LLVMValueRef x);
/* Loads one stored element at a byte address and widens it: i64 or double. */
LLVMValueRef ws_ref_load(RefBuilder *r, WsDtype dtype, LLVMValueRef address);
