/* Private to src/score: where the narrow items of a scene are hit. */
#pragma once

#include "score/scene.h"

WsSceneZone *ws_zones_new(WsScene *s); /* by item; g_free() */
gboolean ws_item_is_narrow(const WsSceneItem *item);
