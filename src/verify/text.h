/* Names of equal values: docs/soundness.md section 8.1, TEXT, and lemma NAME. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* What all expressions of one value have in common, as far as anyone can see it: sums by their
 * terms, quotients and remainders by floor division, min and max by their arguments, comparisons by
 * the difference of their sides. Caller frees. */
char *text_of(const WsExpr *e);
/* That form, also where a term that cancels may have no value. Transfer full. */
WsExpr *text_normal(const WsExpr *e);
/* The expression that a text stands for, its names bound; NULL: it is none. Transfer full. */
WsExpr *text_read(const char *text, WsExprMap bind, gpointer data);
WsExpr *text_name(const WsExpr *leaf, gpointer program, GError **error); /* of the program */
/* Names of the launch and of the tile by what they are defined as. Transfer full. */
WsExpr *text_defined(const WsProgram *p, const WsExpr *e);
gboolean text_divides(const WsExpr *e); /* by something that may be 0 */
gboolean text_divided(const WsExpr *e); /* itself, not a part of it */
static inline gboolean text_compares(const WsExpr *e)
{
    return e->op >= WS_EXPR_LT && e->op <= WS_EXPR_NE;
}
static inline gboolean text_is_truth(const WsExpr *e)
{
    return (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_OR) || e->op == WS_EXPR_NOT;
}

WsExpr *text_truth(const WsExpr *e); /* 0 or 1: whether it is 0. Transfer full */
/* Which leaves stand in it: bit WsVarKind of a variable, or one of these. `deep`: in definitions,
 * too. */
enum { LEAF_SYMBOL = 1 << 20, LEAF_ELEMENT = 1 << 21, LEAF_NAME = 1 << 22 };
#define LEAF(kind)  (1u << WS_VAR_##kind)
#define LEAF_LAUNCH (LEAF(SIZE) | LEAF(RUN))
#define LEAF_TILE   (LEAF(AXIS) | LEAF(TILE) | LEAF_ELEMENT)
guint text_leaves(const WsProgram *p, const WsExpr *e, gboolean deep);
guint text_nodes(const WsExpr *e); /* how large it is */
/* `e` with other arguments; takes them. Transfer full. */
WsExpr *text_with(const WsExpr *e, WsExpr **arg);
/* The sum of factors and terms. Transfer full. */
WsExpr *text_sum(const WsAffine *f);

G_END_DECLS
