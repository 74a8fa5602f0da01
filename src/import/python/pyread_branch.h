/* Branches of the kernel and of its host. */
#pragma once

#include "import/python/pyread.h"

G_BEGIN_DECLS

void py_branch(PyRead *p, const WsPyNode *node);
/* A branch whose ways were walked: the first value that it made, when values were set before it and
 * at the end of each, and the variables there. */
typedef struct {
    const WsReadStep *step;
    guint first;
    const GArray *before, *after_then, *after_other;
    GHashTable *then, *other;
} PyWays;
/* The variable `name`, `a` on the one way and `b` on the other, as one value behind the branch that
 * both have put there. NULL: it is none that can be put there, or each can be read behind it
 * (py_either). */
const Val *py_met(PyRead *p, const PyWays *ways, const char *name, const Val *a, const Val *b,
                  const WsPyNode *at);
/* What of the memory that threads share a compiler has to look at next: PyRead's `dirty` and the
 * like, a copy. */
typedef struct {
    gboolean dirty, waited;
    GArray *waited_on, *generic;
} PyShared;
PyShared py_shared_now(const PyRead *p);
void py_shared_set(PyRead *p, const PyShared *shared);  /* which stays the caller's */
void py_shared_join(PyRead *p, const PyShared *shared); /* behind either of two ways */
void py_shared_clear(PyShared *shared);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PyShared, py_shared_clear)
/* A variable that one way alone has set: its tile, which nothing but the kernel itself reads. */
const Val *py_perhaps(PyRead *p, const Val *v);
/* `a` where c holds, else `b`; NULL: the other one. */
const Val *py_either(PyRead *p, const WsExpr *c, const Val *a, const Val *b, const WsPyNode *at);
/* What is assigned there may have been, or not: it is open. */
void py_leave_open(PyRead *p, const WsPyNode *block);
/* There is a launch only where the condition holds, or does not: what of it is followed is assumed,
 * with types and extents; numbers that the rest names may not have all values, and that the host
 * goes on is taken for granted (py_passed). */
void py_sure(PyRead *p, const WsPyNode *condition, gboolean holds);
/* Types of parameters by a condition of the host that holds, or that does not: x.dtype == t. */
void py_note_types(PyRead *p, const WsPyNode *condition, gboolean holds);
/* The same of x.shape == (…), tuple(x.shape) included: extents of tensors. */
void py_note_shapes(PyRead *p, const WsPyNode *condition, gboolean holds);
gboolean py_returns(const WsPyNode *node); /* has a `return` somewhere */
/* A block whose errors may be caught, or that may be left out. */
void py_run_maybe(PyRead *p, const WsPyNode *block);

#define PY_WITHIN                                                                                  \
    0x10000 /* in `deciding`: inside of a part of the condition, whose value counts                \
             */
/* `and`, `or` and `not`: of a condition their truth alone counts. */
gboolean py_joins(const WsPyNode *node);
gboolean py_is_bit(const WsExpr *e); /* 0 or 1 */
/* `a and b` (`both`) or `a or b`; NULL: it is one of its sides, and which one is not said. */
const WsExpr *py_joined(PyRead *p, gboolean both, const WsExpr *a, const WsExpr *b);

G_END_DECLS
