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
 * ranked by cold time, or with `json` in the order of the sweep. A point that cannot be made or is
 * wrong is said and does not stop the others. Exit code: yes if at least one point ran right. */
int ws_sweep_profile(const char *file, const WsBundleOptions *options, char **range, char **hosts,
                     gboolean json);
/* The JSON form of `profile`: begins the object and its list of points; a point, whose `result` is
 * left open if there is no `problem`. `constants` may be NULL. */
void ws_cli_profile_begin(WsJsonOut *json, const char *file);
void ws_cli_profile_point(WsJsonOut *json, const char *constants, const char *host,
                          const char *problem);

G_END_DECLS
