/* Random kernels that write one tensor: tiles, loops, replicas, CTAs and conditions put together so
 * that most of them are nearly right. */
#pragma once

#include <glib.h>

char *random_kernel(guint32 seed); /* text of a design; caller frees */
