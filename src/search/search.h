/* The search for a better schedule: many edits one after the other, each played by the clock, and
 * whatever is returned proved. Times are predictions. */
#pragma once

#include "advise/candidate.h"
#include "advise/floor.h"
#include "search/kept.h"

G_BEGIN_DECLS

/* A design that was found. Owns all. */
typedef struct {
    WsDesign *design;
    GPtrArray *decision; /* char*: titles of the edits, in order; none: the design as it is */
    GPtrArray *words;    /* char*: the same as phrases (base/phrase.h) */
    GArray *after;       /* gint64: cycles predicted after each of them */
    gint64 cycles;       /* predicted, whole launch */
    gint64 late;       /* the same where loads take longer (WsSearchOptions.jitter); 0: not asked */
    guint64 shared;    /* bytes of shared memory of a CTA */
    gint64 registers;  /* of a CTA, as planned */
    WsFloor floor;     /* of what was found in the end: no order of its steps is faster */
    gboolean reorders; /* something that computes was moved: values are to be compared */
} WsFound;

void ws_found_free(gpointer data);

typedef struct {
    double seconds; /* of this thread; 0: 60 */
    guint beam;     /* designs kept from one round of edits to the next; 0: 6 */
    guint rounds;   /* edits one after the other, at most; 0: 12 */
    gboolean every; /* also edits that change only what the time does not hang on */
    double jitter;  /* what loads may be late by, as a share of their latency: of those within 1 %
                       of the fastest, the one that loses least by it is the first; 0: not asked */
    guint64 seed;   /* of the order in which edits of equal promise are tried */
    WsKept *kept;   /* what is known and found out of designs (search/kept.h); saved after every
                       round and in the end; NULL: nothing is kept */
    const gint *cancel; /* set to 1 by another thread: what was found so far is returned */
    /* Asked of each design before it is returned, the fastest first, as often as `asks` says (0:
     * 8): FALSE leaves it out. NULL: none is. Of the design as it is nothing is asked. */
    gboolean (*accept)(const WsFound *found, gpointer data);
    guint asks;
    /* Asked of a proved design before edits are tried on it, once for all that compute in the same
     * order and for `asks` orders at most: FALSE leaves it out. It takes nothing of `seconds`.
     * NULL: nothing is asked. */
    gboolean (*builds)(const WsProgram *p, gpointer data);
    /* Asked of a proved design before edits are tried on it, once for all with the same constants,
     * other than those that the search begins with: FALSE leaves them out (a constant may be part
     * of what is computed, and no trial compares values). It takes nothing of `seconds`. NULL:
     * nothing is asked. */
    gboolean (*values)(const WsDesign *design, gpointer data);
    /* Told of each design as soon as it is proved, the one that the search begins from first.
     * Without a floor; `found` is of this call. */
    void (*proved)(const WsFound *found, gpointer data);
    void (*progress)(const WsFound *best, guint tried, gpointer data); /* now and then */
    gpointer data;
} WsSearchOptions;

typedef struct {
    GPtrArray *found;  /* WsFound*, proved, fastest first (see jitter): each with less shared
                          memory or fewer registers than all before it, or within 1 % of
                          the first with a third fewer edits */
    GPtrArray *proved; /* WsFound*, all that were, fastest first, without a floor; with no edit: the
                          design as it is. Neither accepted nor, of `kept`, proved again */
    gint64 cycles;     /* of the design as it is */
    guint rounds;      /* that were finished */
    guint tried, idle, unfit, refuted, undecided, repeated; /* edits: in all; left out, since they
                         change only what is on no critical path of the design they are of; that do
                         not elaborate, play, or do the same work; that the check refutes; cannot
                         prove; that lead to a design seen before */
    guint known;      /* edits: that lead to a design of which `kept` knew */
    guint serial;     /* whose products ptxas is known to serialise (search/normal.h) */
    guint unbuilt;    /* proved, of an order that `builds` does not build */
    guint rejected;   /* proved, and not accepted, or of constants that are not */
    double seconds;   /* of this thread */
    gboolean stopped; /* by time, or cancelled: edits were left */
} WsSearch;

/* From `of->p`, the program of `design`. The design itself has to be proved; else NULL, with a
 * finding. Transfer full. */
WsSearch *ws_search_new(const WsTrialOf *of, const WsDesign *design, const WsSearchOptions *options,
                        WsFindings *findings);
void ws_search_free(WsSearch *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsSearch, ws_search_free)

/* What of a program decides whether ptxas overlaps its products: the order of all that computes,
 * loops and branches around it, registers; not where is waited, arrived and loaded. As a checksum.
 * Caller frees. */
char *ws_search_computing(const WsProgram *p);

G_END_DECLS
