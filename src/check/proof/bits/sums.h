/* Sums that turns are made of (bits_sums.c, bits_laps.c, bits_amounts.c). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* L-LAPS: a sum of variables of an agent, relative to what the slots of a barrier have completed.
 */
typedef struct {
    gint local, loop; /* loop: whose index it is, -1 */
    gint symbol;      /* its value in the tile at hand instead; 0: it is a local */
    gint64 factor;
} WsBitTerm;
typedef struct {
    gint barrier, slot;   /* -1: compared with no barrier; with the ring */
    gint element[16];     /* [CTA of who asks]; -1: all */
    guint16 to[16];       /* [CTA of who asks] with slots of these CTAs; 0: nobody asks */
    gint64 laps, modulus; /* times the completions; modulus 0: all of it counts */
    guint n_terms;
    WsBitTerm *term;
    guint16 first, last; /* places between which it is asked for, but for */
    guint64 around;      /* these loops, as long as they run */
    gint until;          /* and, once the index of this one is above */
    gint64 most;         /* that, for its later turns only; -1 */
} WsBitSum;

/* L-DRIFT: a symbol whose value goes into such a sum, at a place. */
typedef struct {
    gint symbol;
    guint16 place;
    guint64 around; /* loops around it but for those over tiles */
    guint factor;   /* L-OWED: of so many tiles; 0: of this one */
    gboolean term;  /* sums hold it in the tile at hand */
} WsBitAmount;
/* What a counter goes on by once in every round of a loop. */
typedef struct {
    guint16 place; /* 0: it is no such counter */
    guint16 sure;  /* from here on it will come there: in its side of a branch */
    gint loop;     /* the innermost one around it, -1 none */
    guint n_terms;
    WsBitTerm *term;
    const struct WsBitOp *op;
} WsBitStride;

G_END_DECLS
