/* Colours of what people read at a terminal. */
#pragma once

#include <glib.h>
#include <stdio.h>

G_BEGIN_DECLS

/* Prints lines; at a terminal the severity of a finding and the verdict that a line of a table
 * begins with are coloured, unless NO_COLOR is set or TERM is dumb. */
void ws_cli_put_coloured(const char *text, FILE *to);

G_END_DECLS
