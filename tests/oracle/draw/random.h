/* Random small designs: rings, order barriers, staging, generic and bulk producers, tile loops;
 * right ones, and ones with up to two faults. */
#pragma once

#include <glib.h>

/* Text of design number `seed`; `faults` receives how many changes were made to a right one. */
char *random_design(guint32 seed, guint *faults);
