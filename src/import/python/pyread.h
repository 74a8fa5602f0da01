/* The walk of a Python kernel with symbolic values: private to the Python front end. Integers are
 * expressions over sizes and loops, rings and barriers are places, tiles are values of the group;
 * everything else is opaque. Nothing is executed: loops are walked once to see what a round changes
 * and once to read them.
 *
 * A PyRead borrows the tree and the WsRead; values live in the WsRead's pool. */
#pragma once

#include "import/python/text/python.h"
#include "import/recognise.h"

G_BEGIN_DECLS

typedef enum {
    VAL_NONE,
    VAL_INT,     /* e */
    VAL_REAL,    /* text */
    VAL_STRING,  /* text */
    VAL_TUPLE,   /* item, n */
    VAL_FUNC,    /* node: a DEF */
    VAL_NAME,    /* text: dotted name of something outside the file */
    VAL_PARAM,   /* text: a parameter nobody gave a value; what it is shows where it is used; item,
                    n: its shape as the host made it */
    VAL_TENSOR,  /* index */
    VAL_DESC,    /* index of the tensor */
    VAL_BUFFER,  /* place */
    VAL_BARRIER, /* place */
    VAL_TILE,    /* index of the value; text: views */
    VAL_ZERO,    /* rows, cols, dtype: a tile nobody stored yet; step: turns its `compute` on */
    VAL_MATH,    /* text in the array language; rows, cols */
    VAL_SHAPE,   /* index of the tensor */
    VAL_POINTER, /* a tile of them: item[0] the tensor or parameter, text: elements behind it */
    VAL_PLACES, /* pointers to elements of item[0], a buffer: items 1 … n - 1 are their indices */
    VAL_MESH, /* items: strings, its axes, rows the size of each; rows: CTAs; at: 1 + the one CTA of
                 it that is meant, 0; dtype: why it is not read, NULL (tle_mesh.c) */
    VAL_REMOTE,   /* as a buffer, of CTA e */
    VAL_SHARDING, /* of the mesh item[0]; at: what it is over each axis (tle_shards.c) */
    VAL_SHARDED,  /* item[0] as the sharding item[1] says */
    VAL_LAYOUT,   /* index: dimension that a SliceLayout removes, -1 */
    VAL_PIPE,     /* of TLE, its ends and slots: tle_pipe.c */
    VAL_END,
    VAL_SLOT,
    VAL_LANES,  /* item[0] as [rows, n, 4, 2]; depth: dimensions summed up so far */
    VAL_CLAIM,  /* of a tile: depth 0 the old count, 1 with the grid added, 2 handed on by `step` */
    VAL_CLASS,  /* node */
    VAL_OBJECT, /* pyread_object.c */
    VAL_OPAQUE, /* depth 1: no object, and none in it */
} ValKind;

/* How a file is read where more than one way may do. */
typedef struct {
    gboolean counters_only; /* sums of inner rounds are counters: `k.total` stands before loop k */
    guint64
        open; /* parameters whose default is but an example: sizes (ws_import_python_defaults) */
    guint kernel;            /* its number in py_kernels() */
    char **define, **assume; /* "NAME=VALUE", conditions; NULL none */
    gboolean by_parity;      /* WsImportOptions */
    guint host;              /* which of the functions that lead to the launch is entered first */
    const gint *cancel;      /* WsImportOptions */
    gint *line;
    const GArray *files; /* WsReadFile: behind the text; NULL none */
    const GArray *weak;  /* guint: lines of stages whose border waits for less than a design's */
} WsPythonWay;

typedef struct Val Val;
struct Val {
    ValKind kind;
    const WsExpr *e;
    const char *text, *dtype;
    guint n;
    const Val **item;
    const WsPyNode *node;
    gint index;
    WsPlace place;
    gint64 at;         /* TILE: first column of the view */
    guint dims;        /* tiles of TLE: dimensions in the source; 0: not known */
    gint64 rows, cols; /* of what a place, tile or formula holds; 0 unknown */
    WsReadStep *step;
    guint depth;     /* ZERO: loops around it; BUFFER: 1 under a shape whose parts are not
                        followed; TILE: number of its product, 0: it
                        is not in flight */
    GArray *reads;   /* gint64: tiles a formula reads; owned by the pool */
    gboolean narrow; /* converted to a type that is not known, of Gluon for AMD (amd/layouts.c) */
    const struct PyLayout *layout; /* LAYOUT, TILE, MATH, ZERO: how it lies in warps (amd/) */
    const Val *counted;  /* TILE: the index tile that it holds; NULL: another one, or not known */
    gboolean fixed;      /* TUPLE: written as one, not as a list */
    gboolean given;      /* PARAM: whoever calls the file says what it is, any value */
    gboolean dense;      /* PARAM: a tensor that the host makes contiguous */
    gboolean perhaps;    /* TILE: some way that leads here has not set the variable */
    guint made;          /* when: what it names may have been set anew since (pyread_stale.c) */
    GHashTable *closure; /* CLASS, OBJECT, FUNC: variables around its definition, or NULL */
};

