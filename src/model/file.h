/* Files that a user asked for: never half written. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Writes `file` whole or not at all: what stood there stays until the new text is safe on the disk,
 * its permissions and a link to it are kept. A device or a pipe (/dev/null, /dev/stdout) is written
 * to and stays what it is. */
gboolean ws_file_write(const char *file, const char *data, gsize length, GError **error);
/* The same for what is written as it is made: `body` writes to `fd` and says whether it could
 * (errno says why not). */
typedef gboolean (*WsFileBody)(int fd, gpointer data);
gboolean ws_file_write_by(const char *file, WsFileBody body, gpointer data, GError **error);
/* Writes all of `data`, as often as it takes; errno says why not. */
gboolean ws_file_write_all(int fd, const char *data, gsize length);
/* Whether `file` exists and is neither a file nor a folder. */
gboolean ws_file_is_special(const char *file);

G_END_DECLS
