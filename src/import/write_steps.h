/* Steps of a design: what the files share that write them. */
#pragma once

#include "import/write.h"

G_BEGIN_DECLS

/* Borrows all it points to. */
typedef struct {
    WsRead *r;
    WsReadGroup *group;
    GPtrArray *loops; /* WsReadStep*: enclosing */
    guint conditional;
} WsWriter;

/* The wait or the contribution at `at` of `list`, put into `step`; `key` is its keyword, or the
 * field of a transfer. */
void ws_write_wait(WsWriter *w, const GPtrArray *list, guint at, WsJson *step);
void ws_write_signal(WsWriter *w, const GPtrArray *list, guint at, const char *key, WsJson *step);

G_END_DECLS
