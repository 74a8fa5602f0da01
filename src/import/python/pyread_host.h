/* The host's side of a kernel: what is launched, with which values. Private to the reader. */
#pragma once

#include "import/python/pyread.h"
#include "import/python/pyread_kernels.h"

G_BEGIN_DECLS

/* What the caller of the reader says NAME is (`--define`), or NULL. */
const Val *py_defined(PyRead *p, const char *name);
/* Walks the functions that lead to the launch of the kernel until one reaches it, then the kernel
 * with its parameters open. */
void py_run_host(PyRead *p, const PyKernel *kernel);
void py_read_import(PyRead *p, const WsPyNode *node);
/* Whether the kernel is launched somewhere in `node`, or what launches it is called there. */
gboolean py_leads_to_launch(const PyRead *p, const WsPyNode *node);
/* Values of torch.empty(…) and the like: a parameter whose shape is known. NULL: it is no such
 * call. */
const Val *py_host_tensor(PyRead *p, const WsPyNode *call);

/* --- what makes names, classes and defaults something else (pyread_plain.c)
 * --------------------------------------------------------------------------------------------*/
void py_plain_file(PyRead *p, const WsPyNode *module);
/* FALSE: what objects of it are is not known; unread in a kernel. */
gboolean py_plain_class(PyRead *p, const WsPyNode *class, const WsPyNode *at);
/* object.x = …; FALSE: not followed. */
gboolean py_plain_store(PyRead *p, const Val *object, const WsPyNode *at);
gboolean py_plain_default(PyRead *p, const WsPyNode *value);

G_END_DECLS
