/* Private to this room: what is read of a kernel. Everything is owned by the WsRead's pools. */
#pragma once

#include "import/python/dsa/dsa.h"
#include "target/core.h"

G_BEGIN_DECLS

typedef enum {
    DSA_INT,     /* e */
    DSA_INDEX,   /* places: e and axes */
    DSA_POINTER, /* object: tensor; e and axes */
    DSA_BUFFER,  /* object */
    DSA_TENSOR,  /* object: a buffer that to_tensor() made a value of; turned: transposed */
    DSA_SUMS,    /* object: a buffer of sums */
    DSA_CAST,    /* the same in another type, on its way out */
    DSA_PAIR,    /* word of two buffers, element by element, not stored yet */
} PyDsaKind;

/* Places `stride*(at + 0)` to `stride*(at + n - 1)`; n 0: none. */
typedef struct {
    const WsExpr *at, *stride;
    gint64 n;
} PyDsaAxis;

typedef struct PyDsaVal PyDsaVal;
struct PyDsaVal {
    PyDsaKind kind;
    const WsExpr *e;
    PyDsaAxis axis[2]; /* rows, columns; of one dimension: columns */
    guint rank;
    gint object, other;
    gboolean turned;
    const char *text, *dtype;
    guint at, other_at; /* stores to the buffers when the value was made */
};

typedef struct {
    const char *name, *dtype;
    guint rank;
    const WsExpr *shape[2], *stride[2];
    gboolean read, written, known;
    guint line;
} PyDsaTensor;

typedef struct {
    const char *name, *dtype;
    gint space;
    guint rank;
    gint64 rows, cols;
    gint64 stages;   /* that a remark says; 0: none */
    gboolean ring;   /* decided by order.c */
    guint stores;    /* so far */
    gint zero_depth; /* of sums that no product was added to since: loops around the zeros; -1 none
                      */
    gboolean zero_used;    /* … by a product in a loop behind them, which is still open */
    const WsExpr *zero_if; /* … zeros under a condition in front of the product; NULL: none */
    gint zero_if_depth;
    guint line;
} PyDsaBuffer;

typedef enum {
    DSA_IN,
    DSA_OUT,
    DSA_MOVE,
    DSA_VECTOR,
    DSA_CUBE,
    DSA_LOOP,
    DSA_SET,
    DSA_WAIT,
    DSA_BARRIER,
} PyDsaStepKind;

typedef struct PyDsaStep PyDsaStep;
struct PyDsaStep {
    PyDsaStepKind kind;
    guint queue;             /* BARRIER: WS_CORE_UNITS means all */
    gint tensor, a, b, into; /* buffers; -1: none */
    const WsExpr *at[2], *first;
    gboolean turned, tiles, full; /* full: a loop of constant rounds that is written out */
    const char *word, *use;       /* VECTOR: operation; LOOP: name */
    const WsExpr *count, *from, *by;
    gint flag;
    GPtrArray *body; /* PyDsaStep* */
    const WsPyNode *node;
};

/* A flag from a queue to another. */
typedef struct {
    const char *name;
    guint from, to;
    gboolean ring;
} PyDsaFlag;

typedef struct {
    const char *name; /* of the design: axis or index */
    const WsExpr *count, *from;
    PyDsaStep *step;
} PyDsaLoop;

typedef struct {
    const char *name; /* in the text */
    const PyDsaVal *value;
    gint depth; /* loops around its assignment */
} PyDsaVar;

typedef struct {
    WsRead *r;
    const WsPyNode *module, *function;
    const WsTargetCore *core;
    GHashTable *imports; /* name -> dotted */
    GArray *vars;        /* PyDsaVar */
    GArray *tensors, *buffers, *flags, *loops;
    GHashTable *pointers;  /* names of parameters that are pointers */
    const WsExpr *grid[3]; /* NULL: not known */
    const char *tile;      /* axis of a loop over tiles */
    const WsExpr *tiles;
    gboolean pid[3];    /* axes of a launch that are read */
    gboolean plain;     /* range, min and max are Python's own */
    const char *hint;   /* variable that is being assigned */
    GPtrArray *to;      /* steps */
    const char *stages; /* name of the constant S */
    gint64 n_stages;
    GPtrArray *owned; /* GPtrArray*: bodies */
} PyDsa;

