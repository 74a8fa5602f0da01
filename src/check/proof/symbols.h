/* Inside src/check: the analysis before a proof. symbols.c, ranges.c, learn.c,
 * demands.c, variables.c, analysis.c. */
#pragma once

#include "check/proof/prove.h"

G_BEGIN_DECLS

/* Leaves of an expression by what they are; depth guards against long definitions. */
typedef struct {
    const WsControl *c;
    guint depth;
    guint index, symbol, real, cta, tile, rank; /* occurrences; cta: of the rank, in names too */
} WsLeaves;

/* --- symbols.c --- */
/* The first reason why a program is outside the fragment stays. */
void ws_control_outside(WsControl *c, const char *what, const WsExpr *e);
WsLeaves ws_leaves(const WsControl *c, const WsExpr *e);
/* Greatest value an expression can have; G_MAXINT64 if that is not known. */
gint64 ws_most(const WsControl *c, const WsExpr *e, guint depth);
gint64 ws_least(const WsControl *c, const WsExpr *e); /* far below 0 if that is not known */
gint ws_symbol_of(WsControl *c, const WsExpr *e, gboolean letter);
/* With expressions of the program instead of symbols; NULL: too deep. Transfer full. */
WsExpr *ws_named(const WsControl *c, const WsExpr *e);
WsExpr *ws_symbol_leaf(WsControl *c, gint symbol); /* transfer full */
/* With symbols as variables from n_vars on; belongs to the control. */
WsExpr *ws_rewritten(WsControl *c, const WsExpr *e);
/* Where the questions about each symbol begin. */
void ws_find_floors(WsControl *c);
/* factor * symbol + rest with at most one symbol; NULL if it is not so. */
WsForm *ws_form_of(WsControl *c, const WsExpr *e);

/* --- normal.c --- */
/* `more`: with what the form of certificates does not know. */
WsExpr *ws_normal(const WsExpr *e, gboolean more);
/* The normal form of what names stand for. Transfer full. */
WsExpr *ws_defined(const WsControl *c, const WsExpr *e);
/* The same with what is assumed. */
WsExpr *ws_expanded(const WsControl *c, const WsExpr *e);
char *ws_normal_text(const WsControl *c, const WsExpr *e);
/* factor*x - factor*m*(x/m) is factor*(x % m), x - x/2 is cdiv(x, 2). */
void ws_fold_quotients(WsAffine *a);
gint64 ws_common_divisor(gint64 a, gint64 b);

/* --- same.c --- */
void ws_find_residues(WsControl *c);
WsExpr *ws_same(const WsControl *c, WsExpr *e); /* takes it, a normal form; transfer full */

/* --- assumed.c --- */
void ws_find_assumed(WsControl *c);
/* Least and greatest value of an expression (of the program) that `assume` allows; they only ever
 * come closer. */
void ws_assumed_bounds(const WsControl *c, const WsExpr *e, gint64 *least, gint64 *most);

/* --- analysis.c --- */
/* The form of an expression: the one that it has already (places may share an expression), or `f`,
 * which is taken. */
WsForm *ws_keep_form(WsControl *c, const WsExpr *e, WsForm *f);

/* --- ranges.c --- */
WsSpan ws_span_add(WsSpan a, WsSpan b);
WsSpan ws_span_times(WsSpan a, gint64 factor);
WsSpan ws_span_of(const WsControl *c, const WsExpr *e); /* rewritten */
/* Fills `range`, `up` and `down`. */
void ws_find_ranges(WsControl *c);

/* --- learn.c: what the tree of an agent asks for --- */
void ws_add_site(WsControl *c, gint agent, const WsTree *node, const WsForm *form, gboolean count);
void ws_learn_condition(WsControl *c, gint agent, const WsTree *node, const WsExpr *e);
/* `m`: what the result must be known modulo; `use`: and whether it is negative. */
void ws_learn_ring(WsControl *c, const WsExpr *e, GArray *need, gint64 m, gboolean use);
gboolean ws_only_remainders(const WsControl *c, const WsExpr *e); /* rewritten */
void ws_learn_remainders(WsControl *c, const WsExpr *e);          /* of all symbols in it */
void ws_learn_exact(WsControl *c, const WsExpr *e, GArray *need);
void ws_learn_operation(WsControl *c, const WsOp *op);
void ws_settle_sites(WsControl *c); /* once the ranges are known */

/* --- rounds.c --- */
/* The symbol of a count that follows the index of the loop around it, -1 if it is none. */
gint ws_round_symbol(WsControl *c, gint agent, const WsTree *loop);
/* The letter of a condition that follows it, -1 if it is none. */
gint ws_round_letter(WsControl *c, gint agent, const WsTree *branch);

/* --- begins.c --- */
/* Finds `begins`, `begun` and what is renewed by them; not `set`: only whether there is any. */
void ws_find_begins(WsControl *c, gboolean set);

/* --- demands.c: how well each variable must be known --- */
typedef enum { WS_WISH_EXACT, WS_WISH_USE, WS_WISH_MODULO, WS_WISH_TRUTH } WsWishKind;
GArray *ws_wishes_new(void);
void ws_wish(WsControl *c, WsWishKind kind, const WsExpr *e, gint64 m); /* e: rewritten */
/* Where a variable must be known exactly: its window, and beyond it where it can come back. */
WsSpan ws_exact_window(const WsControl *c, gint var);
void ws_grant_wishes(WsControl *c);

/* --- relate.c --- */
#define WS_ALWAYS (-((gint64)1 << 50))
#define WS_NEVER  ((gint64)1 << 50)
void ws_relate_symbols(WsControl *c);
gint ws_base_of(const WsControl *c, gint symbol);
gint64 ws_base_question(const WsControl *c, gint symbol, gint64 n);
gint64 ws_value_from_base(const WsControl *c, gint symbol, gint64 x);
/* Least common multiple; outside the fragment if it is too large. */
gint64 ws_least_multiple(WsControl *c, gint64 a, gint64 m);

/* --- differences.c --- */
void ws_find_differences(WsControl *c);
WsForm *ws_difference(WsControl *c, const WsExpr *e);
WsForm *ws_sum_of_names(WsControl *c, const WsExpr *e);

/* --- lets.c --- */
void ws_find_lets(WsControl *c);
void ws_find_starts(WsControl *c);
/* First index and step of a loop for the proof; NULL: 0 and 1. Once variables are known. */
const WsExpr *ws_from(const WsControl *c, const WsTree *t);
const WsExpr *ws_step(const WsControl *c, const WsTree *t);
WsExpr *ws_without_lets(const WsControl *c, const WsExpr *e); /* transfer full */

/* --- flat.c --- */
void ws_find_flat(WsControl *c);
/* With totals for what they are worked out by; lets are replaced. Transfer full. */
WsExpr *ws_flattened(const WsControl *c, const WsExpr *e);

/* --- variables.c --- */
/* The subtree touches nothing but registers and global memory. */
gboolean ws_is_private(const WsControl *c, const WsTree *t);
void ws_find_variables(WsControl *c);

/* --- growth.c --- */
void ws_check_growth(WsControl *c);

G_END_DECLS
