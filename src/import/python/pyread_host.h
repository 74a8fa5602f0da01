/* The host's side of a kernel: what is launched, with which values. Private to the reader. */
#pragma once

#include "import/python/names/names.h"
#include "import/python/pyread_kernels.h"

G_BEGIN_DECLS

/* What the caller of the reader says NAME is (`--define`), or NULL. */
const Val *py_defined(PyRead *p, const char *name);
/* Walks the functions that lead to the launch of the kernel until one reaches it, then the kernel
 * with its parameters open. */
/* What is launched behind this line of the host never is. */
void py_never_behind(PyRead *p, const WsPyNode *node);
/* What may end the host before its launch and hangs on what is not followed (pyread_passed.c): at
 * this place; at this place if it has a way out; at this statement, as far as its blocks are not
 * walked. */
void py_passed(PyRead *p, const WsPyNode *node);
void py_passed_if_it_ends(PyRead *p, const WsPyNode *node);
void py_passed_statement(PyRead *p, const WsPyNode *node);
/* A condition on properties of the caller's tensors alone. */
gboolean py_is_of_tensors(const WsPyNode *condition);
/* One by which an error refuses arguments: of tensors, or in a helper of what it is given. */
gboolean py_is_guard(const PyRead *p, const WsPyNode *condition);
/* What `node` does may end the host: errors, asserts, loops without a number of rounds and, where
 * it `returns`, a return. */
gboolean py_may_end(GHashTable *aliases, gboolean returns, const WsPyNode *node);
/* That it goes on past these lines (guint), as one assumption. */
void py_passed_granted(WsRead *r, const GArray *passed);
void py_run_host(PyRead *p, const PyKernel *kernel);
/* The variables that a function defined here finds around it: what they are when it is called. */
GHashTable *py_closure(PyRead *p);
void py_read_import(PyRead *p, const WsPyNode *node);
/* What @pytest.mark.parametrize is given is what it is where the function is defined. */
void py_note_cases(PyRead *p, const WsPyNode *decorator);
/* Whether the kernel is launched somewhere in `node`, or what launches it is called there. */
gboolean py_leads_to_launch(const PyRead *p, const WsPyNode *node);
/* Values of torch.empty(…) and the like: a parameter whose shape is known. NULL: it is no such
 * call. */
const Val *py_host_tensor(PyRead *p, const WsPyNode *call);
/* What x.to(device, dtype) makes of the tensor x: another one of that type and of its shape. A type
 * that designs do not have is kept under its own name, which py_tensor lists. */
const Val *py_host_converted(PyRead *p, const Val *tensor, const WsPyNode *call);

/* Calls and assignments of the host in `node` that make a tensor another one are listed as not
 * read; in its blocks where `whole`. */
void py_host_in_place(PyRead *p, const WsPyNode *node, gboolean whole);

/* --- what makes names, classes and defaults something else (names/plain.c)
 * --------------------------------------------------------------------------------------------*/
/* A name that is bound again is not that kernel where it is launched. */
void py_plain_kernel(PyRead *p, const WsPyNode *kernel);
void py_plain_file(PyRead *p, const WsPyNode *module);
gboolean py_plain_decorator(const PyRead *p, const WsPyNode *node);
/* FALSE: what objects of it are is not known; unread in a kernel. */
gboolean py_plain_class(PyRead *p, const WsPyNode *class, const WsPyNode *at);
/* object.x = …; FALSE: not followed. */
gboolean py_plain_store(PyRead *p, const Val *object, const WsPyNode *at);
gboolean py_plain_default(PyRead *p, const WsPyNode *value);

G_END_DECLS