/* What a function gives if `c` holds: an early return. */
typedef struct PyReturn PyReturn;
struct PyReturn {
    const WsExpr *c;
    const Val *v;
    PyReturn *before;
};

typedef struct PyNames PyNames;
typedef struct Frame Frame;
struct Frame {
    GHashTable *vars;    /* const char* -> const Val* */
    GHashTable *closure; /* of the function; NULL none */
    const char *prefix;  /* of values: "" in a partition */
    const WsPyNode *at;  /* the call */
    const WsPyNode *function;
    const Val *result;
    PyReturn *early; /* the last one first; of the pool */
    gboolean returned;
    gboolean helper; /* of the host, and does not lead to the launch */
    guint blocks;    /* being walked, inside each other */
    guint looked_at; /* inside of a statement that py_host_in_place has seen whole */
    Frame *up;
};

typedef struct {
    const char *name; /* of the loop */
    const WsExpr *count;
    const WsPyNode *node;
    GPtrArray *outer, *body; /* steps: around the loop, of a round; not while probing */
    WsReadStep *met;         /* a barrier of the compiler just before (amd/stages.c) */
    const WsPyNode *meets;   /* where the compiler may put a barrier, and why */
    const char *why;
    const WsPyNode *displaced; /* what stands between a stage and its wait (amd/stages.c) */
} OpenLoop;

/* An access through a pointer that is not followed. */
typedef struct {
    char *text; /* names that the pointer is a sum of, "?" where that is not known; owned */
    guint line;
} PyAway;

