/* Facts about expressions of the array language (LANGUAGE section 10) that need no code: which part
 * is the same in all threads, which kind of number it is, how shapes meet. Both generators type
 * their nodes with these. */
#pragma once

#include "program/program.h"

G_BEGIN_DECLS

typedef enum { WS_MATH_LITERAL, WS_MATH_INT, WS_MATH_REAL, WS_MATH_BOOL } WsMathKind;

/* What a node of a statement is. Every lowering builds its own nodes by these. */
typedef enum {
    WS_ARRAY_UNIFORM,   /* integers or a condition, the same in all threads */
    WS_ARRAY_NUMBER,    /* real literal */
    WS_ARRAY_SCALAR,    /* f32 argument or run name */
    WS_ARRAY_ROW,       /* row number; extent 0 until its context says one */
    WS_ARRAY_COL,       /* column number */
    WS_ARRAY_VALUE,     /* a value of the agent, or a temporary: its name */
    WS_ARRAY_TEMPORARY, /* of the step, once it has been found by its name */
    WS_ARRAY_OPERATION, /* element by element: operator or function */
    WS_ARRAY_REDUCTION,
    WS_ARRAY_OTHER, /* nothing that a lowering knows */
} WsArrayForm;
/* The form of x as ws_array_chosen() gives it, and its kind (of those with arguments: unknown yet). */
WsArrayForm ws_array_form(const WsProgram *p, const WsExpr *x, WsMathKind *kind);

/* Integers and conditions over them that are the same in every thread. */
gboolean ws_array_uniform(const WsProgram *p, const WsExpr *x);
WsMathKind ws_array_uniform_kind(const WsExpr *x);
/* An index times a constant 0 or 1 is the choice between two masks: what is left of it; else x. */
const WsExpr *ws_array_chosen(const WsProgram *p, const WsExpr *x);
gboolean ws_array_reduction(const WsExpr *x);
/* Kind of an operator or call whose n operands are of these kinds. */
WsMathKind ws_array_kind(const WsExpr *x, const WsMathKind *operand, guint n);
/* Extents a and b in one expression; 0 takes that of its context. FALSE: they do not fit. */
gboolean ws_array_meet(guint a, guint b, guint *out);
/* What a thread holds of an extent: `per` elements of it make a slot. */
guint ws_array_slots(guint extent, guint per);
/* Somewhere in x one of the two functions is called. */
gboolean ws_array_calls(const WsExpr *x, WsFunc a, WsFunc b);

G_END_DECLS
