/* The invariants that program.h states, as code. A program that elaboration hands out without an
 * error keeps all of them, so that no lens guards against the others. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* NULL, or the first violation: "groups/mma/body/3 mma_wait: retires nothing that flies". Caller
 * frees. */
char *ws_program_validate(const WsProgram *p) G_GNUC_WARN_UNUSED_RESULT;

/* --- inside of validate*.c -------------------------------------------------------------------- */
typedef struct {
    const WsProgram *p;
    const WsAgent *agent; /* NULL in the prologue */
    const WsOp *op;
    char *what; /* the first violation */
} WsValidation;

/* Notes `what` unless `holds`; the rest of it only says where. Returns `holds`. */
gboolean ws_holds(WsValidation *v, gboolean holds, const char *what);
void ws_validate_op(WsValidation *v, const WsOp *op);   /* validate_op.c */
void ws_validate_wait(WsValidation *v, const WsOp *op); /* validate_wait.c */
void ws_validate_moves(WsValidation *v);                /* validate_move.c */
void ws_validate_math(WsValidation *v, const WsOp *op); /* validate_array.c */
void ws_validate_queue(WsValidation *v, const WsOp *op);
/* `e` is a literal: its value. */
gboolean ws_literal(const WsExpr *e, gint64 *value);

G_END_DECLS
