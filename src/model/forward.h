/* What headers need that only hand a design or its findings on: names of types. A new rule, kind of
 * step or field then rebuilds only those who look into one. */
#pragma once

typedef struct WsDesign WsDesign;
typedef struct WsNode WsNode;
typedef struct WsEdit WsEdit;
typedef struct WsFinding WsFinding;
typedef struct WsFindings WsFindings;
