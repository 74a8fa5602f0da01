/* Which ptxas is run. Private to this folder. */
#pragma once

#include <glib.h>

char *ws_ptxas_path(void); /* NULL: none is installed. Caller frees. */
