/* A forward design and the designs of its gradient, as one Python package. */
#pragma once

#include "package/package.h"

G_BEGIN_DECLS

/* Everything is borrowed. */
typedef struct {
    const char *name;            /* of the function: an identifier of C and Python */
    const WsPackageSpec *launch; /* forward, then the gradient's in order; their names are made */
    const char *const *label;    /* the file of each */
    guint n;
    const char *checked; /* Markdown: how the gradient was tried; NULL: it was not */
} WsPair;

/* Whether the designs are a pair: every tensor, size and scalar of the gradient's launches is the
 * forward's, the gradient (D and the name) of one of its outputs, or what an earlier launch wrote, of the same
 * type, shape and strides; every input has its gradient. WS_PACKAGE_ERROR_PAIR names what is not
 * so, WS_PACKAGE_ERROR_LENS what pairs do not carry. */
gboolean ws_pair_check(const WsPair *pair, GError **error);
/* The module __init__.py, and the README; caller frees. `folder`: the name it is imported by. */
char *ws_pair_module(const WsPair *pair, const char *folder, GError **error);
char *ws_pair_readme(const WsPair *pair, const char *folder, GError **error);
/* Whether the module can be imported from this folder: WS_PACKAGE_ERROR_NAME where it cannot. */
gboolean ws_pair_folder_check(const char *dir, GError **error);
/* Writes the folder whole or not at all; a package or an empty folder there is replaced. */
gboolean ws_pair_write(const WsPair *pair, const char *dir, GError **error);
/* NAME_forward, NAME_backward1, …; caller frees. */
char *ws_pair_launch_name(const WsPair *pair, guint launch);

G_END_DECLS
