/* Findings on imported kernels in SARIF 2.1.0, the form that code hosts and editors show at their
 * lines. */
#pragma once

#include "check/check.h"

G_BEGIN_DECLS

typedef struct WsSarif WsSarif;
WsSarif *ws_sarif_new(void);
void ws_sarif_free(WsSarif *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsSarif, ws_sarif_free)
/* Findings with the lines of `file`, and the verdict where it is not a proof; `verdict` NULL: the
 * kernel was not read. `kernel` NULL: the file's only one; `line`: of what left it undecided, 0
 * where none is known. */
void ws_sarif_add(WsSarif *s, const char *file, const char *kernel, const WsFindings *findings,
                  const WsVerdict *verdict, guint line);
char *ws_sarif_text(const WsSarif *s); /* caller frees */

G_END_DECLS
