/* A trace: what each step of each agent did and when, in SM cycles. Predicted and measured traces
 * are the same type, so any two can be overlaid, aligned and subtracted. */
#pragma once

#include "program/program.h"

G_BEGIN_DECLS

typedef enum { WS_TRACE_PREDICTED, WS_TRACE_MEASURED } WsTraceOrigin;

/* One execution of one step. Times are cycles from the trace's zero (CTA start); -1 = not known.
 * start: the agent began it; issued: the agent went on; done: the effect was over (predicted), or
 * was observed to be over (measured: an upper bound). For a wait, issued = done = it returned. */
typedef struct {
    guint32 op;        /* WsOp.index of the step's main operation */
    guint16 agent;     /* WsAgent index */
    guint16 cta;       /* index into the trace's `cta` table */
    gint32 tile;       /* position of the tile in the CTA's sequence, -1 outside tile loops */
    gint32 round;      /* total of the innermost enclosing loop (tile position if that is it) */
    gint64 start, issued, done;
} WsTraceRecord; /* 40 bytes */

typedef struct {
    guint32 id;      /* CTA number in the grid */
    guint32 sm;      /* SM it ran on, G_MAXUINT32 unknown */
    gint64 cycles;   /* length from first to last record */
    double ghz;      /* cycles per ns of this CTA, 0 unknown */
} WsTraceCta;

typedef struct {
    gint refs;
    WsTraceOrigin origin;
    char *design_text;  /* canonical design, embedded */
    char *design_hash;
    char *device;       /* "NVIDIA H200", or the machine description's name */
    char *note;
    GArray *size_name;  /* char* */
    GArray *size;       /* gint64, same order */
    guint n_set;        /* --set overrides are already in design_text */
    double overhead;    /* traced time / timed time - 1; NAN unknown */
    double cycles_per_event; /* calibrated cost of one clock read and its share of the store; NAN */
    GArray *cta;        /* WsTraceCta */
    GArray *record;     /* WsTraceRecord, sorted by (cta, agent, start) */
    GPtrArray *op_id;   /* char*: step id of op index i (so that a trace outlives the program) */
    GPtrArray *agent_name;
    /* Utilisation of a unit over the trace, 0..1, NAN unknown (predicted traces). */
    double tensor_busy, tma_busy;
    gint64 cycles;      /* whole span */
} WsTrace;

WsTrace *ws_trace_new(const WsProgram *p, WsTraceOrigin origin);
WsTrace *ws_trace_ref(WsTrace *t);
void ws_trace_unref(WsTrace *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsTrace, ws_trace_unref)
void ws_trace_add(WsTrace *t, const WsTraceRecord *r);
void ws_trace_finish(WsTrace *t); /* sorts, fills spans */

/* .wtrace: binary, versioned, design embedded, fixed-size records, level-of-detail index. Written
 * through a temporary file and a rename. */
gboolean ws_trace_save(const WsTrace *t, const char *file, GError **error);
WsTrace *ws_trace_load(const char *file, GError **error); /* memory-mapped, validated */

/* Exports to a stream (streaming writers). */
gboolean ws_trace_export_chrome(const WsTrace *t, const char *file, GError **error);
gboolean ws_trace_export_csv(const WsTrace *t, const char *file, GError **error);

/* Overlap of each pair of steps: share of time both were in flight; text table. Caller frees. */
char *ws_trace_overlap_print(const WsTrace *t, const WsProgram *p);

G_END_DECLS
