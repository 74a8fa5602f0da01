/* What a search found out about designs, by their text: kept in a file from one run to the next, so
 * that a search that was stopped goes on where it was. */
#pragma once

#include "advise/candidate.h"

G_BEGIN_DECLS

typedef enum { WS_KEPT_UNFIT, WS_KEPT_STUCK, WS_KEPT_SERIAL, WS_KEPT_PLAYED } WsKeptKind;
typedef enum { WS_KEPT_UNASKED, WS_KEPT_PROVED, WS_KEPT_REFUTED, WS_KEPT_OTHER } WsKeptVerdict;

typedef struct {
    WsKeptKind kind;
    /* PLAYED: */
    gint64 rough, whole; /* cycles by the first tiles, of the whole launch; `whole` 0: not asked */
    guint64 shared;      /* bytes of shared memory of a CTA */
    gboolean extrapolated; /* `rough` is */
    WsKeptVerdict verdict;
} WsKeptTrial;

typedef struct WsKept WsKept;

/* What stands in `file` for searches from this design, launch and machine (whose figures are the
 * durations); empty if there is no such file. NULL with file and line: it is of another search, or
 * not whole. Transfer full. */
WsKept *ws_kept_open(const char *file, const WsTrialOf *of, const WsDesign *design, GError **error);
void ws_kept_free(WsKept *k);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsKept, ws_kept_free)
guint ws_kept_count(const WsKept *k);

/* By the SHA-256 of a design's text, hex. FALSE: nobody tried it. */
gboolean ws_kept_find(const WsKept *k, const char *sum, WsKeptTrial *trial);
void ws_kept_set(WsKept *k, const char *sum, const WsKeptTrial *trial);
/* Writes it, whole or not at all; nothing if nothing is new. */
gboolean ws_kept_save(WsKept *k, GError **error);

#define WS_KEPT_ERROR ws_kept_error_quark()
GQuark ws_kept_error_quark(void);
enum { WS_KEPT_ERROR_FORMAT, WS_KEPT_ERROR_OTHER };

G_END_DECLS
