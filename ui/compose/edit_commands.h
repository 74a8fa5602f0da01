/* The commands of the menu "Edit" and "Add": each makes a draft of the newest design and commits
 * it.
 */
#pragma once

#include "ui/window/window.h"

G_BEGIN_DECLS

/* A row of actions.def with part EDIT. */
void ws_edit_command(WsWindow *w, const char *name);
gboolean ws_edit_has_command(const char *name);
/* Commits the draft (taken), or says why it was refused. */
gboolean ws_edit_commit(WsWindow *w, WsDraft *draft, const char *coalesce);
/* Adds a step or object behind the selection, or at a place (owner 0: behind it). */
gboolean ws_edit_add_kind(WsWindow *w, WsNodeKind kind, WsEditSpot spot);
/* A design's text that was dropped or pasted, or is a template. */
gboolean ws_edit_insert_text(WsWindow *w, const char *text, gboolean template, WsEditSpot spot);
/* The node that commands act on: the primary one of the selection, in the newest design. */
const WsNode *ws_edit_focus(WsWindow *w);

G_END_DECLS
