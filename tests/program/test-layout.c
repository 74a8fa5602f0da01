/* Layouts of values (LANGUAGE section 10): which take that of an accumulator without an mma, and
 * which stay linear. */
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/agent.h"
#include "program/parts/value.h"
#include "program/program.h"

#include <string.h>

static const struct {
    const char *title;
    guint warps;
    const char *head;    /* more of the document */
    const char *tile[3]; /* of x, y, z */
    const char *compute; /* statements, in one step after all were assigned */
    const char *layout;  /* of x, y, z: a(ccumulator) or l(inear) */
} rows[] = {
    { "row-sum", 4, "", { "64, 64", "64, 1", "64, 64" }, "\"y = rowsum(x*x)\"", "aal" },
    { "broadcast-of-rows", 4, "", { "64, 64", "64, 1", "1, 64" }, "\"x = x*y\"", "aal" },
    { "broadcast-of-columns", 4, "", { "128, 8", "1, 8", "1, 8" }, "\"x = x + y\"", "aal" },
    { "through-another", 4, "", { "64, 64", "64, 64", "64, 1" }, "\"x = y\", \"y = y*z\"", "aaa" },
    { "through-a-temporary",
      4,
      "",
      { "64, 64", "64, 1", "8, 8" },
      "\"t = y*2\", \"x = x*t\"",
      "aal" },
    { "maximum-as-a-temporary",
      4,
      "",
      { "64, 64", "64, 1", "8, 8" },
      "\"t = rowmax(x)\", \"y = t\"",
      "aal" },
    { "lanes", 4, "", { "64, 64", "64, 4", "8, 8" }, "\"y = lanesum(x)\"", "aal" },
    { "one-of-all", 4, "", { "64, 64", "1, 1", "8, 8" }, "\"x = x*y\"", "lll" },
    { "one-shape", 4, "", { "64, 64", "64, 64", "64, 64" }, "\"x = y*z\"", "lll" },
    { "rows-do-not-fit", 4, "", { "48, 64", "48, 1", "8, 8" }, "\"x = x*y\"", "lll" },
    { "columns-do-not-fit", 4, "", { "64, 12", "64, 1", "8, 8" }, "\"x = x*y\"", "lll" },
    { "eight-warps", 8, "", { "64, 64", "64, 1", "8, 8" }, "\"x = x*y\"", "lll" },
    { "one-warp", 1, "", { "64, 64", "64, 1", "8, 8" }, "\"x = x*y\"", "lll" },
    { "of-an-import",
      4,
      "\"source\": \"k.py\",",
      { "64, 64", "64, 1", "8, 8" },
      "\"x = x*y\"",
      "lll" },
};

static void check_row(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = g_strdup_printf(
        "{ \"warpstave\": 1, %s \"name\": \"x\", \"target\": \"sm_90a\", \"sizes\": { \"M\": 1 },\n"
        "\"tensors\": [], \"tiles\": { \"axes\": { \"m\": \"M\" }, \"launch\": \"single\" },\n"
        "\"groups\": [ { \"name\": \"g\", \"role\": \"worker\", \"warps\": %u, \"values\": [\n"
        "{ \"name\": \"x\", \"dtype\": \"f32\", \"tile\": [%s] },\n"
        "{ \"name\": \"y\", \"dtype\": \"f32\", \"tile\": [%s] },\n"
        "{ \"name\": \"z\", \"dtype\": \"f32\", \"tile\": [%s] } ],\n"
        "\"body\": [ { \"compute\": \"x = 0\" }, { \"compute\": \"y = 0\" }, { \"compute\": \"z = "
        "0\" },\n"
        "{ \"compute\": [%s] } ] } ] }\n",
        rows[i].head, rows[i].warps, rows[i].tile[0], rows[i].tile[1], rows[i].tile[2],
        rows[i].compute);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), "x", findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR)) {
        g_autofree char *said = ws_findings_print(findings, "x");
        g_test_message("%s", said);
        g_test_fail();
        return;
    }
    for (guint v = 0; v < 3; v++)
        g_assert_cmpint(p->agent[0].value[v].layout, ==,
                        rows[i].layout[v] == 'a' ? WS_LAYOUT_ACCUMULATOR : WS_LAYOUT_LINEAR);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/program/layout/%s", rows[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), check_row);
    }
    return g_test_run();
}
