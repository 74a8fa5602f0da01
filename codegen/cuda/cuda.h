/* Inside of the CUDA C++ printer (`generate --as cuda`): the state of one text and what its files
 * call from each other. It reads the same program as the LLVM lowering and takes every line of PTX
 * from prim.def; nothing outside codegen/cuda*.c includes this.
 *
 * Text is made per role and per unrolled round with its own literals, and then folded: copies that
 * differ in literals alone, by equal steps, become one function with `replica`, or one loop. So
 * that copies stay comparable, terms keep "+ 0"; ws_fold_text removes it at the end. */
#pragma once

#include "codegen/account.h"
#include "codegen/cut.h"
#include "codegen/facts.h"
#include "codegen/fold.h"
#include "codegen/generate.h"
#include "codegen/nvptx/leader.h"
#include "codegen/prim.h"
#include "codegen/term.h"
#include "program/parts/dtype.h"

G_BEGIN_DECLS

typedef struct {
    const WsProgram *p;
    WsTermWriter terms; /* and the pool of all text */
    GString *out;
    GArray *looked_up; /* gather.c: coordinates read before a wait, or NULL */
    guint rows_named;  /* arrays that hold such coordinates so far: their names */
    guint depth;
    WsTermName *var;                                       /* [p->n_vars] */
    const char **tensor, **map, **buffer, **barrier, **fn; /* identifiers */
    GPtrArray *wgmma; /* char*: instruction wrappers, each text once */
    GHashTable *wgmma_name;

    /* the role being written */
    const WsAgent *agent;
    const char **value; /* identifiers of its values */
    gboolean in_leader, per_thread, whole_group;
    gboolean tile_alone;   /* tile_at() shuffles unless one lane asks */
    const char *next_tile; /* dynamic: variable of the loop over tiles being written */
    GArray *cuts;          /* WsCut */
    const char *row, *col; /* base of this thread's rows and columns */
    const char *space;     /* its namespace, made of the design's name */
    gboolean remarks;      /* places of steps in brackets */
    const char *commented; /* step whose comment was written last */
    guint temporaries;     /* of the step being written */
    const WsOp *op;
    WsAccount account;
    GError *error;
} WsCuda;

/* --- cuda_text.c: lines, names, copies ---------------------------------------------------------*/
#define ws_cuda_format(c, ...) ws_term_format(&(c)->terms, __VA_ARGS__)
void ws_cuda_line(WsCuda *c, const char *format, ...) G_GNUC_PRINTF(2, 3);
void ws_cuda_open(WsCuda *c, const char *format, ...) G_GNUC_PRINTF(2, 3); /* "format {" */
void ws_cuda_block(WsCuda *c, const char *remark); /* "{", or "{ // remark" */
void ws_cuda_close(WsCuda *c);
void ws_cuda_comment(WsCuda *c, const char *text); /* wrapped */
/* An identifier made of `name` that means nothing else in the text. */
const char *ws_cuda_ident(WsCuda *c, const char *name);
/* A literal of type float: "1.0f", "-INFINITY". */
const char *ws_cuda_real(WsCuda *c, double r);
char *ws_cuda_code(const char *text);                           /* without comments; caller frees */
gboolean ws_cuda_calls(const char *text, const char *function); /* "f(" or "f<" */
char *ws_cuda_tidy(const char *text); /* without "+ 0" and long lines; caller frees */

void ws_cuda_step_error(WsCuda *c, const WsOp *op, const char *what);

/* --- cuda_term.c: how C++ says what term.h works out
 * --------------------------------------------*/
extern const WsTermLanguage ws_cuda_language;
#define ws_cuda_uniform(c, x) ws_term_uniform(&(c)->terms, x)
#define ws_cuda_use(c, x)     ws_term_use(&(c)->terms, x)
#define ws_cuda_int(c, x)     ws_term_text(&(c)->terms, x)
gboolean ws_cuda_constant(WsCuda *c, const WsExpr *x, guint *out); /* NULL: 0; at least 0 */

/* --- cuda_prim.c ------------------------------------------------------------------------------*/
const char *ws_cuda_prim_name(WsPrim id);
char *ws_cuda_prims(const char *text); /* definitions of the primitives that `text` mentions */
const char *ws_cuda_wgmma(WsCuda *c, const WsMma *m, WsWgmmaScale scale); /* name of the wrapper */

/* --- cuda_address.c
 * -----------------------------------------------------------------------------*/
const char *ws_cuda_barrier(WsCuda *c, const WsOp *op);
const char *ws_cuda_stage(WsCuda *c, const WsAccess *a);
WsTerm ws_cuda_view_offset(WsCuda *c, const WsAccess *a, guint row, guint col);
char *ws_cuda_shared(WsCuda *c, const char *text); /* struct Shared, as `text` uses it */
/* Name of the constant that says how many stages or slots there are, or the number. */
const char *ws_cuda_count(WsCuda *c, const char *name, guint value);

