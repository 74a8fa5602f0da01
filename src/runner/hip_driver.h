/* HIP by dlopen, as the table that the runner asks of a driver (cuda_driver.h). Written from the
 * declarations of hip_runtime_api.h and run against a stand-in library only: untested on a GPU. */
#pragma once

#include "runner/cuda_driver.h"
#include "runner/manifest.h"

/* The bundle's target is one of HIP's. */
bool ws_hip_target(const WsManifest *m);
/* What of the bundle there is nothing for on HIP, in words; NULL: nothing. */
const char *ws_hip_lacks(const WsManifest *m);
/* Loads $WARPSTAVE_LIBHIP, else libamdhip64.so.7, .6 or .so. On failure returns false with the
 * reason in `error`. */
bool ws_hip_open(WsCudaDriver *driver, char *error, size_t size);
/* Name of the function of HIP behind a call of the table, which messages name as CUDA does. */
const char *ws_hip_call(const char *cuda);
