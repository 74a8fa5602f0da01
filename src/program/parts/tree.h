/* The tree of an agent: sequences, loops, branches, operations. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

typedef enum { WS_TREE_SEQ, WS_TREE_LOOP, WS_TREE_BRANCH, WS_TREE_OP } WsTreeKind;
typedef enum { WS_OVER_COUNT, WS_OVER_TILES } WsLoopOver;

struct WsTree {
    WsTreeKind kind;
    WsTree *parent;
    guint n_kids;
    WsTree **kid; /* SEQ: statements; LOOP: one SEQ; BRANCH: then SEQ, else SEQ or NULL */
    char *step;   /* id of the step it comes from, or NULL */
    /* The subtree is run by the agent's leader alone (LANGUAGE section 9). Set on the outermost
     * such subtree and on everything below it. */
    gboolean leader;
    /* SEQ */
    char *stage;     /* it is a stage (LANGUAGE section 19): its name; NULL otherwise */
    gint64 priority; /* of the stage; -1: none is given */
    /* LOOP */
    char *name;
    WsLoopOver over;
    gint index_var, total_var;
    WsExpr *count;          /* COUNT: rounds, none if <= 0 */
    const WsOp *ask;        /* over a pipe: the first operation of a round, which a generated kernel
                               tests in place of `count`, right before it; NULL otherwise */
    WsExpr *from, *step_by; /* round i has index from + step_by*i; over tiles: positions */
    guint n_cuts;
    WsExpr **cut; /* index values at which a generator splits the loop, whose step_by is a
                       literal >= 1 then; never changes meaning */
    gint unroll;  /* 0 not asked, n copies, -1 full */
    /* BRANCH */
    WsExpr *cond;
    /* OP */
    WsOp *op;
};

G_END_DECLS
