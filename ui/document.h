/* The document of a window: a design, what the lenses said of it, its traces, and what the person
 * has selected. Everything a panel or the score shows comes from here; panels never talk to each
 * other. Lives on the main thread; the values it hands out (design, program, traces) are immutable
 * and may be given to worker threads with a reference. */
#pragma once

#include "check/check.h"
#include "clock/clock.h"
#include "program/program.h"
#include "trace/stats.h"
#include "trace/trace.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define WS_TYPE_DOCUMENT ws_document_get_type()
G_DECLARE_FINAL_TYPE(WsDocument, ws_document, WS, DOCUMENT, GObject)

/* Signals:
 *   "changed"            design, program, findings, traces or sizes are new
 *   "selection-changed"  (see below)
 *   "range-changed"      the time range is new
 *   "code-changed"       (guint WsCodeKind) a generated text is new, or gone
 *   "results-changed"    rehearsal or run results are new
 *   "reveal"             show the selection: scroll to it, wherever it is shown */

typedef enum {
    WS_CODE_PROGRAM,
    WS_CODE_PTX,
    WS_CODE_LLVM,
    WS_CODE_DESIGN,
    WS_CODE_COUNT
} WsCodeKind;
const char *ws_code_kind_text(WsCodeKind kind); /* "program" */

WsDocument *ws_document_new(void);

/* Opens a design, or a trace (.wtrace: its embedded design becomes the design). Reads, elaborates,
 * plays and predicts; a few milliseconds. On failure the document stays as it was and the error's
 * message says what is wrong, where, and what to do. A readable design with findings opens. */
gboolean ws_document_open(WsDocument *d, GFile *file, GError **error);
/* Adds or replaces the measured (or predicted) trace. A trace of another design is refused. */
gboolean ws_document_open_trace(WsDocument *d, GFile *file, GError **error);
void ws_document_take_measured(WsDocument *d, WsTrace *trace); /* transfer full, NULL removes it */

GFile *ws_document_file(WsDocument *d);          /* borrowed, NULL if none */
char *ws_document_title(WsDocument *d);          /* the design's name; caller frees */
WsDesign *ws_document_design(WsDocument *d);     /* borrowed, all of these; NULL if none */
WsProgram *ws_document_program(WsDocument *d);   /* NULL when elaboration failed */
WsFindings *ws_document_findings(WsDocument *d); /* reading, elaboration, check, clock */
WsVerdict *ws_document_verdict(WsDocument *d);
WsClockResult *ws_document_clock(WsDocument *d);
WsLaunchValues *ws_document_launch(WsDocument *d); /* the sizes the prediction is for */
WsTrace *ws_document_predicted(WsDocument *d);
WsTrace *ws_document_measured(WsDocument *d);
WsTraceStats *ws_document_stats(WsDocument *d, gboolean measured); /* made on first use */
/* For those who make them elsewhere, since a long trace takes longer than a frame: whether they are
 * there (or there is no trace), and handing them over (transfer full; dropped if `of` is no longer
 * that trace, or they are there already). */
gboolean ws_document_stats_ready(WsDocument *d, gboolean measured);
void ws_document_take_stats(WsDocument *d, gboolean measured, const WsTrace *of,
                            WsTraceStats *stats);

/* --- selection: steps (by id), one of them primary, perhaps one execution of it ----------------
 */
typedef struct {
    const char *step;   /* step id, NULL: nothing selected */
    guint agent;        /* G_MAXUINT: any */
    gint32 tile, round; /* -1: any */
} WsFocus;
const WsFocus *ws_document_focus(WsDocument *d);
gboolean ws_document_selected(WsDocument *d, const char *step);
GPtrArray *ws_document_selection(WsDocument *d); /* const char* step ids; borrowed */
typedef enum { WS_SELECT_REPLACE, WS_SELECT_ADD, WS_SELECT_TOGGLE } WsSelectMode;
/* focus NULL clears. `reveal` asks every view to scroll to it. */
void ws_document_select(WsDocument *d, const WsFocus *focus, WsSelectMode mode, gboolean reveal);
/* Extends the selection by everything that the selected steps wait for or use (upstream), or that
 * waits for them or uses what they make (downstream), within a round; again: one round more. */
void ws_document_select_stream(WsDocument *d, gboolean downstream);
void ws_document_select_all(WsDocument *d);

/* --- time range, in cycles of the main trace; to <= from: none ---------------------------------
 */
void ws_document_set_range(WsDocument *d, gint64 from, gint64 to);
gboolean ws_document_range(WsDocument *d, gint64 *from, gint64 *to);

/* --- generated texts: PROGRAM and DESIGN are made at once, the others by the Generate job --------
 */
const char *ws_document_code(WsDocument *d, WsCodeKind kind); /* borrowed, NULL: not generated */
void ws_document_take_code(WsDocument *d, WsCodeKind kind, char *text);
/* Lines of a text that belong to a step (0-based, ascending); the id stands after "; " or "// ". */
GArray *ws_document_code_lines(WsDocument *d, WsCodeKind kind, const char *step); /* guint; free */
/* Step id that line belongs to (the nearest id at or above it), NULL if none. Caller frees. */
char *ws_document_code_step(WsDocument *d, WsCodeKind kind, guint line);

/* --- results of jobs, as text for the measurements panel ----------------------------------------
 */
typedef enum { WS_RESULT_REHEARSAL, WS_RESULT_RUN, WS_RESULT_COUNT } WsResultKind;
void ws_document_take_result(WsDocument *d, WsResultKind kind, gboolean good, char *text);
const char *ws_document_result(WsDocument *d, WsResultKind kind, gboolean *good);

G_END_DECLS
