/* Expressions: one syntax tree for uniform integer expressions, statements of the compute array
 * language and the reference notation (they share a grammar and differ in names and typing).
 *
 * A WsExpr is an immutable, reference-counted value; every function that returns one hands out a
 * new reference (transfer full), every function that takes one borrows it unless it says so. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct WsExpr WsExpr;

typedef enum {
    WS_EXPR_INT,       /* value in `i`; `name`: the constant it stands for, or NULL */
    WS_EXPR_REAL,      /* value in `r`; also `inf`, `log2e`, `ln2` (then `name` is set) */
    WS_EXPR_TEXT_BOOL, /* `true` / `false`, value in `i` */
    WS_EXPR_NAME,      /* unbound name */
    WS_EXPR_TOTAL,     /* name.total, unbound */
    WS_EXPR_VAR,       /* bound name: `var` is an index whose table the owner of the tree knows */
    WS_EXPR_NEG,
    WS_EXPR_NOT,
    WS_EXPR_ADD,
    WS_EXPR_SUB,
    WS_EXPR_MUL,
    WS_EXPR_DIV, /* floor division on integers */
    WS_EXPR_MOD, /* remainder of floor division: has the sign of the divisor */
    WS_EXPR_LT,
    WS_EXPR_LE,
    WS_EXPR_GT,
    WS_EXPR_GE,
    WS_EXPR_EQ,
    WS_EXPR_NE,
    WS_EXPR_AND,   /* lazy */
    WS_EXPR_OR,    /* lazy */
    WS_EXPR_CALL,  /* `func`(arg…) */
    WS_EXPR_INDEX, /* name[arg…]: a tensor element; when bound, `var` is the tensor's index */
} WsExprOp;

/* Classes, for a switch that treats all of one alike: `case WS_EXPR_COMPARISON:`. What is in none
 * of them, as a new operator or function is, the compiler asks for at every switch. */
/* clang-format off */
#define WS_EXPR_LEAF \
    WS_EXPR_INT: case WS_EXPR_REAL: case WS_EXPR_TEXT_BOOL: case WS_EXPR_NAME: \
    case WS_EXPR_TOTAL: case WS_EXPR_VAR
#define WS_EXPR_ARITHMETIC \
    WS_EXPR_ADD: case WS_EXPR_SUB: case WS_EXPR_MUL: case WS_EXPR_DIV: case WS_EXPR_MOD
#define WS_EXPR_COMPARISON \
    WS_EXPR_LT: case WS_EXPR_LE: case WS_EXPR_GT: case WS_EXPR_GE: case WS_EXPR_EQ: case WS_EXPR_NE
#define WS_FUNC_CONVERSION \
    WS_FUNC_F32: case WS_FUNC_BF16: case WS_FUNC_F16: case WS_FUNC_TF32: case WS_FUNC_E4M3: \
    case WS_FUNC_E5M2: case WS_FUNC_I32: case WS_FUNC_U8: case WS_FUNC_I8
#define WS_FUNC_OF_BITS /* those with `where` B */ \
    WS_FUNC_SHL: case WS_FUNC_SHR: case WS_FUNC_SAR: case WS_FUNC_BITAND: case WS_FUNC_BITOR: \
    case WS_FUNC_BITXOR: case WS_FUNC_UMULHI
#define WS_FUNC_OF_ROWS \
    WS_FUNC_ROWMAX: case WS_FUNC_ROWSUM: case WS_FUNC_LANEMAX: case WS_FUNC_LANESUM: \
    case WS_FUNC_CUMSUM
#define WS_FUNC_ELEMENTARY /* of one real, in every language under a name of its own */ \
    WS_FUNC_SQRT: case WS_FUNC_ERF: case WS_FUNC_RSQRT: case WS_FUNC_SIN: case WS_FUNC_COS: \
    case WS_FUNC_FLOOR: case WS_FUNC_CEIL
/* clang-format on */

/* Functions of sections 3, 5 and 10 of the language; rows live in func.def. */
typedef enum {
#define WS_FUNC(id, text, min_args, max_args, where, help) WS_FUNC_##id,
#include "expr/func.def"
#undef WS_FUNC
    WS_FUNC_COUNT
} WsFunc;

