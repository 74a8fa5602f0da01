/* Branches of the kernel and of its host. */
#pragma once

#include "import/python/pyread.h"

G_BEGIN_DECLS

void py_branch(PyRead *p, const WsPyNode *node);
/* `a` where c holds, else `b`; NULL: the other one. */
const Val *py_either(PyRead *p, const WsExpr *c, const Val *a, const Val *b, const WsPyNode *at);
/* What is assigned there may have been, or not: it is open. */
void py_leave_open(PyRead *p, const WsPyNode *block);
/* Types of parameters by a condition of the host that holds, or that does not: x.dtype == t. */
void py_note_types(PyRead *p, const WsPyNode *condition, gboolean holds);
/* The same of x.shape == (…), tuple(x.shape) included: extents of tensors. */
void py_note_shapes(PyRead *p, const WsPyNode *condition, gboolean holds);
gboolean py_returns(const WsPyNode *node); /* has a `return` somewhere */
/* A block whose errors may be caught, or that may be left out. */
void py_run_maybe(PyRead *p, const WsPyNode *block);

G_END_DECLS
