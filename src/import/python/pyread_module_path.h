/* Which file a module's name means to Python. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* `module` as it is imported ("a.b", ".a"): relative to `beside`, the folder of the text that
 * imports it; else from `root`, the folder of the text that is run, and then from `folders`. NULL
 * with *why NULL: no file is found there; NULL with a reason: more than the file would be run, or
 * the name means something else. The caller frees both. */
char *ws_py_module_path(const char *root, char *const *folders, const char *beside,
                        const char *module, char **why);

/* A comment of the first two lines says that its bytes mean something else than UTF-8. */
gboolean ws_py_other_encoding(const char *text);

G_END_DECLS