struct WsExpr {
    gint refs;
    WsExprOp op;
    WsFunc func;
    gint var; /* WS_EXPR_VAR, bound WS_EXPR_INDEX; -1 otherwise */
    guint n_args;
    guint height; /* 1 for a leaf; at most WS_EXPR_MAX_HEIGHT for what parse and map return */
    gint64 i;
    double r;
    char *name;   /* owned */
    WsExpr **arg; /* owned references */
};

typedef enum {
    WS_EXPR_ERROR_SYNTAX,   /* not an expression; message has the column (1-based, in characters) */
    WS_EXPR_ERROR_OVERFLOW, /* a result does not fit in 64 bits */
    WS_EXPR_ERROR_DIVIDE,   /* division by zero */
    WS_EXPR_ERROR_NAME,     /* unknown name */
    WS_EXPR_ERROR_TYPE,     /* real where an integer is wanted, and the like */
    WS_EXPR_ERROR_DEPTH,    /* nested deeper than WS_EXPR_MAX_DEPTH */
} WsExprError;
#define WS_EXPR_ERROR ws_expr_error_quark()
GQuark ws_expr_error_quark(void);

#define WS_EXPR_MAX_DEPTH  64   /* nested parentheses, calls and signs in a text */
#define WS_EXPR_MAX_HEIGHT 1000 /* of the tree: a + a + a + … adds one level per operator */

/* --- building ------------------------------------------------------------------------------- */
WsExpr *ws_expr_ref(const WsExpr *e);
void ws_expr_unref(WsExpr *e);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsExpr, ws_expr_unref)

WsExpr *ws_expr_int(gint64 value);
/* The literal `value` that stands for a constant: prints, folds and compares as the literal; the
 * name is kept for lenses that write text for people. */
WsExpr *ws_expr_constant(gint64 value, const char *name);
WsExpr *ws_expr_real(double value);
WsExpr *ws_expr_name(const char *name);
/* Bound variable; `name` is kept for printing ("k", "k.total"). */
WsExpr *ws_expr_var(gint var, const char *name);
/* Operator node; takes ownership of both operands (b must be NULL for NEG, NOT). Folds nothing but
 * the sign of a literal: NEG of the literal 5 is the literal -5, as in the text. */
WsExpr *ws_expr_op(WsExprOp op, WsExpr *a, WsExpr *b);
WsExpr *ws_expr_call(WsFunc func, WsExpr **args, guint n_args); /* takes the references in args */
/* Tensor element name[arg…]; var is the tensor's index when bound, -1 otherwise. Takes the args. */
WsExpr *ws_expr_index(const char *name, gint var, WsExpr **args, guint n_args);

/* --- text ----------------------------------------------------------------------------------- */
/* Parses the whole of `text` (grammar: LANGUAGE section 25). NULL and WS_EXPR_ERROR on failure. */
WsExpr *ws_expr_parse(const char *text, GError **error);
/* Canonical text: no redundant parentheses, one space around binary operators except * and /, one
 * space after commas. parse(print(e)) equals e. */
char *ws_expr_print(const WsExpr *e);
gboolean ws_expr_equal(const WsExpr *a, const WsExpr *b);

/* --- evaluation ----------------------------------------------------------------------------- */
typedef enum { WS_LOOKUP_KNOWN, WS_LOOKUP_UNKNOWN, WS_LOOKUP_ERROR } WsLookup;

/* Values of leaves. `integer` serves NAME, TOTAL, VAR; `element` serves INDEX with evaluated
 * indices (LANGUAGE: outside its shape the value is 0). Either may be NULL: all unknown. */
typedef struct {
    WsLookup (*integer)(gpointer data, const WsExpr *leaf, gint64 *value, GError **error);
    WsLookup (*real)(gpointer data, const WsExpr *leaf, double *value, GError **error);
    WsLookup (*element)(gpointer data, const WsExpr *leaf, const gint64 *at, gint64 *value,
                        GError **error);
    gpointer data;
} WsExprEnv;

/* Exact 64-bit evaluation; an unknown leaf, overflow or division by zero is an error. */
gboolean ws_expr_eval(const WsExpr *e, const WsExprEnv *env, gint64 *value, GError **error);
/* Evaluation in double (run names that are f32). Integer leaves convert. */
gboolean ws_expr_eval_real(const WsExpr *e, const WsExprEnv *env, double *value, GError **error);
/* Partial evaluation: known leaves become literals, constant subtrees fold, x+0, x*1, x/1, x*0 (the
 * last only where x holds bound variables, no names, elements or reals), select/&&/|| with known
 * conditions simplify. NULL with error on overflow or division by zero, except in a branch that is
 * evaluated lazily: that one is left as it is. */
