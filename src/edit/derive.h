/* What a step or a reference brings along: the objects and loops that it cannot be without. What
 * follows from the design is derived; what is only usual is recorded as a guess (ws_edit_guessed).
 * Private to src/edit. */
#pragma once

#include "edit/edit.h"

G_BEGIN_DECLS

/* The product of two tensors that the reference describes: out[i, j] = Σ a[i, k]·b[j, k]. */
typedef struct {
    const WsNode *out, *a, *b; /* tensors of `design` */
    const char *index;         /* "k", borrowed of the design */
    char *m, *n, *k;           /* extents as texts */
    gboolean turned;           /* b[k, j] */
} WsProduct;
void ws_product_clear(WsProduct *p);

/* "name = value" in a map of the document (constants, sizes …), recorded as a guess; nothing if the
 * name is there. */
gboolean ws_guess_entry(WsDraft *d, WsFieldId map, const char *name, gint64 value);
gboolean ws_guess_is_entry(const WsDesign *design, WsFieldId map, const char *name);
/* The same of an item of a list (assume). */
gboolean ws_guess_item(WsDraft *d, WsFieldId list, const char *text);
gboolean ws_guess_mark(WsDraft *d, const WsNode *node, WsFieldId field);
/* What is a guess in a node is one in its copy. */
gboolean ws_guess_copy(WsDraft *d, guint64 from, guint64 to);
/* Guesses of nodes that have another name than in `before` are carried; what was changed is none.
 */
gboolean ws_guess_settle(WsDraft *d, const WsDesign *before);

/* What a step of a kind at this spot brings along. Identity of the step where it was made with it;
 * 0: it is to be added as always, at `spot`, which may be another one now. */
guint64 ws_derive_step(WsDraft *d, WsNodeKind kind, WsEditSpot *spot);

G_END_DECLS
