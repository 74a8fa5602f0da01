/* What can be added: objects, steps and templates, as data. */
#pragma once

#include "edit/edit.h"

G_BEGIN_DECLS

typedef struct {
    WsNodeKind kind;            /* WS_NODE_KIND_COUNT: a template */
    const char *name;           /* "load"; resource of a template */
    const char *section, *help; /* translated */
    char *title;                /* shown */
} WsPaletteItem;

/* Items of the target, in sections; free with g_ptr_array_unref. `templates`: only these. */
GPtrArray *ws_palette_items(const WsDesign *design, gboolean templates);
/* What is likely added next beside that node (NULL: nothing selected), as a section of its own;
 * free with g_ptr_array_unref. */
GPtrArray *ws_palette_likely(const WsDesign *design, const WsNode *at);
gboolean ws_palette_match(const WsPaletteItem *item, const char *typed);
/* Text of a template or starting design by its resource name; caller frees. */
char *ws_palette_text(const char *resource);
/* Names of the starting designs in the program; free with g_strfreev. */
char **ws_starting_designs(void);

G_END_DECLS
