#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static const char *const severities[] = { "hint", "warning", "error" };

static void list_rules(void)
{
    for (guint i = 0; i < WS_RULE_COUNT; i++) {
        const WsRule *rule = ws_rule((WsRuleId)i);
        printf("%-12s %-8s %s\n", rule->text, severities[rule->severity], rule->title);
    }
}

int ws_command_explain(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--all")) {
        list_rules();
        return WS_EXIT_YES;
    }
    const char *name;
    if (!ws_cli_options(&argc, &argv, "explain", NULL, &name))
        return WS_EXIT_USAGE;
    WsRuleId id = ws_rule_find(name);
    if (id == WS_RULE_COUNT)
        return ws_cli_fail(WS_EXIT_USAGE, "no rule '%s'; warpstave explain --all lists them", name);
    const WsRule *rule = ws_rule(id);
    printf("%s (%s): %s\n\n%s\n\nRemedy: %s\n", rule->text, severities[rule->severity], rule->title,
           rule->explain, rule->fix);
    return WS_EXIT_YES;
}
