/* Expressions over sizes, as another language writes them. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

typedef enum { WS_TEXT_C, WS_TEXT_PYTHON } WsTextLanguage;

/* Appends an integer expression of sizes and run names (which are written out); FALSE with
 * WS_PACKAGE_ERROR where it needs more than that: data, a scalar. Without a program its names are
 * unbound, those of a rule: NAME is v_NAME. */
gboolean ws_launch_text(GString *out, const WsProgram *p, const WsExpr *e, WsTextLanguage language,
                        GError **error);
/* A name of the design as an identifier of both languages; caller frees. */
char *ws_launch_ident(const char *name);

G_END_DECLS
