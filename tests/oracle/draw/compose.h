/* Random designs made of features (features.txt), two or three at a time on a ring between a
 * producer and a consumer, with faults planted in their JSON (fault.h). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

guint compose_features(void);            /* number of features */
const char *compose_name(guint feature); /* borrowed */
gboolean compose_pair(guint a, guint b); /* may stand together */

enum { COMPOSE_MAX = 4 };
typedef struct {
    guint n, feature[COMPOSE_MAX];
    gboolean tiles, cluster;
    char *text; /* caller frees */
} Composed;

/* The design of these features, its other choices by `seed`; features that do not go with the ones
 * before are left out. */
Composed compose(guint32 seed, const guint *feature, guint n);

G_END_DECLS
