/* Partitions of warp_specialize in Gluon: which group is the default one, what the others ask for,
 * and what becomes of it (the compiler's solver, src/program/partition_registers.h). */
#pragma once

#include "codegen/python/py.h"
#include "program/partition_registers.h"

G_BEGIN_DECLS

typedef struct {
    guint n;
    guint *agent, *request; /* partition i: agent of the program; registers it asks for */
    guint
        *warps; /* one for a loader: every call there synchronises its partition (measured: 2 %) */
    guint maxnreg;
    WsPartitionRegisters result;
} WsPyPlan;

/* The default partition is the group with most registers: it gets what the others leave. FALSE: y
 * has the error. */
gboolean ws_py_plan(WsPy *y, WsPyPlan *out);
void ws_py_plan_comment(WsPy *y, const WsPyPlan *plan);
void ws_py_plan_clear(WsPyPlan *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WsPyPlan, ws_py_plan_clear)

G_END_DECLS