typedef struct {
    WsRead *r;
    const WsPython *py;
    const char *file;
    WsImportFrom from;             /* the dialect: picks the table of words */
    GHashTable *globals, *aliases; /* name -> Val*; name -> dotted text */
    Frame *frame;
    WsReadGroup *group;                          /* NULL in the kernel's own body */
    GPtrArray *to;                               /* where steps go */
    GArray *loops;                               /* OpenLoop */
    GPtrArray *loop_names;                       /* char*, in use in this group */
    guint probing, serial, budget, calls, depth; /* calls in the group, in all */
    gboolean dirty, waited; /* generic accesses, store_wait: a barrier of the group is due */
    gboolean specialized, touching, counts_programs;
    guint products, products_done; /* begun so far, and waited for */
    guint handing;                 /* inside of the arguments of a product, or of a wait for them */
    guint computing;               /* inside of functions of constants, which do nothing */
    guint indexing, phasing;       /* inside of the index of a slot, of the arguments of a wait */
    gint64 floor_by;               /* what floor_phase is divided by */
    guint deciding;                /* inside of a condition */
    const WsPyNode *certain;       /* the call that a statement of the host is */
    guint unsure;                  /* inside of what may be left out: nothing is assumed there */
    GHashTable *constants;         /* char*: names in values of the kernel's constexpr parameters */
    const WsExpr *floor_index, *floor_phase; /* of the wait at hand: what may be below 0 there */
    GPtrArray *prologue; /* WsReadStep*: before warp_specialize; NULL behind it, and alone */
    GArray *waited_on;   /* gint: barriers waited for since the group met last */
    GArray *generic;     /* gint: buffers loaded from and stored to since the last fence */
    GPtrArray *epilogue; /* WsReadStep*: behind warp_specialize, in its default partition */
    gboolean in_kernel, entered; /* walking the kernel, not its host; it was reached */
    GPtrArray *missing;          /* const WsPyNode*: constexpr parameters without a value; owned */
    const WsPyNode *never;       /* behind it the host comes to no launch */
    const WsPyNode *ended;       /* the first `return` of a host that came to no launch */
    GArray *passed;              /* guint: lines (pyread_passed.c) */
    GPtrArray *hosts;            /* functions that lead to the launch */
    GHashTable *cases;           /* decorator -> Val*: py_note_cases */
    PyNames *names;              /* of the file; NULL for PTX */
    GHashTable *defined;         /* char* -> Val*: what the caller says names are */
    WsPythonWay way;
    gboolean converting;            /* inside the arguments of a store, which converts by itself */
    const char *converted;          /* the type that such an argument asks for; NULL: none */
    const WsPyNode *kernel, *alone; /* alone: a kernel without partitions */
    gint64 own_warps; /* of the partition as the source has it: exports may say another number */
    gint64 num_warps, maxnreg; /* of the launch; maxnreg 0: not said */
    const char *hint;          /* name of the variable that is being assigned */
    const WsPyNode *whole;     /* all of the right side of that assignment */
    const WsPyNode *bare;      /* the expression of a statement that nothing else is in */
    guint clock;               /* counts settings of values */
    GHashTable *call_sites;    /* function and group -> GPtrArray of char*: where it is called */
    const Val *grid;           /* of the launch */
    const char *tile;          /* name of the axis once a loop over tiles was seen */
    const WsExpr *tiles;       /* its extent */
    gint64 replica;            /* of the task that is walked, -1: none (tlx_terms.c) */
    const Val *making;         /* the object whose __init__ runs */
    GPtrArray *closures;       /* GHashTable*: owned */
    GHashTable *locals;        /* DEF -> set of names that it binds; owned */
    GHashTable *closure;       /* of the function that is about to be called */
    GHashTable *allocated;     /* char*, where it stands -> Val*: what this group allocates */
    GString *rounds;           /* "2 0 ": of loops that are walked round by round */
    gint64 copies_of_group;    /* cp.async of a commit group; 0 none yet, -1 not always as many */
    const WsPyNode *copied_at; /* a copy of rows that is waited for at once; NULL: none yet */
    GPtrArray *open_gathers;   /* WsReadStep*: cp.async that nothing was told of yet */
    GHashTable *rising;        /* const char*: counters of this group that nothing takes from -> not
                                  NULL where that mattered */
    guint products_named;      /* values of products that begin anew */
    GHashTable *staged;        /* CALL of a load -> how it is staged (tle_hints.c); owned */
    GPtrArray *pipes;          /* const Val*: of TLE */
    const Val *mesh;           /* the cluster of the launch; NULL: it has none of a mesh */
    gboolean meshed;           /* something asked for it */
    const WsPyNode *met;       /* the first barrier of it */
    gboolean begun;            /* all of its CTAs have: it stands before, in every run */
    GPtrArray *numbers;        /* const char*: tensors that integers were loaded from */
    GArray *stored;            /* PyAway: stores through pointers that are not followed; owned */
    GArray *fetched;           /* the same of loads */
    GArray *counted;           /* and of atomic additions of 1 to a counter */
    GPtrArray *scattered; /* atomics whose indices are shown in the end (tle_atomic.c); owned */
    GPtrArray *handed;    /* WsReadStep*: claims of this group that no loop over tiles took yet */
    gboolean amd;         /* of Gluon: the kernel is one for AMD */
    GArray *taken;        /* where the compiler takes shared memory of its own (amd/room.c); NULL */
    const Val **args;     /* of the kernel that is walked, in the order of its parameters */
    gboolean weak_listed; /* one of way.weak was met */
    WsReadStep *stage;    /* the one that is walked; NULL: none */
    GPtrArray *due;       /* where a wait stands behind which no barrier was read yet; NULL */
    const WsPyNode *beside; /* a statement since the last stage that computes something */
    const GPtrArray *beside_in;
    const WsPyNode *displaced; /* such a one before a wait, behind a stage of the kernel's block */
    const char *tile_loop;     /* the loop over them that was met last: its index is the position */
} PyRead;

WsDesign *ws_import_python(WsRead *r, const WsPython *py, const char *file, WsImportFrom from,
                           WsPythonWay way);
/* Bit i: parameter i of the function that launches the kernel (the kernel itself where none does)
 * has an integer for a default, which may be one value of many. */
