/* The same judgement of CUDA C++ text (ptx_flow.h): between a product and the keep() of its
 * accumulator behind a wait, no line but a product names the accumulator. Only the form in which
 * the generator writes is read: a line for a statement, blocks by braces. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* char*: "line: what". Caller unrefs. */
GPtrArray *cuda_flow(const char *text, guint *waits);

G_END_DECLS