/* --- cuda_control.c ---------------------------------------------------------------------------*/
void ws_cuda_tree(WsCuda *c, const WsTree *t);
/* Texts of raw steps, as they are, in the place of what stands for them. Caller frees. */
char *ws_cuda_put_raw(const WsProgram *p, const char *text);
const char *ws_cuda_goes_on(WsCuda *c, const WsOp *ask); /* test of a loop over a pipe */
/* --- cuda_tiles.c -----------------------------------------------------------------------------*/
void ws_cuda_tiles_loop(WsCuda *c, const WsTree *t);
void ws_cuda_tiles_bind(WsCuda *c, gboolean bind);
char *ws_cuda_tile_struct(WsCuda *c);
char *ws_cuda_tile_function(WsCuda *c);
/* --- cuda_ops.c -------------------------------------------------------------------------------*/
void ws_cuda_op(WsCuda *c, const WsOp *op);
/* --- cuda_words.c: comments -------------------------------------------------------------------*/
void ws_cuda_step_comment(WsCuda *c, const WsOp *op);
/* --- families ---------------------------------------------------------------------------------*/
void ws_cuda_load(WsCuda *c, const WsOp *op);
void ws_cuda_store(WsCuda *c, const WsOp *op);
void ws_cuda_prefetch(WsCuda *c, const WsOp *op);
void ws_cuda_copy(WsCuda *c, const WsOp *op);
void ws_cuda_gather(WsCuda *c, const WsOp *op);
/* As ws_gather_look_up: lines that read which rows the gathers behind a wait copy. */
guint ws_cuda_gather_look_up(WsCuda *c, const WsTree *seq, guint i);
const char *ws_cuda_policy(WsHint hint); /* name of an L2 policy */
void ws_cuda_mma(WsCuda *c, const WsOp *op);
void ws_cuda_mma_fence(WsCuda *c, const WsOp *op);
void ws_cuda_mma_wait(WsCuda *c, const WsOp *op);
void ws_cuda_stmatrix(WsCuda *c, const WsOp *op);
void ws_cuda_st(WsCuda *c, const WsOp *op);
void ws_cuda_red_shared(WsCuda *c, const WsOp *op);
void ws_cuda_st_remote(WsCuda *c, const WsOp *op);
void ws_cuda_ld(WsCuda *c, const WsOp *op);
void ws_cuda_ldmatrix(WsCuda *c, const WsOp *op);
void ws_cuda_ld_global(WsCuda *c, const WsOp *op);
void ws_cuda_st_global(WsCuda *c, const WsOp *op);
void ws_cuda_red_global(WsCuda *c, const WsOp *op);
void ws_cuda_math(WsCuda *c, const WsOp *op);
void ws_cuda_raw(WsCuda *c, const WsOp *op);
const char *ws_cuda_run_name(WsCuda *c, const WsArray *value); /* f32 expression over scalars */

/* --- cuda_element.c: elements of values and tensors
 * ---------------------------------------------*/
typedef enum {
    WS_PLACE_TILE,    /* row slots ri, column slots ci */
    WS_PLACE_ROWS,    /* ri: replicated over the quad */
    WS_PLACE_PARTIAL, /* ri: one per lane of the quad */
    WS_PLACE_COLUMNS, /* ci */
    WS_PLACE_SCALAR,
    WS_PLACE_LINEAR, /* li: element li * threads + thread */
} WsPlaceShape;
typedef struct {
    WsPlaceShape shape;
    const WsRegValue *v;
    const char *name;
    guint row0, col0, rows, cols; /* of the view in the value */
    guint n_row, n_col;           /* slots of the view that a thread holds */
} WsCudaView;
gboolean ws_cuda_view(WsCuda *c, const WsValueUse *use, WsCudaView *v); /* FALSE: no such form */
WsPlaceShape ws_cuda_shape(const WsRegValue *v);
/* Loops over the slots of a view, column slots `step` at a time; returns how many were opened. */
guint ws_cuda_slots(WsCuda *c, const WsCudaView *v, guint step);
void ws_cuda_end_slots(WsCuda *c, guint n);
const char *ws_cuda_row(WsCuda *c, const WsCudaView *v);             /* in the view */
const char *ws_cuda_col(WsCuda *c, const WsCudaView *v, guint more); /* of slot ci + more */
const char *ws_cuda_register(WsCuda *c, const WsCudaView *v, guint more);
const char *ws_cuda_get(WsCuda *c, const WsCudaView *v, guint more); /* float or int */
void ws_cuda_set(WsCuda *c, const WsCudaView *v, guint more, const char *x);
const char *ws_cuda_owner(const WsCudaView *v);            /* condition, or NULL */
const char *ws_cuda_there(WsCuda *c, const WsCudaView *v); /* LINEAR: condition, or NULL */
const char *ws_cuda_widen(WsCuda *c, WsDtype t, const char *bits);
const char *ws_cuda_narrow(WsCuda *c, WsDtype t, const char *x);
const char *ws_cuda_pair(WsCuda *c, WsDtype t, const char *lo, const char *hi, gboolean here);
char *ws_cuda_tensor_access(WsCuda *c, const char *text); /* accessors that `text` mentions */
const char *ws_cuda_register_type(const WsRegValue *v);

/* --- cuda_kernel.c, cuda_host.c
 * -----------------------------------------------------------------*/
char *ws_cuda_roles(WsCuda *c);   /* member functions, one per role */
char *ws_cuda_problem(WsCuda *c); /* struct Problem: sizes and what follows from them */
char *ws_cuda_entry(WsCuda *c);   /* the __global__ function */
char *ws_cuda_host(WsCuda *c);    /* launcher */
void ws_cuda_counted(WsCuda *c);  /* which sizes it refuses */
char *ws_cuda_main(WsCuda *c);    /* self test; "" where it cannot be */
void ws_cuda_bind_problem(WsCuda *c, gboolean on); /* sizes and run names as members of `problem` */
char *ws_cuda_helpers(const char *text);

G_END_DECLS
