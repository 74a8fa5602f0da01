/* explain: rules, the steps and objects of the language, and targets, from the tables that the
 * reader and elaboration use. */
#include "base/text.h"
#include "check/examples.h"
#include "cli/cli.h"
#include "cli/explain_json.h"
#include "cli/explain_target.h"
#include "mend/fix.h"

#include <stdio.h>
#include <string.h>

static void list_rules(void)
{
    printf("Rules\n");
    for (guint i = 0; i < WS_RULE_COUNT; i++) {
        const WsRule *rule = ws_rule((WsRuleId)i);
        printf("  %-14s %-8s %s\n", rule->text, ws_explain_severity(rule->severity), rule->title);
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

static void list_all(void)
{
    list_rules();
    list_kinds("Objects of a design", FALSE);
    list_kinds("Steps", TRUE);
    printf("\nTargets\n");
    for (guint i = 0; ws_target_at(i); i++)
        printf("  %-16s %s\n", ws_target_at(i)->name, ws_target_at(i)->title);
}

/* Text in lines of at most 96 columns. */
static void print_wrapped(const char *text)
{
    guint column = 0;
    g_auto(GStrv) word = g_strsplit(text, " ", -1);
    for (guint i = 0; word[i]; i++) {
        const guint n = (guint)g_utf8_strlen(word[i], -1);
        if (i > 0)
            fputs(column + 1 + n > 96 ? "\n" : " ", stdout);
        column = i > 0 && column + 1 + n <= 96 ? column + 1 + n : n;
        fputs(word[i], stdout);
    }
    puts("");
}

static void explain_example(WsRuleId id)
{
    const char *rule = ws_rule(id)->text, *how = ws_rule_example_how(id);
    g_autofree char *difference = ws_rule_example_difference(id, 2);
    if (how && g_str_has_prefix(how, "size "))
        printf("\nExample: a launch with --size %s of\n  warpstave explain %s --example right\n",
               how + 5, rule);
    else if (how && g_str_has_prefix(how, "edit "))
        printf("\nExample: the edit \"%s\" of\n  warpstave explain %s --example right\n", how + 5,
               rule);
    else if (how)
        printf("\nExample: a file %s that is not there\n", strchr(how, ' ') + 1);
    else if (difference)
        printf("\nExample: right with the lines at -, wrong with those at +\n\n%s\n"
               "The whole of either: warpstave explain %s --example right|wrong\n",
               difference, rule);
}

static void explain_rule(WsRuleId id)
{
    enum { SHOWN = 14 }; /* quick-fixes, the likeliest */
    const WsRule *rule = ws_rule(id);
    printf("%s: %s\n%s, class %s\n\n", rule->text, rule->title, ws_explain_severity(rule->severity),
           ws_explain_class(rule));
    print_wrapped(rule->explain);
    g_autofree char *remedy = g_strdup_printf("\nRemedy: %s", rule->fix);
    print_wrapped(remedy);
    explain_example(id);
    g_autoptr(GPtrArray) fixes = ws_fix_kinds(id);
    g_autoptr(GString) list = g_string_new("\nQuick-fixes that `warpstave check --fix` tries:");
    for (guint i = 0; i < MIN(fixes->len, SHOWN); i++)
        g_string_append_printf(list, "%s %s", i ? "," : "", (const char *)fixes->pdata[i]);
    if (fixes->len > SHOWN)
        g_string_append_printf(list, " and %u more", fixes->len - SHOWN);
    if (fixes->len)
        print_wrapped(list->str);
}

static int print_example(WsRuleId id, const char *which)
{
    const gboolean wrong = strcmp(which, "wrong") == 0;
    if (!wrong && strcmp(which, "right") != 0)
        return ws_cli_fail(WS_EXIT_USAGE, "--example %s: write right or wrong", which);
    g_autofree char *text = ws_rule_example(id, wrong);
    if (!text)
        return ws_cli_fail(WS_EXIT_USAGE, "%s is not broken by a text", ws_rule(id)->text);
    fputs(text, stdout);
    return WS_EXIT_YES;
}

static void explain_step(WsNodeKind kind)
{
    const WsStepInfo *info = ws_step_info(kind);
    printf("runs on: %s\n", ws_explain_breadth(info));
    if (ws_explain_end(info))
        printf("its effect ends at: %s\n", ws_explain_end(info));
    printf("targets:");
    for (guint i = 0; ws_target_at(i); i++)
        if (ws_target_has_step(ws_target_at(i), ws_node_kind_keyword(kind)))
            printf(" %s", ws_target_at(i)->name);
    printf("\n");
    printf("back ends: %s\n", info->lenses && *info->lenses ? info->lenses : "none yet");
}

static void explain_kind(WsNodeKind kind)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(kind, &n);
    printf("%s: %s\n", ws_node_kind_keyword(kind), ws_node_kind_help(kind));
    if (ws_step_info(kind))
        explain_step(kind);
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
    return ws_cli_fail(
        WS_EXIT_USAGE,
        "no rule, step, object or target '%s'%s%s%s; warpstave explain --all lists them", name,
        near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

/* --all stands alone, with options at most. */
static gboolean asks_all(int argc, char **argv)
{
    gboolean all = FALSE;
    for (int i = 1; i < argc; i++)
        all |= strcmp(argv[i], "--all") == 0;
    return all;
}

int ws_command_explain(int argc, char **argv)
{
    gboolean all = FALSE, json = FALSE;
    g_autofree char *example = NULL;
    const GOptionEntry entries[] = {
        { "all", 0, 0, G_OPTION_ARG_NONE, &all, "list all rules, objects and steps", NULL },
        { "example", 0, 0, G_OPTION_ARG_STRING, &example,
          "print the example design of a rule and nothing else", "right|wrong" },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "print version 1 of the JSON form", NULL },
        { NULL },
    };
    const char *name;
    if (!ws_cli_arguments(&argc, &argv, "explain", entries, asks_all(argc, argv) ? 0 : 1, &name))
        return WS_EXIT_USAGE;
    if (all && json)
        ws_explain_json_all();
    else if (all)
        list_all();
    if (all)
        return WS_EXIT_YES;
    if (json && example)
        return ws_cli_fail(WS_EXIT_USAGE, "--example prints a design: leave --json out");
    WsRuleId rule = ws_rule_find(name);
    WsNodeKind kind = find_kind(name);
    const WsTarget *target = ws_target_find(name);
    if (target && !example) {
        if (json)
            ws_explain_json_target(target);
        else
            ws_explain_target(target);
        return WS_EXIT_YES;
    }
    if (rule == WS_RULE_COUNT && kind == WS_NODE_KIND_COUNT)
        return unknown(name);
    if (rule == WS_RULE_COUNT && example)
        return ws_cli_fail(WS_EXIT_USAGE, "%s is not a rule: it has no example", name);
    if (rule != WS_RULE_COUNT && example)
        return print_example(rule, example);
    if (json && rule != WS_RULE_COUNT)
        ws_explain_json_rule(rule);
    else if (json)
        ws_explain_json_kind(kind);
    else if (rule != WS_RULE_COUNT)
        explain_rule(rule);
    else
        explain_kind(kind);
    return WS_EXIT_YES;
}
