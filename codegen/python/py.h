/* Inside of the Python printers (`generate --as gluon`, `--as tle`): the state of one text, what is
 * the same in every Python dialect, and the table a dialect fills in. Reads the program only; needs
 * no LLVM. Nothing outside codegen/python includes this (python.h is the door).
 *
 * In these languages all threads of a partition run the same statements: there is no leader, and
 * what one lane does (expect, copies, arrivals) is written once and elected by the compiler. So the
 * walk prints no guards. Everything that depends on sizes alone (extents, numbers of tiles, run
 * names) is worked out by the launcher on the host and handed over as an argument. */
#pragma once

#include "codegen/account.h"
#include "codegen/generate.h"
#include "codegen/python/parameters.h"
#include "codegen/python/python.h"
#include "codegen/term.h"
#include "program/parts/dtype.h"
#include "target/target.h"

G_BEGIN_DECLS

typedef struct WsPy WsPy;

/* What a value of array arithmetic looks like in the text. */
typedef enum {
    WS_PY_SCALAR,
    WS_PY_ROWS, /* [rows]: one element per row; also values [rows, 4] of lane sums */
    WS_PY_COLS, /* [cols] */
    WS_PY_TILE, /* [rows, cols] */
} WsPyShape;

/* A language. Functions return text in the pool; what cannot be said is ws_py_refuse(). */
typedef struct {
    const char *name; /* "gluon" */
    WsLens lens;
    const char *module;       /* of its functions: "gl" -> gl.maximum, gl.where, gl.exp2, gl.sum */
    const char *range;        /* "range" */
    const char *static_range; /* "gl.static_range" */
    const char *constexpr_t;  /* "gl.constexpr" */
    gboolean masks;           /* masks are written by helper at_most */
    gboolean parts;           /* a descriptor copies 2^n rows: ws_py_copies */
    /* One operation: all lines of it; nothing for operations that another of the same step covers.
     */
    void (*op)(WsPy *y, const WsOp *op);
    /* Condition under which a loop over a pipe goes on; NULL: it has no such loops. */
    const char *(*goes_on)(WsPy *y, const WsTree *loop);
    /* Optional: what a counted loop's range of its own words says beyond its bounds; NULL: nothing.
     */
    const char *(*range_more)(WsPy *y, const WsTree *loop);
    gboolean (*round)(WsPy *y, const WsTree *loop); /* optional: its round; FALSE: as any other */
    /* Value number v of the agent before its first use: "acc = gl.zeros(…)"; NULL: needs none. */
    const char *(*fresh)(WsPy *y, guint v);
    /* Value v filled with scalar x, as an expression: "gl.full([64, 1], x, …)". */
    const char *(*full)(WsPy *y, guint v, const char *x);
    /* Arithmetic. Row and column numbers as they stand in a tile of rows x cols (broadcastable). */
    const char *(*row_index)(WsPy *y, guint rows, guint cols);
    const char *(*col_index)(WsPy *y, guint rows, guint cols);
    /* Rows (or columns) as operands of arithmetic on tiles with `cols` columns: "x[:, None]". */
    const char *(*spread)(WsPy *y, const char *x, WsPyShape shape, guint rows, guint cols);
    /* Reduction of a tile along its columns: what = "max", "sum", "lanesum", "min". */
    const char *(*reduce)(WsPy *y, const char *what, const char *x, guint rows, guint cols);
    /* Optional: sums per lane are tensors of their own. Rows beside them; their rows' sum as rows.
     */
    const char *(*to_lanes)(WsPy *y, const char *rows);
    const char *(*of_lanes)(WsPy *y, const char *rows);
    /* Optional: element of a tensor in a uniform expression (0 outside of its shape). */
    const char *(*element)(WsPy *y, const WsExpr *x);
    /* Optional: last in a body; before and behind a whole loop or branch. */
    void (*body_end)(WsPy *y, const WsTree *t); /* also of the parts of a branch */
    void (*block_around)(WsPy *y, const WsTree *t, gboolean begin);
    void (*role_begin)(WsPy *y); /* optional: y->agent is new */
    /* Optional: lines in front of a role whose text mentions what they bind. Caller frees. */
    char *(*role_head)(WsPy *y, const char *body);
} WsPyDialect;

