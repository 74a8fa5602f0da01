/* `warpstave package X.pick`: the builds of a shape rule in one package. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
    const char *file, *name, *dir, *wheels; /* name, wheels: NULL where not given */
    char **size; /* names of the rule that are not sizes of the designs */
    gboolean force, json;
} WsPackageRuleOptions;

/* An exit code; what is wrong is printed. */
int ws_cli_package_rule(const WsPackageRuleOptions *options);

G_END_DECLS
