/* A small picture of a design: two rounds of its score, in the colours of now. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_CARD_WIDTH  240
#define WS_CARD_HEIGHT 112

/* Shown in the picture once a thread has made it; those of one queue come one after the other. The
 * caller keeps the queue as long as they are wanted. */
typedef struct WsCardQueue WsCardQueue;
WsCardQueue *ws_card_queue_new(void);
void ws_card_queue_free(WsCardQueue *q); /* what is not there yet will not come */
void ws_card_queue_add(WsCardQueue *q, GtkPicture *picture, const char *design);

/* What the thread does; NULL: not to be drawn. Caller unrefs. */
GdkTexture *ws_card_draw(const char *design, int scale);

G_END_DECLS
