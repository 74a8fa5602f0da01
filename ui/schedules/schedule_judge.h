/* Whether a schedule that was found is built and computes as it is meant: ptxas and the rehearsal,
 * asked by the command line tool, since the studio knows no code generation. */
#pragma once

#include "model/design.h"

G_BEGIN_DECLS

typedef enum {
    WS_JUDGED_NOT,        /* nobody has asked */
    WS_JUDGED_SAME,       /* rehearsed, with the values of the reference */
    WS_JUDGED_UNCOMPARED, /* it cannot be rehearsed, and nothing that computes was moved */
    WS_JUDGED_OUT,        /* ptxas serialises its products or spills; values differ, or cannot be
                             compared though something that computes was moved */
} WsScheduleJudged;

typedef struct WsScheduleJudge WsScheduleJudge;
typedef void (*WsScheduleDone)(WsScheduleJudged judged, gpointer data);

/* `done` is called once, on the main thread; the judge is freed afterwards. */
WsScheduleJudge *ws_schedule_judge_start(const WsDesign *design, gboolean reorders,
                                         WsScheduleDone done, gpointer data);
/* Nobody waits any more: `done` is not called. */
void ws_schedule_judge_abandon(WsScheduleJudge *j);

G_END_DECLS
