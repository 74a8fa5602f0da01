/* The shape rule: a text file lists designs of one family with a condition and a cost, both uniform
 * expressions over the sizes of a problem; the cheapest that applies is picked.
 *
 *   table FILE                 measured times that the costs were fitted to or compared with
 *                              (design | set | sizes | GHz | microseconds | use); `pick --regret`
 *   let NAME = EXPR            a name for the lines below; --size NAME=VALUE overrides it
 *   design PATH                starts a choice; PATH is relative to the file of rules
 *     set NAME=VALUE …         --set of that choice
 *     when EXPR                the choice applies where this is not 0 (default: everywhere)
 *     cost EXPR                smaller is better (cycles of the busiest SM)
 *
 * `#` starts a comment. */
#pragma once

#include "expr/expr.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
    char *design, *set; /* set: "" if none */
    gboolean applies;
    gint64 cost;
    guint line;
} WsPickChoice;

/* All choices of the rules in `text`, in file order, judged for the names and values in `sizes`
 * (char* -> gint64*). NULL with the line and what is wrong with it. Owns its elements. */
GPtrArray *ws_pick_judge(const char *text, GHashTable *sizes, GError **error);
/* The files that `table` names, as they are written (char*). Free with g_ptr_array_unref. */
GPtrArray *ws_pick_tables(const char *text);
/* The cheapest that applies (the first of equals), or NULL. Borrowed. */
const WsPickChoice *ws_pick_best(const GPtrArray *choices);

G_END_DECLS
