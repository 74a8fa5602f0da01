/* From a design to its program, and what is done with a program as a whole. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

/* Elaborates a design. `set` overrides constants (--set). Returns NULL with errors of class N, T or
 * S in `findings`; L and B errors leave a program (so that the rest can still be shown) unless the
 * shape of it cannot be told. */
WsProgram *ws_elaborate(const WsDesign *design, const WsSetting *set, guint n_set,
                        WsFindings *findings);
/* The same for one who plays and judges many and shows none: without the text and hash of the
 * design, the sentences of steps, and what would fit instead. What asks for these of it
 * (ws_program_with, ws_program_split, code, traces) needs ws_elaborate(). */
WsProgram *ws_elaborate_bare(const WsDesign *design, WsFindings *findings);
/* The design that `p` came from with another value of a constant; NULL where that is no design, or
 * one with errors. */
WsProgram *ws_program_with(const WsProgram *p, const char *constant, gint64 value);
/* The same kernel with tiles of 2^n: values, buffers and steps whose extents are no powers of two
 * once for each part of such (split/README.md). It keeps the hash of p's design. NULL: nothing is
 * to be cut, or something cannot be. */
WsProgram *ws_program_split(const WsProgram *p);
WsProgram *ws_program_ref(const WsProgram *p);
void ws_program_unref(WsProgram *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsProgram, ws_program_unref)
/* `generate --as program`: the whole program as text, stable for golden tests. Caller frees. */
char *ws_program_print(const WsProgram *p);

G_END_DECLS