guint64 ws_import_python_defaults(const WsPython *py, const WsPythonWay *way);
/* How many functions of the host lead to the launch. */
guint ws_import_python_hosts(const WsPython *py, const WsPythonWay *way);
/* What else the reading holds for alone ("causal = False; the first of its 2 launches"), caller
 * frees; NULL: nothing. */
char *ws_import_python_given(const WsPython *py, const WsPythonWay *way);

#define PY_READ_BUDGET 200000 /* statements and calls walked */
#define PY_PID         "pid"  /* this CTA; pid_1, pid_2 along the other axes of the grid */
#define PY_GRID        "grid_size"

Val *py_val(PyRead *p, ValKind kind);
const Val *py_int(PyRead *p, const WsExpr *e); /* NULL: opaque */
const Val *py_literal(PyRead *p, gint64 value);
const Val *py_opaque(PyRead *p);
/* A VAL_PARAM: some value that nothing else is known to be. */
Val *py_open(PyRead *p, const char *name);
const Val *py_eval(PyRead *p, const WsPyNode *node);
const Val *py_real(PyRead *p, const char *text);            /* a number as Python writes it */
const Val *py_evaluate(PyRead *p, const WsPyNode *node);    /* for py_eval alone */
const WsExpr *py_eval_int(PyRead *p, const WsPyNode *node); /* NULL: no integer */
/* Dimension d of a tensor: what is known of it, else a size called `want`, or after the tensor. */
const WsExpr *py_extent(PyRead *p, gint tensor, guint d, const char *want);
const WsExpr *py_as_int(PyRead *p, const Val *v);
gboolean py_known(const Val *v, gint64 *value);
gboolean py_is_tile(const Val *v); /* elements in registers, or a formula of them; NULL: none */
/* Consecutive rows or columns, by which pointers pick parts of buffers (py_pointers.c). */
gboolean py_is_index(const Val *v);
const Val *py_lookup(PyRead *p, const char *name);
void py_assign(PyRead *p, const char *name, const Val *v);
void py_run(PyRead *p, const WsPyNode *block);
void py_statement(PyRead *p, const WsPyNode *node);
GHashTable *py_copy_vars(GHashTable *from);            /* the caller unrefs */
const Val *py_launch(PyRead *p, const WsPyNode *node); /* kernel[grid](…); NULL: it is none */
const Val *py_call(PyRead *p, const WsPyNode *function, const Val **args, const WsPyNode *at);
/* The arguments of a call by the parameters of a function, from number `at` on. */
void py_arguments(PyRead *p, const WsPyNode *function, const WsPyNode *call, guint at,
                  const Val **args);
void py_loop(PyRead *p, const WsPyNode *node);
const Val *py_term(PyRead *p, const WsPyNode *node, gboolean *known); /* calls of the dialect */
void py_store_value(PyRead *p, const WsPyNode *target, const Val *v, const WsPyNode *at);
/* A line in the list of what was not read; py_opaque_step also puts an opaque step in its place. */
void py_unread(PyRead *p, const WsPyNode *at, const char *what);
void py_opaque_step(PyRead *p, const WsPyNode *at, const char *what);
WsReadStep *py_step(PyRead *p, WsReadKind kind, const WsPyNode *at);
/* An opaque step that may touch the buffers and tiles which its lines name. */
WsReadStep *py_opaque_lines(PyRead *p, const WsPyNode *at);
gint py_tensor(PyRead *p, const Val *v, guint rank, guint line); /* -1: it is none */

gboolean py_assume(PyRead *p, const WsExpr *e); /* FALSE: it is not */

/* --- what may be below 0 (pyread_sign.c)
 * --------------------------------------------------------*/
/* Whether `e` is what a round may add without taking anything away. */
gboolean py_only_adds(const PyRead *p, const WsExpr *e);
/* A number that `e` is never below. FALSE: none is known. */
gboolean py_least(const PyRead *p, const WsExpr *e, gint64 *n);
/* A number that nothing keeps from being below 0, where that matters: one of the launch alone; of a
 * round one in a condition, or (`rest`: for %) a counter that wraps, less a number. What else
 * changes from round to round is left to the check, which asks for uses; py_phase_fits asks for
 * phases. */
gboolean py_may_be_negative(PyRead *p, const WsExpr *e, gboolean rest);
/* Quotients in a phase are rounded down while the source is read. Where one may be of a number
 * below 0 it must be of the use that the index of the slot is of, too, as the check holds that one
 * against 0; of an index that was made before, less than a whole turn is taken away. FALSE: in the
 * wait at hand it is neither. */
