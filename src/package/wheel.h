/* Wheels: a package that pip installs, with the launcher compiled, for PyTorch, C, C++ and CMake.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What differs between wheels. Everything is borrowed. */
typedef struct {
    const char *name, *version;
    GHashTable *words; /* of the templates in resources/package/wheel */
    const char *readme, *header;
    const char *const *source; /* C of the launcher: name, text, …, NULL */
    const char *extension;     /* NAME_python.c */
    GPtrArray *file;           /* WsWheelFile: what else lies in the package's folder */
} WsWheel;

typedef struct {
    char *name;
    GBytes *data;
} WsWheelFile;

/* An element of `file`; takes the data. */
WsWheelFile *ws_wheel_file(const char *name, GBytes *data);
void ws_wheel_file_free(gpointer file);

/* Compiles with `cc` (or what CC says) and writes NAME-VERSION-cp39-abi3-PLATFORM.whl into the
 * folder `dir`, which is made where it is not there; its path, caller frees. G_SPAWN_ERROR where
 * there is no compiler. */
char *ws_wheel_write(const WsWheel *wheel, const char *dir, GError **error);

G_END_DECLS
