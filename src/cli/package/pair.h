/* `warpstave package FORWARD --backward DESIGN …`: a forward design and its gradient in one
 * package. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
    const char *file, *name, *dir; /* name: NULL where not given */
    char **backward;               /* files, in the order in which they are launched */
    char **set;                    /* for each design that has the constant */
    gboolean force, json;
} WsPairOptions;

/* An exit code; what is wrong is printed. */
int ws_cli_package_pair(const WsPairOptions *options);

G_END_DECLS
