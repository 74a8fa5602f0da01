/* Loops of the symbolic walk, for the front ends that meet them: Python statements and PTX blocks.
 */
#pragma once

#include "import/python/pyread.h"

G_BEGIN_DECLS

typedef enum { CARRY_NONE, CARRY_LINEAR, CARRY_MOD, CARRY_WRAP, CARRY_UNKNOWN } CarryKind;

typedef struct {
    const char *name, *atom;
    const Val *entry, *end;
    CarryKind kind;
    const WsExpr *step;  /* LINEAR, MOD: what a round adds */
    gint64 n;            /* MOD: modulus; WRAP: modulus of the index */
    const char *index;   /* WRAP: variable of the index */
    gint64 shift;        /* WRAP: it has flipped (index + shift) / n times */
    const char *counter; /* of the design that holds the sum, NULL: none is needed */
} PyCarry;

/* A name that holds what a loop had counted before it. */
typedef struct {
    Frame *frame;
    const char *name;
    const WsExpr *was;
    const Val *now; /* in a round */
} PyHeld;

/* A value of its own for a variable that had another's when a loop began (pyread_alias.c). */
typedef struct {
    const char *name;
    const Val *shared, *own;
    WsReadStep *step; /* that copies it */
} PyCopy;

typedef struct PyLoop PyLoop;
struct PyLoop {
    const WsPyNode *node; /* where it stands */
    const WsPyNode *body, *target;
    const char *name;
    const WsExpr *count; /* NULL over tiles */
    const WsExpr *index; /* what the target is in a round; NULL: no target */
    gboolean tiles;
    const Val *slot;             /* over a pipe: what was waited for before the first round */
    const char *use, *next;      /* of such a loop: variables that hold the slot, and its use */
    const WsExpr *head, *left;   /* what that use is in a round, and at the end of one */
    gint64 from, stride;         /* over tiles: positions */
    gboolean dirty, waited;      /* what a round leaves for the next one: see PyRead */
    GArray *waited_on, *generic; /* gint, or NULL */
    GArray *held;                /* PyHeld */
    GPtrArray *inside;           /* char*: names that a round made when it was tried */
    GArray *set;                 /* guint: values that were there and it set then */
    gint64 first, rounds, by;    /* index of each round, where the source has numbers; 0 */
    GPtrArray *names;            /* variables a round may set; NULL: those of `body` */
    void (*run)(PyRead *p, PyLoop *l); /* walks a round; NULL: `body` */
    /* After the round that was only tried: says count, or tiles, from what a round does. FALSE: it
     * cannot be said, nothing is written. */
    gboolean (*decide)(PyRead *p, PyLoop *l, GArray *carries);
};
void py_assigned_names(const WsPyNode *node, GPtrArray *names); /* const char*, borrowed */
gboolean py_walk(PyRead *p, PyLoop *l);
void py_probe(PyRead *p, PyLoop *l, GArray *carries); /* PyCarry: what a round does to them */
/* Whether a step that is written has `name` in an expression or a text. */
gboolean py_steps_mention(const GPtrArray *list, const char *name);
gboolean py_value_in(const GArray *list, gint value); /* guint: numbers of values */
/* A name that nothing in the group has yet. */
const char *py_group_name(PyRead *p, const char *want);
/* `while not x.is_closed:` of what a reader of a pipe waited for (pyread_stream.c). FALSE: it is
 * another loop. */
gboolean py_loop_over_pipe(PyRead *p, const WsPyNode *node);
/* Makes it a loop over tiles if it runs from this CTA's number in steps of the grid. */
gboolean py_over_tiles(PyRead *p, PyLoop *l, const WsExpr *start, const WsExpr *stop,
                       const WsExpr *step);
/* --- pyread_rounds.c: what was found by py_probe becomes the variables at the head of a round, and
 * behind the loop */
void py_set_heads(PyRead *p, PyLoop *l, GArray *carries);
void py_set_exits(PyRead *p, const PyLoop *l, GArray *carries);
const WsExpr *py_inner_of(PyRead *p, const WsExpr *e, gint64 n); /* e of e % n, else e */
/* --- pyread_alias.c: variables that are one value when a loop begins get one each, `copies` says
 * which did. When a round has been tried: those that it leaves as they were are taken back, since
 * the source copies nothing there. TRUE: some were. */
void py_own_value(PyRead *p, PyLoop *l, PyCarry *c, GArray *copies);
gboolean py_drop_copies(PyRead *p, const PyLoop *l, GArray *carries, const GArray *copies);
/* --- pyread_carry.c */
void py_classify(PyRead *p, PyCarry *c); /* what a round does to it */
/* A name that a round binds to another object: which one it is in the next round, or behind the
 * loop, depends on how many there were. */
gboolean py_wanders(const PyCarry *c);
/* A parity that flips where the index of another of `all` wraps: sets its index and modulus. */
gboolean py_flips_on_wrap(PyRead *p, PyCarry *c, PyCarry *all, guint n_all);
/* The same by values, however it is written, and of an index that does not wrap; sets `shift`, too
 * (pyread_flips.c). */
gboolean py_flips_with(PyRead *p, PyCarry *c, PyCarry *all, guint n_all);
/* Whether e has an integer of a round that is only being tried. */
gboolean py_holds_trial(const WsExpr *e);

G_END_DECLS
