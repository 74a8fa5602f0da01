/* Kernels of other compilers in which lanes of one warp would have to come apart for anything to go
 * wrong (L-IN-STEP): undecided there, refuted in designs of our own, for which warps are made to
 * meet only where the program says so. What goes wrong with lanes in step, too, is refuted. */
#include "design.h"
#include "model/findings.h"

typedef struct {
    const char *title;
    WsVerdictKind foreign, own;
    const char *producer, *consumer; /* what stands before its wait; NULL: no wait either */
    guint warps;                     /* of the producer */
    const char *alone;               /* what a third group does */
} Row;

#define MEET    "{'sync':'group'},"
#define GATHER  "{'gather':'X','at':['I[row]',0],'into':'s'},{'load_wait':0}"
#define READ    "{'read':'x','from':'s'}"
#define WRITE   "{'compute':'x = 1'},{'write':'x','to':'s'}"
#define OUTSIDE WS_VERDICT_OUTSIDE
#define REFUTED WS_VERDICT_REFUTED
#define PROVED  WS_VERDICT_PROVED

static const Row rows[] = {
    { "no meeting, one thread waits", PROVED, PROVED, "", "", 1, "" },
    { "a meeting before a wait of one warp", OUTSIDE, REFUTED, MEET, "", 1, "" },
    { "two meetings before it", OUTSIDE, REFUTED, MEET MEET, "", 1, "" },
    { "meetings before both waits", OUTSIDE, REFUTED, MEET, MEET, 1, "" },
    { "a meeting before a wait of two warps", REFUTED, REFUTED, MEET, "", 2, "" },
    { "a meeting before a wait of four warps", REFUTED, REFUTED, MEET, "", 4, "" },
    { "a meeting in place of the wait", REFUTED, REFUTED, NULL, "", 1, "" },
    { "beside a race of others", REFUTED, REFUTED, MEET, NULL, 1, "" },
    { "rows of one warp's own", OUTSIDE, REFUTED, "", "", 1, GATHER "," READ },
    { "behind a meeting", PROVED, PROVED, "", "", 1, GATHER "," MEET READ },
    { "not waited for", REFUTED, REFUTED, "", "", 1,
      "{'gather':'X','at':['I[row]',0],'into':'s'}," READ ",{'load_wait':0}" },
    { "again over what was read", OUTSIDE, REFUTED, "", "", 1,
      GATHER "," MEET READ "," GATHER "," READ },
    { "over what was written", OUTSIDE, REFUTED, "", "", 1, WRITE "," GATHER "," READ },
    { "over a gather on its way", REFUTED, REFUTED, "", "", 1,
      "{'gather':'X','at':['I[row]',0],'into':'s'}," WRITE ",{'load_wait':0}" },
};

static char *design_of(const Row *row)
{
    GString *t = g_string_new("{'warpstave':1,'name':'in-step','target':'sm_90a','sizes':{'N':5},"
                              "'tensors':[{'name':'A','dtype':'bf16','shape':[64,'64*N']},"
                              "{'name':'X','dtype':'bf16','shape':[64,64]},"
                              "{'name':'I','dtype':'i32','shape':[64],'data':'integers(0, 64)'}],"
                              "'tiles':{'axes':{'t':1},'launch':'single'},'buffers':["
                              "{'name':'a','dtype':'bf16','tile':[64,64],'stages':2},"
                              "{'name':'s','dtype':'bf16','tile':[64,64]}],'barriers':["
                              "{'name':'full','slots':2},"
                              "{'name':'empty','slots':2,'init':'ready'}],'groups':[");
    g_string_append_printf(
        t,
        "{'name':'p','role':'producer','warps':%u,'body':[{'for':'k','count':'N','do':[%s"
        "{'load':'A','at':[0,'k*64'],'into':'a','signal':'full','use':'k'}]}]},"
        "{'name':'c','role':'consumer','warps':4,'values':[{'name':'v','dtype':'bf16',"
        "'tile':[64,64]}],'body':[{'for':'k','count':'N','do':[%s%s"
        "{'read':'v','from':'a','use':'k'},{'sync':'group'},{'arrive':'empty','use':'k'}]}]}",
        row->warps, row->producer ? row->producer : MEET, row->consumer ? row->consumer : "",
        row->consumer ? "{'wait':'full','use':'k'}," : "");
    if (row->producer) { /* before the load */
        g_autofree char *text = g_string_free(t, FALSE);
        g_auto(GStrv) parts = g_strsplit(text, "{'load'", 2);
        t = g_string_new(parts[0]);
        g_string_append_printf(t, "{'wait':'empty','use':'k'},{'load'%s", parts[1]);
    }
    if (*row->alone)
        g_string_append_printf(t,
                               ",{'name':'w','role':'worker','warps':1,'values':[{'name':'x',"
                               "'dtype':'bf16','tile':[64,64]}],'body':[%s]}",
                               row->alone);
    g_string_append(t, "]}");
    return g_strdelimit(g_string_free(t, FALSE), "'", '"');
}

static void verdict_of(gconstpointer data)
{
    const Row *row = data;
    g_autofree char *text = design_of(row);
    for (guint foreign = 0; foreign < 2; foreign++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = right_program(text, "in-step", findings);
        const WsCheckOptions o = { .foreign = foreign };
        g_autoptr(WsVerdict) v = ws_check(p, &o, findings);
        g_autofree char *words = ws_verdict_text(v);
        g_test_message("%s", words);
        g_assert_cmpstr(ws_verdict_word(v->kind), ==,
                        ws_verdict_word(foreign ? row->foreign : row->own));
        g_assert_cmpint(ws_findings_count(findings, WS_SEVERITY_ERROR) > 0, ==, v->kind == REFUTED);
        g_assert_true(v->kind != OUTSIDE || strstr(v->reason, "lanes of one warp"));
        g_assert_true(v->kind != PROVED || v->proof);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *name = g_strdup_printf("/check/in-step/%s", rows[i].title);
        g_test_add_data_func(name, &rows[i], verdict_of);
    }
    return g_test_run();
}
