/* What the tests of edits share: designs, nodes by path and label, drafts, verdicts. */
#pragma once

#include "check/check.h"
#include "edit/edit.h"

WsDesign *load(const char *path); /* of the source tree */
guint64 node_at(const WsDesign *design, const char *path);
guint64 labelled(const WsDesign *design, const char *label, guint nth); /* a step, the nth */
guint64 last_group(const WsDesign *design);
const char *why(WsDraft *d); /* why it is refused, in English; the draft keeps it */
void must(WsDraft *d, gboolean ok);
/* The script replayed line by line gives the same document: what the journal relies on. */
void assert_replays(const WsDesign *from, const WsDraft *d);
WsVerdictKind judge(const WsDesign *design);
