/* What ptxas complains of, in terms of the design. */
#pragma once

#include "codegen/generate.h"

G_BEGIN_DECLS

typedef struct {
    char *code;      /* "C7514"; "spill", "stack" */
    char *text;      /* ptxas's own words, or ours for spills */
    GPtrArray *step; /* char*: places in the design, in their order; empty if it names none */
} WsPtxasNote;

/* Notes (WsPtxasNote*, owned) for the report of assembling `ptx`, which was made from `p`. A
 * message that names a line is laid at the operation whose comment stands before that line; of the
 * others the code tells what kind of step to look for, and the order of products and waits which of
 * them it is. */
GPtrArray *ws_ptxas_notes(const WsProgram *p, const char *ptx, const WsPtxasReport *report);
/* One line per note. Caller frees. */
char *ws_ptxas_notes_print(const GPtrArray *notes);
/* Registers: per group what its values take at their peak, an estimate of the whole, the budget.
 * Caller frees. */
char *ws_register_report(const WsProgram *p);

G_END_DECLS
