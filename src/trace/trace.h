/* A trace: what each step of each agent did and when, in SM cycles. Predicted and measured traces
 * are the same type, so any two can be overlaid, aligned and subtracted. */
#pragma once

#include "program/forward.h"

#include <glib.h>

G_BEGIN_DECLS

/* Largest time a trace may hold, about 2.5 hours of cycles: keeps sums of times inside 64 bits. */
#define WS_TRACE_MAX_TIME (G_GINT64_CONSTANT(1) << 44)

/* WsTrace.every where no round of inner loops was recorded, only steps outside them. */
#define WS_TRACE_NO_ROUNDS (1 << 30)

typedef enum { WS_TRACE_PREDICTED, WS_TRACE_MEASURED } WsTraceOrigin;

/* One execution of one step. Times are cycles from the trace's zero (CTA start); -1 = not known.
 * start: the agent began it; issued: the agent went on; done: the effect was over (predicted), or
 * was observed to be over (measured: an upper bound). For a wait, issued = done = it returned. */
typedef struct {
    guint32 op;    /* WsOp.index of the step's main operation */
    guint16 agent; /* WsAgent index */
    guint16 cta;   /* index into the trace's `cta` table */
    gint32 tile;   /* position of the tile in the CTA's sequence, -1 outside tile loops */
    gint32 round;  /* total of the innermost enclosing loop (tile position if that is it) */
    gint64 start, issued, done;
} WsTraceRecord; /* 40 bytes */

typedef struct {
    guint32 id;    /* CTA number in the grid; of a mesh those of all devices, one after the other */
    guint32 sm;    /* SM it ran on, G_MAXUINT32 unknown */
    gint64 cycles; /* length from first to last record */
    double ghz;    /* cycles per ns of this CTA, 0 unknown */
} WsTraceCta;

/* One tile that a CTA claimed. Its position is the number of those that the CTA claimed before. */
typedef struct {
    guint32 cta; /* index into the trace's `cta` table */
    gint32 tile; /* id in the launch, 0 or more */
} WsTraceClaim;

/* An execution of a step, named as its record. */
typedef struct {
    guint32 cta, agent, op; /* cta: index into the trace's table */
    gint32 round;
} WsTraceSpot;

/* Of devices of a mesh: the notify with which a flag had grown to what an await asked for. */
typedef struct {
    WsTraceSpot await, notify;
} WsTraceLetGo;

/* One launch of those that a measured trace is merged from: the rounds of inner loops with
 * round % n == phase, of the first `tiles` tiles of each CTA. What is outside of inner loops is of
 * the first launch. */
typedef struct {
    guint32 phase;
    gint32 tiles; /* G_MAXINT32: all; fewer where CTAs claimed other tiles from there on */
} WsTraceLaunch;
#define WS_TRACE_MAX_LAUNCHES 64
/* End of the name of what one launch recorded, where `profile` writes a merged trace beside it. */
#define WS_ONE_LAUNCH "-one-launch.wtrace"
/* What is said of such a trace: how many launches, and of how many rounds distances are means. */
#define WS_TRACE_MERGED                                                                            \
    "merged from %u launches, which took turns with the rounds of inner loops: distances are "     \
    "means "                                                                                       \
    "of %d rounds of one launch; what lies between two rounds was not measured, and shares of "    \
    "the "                                                                                         \
    "time and what overlapped are not known"

/* Records of one agent of one CTA, and its level-of-detail index: level 0 has one span per
 * WS_TRACE_FAN records, each further level one per WS_TRACE_FAN spans, up to a level of one span.
 */
#define WS_TRACE_FAN 64
typedef struct {
    guint32 cta, agent;
    guint64 first, n;           /* in `record` */
    guint64 first_span, n_span; /* in `span`, level 0 first */
} WsTraceLane;
typedef struct {
    gint64 start, end; /* from the first start to the latest issued or done */
} WsTraceSpan;

/* The records of a trace. Has the members of a GArray, so that g_array_index() reads it; those of a
 * loaded trace lie in the file's own bytes, so that ten million cost no second copy. */
typedef struct {
    WsTraceRecord *data;
    guint len, room;
    gpointer bytes; /* what `data` lies in and is freed with it */
} WsTraceRecords;

