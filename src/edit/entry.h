/* Fields as a person types them: expressions bare, lists with commas, maps as `name = value`. */
#pragma once

#include "model/build.h"

G_BEGIN_DECLS

/* Text of a value; "" for an absent one. Caller frees. */
char *ws_entry_text(const WsFieldRow *row, const WsValue *value);
/* What was typed as a value; NULL with an error that says what is expected. Empty text: NULL
 * without error (the field is left out). */
WsJson *ws_entry_json(const WsFieldRow *row, const char *text, GError **error);
gboolean ws_entry_lines(const WsFieldRow *row); /* whether it takes several lines */

G_END_DECLS
