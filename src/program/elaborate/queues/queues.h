/* Queues of a core (README.md). Private to elaboration. */
#pragma once

#include "program/elaborate/elab.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* TRUE if the agent that is being elaborated takes the step. A step that no queue takes is an
 * error, said once. On targets without queues every agent takes every step. */
gboolean ws_queue_takes(WsElab *E, const WsNode *step, const char *at);
/* The agents of group number `group`, one for each queue that a step of it goes to: appended to
 * `agents` (WsAgent). */
void ws_queue_agents(WsElab *E, const WsNode *node, const char *path, guint group, GArray *agents);

/* --- steps (core_steps.c): TRUE if the target has queues, and the step is elaborated */
gboolean ws_queue_load(WsStepState *S);
gboolean ws_queue_store(WsStepState *S);
gboolean ws_queue_mma(WsStepState *S);
gboolean ws_queue_wait(WsStepState *S);
gboolean ws_queue_arrive(WsStepState *S);
gboolean ws_queue_sync(WsStepState *S);

/* Whether the queue that copies the buffer out makes `to` of its elements on the way. */
gboolean ws_queue_converts(const WsElab *E, const WsBuffer *b, WsDtype to);

/* --- objects (core_objects.c) */
/* Space and alignment of a buffer; what a core has not is refused. */
void ws_queue_buffer(WsElab *E, WsBuffer *b, const WsNode *node, const char *at);
void ws_queue_barrier(WsElab *E, WsBarrier *b, const WsNode *node);
/* After placing: what each space holds, and which hardware ids flags have. */
void ws_queue_budgets(WsElab *E);

G_END_DECLS
