/* Agents: one for each replica of a group. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

typedef enum { WS_ROLE_PRODUCER, WS_ROLE_CONSUMER, WS_ROLE_WORKER } WsRole;
struct WsAgent {
    char *name; /* "mma.1"; "load" if the group has one replica */
    char *path; /* "groups/mma" */
    guint group, replica, replicas;
    gint half;  /* where groups have halves: 0 lo, 1 hi; -1 otherwise */
    gint queue; /* of a core (target/core.h): which one it is; -1: warps */
    WsRole role;
    guint warp0, warps, threads;
    guint registers;   /* setmaxnreg target; 0: no plan */
    gboolean one_code; /* its replicas run one piece of code */
    guint mma_rows;    /* of one of its matrix instructions */
    guint n_values;
    WsRegValue *value;
    WsTree *body;
};

G_END_DECLS
