/* Parts of `check`: the JSON form and --fix. */
#pragma once

#include "check/check.h"
#include "cli/cli.h"
#include "import/import.h"

G_BEGIN_DECLS

/* Version 2 of the JSON form (docs/schema/check.json). `verdict` NULL: the design does not
 * elaborate; `back_ends`: those are asked, too. */
void ws_cli_check_json(const char *file, const WsCliInput *in, char **set, const WsVerdict *verdict,
                       int code, gboolean back_ends);
/* The same as text (caller frees), with the settings as WsSetting. */
char *ws_cli_check_json_text(const char *file, const WsCliInput *in, GArray *settings,
                             const WsVerdict *verdict, int code, gboolean back_ends);

/* Adds what the check leaves to other commands: statements of the reference that cannot be
 * evaluated (with code generation), and, as warnings, own sizes that cannot be launched. */
void ws_cli_check_design(const WsProgram *program, WsFindings *findings);

/* The check of a design that elaborates, with the above; findings are moved to its lines. */
WsVerdict *ws_cli_check_program(const WsCliInput *in, const WsCheckOptions *options);
/* The exit code of `check`. */
int ws_cli_verdict_code(const WsVerdict *verdict, const WsFindings *findings, gboolean strict,
                        const char *require);

typedef struct {
    const char *only; /* "RULE" or "RULE@STEP": also fixes that are not safe; NULL: all that are */
    gboolean dry;     /* print what would change, write nothing */
    const WsCheckOptions *check;
} WsCliFix;
/* Fixes the design in the file and writes it; `in` holds the fixed design and its findings
 * afterwards, `*verdict` its verdict (NULL if it does not elaborate). Returns WS_EXIT_YES, or the
 * exit code of a failure to write. */
int ws_cli_fix(const char *file, WsCliInput *in, char **set, const WsCliFix *how,
               WsVerdict **verdict);

/* check --from … --fix: looks for an edit of the kernel's text with which it is proved, and prints
 * it as a unified difference; nothing is written. What stands in the way of reading the file has
 * been said before. */
void ws_cli_offer_edit(const char *file, const char *from, const WsImportOptions *how,
                       const WsCheckOptions *check);

G_END_DECLS
