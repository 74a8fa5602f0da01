/* Inside src/cli: what `explain --json` prints (docs/schema/explain.json). */
#pragma once

#include "model/design.h"
#include "model/finding.h"
#include "target/target.h"

void ws_explain_json_rule(WsRuleId id);
void ws_explain_json_kind(WsNodeKind kind); /* a step or an object */
void ws_explain_json_target(const WsTarget *t);
void ws_explain_json_all(void);
/* Words that both forms use. */
const char *ws_explain_severity(WsSeverity severity);
const char *ws_explain_class(const WsRule *rule);
const char *ws_explain_breadth(const WsStepInfo *info);
const char *ws_explain_end(const WsStepInfo *info); /* NULL: it has no effect that ends later */
