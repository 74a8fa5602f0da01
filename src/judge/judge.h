/* A kernel in another language: read, elaborated and judged. What the command line and the studio
 * say of one is made here, and nowhere else. */
#pragma once

#include "check/check.h"
#include "import/import.h"

G_BEGIN_DECLS

/* Owns what it points to, `design` excepted. Findings that do not hold for it are warnings. */
typedef struct {
    WsImport *import;
    WsDesign *design;   /* borrowed from the import */
    WsProgram *program; /* NULL: it makes none */
    WsFindings *findings;
    WsVerdict *verdict;
} WsJudged;

/* Reads and judges a text: as it looks to be meant, and where that is not proved once more by slot
 * and parity alone, in PTX also with names for what is asked of a tile. `file` names the text, see
 * ws_import_text_as(), whose errors are returned. `check`: NULL as always; `foreign` is set here.
 */
gboolean ws_judge_text(const char *text, gsize length, const char *file, WsImportFrom from,
                       const WsImportOptions *options, const WsCheckOptions *check, WsJudged *k,
                       GError **error);
void ws_judged_clear(WsJudged *k);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WsJudged, ws_judged_clear)

/* The two halves, for a design that was read before and edited since. Budgets are another
 * compiler's: what elaboration says of them are warnings. */
void ws_judge_soften(WsFindings *findings);
/* What was not read limits the verdict (ws_import_gap, ws_import_stands). Never NULL; `program` may
 * be. */
WsVerdict *ws_judge_program(const WsImport *import, const WsProgram *program,
                            const WsCheckOptions *check, WsFindings *findings);

G_END_DECLS
