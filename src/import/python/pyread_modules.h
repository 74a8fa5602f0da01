/* Files beside a Python text that it imports from. `from common import f`, at the outermost level
 * of a file, is followed where `common.py` (of `.x` x.py, of `..x` x.py a folder higher, of `a.b`
 * a/b.py) lies in the folder of the text or in another one that is said; the statements of that
 * file then stand where the import stood. One namespace is made of all of them, so a file that
 * gives a name another meaning than a second one does is left, with the reason. Only text is read.
 */
#pragma once

#include "import/import.h"
#include "import/python/text/python.h"
#include "import/recognise.h"

G_BEGIN_DECLS

typedef struct PyModules PyModules;

/* Looks for the files that the text imports from. Borrows `py`, the tree of the text. NULL: there
 * are none, and nothing was left. */
PyModules *py_modules_new(const WsPython *py, const char *text, gsize length, const char *file,
                          const WsImportOptions *options);
void py_modules_free(PyModules *m);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PyModules, py_modules_free)

/* The text, and behind it those of its files. */
const char *py_modules_text(const PyModules *m, gsize *length);
/* The tree of that text: what stands behind goes to the imports that ask for it. */
void py_modules_place(const PyModules *m, const WsPython *py);
const GArray *py_modules_files(const PyModules *m); /* WsReadFile */
/* What the names are that come out of a file that was left: says why behind what is not read. */
void py_modules_explain(const PyModules *m, GPtrArray *unread);

G_END_DECLS
