/* Which file a module's name means to Python. */
#pragma once

#include "import/python/text/python.h"

G_BEGIN_DECLS

/* `module` as it is imported ("a.b", ".a"): relative to `beside`, the folder of the text that
 * imports it; else from `root`, the folder of the text that is run, and then from `folders`. NULL
 * with *why NULL: no file is found there; NULL with a reason: more than the file would be run, or
 * the name means something else. The caller frees both. */
char *ws_py_module_path(const char *root, char *const *folders, const char *beside,
                        const char *module, char **why);

/* if __name__ == "__main__": Python runs the rest of a file that it imports, but not this. */
gboolean ws_py_is_main(const WsPyNode *statement);
/* The text is run itself, and lies in no package then. */
gboolean ws_py_is_script(const char *path, const WsPyNode *module);
/* In how many packages lies what a file in `importer` of them imports as "a.b" or ".a"; G_MAXUINT:
 * nobody says. */
guint ws_py_packages(guint importer, const char *module);

/* A comment of the first two lines says that its bytes mean something else than UTF-8. */
gboolean ws_py_other_encoding(const char *text);

G_END_DECLS
