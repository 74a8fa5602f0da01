/* The author's PTX compared with what its step declares. */
#pragma once

#include "program/program.h"

G_BEGIN_DECLS

/* NULL: every instruction is understood, and does no more than the step declares; which bytes of its
 * buffers an address picks is believed (L-RAW). Else what is not so, as a phrase; caller frees. */
char *ws_raw_reason(const WsProgram *p, const WsOp *op);
/* "reads a, b, writes c, arrives at done": what is believed of it, as a phrase; caller frees. */
char *ws_raw_believed(const WsProgram *p, const WsOp *op);

G_END_DECLS
