/* Findings: what the reader, elaboration, the checker and the runner have to say about a design.
 * A WsFindings owns its findings. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum { WS_SEVERITY_HINT, WS_SEVERITY_WARNING, WS_SEVERITY_ERROR } WsSeverity;

/* Classes of LANGUAGE section 22. */
typedef enum {
    WS_CLASS_V,
    WS_CLASS_S,
    WS_CLASS_N,
    WS_CLASS_T,
    WS_CLASS_L,
    WS_CLASS_B,
    WS_CLASS_P,
    WS_CLASS_F,
    WS_CLASS_R,
} WsClass;

/* Rules: one row each in rule.def (id, class, severity, title, explanation, remedy). */
typedef enum {
#define WS_RULE(id, text, klass, severity, title, explain, fix) WS_RULE_##id,
#include "model/rule.def"
#undef WS_RULE
    WS_RULE_COUNT
} WsRuleId;

typedef struct {
    const char *text; /* "S-KEY" */
    WsClass klass;
    WsSeverity severity;
    const char *title;
    const char *explain; /* what goes wrong, with a small example */
    const char *fix;     /* the remedy in general words */
} WsRule;
const WsRule *ws_rule(WsRuleId id);
/* By text, case-insensitive; returns WS_RULE_COUNT if there is none. */
WsRuleId ws_rule_find(const char *text);

typedef struct {
    WsRuleId rule;
    WsSeverity severity;
    char *at;         /* JSON path or step id: "groups/mma/body/0/do/3" */
    guint line;       /* 1-based line in the file, 0 unknown */
    guint column;     /* 1-based */
    char *message;    /* one sentence naming step, barrier, round */
    char *remedy;     /* what to do here, or NULL */
    GPtrArray *steps; /* char*: further step ids concerned; may be NULL */
    char *barrier;    /* "full[0] slot 2" or NULL */
    char *round;      /* "tile 1, k 3" or NULL */
} WsFinding;

typedef struct {
    GPtrArray *list; /* WsFinding* */
} WsFindings;

WsFindings *ws_findings_new(void);
void ws_findings_free(WsFindings *f);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsFindings, ws_findings_free)
/* Appends a finding with the rule's severity; `at` and the printf text are copied. Returned
 * pointer is borrowed and may be filled further (remedy, steps, barrier, round). */
WsFinding *ws_findings_add(WsFindings *f, WsRuleId rule, const char *at, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
void ws_finding_set_remedy(WsFinding *f, const char *format, ...) G_GNUC_PRINTF(2, 3);
guint ws_findings_count(const WsFindings *f, WsSeverity at_least);
/* Exit status of section 22: 0, 1 (L B P R errors), 2 (V S N T errors), 3 (F). The lowest class
 * wins; with `strict` warnings count as 1. */
int ws_findings_exit_code(const WsFindings *f, gboolean strict);
/* Human text, one finding per paragraph: "file:line:column: error S-KEY at path: message", then
 * lines for barrier, round and steps concerned, then "  remedy: …" (the rule's own if there is
 * none). */
char *ws_findings_print(const WsFindings *f, const char *file);

G_END_DECLS
