/* Exact integer polynomials over atoms: the normal form in which the judgement of global memory
 * compares coordinates, extents and conditions. Everything lives in the arena of a WsPolys; a
 * polynomial is a value of two words and borrows from it. Variables of the program are translated
 * by terms.h; this file knows atoms only. */
#pragma once

#include "expr/expr.h"

G_BEGIN_DECLS

#define WS_POLY_DEGREE 6
typedef struct {
    gint64 factor; /* not 0 */
    guint8 n;
    guint16 atom[WS_POLY_DEGREE]; /* ascending, repeated for powers; 0 behind n */
} WsMono;
typedef struct {
    guint n;
    const WsMono *mono; /* ascending by atoms, the constant first */
} WsPoly;

typedef enum {
    WS_ATOM_SIZE,     /* size of the launch: 0 or more */
    WS_ATOM_VALUE,    /* other value of the launch, and what one step alone knows */
    WS_ATOM_AXIS,     /* coordinate of the tile: 0 .. extent - 1 */
    WS_ATOM_BEFORE,   /* the same of the tile before, in steps that write it late */
    WS_ATOM_ROUND,    /* round of a loop: 0 .. extent - 1 */
    WS_ATOM_POSITION, /* of the tile in the sequence of its CTA: 0 or more */
    WS_ATOM_TILES,    /* tiles that this CTA has done: behind the loop */
    WS_ATOM_DIV,      /* floor(arg 0 / arg 1) */
    WS_ATOM_LESS,     /* 1 if arg 0 < arg 1, a constant; else 0 */
    WS_ATOM_MIN,
    WS_ATOM_MAX,
    WS_ATOM_CALL, /* another function, an element of a tensor */
} WsAtomKind;

/* What the value of an atom hangs on, besides the sizes of the launch. */
typedef enum {
    WS_ON_TILE = 1,      /* the tile and its position */
    WS_ON_BEFORE = 2,    /* the tile before */
    WS_ON_ROUND = 4,     /* rounds of loops */
    WS_ON_DATA = 8,      /* elements of integer tensors */
    WS_ON_STEP = 16,     /* a counter: may differ from step to step */
    WS_ON_SEQUENCE = 32, /* how many tiles the CTA gets */
} WsOn;

typedef struct {
    WsAtomKind kind;
    gint id;          /* variable, axis, loop; what tells atoms of one kind apart */
    guint on;         /* WsOn */
    WsPoly extent;    /* AXIS, BEFORE, ROUND */
    const char *name; /* for people */
    guint n_args;
    WsPoly *arg; /* DIV, LESS, MIN, MAX, CALL */
} WsAtom;

typedef struct WsPolys WsPolys;
WsPolys *ws_polys_new(void);
void ws_polys_free(WsPolys *ps);
gpointer ws_polys_alloc(WsPolys *ps, gsize bytes); /* zeroed */
const WsAtom *ws_atom(const WsPolys *ps, guint atom);
/* TRUE once something overflowed or all of it grew too large: nothing made since then can be relied
 * on. */
gboolean ws_polys_broken(const WsPolys *ps);

/* The atom of that kind and id, made if it is new; `extent` may be NULL. */
WsPoly ws_poly_leaf(WsPolys *ps, WsAtomKind kind, gint id, guint on, const WsPoly *extent,
                    const char *name);
WsPoly ws_poly_int(WsPolys *ps, gint64 value);
/* a + factor*b, a*b. */
WsPoly ws_poly_add(WsPolys *ps, WsPoly a, gint64 factor, WsPoly b);
WsPoly ws_poly_mul(WsPolys *ps, WsPoly a, WsPoly b);
/* Floor division; b must not be the constant 0. */
WsPoly ws_poly_div(WsPolys *ps, WsPoly a, WsPoly b);
/* 1 where a < 0, else 0. Comparisons with one difference become LESS of one polynomial. */
WsPoly ws_poly_negative(WsPolys *ps, WsPoly a);
WsPoly ws_poly_least(WsPolys *ps, gboolean largest, WsPoly a, WsPoly b);
WsPoly ws_poly_call(WsPolys *ps, gint id, guint on, const char *name, guint n, const WsPoly *arg);

gboolean ws_poly_is_int(WsPoly a, gint64 *value);
gint64 ws_poly_constant(WsPoly a); /* its constant part */
gboolean ws_poly_equal(WsPoly a, WsPoly b);
guint ws_poly_on(const WsPolys *ps, WsPoly a);
/* The atom if a is exactly one with factor 1. */
gboolean ws_poly_is_atom(WsPoly a, guint *atom);
/* a = factor*atom + rest, `atom` neither in factor nor in rest, also not inside other atoms. */
gboolean ws_poly_linear(WsPolys *ps, WsPoly a, guint atom, WsPoly *factor, WsPoly *rest);
gboolean ws_poly_has(const WsPolys *ps, WsPoly a, guint atom); /* inside of others, too */
/* a / b where b is one term and divides every term of a. */
gboolean ws_poly_quotient(WsPolys *ps, WsPoly a, WsPoly b, WsPoly *out);
/* `with` for every `atom`, inside other atoms too, in normal form again. */
WsPoly ws_poly_replace(WsPolys *ps, WsPoly a, guint atom, WsPoly with);
/* What `map` returns for an atom (TRUE) in its place. It must not map itself. */
typedef gboolean (*WsPolyMap)(gpointer data, guint atom, WsPoly *out);
WsPoly ws_poly_map(WsPolys *ps, WsPoly a, WsPolyMap map, gpointer data);
/* Calls `visit` for every atom of a, those inside of others too. */
typedef void (*WsPolyVisit)(gpointer data, guint atom);
void ws_poly_visit(const WsPolys *ps, WsPoly a, WsPolyVisit visit, gpointer data);
char *ws_poly_text(const WsPolys *ps, WsPoly a); /* "128*tm + 64". Caller frees. */

G_END_DECLS
