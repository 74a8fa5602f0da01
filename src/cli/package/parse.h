/* The text of a shape rule (cli/pick/pick.h), kept as expressions for a package. */
#pragma once

#include "package/rule.h"

G_BEGIN_DECLS

/* NULL with the line and what is wrong with it. */
WsShapeRule *ws_shape_rule_parse(const char *text, GError **error);

G_END_DECLS
