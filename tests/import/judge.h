/* What the tests of all imported languages judge by. */
#pragma once

#include "import/import.h"
#include "program/walk/walk.h"

/* Launch values of `p` with the sizes that `a` has in `from`: the same launch of both. */
WsLaunchValues *same_launch(const WsProgram *p, const WsLaunchValues *from, const WsProgram *a);

/* Whether an error of a rule that begins with `rule` stands on a line of `text` that holds
 * `source`; every finding but hints goes into the test's log. */
gboolean found_on_line(const WsFindings *findings, const char *text, const char *rule,
                       const char *source);

/* The text of a kernel by hand (.py), or of a design in the language. Caller frees. */
char *kernel_of(const char *path, WsImportFrom language);
