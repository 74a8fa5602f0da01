/* A design in every form it can be taken out as: what exists, what is refused, by which step, why
 * and what to change. The tool makes them one after the other, from a copy of the design. No
 * widgets here. */
#pragma once

#include "model/forward.h"
#include "ui/document/process.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum {
#define WS_EXPORT(id, tool, ending, title, help) WS_EXPORT_##id,
#include "ui/compose/exports.def"
    WS_EXPORT_COUNT
} WsExport;
const char *ws_export_ending(WsExport what); /* ".gluon.py"; "" for a package */
const char *ws_export_title(WsExport what);  /* translated, both */
const char *ws_export_help(WsExport what);

typedef enum {
    WS_EXPORT_WAITING, /* not asked yet, or on its way */
    WS_EXPORT_MADE,
    WS_EXPORT_REFUTED, /* the check says no */
    WS_EXPORT_REFUSED, /* that form cannot say it */
    WS_EXPORT_ABSENT,  /* something is missing here */
    WS_EXPORT_FAILED,
} WsExportState;

typedef struct {
    WsExportState state;
    char *text;   /* MADE; NULL for a package */
    char *notes;  /* MADE: what its head says, in paragraphs; NULL nothing */
    char *step;   /* REFUSED: place in the design, NULL if it is of the whole */
    char *why;    /* not MADE: in one sentence */
    char *remedy; /* REFUSED: what to change, or NULL */
} WsExportResult;

typedef struct WsExports WsExports;
typedef void (*WsExportsNews)(WsExports *exports, WsExport what, gpointer data);
/* Begins at once. `file` is the design's own or the kernel it was read from (or NULL): it gives the
 * name, and a package the figures that lie beside it. */
WsExports *ws_exports_new(const WsDesign *design, GFile *file, WsExportsNews news, gpointer data);
void ws_exports_free(WsExports *exports); /* stops what is running; no news after it */
const WsExportResult *ws_exports_result(const WsExports *exports, WsExport what);
const char *ws_exports_name(const WsExports *exports); /* "gemm_bf16": for files */
/* Writes one that was made to a file (a package: into a new folder, which takes a moment: `saved`
 * is called when it is there, `why` NULL if all went well). */
typedef void (*WsExportsSaved)(GFile *file, const char *why, gpointer data);
void ws_exports_save(WsExports *exports, WsExport what, GFile *file, WsExportsSaved saved,
                     gpointer data);

/* For tests: what the tool said becomes a result. Takes nothing. */
void ws_export_read(WsExportResult *result, const WsProcessResult *said);
void ws_export_clear(WsExportResult *result);

G_END_DECLS
