/* Devices that run a kernel together (LANGUAGE section 27): the mesh, its flags, and what an
 * operation does to another device. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* A counter in the memory of every device. Launches add to it and nobody resets it: the host hands
 * each launch what the launches before it have added, so that `per_launch` of this one stands on
 * top. */
struct WsFlag {
    char *name;
    gboolean is_array;
    WsExpr *array;      /* elements, over SIZE and RUN; literal 1 without one */
    WsExpr *per_launch; /* what one launch of all devices adds to each element of each device */
};

struct WsMesh {
    char *name; /* of the number of this device */
    gint rank;  /* its variable, a WS_VAR_SIZE: 0 <= rank < devices, another one on each device */
    WsExpr *devices; /* how many there are, over SIZE and RUN; equal on all of them */
    guint n_flags;
    WsFlag *flag;
};

/* TMA_PUT, TMA_GET: `device`. NOTIFY: `device`, flag, amount. AWAIT: flag, amount. */
struct WsPeer {
    WsExpr *device; /* that is reached; NULL: all of them (NOTIFY), this one (AWAIT) */
    gint flag;      /* -1 none */
    WsExpr *element;
    WsExpr *amount;   /* NOTIFY: what is added; AWAIT: what this launch must have added */
    gboolean relaxed; /* neither release nor acquire */
    gboolean gpu;     /* scope of this device alone */
    gboolean equals;  /* AWAIT: exactly so much, not at least */
};

G_END_DECLS
