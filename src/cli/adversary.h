/* A refuted design held to its witness: what the commands bundle and rehearse share. */
#pragma once

#include "cli/cli.h"
#include "program/hold.h"

G_BEGIN_DECLS

/* The order of the witness of a refuted program, and what its rehearsal under that order showed. */
typedef struct {
    WsHold *hold;
    gboolean shown; /* the rehearsal does what the witness tells */
    char *seen;     /* one line: what it did */
} WsCliAdversary;
void ws_cli_adversary_clear(WsCliAdversary *a);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WsCliAdversary, ws_cli_adversary_clear)

/* Exit code; says why there is none. Of the orders in which two colliding accesses may come the one
 * that does harm is taken. */
int ws_cli_adversary(WsCliInput *in, WsCliAdversary *a);

G_END_DECLS
