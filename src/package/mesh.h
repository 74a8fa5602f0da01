/* The package of a design of several devices: a Python module over a process group, without a
 * launcher in C. */
#pragma once

#include "package/package.h"

G_BEGIN_DECLS

/* Writes the folder whole or not at all, as ws_package_write(). */
gboolean ws_package_mesh_write(const WsPackageSpec *spec, const char *dir, GError **error);
/* NAME.py; caller frees. */
char *ws_package_mesh_module(const WsPackageSpec *spec, GError **error);

G_END_DECLS
