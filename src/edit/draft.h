/* A draft: a design and the edits made to it so far, which become one undoable step. Every function
 * that works on one returns FALSE after saying in `why` what stands against it; the draft is then
 * of no further use but to read that. Owns everything it points to. */
#pragma once

#include "model/design.h"

G_BEGIN_DECLS

typedef struct {
    WsDesign *design;    /* with the edits so far */
    GPtrArray *former;   /* WsDesign: its states before, so that nodes looked at stay readable */
    GString *script;     /* those edits, one per line (model/design.h) */
    const char *verb;    /* "Move %s": names the step in the undo menu; static, to be translated */
    char *what;          /* what stands for %s */
    GArray *touched;     /* guint64: identities to select afterwards */
    WsFindings *refused; /* why the last edit did not fit */
    char *why;           /* in words, NULL as long as all is well */
} WsDraft;

WsDraft *ws_draft_new(const WsDesign *design);
void ws_draft_free(WsDraft *d);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsDraft, ws_draft_free)

/* One edit in its text form. */
gboolean ws_draft_line(WsDraft *d, const char *line);
gboolean ws_draft_edit(WsDraft *d, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The same on nodes, by identity; `json` NULL unsets. Keys as in the document. */
gboolean ws_draft_set(WsDraft *d, guint64 node, const char *key, const char *json);
gboolean ws_draft_set_text(WsDraft *d, guint64 node, const char *key, const char *text);
gboolean ws_draft_remove(WsDraft *d, guint64 node);
/* Index counts after the node has left its old place. */
gboolean ws_draft_move(WsDraft *d, guint64 node, guint64 owner, const char *list, guint index);
/* Identity of what was inserted, 0 on failure. */
guint64 ws_draft_insert(WsDraft *d, guint64 owner, const char *list, guint index, const char *json);

gboolean ws_draft_refuse(WsDraft *d, const char *format, ...) G_GNUC_PRINTF(2, 3);
void ws_draft_name(WsDraft *d, const char *verb, const char *what);
void ws_draft_touch(WsDraft *d, guint64 node);
const WsNode *ws_draft_node(const WsDraft *d, guint64 node); /* NULL if it is gone */


G_END_DECLS
