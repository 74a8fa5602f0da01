/* Where the elements of a tile lie in eight warps of 64 lanes, as a layout of Gluon says it: which
 * element each bit of register, lane and warp moves on to. A layout that is not understood has no
 * bases, and nothing follows from it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
    PY_LAYOUT_UNKNOWN,
    PY_LAYOUT_MFMA,    /* of sums of matrix instructions */
    PY_LAYOUT_OPERAND, /* `number` of products into `parent` */
    PY_LAYOUT_SLICE,   /* `parent` without dimension `number` */
    PY_LAYOUT_BASES,   /* written out */
    PY_LAYOUT_BLOCKED,
    PY_LAYOUT_SHARED, /* of shared memory: each element has a place of its own */
} PyLayoutKind;

typedef struct {
    gint64 row, col;
} PyBasis;

#define PY_LAYOUT_MOST 48
#define PY_PADDINGS    8

typedef struct PyLayout PyLayout;
struct PyLayout {
    PyLayoutKind kind;
    const PyLayout *parent;
    gint64 number, width;
    gboolean transposed;
    gint64 block;    /* rows and columns of the instruction */
    gint64 warps[2]; /* by dimension */
    gint64 tiles[2]; /* MFMA: side by side in a warp; BLOCKED: elements of a lane */
    gint64 lanes[2]; /* BLOCKED */
    gint64 order[2]; /* BLOCKED: the fastest dimension first */
    gint64 shape[2]; /* BASES, and SHARED with gaps */
    guint n[3];      /* BASES: of registers, lanes, warps; SHARED with gaps: of places, first */
    PyBasis basis[3][PY_LAYOUT_MOST];
    guint n_padding; /* SHARED: pairs of elements and how many places stay free behind them */
    gint64 padding[PY_PADDINGS][2];
    gint64 every, gap; /* SHARED, places known: elements, and how many places stay free behind them;
                          0: none */
};

enum { PY_REGISTERS, PY_LANES, PY_WARPS };

/* The bases of a tile of that many rows and columns. */
typedef struct {
    guint n[3];
    PyBasis at[3][PY_LAYOUT_MOST];
} PyBases;

typedef enum {
    PY_HALVES_UNKNOWN,
    PY_HALVES_ROWS,   /* each half of the warps holds half of the rows */
    PY_HALVES_PLACES, /* each holds half of the elements, other than by rows */
    PY_HALVES_BOTH,   /* each holds all of it */
} PyHalves;

/* FALSE: the layout is not understood, or has no such tile. */
gboolean py_layout_bases(const PyLayout *l, gint64 rows, gint64 cols, PyBases *b);
/* `by`: the bits of a place (row · cols + column) that are odd in number where warps 4 to 7 hold
 * it; 0 where both do. */
PyHalves py_layout_halves(const PyLayout *l, gint64 rows, gint64 cols, guint64 *by);
/* Every element is held once. */
gboolean py_layout_once(const PyLayout *l, gint64 rows, gint64 cols);
/* Places of shared memory as a design deals rows to pieces of `piece` elements: columns, rows of a
 * piece, pieces of a half, halves. */
gboolean py_layout_deals(const PyLayout *l, gint64 rows, gint64 cols, gint64 piece);
gboolean py_layout_equal(const PyLayout *a, const PyLayout *b);
/* Going from one to the other every element stays in its lane. */
gboolean py_layout_stays(const PyLayout *a, const PyLayout *b, gint64 rows, gint64 cols);
/* A row lies in one warp. */
gboolean py_layout_row_in_warp(const PyLayout *l, gint64 rows, gint64 cols);

G_END_DECLS
