/* Sizes at which a pair's gradient is tried. */
#pragma once

#include "package/pair.h"

G_BEGIN_DECLS

enum { WS_GRADIENT_SIZES = 16 };

/* Sizes of the forward; their names are borrowed of its program. */
typedef struct {
    WsSize size[WS_GRADIENT_SIZES];
    guint n;
} WsGradientTrial;

/* Those that all launches take and whose tensors are small, the cheap ones first, each once: few of
 * what has few in the rehearsal (batches, heads) with few rows; more of these; rows past the
 * largest tile, ragged; and the rehearsal sizes of each design. WsGradientTrial; transfer full. */
GArray *ws_gradient_trials(const WsPair *pair);
/* One launch at these sizes, of those that it has; NULL: it does not take them, or a tensor is
 * empty or too large. */
WsLaunchValues *ws_gradient_launch(const WsProgram *p, const WsGradientTrial *trial);
/* "B=1 SQ=5". Caller frees. */
char *ws_gradient_trial_text(const WsGradientTrial *trial);

G_END_DECLS
