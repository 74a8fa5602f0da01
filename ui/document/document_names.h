/* Names of steps for people: "load A -> a", and whose it is. Their places in the file
 * ("groups/load/body/0") are for texts of the generated code alone. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* What a step does: the label of its main operation; its place where the program does not know it.
 * Caller frees. */
char *ws_label_of_step(const WsProgram *p, const char *step);
/* The same with its group: "load A -> a, load". Caller frees. */
char *ws_name_of_step(const WsProgram *p, const char *step);
/* A design without steps: nothing can go wrong in it, and a proof says nothing. */
gboolean ws_nothing_happens(const WsProgram *p);

G_END_DECLS
