/* Stages (LANGUAGE section 19): which steps of a list form a pipeline, and where its borders stand.
 * Private to elaboration. */
#pragma once

#include "program/elaborate/elab.h"

G_BEGIN_DECLS

typedef struct {
    guint from, to; /* operations of the stage, in order of making */
    WsOp *border;   /* behind it; NULL: none */
    gboolean drawn; /* a load_wait or sync stands there */
} WsStageMade;

/* The stages of one list; all zero where it has none. */
typedef struct {
    gboolean staged, loop, top, waited;
    guint n, at;              /* stages of the run, and the one that was last */
    guint first, last, ended; /* steps of the run; the operations made when it ended */
    gboolean priority;
    guint gap;
    GArray *made; /* WsStageMade, in order; NULL before the first */
} WsStageRun;

/* Judges the list of `owner`; FALSE after an error. `path` as of its steps. */
gboolean ws_stage_run(WsElab *E, const WsNode *owner, WsFieldId field, const char *path,
                      WsStageRun *run);
/* Around step `i` of a list with stages, and at its end. */
void ws_stage_before(WsElab *E, WsList *list, const WsNode *owner, WsFieldId field,
                     const char *path, guint i, WsTree *seq, WsStageRun *run);
void ws_stage_after(WsElab *E, WsList *list, const WsNode *owner, WsFieldId field, const char *path,
                    guint i, WsTree *seq, WsStageRun *run);
/* At the end of a list. */
void ws_stage_end(WsElab *E, WsStageRun *run);
/* Around a loop whose body may be a pipeline. */
void ws_stage_enter(WsStepState *S, const char *path);
void ws_stage_leave(WsStepState *S, const char *path);

/* --- what Triton's lowering would make of the borders (lowering.c) */
void ws_stage_lowering(WsElab *E, const WsStageRun *run);

/* --- halves (halves.c) */
gboolean ws_halves(const WsElab *E); /* the agent is half of its group */
/* The half's share of a view that stands against a value whose rows the halves share. */
gboolean ws_half_view(WsStepState *S, const WsValueUse *use, WsBufferView *view);
gboolean ws_half_rows(WsStepState *S, WsBufferView *view);
/* The same of the coordinates in a tensor. */
void ws_half_coordinates(WsStepState *S, const WsValueUse *use, WsExpr **at, guint n);
/* A value that both halves hold is not written: every element would be written twice. */
void ws_half_writes(WsStepState *S, const WsValueUse *use);
void ws_half_load(WsStepState *S, const WsTensor *t, guint tensor, WsBufferView *view);
void ws_half_mma(WsStepState *S);

G_END_DECLS
