/* Which functions of a Python file are kernels, and which function of the host launches them. */
#pragma once

#include "import/python/text/python.h"

G_BEGIN_DECLS

#define PY_LAUNCHES_MANY 1000000u

typedef struct {
    const WsPyNode *node, *host; /* host: the function of the module around it, or NULL */
    char *name;                  /* "kernel"; "test_copy.kernel" of one inside of a function */
    gboolean specialized;        /* it, or what it calls, calls warp_specialize */
    guint launches;              /* in a loop PY_LAUNCHES_MANY more */
    const WsPyNode *handed_on; /* the first kernel[…] that is not called where it stands, or NULL */
} PyKernel;

/* In the order of the text. Kernels are jit functions that are launched, and functions that call
 * warp_specialize; where the file has none, jit functions that no other one calls. The caller
 * unrefs; nodes are the tree's. */
GArray *py_kernels(const WsPyNode *module);
/* Names of a decorator: "gluon.jit" of `@gluon.jit(…)`; NULL. Caller frees. */
char *py_decorator(const WsPyNode *node);
gboolean py_is_jit(const WsPyNode *function);
/* Whether `node` holds kernel[…](…). */
gboolean py_launches(const WsPyNode *node, const char *kernel);

G_END_DECLS
