/* What the search finds: steps, objects and findings of a document. No widgets here. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

#define WS_MATCHES_MAX 200

typedef struct {
    const char *kind; /* translated: "step", "buffer", "finding" */
    char *title;      /* "load A -> a" */
    char *place;      /* id or path to reveal */
    guint rank;       /* 0: the name itself */
} WsMatch;

/* Everything whose name, id, keyword, label or message holds `text` in any case, best first; at
 * most WS_MATCHES_MAX. An empty text finds nothing. GPtrArray of WsMatch*, frees them. */
GPtrArray *ws_matches_new(WsDocument *document, const char *text);

G_END_DECLS
