/* The program: the elaborated design and the only meaning of it. Per agent a tree of sequences,
 * loops, branches and primitive operations; every operation carries slots, phases, counts, bytes
 * and byte ranges, so that no lens (check, clock, codegen, rehearse, exporters) derives them again.
 *
 * A WsProgram is immutable after ws_elaborate() and reference-counted. All strings, expressions and
 * operations belong to it; a lens borrows them. Units: sizes in elements, "bytes" in bytes. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

struct WsProgram {
    gint refs;
    char *name, *target, *file;
    char *note;               /* what the author says of the design, or NULL */
    char *unread;             /* a place of its source whose values were not read, or NULL */
    guint n_granted;          /* what its import took for granted, as the design says it */
    char **granted;
    const WsTarget *hardware; /* row of `target` */
    char *design_text;        /* canonical text it was elaborated from (with --set applied) */
    char *design_hash;        /* sha-256 of that text without `covers`, hex */
    guint n_constants;
    char **constant_name;
    gint64 *constant;
    guint n_vars;
    WsVar *var;
    guint n_assume;
    WsExpr **assume;
    char **assume_text;
    guint n_tensors;
    WsTensor *tensor;
    guint n_maps;
    WsTensorMap *map;
    guint n_reference;
    WsDefinition *reference;       /* formula.h */
    WsFormulaShape *formula_shape; /* of each tensor, if the reference looks at it */
    guint cluster;
    guint per_sm; /* CTAs that an SM is to hold at a time, at least 1 */
    WsTiles *tiles;
    guint n_buffers;
    WsBuffer *buffer;
    guint n_barriers;
    WsBarrier *barrier;
    WsMesh *mesh; /* NULL: one device runs it alone */
    guint n_pipes;
    WsPipe *pipe;
    guint n_agents;
    WsAgent *agent;
    guint n_groups;
    char **group_name;
    guint n_transactions;
    WsTransaction **transaction; /* in the order of their first operation */
    /* Barrier initialisation, fences, first CTA or cluster barrier, tensor-map prefetch: run once,
     * in order, by the whole CTA (leader ops by thread 0). setmaxnreg opens each agent's body. */
    guint n_prologue;
    WsOp **prologue;
    guint n_ops;
    WsOp **op; /* all operations by index, prologue included */
    guint threads, idle_warps;
    guint entry_registers; /* R0 */
    guint64 shared_bytes;
    gboolean has_raw;
    gpointer arena; /* owns everything above; private to src/program */
};

gint ws_program_find_var(const WsProgram *p, const char *name);    /* document and tile scope; -1 */
gint ws_program_find_tensor(const WsProgram *p, const char *name); /* -1: none, or no name */

G_END_DECLS
