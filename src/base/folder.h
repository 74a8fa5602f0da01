/* Folders that a user asked for: never half written. Flat folders, files only. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Begins to write the folder `dir`: makes a temporary one beside it and returns its path (caller
 * frees). What stands at `dir` may be replaced if it is empty or holds the file `marker` (so it is
 * `what`, such as "a bundle"); anything else is an error and stays as it is. A link is followed. */
char *ws_folder_begin(const char *dir, const char *marker, const char *what, GError **error);
/* Whether it could be begun, as far as can be told without writing: for what takes long before. */
gboolean ws_folder_check(const char *dir, const char *marker, const char *what, GError **error);
/* Whether there is an empty folder `dir`, or one can be made with all that lead to it: for what
 * puts several things there. */
gboolean ws_folder_is_free(const char *dir, GError **error);
/* Write one file into a folder begun; NULL writes nothing. */
gboolean ws_folder_put_text(const char *part, const char *name, const char *text, GError **error);
gboolean ws_folder_put_bytes(const char *part, const char *name, GBytes *bytes, GError **error);
/* Puts the finished folder (`what`) in its place; on failure what stood there stays or is named. A
 * file that stands there and has no successor is such a failure: nothing is deleted but what Python
 * keeps of modules. */
gboolean ws_folder_commit(const char *part, const char *dir, const char *what, GError **error);
/* Removes the files of a flat folder and the folder. */
void ws_folder_remove(const char *dir);

G_END_DECLS