struct WsPy {
    const WsProgram *p;
    const WsPyDialect *dialect;
    WsTermWriter terms; /* and the pool of all text */
    GString *out;
    guint depth;
    WsTermName *var;                          /* [p->n_vars] */
    const char **tensor, **buffer, **barrier; /* identifiers */
    /* the role being written */
    const WsAgent *agent;
    const char **value;         /* identifiers of its values */
    const char *kernel;         /* its name, made of the design's */
    WsPyPieces *pieces;         /* being collected, NULL otherwise */
    const WsPyNumbers *numbers; /* what the numbers of the pieces are; NULL: numbers */
    guint piece;                /* number of the next one */
    const char **constant;      /* [n_constants] identifiers */
    gboolean *parameter;        /* [n_constants] the kernel takes it */
    gboolean *of_file;          /* [n_constants] a frozen piece mentions it: a name of the file */
    gboolean remarks;           /* places of steps in brackets */
    const char *mesh;           /* of CTAs, a tile each: its name; NULL: a program has no peers */
    gboolean host;              /* the launcher's Python, where // floors and min() is min() */
    gboolean plain;             /* in remarks: elements of tensors as the design writes them */
    const char *next_tile;      /* dynamic: variable of the loop over tiles being written */
    const char *commented;      /* step whose comment was written last */
    const WsOp *op;
    WsAccount account;
    gpointer role;         /* the dialect's own, per agent */
    struct WsPyHome *home; /* per value of the agent: where it comes into being (role.c) */
    GArray *boxes;         /* WsPyBox: what TMA copies of the program move (ws_py_boxes) */
    GPtrArray *counters;   /* names that a role counts from 0, if its text mentions them */
    GHashTable *global;    /* names that mean something in the whole file */
    GHashTable *local;     /* names of the agent's values */
    GHashTable *helpers;   /* names of helper functions the text calls; the prelude defines them */
    GError *error;
};

/* --- text.c: lines, names, folding
 * --------------------------------------------------------------*/
#define ws_py_format(y, ...) ws_term_format(&(y)->terms, __VA_ARGS__)
#define ws_py_phrase(y, ...) ws_term_phrase(&(y)->terms, __VA_ARGS__)  /* base/phrase.h */
void ws_py_line(WsPy *y, const char *format, ...) G_GNUC_PRINTF(2, 3); /* indented by depth */
void ws_py_open(WsPy *y, const char *format, ...) G_GNUC_PRINTF(2, 3); /* "format:" and deeper */
void ws_py_close(WsPy *y); /* shallower; "pass" where the block stayed empty */
/* The last line with code ends in ":": the block it opens holds remarks at most. */
gboolean ws_py_empty_block(const GString *out);
void ws_py_comment(WsPy *y, const char *text); /* "# …", wrapped at 100 columns */
/* First lines of a file: the design, who wrote it and how, and `about` what it is for. */
void ws_py_head(WsPy *y, const char *about);
const char *ws_py_bare(WsPy *y, const char *text);  /* without parentheses around all of it */
const char *ws_py_ident(WsPy *y, const char *name); /* means nothing else in the text */
gboolean ws_py_mentions(const char *text, const char *word); /* outside of comments and strings */
/* Replicas of a group: one text with `replica` for n copies, line by line: literals that differ by
 * equal steps become terms of replica; lines of some replicas alone stand under
 * `if replica == r:`. NULL if they do not fold. Caller frees. */
char *ws_py_fold(const char *const *copy, guint n, const char *index);
char *ws_py_tidy(const char *text); /* without "+ 0", long lines wrapped; caller frees */
void ws_py_step_comment(WsPy *y, const WsOp *op); /* the author's words, once per step */
/* ws_generate_refuse(): what, and what to change. */
void ws_py_refuse(WsPy *y, const WsOp *op, const char *what, const char *change);
/* Whether only the row's coordinate of a gather goes by the row (copies.c); others are refused. */
gboolean ws_py_picks_rows(WsPy *y, const WsOp *op);
gboolean ws_py_picks_any(WsPy *y, const WsOp *op); /* the row's may be any but the last one */
/* The dimension of a gather whose coordinate goes by the row: the last but one where none does. -1:
 * it is the last one, or there are two. */
