/* What a shape rule loses by measured times: the tables that it says it rests on (`table FILE`),
 * and for each shape of them the time of what the rule picks beside the fastest of its designs. */
#pragma once

#include "cli/pick/pick.h"

G_BEGIN_DECLS

typedef struct {
    char *sizes;            /* "M=4096 N=4096 K=4096" */
    char *picked, *fastest; /* path and settings of designs of the rule; `fastest`: of those that
                               were measured for these sizes */
    double us, best;        /* NAN: what the rule picks was not measured for them */
    guint measured;         /* designs of the rule that were */
} WsPickShape;

typedef struct {
    GPtrArray *table;  /* char*: their paths, in the order of the rule */
    GPtrArray *shape;  /* WsPickShape*, of which at least one design of the rule was measured */
    guint counted;     /* those with two designs or more, what the rule picks among them */
    double mean, most; /* regret over these: time over the best, less 1; NAN: none */
    const WsPickShape *worst; /* that of `most` */
} WsPickRegret;

/* `rules` is the file of `text`. NULL with an error: a table or the rule is not right. */
WsPickRegret *ws_pick_regret(const char *rules, const char *text, GError **error);
void ws_pick_regret_free(WsPickRegret *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsPickRegret, ws_pick_regret_free)
gboolean ws_pick_counts(const WsPickShape *s);
/* Exit code: NO where nothing was measured, which it says. */
int ws_pick_regret_print(const char *rules, const WsPickRegret *r, gboolean json);

G_END_DECLS
