/* Inside src/check/mesh: what the files share. */
#pragma once

#include "check/global/global.h"
#include "model/finding.h"
#include "program/parts/mesh.h"

G_BEGIN_DECLS

enum { WS_MESH_LOOPS = 8, WS_MESH_PUTS = 64 };

/* The device that a put or get reaches. */
typedef enum {
    WS_MESH_OWN,       /* its own, in every launch and round: what a store does */
    WS_MESH_PERHAPS,   /* not known to be another one */
    WS_MESH_ELSEWHERE, /* another one, in a launch that the design names */
} WsMeshReach;

/* An operation that other devices see, and where it stands. */
typedef struct {
    const WsOp *op;
    guint agent;
    guint number;         /* in the order of the agent's text */
    gboolean conditional; /* under a condition that is not known */
    gboolean in_tiles;    /* in a loop over all tiles, which this agent runs alone */
    gboolean plain;       /* every loop around it has a number of rounds that the launch gives */
    guint n_loops;
    const WsTree *loop[WS_MESH_LOOPS];
    guint round[WS_MESH_LOOPS]; /* atom of its rounds; 0: over tiles, or not plain */
    WsPoly device, element, amount;
    gint device_var; /* PUT, GET, NOTIFY: the axis or index that runs over the devices; -1: none */
    guint device_atom;      /* its atom */
    WsMeshReach reach;      /* PUT, GET */
    WsPoly at[WS_MAX_RANK]; /* PUT, GET, load: coordinates */
    gboolean of_all;        /* NOTIFY: on all devices */
} WsMeshSite;

typedef struct {
    const WsProgram *p;
    WsFindings *findings;
    gboolean wrong;
    char *open;      /* the first thing that is not followed: a phrase; owned */
    WsGlobal g;      /* its polynomials and facts */
    GPtrArray *site; /* WsMeshSite*, in the arena of the polynomials; by agent, then in its order */
    guint *of_op;    /* [ops] index of its site + 1; 0: none */
    WsPoly devices, rank;
    GHashTable
        *answer;     /* WsTree* of a branch -> its condition, 1 or 2 (true), where that is known */
    gboolean *gates; /* [flags] its elements are of one device each, and in order */
    gboolean *counted; /* [flags] a launch adds what it says */
    guint *needs;      /* [flags] bits: flags that must have come before all of its notifies do */
} WsMeshCheck;

/* An error at the step of `op`. Returned finding is borrowed; NULL: it has been made before. */
WsFinding *ws_mesh_wrong(WsMeshCheck *M, WsRuleId rule, const WsOp *op, WsHarm harm,
                         const char *format, ...) G_GNUC_PRINTF(5, 6);
/* A further step; nothing without a finding. */
void ws_mesh_also(WsFinding *f, const WsOp *op);
void ws_mesh_open(WsMeshCheck *M, const WsOp *op, const char *format, ...) G_GNUC_PRINTF(3, 4);
const char *ws_mesh_flag(const WsMeshCheck *M, const WsOp *op); /* name of its flag */
WsPoly ws_mesh_per_launch(WsMeshCheck *M, gint flag);
/* The number of a polynomial of sizes in one of two launches that the design names; FALSE: it has
 * none. */
gboolean ws_mesh_number(WsMeshCheck *M, WsPoly a, gboolean rehearse, gint64 *out);
/* a < b in some launch that the design names. */
gboolean ws_mesh_below(WsMeshCheck *M, WsPoly a, WsPoly b);

/* `s` is executed in one of two launches that the design names, by some CTA, and asks for 1 or more
 * if it is an await; a < b there. FALSE: not known, as under a condition. */
gboolean ws_mesh_below_at(WsMeshCheck *M, const WsMeshSite *s, WsPoly a, WsPoly b);
gboolean ws_mesh_executed(WsMeshCheck *M, const WsMeshSite *s);
/* It is executed there, and its device has a number that the mesh does not have. */
gboolean ws_mesh_outside(WsMeshCheck *M, const WsMeshSite *s);

/* sites.c. */
void ws_mesh_sites(WsMeshCheck *M);
/* The side of a branch that is taken: 0, 1 (`then`), -1: not known. */
gint ws_mesh_side(const WsMeshCheck *M, const WsTree *branch);
/* Rounds of a loop that some launch has: 0, 1, 2 for two or more; what is not known is 0. */
guint ws_mesh_rounds(WsMeshCheck *M, const WsTree *loop);
const WsMeshSite *ws_mesh_site(const WsMeshCheck *M, const WsOp *op);
/* Elements of its box along dimension d of its tensor. */
gint64 ws_mesh_box(const WsProgram *p, const WsOp *op, guint d);
/* The loop is an await of every device: `for d < devices: await flag[d]`. */
gboolean ws_mesh_is_gate(const WsMeshCheck *M, const WsTree *loop);
/* `a` may be executed before `b` once: in another agent, in front of it, or in the round before. */
gboolean ws_mesh_may_precede(const WsOp *a, const WsOp *b);
/* It orders nothing between devices: relaxed, or of the scope of one. */
gboolean ws_mesh_weak(const WsMeshSite *s);
/* Its rounds await every element of a flag in turn, or it is an await of a flag without elements;
 * in order, and of all devices. It may stand under a condition. */
gboolean ws_mesh_awaits_all(const WsMeshCheck *M, const WsMeshSite *s);

/* order.c, counts.c, stuck.c. */
void ws_mesh_order(WsMeshCheck *M);
/* Other agents that `op` may wait for, with those that they wait for: a bit each, of 64 at most. */
guint64 ws_mesh_behind(const WsProgram *p, const WsOp *op);
void ws_mesh_needs(WsMeshCheck *M); /* before counts: `needs`, with what those need */
void ws_mesh_counts(WsMeshCheck *M);
void ws_mesh_stuck(WsMeshCheck *M);

G_END_DECLS
