/* What a design is shown to be before an export takes its constants for parameters. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* What is kept between designs of other constants. Owner: who made it. */
typedef struct WsCliShown WsCliShown;
WsCliShown *ws_cli_shown_new(void);
void ws_cli_shown_free(WsCliShown *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsCliShown, ws_cli_shown_free)

/* TRUE: the check proves it, no budget of it is exceeded, and its rehearsal on the CPU comes to
 * what its reference says. FALSE too where there is no code generation to rehearse with.
 * `shown`: WsCliShown. */
gboolean ws_cli_shown(const WsProgram *p, gpointer shown);

/* The check alone: no error, and the protocol is proved. */
gboolean ws_cli_proved(const WsProgram *p, gpointer unused);

G_END_DECLS
