/* A design that is being made of features. */
#pragma once

#include "compose.h"

G_BEGIN_DECLS

typedef struct {
    char *name, *group;
    guint needs;
    GPtrArray *lines; /* char* */
} Feature;

enum { NEEDS_TILES = 1, NEEDS_CLUSTER = 2, NEEDS_MMA = 4, NEEDS_READ = 8 };
const Feature *feature_at(guint i); /* NULL behind the last one */

/* --- the design */
enum { BEGIN, TOP, WAIT, WORK, SETTLE, DONE, LEFT, BOTTOM, AFTER, N_LISTS };

/* The third group is there where some feature gives it steps. */
enum { PRODUCER, CONSUMER, WORKER, N_ROLES };

typedef struct {
    GPtrArray *list[N_LISTS]; /* char* */
    GString *values, *counters;
    GString *tile_wrap, *loop_wrap; /* opening text, one line each */
    guint n_tile_wraps, n_loop_wraps;
    const char *count, *tiles; /* of its loop, NULL: nothing more to say */
} Role;

typedef struct {
    GRand *rand;
    gboolean tiles, cluster, mma, read, dynamic, multicast, lag;
    guint stages, consumers, ahead, ctas;
    const char *use;
    char *loop, *from, *doc, *order;
    Role role[N_ROLES];
    GString *sizes, *assume, *let, *axes, *tilelet, *tensors, *buffers, *barriers, *pipes;
    GHashTable *chosen; /* of the feature at hand: name -> text */
    GPtrArray *owned;
} Builder;

char *builder_text(const Builder *B); /* caller frees */

G_END_DECLS