gboolean py_phase_fits(const PyRead *p);
/* `e` % 2 of a round that is not only tried takes something away that may leave it below 0: what a
 * kernel makes of it is -1 then, no parity. */
gboolean py_is_odd_below_zero(PyRead *p, const WsExpr *e);
/* A quotient or a rest in `e` of what a loop counts, made elsewhere, was rounded down and may be of
 * a number below 0. */
gboolean py_hides_negative(PyRead *p, const WsExpr *e);
/* A sum in it has a number so large that integers of 32 bits may not hold it. */
gboolean py_may_leave_32_bits(const WsExpr *e);
/* No quotient or rest in it is of something that may be below 0, or by what is not known. */
gboolean py_rests_are_plain(const WsExpr *e);
gboolean py_is_never_negative(const PyRead *p, const WsExpr *e); /* pyread_range.c */
/* An mbarrier is tested for parity 0 or 1; what it does with another number is nowhere said (PTX
 * ISA, mbarrier.try_wait). */
gboolean py_is_parity(const WsExpr *e);

/* --- tiles claimed at run time (pyread_claim.c) ------------------------------------------------*/
const Val *py_claim_sum(PyRead *p, const char *op, const Val *a, const Val *b); /* NULL: none */
const Val *py_claim_store(PyRead *p, const Val *to, const Val *v, const WsPyNode *at);
/* `v` is what a round leaves in the variable of the loop: a claim or a take, which it becomes. */
gboolean py_is_next_tile(const PyRead *p, const Val *v);
void py_take_tile(PyRead *p, const Val *v, const WsPyNode *at);
void py_claims_left(PyRead *p, const WsPyNode *at); /* at the end of a group */

/* --- tiles: formulas of the array language ----------------------------------------------------*/
/* The buffer or barrier is the compiler's: no refutation of the kernel rests on it. */
void py_compilers(PyRead *p, const Val *v);
/* The step that stores zeros, here and off: what takes them as they are turns it on. */
void py_off_zeros(PyRead *p, Val *zeros, const WsPyNode *at);
/* Zeros in the value of the variable `name`; the `compute` that stores them is off. What has been
 * put into another variable already has a step of its own there. */
const Val *py_stored_zeros(PyRead *p, const char *name, const Val *v, const WsPyNode *at);
/* x[:, None] of what is one value per column so far: one per row. */
const Val *py_as_rows(PyRead *p, const Val *v);
/* The lines that the formula reads are one value per column: so they stay. */
void py_across(PyRead *p, const Val *m);
/* The value is set to the formula: lines of one shape, if that is a line, too. */
void py_line_of(PyRead *p, gint value, const Val *m);
/* The line `value`, and what is computed from it or the other way, becomes one value per row;
 * FALSE: something takes one of them as one per column. */
gboolean py_turn_line(PyRead *p, gint64 value);
/* A formula with the shape that the lines it reads have by now; NULL: it has none. */
const Val *py_as_turned(PyRead *p, const Val *m);
gboolean py_says_column(const char *text);
guint py_dimensions(const Val *a, const Val *b); /* of what is computed of both */
/* Whether both may meet in arithmetic; one of them may become a line that runs the other way. */
gboolean py_side_by_side(PyRead *p, const Val **x, const Val **y);
/* x[:, None], x[None, :] and x[:] of a tile; another item is not known. */
const Val *py_tile_item(PyRead *p, const Val *v, const WsPyNode *item);
const Val *py_of_dimensions(PyRead *p, const Val *v, guint dims); /* v of so many in the source */
const Val *py_formula(PyRead *p, const Val *v); /* MATH of anything that has a text; NULL */
const Val *py_itself(PyRead *p, const Val *v);  /* the same, to be copied as it is */
/* What a round leaves is of another type than the narrower one of the tile that it found. */
gboolean py_is_wider(const PyRead *p, const Val *end, const Val *formula);
const Val *py_copy_of(PyRead *p, const Val *v); /* of a TILE, of the type of its value */
/* Notes which loads of the loop are staged (dialect/tle_hints.c). FALSE: none is. */
/* Notes the groups of a loop with pipe_stages (dialect/tle_groups.c). FALSE: it has none that are
 * read. */
