/* Which files `check` looks at. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The files that arguments name: a file is itself; a folder stands for the designs (*.wstave) in it
 * and below, in order of their names; where there are none, or with `from` (the language of
 * kernels, NULL: designs), for its Python or PTX files instead. `empty` is a folder that holds
 * none. Hidden folders and links to folders are left out. Transfer full (char*). */
GPtrArray *ws_cli_check_files(char *const *arguments, guint n, const char *from,
                              const char **empty);

G_END_DECLS
