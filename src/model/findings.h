/* Findings: what the reader, elaboration, the checker and the runner have to say about a design.
 * A WsFindings owns its findings; finding.h says what one holds. */
#pragma once

#include "model/forward.h"

#include <glib.h>

G_BEGIN_DECLS

typedef enum { WS_SEVERITY_HINT, WS_SEVERITY_WARNING, WS_SEVERITY_ERROR } WsSeverity;

struct WsFindings {
    GPtrArray *list; /* WsFinding* */
};

WsFindings *ws_findings_new(void);
void ws_findings_free(WsFindings *f);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsFindings, ws_findings_free)
/* Findings that count: those that are not silenced. */
guint ws_findings_count(const WsFindings *f, WsSeverity at_least);
/* Exit status of section 22: 0, 1 (L B P R errors), 2 (V S N T errors), 3 (F, and L-LENS). The
 * lowest class wins; with `strict` warnings count as 1. */
int ws_findings_exit_code(const WsFindings *f, gboolean strict);
/* Human text, one finding per paragraph: "file:line:column: error S-KEY at path: message", then its
 * story, or lines for barrier, round and steps concerned, then "  remedy: …" (the rule's own if
 * there is none). */
char *ws_findings_print(const WsFindings *f, const char *file);

G_END_DECLS