gboolean py_hint_loop(PyRead *p, const WsPyNode *loop);
gboolean py_hint_group(PyRead *p, const WsPyNode *with); /* walks one of them */
gboolean py_stage_loop(PyRead *p, const WsPyNode *loop, gint64 stages);
void py_end_staged(PyRead *p, const WsPyNode *loop); /* at the end of a round of it */
/* The same of a load that no round repeats. */
void py_stage_once(PyRead *p, const WsPyNode *assign);
/* A sum whose left side is a pointer, or pointers (dialect/py_through.c). NULL: it is none. */
const Val *py_point(PyRead *p, const WsPyNode *sum, const Val *a, const Val *b);
const Val *py_binary_tile(PyRead *p, const char *op, const Val *a, const Val *b);
const Val *py_function_tile(PyRead *p, const char *name, const Val **arg, guint n, gboolean row);
/* --- accumulators that are read where nothing else is followed (pyread_seen.c) */
gboolean py_holds_tile(const Val *v);                         /* a tile, or some in it */
void py_look(PyRead *p, const Val *v, const WsPyNode *at);    /* a step that reads it */
void py_look_at(PyRead *p, const Val *v, const WsPyNode *at); /* if it is of an accumulator */
/* Computations since step number `from` of the reading are none of the source: no refutation may
 * rest on them. */
void py_added(PyRead *p, guint from);
/* The value that holds v, named after the variable; a `compute` stores it. -1: not a tile. */
gint py_hold(PyRead *p, const char *name, const Val *v, const WsPyNode *at, gint64 rows,
             gint64 cols);
/* The same of a formula in a value that this place alone sets. */
gint py_hold_at(PyRead *p, const char *name, const Val *v, const WsPyNode *at);
gint py_hold_of(PyRead *p, const char *name, const Val *v, const WsPyNode *at, gint64 rows,
                gint64 cols); /* the same, of a number as a tile of that shape */
/* --- pyread_stale.c: what a Val names may have been set anew since it was made. */
/* The step sets the value of the design: the one place where a step gets it. */
void py_set(PyRead *p, WsReadStep *s, gint value);
/* The same of the value that gets what was there before an atomic operation. */
void py_set_old(PyRead *p, WsReadStep *s, gint value);
gboolean py_is_former(const PyRead *p, const Val *v);
guint py_made_of(const PyRead *p, const Val *a, const Val *b); /* now, or never: one is former */
/* `v`, or a value that is not followed, and listed: something it is made of was set anew. */
const Val *py_current(PyRead *p, const Val *v, const WsPyNode *at);
/* When each value of the group was set; the caller unrefs. py_times_back takes what is known then
 * for it; py_times_met has what either of two ways did (not `both`: of which one ends the
 * function), and `v`, which is current at the end of the way `own`, is current behind them
 * (py_still). */
GArray *py_times(const PyRead *p);
guint py_times_of(const PyRead *p, gint value);
void py_times_back(PyRead *p, const GArray *times);
void py_times_met(PyRead *p, const GArray *a, const GArray *b, gboolean both);
gboolean py_was_former(const PyRead *p, const Val *v, const GArray *times);
const Val *py_still(PyRead *p, const Val *v, const GArray *own);
/* `v` with the tiles it holds as they are now. */
const Val *py_renewed(PyRead *p, const Val *v);
/* --- pyread_own.c */
/* A value that this place of the source alone sets, called `name` or like it. */
gint py_value_at(PyRead *p, const char *name, gconstpointer site, const char *dtype, gint64 rows,
                 gint64 cols);
/* The value of the variable where the call is all that is assigned to it; else one of its own. */
gint py_value_for(PyRead *p, const char *otherwise, const WsPyNode *call, const char *dtype,
                  gint64 rows, gint64 cols);
/* What values are called in a function that is called there: those of each call are its own. */
const char *py_prefix_of(PyRead *p, const WsPyNode *function, const WsPyNode *at);
/* What is assigned to several variables, known before the first of them is set. */
const Val *py_at_once(PyRead *p, const WsPyNode *target, const Val *v, const WsPyNode *at);
const char *py_dtype(const char *dotted);     /* "bf16" of "gl.bfloat16"; NULL */
gboolean py_is_dtype(const char *name);       /* of designs */
const char *py_dtype_name(const char *dtype); /* "bfloat16" of "bf16" */
gint64 py_dtype_bytes(const char *dtype);

G_END_DECLS
