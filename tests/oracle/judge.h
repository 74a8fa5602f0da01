/* The oracle over the small cases of a design whose sizes are called N (rounds), T (tiles) and D:
 * the smallest first, until one goes wrong. */
#pragma once

#include "oracle.h"

G_BEGIN_DECLS

typedef struct {
    gint64 n, d;
    guint tiles;
    gint64 element, element_step;
    guint first, stride; /* ids of the tiles, as in OracleOptions */
} Case;

typedef struct {
    guint most_n, most_tiles, most_d; /* of the cases of all interleavings */
    guint cap;                        /* states of one case */
    guint max_cases;
    guint max_explored; /* cases of which every interleaving is looked at */
    guint64 max_states; /* of all cases */
    gboolean control;   /* a design that only counts: many cases, of which its lanes are judged */
    gboolean elements;  /* values of integer tensors matter: they are varied */
    gboolean accesses;  /* in every interleaving, besides in the lanes */
} JudgeOptions;

typedef struct {
    guint verdict; /* of all cases that were looked at */
    gboolean bad;
    Case smallest;  /* that is bad */
    gboolean inner; /* an interleaving goes wrong though the lanes are right */
    guint cases, allowed, explored;
    guint64 states;
    LanesAlike *alike; /* while it goes on */
    char *text;        /* what was found, NULL: nothing. Caller frees. */
} Judgement;

/* The least T that has the last tile of the case. */
gint64 judge_tiles(Case c);
/* Its sizes; NULL: an assumption does not hold. Caller frees. */
WsLaunchValues *judge_values(const WsProgram *p, Case c);
Judgement judge(const WsProgram *p, const JudgeOptions *options);
/* One more case; `cap` 0: its lanes alone. */
void judge_case(const WsProgram *p, Case c, guint cap, gboolean accesses, Judgement *j);
WsLaunchValues *judge_values(const WsProgram *p, Case c);

G_END_DECLS
