/* The document of a window: a design, what the lenses said of it, its traces, and what the person
 * has selected. Everything a panel or the score shows comes from here; panels never talk to each
 * other. Lives on the main thread; the values it hands out (design, program, traces) are immutable
 * and may be given to worker threads with a reference. */
#pragma once

#include "check/check.h"
#include "clock/clock.h"
#include "edit/edit.h"
#include "program/forward.h"
#include "trace/stats.h"
#include "trace/trace.h"
#include "ui/document/history.h"

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
 *   "reveal"             show the selection: scroll to it, wherever it is shown
 *   "previewed"          what is shown is that of a design which is only tried (or no longer)
 *   "edited"             undo, the unsaved mark, the file or what is pending are new
 *   "compared"           the design beside this one, or what differs (document_compare.h), is new
 *   "advised"            exposed edges, critical path and next best edits (document_next.h) are new
 *   "idle"               idle units, or the gap that is looked at (document_idle.h), are new
 *   "fixes"              quick-fixes of findings (document_fixes.h) are known
 *   "hung"               where a kernel hung (document_hang.h) is new, or forgotten
 *   "searched"           faster schedules (document_search.h) were found, or the search is over
 *   "trouble"            (string) something that the person should know of */

typedef enum {
    WS_CODE_PROGRAM,
    WS_CODE_PTX,
    WS_CODE_LLVM,
    WS_CODE_CUDA,
    WS_CODE_DESIGN,
    WS_CODE_SOURCE, /* the kernel that the design was read from (document_source.h) */
    WS_CODE_COUNT
} WsCodeKind;

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

guint ws_document_left_out(WsDocument *d); /* steps that the program leaves out: it is a draft */

/* --- editing ------------------------------------------------------------------------------------
 * The design above is the one that everything shown belongs to. Edits are made to the newest one,
 * whose answers come from a thread; then "changed" is emitted. Nodes keep their identity from one
 * state to the next, and the selection goes along with them. */
WsDesign *ws_document_latest(WsDocument *d); /* borrowed, NULL if none */
/* TRUE while what is shown (or its verdict) is not yet that of the newest or tried design. */
gboolean ws_document_pending(WsDocument *d);
/* While "changed" or "previewed" is emitted: only verdict and findings are new; the design was
 * edited. */
gboolean ws_document_only_judged(WsDocument *d);
gboolean ws_document_was_edited(WsDocument *d);

/* One undoable step; FALSE if the draft was refused or changes nothing. Steps with the same
 * `coalesce` (or NULL) in a row are one. Selects what the draft has touched. */
gboolean ws_document_commit(WsDocument *d, WsDraft *draft, const char *coalesce);
/* The same for edits (WsEdit*) that were made elsewhere. */
gboolean ws_document_commit_edits(WsDocument *d, const char *name, const GPtrArray *edits,
                                  GError **error);
char *ws_edit_name_text(const char *verb, const char *what); /* translated; caller frees */
/* Shows a design without committing to it; NULL goes back. */
void ws_document_try(WsDocument *d, const WsDesign *design);
gboolean ws_document_trying(WsDocument *d);
WsClockResult *ws_document_former_clock(WsDocument *d); /* before trying; NULL: nothing is
                                                         * tried, or that had no time */
gboolean ws_document_undo(WsDocument *d);
gboolean ws_document_redo(WsDocument *d);
/* Undoes or does again up to that state of the history. */
void ws_document_go_to(WsDocument *d, guint state);
WsHistory *ws_document_history(WsDocument *d); /* borrowed, to read names */
gboolean ws_document_dirty(WsDocument *d);

/* A design from elsewhere: new, recovered, a template. */
void ws_document_take_design(WsDocument *d, const WsDesign *design, GFile *file, gboolean dirty);
gboolean ws_document_save(WsDocument *d, GFile *file, GError **error);
/* Whether the file holds what was read or saved here last. */
gboolean ws_document_file_is_ours(WsDocument *d);
void ws_document_keep(WsDocument *d); /* journals it before anything is edited */

/* Identities of the selected steps and objects in the newest design; free with g_array_unref. */
GArray *ws_document_selected_nodes(WsDocument *d);
guint64 ws_document_node(WsDocument *d, const char *id); /* identity; 0 if there is none */

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
