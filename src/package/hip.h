/* Packages for AMD: a code object and a C launcher on HIP, loaded at run time. */
#pragma once

#include "package/package.h"

G_BEGIN_DECLS

/* As ws_package_write(); spec->cubin is the code object, spec->ptx is not looked at. */
gboolean ws_package_hip_write(const WsPackageSpec *spec, const char *dir, GError **error);
/* The single files, as text; caller frees. NULL and WS_PACKAGE_ERROR_LENS as there. */
char *ws_package_hip_header(const WsPackageSpec *spec, GError **error);
char *ws_package_hip_launcher(const WsPackageSpec *spec, GError **error);

G_END_DECLS
