/* Loops that a compiler unrolled, read as what they were. */
#pragma once

#include "import/ptx/walk.h"

G_BEGIN_DECLS

/* The branch at the end of `block` on c leaves out an unrolled loop: it and the rounds that are
 * left behind it are read as one loop. The block behind both; -1: it is no such branch, and nothing
 * changed. */
gint ptx_rolled(PtxWalk *w, guint block, const WsExpr *c);

/* --- what rolled_shape.c finds */
#define PTX_MOST_AT_ONCE 8
typedef struct {
    PyLoop loop; /* tried only */
    PtxWalk *w;
    WsPyNode node;
    guint before, head; /* of the unrolled loop: what only computes; itself */
    guint test, behind; /* asks whether a round is left; behind all of them */
    guint first;        /* block that the rest begins with */
    PtxRound at_once, single;
    PtxRound all; /* … of straight code, all that may be left */
    WsPtxLoop own, rest;
    const char *left;    /* register: rounds that are left */
    gboolean two;        /* U has to be 2 */
    gint64 by;           /* U, found when it is tried */
    const WsExpr *most;  /* … rounds of the unrolled loop, times U */
    GHashTable *linear;  /* register -> const WsExpr*: what it is in an unrolled round */
    GHashTable *read;    /* registers that a single round reads */
    GHashTable *written; /* … or sets, that go on */
    gboolean good;
} PtxRolled;
/* The branch at the end of `block` may leave out an unrolled loop. */
gboolean ptx_rolled_shape(PtxWalk *w, guint block, PtxRolled *o);

/* --- same.c */
gboolean ptx_same(const WsExpr *a, const WsExpr *b);
gboolean ptx_same_value(const Val *a, const Val *b);
/* FALSE of loops and of what is not read, too. */
gboolean ptx_same_steps(PtxWalk *w, const GPtrArray *a, const GPtrArray *b);

/* --- registers.c: of one block, or of all (keys); char*, into */
void ptx_note_written(const PtxWalk *w, guint b, GHashTable *into);
void ptx_note_written_of(const PtxWalk *w, GHashTable *blocks, GHashTable *into);
/* Those that may hold what was there before: neither the block itself nor the first one wrote them
 * before. */
void ptx_note_read(const PtxWalk *w, GHashTable *blocks, guint first, GHashTable *into);

G_END_DECLS
