/* Inside of the Gluon printer: what it keeps beside the common state. */
#pragma once

#include "codegen/python/plan.h"
#include "program/parts/dtype.h"

G_BEGIN_DECLS

/* What the languages of two vendors have of their own. */
typedef struct {
    void (*header)(WsPy *y);                    /* comments at the head of the file */
    void (*imports)(WsPy *y, const char *text); /* of what `text` mentions */
    const char *(*shared_layout)(WsPy *y, guint buffer);
    gboolean (*plan)(WsPy *y, WsPyPlan *out); /* FALSE: y has the error */
    /* Optional: lines of the launcher that refuse tensors; options of the launch. */
    void (*checks)(WsPy *y, const char *arguments);
} WsGluonKind;

typedef struct {
    const WsGluonKind *kind;
    const WsPyPlan *plan;
    gboolean *token;    /* [n_values] issued since the last wait: not a tensor in the language */
    guint inst_k;       /* K of the role's instructions; 16 if it has none */
    guint row_cols;     /* columns of the layout whose rows values [rows, 1] follow; 0: none */
    GPtrArray *gathers; /* lines: layouts of gathers; borrowed from the pool */
    guint quad;         /* rows of the values with an element per lane; 0: none */
    GArray *layout;     /* WsGluonLayout: accumulator layouts in use */
} WsGluon;

typedef struct {
    guint k, cols; /* of an instruction */
    const char *name;
} WsGluonLayout;

static inline WsGluon *ws_gluon(WsPy *y)
{
    return y->role;
}

void ws_gluon_op(WsPy *y, const WsOp *op);
/* The whole file, by y->role's kind. */
void ws_gluon_whole(WsPy *y);
/* --- gluon_head.c: before the first function; `text` is all that follows ---*/
void ws_gluon_header(WsPy *y);
void ws_gluon_imports(WsPy *y, const char *text);
/* "from module import a, b" of the names that the text mentions. */
void ws_gluon_import_names(WsPy *y, const char *text, const char *module, const char *const *name,
                           guint n);
void ws_gluon_constants(WsPy *y);             /* those that are no parameters */
void ws_gluon_helpers(WsPy *y, GString *out); /* those that the text calls */
/* --- gluon_launch.c, gluon.c ---*/
const char *ws_gluon_joined(WsPy *y, const GPtrArray *names);
char *ws_gluon_launcher(WsPy *y, const GPtrArray *arguments, const WsPyPlan *plan);
/* --- gluon_layout.c: where elements lie
 * ---------------------------------------------------------*/
const char *ws_gluon_dtype(WsPy *y, WsDtype t);
const char *ws_gluon_tile_layout(WsPy *y, guint cols);     /* "mma_256" */
const char *ws_gluon_layout(WsPy *y, const WsRegValue *v); /* of a value; NULL: refused */
const char *ws_gluon_line_layout(WsPy *y);                 /* of a line, or one element */
char *ws_gluon_layouts(WsPy *y);                           /* definitions in use */
const char *ws_gluon_shared_layout(WsPy *y, guint swizzle, WsDtype t, guint rank);
gboolean ws_gluon_lanes(const WsRegValue *v); /* an element per lane of a quad */
void ws_gluon_role_begin(WsPy *y);
char *ws_gluon_role_head(WsPy *y, const char *body); /* the layouts that it mentions */
const char *ws_gluon_fresh(WsPy *y, guint v);
const char *ws_gluon_full(WsPy *y, guint v, const char *x);
const char *ws_gluon_row_index(WsPy *y, guint rows, guint cols);
const char *ws_gluon_col_index(WsPy *y, guint rows, guint cols);
const char *ws_gluon_spread(WsPy *y, const char *x, WsPyShape shape, guint rows, guint cols);
const char *ws_gluon_to_lanes(WsPy *y, const char *rows);
const char *ws_gluon_of_lanes(WsPy *y, const char *rows);
const char *ws_gluon_reduce(WsPy *y, const char *what, const char *x, guint rows, guint cols);
/* --- gluon_mma.c
 * --------------------------------------------------------------------------------*/
void ws_gluon_mma(WsPy *y, const WsOp *op);
void ws_gluon_mma_wait(WsPy *y, const WsOp *op);
void ws_gluon_body_end(WsPy *y, const WsTree *t);
void ws_gluon_block_around(WsPy *y, const WsTree *t, gboolean begin);
/* --- gluon_memory.c
 * -----------------------------------------------------------------------------*/
const char *ws_gluon_view(WsPy *y, const WsAccess *a); /* "a.index(…).slice(…)", not transposed */
void ws_gluon_load(WsPy *y, const WsOp *op);
void ws_gluon_store(WsPy *y, const WsOp *op);
void ws_gluon_write(WsPy *y, const WsOp *op);
void ws_gluon_read(WsPy *y, const WsOp *op);
void ws_gluon_write_global(WsPy *y, const WsOp *op);
void ws_gluon_read_global(WsPy *y, const WsOp *op);
const char *ws_gluon_element(WsPy *y, const WsExpr *x); /* of a tensor, 0 outside of it */
void ws_gluon_claim(WsPy *y, const WsOp *op);
void ws_gluon_take(WsPy *y, const WsOp *op);
/* --- gluon_gather.c
 * -----------------------------------------------------------------------------*/
void ws_gluon_gather(WsPy *y, const WsOp *op);
void ws_gluon_gather_arrive(WsPy *y, const WsOp *op);
void ws_gluon_gather_wait(WsPy *y, const WsOp *op);
/* --- gluon_barrier.c
 * ----------------------------------------------------------------------------*/
void ws_gluon_wait(WsPy *y, const WsOp *op);
void ws_gluon_arrive(WsPy *y, const WsOp *op);
void ws_gluon_expect(WsPy *y, const WsOp *op);
void ws_gluon_named(WsPy *y, const WsOp *op);
void ws_gluon_barriers(WsPy *y); /* lines of the kernel: storage and initialisation */

G_END_DECLS
