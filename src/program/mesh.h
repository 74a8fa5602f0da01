/* A mesh of devices as one: which devices the rounds and tiles of a step reach, and one launch of
 * all devices as a launch of one. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* A tile name of one expression stands for it. */
const WsExpr *ws_mesh_meaning(const WsProgram *p, const WsExpr *e);
/* The axis, or index of a loop, of which `device` takes every number of the mesh once: `device` is
 * that variable, or (variable + c) % devices with a c that does not name it. FALSE: it has another
 * form. Whether the variable itself runs over the devices is for the caller to see. */
gboolean ws_mesh_device_var(const WsProgram *p, const WsExpr *device, gint *var);
/* One launch of all devices as one launch: `tensor` has the device as its first dimension, a put
 * into it is a store, a device that is reached by turns (`ws_mesh_device_var`) is the variable
 * itself, which is the same up to the order of that variable; for that no other coordinate may name
 * it. Where the tensor is added to, it is the launch of one device, whose number is a size: each
 * adds every element once; and so it is, without the first dimension, where each device puts into
 * itself alone. Else that number is an axis. NULL, with the reason in `why` (a phrase,
 * to be freed): something is not of that form. For judging who writes what; nothing runs it. */
WsProgram *ws_program_over_devices(const WsProgram *p, gint tensor, char **why);

G_END_DECLS
