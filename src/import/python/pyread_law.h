/* The law of reading: what stands in a kernel is read, or harmless by a row of law.def, or listed
 * as unread with the objects that it may touch. */
#pragma once

#include "import/python/pyread.h"

G_BEGIN_DECLS

typedef enum {
    PY_HARMLESS_FUNCTION,
    PY_HARMLESS_VALUE,
    PY_HARMLESS_ASKED,
    PY_HARMLESS_KEYWORD,
    PY_HARMLESS_OFF,
    PY_HARMLESS_ABSENT,
    PY_HARMLESS_CONTEXT,
    PY_HARMLESS_DECORATOR,
    PY_HARMLESS_AROUND,
    PY_HARMLESS_HELPER,
    PY_HARMLESS_OPTION,
} PyHarmless;

/* Whether `dotted` is `name` or ends in it behind a dot. What comes from a module that nobody knows
 * (its name has a slash) never is. */
gboolean py_ends_in(const char *dotted, const char *name);
/* Whether `dotted` ends in the name of a row of that kind. */
gboolean py_law_harmless(PyHarmless kind, const char *dotted);
gboolean py_law_option(const char *name);
/* A keyword of `word` ("mbarrier.wait") that its row has no parameter for. */
gboolean py_law_keyword(const char *word, const char *keyword);
/* With this value it leaves the call as it is without the keyword. */
gboolean py_law_off(const char *word, const char *keyword, const Val *v);
void py_law_decorators(PyRead *p, const WsPyNode *function);
/* A call of something that is not known: its arguments are walked, then it is harmless by a row or
 * unread. */
const Val *py_law_call(PyRead *p, const WsPyNode *call);
/* Unread, with what its names and these values reach. */
void py_law_unread(PyRead *p, const WsPyNode *at, const char *what, const Val *const *values,
                   guint n);
/* What is not read of it is a value, or where global memory is written. */
void py_law_value(PyRead *p, const WsPyNode *at, const char *what);
/* The same, and a value that is not known. */
const Val *py_lost(PyRead *p, const WsPyNode *at, const char *what);
/* A value that is no object and holds none. */
const Val *py_plain(PyRead *p);

G_END_DECLS
