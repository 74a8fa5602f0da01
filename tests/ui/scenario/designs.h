/* Documents on the designs of the source tree, for tests of the studio's panels. */
#pragma once

#include "ui/document/document.h"

WsDocument *designs_open(const char *path); /* of the source tree; must succeed */
/* Every design of a folder of the source tree, each in a document of its own; more than five. */
void designs_each(const char *folder, void (*visit)(WsDocument *d, const char *name));
/* The node and everything in it has facts, and every link of them leads somewhere. */
void designs_check_places(WsDocument *d, const WsNode *node);
