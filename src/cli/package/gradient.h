/* Whether the references of a pair's launches are the gradient of the forward's. */
#pragma once

#include "package/pair.h"

G_BEGIN_DECLS

/* Tries it in float64 at the sizes of gradient_sizes.h: the launches' gradient of a weighted sum of the outputs along
 * a direction, against the difference quotient of the forward's reference, for each input.
 * `said`: how, for a README; caller frees. FALSE with WS_PACKAGE_ERROR_PAIR where they differ or no
 * sizes could be tried, or with the reference's own error. The pair has passed ws_pair_check(). */
gboolean ws_cli_gradient_agrees(const WsPair *pair, char **said, GError **error);

G_END_DECLS
