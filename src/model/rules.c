/* The rule table: what every finding means and what to do about it. */
#include "model/finding.h"

static const WsRule rules[] = {
#define WS_RULE(id, text, klass, severity, title, explain, fix)                                    \
    [WS_RULE_##id] = { text, WS_CLASS_##klass, WS_SEVERITY_##severity, title, explain, fix },
#include "model/rule.def"
#undef WS_RULE
};

/* Every id has a row: two rows of one id are an error of -Woverride-init. */
enum {
    ROWS = 0
#define WS_RULE(id, text, klass, severity, title, explain, fix) +1
#include "model/rule.def"
#undef WS_RULE
};
G_STATIC_ASSERT((int)ROWS == (int)WS_RULE_COUNT);

const WsRule *ws_rule(WsRuleId id)
{
    g_return_val_if_fail((guint)id < WS_RULE_COUNT, NULL);
    return &rules[id];
}

WsRuleId ws_rule_find(const char *text)
{
    for (WsRuleId id = 0; id < WS_RULE_COUNT; id++)
        if (g_ascii_strcasecmp(rules[id].text, text) == 0)
            return id;
    return WS_RULE_COUNT;
}