typedef struct {
    gint refs;
    WsTraceOrigin origin;
    char *design_text; /* canonical design, embedded */
    char *design_hash;
    char *device;    /* "NVIDIA H200", or the machine description's name */
    gint32 every;    /* of the rounds of inner loops one in so many was recorded; 1: all were;
                        WS_TRACE_NO_ROUNDS: none */
    guint64 missing; /* records that were never written, as far as known; in no file */
    char *note;
    GArray *size_name;      /* char* */
    GArray *size;           /* gint64, same order */
    guint n_set;            /* --set overrides are already in design_text */
    double overhead;        /* traced time / timed time - 1; NAN unknown */
    double round_cost;      /* rounds of inner loops of one launch that records all of them / those
                               of launches that take turns - 1, the worst loop; NAN unknown */
    GArray *cta;            /* WsTraceCta */
    WsTraceRecords *record; /* sorted by (cta, agent, start) */
    GPtrArray *op_id; /* char*: step id of op index i (so that a trace outlives the program) */
    GPtrArray *agent_name;
    GPtrArray *op_label; /* char*: text for people, "load A -> a" */
    GPtrArray *op_loop;  /* char*: names of the enclosing loops, "tile/k"; "" outside loops */
    GArray *op_kind;     /* guint8: WsOpKind */
    char *bound;         /* what limits the run ("tensor pipe"), NULL unknown */
    gint64 grid;         /* CTAs of the launch, 0 unknown */
    GArray *claimed;     /* WsTraceClaim, by CTA and position: of launches that claim their tiles */
    GArray *begin;       /* gint64 of each CTA: ns from where the first of them began, by the timer
                            that all SMs share; empty: not known */
    GArray *launch;      /* WsTraceLaunch: those that it is merged from, `every` of them, each one's
                            rounds placed by where the first launch began the tile; empty: of one
                            launch */
    GArray *let_go;      /* WsTraceLetGo, of predictions as the clock played them */
    GArray *lane;        /* WsTraceLane: filled by ws_trace_finish() and by loading */
    GArray *span;        /* WsTraceSpan: level-of-detail index over the lanes */
    /* Utilisation of a unit over the trace, 0..1, NAN unknown (predicted traces). */
    double tensor_busy, tma_busy;
    gint64 cycles; /* whole span */
} WsTrace;

WsTrace *ws_trace_new(const WsProgram *p, WsTraceOrigin origin);
WsTrace *ws_trace_ref(WsTrace *t);
void ws_trace_unref(WsTrace *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsTrace, ws_trace_unref)
void ws_trace_add(WsTrace *t, const WsTraceRecord *r);
void ws_trace_finish(WsTrace *t); /* sorts, fills spans, lanes, index; twice does no harm */
/* Of a CTA (an index): its device of a mesh, 0 without one; its number in the grid of that device;
 * both in words ("CTA 5", "device 1, CTA 5"; caller frees). */
guint ws_trace_device(const WsTrace *t, guint cta);
guint ws_trace_cta_id(const WsTrace *t, guint cta);
gboolean ws_trace_has_devices(const WsTrace *t);
char *ws_trace_cta_text(const WsTrace *t, guint cta);
void ws_trace_add_size(WsTrace *t, const char *name, gint64 value);

/* Tiles that CTAs claimed; CTAs in ascending order, each one's tiles in the order of its claims. */
void ws_trace_add_claim(WsTrace *t, guint cta, gint32 tile);
/* Those of a CTA (an index); *n 0: it claimed none, or which ones is not known. The trace's. */
const WsTraceClaim *ws_trace_claims(const WsTrace *t, guint cta, guint *n);
void ws_trace_add_let_go(WsTrace *t, const WsTraceSpot *await, const WsTraceSpot *notify);
/* Which tiles its CTAs got is known. */
gboolean ws_trace_knows_claims(const WsTrace *t);
/* When a CTA (an index) began, ns after the first of the trace; -1: not known. */
gint64 ws_trace_begin(const WsTrace *t, guint cta);
/* Source of tiles for a walker (ws_walker_new): those of a list, then no more. */
typedef struct {
    const WsTraceClaim *claim;
    guint n;
} WsTraceClaims;
gint64 ws_trace_claim_at(gpointer claims, gint64 position); /* WsTraceClaims* */
/* As far as both go, the same tiles in the same order; FALSE where one knows and the other not. */
gboolean ws_trace_same_claims(const WsTrace *a, guint cta_a, const WsTrace *b, guint cta_b);
/* CTAs claim tiles of different numbers of rounds, and which ones they got is not known of this
 * measured trace: nothing in it can be counted to a round or a tile. */
