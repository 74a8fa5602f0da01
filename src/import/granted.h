/* What a reading takes for granted, in its design. Private to src/import. */
#pragma once

#include "import/import.h"

G_BEGIN_DECLS

/* The design of `import` says itself what its reading rests on, so that no verdict on it leaves
 * that out: what was granted, the values that it was read with, and what an export says in `text`
 * (which ends with a 0) of a design that was imported itself. */
void ws_import_keep_granted(WsImport *import, const char *text);

G_END_DECLS