WsExpr *ws_expr_fold(const WsExpr *e, const WsExprEnv *env, GError **error);
/* Function by its text; WS_FUNC_COUNT if there is none. Text and column `where` of func.def. */
WsFunc ws_func_find(const char *text);
const char *ws_func_text(WsFunc func);
const char *ws_func_where(WsFunc func);
/* Does it make one word of the bits of two: shifts, bitand, umulhi? */
gboolean ws_func_of_bits(WsFunc func);
/* How many leading arguments `index < bound` make the call a reduction (sum, min, max); 0: it is
 * none. */
guint ws_expr_n_bounds(const WsExpr *e);
/* TRUE and the value if e is an integer literal (after folding). */
gboolean ws_expr_is_int(const WsExpr *e, gint64 *value);

/* Replaces leaves: `map` returns a new reference to put in the leaf's place, or NULL to keep it.
 * `map` sees NAME, TOTAL, VAR and INDEX nodes (INDEX after its arguments were mapped). */
typedef WsExpr *(*WsExprMap)(const WsExpr *leaf, gpointer data, GError **error);
WsExpr *ws_expr_map(const WsExpr *e, WsExprMap map, gpointer data, GError **error);
typedef void (*WsExprVisit)(const WsExpr *node, gpointer data);
void ws_expr_visit(const WsExpr *e, WsExprVisit visit, gpointer data); /* pre-order, all nodes */
/* Whether a node of e (NULL: it has none) goes by that name: a name, a total, an indexed object; or
 * is that variable. */
gboolean ws_expr_mentions(const WsExpr *e, const char *name);
gboolean ws_expr_mentions_var(const WsExpr *e, gint var);

/* Affine form over leaves: c0 + sum ci*xi; xi are VAR leaves or opaque subtrees. */
typedef struct {
    gint64 constant;
    guint n;
    gint64 *factor; /* n */
    WsExpr **term;  /* n references; sorted by printed text, factors nonzero */
} WsAffine;
gboolean ws_expr_affine(const WsExpr *e, WsAffine *out); /* FALSE on overflow, *out is empty then */
void ws_affine_clear(WsAffine *a);

/* --- references and statements -------------------------------------------------------------- */
typedef enum { WS_VIEW_ROWS, WS_VIEW_COLS, WS_VIEW_T } WsViewKind;
typedef struct {
    WsViewKind kind;
    WsExpr *start, *count; /* NULL for .t */
} WsView;

/* name[element].rows(…).cols(…).t @ use (LANGUAGE section 4). Immutable, reference-counted. */
typedef struct {
    gint refs;
    char *name;
    WsExpr *element; /* or NULL */
    WsExpr *use;     /* or NULL */
    guint n_views;
    WsView *view;
} WsRef;
WsRef *ws_ref_parse(const char *text, GError **error);
char *ws_ref_print(const WsRef *ref); /* canonical */
WsRef *ws_ref_ref(const WsRef *ref);
void ws_ref_unref(WsRef *ref);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsRef, ws_ref_unref)

/* A word with arguments, `grouped(m, 8)`, `uniform(-1, 1)`, `linear`: the forms `order` and `data`
 * of the grammar. `args` (WsExpr*, frees its elements) is empty without parentheses. Both transfer
 * full. */
gboolean ws_form_parse(const char *text, char **name, GPtrArray **args, GError **error);

/* `name = expr` (compute) or `name[i, …] = expr` (reference). */
typedef struct {
    gint refs;
    char *name;
    guint n_index;
    char **index; /* bound index names of a reference definition */
    WsExpr *value;
} WsStatement;
WsStatement *ws_statement_parse(const char *text, GError **error);
char *ws_statement_print(const WsStatement *s);
/* … and the 1-based character at which `part` of its value begins; 0 if it is no part of it. */
char *ws_statement_print_at(const WsStatement *s, const WsExpr *part, glong *character);
WsStatement *ws_statement_ref(const WsStatement *s);
void ws_statement_unref(WsStatement *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsStatement, ws_statement_unref)

G_END_DECLS
