/* Uniform integer expressions as text of a language (C++, Python). As in uniform.c every value
 * carries the interval it lies in: comparisons that an interval decides fold, divisions know their
 * sign. What a language says in its own way is its table; the rules are here, once. */
#pragma once

#include "codegen/interval.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* An expression: text, precedence (higher binds tighter) and the interval of its value. */
typedef struct {
    const char *s; /* in the pool */
    guint prec;
    WsInterval in;
} WsTerm;

/* What C++ and Python have in common, and where one of the two has more. */
enum {
    WS_PREC_COND = 1,
    WS_PREC_OR,
    WS_PREC_AND,
    WS_PREC_NOT,
    WS_PREC_EQ,
    WS_PREC_REL,
    WS_PREC_BIT, /* and shifts */
    WS_PREC_SUM,
    WS_PREC_TERM,
    WS_PREC_UNARY,
    WS_PREC_ATOM
};

/* What a variable of the program is called where text is being written. */
typedef struct {
    gboolean bound;
    const char *s;
    WsInterval in;
    gboolean stale; /* changed by code of a leader alone: the others hold an old value */
} WsTermName;

typedef struct WsTermWriter WsTermWriter;

/* A logical operator, and what its sides must bind at least to stand without parentheses. */
typedef struct {
    const char *sign;
    guint left, right;
} WsTermWord;

typedef struct {
    WsTermWord and_word, or_word;
    guint equality; /* precedence of == and != */
    const char
        *least; /* the text of the least integer, where it is none of the language's numbers */
    /* Name of min, max or pow2floor. */
    const char *(*function)(WsTermWriter *t, WsFunc f);
    /* a / b rounded up. `at_least_zero`: what is below 0 counts as 0 or more. */
    WsTerm (*up)(WsTermWriter *t, WsTerm a, WsTerm b, gboolean at_least_zero);
    /* a / b or its remainder, rounded down; `positive`: neither side is negative. */
    WsTerm (*divide)(WsTermWriter *t, WsTerm a, WsTerm b, gboolean rest, gboolean positive);
    WsTerm (*choose)(WsTermWriter *t, WsTerm cond, WsTerm a, WsTerm b);
    /* Of a divisor that may be 0 where the branch it stands in is not taken: what is no 0, and the
     * divisor where it is none. NULL: only the branch that is taken is worked out. */
    WsTerm (*no_zero)(WsTermWriter *t, WsTerm divisor);
    /* NULL: it has no value here. */
    const WsTermName *(*variable)(WsTermWriter *t, const WsExpr *x);
    WsTerm (*element)(WsTermWriter *t, const WsExpr *x);        /* of a tensor */
    const char *(*constant)(WsTermWriter *t, const char *name); /* NULL: say its number */
    gboolean (*decided)(WsTermWriter *t, const WsExpr *x,
                        WsTerm *out); /* optional: known otherwise */
    void (*refuse)(WsTermWriter *t, const char *what);
    void (*lost)(WsTermWriter *t,
                 const char *name); /* a variable without a value: a fault of ours */
} WsTermLanguage;

/* What the expressions of one text are written with. Owns nothing. */
struct WsTermWriter {
    const WsTermLanguage *language;
    gpointer printer; /* whose table it is */
    GStringChunk *pool;
    gboolean nonneg;             /* slots, stages, parities: never negative */
    const WsExpr *at_least_zero; /* the operand of a maximum whose other one is not negative */
    guint branches;              /* of select, && and || around what is written */
    gboolean plus_zero;          /* copies will be compared: "x" as "x + 0" */
    gint64 ring;                 /* parities: divisors of this value are called ring_name */
    const char *ring_name;
};

/* What `lost` says, at the operation, the agent or the kernel, unless *error is set. */
void ws_term_lost(GError **error, const WsOp *op, const WsAgent *agent, const char *name);

WsTerm ws_term(const char *s, guint prec, gint64 lo, gint64 hi);
WsTerm ws_term_unknown(const char *s, guint prec); /* of any value, or no integer */
gboolean ws_term_known(WsTerm a, gint64 *value);
const char *ws_term_format(WsTermWriter *t, const char *format, ...) G_GNUC_PRINTF(2, 3);
const char *ws_term_phrase(WsTermWriter *t, const char *format, ...) G_GNUC_PRINTF(2, 3);
WsTerm ws_term_int(WsTermWriter *t, gint64 value);
const char *ws_term_in(WsTermWriter *t, WsTerm a, guint prec); /* in parentheses if it binds less */
WsTerm ws_term_infix(WsTermWriter *t, const char *op, guint prec, WsTerm a, WsTerm b,
                     WsInterval in);
WsTerm ws_term_call(WsTermWriter *t, const char *f, WsTerm a, WsTerm b,
                    WsInterval in); /* f(a, b) */
WsTerm ws_term_op(WsTermWriter *t, WsExprOp op, WsTerm a, WsTerm b);
WsTerm ws_term_min(WsTermWriter *t, WsTerm a, WsTerm b);
WsTerm ws_term_cdiv(WsTermWriter *t, WsTerm a, WsTerm b);
WsTerm ws_term_truth(WsTermWriter *t, WsTerm a); /* as a condition */

WsTerm ws_term_uniform(WsTermWriter *t, const WsExpr *x);
WsTerm ws_term_use(WsTermWriter *t, const WsExpr *x); /* slots, stages, parities: never negative */
/* As an operand of its own: "x" as "x + 0" where copies are compared. */
const char *ws_term_text(WsTermWriter *t, const WsExpr *x);
gboolean ws_term_constant(WsTermWriter *t, const WsExpr *x, gint64 *out); /* NULL: 0 */

G_END_DECLS
