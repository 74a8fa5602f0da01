/* Two designs object by object: which belong together, and what became of each. Steps and objects
 * of two states of one document belong together if they are the same node; those of two files as
 * the diff matches them (model/diff.h). */
#pragma once

#include "model/forward.h"

#include <glib.h>

G_BEGIN_DECLS

/* One step or object that is not as it was. */
typedef struct {
    char sign;     /* '+' added, '-' removed, '~' changed, '>' moved (perhaps changed as well) */
    char *path_a;  /* in the first design; NULL: added */
    char *path_b;  /* in the second; NULL: removed */
    char *what;    /* "load A", "buffer a" */
    char *where;   /* the group it is in (in the second if it is there), or "" */
    char *was;     /* what changed, as "depth 3"; of what was removed: its text; or "" */
    char *is;      /* … in the second design */
    gboolean step; /* not an object */
} WsCompareRow;

typedef struct WsCompare WsCompare;
struct WsCompare {
    WsDesign *a, *b;
    GPtrArray *row; /* WsCompareRow: as the second design has them, then what was removed */
    GHashTable *sign_a, *sign_b; /* path -> sign; all steps below an added or removed object, too */
    GHashTable *to_a, *to_b;     /* path -> path of the same step in the other design */
};
/* Immutable. Works on any two designs; keeps references to both. */
WsCompare *ws_compare_new(const WsDesign *a, const WsDesign *b);
void ws_compare_free(WsCompare *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsCompare, ws_compare_free)
/* What became of a step: 0 nothing. */
char ws_compare_sign(const WsCompare *c, const char *path, gboolean in_b);
/* Path of the same step in the other design; NULL if it has none. Borrowed. */
const char *ws_compare_partner(const WsCompare *c, const char *path, gboolean in_b);

G_END_DECLS
