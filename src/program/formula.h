/* The reference of a design as bound and typed nodes (LANGUAGE section 5): every name is resolved,
 * every node has its kind, and what is no reference says why. Elaboration infers them once
 * (elaborate/formulas.c); a lens walks the nodes, and infers and parses nothing.
 *
 * A tree belongs to its program. Nodes of run names and of shapes are shared by those who name
 * them, all others have one parent. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* Conditions, 64-bit integers, float64: they widen in that order where they meet. */
typedef enum { WS_FORMULA_BOOL, WS_FORMULA_INT, WS_FORMULA_REAL } WsFormulaKind;

typedef enum {
    WS_FORMULA_NUMBER,    /* the literal x */
    WS_FORMULA_INDEX,     /* index number `index` in scope: of the statement, then of reductions */
    WS_FORMULA_VARIABLE,  /* size, scalar or run name: variable `index`; of a run name arg[0] is its
                             value */
    WS_FORMULA_ELEMENT,   /* of tensor `index` at arg */
    WS_FORMULA_HELPER,    /* what statement `index` defines at arg */
    WS_FORMULA_OPERATION, /* operator x->op, or function x->func, of arg */
    WS_FORMULA_REDUCTION, /* x->func (sum, min or max) over n_arg - 1 new indices, the first of them
                             number `depth` in scope, that begin at 0: their bounds (integers, each
                             over the indices before it), then the body */
} WsFormulaForm;

struct WsFormula {
    WsFormulaForm form;
    WsFormulaKind kind;
    const WsExpr *x; /* as it was written: operator, function or literal, and text for people */
    guint index;
    guint depth;     /* indices in scope here */
    gboolean costly; /* a reduction stands in it, or in a helper that it names */
    guint n_arg;
    WsFormula **arg;
};

/* Shape and strides of a tensor that the reference reads or defines: integers. */
struct WsFormulaShape {
    WsFormula *extent[WS_MAX_RANK], *stride[WS_MAX_RANK];
};

/* One statement. */
struct WsDefinition {
    const WsStatement *statement; /* constants folded, names left as names: for people */
    gint tensor;                  /* that it defines; -1: a helper */
    WsFormulaKind kind;           /* integer or real */
    const WsFormula *value;       /* NULL where there is a problem */
    gboolean any;                 /* some elements may hold anything: what `any` says */
    guint terms;                  /* nodes with helpers written out; at most WS_FORMULA_TERMS */
    guint height;                 /* of the tree with helpers written out */
    /* What is no reference, here or in a helper, a phrase; and the statement where. NULL: fine. */
    const char *problem;
    guint problem_at;
};

#define WS_FORMULA_TERMS      1000000u
#define WS_FORMULA_STATEMENTS 64u   /* that a reference has at most */
#define WS_FORMULA_INDICES    60u   /* of a statement */
#define WS_FORMULA_HEIGHT     4000u /* helpers written out; lenses descend by recursion */

/* The statement that defines tensor or helper `name`, -1: none. */
gint ws_formula_find(const WsProgram *p, const char *name);
/* Whether the reference says of some elements of the tensor that they may hold anything. */
gboolean ws_formula_says_any(const WsProgram *p, guint tensor);
/* What is wrong with what defines an output, a phrase that the caller frees; NULL: nothing. `at`:
 * the statement where, that of the output if it is fine, or -1 where it is none of them; `missing`:
 * no statement defines it. */
char *ws_formula_problem(const WsProgram *p, guint tensor, gint *at, gboolean *missing);

/* Binds `statement` into p->reference and p->formula_shape. Variables and tensors stand. Memory
 * comes from p->arena; it never fails (see WsDefinition.problem). Part of ws_elaborate(). */
void ws_formulas_bind(WsProgram *p, WsStatement *const *statement, guint n);

G_END_DECLS
