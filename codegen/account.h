/* Books of one text or module: every operation of the program is written, or implied by what is
 * written for another, or never comes to run. What is none of these has been lost, and the
 * generator says so instead of handing out a kernel without it. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

typedef struct {
    const WsProgram *p;
    const char **how; /* [p->n_ops]: NULL not yet seen; borrowed */
} WsAccount;

WsAccount ws_account_new(const WsProgram *p);
void ws_account_clear(WsAccount *a);
void ws_account_written(WsAccount *a, const WsOp *op);
/* `how`: the construct that stands for it, a literal: "the call that copies". */
void ws_account_implied(WsAccount *a, const WsOp *op, const char *how);
/* Its condition is a constant, or its loop makes no round. */
void ws_account_never(WsAccount *a, const WsTree *t);
const WsOp *ws_account_missing(const WsAccount *a); /* the first operation not seen, or NULL */

G_END_DECLS