/* FALSE, and the error of the WsRead. */
gboolean py_dsa_refuse(PyDsa *d, const WsPyNode *at, const char *remedy, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
gboolean py_dsa_failed(const PyDsa *d);
PyDsaVal *py_dsa_val(PyDsa *d, PyDsaKind kind);
const PyDsaVal *py_dsa_integer(PyDsa *d, const WsExpr *e, const WsPyNode *at);
/* NULL: refused. */
const PyDsaVal *py_dsa_called(PyDsa *d, const WsPyNode *call);
const PyDsaVal *py_dsa_eval(PyDsa *d, const WsPyNode *node);
const WsExpr *py_dsa_int(PyDsa *d, const WsPyNode *node);
/* The dotted name of what is outside of the file, NULL: it is none. */
const char *py_dsa_word(PyDsa *d, const WsPyNode *node);
/* "dsa.copy", "cdiv": the word without its module; NULL: of another one. */
const char *py_dsa_known(const char *word);
/* Kernels round towards 0, designs down: FALSE, refused, where that differs. */
gboolean py_dsa_rounds_alike(PyDsa *d, const WsExpr *a, const WsExpr *b, const WsPyNode *at);
gboolean py_dsa_is_plain(const PyDsaVal *v); /* of to_tensor(), not transposed */
const PyDsaVal *py_dsa_pair(PyDsa *d, const char *word, const PyDsaVal *a, const PyDsaVal *b);
/* A value that buffers had when it was made, and have no more: refused. */
gboolean py_dsa_is_former(PyDsa *d, const PyDsaVal *v, const WsPyNode *at);
/* Arguments of a call by the names of its parameters ("a b c"), NULL where absent. FALSE: refused.
 */
gboolean py_dsa_arguments(PyDsa *d, const WsPyNode *call, const char *parameters,
                          const WsPyNode **arg);
const PyDsaVar *py_dsa_find(const PyDsa *d, const char *name);
void py_dsa_set(PyDsa *d, const char *name, const PyDsaVal *value);
gboolean py_dsa_is_from_zero(const PyDsa *d, const WsExpr *e);
/* Only numbers of the launch stand in it. */
gboolean py_dsa_is_of_launch(const PyDsa *d, const WsExpr *e);
PyDsaBuffer *py_dsa_buffer(PyDsa *d, gint buffer);
PyDsaTensor *py_dsa_tensor(PyDsa *d, gint tensor);
gint py_dsa_new_buffer(PyDsa *d, PyDsaBuffer b);
const char *py_dsa_dtype(PyDsa *d, const WsPyNode *node); /* NULL: refused */
gint py_dsa_space(PyDsa *d, const WsPyNode *node);        /* -1: refused */

/* --- module.c */
void py_dsa_module(PyDsa *d, char **define);
/* --- steps.c */
void py_dsa_statements(PyDsa *d, const WsPyNode *block);
PyDsaStep *py_dsa_step(PyDsa *d, PyDsaStepKind kind, const WsPyNode *node);
PyDsaStep *py_dsa_new_step(PyDsa *d, PyDsaStepKind kind, const WsPyNode *node);
GPtrArray *py_dsa_list(PyDsa *d);
/* A call that does something: copy, add … FALSE: it is none of them, or refused. */
gboolean py_dsa_call(PyDsa *d, const WsPyNode *call);
/* --- products.c: sums after one more product. */
const PyDsaVal *py_dsa_dot(PyDsa *d, const WsPyNode *call, const char *target);
const PyDsaVal *py_dsa_store_pair(PyDsa *d, const PyDsaVal *pair, gint into, const WsPyNode *at);
/* --- tails.c: the step's place in its tensor. FALSE: refused. */
gboolean py_dsa_place(PyDsa *d, PyDsaStep *s, const PyDsaVal *pointer, const PyDsaBuffer *b,
                      const WsPyNode *shape);
/* --- order.c */
void py_dsa_order(PyDsa *d, GPtrArray *stream);
/* --- design.c */
WsDesign *py_dsa_write(PyDsa *d, const GPtrArray *stream);

G_END_DECLS
