/* Random control: two agents that meet again and again, in loops, branches and counters of random
 * expressions over sizes, names, indices and elements; the second one the same, said in other
 * words, or with one meeting more under a rare condition. */
#pragma once

#include <glib.h>

char *control_design(guint32 seed); /* caller frees */
