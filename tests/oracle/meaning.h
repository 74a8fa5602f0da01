/* What the text of a design means, by LANGUAGE.md alone: the barriers that its agents wait for and
 * arrive on, in order, at given sizes. Nothing of it comes from elaboration or the walker, which
 * are held against it here. */
#pragma once

#include "judge.h"

G_BEGIN_DECLS

/* --- expressions (meaning_expr.c): LANGUAGE sections 3 and 25 */
typedef struct {
    gpointer data;
    /* FALSE: there is no such name. `total` for NAME.total */
    gboolean (*name)(gpointer data, const char *name, gboolean total, gint64 *value);
    gboolean (*element)(gpointer data, const char *tensor, const gint64 *at, guint n,
                        gint64 *value);
} MeaningNames;

/* FALSE: it has no value (division by 0, an unknown name), or is not an expression. */
gboolean meaning_value(const char *text, const MeaningNames *names, gint64 *value);

/* --- agents (meaning.c) */
/* Compares what elaboration and walker make of `text` with what it means, for some sizes. What
 * differs, NULL: nothing. Caller frees. `*compared` counts the runs of agents that were compared;
 * where the text uses what is not followed here (pipes, orders of tiles) there are none. */
char *meaning_differs(const char *text, const WsProgram *p, guint *compared);

G_END_DECLS
