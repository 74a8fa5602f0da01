/* Several shapes at once: which of the designs found for which, and how much a rule of few designs
 * loses beside the best of each shape. */
#pragma once

#include "search/search.h"

G_BEGIN_DECLS

typedef struct {
    guint n_shapes;
    GPtrArray *all;     /* WsDesign*: all that were found for any of them, each once */
    gint64 *cycles;     /* [design of `all`][shape] as predicted; 0: it cannot run that shape */
    GArray *kept;       /* guint: of `all`, those of the rule; the first is for all other shapes */
    guint *choice;      /* by shape: of `all`, what the rule picks */
    double *regret;     /* by shape: cycles of the rule / the fewest of any - 1 */
    double worst, mean; /* regret */
} WsShapes;

/* `of` and `found` by shape; the design that the searches began from runs all of them, and is the
 * last of each search's designs or added as `start`. At most `most` designs are kept. Transfer
 * full. */
WsShapes *ws_shapes_new(const WsTrialOf *of, const WsSearch *const *found, guint n_shapes,
                        const WsDesign *start, guint most);
/* Cycles of the fastest of `all` in a shape, whichever search found it; 0: none runs it. */
gint64 ws_shapes_fewest(const WsShapes *s, guint shape);
void ws_shapes_free(WsShapes *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsShapes, ws_shapes_free)

/* The rule as `warpstave pick` reads it: `file` by design kept. Shapes that were searched have
 * lines of their own; all others get the first design. Caller frees. */
char *ws_shapes_rule(const WsShapes *s, const WsTrialOf *of, const char *const *file);

G_END_DECLS
