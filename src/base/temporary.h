/* Temporary files and folders of this process, which a signal does not leave behind. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* From now on SIGTERM, SIGHUP and SIGINT (where nobody else handles it) remove what is listed and
 * then end the process as they would have; a file that grows beyond its limit is an error of the
 * write (EFBIG), not the end. Of a process as a whole: to be called once, from main(). */
void ws_temporary_guard(void);

/* Lists a file or folder, which need not exist; takes it from the list. From any thread. Without
 * ws_temporary_guard() they do nothing. */
void ws_temporary_begin(const char *path);
void ws_temporary_end(const char *path);
/* A new folder for temporary files, listed; ws_folder_remove() takes it away. Caller frees. */
char *ws_temporary_folder(GError **error);

G_END_DECLS
