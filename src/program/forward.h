/* What headers need that only hand a program on: names of its types, and the two small values it is
 * made and launched with. What changes inside a program then rebuilds only those who look into it.
 */
#pragma once

#include "model/forward.h"

#include <glib.h>

typedef struct WsProgram WsProgram;
typedef struct WsTree WsTree;
typedef struct WsOp WsOp;
typedef struct WsLaunchValues WsLaunchValues;
typedef struct WsArray WsArray;
typedef struct WsAssign WsAssign;
typedef struct WsFormula WsFormula;
typedef struct WsFormulaShape WsFormulaShape;
typedef struct WsDefinition WsDefinition;
typedef struct WsVar WsVar;
typedef struct WsTensor WsTensor;
typedef struct WsTensorMap WsTensorMap;
typedef struct WsTiles WsTiles;
typedef struct WsBuffer WsBuffer;
typedef struct WsRange WsRange;
typedef struct WsBarrier WsBarrier;
typedef struct WsPipeReads WsPipeReads;
typedef struct WsPipe WsPipe;
typedef struct WsRegValue WsRegValue;
typedef struct WsAgent WsAgent;
typedef struct WsAccess WsAccess;
typedef struct WsMmaOperand WsMmaOperand;
typedef struct WsMma WsMma;
typedef struct WsTensorTransfer WsTensorTransfer;
typedef struct WsTransaction WsTransaction;
typedef struct WsRawOperand WsRawOperand;
typedef struct WsRetired WsRetired;
typedef struct WsWait WsWait;
typedef struct WsCtas WsCtas;
typedef struct WsValueUse WsValueUse;
typedef struct WsMesh WsMesh;
typedef struct WsFlag WsFlag;
typedef struct WsPeer WsPeer;
typedef struct WsTarget WsTarget;

#define WS_MAX_RANK 5 /* dimensions of a tensor */

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
