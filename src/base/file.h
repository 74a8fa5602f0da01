/* Files that a user names: read up to a bound, never half written, and a command's input never lost
 * to its output. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* All of `file` ("-": the standard input), a NUL behind it. Fails, naming the file, if it holds
 * more than `most` bytes: no more of it is read than that. Free with g_free. */
gboolean ws_file_read(const char *file, gsize most, char **data, gsize *length, GError **error);
/* The same, but what stands behind the first `most` bytes is left out; errno says why not. */
gboolean ws_file_read_some(const char *file, gsize most, char **data, gsize *length,
                           GError **error);
/* For the reader that opens its file itself. */
void ws_file_was_read(int fd);
/* From now on this process writes neither over a file that it has read nor twice to one: for a
 * command, which has inputs and outputs. (The studio saves what it opened.) */
void ws_file_keep_inputs(void);

/* Writes `file` whole or not at all: what stood there stays until the new text is safe on the disk,
 * its permissions and a link to it are kept. A device or a pipe (/dev/null, /dev/stdout) is written
 * to and stays what it is. */
gboolean ws_file_write(const char *file, const char *data, gsize length, GError **error);
/* Whether it could be written, as far as can be told without writing: for what takes long before.
 * `input`: a file that is read until then, or NULL. */
gboolean ws_file_check(const char *file, const char *input, GError **error);
/* The same for a file that is changed in place: it may have been read before. */
gboolean ws_file_rewrite(const char *file, const char *data, gsize length, GError **error);
/* The same for what is written as it is made: `body` writes to `fd` and says whether it could
 * (errno says why not). */
typedef gboolean (*WsFileBody)(int fd, gpointer data);
gboolean ws_file_write_by(const char *file, WsFileBody body, gpointer data, GError **error);
/* Writes all of `data`, as often as it takes; errno says why not. */
gboolean ws_file_write_all(int fd, const char *data, gsize length);
/* Whether `file` exists and is neither a file nor a folder. */
gboolean ws_file_is_special(const char *file);

G_END_DECLS
