/* What array statements need of an SM, in lanes of its pipes. Private to this folder. */
#pragma once

#include "program/array.h"
#include "program/forward.h"

typedef struct {
    guint rows, cols; /* 0 x 0: uniform, costs nothing per thread */
} WsShape;

/* Adds up; all it points to is borrowed. */
typedef struct {
    const WsTarget *hw;
    const WsAgent *agent;
    guint quad;         /* lanes that share a row */
    gboolean linear;    /* elements are dealt out to the threads, none is held twice */
    WsShape *temporary; /* [n_math] what statements have left */
    double alu, mufu, convert, shuffles;
    double half; /* of alu, at half rate */
} WsCount;

/* The shape of an array, and what it takes to work it out. */
WsShape ws_count(WsCount *c, const WsArray *a);
/* f16 of 8-bit floats times a scale (ws_array_half). */
void ws_count_half(WsCount *c, guint tile);
