/* Statements of compute steps as bound and typed nodes (LANGUAGE section 10): names are values of
 * the agent or temporaries of the step, every node has its kind and its shape. Elaboration infers
 * them once (elaborate/types.c); a lens walks the nodes and infers nothing.
 *
 * A tree belongs to its program. Nodes are shared by nobody: each has one parent. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* A LITERAL takes the kind of what it meets: an integer where nothing says more. */
typedef enum { WS_MATH_LITERAL, WS_MATH_INT, WS_MATH_REAL, WS_MATH_BOOL } WsMathKind;

typedef enum {
    WS_ARRAY_UNIFORM,   /* integers or a condition, the same in all threads */
    WS_ARRAY_NUMBER,    /* real literal */
    WS_ARRAY_SCALAR,    /* f32 argument or run name */
    WS_ARRAY_ROW,       /* row number */
    WS_ARRAY_COL,       /* column number */
    WS_ARRAY_VALUE,     /* a value of the agent */
    WS_ARRAY_TEMPORARY, /* what an earlier statement of the step has left */
    WS_ARRAY_OPERATION, /* element by element: operator or function */
    WS_ARRAY_REDUCTION, /* over the columns: to one (row…), or to one per lane of a quad (lane…) */
    WS_ARRAY_SCAN, /* over the columns, one for each; arg[1], arg[2]: constants (ws_array_scan) */
} WsArrayForm;

struct WsArray {
    WsArrayForm form;
    WsMathKind kind;
    const WsExpr *x;  /* operator or function; of a leaf: all of it, its variables bound */
    guint rows, cols; /* shape, at least 1 x 1; what is smaller than its parent is broadcast */
    guint index;      /* VALUE: of the agent's values; TEMPORARY: statement that made it */
    guint n_arg;
    WsArray **arg;
};

/* What statement i of a compute step does. */
struct WsAssign {
    gint value; /* of the agent's values, all of it; -1: a temporary */
    /* NULL: a temporary of rows or columns that only its uses know (`t = row`); it stands in them
     * instead, and there is nothing to compute here. */
    const WsArray *array;
};

gboolean ws_array_reads(const WsArray *a, guint value); /* the value stands in it; a may be NULL */
/* The values that a step's statements and its `unless` read: calls `see` once for each mention. */
void ws_array_visit(const WsArray *a, void (*see)(const WsArray *node, gpointer data),
                    gpointer data);
/* Somewhere in it one of the two functions is called. */
gboolean ws_array_calls(const WsArray *a, WsFunc one, WsFunc other);
/* `row` or `col` stands in it, outside of reductions. */
gboolean ws_array_places(const WsArray *a);
/* It is f16 of a tile of 8-bit floats times an f16 of each row, assigned to the f16 value `to` of
 * the same shape: an instruction makes two elements of it. `tile`: which value is multiplied. */
gboolean ws_array_half(const WsAgent *agent, const WsArray *a, guint to, guint *tile);
/* What a SCAN leaves out its own element, and comes from the last column. */
void ws_array_scan(const WsArray *a, gboolean *exclusive, gboolean *reverse);
/* The result of a lane… reduction, or a value that holds one: a number per row and lane. */
static inline gboolean ws_array_by_lane(guint rows, guint cols)
{
    return rows > 1 && cols == 4;
}

G_END_DECLS
