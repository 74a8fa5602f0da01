/* The kind of an operation of a trace. */
#pragma once

#include "program/op_kind.h"
#include "trace/trace.h"

G_BEGIN_DECLS

WsOpKind ws_trace_op_kind(const WsTrace *t, guint op);

G_END_DECLS
