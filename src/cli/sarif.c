#include "cli/sarif.h"
#include "base/json_out.h"
#include "model/finding.h"
#include "model/findings.h"

typedef struct {
    char *rule, *message, *file, *kernel;
    const char *level, *kind; /* words of SARIF; kind NULL: fail */
    guint line, column;       /* 0: of the file as a whole */
} Result;

struct WsSarif {
    GPtrArray *result;
};

static void free_result(gpointer data)
{
    Result *r = data;
    g_free(r->rule);
    g_free(r->message);
    g_free(r->file);
    g_free(r->kernel);
    g_free(r);
}

WsSarif *ws_sarif_new(void)
{
    WsSarif *s = g_new0(WsSarif, 1);
    s->result = g_ptr_array_new_with_free_func(free_result);
    return s;
}

void ws_sarif_free(WsSarif *s)
{
    g_ptr_array_unref(s->result);
    g_free(s);
}

static Result *add(WsSarif *s, const char *rule, const char *file, const char *kernel,
                   const char *message)
{
    Result *r = g_new0(Result, 1);
    r->rule = g_strdup(rule);
    r->file = g_strdup(file);
    r->kernel = g_strdup(kernel);
    r->message = g_strdup(message);
    g_ptr_array_add(s->result, r);
    return r;
}

void ws_sarif_add(WsSarif *s, const char *file, const char *kernel, const WsFindings *findings,
                  const WsVerdict *verdict, guint line)
{
    for (guint i = 0; findings && i < findings->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(findings->list, i);
        if (f->silenced || f->severity == WS_SEVERITY_HINT) /* hints are about the design's words */
            continue;
        Result *r = add(s, ws_rule(f->rule)->text, file, kernel, f->message);
        r->level = f->severity == WS_SEVERITY_ERROR ? "error" : "warning";
        r->line = f->line;
        r->column = f->column;
    }
    if (verdict && verdict->kind != WS_VERDICT_OUTSIDE)
        return;
    g_autofree char *text = verdict ? ws_verdict_text(verdict) : g_strdup("not read");
    Result *r = add(s, verdict ? "outside" : "unread", file, kernel, text);
    r->level = "none";
    r->kind = "open";
    r->line = line;
}

static void text_object(WsJsonOut *j, const char *name, const char *text)
{
    ws_json_out_open_row(j, name, '{');
    ws_json_out_text(j, "text", text);
    ws_json_out_close(j, '}');
}

static void put_result(WsJsonOut *j, const Result *r)
{
    g_autofree char *uri = g_uri_escape_string(r->file, "/", TRUE);
    ws_json_out_open(j, NULL, '{');
    ws_json_out_text(j, "ruleId", r->rule);
    ws_json_out_text(j, "level", r->level);
    if (r->kind)
        ws_json_out_text(j, "kind", r->kind);
    text_object(j, "message", r->message);
    ws_json_out_open(j, "locations", '[');
    ws_json_out_open(j, NULL, '{');
    ws_json_out_open(j, "physicalLocation", '{');
    ws_json_out_open_row(j, "artifactLocation", '{');
    ws_json_out_text(j, "uri", uri);
    ws_json_out_close(j, '}');
    if (r->line) {
        ws_json_out_open_row(j, "region", '{');
        ws_json_out_integer(j, "startLine", r->line);
        if (r->column)
            ws_json_out_integer(j, "startColumn", r->column);
        ws_json_out_close(j, '}');
    }
    ws_json_out_close(j, '}');
    if (r->kernel) {
        ws_json_out_open(j, "logicalLocations", '[');
        ws_json_out_open_row(j, NULL, '{');
        ws_json_out_text(j, "name", r->kernel);
        ws_json_out_text(j, "kind", "function");
        ws_json_out_close(j, '}');
        ws_json_out_close(j, ']');
    }
    ws_json_out_close(j, '}');
    ws_json_out_close(j, ']');
    ws_json_out_close(j, '}');
}

static void put_rules(WsJsonOut *j, const WsSarif *s)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    ws_json_out_open(j, "rules", '[');
    for (guint i = 0; i < s->result->len; i++) {
        const Result *r = g_ptr_array_index(s->result, i);
        const WsRuleId id = ws_rule_find(r->rule);
        if (!g_hash_table_add(seen, r->rule))
            continue;
        ws_json_out_open(j, NULL, '{');
        ws_json_out_text(j, "id", r->rule);
        text_object(j, "shortDescription",
                    id < WS_RULE_COUNT ? ws_rule(id)->title : "undecided, with the reason");
        ws_json_out_close(j, '}');
    }
    ws_json_out_close(j, ']');
}

char *ws_sarif_text(const WsSarif *s)
{
    WsJsonOut j;
    ws_json_out_init(&j);
    ws_json_out_open(&j, NULL, '{');
    ws_json_out_text(&j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    ws_json_out_text(&j, "version", "2.1.0");
    ws_json_out_open(&j, "runs", '[');
    ws_json_out_open(&j, NULL, '{');
    ws_json_out_open(&j, "tool", '{');
    ws_json_out_open(&j, "driver", '{');
    ws_json_out_text(&j, "name", "warpstave");
    put_rules(&j, s);
    ws_json_out_close(&j, '}');
    ws_json_out_close(&j, '}');
    ws_json_out_open(&j, "results", '[');
    for (guint i = 0; i < s->result->len; i++)
        put_result(&j, g_ptr_array_index(s->result, i));
    ws_json_out_close(&j, ']');
    ws_json_out_close(&j, '}');
    ws_json_out_close(&j, ']');
    ws_json_out_close(&j, '}');
    return ws_json_out_end(&j);
}
