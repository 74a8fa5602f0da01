/* The machine that a document's prediction is played on: the built-in one of its target, or one
 * that the person has chosen (a description of resources/machines, or what `warpstave calibrate -o`
 * wrote). The choice is kept for the next documents. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

/* Never freed: threads may use it as long as they like. NULL: none can be read. */
const WsMachine *ws_document_machine(WsDocument *d);
/* Whether it is one that was chosen. */
gboolean ws_document_machine_chosen(WsDocument *d);
/* Predicts anew on the machine of `file`, NULL: the built-in one. FALSE with an error, and nothing
 * changed, if it cannot be read or is of another target than the design. */
gboolean ws_document_use_machine(WsDocument *d, GFile *file, GError **error);
/* Predicts anew at that clock, in GHz; 0: that of the description. Kept for the next documents. */
void ws_document_use_clock(WsDocument *d, double ghz);
double ws_document_machine_clock(WsDocument *d); /* of the description; 0: none can be read */
/* The machine for a design that will be its document's. */
const WsMachine *ws_document_machine_for(WsDocument *d, const WsDesign *design);
/* The built-in one for a target, never freed. */
const WsMachine *ws_machine_builtin(const char *target);

G_END_DECLS
