/* A page of the manual: the part of Mallard that help/C uses, read into a tree. Plain data; needs
 * no display. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct WsHelpNode WsHelpNode;
struct WsHelpNode {
    char *name; /* element; NULL: text */
    char *text; /* of text, spaces as one */
    char *id, *xref, *src, *style;
    GPtrArray *kid; /* WsHelpNode, owned */
};

WsHelpNode *ws_help_page_load(const char *file, GError **error);
void ws_help_page_free(WsHelpNode *page);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsHelpNode, ws_help_page_free)
/* First child element of this name, NULL if there is none. */
const WsHelpNode *ws_help_child(const WsHelpNode *node, const char *name);
char *ws_help_plain(const WsHelpNode *node);  /* all text in it; caller frees */
char *ws_help_markup(const WsHelpNode *node); /* for a label; links are "page:ID"; caller frees */
/* Folder of the pages, as installed or of the source tree; NULL if there is none. Caller frees. */
char *ws_help_folder(void);
/* Ids of all pages, the index first and then in the order in which it names them. */
GPtrArray *ws_help_pages(const char *folder); /* char*; free with g_ptr_array_unref */

G_END_DECLS