gint ws_py_row_dimension(const WsPy *y, const WsOp *op);
/* What the columns of ../lower.def make of an operation: a function that prints it, what stands for
 * it, one line, or why it cannot be said and what to change. */
typedef struct {
    void (*print)(WsPy *y, const WsOp *op);
    const char *implied, *fixed, *why, *change;
} WsPyRow;
void ws_py_row(WsPy *y, const WsOp *op, const WsPyRow *row);
/* What stands for an operation that has no line of its own: "the call that copies". */
#define ws_py_implied(y, op, how) ws_account_implied(&(y)->account, op, how)
/* A remark is all there is of an operation that has no effect there. */
void ws_py_remark(WsPy *y, const WsOp *op, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* Refuses where an operation was neither written, nor implied, nor refused. */
void ws_py_account(WsPy *y);
/* The same at a place that is no step: "buffers/a". */
void ws_py_refuse_at(WsPy *y, const WsOp *op, const char *path, const char *what,
                     const char *change);
/* The prelude must define helper `name`; returns it. */
const char *ws_py_helper(WsPy *y, const char *name);

/* --- term.c: how Python says what term.h works out
 * ----------------------------------------------*/
extern const WsTermLanguage ws_py_language;
#define ws_py_int(y, value)       ws_term_int(&(y)->terms, value)
#define ws_py_in(y, a, prec)      ws_term_in(&(y)->terms, a, prec)
#define ws_py_op(y, op, a, b)     ws_term_op(&(y)->terms, op, a, b)
#define ws_py_truth(y, a)         ws_term_truth(&(y)->terms, a)
#define ws_py_uniform(y, x)       ws_term_uniform(&(y)->terms, x)
#define ws_py_use(y, x)           ws_term_use(&(y)->terms, x)
#define ws_py_text(y, x)          ws_term_text(&(y)->terms, x)
#define ws_py_constant(y, x, out) ws_term_constant(&(y)->terms, x, out)
/* Slot and parity of a barrier operation, divisors by the name of the ring's size. */
const char *ws_py_slot(WsPy *y, const WsOp *op);
const char *ws_py_parity(WsPy *y, const WsOp *op);
const char *ws_py_stage(WsPy *y, const WsAccess *a);
/* Extents of tiles are powers of two in these languages. */
static inline gboolean ws_py_pow2(guint n)
{
    return n && !(n & (n - 1));
}
/* Name of the constant that says how many stages or slots there are, or NULL. */
const char *ws_py_count(WsPy *y, const char *name);

/* Identifier of a name that lives in one function: none of the file's, none of a value's. */
const char *ws_py_local(WsPy *y, const char *name);

/* e for a remark: elements of tensors are LEN[b, t], not loads. */
const char *ws_py_plain(WsPy *y, const WsExpr *e);

/* --- control.c, tiles.c
 * -------------------------------------------------------------------------*/
void ws_py_tree(WsPy *y, const WsTree *t);
void ws_py_round(WsPy *y, const WsTree *t); /* what one round of loop t does */
/* Around a loop or branch: the dialect's block_around, if it has one. */
void ws_py_begin_block(WsPy *y, const WsTree *t);
void ws_py_end_block(WsPy *y, const WsTree *t);
/* role.c: values that come into being before kid i of a sequence. */
void ws_py_values_before(WsPy *y, const WsTree *seq, guint i);
const char *ws_py_extent(WsPy *y, guint axis); /* "n_tm" */
gboolean ws_py_host_group(const WsPy *y);      /* the launcher works out `group_n` */
void ws_py_tiles_loop(WsPy *y, const WsTree *t);
void ws_py_tiles_bind(WsPy *y, gboolean on);
void ws_py_tiles_single(WsPy *y, const char *body); /* names of the one tile that `body` mentions */
char *ws_py_tile_function(WsPy *y, const char *decorator); /* "tile_at"; "" if the id is enough */

/* --- products.c: accumulators that start at 0
 * ---------------------------------------------------*/
/* The loop in whose first round alone `first` of a product holds, NULL. */
const WsTree *ws_py_first_loop(const WsOp *op);
/* The same, if nothing before looks at the accumulator: it may be zeros before the loop. */
const WsTree *ws_py_zeros_before(const WsOp *op);
/* Some path has a product in flight at `op` that accumulates into the value. */
gboolean ws_py_accumulates(const WsOp *op, guint value);
/* Calls that a wait leaves in flight where each is a group; -1: refused. */
gint64 ws_py_stay(WsPy *y, const WsOp *wait);
/* The same of stores: where paths leave different numbers of them, the fewest, for which it waits
 * longer than the design does. */
gint64 ws_py_stores_stay(WsPy *y, const WsOp *wait);

/* --- named.c ------------------------------------------------------------------------------------
 * The id of a named barrier at `op`, "meet + 1"; "": the group of `op` meets alone. NULL: refused.
 */
const char *ws_py_named(WsPy *y, const WsOp *op);
void ws_py_named_constants(WsPy *y); /* lines of the file: their ids */
void ws_py_named_guards(WsPy *y);    /* in the kernel: they are no parameters */

/* --- math.c: the statements of MATH
 * -------------------------------------------------------------*/
void ws_py_math(WsPy *y, const WsOp *op);

/* --- role.c: one function per group
 * --------------------------------------------------------------- What a role function needs is
 * what its text mentions: `param` holds every name that may be handed over, in order, with the text
 * that stands for it where the function is called. */
typedef struct {
    const char *name, *given;
    gboolean constant;
} WsPyParam;
typedef struct {
    const char *name;      /* of the function */
    guint first, n;        /* agents */
    gboolean replica;      /* takes `replica` as its last parameter */
    char *parameters;      /* "a, b, full, empty, n_tiles" */
    const char *arguments; /* what stands for them where the function is called */
    char *text;            /* "def …" without decorator */
} WsPyRole;
/* One role per group, or one per replica where they do not fold. Caller frees the array (which owns
 * its elements). */
GPtrArray *ws_py_roles(WsPy *y, const WsPyParam *param, guint n_param);
/* The one of an agent: the roles of a text hold every agent. */
const WsPyRole *ws_py_role_of(const GPtrArray *roles, guint agent);
/* Arguments of a call of role r for agent r->first + i: "(a, b, full, 1)" */
const char *ws_py_role_arguments(WsPy *y, const WsPyRole *r, guint i);

/* --- host.c: sizes on the host, self test
 * -------------------------------------------------------*/
/* Parameters of the launcher: tensors, sizes that no shape tells, scalars with their presets. */
const char *ws_py_host_parameters(WsPy *y);
/* Statements of the launcher that bind sizes (from tensors), run names, extents "n_tm" and
 * n_tiles; at the depth of y. */
void ws_py_host_sizes(WsPy *y);
/* The body of a function without the lines that bind sizes and run names which nothing reads.
 * Caller frees. */
char *ws_py_host_used(WsPy *y, const char *text);
/* Kernels count in 32 bits: the line that refuses sizes which leave them, as a package does. */
void ws_py_host_counted(WsPy *y);
/* "if not (K >= 1): raise …", which `python -O` does not leave out as it does an assert. */
void ws_py_raise_unless(WsPy *y, const char *condition, const char *text);
/* Of every `assume` of the design, and of what every launch is asked (program/walk/launch_asked.h). */
void ws_py_host_assumptions(WsPy *y);
const char *ws_py_host_value(WsPy *y, const WsVar *run); /* of a run name */
const char *ws_py_host_real(WsPy *y, const WsExpr *x);   /* of a number that is no integer */
/* What a kernel takes beside tensors, maps and barriers, in order: sizes, scalars, run names,
 * extents, n_tiles, `group_n`. Borrowed strings. Caller frees the array. */
GPtrArray *ws_py_host_arguments(WsPy *y);
/* The design's `reference` as torch float64 functions and the body of the self test. */
void ws_py_host_check(WsPy *y);
const char *ws_py_torch_type(WsDtype t); /* "bfloat16" */

/* --- py.c: pieces and parameters ----------------------------------------------------------------
 * A piece of the text (takes it) with constants by name where its numbers are products of them. In
 * a frozen one no parameter is known. Caller frees. */
char *ws_py_piece(WsPy *y, char *text, gboolean frozen);
/* "%s: gl.constexpr = %v" for each, joined; `free`: those that may have several values. */
const char *ws_py_parameters(WsPy *y, const char *format, gboolean free);
void ws_py_static_asserts(WsPy *y); /* lines of the kernel: which values its parameters may have */

/* --- copies.c: what TMA copies have in common ---------------------------------------------------
 * A descriptor: a tensor and what one step moves of it (WsTensorTransfer). */
typedef struct {
    guint tensor, rank;
    guint block[WS_MAX_RANK]; /* dimension 0 first */
    guint rows, cols;         /* of the step's view */
    guint swizzle;
    const char *name; /* "A_desc" */
} WsPyBox;
/* Finds all of the program, in order of first use. */
void ws_py_boxes(WsPy *y);
/* The box of `op` where it is written; NULL: op is a further box of a step whose first operation
 * does all, or (with an error) it cannot be one box. */
const WsPyBox *ws_py_call(WsPy *y, const WsOp *op);
gboolean ws_py_first_box(const WsOp *op);               /* the one that stands for the step */
const char *ws_py_coordinates(WsPy *y, const WsOp *op); /* "tm * BM, k * BK" */
/* "128, 64": extents of one call. */
const char *ws_py_block_shape(WsPy *y, const WsPyBox *box);
/* What an expect waits for, load by load, as `term` says it of a load's box and bytes; NULL: not
 * all of it are loads, or `term` has no word for one. */
typedef const char *(*WsPyTerm)(WsPy *y, const WsPyBox *box, gint64 bytes);
const char *ws_py_expected(WsPy *y, const WsOp *expect, WsPyTerm term);
/* Extent of one call along `dim` in dialects with `parts` (views.c); how many calls a copy is, 0:
 * refused. `at`: where they begin, "m * BM + part * 64, k * BK". */
guint ws_py_block(const WsPyBox *box, guint dim);
/* How a dialect writes a copy, in dialects with `parts`: a view of a buffer, a stage or `part` of
 * it, a view with the extents of a descriptor's block, and the call. */
typedef struct {
    const char *(*view)(WsPy *y, const WsAccess *a);
    const char *(*stage)(WsPy *y, const WsAccess *a, const char *part);
    const char *(*reshaped)(WsPy *y, const char *view, const char *block);
    void (*line)(WsPy *y, const WsOp *op, const WsPyBox *box, const char *at, const char *view);
} WsPyCopier;
void ws_py_copy(WsPy *y, const WsOp *op, const WsPyBox *box, const WsPyCopier *c);
/* A store that is one call. FALSE: refused. */
gboolean ws_py_single_store(WsPy *y, const WsOp *op, const WsPyBox *box);
/* A multicast, or an arrival at another CTA of the cluster. */
gboolean ws_py_beyond(const WsOp *op);

/* --- views.c: parts of buffers and of values ----------------------------------------------------
 * Rows of a part of a tile: all, or where they are no power of two what is. */
guint ws_py_part_rows(guint rows);
/* How many stages and parts a buffer has, and the rows of one; refuses other extents. */
const char *ws_py_stages(WsPy *y, const WsBuffer *b, guint *rows);
/* "use % QBUF * 3 + 1": the stage, or `part` of it unless NULL. */
const char *ws_py_part_stage(WsPy *y, const WsAccess *a, const char *part);
/* The part that a view is; NULL: the tile is one. Refuses views of other rows. */
const char *ws_py_view_part(WsPy *y, const WsAccess *a);
gboolean ws_py_whole(const WsPy *y, const WsValueUse *u); /* all of the value */
const char *ws_py_columns(WsPy *y, const WsValueUse *u);  /* a value, or columns of it */

/* `remarks`, `pieces`, `numbers`: as WsPyWrite is given them. */
WsPy *ws_py_new(const WsProgram *p, const WsPyDialect *dialect, gboolean remarks,
                WsPyPieces *pieces, const WsPyNumbers *numbers);
/* The finished text, or NULL and y's error. Frees y. */
char *ws_py_finish(WsPy *y, GError **error);

G_END_DECLS
