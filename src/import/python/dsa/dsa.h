/* TLE-DSA text -> a design of a core by queues. What is not understood is an error. */
#pragma once

#include "import/python/text/python.h"
#include "import/recognise.h"

G_BEGIN_DECLS

/* The function says something of tle.dsa. */
gboolean py_uses_dsa(const WsPyNode *function);
/* `define`: "NAME=VALUE", or NULL. NULL and the error of `r`. */
WsDesign *py_import_dsa(WsRead *r, const WsPython *py, const WsPyNode *function, char **define);

G_END_DECLS
