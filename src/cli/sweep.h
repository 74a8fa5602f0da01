/* Sweeps: the same command over every combination of some constants' values. */
#pragma once

#include "cli/kernels.h"

G_BEGIN_DECLS

#define WS_SWEEP_MAX_POINTS 4096

/* One combination. */
typedef struct {
    char **set;  /* "NAME=VALUE": the settings common to all points, then this one's */
    char *label; /* "STAGES=3 BN=128" */
} WsSweepPoint;

/* `range` (NULL-terminated): "NAME=FROM..TO", "NAME=FROM..TO/STEP" or "NAME=A,B,C" each; `set`:
 * --set of all points, may be NULL. All combinations, the last range running fastest; NULL after
 * saying what is wrong. Transfer full (WsSweepPoint*). */
GPtrArray *ws_sweep_points(char **range, char **set);

/* Bundles every point of the design in `file`, runs them here or spread over `hosts`
 * (NULL-terminated; NULL: here), keeps each in the run history and prints them, case by case,
 * ranked by cold time. A point that cannot be made or is wrong is said and does not stop the
 * others. Exit code: yes if at least one point ran right. */
int ws_sweep_profile(const char *file, const WsBundleOptions *options, char **range, char **hosts);

G_END_DECLS
