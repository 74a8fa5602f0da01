/* Which tensors a launcher takes. */
#pragma once

#include "codegen/python/py.h"

G_BEGIN_DECLS

/* Python of the two helpers. `fits`: type, shape and strides are the design's. `spaced`, for
 * tensors that only descriptors reach: rows may lie further apart and dimensions in another order,
 * as long as no element lies on another and the copy engine can step so. It returns the strides. */
#define WS_PY_FITS                                                                                 \
    "def fits(name, x, shape, strides, dtype):\n"                                                  \
    "    there = [s for s, n in zip(x.stride(), x.shape) if n > 1]\n"                              \
    "    wanted = [s for s, n in zip(strides, shape) if n > 1]\n"                                  \
    "    if x.dtype != dtype or tuple(x.shape) != shape or there != wanted:\n"                     \
    "        raise ValueError(f\"{name}: {x.dtype} {tuple(x.shape)} with strides {x.stride()}; "   \
    "\"\n"                                                                                         \
    "                         f\"it must be {dtype} {shape} with strides {strides}\")\n"
#define WS_PY_SPACED                                                                               \
    "def spaced(name, x, shape, strides, dtype):\n"                                                \
    "    taken = [s if n > 1 else w for s, n, w in zip(x.stride(), x.shape, strides)]\n"           \
    "    side_by_side = len(shape) == 0 or taken[-1] == 1\n"                                       \
    "    apart, end = True, 1\n"                                                                   \
    "    for s, n in sorted((s, n) for s, n in zip(x.stride(), x.shape) if n > 1):\n"              \
    "        apart = apart and s >= end and (s == 1 or s * x.element_size() % 16 == 0)\n"          \
    "        end = s * n\n"                                                                        \
    "    if x.dtype != dtype or tuple(x.shape) != shape or not (side_by_side and apart):\n"        \
    "        raise ValueError(f\"{name}: {x.dtype} {tuple(x.shape)} with strides {x.stride()}; "   \
    "\"\n"                                                                                         \
    "                         f\"it must be {dtype} {shape}, elements of the last dimension "      \
    "\"\n"                                                                                         \
    "                         f\"side by side, other steps of 16 bytes or a multiple, no "         \
    "overlap\")\n"                                                                                 \
    "    return taken\n"

/* Python of what refuses sizes that leave 32 bits. */
#define WS_PY_COUNTED                                                                              \
    "def counted(sizes, most, *values):\n"                                                         \
    "    if not (all(0 <= n <= most for n in sizes)\n"                                             \
    "            and all(-2**31 <= n < 2**31 for n in values)):\n"                                 \
    "        raise ValueError(f\"sizes {sizes}: kernels count in 32 bits\")\n"

/* Lines of the launcher that refuse other tensors; `pointers`: what the kernel is called with. */
void ws_py_host_tensors(WsPy *y, const char *pointers);
/* The strides of a descriptor: "A_strides" where they are the tensor's own, else "[K, 1]". */
const char *ws_py_host_strides(WsPy *y, guint tensor, const char *pointers);
/* "M, K" */
const char *ws_py_host_list(WsPy *y, WsExpr *const *x, guint n);

G_END_DECLS