gboolean ws_trace_rounds_unknown(const WsProgram *p, const WsTrace *t);
/* What stands between two records of an agent is not known, of this measured trace: rounds cannot
 * be counted (above), or only one in `every` was recorded. Then nothing may be concluded from the
 * absence of a record: no use or gap of a unit, no overlap, no cause. */
gboolean ws_trace_between_unknown(const WsProgram *p, const WsTrace *t);
/* Launches that it is made of, 1 or more; and which of them a record is of, from 0. Times of two
 * records of different launches are not measured against each other. */
guint ws_trace_launches(const WsTrace *t);
guint ws_trace_launch_of(const WsTrace *t, const WsTraceRecord *r);
/* What one launch recorded in the rounds of each phase, as one trace: `part` are traces of the same
 * program, sizes and CTAs, the i-th with the rounds of phase[i], as many as `every`. Where CTAs
 * claimed other tiles than in the first launch, a part counts up to there. The first part becomes
 * the result, of which this is a reference. */
WsTrace *ws_trace_merge(const GPtrArray *part, const guint *phase, GError **error);
/* Rounds of a CTA of one trace are not those of the other: these CTAs claimed other tiles, of other
 * numbers of rounds, or of one of them it is not known. */
gboolean ws_trace_rounds_apart(const WsProgram *p, const WsTrace *a, guint cta_a, const WsTrace *b,
                               guint cta_b);
/* Adds the CTAs of another trace of the same program and sizes; ws_trace_finish() is to follow. */
void ws_trace_append(WsTrace *t, const WsTrace *other);

/* End of a record: the latest of its known times. */
gint64 ws_trace_record_end(const WsTraceRecord *r);
const char *ws_trace_op_label(const WsTrace *t, guint op);
/* Lane of an agent of a CTA (index into the cta table), NULL if it has no records. */
const WsTraceLane *ws_trace_lane(const WsTrace *t, guint cta, guint agent);
/* Records of a lane that touch [from, to): calls `visit` for each, ascending by start. Uses the
 * index, so the cost follows the records found and not the trace. */
typedef void (*WsTraceVisit)(const WsTraceRecord *r, gpointer data);
void ws_trace_window(const WsTrace *t, const WsTraceLane *lane, gint64 from, gint64 to,
                     WsTraceVisit visit, gpointer data);

/* .wtrace: binary, versioned, design embedded, fixed-size records, level-of-detail index. Written
 * through a temporary file and a rename. */
gboolean ws_trace_save(const WsTrace *t, const char *file, GError **error);
WsTrace *ws_trace_load(const char *file, GError **error); /* read whole, validated */

/* Reads a trace from memory (what ws_trace_load does with the file's bytes). `check_sum` FALSE
 * skips the checksum and nothing else: no offset, count or index of the file is ever trusted. */
WsTrace *ws_trace_parse(const guint8 *data, gsize length, gboolean check_sum, GError **error);
typedef enum {
    WS_TRACE_ERROR_FORMAT,   /* not a trace, cut off, or damaged */
    WS_TRACE_ERROR_LAUNCHES, /* that do not go together */
    WS_TRACE_ERROR_VERSION,  /* written by a newer Warpstave */
} WsTraceError;
#define WS_TRACE_ERROR ws_trace_error_quark()
GQuark ws_trace_error_quark(void);

/* Exports to a stream (streaming writers). */
gboolean ws_trace_export_chrome(const WsTrace *t, const char *file, GError **error);
gboolean ws_trace_export_perfetto(const WsTrace *t, const char *file, GError **error);
gboolean ws_trace_export_csv(const WsTrace *t, const char *file, GError **error);

/* Overlap of each pair of steps: share of time both were in flight; text table. Caller frees. */
char *ws_trace_overlap_print(const WsTrace *t, const WsProgram *p);

G_END_DECLS
