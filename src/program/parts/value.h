/* Register values of an agent. */
#pragma once

#include "program/forward.h"
#include "program/parts/dtype.h"

G_BEGIN_DECLS

typedef enum { WS_LAYOUT_LINEAR, WS_LAYOUT_ACCUMULATOR } WsLayout;
struct WsRegValue {
    char *name;
    WsDtype dtype;
    guint rows, cols;
    WsLayout layout;
    gboolean halved; /* rows are those of this half of the group, of twice as many */
    guint registers; /* 32-bit registers per thread */
};

G_END_DECLS
