/* The design's `reference` compiled for the host: evaluates output elements in float64. The same
 * builder makes the sampled kernel of ws_generate_reference_ptx() (generate.h). */
#pragma once

#include "codegen/generate.h"

G_BEGIN_DECLS

typedef struct WsReference WsReference;

/* Terms of all sums, maxima and minima that one WsReference evaluates at most before it is
 * restarted: some seconds. */
#define WS_REFERENCE_TERMS ((gint64)1 << 31)

/* What the statements read. All arrays are in program order and borrowed. */
typedef struct {
    const void *const *tensor; /* base address of every tensor, laid out by the program's strides */
    const gint64 *size;        /* every WS_VAR_SIZE, in variable order */
    const double *scalar;      /* every WS_VAR_SCALAR, in variable order */
    const gint64 *pitch; /* of a mesh: bytes from each tensor of a device to that of the next one,
                            `tensor` being those of device 0; the number of devices behind them */
} WsReferenceInput;

/* Builds the reference of every output tensor (access write or reduce; the first index of a mesh
 * is the device); the first evaluation
 * compiles it. NULL with
 * WS_GENERATE_ERROR if there is no reference for one of them, or it has a problem
 * (ws_formula_problem); the message names the statement. */
WsReference *ws_reference_new(const WsProgram *p, GError **error);
void ws_reference_free(WsReference *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsReference, ws_reference_free)
/* FALSE where all `n` elements of `tensor` would add up far more terms than may be, told from a few
 * of them: so that nobody runs a kernel for hours before an evaluation says so. TRUE also where one
 * of these has another problem, which the evaluation tells. Terms are counted from zero again. */
gboolean ws_reference_bounded(WsReference *r, guint tensor, const WsReferenceInput *input, gint64 n,
                              GError **error);
/* Its terms are counted from zero again. */
void ws_reference_restart(WsReference *r);
/* From here on it adds up at most so many terms, no more than WS_REFERENCE_TERMS; how many are left
 * of them: 0 also where an evaluation failed because they did not suffice. */
void ws_reference_limit(WsReference *r, gint64 terms);
gint64 ws_reference_left(const WsReference *r);
/* What it computes, as LLVM: two references of the same text have the same values for the same
 * input. Borrowed. NULL if it was evaluated before anyone asked. */
const char *ws_reference_text(WsReference *r);

/* Evaluates `n` elements of output `tensor` into `out`: the flat logical indices (last dimension
 * fastest) in `flat`, or first, first + 1, … if `flat` is NULL. Fails if a statement reads a tensor
 * outside its shape, divides by zero, or adds up more than WS_REFERENCE_TERMS. */
gboolean ws_reference_eval(WsReference *r, guint tensor, const WsReferenceInput *input,
                           const gint64 *flat, gint64 first, gint64 n, double *out, GError **error);

G_END_DECLS
