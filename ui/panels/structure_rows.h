/* The rows of the structure: every object, group and step of a design in the order of the document.
 */
#pragma once

#include "model/design.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define WS_TYPE_STRUCTURE_ROW ws_structure_row_get_type()
G_DECLARE_FINAL_TYPE(WsStructureRow, ws_structure_row, WS, STRUCTURE_ROW, GObject)

struct _WsStructureRow {
    GObject parent;
    char *id;     /* of the node in its design; a heading: NULL */
    char *label;  /* "load A → a" */
    char *detail; /* "→ a  signals full", "4 warps × 2" */
    guint64 node; /* identity */
    guint depth;
    gboolean muted, wrong; /* muted; has an error */
    WsNodeKind kind;
};

/* Rows of a design; free with g_ptr_array_unref. `wrong`: ids with errors, a set, or NULL. */
GPtrArray *ws_structure_rows(const WsDesign *design, GHashTable *wrong);
gboolean ws_structure_row_equal(const WsStructureRow *a, const WsStructureRow *b);

G_END_DECLS
