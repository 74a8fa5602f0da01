/* All SMs of a launch at once: when each worked on which tile, by the timer that they share. Shows
 * waves, the tail, and SMs whose tiles take longer. */
#pragma once

#include "trace/stats.h"

G_BEGIN_DECLS

/* A tile (or, outside tile loops, all) of a CTA: of the agents that do more than to load, from
 * where the first of them was done with its tile before to the last step. ns from where the first
 * CTA of the trace began. */
typedef struct {
    guint cta;   /* index in the trace */
    gint32 tile; /* its position in the CTA's sequence, -1: the CTA has no tile loop */
    gint64 from, to;
} WsWaveSpan;

typedef struct {
    guint32 sm;        /* G_MAXUINT32: not known */
    guint first, n;    /* its spans, in WsWaves.span, ascending */
    guint ctas;        /* that ran there, of those recorded */
    gint64 begin, end; /* ns, of its CTAs */
    gint64 ran;        /* ns in which at least one of them ran */
} WsWaveRow;

/* The tiles that stand at one place of their CTAs' sequences. */
typedef struct {
    gint32 tile;
    guint n;
    gint64 p10, p50, p90; /* ns that they took */
} WsWavePlace;

typedef struct {
    GArray *row;         /* WsWaveRow, by SM */
    GArray *span;        /* WsWaveSpan */
    GArray *place;       /* WsWavePlace, ascending */
    guint ctas;          /* recorded */
    gint64 grid;         /* of the launch, 0 not known */
    gint64 end;          /* ns of the last end */
    gint64 latest_begin; /* of an SM's first CTA */
    gint64 earliest_end; /* of an SM's last CTA */
    double tail;         /* mean ns from an SM's end to the last one */
    double ran;          /* share of all SMs' time from 0 to `end` in which a CTA ran */
} WsWaves;

#define WS_WAVES_LEAST 8 /* SMs; what fewer show is of CTAs, not of waves */

/* NULL: the trace holds one CTA, or does not say when each began or how fast its clock went.
 * Transfer full. */
WsWaves *ws_waves_new(const WsTrace *t);
void ws_waves_free(WsWaves *w);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsWaves, ws_waves_free)

/* A few lines for people. Caller frees. */
char *ws_waves_text(const WsWaves *w);

G_END_DECLS
