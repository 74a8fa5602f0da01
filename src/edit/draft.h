/* A draft: a design and the edits made to it so far, which become one undoable step. Every function
 * that works on one returns FALSE after saying in `why` what stands against it; the draft is then
 * of no further use but to read that. Owns everything it points to. */
#pragma once

#include "model/build.h"

G_BEGIN_DECLS

typedef struct {
    WsDesign *design;    /* with the edits so far */
    GPtrArray *former;   /* WsDesign: its states before, so that nodes looked at stay readable */
    GPtrArray *edits;    /* WsEdit: those edits */
    const char *verb;    /* "Move %s": names the step in the undo menu; static, to be translated */
    char *what;          /* what stands for %s */
    GArray *touched;     /* guint64: identities to select afterwards */
    WsFindings *refused; /* why the last edit did not fit */
    char *why;           /* phrase; NULL as long as all is well */
    gboolean parts;      /* rules of the whole document are asked in the end (ws_draft_whole) */
} WsDraft;

WsDraft *ws_draft_new(const WsDesign *design);
void ws_draft_free(WsDraft *d);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsDraft, ws_draft_free)

gboolean ws_draft_apply(WsDraft *d, WsEdit *edit); /* takes the edit */
/* What `parts` left for the end; TRUE without it. */
gboolean ws_draft_whole(WsDraft *d);
char *ws_draft_script(const WsDraft *d); /* the edits in their text form, one per line */
/* The same on nodes, by identity. A value is taken; to set NULL clears the field. */
gboolean ws_draft_set(WsDraft *d, guint64 node, WsFieldId field, WsJson *value);
gboolean ws_draft_replace(WsDraft *d, guint64 node, WsJson *value);
gboolean ws_draft_remove(WsDraft *d, guint64 node);
/* Index counts after the node has left its old place. */
gboolean ws_draft_move(WsDraft *d, guint64 node, guint64 owner, WsFieldId list, guint index);
/* Identity of what was inserted, 0 on failure. */
guint64 ws_draft_insert(WsDraft *d, guint64 owner, WsFieldId list, guint index, WsJson *value);
/* The same behind what the list holds. */
guint64 ws_draft_append(WsDraft *d, guint64 owner, WsFieldId list, WsJson *value);

/* The reason is a phrase (base/phrase.h): its template is translated. Always FALSE. */
gboolean ws_draft_refuse(WsDraft *d, const char *format, ...) G_GNUC_PRINTF(2, 3);
void ws_draft_name(WsDraft *d, const char *verb, const char *what);
void ws_draft_touch(WsDraft *d, guint64 node);
const WsNode *ws_draft_node(const WsDraft *d, guint64 node); /* NULL if it is gone */

G_END_DECLS
