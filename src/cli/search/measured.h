/* warpstave search --measure: the fastest by prediction run on a GPU beside the design as it is. */
#pragma once

#include "cli/search/asked.h"

G_BEGIN_DECLS

/* A design that ran, or was to. Owns all but `found`. */
typedef struct {
    const WsFound *found; /* of the search */
    char *dir;            /* its bundle */
    char *state;          /* "right", "wrong", "hung", …; NULL: it did not run */
    char *problem;        /* why it did not run, or NULL */
    GArray *us;           /* double: cold median of each turn it took part in */
    double time;          /* median of its time over that of the design as it is in the same turn;
                             NAN: no turn of both */
    gboolean proved;      /* just now; else its bundle is what refuses it */
    gboolean right;
    guint turns;
} WsMeasuredDesign;

typedef struct {
    GPtrArray *own;    /* WsFound*: those that no search holds */
    GPtrArray *design; /* WsMeasuredDesign*: the design as it is, then the fastest measured first */
    double correlation; /* Spearman, of predicted and measured time in the first turn; NAN: fewer
                           than three */
    struct WsRunStore *history; /* while turns are taken; NULL: none */
    gboolean kept;              /* bundles are where `dir` says */
    gboolean absent;            /* no GPU, runner or host: nothing was measured */
} WsMeasured;

void ws_measured_free(WsMeasured *m);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsMeasured, ws_measured_free)

/* Bundles the design as it is and the `most` fastest of s->proved that ws_asked_accept() takes, and
 * runs them on `host` (NULL: here) by turns: after each turn the slower half is left out, at least
 * two stay for three turns more. What is wrong, hangs or takes twice the best is left out at once.
 * Bundles are kept in `keep` (NULL: nowhere). NULL after saying what is wrong. Transfer full;
 * borrows from `s`. */
WsMeasured *ws_measured_run(WsSearchAsked *a, const WsSearch *s, char **size, const char *host,
                            const char *keep, guint most);
#define WS_MEASURED_LIST "designs.txt" /* what lies in the folders of `keep` */

/* Runs what lies in the folders that ws_measured_run() kept in `dir`, of a search from `start`: at
 * most `most` of them, in their order, each proved once more. Nothing is searched, assembled or
 * rehearsed. NULL after saying what is wrong. Transfer full. */
WsMeasured *ws_measured_kept(const char *dir, const WsDesign *start, const char *host, guint most);
void ws_measured_print(const WsMeasured *m);
/* A member of the open object. */
void ws_measured_json(WsJsonOut *j, const WsMeasured *m);
/* Writes the fastest measured to a->out, if it is faster than the design as it is; the exit code.
 */
int ws_measured_end(const WsSearchAsked *a, const WsMeasured *m);

/* --- for measured.c and measured_kept.c --- */
/* Without a design. */
WsMeasured *ws_measured_new(gboolean kept);
/* Borrows `f`, and the caller sets where its bundle is. */
WsMeasuredDesign *ws_measured_add(WsMeasured *m, const WsFound *f, gboolean proved);
/* What was kept of a search may be of an older check. */
gboolean ws_measured_is_proved(const WsFound *f);
/* All turns, and what they say. The first design is the design as it is. */
void ws_measured_take(WsMeasured *m, const char *host);

G_END_DECLS
