/* What the lenses say of one design: program, findings, verdict, prediction. Made in a thread for
 * the newest design alone; what is asked for later makes what is being made worthless. */
#pragma once

#include "clock/clock.h"
#include "judge/judge.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* Immutable once handed out, but for the verdict, which may follow (ws_answers_judge). */
typedef struct {
    gint refs;
    guint64 number;   /* of the question */
    WsDesign *design; /* what was asked about */
    WsProgram *program;
    WsFindings *findings; /* elaboration, check, clock */
    WsVerdict *verdict;   /* NULL: not judged (yet) */
    WsClockResult *clock;
    WsLaunchValues *launch;
    WsTrace *predicted;
    char *program_text; /* NULL if it was not asked for */
    guint left_out;     /* steps that cannot be elaborated: the program is that of the rest */
    gboolean judged;    /* the check is through, or will not come */
} WsAnswers;

typedef enum {
    WS_ASK_TEXTS = 1,  /* the printed program, too */
    WS_ASK_CHECK = 2,  /* the verdict, too */
    WS_ASK_SOURCE = 4, /* findings name lines of the kernel that the design was read from */
} WsAnswerAsk;

/* Now and here. `sizes`: WsSize, or NULL for the design's own; `machine`: what it is timed on
 * (document_machine.h), NULL: it is not. Takes `findings` (of reading), which may be NULL. */
WsAnswers *ws_answers_make(const WsDesign *design, const GArray *sizes, const WsMachine *machine,
                           WsAnswerAsk what, WsFindings *findings);
WsAnswers *ws_answers_ref(WsAnswers *a);
/* Of a kernel that was read and judged; takes program, findings and verdict. */
WsAnswers *ws_answers_of_kernel(WsJudged *kernel, const WsMachine *machine, WsAnswerAsk what);
void ws_answers_unref(WsAnswers *a);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsAnswers, ws_answers_unref)
/* Predicts anew, for other sizes or another machine; main thread. `measured`: the trace beside
 * which it will stand, whose CTAs may have claimed their tiles, or NULL. */
void ws_answers_predict(WsAnswers *a, const GArray *sizes, const WsMachine *machine,
                        const WsTrace *measured);

/* --- the thread ---------------------------------------------------------------------------------
 */
typedef struct WsWorker WsWorker;
/* Called on the main thread: once with everything but the verdict, and again when it is there.
 * Never for a question that is not the newest. */
typedef void (*WsAnswered)(WsAnswers *answers, gboolean judged_only, gpointer data);
WsWorker *ws_worker_new(WsAnswered answered, gpointer data);
void ws_worker_free(WsWorker *w); /* no call comes after it; waits for nothing */
/* `import`: what the design was read from, and what of it was not; NULL: it is our own. */
guint64 ws_worker_ask(WsWorker *w, const WsDesign *design, const GArray *sizes,
                      const WsMachine *machine, WsTrace *measured, WsImport *import,
                      WsAnswerAsk what);
void ws_worker_forget(WsWorker *w); /* no answer is wanted any more */

G_END_DECLS
