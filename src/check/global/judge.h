/* Global memory: every element of an output is written exactly once by a launch, whatever its sizes
 * and however its tiles are dealt to CTAs. What the symbols show is proved; what they do not show
 * is tried with numbers, and is refuted or left open with the reason. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

typedef enum { WS_GLOBAL_SHOWN, WS_GLOBAL_OPEN, WS_GLOBAL_WRONG } WsGlobalKind;
typedef struct {
    WsGlobalKind kind;
    char *reason;       /* OPEN: why, in one sentence; owned */
    GPtrArray *assumed; /* char*: what the design states and nobody has shown */
} WsGlobalVerdict;

/* WRONG adds findings of class G, OPEN one of class F. Free with ws_global_verdict_clear(). */
WsGlobalVerdict ws_check_global(const WsProgram *p, WsFindings *findings);
/* The same of one tensor of access `write`. */
WsGlobalVerdict ws_check_global_tensor(const WsProgram *p, gint tensor, WsFindings *findings);
/* Why it was not shown that nothing is ever divided by 0, NULL if it was; the caller frees it.
 * `protocol`: of control only. `given` (char*) gains what a design that states `covers` takes as
 * given. */
char *ws_global_divisors(const WsProgram *p, gboolean protocol, GPtrArray *given);
/* `given` gains what a proof takes for granted where it counts in 64 bits what kernels compute in
 * 32 (phrases). */
void ws_global_narrow(const WsProgram *p, GPtrArray *given);
/* An element that some launch writes twice though `covers` says otherwise: a phrase, which the
 * caller frees. NULL: none was found among those tried. */
char *ws_check_global_twice(const WsProgram *p);
void ws_global_verdict_clear(WsGlobalVerdict *v);

G_END_DECLS
