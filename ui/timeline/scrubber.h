/* Which CTA the score shows and which round stands in its middle: shown, stepped and dragged. */
#pragma once

#include "ui/timeline/timeline.h"

G_BEGIN_DECLS

#define WS_TYPE_SCRUBBER ws_scrubber_get_type()
G_DECLARE_FINAL_TYPE(WsScrubber, ws_scrubber, WS, SCRUBBER, GtkWidget)

/* Keeps a reference to the timeline. Floating reference, as of every new widget. */
GtkWidget *ws_scrubber_new(WsTimeline *timeline);

G_END_DECLS
