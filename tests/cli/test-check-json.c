/* check --json says what the human form says. */
#include "model/findings.h"
#include "model/internal.h"
#include "run.h"

#include <string.h>

#define DESIGNS WS_SOURCE_ROOT "/tests/designs/"

static char *output(const char *design, int *code)
{
    const char *const arguments[] = { "check", "--json", design, NULL };
    char *text;
    *code = run_for_output(arguments, &text);
    return text;
}

static WsJson *parsed(const char *text)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsReader r;
    ws_reader_init(&r, findings, TRUE);
    WsJson *json = ws_json_parse(text, strlen(text), &r);
    g_assert_cmpuint(r.n_errors, ==, 0);
    g_assert_nonnull(json);
    ws_reader_clear(&r);
    return json;
}

static const WsJson *error_of(const WsJson *json)
{
    const WsJson *list = ws_json_member(json, "findings");
    for (guint i = 0; i < list->n; i++)
        if (strcmp(ws_json_member(&list->item[i], "severity")->text, "error") == 0)
            return &list->item[i];
    g_assert_not_reached();
}

static gint64 fact(const WsJson *finding, const char *name)
{
    const WsJson *value = ws_json_member(ws_json_member(finding, "facts"), name);
    g_assert_nonnull(value);
    return value->i;
}

/* The figures of one hang: empty slot 0 has got 2 of 3 arrivals, the wait tests the parity of the
 * running phase, round 4 of k in tile 0, and dropping the override mends it. */
static void figures(void)
{
    int code;
    g_autofree char *text = output(DESIGNS "broken/02-wrong-count.wstave", &code);
    WsJson *json = parsed(text);
    const WsJson *f = error_of(json);
    g_assert_cmpint(code, ==, 1);
    g_assert_cmpstr(ws_json_member(json, "verdict")->text, ==, "refuted");
    g_assert_cmpstr(ws_json_member(f, "rule")->text, ==, "P-DL");
    g_assert_cmpstr(ws_json_member(f, "harm")->text, ==, "hang");
    g_assert_cmpstr(ws_json_member(f, "agent")->text, ==, "load");
    g_assert_cmpstr(ws_json_member(f, "object")->text, ==, "empty");
    g_assert_cmpint(fact(f, "slot"), ==, 0);
    g_assert_cmpint(fact(f, "count"), ==, 3);
    g_assert_cmpint(fact(f, "pending"), ==, 1);
    g_assert_cmpint(fact(f, "completion"), ==, 0);
    g_assert_cmpint(fact(f, "awaited_parity"), ==, 0);
    g_assert_cmpint(fact(f, "present_parity"), ==, 0);
    const WsJson *rounds = ws_json_member(f, "rounds");
    g_assert_cmpuint(rounds->n, ==, 2);
    g_assert_cmpstr(ws_json_member(&rounds->item[1], "loop")->text, ==, "k");
    g_assert_cmpint(ws_json_member(&rounds->item[1], "round")->i, ==, 4);
    const WsJson *fixes = ws_json_member(f, "fixes");
    g_assert_cmpuint(fixes->n, >=, 1);
    g_assert_cmpstr(ws_json_member(&fixes->item[0], "edits")->item[0].text, ==,
                    "unset barriers/empty arrivals");
    g_assert_cmpint(ws_json_member(&fixes->item[0], "errors_left")->i, ==, 0);
    const WsJson *witness = ws_json_member(json, "witness");
    g_assert_cmpstr(ws_json_member(witness, "end")->text, ==, "hang");
    g_assert_cmpuint(ws_json_member(witness, "moves")->n, >, 10);
    ws_json_free(json);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cli/check-json/figures", figures);
    return g_test_run();
}
