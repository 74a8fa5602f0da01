/* explain --json: rules, steps, objects and targets from the tables that also make the text. */
#include "cli/explain_json.h"
#include "cli/cli.h"
#include "mend/fix.h"

#include <string.h>

const char *ws_explain_severity(WsSeverity severity)
{
    static const char *const text[] = { "hint", "warning", "error" };
    return text[severity];
}

const char *ws_explain_class(const WsRule *rule)
{
    static const char *const text[] = { "version", "syntax",   "name",   "type",     "legality",
                                        "budget",  "protocol", "global", "fragment", "result" };
    return text[rule->klass];
}

const char *ws_explain_breadth(const WsStepInfo *info)
{
    static const char *const text[] = { "one elected thread", "every warp", "all threads",
                                        "as its body", "as its arrivals say" };
    return text[info->breadth];
}

const char *ws_explain_end(const WsStepInfo *info)
{
    static const char *const text[] = { NULL, "its barrier", "load_wait", "store_wait",
                                        "mma_wait" };
    return text[info->engine];
}

static void begin(WsJsonOut *j, const char *kind, const char *name, const char *title)
{
    ws_cli_json_begin(j);
    ws_json_out_text(j, "kind", kind);
    ws_json_out_text(j, "name", name);
    ws_json_out_text(j, "title", title);
}

/* A list of words separated by spaces. */
static void put_words(WsJsonOut *j, const char *name, const char *words)
{
    g_auto(GStrv) word = g_strsplit(words ? words : "", " ", -1);
    ws_json_out_open_row(j, name, '[');
    for (guint i = 0; word[i]; i++)
        if (*word[i])
            ws_json_out_text(j, NULL, word[i]);
    ws_json_out_close(j, ']');
}

void ws_explain_json_rule(WsRuleId id)
{
    const WsRule *rule = ws_rule(id);
    g_autoptr(GPtrArray) fixes = ws_fix_kinds(id);
    WsJsonOut j;
    begin(&j, "rule", rule->text, rule->title);
    ws_json_out_text(&j, "severity", ws_explain_severity(rule->severity));
    ws_json_out_text(&j, "class", ws_explain_class(rule));
    ws_json_out_text(&j, "explanation", rule->explain);
    ws_json_out_text(&j, "remedy", rule->fix);
    ws_json_out_texts(&j, "fixes", fixes);
    ws_cli_json_end(&j);
}

static void put_fields(WsJsonOut *j, WsNodeKind kind)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(kind, &n);
    ws_json_out_open(j, "fields", '[');
    for (guint i = 0; i < n; i++) {
        ws_json_out_open(j, NULL, '{');
        ws_json_out_text(j, "name", ws_node_key(kind, rows[i].field));
        ws_json_out_text(j, "type", ws_field_kind_help(rows[i].kind));
        ws_json_out_truth(j, "required", rows[i].required);
        ws_json_out_text(j, "help", rows[i].help);
        put_words(j, "values", rows[i].words);
        ws_json_out_text(j, "default", rows[i].fallback);
        ws_json_out_close(j, '}');
    }
    ws_json_out_close(j, ']');
}

void ws_explain_json_kind(WsNodeKind kind)
{
    const char *word = ws_node_kind_keyword(kind);
    const WsStepInfo *info = ws_step_info(kind);
    WsJsonOut j;
    begin(&j, info ? "step" : "object", word, ws_node_kind_help(kind));
    if (info) {
        ws_json_out_text(&j, "runs_on", ws_explain_breadth(info));
        ws_json_out_text(&j, "ends_at", ws_explain_end(info));
        ws_json_out_open_row(&j, "targets", '[');
        for (guint i = 0; ws_target_at(i); i++)
            if (ws_target_has_step(ws_target_at(i), word))
                ws_json_out_text(&j, NULL, ws_target_at(i)->name);
        ws_json_out_close(&j, ']');
        put_words(&j, "commands", info->lenses);
    }
    put_fields(&j, kind);
    ws_cli_json_end(&j);
}

void ws_explain_json_target(const WsTarget *t)
{
    WsJsonOut j;
    begin(&j, "target", t->name, t->title);
    put_words(&j, "steps", t->steps);
    ws_json_out_integer(&j, "shared_bytes", (gint64)t->shared.bytes);
    ws_json_out_open(&j, "lacks", '[');
    for (guint i = 0; i < WS_LENS_COUNT; i++) {
        if (!t->lacks[i])
            continue;
        ws_json_out_open(&j, NULL, '{');
        ws_json_out_text(&j, "back_end", ws_lens_name((WsLens)i));
        ws_json_out_text(&j, "why", t->lacks[i]);
        ws_json_out_close(&j, '}');
    }
    ws_json_out_close(&j, ']');
    ws_cli_json_end(&j);
}

static void put_named(WsJsonOut *j, const char *name, const char *title)
{
    ws_json_out_open_row(j, NULL, '{');
    ws_json_out_text(j, "name", name);
    ws_json_out_text(j, "title", title);
    ws_json_out_close(j, '}');
}

void ws_explain_json_all(void)
{
    static const char *const names[] = { "objects", "steps" };
    WsJsonOut j;
    begin(&j, "list", NULL, NULL);
    ws_json_out_open(&j, "rules", '[');
    for (guint i = 0; i < WS_RULE_COUNT; i++)
        put_named(&j, ws_rule((WsRuleId)i)->text, ws_rule((WsRuleId)i)->title);
    ws_json_out_close(&j, ']');
    for (guint steps = 0; steps < G_N_ELEMENTS(names); steps++) {
        ws_json_out_open(&j, names[steps], '[');
        for (guint i = 0; i < WS_NODE_KIND_COUNT; i++)
            if (ws_node_kind_is_step((WsNodeKind)i) == (steps == 1))
                put_named(&j, ws_node_kind_keyword((WsNodeKind)i),
                          ws_node_kind_help((WsNodeKind)i));
        ws_json_out_close(&j, ']');
    }
    ws_json_out_open(&j, "targets", '[');
    for (guint i = 0; ws_target_at(i); i++)
        put_named(&j, ws_target_at(i)->name, ws_target_at(i)->title);
    ws_json_out_close(&j, ']');
    ws_cli_json_end(&j);
}
