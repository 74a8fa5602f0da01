/* What headers need that only hand a program on: names of its types, and the two small values it is
 * made and launched with. What changes inside a program then rebuilds only those who look into it.
 */
#pragma once

#include <glib.h>

typedef struct WsProgram WsProgram;
typedef struct WsTree WsTree;
typedef struct WsOp WsOp;
typedef struct WsLaunchValues WsLaunchValues;

/* A constant of the design, replaced everywhere. */
typedef struct {
    const char *name;
    gint64 value;
} WsSetting;

/* A size of one launch. */
typedef struct {
    const char *name;
    gint64 value;
} WsSize;
