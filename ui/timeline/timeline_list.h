/* Every step and edge of a program, in words: for the table view and for assistive technology. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

#define WS_TYPE_LISTED ws_listed_get_type()
G_DECLARE_FINAL_TYPE(WsListed, ws_listed, WS, LISTED, GObject)

struct _WsListed {
    GObject parent;
    gboolean edge;
    char *agent; /* group, or "from to" of an edge */
    char *name;  /* "load A -> a", "full: load A -> a, to wait full" */
    char *times; /* "129 times, 962 cycles each", or "" */
    char *step;  /* selected when it is activated; of an edge the waiting step */
    char *from;  /* of an edge: the other one */
};

/* Steps in program order by group, each group followed by the edges that end in it. */
GListStore *ws_timeline_list(WsDocument *d);

G_END_DECLS
