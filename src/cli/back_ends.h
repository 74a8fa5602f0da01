/* What a design can be written as, found by writing it. */
#pragma once

#include "base/json_out.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* A line for each back end: "yes", or the reason and what to change. */
void ws_cli_print_back_ends(const WsProgram *p);
/* The same as the member "back_ends" of the open object; `p` NULL: null. */
void ws_cli_put_back_ends(WsJsonOut *j, const WsProgram *p);

G_END_DECLS
