/* The document's own files share this. */
#pragma once

#include "ui/document/answers.h"
#include "ui/document/document.h"
#include "ui/document/document_source.h"
#include "ui/document/history.h"
#include "ui/document/journal.h"

G_BEGIN_DECLS

struct _WsDocument {
    GObject parent;
    GFile *file;
    WsAnswers *answers;       /* what is shown; NULL: no design */
    const WsMachine *machine; /* chosen; NULL: the built-in one. Never freed */
    gboolean machine_asked;   /* the settings were asked for it */
    WsAnswers *before;        /* while a design is tried: what was shown before */
    WsDesign *tried;          /* that design; NULL: none */
    WsHistory *history;
    WsJournal *journal;
    WsWorker *worker;
    char *saved_text;     /* of the file as it was read or written here */
    GArray *touched;      /* guint64: to be selected when the answers are there */
    gboolean news_judged; /* while "changed" is emitted: only the verdict is new */
    gboolean news_edited; /* … : the design was edited, not opened */

    WsTrace *measured; /* perhaps of an earlier state of the design */
    WsTraceStats *stats[2];
    GPtrArray *selection; /* char*, owned; the last one is primary */
    WsFocus focus;        /* focus.step points into `selection` */
    gint64 from, to;
    char *code[WS_CODE_COUNT];
    WsDesign *printed; /* code[WS_CODE_DESIGN] read again, for its lines; NULL: not asked for yet */
    WsSource *source; /* what the design was read from; NULL: it is one of its own */
    WsSourceMap *map; /* of `mapped`; NULL: not made yet */
    WsDesign *mapped;
    char *result[WS_RESULT_COUNT];
    gboolean result_good[WS_RESULT_COUNT];
};

typedef enum {
    WS_SIGNAL_CHANGED,
    WS_SIGNAL_SELECTION,
    WS_SIGNAL_RANGE,
    WS_SIGNAL_CODE,
    WS_SIGNAL_RESULTS,
    WS_SIGNAL_REVEAL,
    WS_SIGNAL_PREVIEWED,
    WS_SIGNAL_EDITED,
    WS_SIGNAL_COMPARED,
    WS_SIGNAL_ADVISED,
    WS_SIGNAL_IDLE,
    WS_SIGNAL_FIXES,
    WS_SIGNAL_HUNG,
    WS_SIGNAL_SEARCHED,
    WS_SIGNAL_TROUBLE,
    WS_SIGNAL_COUNT
} WsDocumentSignal;
/* Not for CODE and TROUBLE, which have arguments. */
void ws_document_emit(WsDocument *d, WsDocumentSignal which);
void ws_document_emit_code(WsDocument *d, WsCodeKind kind);
void ws_document_emit_trouble(WsDocument *d, const char *text);

/* document_select.c */
void ws_document_clear_selection(WsDocument *d);
/* The selection follows the nodes from one design to another; `touched` (or NULL) replaces it. */
void ws_document_carry_selection(WsDocument *d, const WsDesign *from, const WsDesign *to,
                                 const GArray *touched);
/* document_code.c */
void ws_document_clear_code(WsDocument *d);
/* document.c: sizes of the measured trace, NULL if there is none. Free with g_array_unref. */
GArray *ws_document_sizes(WsDocument *d);
void ws_document_clear_stats(WsDocument *d);
/* Predicts what is shown anew (other sizes, another machine) and says so. */
void ws_document_predict(WsDocument *d);
/* Everything that was open goes; `answers` (taken) are shown, and their design begins a history.
 * The caller announces it. */
void ws_document_install(WsDocument *d, WsAnswers *answers, GFile *file, gboolean dirty);
void ws_document_announce(WsDocument *d);
/* document_kin.c: nothing is compared with; says nothing. */
void ws_document_forget_kin(WsDocument *d);
/* document_source.c */
void ws_document_take_source(WsDocument *d, WsSource *source); /* taken; NULL: none */
/* The kernel that a design says it was read from, if it lies beside the design's file; NULL. */
WsSource *ws_source_beside(const WsDesign *design, GFile *file);
/* document_edit.c */
void ws_document_answered(WsAnswers *answers, gboolean judged_only, gpointer document);

G_END_DECLS
