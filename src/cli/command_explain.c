/* explain: rules, and the steps and objects of the language, from the tables that the reader uses.
 */
#include "cli/cli.h"
#include "model/text.h"

#include <stdio.h>
#include <string.h>

static const char *const severities[] = { "hint", "warning", "error" };

static void list_rules(void)
{
    printf("Rules\n");
    for (guint i = 0; i < WS_RULE_COUNT; i++) {
        const WsRule *rule = ws_rule((WsRuleId)i);
        printf("  %-14s %-8s %s\n", rule->text, severities[rule->severity], rule->title);
    }
}

static void list_kinds(const char *title, gboolean steps)
{
    printf("\n%s\n", title);
    for (guint i = 0; i < WS_NODE_KIND_COUNT; i++)
        if (ws_node_kind_is_step((WsNodeKind)i) == steps)
            printf("  %-16s %s\n", ws_node_kind_keyword((WsNodeKind)i),
                   ws_node_kind_help((WsNodeKind)i));
}

static int list_all(void)
{
    list_rules();
    list_kinds("Objects of a design", FALSE);
    list_kinds("Steps", TRUE);
    return WS_EXIT_YES;
}

static void explain_rule(const WsRule *rule)
{
    printf("%s (%s): %s\n\n%s\n\nRemedy: %s\n", rule->text, severities[rule->severity], rule->title,
           rule->explain, rule->fix);
}

static void explain_step(const WsStepInfo *info)
{
    static const char *const breadths[] = { "one elected thread", "every warp", "all threads",
                                            "as its body", "as its arrivals say" };
    static const char *const engines[] = { NULL, "its barrier", "load_wait", "store_wait",
                                           "mma_wait" };
    printf("runs on: %s\n", breadths[info->breadth]);
    if (engines[info->engine])
        printf("its effect ends at: %s\n", engines[info->engine]);
    printf("targets:%s%s\n", info->sm_90a ? " sm_90a" : "", info->gfx950 ? " gfx950" : "");
    printf("lenses: %s\n", info->lenses && *info->lenses ? info->lenses : "none yet");
}

static void explain_kind(WsNodeKind kind)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(kind, &n);
    printf("%s: %s\n", ws_node_kind_keyword(kind), ws_node_kind_help(kind));
    if (ws_step_info(kind))
        explain_step(ws_step_info(kind));
    printf("\n");
    for (guint i = 0; i < n; i++) {
        const WsFieldRow *r = &rows[i];
        printf("  %-12s %s, %s\n", ws_node_key(kind, r->field), ws_field_kind_help(r->kind),
               r->required ? "required" : "optional");
        printf("  %-12s %s", "", r->help);
        if (r->words)
            printf("; one of: %s", r->words);
        if (r->fallback)
            printf("; default %s", r->fallback);
        printf("\n");
    }
}

static WsNodeKind find_kind(const char *name)
{
    for (guint i = 0; i < WS_NODE_KIND_COUNT; i++)
        if (!strcmp(ws_node_kind_keyword((WsNodeKind)i), name))
            return (WsNodeKind)i;
    return WS_NODE_KIND_COUNT;
}

static int unknown(const char *name)
{
    const char *words[WS_RULE_COUNT + WS_NODE_KIND_COUNT];
    guint n = 0;
    for (guint i = 0; i < WS_RULE_COUNT; i++)
        words[n++] = ws_rule((WsRuleId)i)->text;
    for (guint i = 0; i < WS_NODE_KIND_COUNT; i++)
        words[n++] = ws_node_kind_keyword((WsNodeKind)i);
    const char *near = ws_text_nearest(name, words, n);
    return ws_cli_fail(WS_EXIT_USAGE,
                       "no rule, step or object '%s'%s%s%s; warpstave explain --all lists them",
                       name, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

int ws_command_explain(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--all"))
        return list_all();
    const char *name;
    if (!ws_cli_options(&argc, &argv, "explain", NULL, &name))
        return WS_EXIT_USAGE;
    WsRuleId rule = ws_rule_find(name);
    WsNodeKind kind = find_kind(name);
    if (rule == WS_RULE_COUNT && kind == WS_NODE_KIND_COUNT)
        return unknown(name);
    if (rule != WS_RULE_COUNT)
        explain_rule(ws_rule(rule));
    else
        explain_kind(kind);
    return WS_EXIT_YES;
}
