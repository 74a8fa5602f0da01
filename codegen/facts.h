/* What both generators read off the program before they write a line: judgements, no code. */
#pragma once

#include "codegen/interval.h"
#include "codegen/prim.h"
#include "codegen/sizes.h"
#include "program/op_kind.h"
#include "program/parts/dtype.h"
#include "program/parts/operation.h"

G_BEGIN_DECLS

/* A CTA cannot read a peer's shared memory (LANGUAGE section 18), so what a remote arrival releases
 * is storage whose reads are over; only memory outside the CTA can carry generic writes to a peer.
 */
gboolean ws_fact_publishes(const WsProgram *p);
/* Lanes read the shared memory of other CTAs. */
gboolean ws_fact_peeks(const WsProgram *p);
/* Phrase: why a raw step that an import left (WsOp.unread) is in no lens. */
extern const char ws_fact_unread[];
/* Primitive of an operation without operands. */
WsPrim ws_fact_plain(WsOpKind kind);
/* Primitive that reduces elements of this type into global memory; 0: there is none. */
WsPrim ws_fact_reduction(WsDtype t, WsReduce reduce);
/* The same of shared memory. */
WsPrim ws_fact_combination(WsDtype t, WsReduce reduce, gboolean old);
/* The named barrier in front of the arithmetic `op`, or behind it: it stays between them. */
gboolean ws_fact_before_named_barrier(const WsProgram *p, const WsOp *op);
gboolean ws_fact_barrier_before_math(const WsProgram *p, const WsOp *op);
/* The wait for products right in front of `arrive`, an arrival at a named barrier that arithmetic
 * follows; NULL: there is none. ptxas puts such an arrival behind all of the arithmetic, as nothing
 * hangs on it, and the group whose turn it is waits that long; it does not where the same wait
 * stands behind the arrival once more. */
const WsOp *ws_fact_wait_again(const WsProgram *p, const WsOp *arrive);
/* Operands a of matrix products: what defines them must stay behind the wait that retires the mma
 * which reads the registers, or ptxas runs all products one after another (C7513). */
gboolean ws_fact_feeds_mma(const WsProgram *p, const WsAgent *agent, guint value);
/* Which of the registers of value `v` belong to no product any more behind a wait for products:
 * [registers], or NULL for none. Caller frees. */
gboolean *ws_fact_freed(const WsProgram *p, const WsAgent *agent, const WsOp *wait, guint v);
/* The product begins at 0: what its accumulator holds before it is not read. */
typedef gboolean WsFactAnew(gpointer data, const WsOp *product);
/* Which of the registers of value `v` the products between `fence` and their commit read, and no
 * product in flight has: they are complete before the fence (PTX ISA, wgmma.fence). [registers], or
 * NULL for none. Caller frees. */
gboolean *ws_fact_fenced(const WsProgram *p, const WsAgent *agent, const WsOp *fence, guint v,
                         WsFactAnew *anew, gpointer data);
/* Products accumulate into the value, and paths meet of which one has it in flight. */
gboolean ws_fact_meets_in_flight(const WsProgram *p, const WsAgent *agent, guint value);
/* What `op` leaves in the value is what a product adds to, on some path. */
gboolean ws_fact_begins_sum(const WsOp *op, guint value);
/* A partial sum of 8-bit products that is begun anew in every round (promotion), in a group that
 * has no registers for it twice. To ptxas a product that begins at 0 makes a new value: it moves
 * what still reads the last one behind it, and where that does not fit, spills (784 bytes with 64 +
 * 128 accumulators at 240 registers). So whether it begins at 0 is a value that nobody can know. */
gboolean ws_fact_sum_stays(const WsAgent *agent, const WsOp *product);
/* With such a product in front: sums of accumulators stay there, they do not sink behind it with a
 * copy of the partial sum. */
gboolean ws_fact_sum_before(const WsAgent *agent, const WsOp *product, guint value);
/* It is a conversion to `t`, which the store into a value of that type makes anyway. */
gboolean ws_fact_rounds(const WsArray *a, WsDtype t);
/* It sets an f32 value, with a sum over columns in it. */
gboolean ws_fact_sums(const WsAgent *agent, const WsAssign *s);
/* A size or a coordinate: nothing closer than i32 bounds it. They are taken to end this far below
 * 2^31 at least, so that the rest of a tile may be added. */
#define WS_FACT_MARGIN (1 << 16)
gboolean ws_fact_place(WsInterval in);
/* A sum of row, col and uniform integers. */
gboolean ws_fact_index(const WsArray *a);
/* The comparison of two such sums is one of their difference: nothing in it, in whatever order it
 * is added, leaves an i32. `of` says what is known of a uniform; what is no size and has no
 * bound in an i32 is taken for a coordinate: those go together, and add nothing. */
gboolean ws_fact_one_difference(const WsArray *comparison,
                                WsInterval (*of)(gpointer data, const WsExpr *x), gpointer data);
/* What a thread holds of an extent: `per` elements of it make a slot. */
guint ws_slots(guint extent, guint per);
/* The loop over tiles around `op` is run by more than the leader. */
gboolean ws_fact_shared_tiles(const WsOp *op);
/* Both views of a copy look alike to the swizzle: same span, and equal offsets in its pattern. */
gboolean ws_fact_copy_fits(const WsProgram *p, const WsOp *op, const WsRange *from,
                           const WsRange *to, guint n);
/* The arrival, copy or write goes to this CTA of the cluster, as the design lists them. */
static inline gboolean ws_fact_reaches(const WsOp *op, guint cta)
{
    return op->ctas.kind == WS_CTAS_ALL ||
           (op->ctas.kind == WS_CTAS_MASK && (op->ctas.mask >> cta & 1));
}
/* CTAs of the cluster that a load fills, one bit each; 0: only its own. */
guint ws_fact_receivers(const WsProgram *p, const WsOp *op);
/* A power of two that divides x whatever its variables are (at most 4096). */
guint ws_fact_alignment(const WsProgram *p, const WsExpr *x);

G_END_DECLS
