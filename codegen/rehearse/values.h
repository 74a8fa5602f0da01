/* Values of references that earlier rehearsals worked out: designs that differ in constants alone
 * often have the same reference, the same sizes and the same inputs. */
#pragma once

#include "codegen/generate.h"
#include "codegen/reference/reference.h"
#include "program/walk/launch_values.h"

G_BEGIN_DECLS

/* Checksum of all that the values depend on: the reference's code, shapes, strides, sizes, scalars
 * and every byte of the inputs. NULL as ws_reference_text. Caller frees. */
char *ws_reference_values_key(WsReference *r, const WsProgram *p, const WsLaunchValues *launch,
                              const WsReferenceInput *input, const gsize *bytes);
/* The `n` values of an output under a key; NULL: not known, or of another number. Borrowed. */
const double *ws_reference_values_find(const WsReferenceValues *v, const char *key, guint tensor,
                                       gint64 n);
/* There is room for `n` values more. */
gboolean ws_reference_values_take(const WsReferenceValues *v, gint64 n);
/* Takes `value` (double) over. */
void ws_reference_values_add(WsReferenceValues *v, const char *key, guint tensor, GArray *value);

G_END_DECLS
