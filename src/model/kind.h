/* Kinds of the nodes of a design: objects (node.def) and steps (step_id.def; their rows: step.def).
 */
#pragma once

typedef enum {
#define WS_NODE(id, keyword, help) WS_NODE_##id,
#include "model/node.def" /* design tiles tensor buffer barrier pipe group value counter suppress */
#undef WS_NODE
#define WS_STEP_ID(id) WS_STEP_##id,
#include "model/step_id.def"
#undef WS_STEP_ID
    WS_NODE_KIND_COUNT
} WsNodeKind;
