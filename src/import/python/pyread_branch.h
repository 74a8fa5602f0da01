/* Branches of the kernel and of its host. */
#pragma once

#include "import/python/pyread.h"

G_BEGIN_DECLS

void py_branch(PyRead *p, const WsPyNode *node);
/* What is assigned there may have been, or not: it is open. */
void py_leave_open(PyRead *p, const WsPyNode *block);
gboolean py_returns(const WsPyNode *node); /* has a `return` somewhere */
/* A block whose errors may be caught, or that may be left out. */
void py_run_maybe(PyRead *p, const WsPyNode *block);

G_END_DECLS
