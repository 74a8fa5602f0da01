/* What the program derived for a field that the design leaves out. No widgets here. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

gboolean ws_derived_is(WsNodeKind kind, WsFieldId field); /* the field has a derived value */
/* That value: "128", "k.total % 4"; "2, 3" where the elements of an array differ. NULL: the program
 * has none, or there is no program. Caller frees. */
char *ws_derived_text(const WsProgram *p, const WsDesign *design, const WsNode *node,
                      WsFieldId field);

G_END_DECLS
