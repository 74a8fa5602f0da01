/* A program as Python: Gluon (Triton 3.6), TLE and TLX. No LLVM. What a language cannot say is an
 * error (WS_GENERATE_ERROR_STEP) that names the step, the reason and what to change. Caller frees.
 */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* Shows of a design that differs from an exported one in constants alone that it is right: its
 * protocol, and its numbers against its reference. What was not shown is no value of a parameter.
 */
typedef struct {
    gboolean (*shown)(const WsProgram *p, gpointer data);
    gpointer data;
    /* Its protocol alone, for what is only proposed: what answers within a second. NULL: shown. */
    gboolean (*proved)(const WsProgram *p, gpointer data);
    gboolean pinned; /* no other constants are tried: all are fixed */
} WsPyJudge;

/* `remarks`: in front of its lines the place of every step in the design. `judge`: NULL, and all
 * constants are fixed, and no tile is written in parts, which are taken only if the judge shows
 * them to do the same. */
typedef char *WsPyGenerate(const WsProgram *p, gboolean remarks, const WsPyJudge *judge,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;
#define WS_PY_DIALECT(name) WsPyGenerate ws_generate_##name;
#include "codegen/python/dialect.def"
#undef WS_PY_DIALECT

G_END_DECLS
