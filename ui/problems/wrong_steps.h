/* Steps that errors of the verdict name: marked on the score and in the texts. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

/* Their ids, which belong to the findings; NULL: none. While a newer design is judged there are
 * none: those of the old verdict would be lies. */
GHashTable *ws_wrong_steps(WsDocument *document);
/* What the first error at this step says; caller frees. NULL: none names it. */
char *ws_wrong_step_text(WsDocument *document, const char *step);

G_END_DECLS
