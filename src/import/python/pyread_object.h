/* Objects of classes in the file, and what descriptors and buffers know of themselves. */
#pragma once

#include "import/python/pyread.h"

G_BEGIN_DECLS

void py_object_set(PyRead *p, const Val *object, const char *field, const Val *v);
typedef const Val *(*PyMerge)(PyRead *p, gpointer data, const Val *a, const Val *b);
const Val *py_object_merge(PyRead *p, const Val *a, const Val *b, PyMerge merge, gpointer data);
/* A variable of the frame, or a field of one: "state.index". */
const Val *py_path(PyRead *p, const char *path);
void py_set_path(PyRead *p, const char *path, const Val *v);
const Val *py_construct(PyRead *p, const Val *class, const WsPyNode *at); /* Class(…) */
/* object.name(…), Class.name(…); NULL: no such method. */
const Val *py_method(PyRead *p, const Val *left, const char *name, const WsPyNode *at);
const Val *py_attribute(PyRead *p, const Val *a, const char *name); /* NULL: none that is read */

G_END_DECLS
