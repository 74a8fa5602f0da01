/* Writing an export: to a temporary file beside the target, renamed when complete; "-" is standard
 * output. */
#pragma once

#include "trace/trace.h"

#include <stdio.h>
#include <string.h>

typedef void (*WsStreamBody)(FILE *f, const WsTrace *t);
gboolean ws_stream_write(const char *file, const WsTrace *t, WsStreamBody body, GError **error);
