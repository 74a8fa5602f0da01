/* Types that Triton gives arithmetic on tiles. */
#pragma once

#include "import/python/pyread.h"

G_BEGIN_DECLS

/* Converts the formulas x and y of a and b to the type of both together, as Triton's implicit
 * conversions do (semantic.py, computation_type_impl): a number of Python takes the type of the
 * other side, and is rounded to it. `dtype` becomes "bf16" or "f16" where that is the type of what
 * is computed of them, else NULL. FALSE: which type that is, or what its arithmetic gives, is not
 * known (8 bits). */
gboolean py_promote(PyRead *p, const Val *a, const Val *b, gboolean divides, const Val **x,
                    const Val **y, const char **dtype);
/* The text of a formula as one for a value of that type: a statement has to say the conversion. */
const char *py_as_type(PyRead *p, const char *dtype, const char *text);
/* Whether `text` is a call of `name` as a whole. */
gboolean py_is_call(const char *text, const char *name);
gboolean py_is_sixteen(const Val *m); /* a formula of 16-bit reals */

G_END_DECLS
