/* Texts of the check in the words of a target (own_words.c). */
#pragma once

#include "check/check.h"
#include "target/target.h"

G_BEGIN_DECLS

/* Exchanges the templates of a phrase, and its English beside it, which may be NULL. */
void ws_own_words(const WsTarget *target, char **phrase, char **english);
void ws_check_own_words(const WsProgram *p, WsVerdict *v, WsFindings *findings);

G_END_DECLS
