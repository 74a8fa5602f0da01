/* Kinds of the nodes of a design: objects (node.def) and steps (step.def). */
#pragma once

typedef enum {
#define WS_NODE(id, keyword, help) WS_NODE_##id,
#include "model/node.def" /* design tiles tensor buffer barrier pipe group value counter suppress */
#undef WS_NODE
#define WS_STEP(id, keyword, ...) WS_STEP_##id,
#include "model/step.def"
#undef WS_STEP
    WS_NODE_KIND_COUNT
} WsNodeKind;
